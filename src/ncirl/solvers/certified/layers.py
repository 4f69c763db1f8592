"""Rounds over a game that ends: forward through all beliefs that optimistic play meets, then home, each backed up once.

    forward   B_0 = the starts;   B_t+1 = posteriors of the plans at B_t, those near to each other taken for one
    home      back up every belief of B_T-1, …, B_0

Where play never comes back to a state, a backup is as good as what is known of the states after it, and those can all
be dealt with before: one round does for every belief met what a trial does for its path. A trial visits the last
stages of its own path again and again; in a long play most of that is in vain.

Optimistic plans lead to the corners of the upper bound, just where it is farthest from the value, so every round halves
the distances between beliefs where it matters and divides what the bounds lose there by four. A belief counts for what
is met there, its chance times its gap: below a share of its part of the gap at the start it is left. Both that share
and the distance at which beliefs are near begin large, for where there are many intents or states a fine round takes
long, and become smaller whenever a round has gained little.
"""

from collections.abc import Callable
from itertools import chain

import numpy as np

from ncirl._typing import FloatArray
from ncirl.model.order import components, is_cyclic
from ncirl.solvers.certified.many import back_up_at, plans_at
from ncirl.solvers.certified.search import InformationState, Search

__all__ = ["Layers", "ends", "stages_left"]

SHARE, LEAST_SHARE = 0.1, 3e-3  # of the gap at the start, what a belief must account for: at first, and at the least
NEAR, NEAREST = 0.25, 1e-4  # distance of beliefs taken for one
LITTLE = 0.7  # of the gap: if that much is left, there were too few beliefs

Met = list[tuple[float, FloatArray]]  # with which chance, which belief


def ends(search: Search) -> bool:
    """Tell whether play never comes back to a state."""
    return not any(is_cyclic(search.game, component) for component in components(search.game))


def stages_left(search: Search) -> dict[int, int]:
    """Return how many stages are to come at the most, by state, the last states first."""
    left: dict[int, int] = {}
    for state in chain.from_iterable(components(search.game)):
        if state in search.number:
            here = search.arrays[search.number[state]]
            left[here.number] = 1 + max((left[after] for after in here.successors), default=0)
    return left


class Layers:
    """Solves a game that ends from its last states to its first, again and again, at more beliefs each time."""

    def __init__(self, search: Search) -> None:
        self.search, self._left = search, stages_left(search)
        self._near, self._share = NEAR, SHARE

    def round(self, target: float, late: Callable[[], bool]) -> None:
        """Go forward and home once."""
        search = self.search
        before = search.gap_at_start()
        for k, beliefs in reversed(self._forward(max(target, before), late)):
            if late():
                return
            back_up_at(search, k, beliefs, late)
        if search.gap_at_start() > LITTLE * before:
            self._near, self._share = max(NEAREST, self._near / 2), max(LEAST_SHARE, self._share / 2)

    def _forward(self, gap: float, late: Callable[[], bool]) -> list[tuple[int, FloatArray]]:
        """List the beliefs that optimistic play meets, those of a state before those of the states after it."""
        search, met = self.search, list[tuple[int, FloatArray]]()
        first_first = [*reversed(self._left)]
        arriving: dict[int, Met] = {k: [] for k in first_first}
        for share, root in search.roots:
            arriving[root.state].append((share, root.belief))
        stages = max(self._left[root.state] for _, root in search.roots)
        for k in first_first:
            enough = self._share * gap * self._left[k] / stages
            worth_while = [
                (chance, belief)
                for chance, belief in self._apart(arriving.pop(k))
                if chance * search.gap(InformationState(k, belief)) > enough
            ]
            if late():
                return met
            if not worth_while:
                continue
            met.append((k, np.array([belief for _, belief in worth_while])))
            plans = plans_at(search, *met[-1], late)
            for (chance, belief), plan in zip(worth_while, plans, strict=False):
                for share, after in search.following(InformationState(k, belief), plan):
                    arriving[after.state].append((chance * share, after.belief))
        return met

    def _apart(self, arriving: Met) -> Met:
        """Take beliefs near to a likelier one for that one."""
        kept: Met = []
        for chance, belief in sorted(arriving, key=lambda each: -each[0]):
            if kept:
                away = np.abs(np.array([each for _, each in kept]) - belief).sum(axis=1)
                j = int(away.argmin())
                if away[j] < self._near:
                    kept[j] = kept[j][0] + chance, kept[j][1]
                    continue
            kept.append((chance, belief))
        return kept
