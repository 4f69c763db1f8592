"""The value of a fixed policy: V = r + C V, by eliminating one unknown after another.

Numbers are integers on a fixed grid. C is not negative and its rows sum to less than one, and elimination keeps it so:
no pivot can vanish, and no order of elimination is worse than another but for the entries it creates. The unknown that
creates fewest goes first. Rounding makes the answer an approximation, which nobody need trust: `process` proves what it
makes of it.
"""

import heapq
from collections.abc import Sequence

from ncirl.exact.arithmetic import spend

__all__ = ["ONE", "evaluated"]

BITS = 320
ONE = 2**BITS  # the grid of C: a chance c stands for c / ONE
ENTRY = 600  # steps that an entry takes, or a look at an unknown


def evaluated(chances: Sequence[dict[int, int]], rewards: Sequence[int]) -> list[int]:
    """Return V for the rows ``chances[k]`` of C, in units of `ONE` and summing to less, and r, in any unit."""
    rows, values = [dict(row) for row in chances], list(rewards)
    into: list[set[int]] = [set() for _ in rows]
    for k, row in enumerate(rows):
        for j in row:
            into[j].add(k)
    order: list[int] = []
    waiting = [(_created(rows, into, k), k) for k in range(len(rows))]
    heapq.heapify(waiting)
    while waiting:
        created, k = heapq.heappop(waiting)
        spend(ENTRY)
        if created != (now := _created(rows, into, k)):
            heapq.heappush(waiting, (now, k))
            continue
        order.append(k)
        into[k].discard(k)
        spend(ENTRY * (len(into[k]) + 1) * (len(rows[k]) + 1))
        left = ONE - rows[k].pop(k, 0)
        row = rows[k] = {j: c * ONE // left for j, c in rows[k].items()}
        values[k] = values[k] * ONE // left
        for j in row:
            into[j].discard(k)
        for i in into[k]:
            share = rows[i].pop(k)
            values[i] += share * values[k] >> BITS
            for j, c in row.items():
                rows[i][j] = rows[i].get(j, 0) + (share * c >> BITS)
                into[j].add(i)
    for k in reversed(order):
        values[k] += sum(c * values[j] for j, c in rows[k].items()) >> BITS
    return values


def _created(rows: Sequence[dict[int, int]], into: Sequence[set[int]], k: int) -> int:
    """Return how many entries the elimination of an unknown may create."""
    return len(into[k]) * len(rows[k])
