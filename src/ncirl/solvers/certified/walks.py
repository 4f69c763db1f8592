"""Walks: optimistic play, drawn as it comes, and home again, improving the upper bound alone.

    U(s0, b0) − v(s0, b0)  ≤  Σ_t γ^t E[ U(s_t, b_t) − (G U)(s_t, b_t) ]        along the play that U itself would have

What U is too high by at the start adds up along optimistic play, each stage by what one backup there would take off.
Where play goes on long and reveals little, these are many small errors at beliefs that wander slowly, none of them
larger than those at the start, so that trials, which look for large ones, do not get to them. Drawn by their chances
they are met as often as they count: on the way out as they are, on the way home with what has been found behind them.

Beliefs are taken to the extreme intents of their states (`extremes`): what would be a cloud of many dimensions is one
of few there, and its vectors serve all beliefs with the same mixture. The draws are those of a seed, always the
same.
"""

from collections.abc import Callable

import numpy as np

from ncirl.lp.backups import VectorBackup
from ncirl.solvers.certified.extremes import Extremes
from ncirl.solvers.certified.narrowed import NarrowedProgram
from ncirl.solvers.certified.search import InformationState, Search

__all__ = ["Walks"]

ENDS = 0.04  # chance that a walk ends after a stage
LONGEST = 40  # stages
AT_ONCE = 6  # walks: the start gains little by one, which is one of many plays
ROUGHLY = 4.0  # times as much may be missed as elsewhere: more vectors are worth more than better ones


class Walks:
    """Follows optimistic play from the starts of a game."""

    def __init__(self, search: Search, seed: int = 0) -> None:
        self.search, self.extremes = search, Extremes(search)
        self._draw = np.random.default_rng(seed)

    def some(self, late: Callable[[], bool]) -> None:
        """Walk from the starts whose gaps weigh most, a few times."""
        upper, tuning = self.search.upper, self.search.tuning
        for _ in range(AT_ONCE):
            if late() or not self.extremes.prepare(late):
                return
            self.walk(late)
            if upper.changes > tuning.changed:
                upper.evaluate(tuning.sweeps)

    def walk(self, late: Callable[[], bool]) -> None:
        """Walk once and come home."""
        accuracy = self.search.accuracy
        usual = accuracy.missed
        accuracy.missed = ROUGHLY * usual
        try:
            for at, found_with in reversed(self._path(late)):
                if late():
                    return
                if self._changes_behind(at) > found_with:  # else it would find the same again
                    self._update(at)
        finally:
            accuracy.missed = usual

    def _changes_behind(self, at: InformationState) -> int:
        """Count what has ever changed above the states that may follow."""
        return sum(self.search.upper.stores[t].changes for t in self.search.arrays[at.state].successors)

    def _path(self, late: Callable[[], bool]) -> list[tuple[InformationState, int]]:
        """Follow optimistic play, improving what it meets; return where it went, and with how many changes behind."""
        search, draw = self.search, self._draw
        at = self.extremes.spread(search.worst_start())
        path: list[tuple[InformationState, int]] = []
        while len(path) < LONGEST and not late():
            path.append((at, self._changes_behind(at)))
            following = search.following(at, self._update(at))
            if not following or draw.random() < ENDS:
                break
            chances = np.array([chance for chance, _ in following])
            at = self.extremes.spread(following[draw.choice(len(following), p=chances / chances.sum())][1])
        return path

    def _update(self, at: InformationState) -> VectorBackup:
        """Improve the upper bound at a belief over extreme intents."""
        search, here = self.search, self.search.arrays[at.state]
        intents, _ = self.extremes.at(at.state)
        if search.slow or len(intents) == here.n_t or at.belief.sum() > at.belief[intents].sum():
            return search.update_upper(at)
        if at.state not in search.narrowed:
            likely = search.likely(at.state)
            search.narrowed[at.state] = NarrowedProgram(
                here, search.upper, search.accuracy, search.meter, likely, intents
            )
        found = search.narrowed[at.state].solve(at.belief)
        search.keep_vector(at, found)
        return found
