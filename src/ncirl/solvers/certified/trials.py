"""Trials: forward along the optimistic play to where the bounds are farthest apart, and home again, backing up.

    b' = argmax_i  Pr(i) [ (U − L)(s'_i, b_i) − ε γ^−t ],        ε a share of (U − L)(s0, b0)

From a belief a trial moves to the successor with the largest probability-weighted excess gap, as heuristic search does.
There are two manners. A wide trial looks for gaps as large as that at the start, so that coarse ones are closed first,
everywhere, and on the way home backs up the next-best successors too. A deep one looks for smaller gaps, follows one
successor only, and so gets far; it does better where play goes on long and beliefs move slowly.

A sweep is backward induction where nothing has been revealed. An attacker with time hides what it wants, so far down
the game the belief is often still, or nearly, the first one. Trials come to those states late and one by one, each for
some posterior of an optimistic plan. One sweep from the last states to the first gives every plan a secure way on that
reveals nothing, and every vector the defence against it.
"""

from collections.abc import Callable
from itertools import chain

import numpy as np

from ncirl.model.order import components
from ncirl.solvers.certified.search import InformationState, Search

__all__ = ["Trials", "sweep"]

SHORT = 2  # a path of so few states has found nothing
FINER = 0.7  # then look for smaller gaps
NEIGHBOURS = 12  # successors whose lower bound is improved where that takes no program


class Trials:
    """Explores a game from its starts."""

    def __init__(self, search: Search, width: int) -> None:
        self.search, self.width = search, width
        self._aim = np.inf  # the gap wide trials look for: today's, until nothing of that size is found

    def wide(self, target: float, late: Callable[[], bool]) -> None:
        """Look for gaps like that at the start."""
        self._aim = max(target, min(self._aim, self.search.gap_at_start()))
        if self._explore(self._aim, self.width, target, late) <= SHORT:  # nothing left to find at this scale
            self._aim *= FINER

    def deep(self, target: float, late: Callable[[], bool]) -> None:
        """Look for smaller ones, farther away."""
        self._explore(max(target, self.search.tuning.deeper * self.search.gap_at_start()), 1, target, late)

    def _explore(self, excess: float, width: int, target: float, late: Callable[[], bool]) -> int:
        """Follow the optimistic play from the start whose gap weighs most, then come home; return how far it led.

        Where backing up the start brings the bounds as close as is wanted, it goes nowhere.
        """
        search = self.search
        at = search.worst_start()
        path: list[tuple[InformationState, list[InformationState], float]] = []
        while len(path) < search.depth and not late():
            high, low = search.back_up(at)
            if not path and search.gap_at_start() <= target:
                break
            excess = excess / search.game.discount if search.game.discount else np.inf
            following = search.successors(at, high, low, excess)
            for _, other in following[1:NEIGHBOURS]:
                search.update_nonrevealing(other)
            path.append((at, [other for _, other in following[1:width]], excess))
            if not following:
                break
            at = following[0][1]
        for at, others, excess in reversed(path):
            for other in [*others, at]:
                if late():
                    return len(path)
                if other is at or search.gap(other) > excess:  # a neighbour may have closed it meanwhile
                    search.back_up(other)
        return len(path)


def sweep(search: Search, late: Callable[[], bool]) -> None:
    """Back up the states met so far, and those right after them, at the belief of the start whose gap weighs most."""
    start = search.worst_start()
    near = search.met.union(*(search.arrays[k].successors for k in search.met))
    for state in chain.from_iterable(components(search.game)):  # what follows a state comes before it
        if late():
            return
        if search.number.get(state) in near:
            search.back_up(InformationState(search.number[state], start.belief))
