r"""Divisions of a team that differ by little: what a search over teams goes through (`hideout`).

Every intent has so many *copies*, and a division says in which team each of them is:

    n_g(θ) = the copies of θ in g        (`teams`).

With one copy an intent is in one team; with two it may be in two, by halves. Copies of one intent are alike, so moving
either of two in the same team is the same step, and is yielded once.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import combinations, product

import numpy as np

from ncirl.attack_graphs.guarded.teams import Team

__all__ = ["Division", "beginnings", "beside", "division_of", "multiplied", "teams_of"]

COUNTS, STARTS = (2, 3, 4), 3  # of teams to begin with, and how often in another order

Copy = tuple[str, int]  # an intent, and which of its copies
Division = tuple[tuple[Copy, ...], ...]


def teams_of(division: Division) -> tuple[Team, ...]:
    """Return the teams of a division, with their shares where an intent is in several.

    Examples
    --------
    >>> [(team.intents, team.shares) for team in teams_of(((("a", 0),), (("a", 1), ("b", 0), ("b", 1))))]
    [(('a',), (1,)), (('a', 'b'), (1, 2))]
    """
    counts = [Counter(name for name, _ in side) for side in division]
    is_shared = any(a.keys() & b.keys() for a, b in combinations(counts, 2))
    return tuple(Team(tuple(its), shares=tuple(its.values()) if is_shared else ()) for its in counts)


def division_of(team: Team) -> Division:
    """Return the division that a team falls into, each intent once where it is in one team only."""
    used, found = Counter[str](), []
    for part in team.teams:
        side: list[Copy] = []
        for name, n in zip(part.intents, part.shares or (1,) * len(part.intents), strict=True):
            side += [(name, used[name] + k) for k in range(n)]
            used[name] += n
        found.append(tuple(side))
    return tuple(found)


def multiplied(division: Division, times: int) -> Division:
    """Return a division with so many copies for each."""
    return tuple(tuple((name, k * times + n) for name, k in side for n in range(times)) for side in division)


def beginnings(names: tuple[str, ...]) -> Iterator[Division]:
    """Yield divisions to begin with: even ones, in the order given and in some others, no intent in two teams."""
    rng = np.random.default_rng(0)
    orders = [list(names), *(rng.permutation(list(names)).tolist() for _ in range(STARTS))]
    for order, count in product(orders, COUNTS):
        if count <= len(names):
            yield tuple(tuple((name, 0) for name in names if name in order[k::count]) for k in range(count))


def beside(division: Division) -> Iterator[Division]:
    """Yield the divisions that differ by one copy, in another team or alone, or by two that are swapped."""
    where = {copy: g for g, side in enumerate(division) for copy in side}
    met: set[tuple[object, ...]] = set()

    def is_fresh(*step: object) -> bool:
        fresh = step not in met
        met.add(step)
        return fresh

    for copy, at in where.items():
        for g in range(len(division) + (len(division[at]) > 1)):
            if g != at and is_fresh(copy[0], at, g):
                yield _sides(where | {copy: g})
    for one, other in combinations(where, 2):
        here, there = where[one], where[other]
        if here != there and one[0] != other[0] and is_fresh(one[0], here, other[0], there):
            yield _sides(where | {one: there, other: here})


def _sides(where: dict[Copy, int]) -> Division:
    return tuple(tuple(copy for copy, g in where.items() if g == side) for side in sorted(set(where.values())))
