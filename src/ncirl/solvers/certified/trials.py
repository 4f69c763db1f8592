"""Trials: forward along the optimistic play to where the bounds are farthest apart, and home again, backing up.

From a belief a trial moves to the successor with the largest probability-weighted excess gap, where the excess is
measured against the gap at the start. There are two manners. A wide trial looks for gaps as large as that at the start,
so that coarse ones are closed first, everywhere, and on the way home backs up the next-best successors too. A deep one
looks for smaller gaps, follows one successor only, and so gets far; it does better where play goes on long and beliefs
move slowly.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ncirl.solvers.certified.search import Search, Visit

__all__ = ["Trials"]

SHORT = 2  # a path of so few places has found nothing
FINER = 0.7  # then look for smaller gaps
DEEPER = 0.3  # of the gap at the start: what deep trials look for
SETTLED = 12  # successors whose lower bound is improved where that takes no program


class Trials:
    """Explores a game from its starts."""

    def __init__(self, search: Search, width: int) -> None:
        self.search, self.width = search, width
        self._aim = np.inf  # the gap wide trials look for: today's, until nothing of that size is found

    def wide(self, target: float, late: Callable[[], bool]) -> None:
        """Look for gaps like that at the start."""
        self._aim = max(target, min(self._aim, self.search.gap_at_start()))
        if self._explore(self._aim, self.width, late) <= SHORT:  # nothing left to find at this scale
            self._aim *= FINER

    def deep(self, target: float, late: Callable[[], bool]) -> None:
        """Look for smaller ones, farther away."""
        self._explore(max(target, DEEPER * self.search.gap_at_start()), 1, late)

    def _explore(self, excess: float, width: int, late: Callable[[], bool]) -> int:
        """Follow the optimistic play from the start whose gap weighs most, then come home; return how far it led."""
        search = self.search
        visit = search.worst_start()
        path: list[tuple[Visit, list[Visit], float]] = []
        while len(path) < search.depth and not late():
            step, held = search.back_up(visit)
            excess = excess / search.game.discount if search.game.discount else np.inf
            following = search.successors(visit, step, held, excess)
            for _, other in following[1:SETTLED]:
                search.settle(other)
            path.append((visit, [other for _, other in following[1:width]], excess))
            if not following:
                break
            visit = following[0][1]
        for visit, others, excess in reversed(path):
            for other in [*others, visit]:
                if late():
                    return len(path)
                if other is visit or search.gap(other) > excess:  # a neighbour may have closed it meanwhile
                    search.back_up(other)
        return len(path)
