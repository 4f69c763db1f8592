r"""Keep to few ways, in bundles, a group of intents at a time: games in which the attacker can do less.

**Few ways.** The attacker may use fewer exploits: v(G) ≥ v(G restricted to E_A), since blocking others only costs the
defender (and its budget), and the alerts that they ring idly are noise.

**Bundles.** Exploits of E_A that become usable together are attempted together until all have succeeded. A bundle is
one exploit: its success is Π p, its attack cost Σ κ, its *block cost min β*, its rewards are summed, its premises are
those of all members. The bundled game bounds from below. *Proof.* The attacker keeps the bundled game's state n, behind
the real one: a bundle counts as done in n only if it is done. It attempts what of a bundle has not yet succeeded, which
costs at most Σ κ; that succeeds with chance q ≥ Π p, and then it counts the bundle as done with chance Π p / q, so n
moves by the bundled game's law. Whoever blocks any of the rest blocks the bundle, and pays at least the least β.
Rewards come no later than in n. ∎ This needs rewards that are not negative (of bundles with several members), no budget
of the attacker (which counts exploits), and a defender that sees attempts: how far a bundle has come would tell of
them. Where the graph does not show attempts, a game with bundles is one that does, which is worth no more.

**Controls.** Where the graph has controls, one that stops a member of a bundle stops the bundle, at its own cost and of
its own kind. *Proof.* The attacker takes the defender of the bundled game to apply what is really applied, or in place,
as soon as that game offers it. That costs no more, as it is no earlier and each control is applied no more often. What
stops a member that has not yet succeeded is offered there by then, so a bundle that is not stopped there is not really
stopped; one that is, though really it is not, counts as not done. With a budget a lasting control is offered as long as
it can ever stop anything, so it is applied there when it is really applied, and no stage has more than the budget. ∎

**Groups.** The attacker may announce which group of intents its own is in, and play that group's game with the prior
b_g it has then: v(b) ≥ Σ_g w_g v(b_g). An intent in no group does nothing, which gets it no less than 0.

What the attacker keeps to may depend on the state, as the first argument goes stage by stage: `few_ways` has the rules.
Groups that hide in the same team are played side by side, as one: `hidden` has theirs.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import fsum, prod

from ncirl.attack_graphs.graph import AttackGraph, Condition, Exploit, Intent
from ncirl.attack_graphs.guarded.few_ways import FewWays
from ncirl.attack_graphs.guarded.here import Menu
from ncirl.attack_graphs.guarded.hidden import Hidden
from ncirl.attack_graphs.guarded.net import Net, fresh
from ncirl.attack_graphs.guarded.teams import Team, team_faults
from ncirl.attack_graphs.guarded.tolls import SHADE
from ncirl.attack_graphs.names import listed
from ncirl.attack_graphs.reductions.reduction import controls_over
from ncirl.model.game import Game, Observes

__all__ = ["Bundled", "Group", "group_faults"]

Bundle = tuple[str, ...]  # ids of exploits


@dataclass(frozen=True)
class Group:
    """Intents that play together, and the exploits that they keep to, in bundles.

    Attributes
    ----------
    intents : tuple of str
        Who plays together.
    bundles : tuple of tuple of str
        Exploits that are attempted together.
    owners : tuple of tuple of str
        Per bundle, the intents that it is of; none given makes every bundle everybody's.
    kept : int
        How many private ways may be gone beside each other; further ones are not gone on with.
    width : int, optional
        The most bundles that may be attempted at one state, the first ones.
    hiding : Team, optional
        The team of these intents, if they hide in one; other groups that hide in the same are other components.
    menus : tuple of (int, Menu), optional
        Who hides may attempt exploits that are alike by number, and have at each state what its menu lists (`here`).
    """

    intents: tuple[str, ...]
    bundles: tuple[Bundle, ...]
    owners: tuple[tuple[str, ...], ...] = ()
    kept: int = 1
    width: int | None = None
    hiding: Team | None = None
    menus: tuple[tuple[int, Menu], ...] | None = None


def group_faults(net: Net, groups: Sequence[Group]) -> list[str]:
    """List what keeps groups from bounding the value of the graph."""
    faults = []
    teams = [group for k, group in enumerate(groups) if _first_of_team(groups, k)]
    intents, known = Counter(name for group in teams for name in group.intents), set(net.intents)
    faults += [f"group: unknown intent '{name}'" for name in intents if name not in known]
    faults += [f"group: intent '{name}' is in two groups" for name, times in intents.items() if times > 1]
    for group in groups:
        used = Counter(name for bundle in group.bundles for name in bundle)
        unknown = [name for name in used if name not in net.place]
        faults += [f"group: unknown or useless exploit '{name}'" for name in unknown]
        faults += [f"group: exploit '{name}' is in two bundles" for name, times in used.items() if times > 1]
        if unknown or not all(group.bundles) or not group.intents:
            faults += [] if all(group.bundles) and group.intents else ["group: it or a bundle of it is empty"]
            continue
        if group.owners and len(group.owners) != len(group.bundles):
            faults.append(f"group: owners are given for {len(group.owners)} of {len(group.bundles)} bundles")
        made = Counter(net.exploits[net.place[name]].result for name in used)
        members = set(group.intents)
        wanting = [t for t, name in enumerate(net.intents) if name in members]
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
    return faults or _hiding_faults(net, groups)


def _first_of_team(groups: Sequence[Group], k: int) -> bool:
    """Tell whether a group hides in no team, or is the first that hides in its own."""
    return groups[k].hiding is None or all(group.hiding != groups[k].hiding for group in groups[:k])


def _hiding_faults(net: Net, groups: Sequence[Group]) -> list[str]:
    """List what keeps groups from being components of what a team plays."""
    faults = []
    met: dict[Team, tuple[set[str], set[str]]] = {}  # conditions and guards of the components so far
    for group in groups:
        if group.hiding is None:
            continue
        faults += team_faults(group.hiding)
        if group.hiding.intents != group.intents:
            faults.append("group: it hides in a team of others")
        if net.graph.attacker_budget is not None:
            faults.append("group: hiding in a team does not go with a budget of the attacker")
        if group.owners or group.width is not None or any(len(bundle) > 1 for bundle in group.bundles):
            faults.append("group: who hides in a team does not bundle exploits, own them or leave some aside")
        used = [net.place[name] for bundle in group.bundles for name in bundle]
        guards = net.watching(used)
        if net.lasting(guards):
            faults.append("group: hiding in a team does not go with controls that last")
        results = {net.exploits[k].result for k in used}
        conditions, watched = met.setdefault(group.hiding, (set(), set()))
        if conditions & results or watched & guards:
            faults.append("group: two components of what a team plays have a condition or a control in common")
        conditions |= results
        watched |= guards
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
            name = results[0] if len(results) == 1 else fresh(f"all of {listed(results)}", net.number)
            self.class_of |= dict.fromkeys(results, name)
        self.given = tuple(self.class_of[members[0].result] for members in self.members)
        held = [c for c in net.graph.conditions if c.initial]
        known = {c.id for c in held} | set(self.class_of)
        usable = [all(p in known for e in members for p in e.premises) for members in self.members]
        names = set(group.intents)
        mine = [i for i in net.graph.intents if i.id in names]
        prior = fsum(i.prior for i in mine)
        self.weight = prior / fsum(i.prior for i in net.graph.intents)
        several = any(len(members) > 1 for members in self.members)
        exploits = {k: self._exploit(k) for k, able in enumerate(usable) if able}
        self.graph: AttackGraph = replace(
            net.graph,
            controls=controls_over(
                net.graph, {e.id: bundle.id for k, bundle in exploits.items() for e in self.members[k]}
            ),
            conditions=(*held, *(Condition(name) for name in dict.fromkeys(self.given) if name not in known - {name})),
            exploits=tuple(exploits.values()),
            intents=tuple(self._intent(i, i.prior / prior if prior > 0 else 1.0 / len(mine)) for i in mine),
            observes=Observes.ACTIONS if several else net.graph.observes,
            name=f"{net.graph.name}, few ways",
        )
        self.bundle_of = tuple(exploits)  # of each exploit of `graph`
        owners = [group.owners[k] if group.owners else () for k in self.bundle_of]
        self.rules: FewWays | Hidden = (
            FewWays(self.graph, owners if group.owners else None, group.kept, group.width)
            if group.hiding is None
            else Hidden(self.graph, group.hiding, None if group.menus is None else dict(group.menus))
        )

    def game(self) -> Game:
        """Return the game, for the solver and for the certificate."""
        return self.rules.game()

    def _exploit(self, k: int) -> Exploit:
        members = self.members[k]
        premises = dict.fromkeys(p for e in members for p in e.premises)
        missing = [p for p in premises if not self.net.start >> self.net.number[p] & 1]
        needed = tuple(dict.fromkeys(self.class_of.get(p, p) for p in missing))
        if len(members) == 1:
            return replace(members[0], premises=needed)
        return Exploit(
            fresh(listed(e.id for e in members), self.net.place),
            needed,
            self.given[k],
            success=prod(e.success for e in members) * (1.0 - SHADE),
            attack_cost=fsum(e.attack_cost for e in members) * (1.0 + SHADE),
            block_cost=min(e.block_cost for e in members),
        )

    def _intent(self, intent: Intent, chance: float) -> Intent:
        rewards: dict[str, float] = {}
        for result, name in self.class_of.items():
            if intent.rewards.get(result):
                both = name in rewards  # summed, so rounded down
                rewards[name] = (rewards.get(name, 0.0) + intent.rewards[result]) * (1.0 - SHADE if both else 1.0)
        return Intent(intent.id, chance, rewards)
