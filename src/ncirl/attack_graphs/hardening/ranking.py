r"""Put the best controls in order: bounds on V({k}) only as close as the order needs.

With V({k}) in [lower, upper] for each control k, and L(k) the exploits that still matter when it is in place, control j
is certainly better than k when upper_j < lower_k; fewer than `top` such j make k a contender. As long as two contenders
overlap, those known least closely are solved on the next level, unless L(j) ⊆ L(k) says which is no worse.
"""

from bisect import bisect_left, bisect_right

from ncirl.attack_graphs.hardening.study import Step, Study
from ncirl.limits import Limits

__all__ = ["places", "put_in_order"]

BATCH = 4  # solved at once, whatever the number of workers


def put_in_order(study: Study, top: int, limits: Limits) -> None:
    """Solve until the first `top` controls are in order, as far as the tolerance tells them apart, or time is up."""
    while not limits.passed:
        steps = _unclear(study, top)
        if not steps:
            return
        study.solve(steps)


def _unclear(study: Study, top: int) -> list[Step]:
    """List what to solve next: contenders that overlap with others, those known least closely first."""
    singles = [frozenset([k]) for k in range(len(study.controls))]
    low, high = [study.lower(s) for s in singles], [study.upper(s) for s in singles]
    uppers = sorted(high)
    contending = [k for k in range(len(singles)) if bisect_left(uppers, low[k]) < top]
    apart = study.tolerance / 2

    def overlap(j: int, k: int) -> bool:
        return min(high[j], high[k]) - max(low[j], low[k]) > apart and not _included(study, j, k)

    found: dict[int, Step] = {}  # by what is left, which is solved once
    for k in sorted(contending, key=lambda k: (low[k] - high[k], k)):
        level = study.next_level(singles[k]) if high[k] - low[k] > apart else None
        if level is not None and any(overlap(j, k) for j in contending if j != k):
            found.setdefault(study.left(singles[k]), Step(singles[k], level))
        if len(found) >= BATCH:
            break
    return list(found.values())


def _included(study: Study, j: int, k: int) -> bool:
    a, b = study.known_left(frozenset([j])), study.known_left(frozenset([k]))
    return a is not None and b is not None and (not a & ~b or not b & ~a)


def places(study: Study) -> list[tuple[int, int]]:
    """Return, for each control, the first and the last place that it can have in the order, ties shared."""
    singles = [frozenset([k]) for k in range(len(study.controls))]
    low, high = [study.lower(s) for s in singles], [study.upper(s) for s in singles]
    lows, highs = sorted(low), sorted(high)
    return [(1 + bisect_left(highs, low[k]), bisect_right(lows, high[k])) for k in range(len(singles))]
