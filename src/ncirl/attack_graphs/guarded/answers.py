r"""The best answer to a lifted defence, exactly, by an attacker that keeps to some exploits S of the whole graph.

Such an attacker meets only the states that S leads to, so its contest with the defence of the whole graph can be
listed although the graph cannot. The defence is the lifted one, unchanged, and

    max { payoff of θ | keeping to S }  ≤  max { payoff of θ }  ≤  promise(θ).

S is the whole graph where that can be listed. Otherwise it is every guard, so that whatever the defence sets is in it,
and as many ways as still can be listed, those first that bring the attacker most.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from ncirl.attack_graphs.graph import AttackGraph
from ncirl.attack_graphs.guarded.defender import GuardedDefender
from ncirl.attack_graphs.guarded.net import Net
from ncirl.attack_graphs.guarded.seen import Words
from ncirl.attack_graphs.guarded.solution import GuardedSolution
from ncirl.attack_graphs.guarded.ways import best_way, weights
from ncirl.attack_graphs.reductions.reduction import restricted
from ncirl.attack_graphs.reductions.size import listable
from ncirl.errors import SizeError
from ncirl.limits import UNLIMITED, Limits
from ncirl.model.game import Game

__all__ = ["Narrowed", "narrowed", "ways_to_goals"]


@dataclass(frozen=True, eq=False)
class Narrowed:
    """The lifted defence against attackers that keep to some exploits.

    Attributes
    ----------
    graph : AttackGraph
        The whole graph with these exploits only; its conditions are all there.
    game : Game
        Of that graph, small enough to be listed.
    defender : GuardedDefender
        The defence of the whole graph, as a strategy of `game`.
    is_whole : bool
        Whether nothing was left out.
    """

    graph: AttackGraph
    game: Game
    defender: GuardedDefender
    is_whole: bool


def narrowed(solution: GuardedSolution, limits: Limits = UNLIMITED) -> Narrowed:
    """Return the largest such contest that can be listed; `SizeError` where not even one way can be.

    Examples
    --------
    >>> import ncirl
    >>> from ncirl.games.office import office_graph
    >>> solution = ncirl.solve(office_graph(), ncirl.Guarded(relative_gap=0.9))
    >>> met = narrowed(solution)
    >>> answer = ncirl.best_response_to_defender(met.game, met.defender, tolerance=1e-6)
    >>> met.is_whole, answer.value <= solution.upper + answer.error + 1e-9
    (True, True)
    """
    for chosen in limits.watch(_choices(solution, limits), "looking for attacks that can be listed"):
        graph = solution.graph
        if chosen is not None:
            graph = restricted(graph, {c.id for c in graph.conditions}, chosen)
        if listable(graph)[0]:
            words = Words(graph)
            return Narrowed(graph, words.game, solution.lifted(words), chosen is None)
    raise SizeError("no way to a goal can be listed together with the guards, so no best answer can be had exactly")


def _choices(solution: GuardedSolution, limits: Limits) -> Iterator[frozenset[str] | None]:
    """Give sets of exploits to keep to, the largest first; None for all."""
    yield None
    net = Net.of(solution.graph)
    guards = frozenset(net.exploits[k].id for k in net.stopped(solution.guards))
    known = frozenset(name for proof in solution.proof.groups for bundle in proof.group.bundles for name in bundle)
    ways = [frozenset(net.exploits[k].id for k in way) for _, way in ways_to_goals(net, limits)]
    yield guards.union(known, *ways)
    for n in range(len(ways), 0, -1):
        yield guards.union(*ways[:n])


def ways_to_goals(net: Net, limits: Limits = UNLIMITED) -> list[tuple[int, set[int]]]:
    """Return a good way to each goal, unhindered, that which brings the attacker most on average first."""
    found = []
    for c in net.goals():
        gains = net.prior * net.rewards[c].clip(0.0)
        reward = float(net.rewards[c].max())
        way = best_way(net, c, reward, weights(net, reward), limits.within(limits.left / 2))
        if way:
            found.append((-float(gains.sum()), c, way))
    found.sort(key=lambda each: each[:2])
    return [(c, way) for _, c, way in found]
