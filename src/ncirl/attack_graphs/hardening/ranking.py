r"""Put the best controls in order: bounds on V({k}) only as close as the order needs.

With V({k}) in [lower, upper] for each control k, call the `top` with the least midpoints leaders and the others
challengers. Who is among the first is proved when no leader's upper bound is above a challenger's lower bound; so the
leaders with the largest upper bounds and the challengers with the least lower bounds are solved on the next level first
(best-arm identification by intervals, LUCB: Kalyanakrishnan, Tewari, Auer and Stone, ICML 2012). Once that is settled,
or cannot be, it is the turn of leaders that overlap each other, those known least closely first. With L(k) the exploits
that still matter when k is in place, L(j) ⊆ L(k) says which of two is no worse, however they overlap.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from math import inf

from ncirl.attack_graphs.hardening.study import Step, Study
from ncirl.limits import Limits

__all__ = ["places", "put_in_order", "ties"]

BATCH = 4  # solved at once, whatever the number of workers


def put_in_order(study: Study, top: int, limits: Limits) -> bool:
    """Solve until the first `top` controls are in order, as far as the tolerance tells them apart, or time is up.

    Returns whether they are; not, where some were solved on every level and are not known closely enough.
    """
    while not limits.passed:
        steps = _unclear(study, top)
        if not steps:
            break
        study.solve(steps)
    return next(_Order(study, top).doubtful(), None) is None


def _unclear(study: Study, top: int) -> list[Step]:
    """List what to solve next: a batch of those that stand in the way of the order most."""
    found: dict[int, Step] = {}  # by what is left, which is solved once
    for k in _Order(study, top).doubtful():
        only = frozenset([k])
        level = study.next_level(only)
        if level is not None:
            found.setdefault(study.left(only), Step(only, level))
        if len(found) >= BATCH:
            break
    return list(found.values())


class _Order:
    """The order as it is known: intervals, leaders and challengers."""

    def __init__(self, study: Study, top: int) -> None:
        self.study, self.apart = study, study.tolerance / 2
        singles = [frozenset([k]) for k in range(len(study.controls))]
        self.low, self.high = [study.lower(s) for s in singles], [study.upper(s) for s in singles]
        middle = sorted(range(len(singles)), key=lambda k: (self.low[k] + self.high[k], k))
        self.leaders, self.challengers = middle[:top], middle[top:]

    def doubtful(self) -> Iterator[int]:
        """List the controls that keep the order from being clear and are not yet known closely, the worst first."""
        leaders = sorted(self.leaders, key=lambda k: (-self.high[k], k))
        challengers = sorted(self.challengers, key=lambda k: (self.low[k], k))
        for k in range(max(len(leaders), len(challengers))):
            yield from (j for j in leaders[k : k + 1] if any(self._overlap(j, c) for c in challengers))
            yield from (c for c in challengers[k : k + 1] if any(self._overlap(j, c) for j in leaders))
        for j in sorted(self.leaders, key=lambda k: (self.low[k] - self.high[k], k)):
            if any(self._overlap(j, other) for other in self.leaders if other != j):
                yield j

    def _overlap(self, j: int, k: int) -> bool:
        """Tell whether two intervals overlap by more than the tolerance, and nothing else says which is no worse."""
        common = min(self.high[j], self.high[k]) - max(self.low[j], self.low[k])
        return common > self.apart and not _included(self.study, j, k)


def _included(study: Study, j: int, k: int) -> bool:
    a, b = study.known_left(frozenset([j])), study.known_left(frozenset([k]))
    return a is not None and b is not None and (not a & ~b or not b & ~a)


def places(study: Study) -> list[tuple[int, int]]:
    """Return, for each control, the first and the last place that it can have in the order, ties shared."""
    singles = [frozenset([k]) for k in range(len(study.controls))]
    low, high = [study.lower(s) for s in singles], [study.upper(s) for s in singles]
    lows, highs = sorted(low), sorted(high)
    return [(1 + bisect_left(highs, low[k]), bisect_right(lows, high[k])) for k in range(len(singles))]


def ties(intervals: Sequence[tuple[float, float]], top: int) -> list[tuple[int, int]]:
    """Return which of some intervals, in order, are not told apart: runs [first, last] by number.

    A cut between two places is proved when nothing before it reaches above anything behind it. Runs that begin behind
    the first `top` are left out.

    Examples
    --------
    >>> ties([(0.1, 0.1), (0.2, 0.4), (0.3, 0.5), (0.5, 0.9), (0.6, 0.8)], top=2)
    [(1, 2)]
    """
    least, behind = inf, [inf]  # of what is behind each place
    for low, _ in reversed(intervals):
        least = min(least, low)
        behind.append(least)
    behind.reverse()
    most, first = -inf, 0
    found: list[tuple[int, int]] = []
    for k, (_, high) in enumerate(intervals):
        most = max(most, high)
        if most <= behind[k + 1]:
            found += [(first, k)] if k > first else []
            most, first = -inf, k + 1
        if first >= top:
            break
    return found
