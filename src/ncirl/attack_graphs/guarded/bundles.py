r"""Keep to few ways, in bundles, a group of intents at a time: games in which the attacker can do less.

**Few ways.** The attacker may use fewer exploits: v(G) ≥ v(G restricted to E_A), since blocking others only costs the defender
(and its budget), and the alerts that they ring idly are noise.

**Bundles.** Exploits of E_A that become usable together are attempted together until all have succeeded. A bundle is one
exploit: its success is Π p, its attack cost Σ κ, its *block cost min β*, its rewards are summed, its premises are those of
all members. The bundled game bounds from below. *Proof.* The attacker keeps the bundled game's state n, behind the real one:
a bundle counts as done in n only if it is done. It attempts what of a bundle has not yet succeeded, which costs at most Σ κ;
that succeeds with chance q ≥ Π p, and then it counts the bundle as done with chance Π p / q, so n moves by the bundled game's
law. Whoever blocks any of the rest blocks the bundle, and pays at least the least β. Rewards come no later than in n. ∎
This needs rewards that are not negative (of bundles with several members), no budget of the attacker (which counts exploits),
and a defender that sees attempts: how far a bundle has come would tell of them. Where the graph does not show attempts, a game
with bundles is one that does, which is worth no more.

**Groups.** The attacker may announce which group of intents its own is in, and play that group's game with the prior b_g it
has then: v(b) ≥ Σ_g w_g v(b_g). An intent in no group does nothing, which gets it no less than 0.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import fsum, prod

from ncirl.attack_graphs.coins import listed
from ncirl.attack_graphs.graph import AttackGraph, Condition, Exploit, Intent
from ncirl.attack_graphs.guarded.net import Net
from ncirl.attack_graphs.guarded.tolls import SHADE
from ncirl.model.game import Observes

__all__ = ["Bundled", "Group", "group_faults"]

Bundle = tuple[str, ...]  # ids of exploits


@dataclass(frozen=True)
class Group:
    """Intents that play together, and the exploits that they keep to, in bundles."""

    intents: tuple[str, ...]
    bundles: tuple[Bundle, ...]


def group_faults(net: Net, groups: Sequence[Group]) -> list[str]:
    """List what keeps groups from bounding the value of the graph."""
    faults = []
    intents = Counter(name for group in groups for name in group.intents)
    faults += [f"group: unknown intent '{name}'" for name in intents if name not in net.intents]
    faults += [f"group: intent '{name}' is in two groups" for name, times in intents.items() if times > 1]
    for group in groups:
        used = Counter(name for bundle in group.bundles for name in bundle)
        unknown = [name for name in used if name not in net.place]
        faults += [f"group: unknown or useless exploit '{name}'" for name in unknown]
        faults += [f"group: exploit '{name}' is in two bundles" for name, times in used.items() if times > 1]
        if unknown or not all(group.bundles) or not group.intents:
            faults += [] if all(group.bundles) and group.intents else ["group: it or a bundle of it is empty"]
            continue
        made = Counter(net.exploits[net.place[name]].result for name in used)
        wanting = [t for t, name in enumerate(net.intents) if name in group.intents]
        for bundle in group.bundles:
            if len(bundle) == 1:
                continue
            results = [net.exploits[net.place[name]].result for name in bundle]
            if net.graph.attacker_budget is not None:
                faults.append("group: bundles do not go with a budget of the attacker")
            if any(made[c] > 1 for c in results):
                faults.append(f"group: bundle '{listed(bundle)}' gives what another exploit gives")
            if (net.rewards[[net.number[c] for c in results]][:, wanting] < 0).any():
                faults.append(f"group: bundle '{listed(bundle)}' has a negative reward")
    return faults


class Bundled:
    """The bundled game of one group, which has no faults.

    Attributes
    ----------
    graph : AttackGraph
        Its exploits are the bundles, in the order of the group, and its conditions what they give.
    weight : float
        Prior probability of the group.
    members : tuple of tuple of Exploit
        What each bundle is made of.
    given : tuple of str
        The condition of `graph` that each bundle gives.
    """

    def __init__(self, net: Net, group: Group) -> None:
        self.net, self.group = net, group
        self.members = tuple(tuple(net.exploits[net.place[name]] for name in bundle) for bundle in group.bundles)
        self.class_of: dict[str, str] = {}
        for members in self.members:
            results = [e.result for e in members]
            name = results[0] if len(results) == 1 else f"all of {listed(results)}"
            self.class_of |= dict.fromkeys(results, name)
        self.given = tuple(self.class_of[members[0].result] for members in self.members)
        held = [c for c in net.graph.conditions if c.initial]
        known = {c.id for c in held} | set(self.class_of)
        usable = [all(p in known for e in members for p in e.premises) for members in self.members]
        mine = [i for i in net.graph.intents if i.id in group.intents]
        self.weight = fsum(i.prior for i in mine) / fsum(i.prior for i in net.graph.intents)
        several = any(len(members) > 1 for members in self.members)
        self.graph: AttackGraph = replace(
            net.graph,
            conditions=(*held, *(Condition(name) for name in dict.fromkeys(self.given) if name not in known - {name})),
            exploits=tuple(self._exploit(k) for k, able in enumerate(usable) if able),
            intents=tuple(self._intent(intent, len(mine)) for intent in mine),
            observes=Observes.ACTIONS if several else net.graph.observes,
            name=f"{net.graph.name}, few ways",
        )
        self.number = {self.graph.exploits[k].id: k for k in range(len(self.graph.exploits))}
        self.bundle_of = tuple(k for k, able in enumerate(usable) if able)  # of each exploit of `graph`

    def _exploit(self, k: int) -> Exploit:
        members = self.members[k]
        premises = dict.fromkeys(self.class_of.get(p, p) for e in members for p in e.premises)
        initial = {c.id for c in self.net.graph.conditions if c.initial}
        needed = tuple(p for p in premises if p not in initial)
        if len(members) == 1:
            return replace(members[0], premises=needed)
        return Exploit(
            listed(e.id for e in members),
            needed,
            self.given[k],
            success=prod(e.success for e in members) * (1.0 - SHADE),
            attack_cost=fsum(e.attack_cost for e in members) * (1.0 + SHADE),
            block_cost=min(e.block_cost for e in members),
        )

    def _intent(self, intent: Intent, count: int) -> Intent:
        rewards: dict[str, float] = {}
        for result, name in self.class_of.items():
            if intent.rewards.get(result):
                rewards[name] = rewards.get(name, 0.0) + intent.rewards[result]
        mine = fsum(i.prior for i in self.net.graph.intents if i.id in self.group.intents)
        return Intent(intent.id, intent.prior / mine if mine > 0 else 1.0 / count, rewards)
