"""What would make a game that is too large small enough: reductions that were tried, the gentlest first."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from ncirl.attack_graphs.graph import AttackGraph
from ncirl.attack_graphs.reductions.prune import crop_hops, goals_of, keep_ways, prune
from ncirl.attack_graphs.reductions.record import Reduction
from ncirl.attack_graphs.reductions.size import MANY_STATES, Size, estimate_size
from ncirl.limits import UNLIMITED, Limits

__all__ = ["Advice", "Suggestion", "size_advice"]

BUDGETS = ((None, None), (2, 2), (1, 2), (1, 1))  # attacker's, defender's
FARTHEST = 12  # hops
MOST_WAYS = 4
FEW_GOALS = 20  # for which several ways are looked for
Family = Iterator[tuple[list[str], AttackGraph]]  # options and the graph they make, the gentlest first


@dataclass(frozen=True)
class Suggestion:
    """Options of ``ncirl reduce`` that were tried, and how large the game is then."""

    options: tuple[str, ...]
    after: Size

    def __str__(self) -> str:
        return f"`ncirl reduce {' '.join(self.options)}`, which leaves {self.after}"


@dataclass(frozen=True)
class Advice:
    """How large a game is, and what makes it small enough.

    Attributes
    ----------
    size : Size
        Of the game as it is.
    suggestions : tuple of Suggestion
        Ways to a smaller game, the gentlest first; empty when nothing that was tried is enough.
    complete : bool
        Whether there was time to try all.
    """

    size: Size
    suggestions: tuple[Suggestion, ...]
    complete: bool = True

    def __str__(self) -> str:
        if not self.suggestions and not self.complete:
            return f"{self.size}; there was no time to find out what makes it small enough, `ncirl reduce` takes it"
        if not self.suggestions:
            return f"{self.size}; no crop is enough, reward fewer goals (`ncirl reduce --only-goals`) or cut by hand"
        return f"{self.size}; try {', or '.join(str(suggestion) for suggestion in self.suggestions)}"


def size_advice(graph: AttackGraph, size: Size | None = None, *, limits: Limits = UNLIMITED) -> Advice | None:
    """Say what would make a game small enough; None where it is not too large.

    Pruning, which changes nothing, comes first. If that and budgets are not enough, the widest crop around the goals
    that is, and the most ways to each goal that are: one bounds the value from above, the other from below.

    Parameters
    ----------
    graph : AttackGraph
        Any.
    size : Size, optional
        What `estimate_size` says, where it has been asked already.
    limits : Limits
        When time is up, no more is tried.
    """
    size = estimate_size(graph, limits=limits) if size is None else size
    if not size.too_large:
        return None
    if limits.passed:
        return Advice(size, (), complete=False)
    pruned, reduction = prune(graph)
    first = ("--prune",) if reduction.done else ()
    whole: Family = iter([([], pruned)])
    most_ways = MOST_WAYS if len(goals_of(pruned)) <= FEW_GOALS else 1
    crops, ways = _cut(pruned, "--crop", crop_hops, FARTHEST), _cut(pruned, "--paths", keep_ways, most_ways)
    for families in ([whole], [crops, ways]):
        found = [
            suggestion for family in families if (suggestion := _first_that_fits(family, first, limits)) is not None
        ]
        if found:
            return Advice(size, tuple(found))
    return Advice(size, (), complete=not limits.passed)


def _first_that_fits(family: Family, first: tuple[str, ...], limits: Limits) -> Suggestion | None:
    for options, smaller in family:
        if limits.passed:
            return None
        if estimate_size(smaller, MANY_STATES + 1, walks=0).states > MANY_STATES:
            continue
        for budgets, limited in _limited(smaller):
            after = estimate_size(limited, MANY_STATES + 1, walks=0)
            if not after.too_large:
                return Suggestion((*first, *options, *budgets), after)
    return None


def _cut(
    graph: AttackGraph, option: str, cut: Callable[[AttackGraph, int], tuple[AttackGraph, Reduction]], most: int
) -> Family:
    for extent in range(most, 0, -1):
        cropped, reduction = cut(graph, extent)
        if reduction.done:
            yield [option, str(extent)], prune(cropped)[0]


def _limited(graph: AttackGraph) -> Family:
    for budgets in BUDGETS:
        had = graph.attacker_budget, graph.defender_budget
        attacker, defender = (
            min((b for b in pair if b is not None), default=None) for pair in zip(had, budgets, strict=True)
        )
        options = [] if attacker == had[0] else ["--attacker-budget", str(attacker)]
        options += [] if defender == had[1] else ["--defender-budget", str(defender)]
        yield options, replace(graph, attacker_budget=attacker, defender_budget=defender)
