"""What matters of an attack graph of any size: the guards of a defence, the ways of an attack, their goals.

Of a guarded policy the guards are what its defence watches and the ways what its attack keeps to, intent by intent. Of
a graph alone there are no guards yet, and the ways are good ones to each goal that nobody hinders.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from ncirl.attack_graphs.graph import AttackGraph
from ncirl.attack_graphs.guarded.answers import ways_to_goals
from ncirl.attack_graphs.guarded.net import Net
from ncirl.attack_graphs.guarded.solution import GuardedSolution
from ncirl.attack_graphs.guarded.ways import cheapest, unfolded, weights
from ncirl.defence.first_moves import first_moves
from ncirl.limits import UNLIMITED, Limits
from ncirl.playbook.solution import CertifiedSolution

__all__ = ["Matters", "Way", "matters_of", "matters_of_first", "matters_of_net"]


@dataclass(frozen=True)
class Way:
    """A way of an intent to one of its goals: ids of exploits, in an order in which they can be gone."""

    intent: str
    goal: str
    exploits: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Matters:
    """What matters.

    Attributes
    ----------
    net : Net
        The graph in numbers.
    guards : dict
        What the defence watches, with how likely each is blocked in the first stage: the likeliest first, and then
        what its solver took to be the most important. What is applied once, at once, is among them.
    ways : tuple of Way
        By which the attack goes, those of the likeliest intents first.
    """

    net: Net
    guards: dict[str, float]
    ways: tuple[Way, ...]

    @property
    def goals(self) -> dict[str, list[int]]:
        """The conditions that can be reached and pay someone, with the numbers of these intents."""
        rewards = self.net.rewards
        return {self.net.conditions[c]: (rewards[c] > 0).nonzero()[0].tolist() for c in self.net.goals()}


def matters_of(solution: GuardedSolution) -> Matters:
    """Return what matters by a policy that guards a whole graph."""
    net = Net.of(solution.graph)
    watched = [name for proof in solution.proof.parts for name in proof.part.guards]
    order = [*(name for name in solution.proof.opening if name in net.guards), *watched]
    guards = {name: solution.guards[name] for name in sorted(order, key=lambda name: -solution.guards[name])}
    ways: list[Way] = []
    for proof in solution.proof.groups:
        kept = {net.place[name] for bundle in proof.group.bundles for name in bundle if name in net.place}
        for intent in proof.group.intents:
            ways += _kept_ways(net, intent, kept)
    return Matters(net, guards, _likeliest_first(net, ways))


def matters_of_net(net: Net, limits: Limits = UNLIMITED) -> Matters:
    """Return what matters of a graph for which no policy is known."""
    ways = []
    for c, way in ways_to_goals(net, limits):
        wanting = [net.intents[t] for t in (net.rewards[c] > 0).nonzero()[0].tolist()]
        ways += [Way(intent, net.conditions[c], _in_order(net, way)) for intent in wanting]
    return Matters(net, {}, _likeliest_first(net, ways))


def matters_of_first(graph: AttackGraph, policy: CertifiedSolution | None, limits: Limits = UNLIMITED) -> Matters:
    """Return what matters of a graph whose states are listed, if at all: its guards are what a policy does first."""
    net = Net(graph)
    moves = [] if policy is None else first_moves(policy, graph)
    guards = {name: p for name, p in moves[0].options.items() if p > 0 and name in net.guards} if moves else {}
    return replace(matters_of_net(net, limits), guards=guards)


def _kept_ways(net: Net, intent: str, kept: set[int]) -> list[Way]:
    """Return how an intent gets to each of its goals by the exploits that its group keeps to."""
    theta = net.intents.index(intent)
    reward = float(net.rewards[:, theta].max())
    last = cheapest(net, weights(net, reward), avoid=set(range(len(net.exploits))) - kept)
    goals = [c for c in net.goals() if net.rewards[c, theta] > 0 and last[c] in kept]
    return [Way(intent, net.conditions[c], _in_order(net, unfolded(net, c, last))) for c in goals]


def _in_order(net: Net, way: Iterable[int]) -> tuple[str, ...]:
    held, rest, found = net.start, sorted(way), []
    while ready := [k for k in rest if not net.needs[k] & ~held]:
        for k in ready:
            held |= 1 << net.result[k]
        found += ready
        rest = [k for k in rest if k not in ready]
    return tuple(net.exploits[k].id for k in [*found, *rest])


def _likeliest_first(net: Net, ways: Iterable[Way]) -> tuple[Way, ...]:
    prior = dict(zip(net.intents, net.prior.tolist(), strict=True))
    return tuple(sorted(ways, key=lambda way: -prior[way.intent]))
