r"""Exploits that are alike, by number: how many of them are attempted, and how many of those are blocked.

Exploits to the same condition, with the same numbers, each under a control of its own that costs the same, are one
`Kind`. Of n of them an attacker that attempts a draws which, every set of a being equally likely. Then only how many of
them are blocked matters: if b are, u of the attempted ones are left with the chance

    C(n − b, u) C(b, a − u) / C(n, a),        and the condition is enabled with chance  1 − Σ_u (…) (1 − p)^u,

whichever these b are. So a game in which the attacker names a for each kind, and the defender b, bounds from below: it
is the game itself, for an attacker that draws so. Three exploits have four actions a side, not eight, and nine have 64
in three kinds, not 512.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import comb, fsum
from typing import TypeVar

import numpy as np

from ncirl._typing import FloatArray, IntArray
from ncirl.attack_graphs.coins import any_of, subsets
from ncirl.attack_graphs.controls import Control
from ncirl.attack_graphs.graph import Exploit
from ncirl.attack_graphs.names import SetName, set_names

__all__ = ["Kind", "Watch", "amount_names", "amounts", "chunks", "count_amounts", "kinds", "outcomes"]

LARGEST, MOST_KINDS = 4, 4  # exploits of a kind, and kinds of several: the sets that may be drawn multiply

T = TypeVar("T")
Offer = tuple[Control, frozenset[str]]  # a control and what it stops


@dataclass(frozen=True)
class Kind:
    """Exploits that are alike, and the number of the condition that they give."""

    exploits: tuple[Exploit, ...]
    result: int

    @property
    def size(self) -> int:
        """How many they are."""
        return len(self.exploits)

    def outcomes(self) -> tuple[FloatArray, FloatArray]:
        """Return the chances that some succeed and that none does, by how many are attempted and blocked, [a, b]."""
        return outcomes(self.size, self.exploits[0].success)


def outcomes(n: int, success: float) -> tuple[FloatArray, FloatArray]:
    """Return the chances that some of n exploits succeed, and that none does, by attempted and blocked, [a, b]."""
    some, none = np.zeros((n + 1, n + 1)), np.ones((n + 1, n + 1))
    of = [float(any_of(np.full(u, success))) for u in range(n + 1)]
    for a, b in product(range(n + 1), repeat=2):
        left = range(max(a - b, 0), min(a, n - b) + 1)  # attempted and not blocked
        if left[-1] > 0:
            ways = [comb(n - b, u) * comb(b, a - u) / comb(n, a) for u in left]
            some[a, b] = min(fsum(way * of[u] for way, u in zip(ways, left, strict=True)), 1.0)
            none[a, b] = min(fsum(way * (1.0 - success) ** u for way, u in zip(ways, left, strict=True)), 1.0)
    return some, none


@dataclass(frozen=True)
class Watch:
    """Controls that are alike, at the cost of each, and the kinds, by number, of which each of them stops one."""

    controls: tuple[str, ...]
    cost: float
    stops: tuple[int, ...]


def kinds(
    usable: Sequence[tuple[Exploit, int]], offered: Sequence[Offer], by_number: bool
) -> tuple[list[Kind], list[Watch]]:
    """Sort what is usable into kinds, and what stops it; each exploit is a kind of its own unless `by_number`."""
    over = {e.id: [j for j, (_, stops) in enumerate(offered) if e.id in stops] for e, _ in usable}
    under = [[e.id for e, _ in usable if e.id in stops] for _, stops in offered]
    sorts: dict[object, list[tuple[Exploit, int]]] = {}
    for e, c in usable:
        alone = by_number and len(over[e.id]) == 1 and len(under[over[e.id][0]]) == 1
        key = (c, e.success, e.attack_cost, offered[over[e.id][0]][0].cost) if alone else e.id
        sorts.setdefault(key, []).append((e, c))
    found = [Kind(tuple(e for e, _ in its), its[0][1]) for its in chunks(list(sorts.values()))]
    place = {e.id: k for k, kind in enumerate(found) for e in kind.exploits}
    watches: dict[object, Watch] = {}
    for j, (control, _) in enumerate(offered):
        stops = tuple(dict.fromkeys(place[name] for name in under[j]))
        is_one = len(stops) == 1 and found[stops[0]].size > 1
        before = watches.get(stops[0] if is_one else control.id)
        ids = (*before.controls, control.id) if before is not None else (control.id,)
        watches[stops[0] if is_one else control.id] = Watch(ids, control.cost, stops)
    return found, list(watches.values())


def chunks(sorts: Sequence[Sequence[T]]) -> list[tuple[T, ...]]:
    """Divide what is alike into kinds that are not too large, and no more of several than can be drawn from."""
    found: list[tuple[T, ...]] = []
    for its in sorts:
        rest = tuple(its)
        while rest:
            most = LARGEST if sum(len(kind) > 1 for kind in found) < MOST_KINDS else 1
            found.append(rest[:most])
            rest = rest[most:]
    return found


def amounts(sizes: Sequence[int], budget: int | None = None) -> IntArray:
    """List what can be taken of things of so many each, at most `budget` in all, [row, thing]."""
    if all(size == 1 for size in sizes):
        return subsets(len(sizes), budget).astype(np.intp)
    rows = [row for row in product(*(range(n + 1) for n in sizes)) if budget is None or sum(row) <= budget]
    return np.array(rows, dtype=np.intp).reshape(len(rows), len(sizes))


def count_amounts(sizes: Sequence[int], budget: int | None = None) -> int:
    """Count what `amounts` lists."""
    most = sum(sizes) if budget is None else min(budget, sum(sizes))
    ways = [1] + [0] * most  # by how much is taken
    for size in sizes:
        ways = [sum(ways[max(total - size, 0) : total + 1]) for total in range(most + 1)]
    return sum(ways)


def amount_names(things: Sequence[Sequence[str]], rows: IntArray) -> tuple[SetName, ...]:
    """Name what is taken of each sort of things, [row, sort], by the first of each: any others would do."""
    ids = [name for its in things for name in its]
    sort = np.repeat(np.arange(len(things)), [len(its) for its in things])
    place = np.concatenate([np.arange(len(its)) for its in things]) if things else np.zeros(0, dtype=np.intp)
    return set_names(ids, rows[:, sort] > place)
