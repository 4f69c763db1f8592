"""What to do next: explore wide or deep, sweep, follow the prices, or polish what is there.

Which of these pays differs from game to game and from hour to hour. Each has a share of the work, and more of it while
it does better than the others: an activity that has just taken some work waits for as long as that is at its share.
Work is counted in rows touched by the linear programs, not in seconds, so that a run can be repeated.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ncirl.solvers.certified.polish import polish_points, polish_vectors
from ncirl.solvers.certified.prices import priced_trial
from ncirl.solvers.certified.search import FINEST, Search
from ncirl.solvers.certified.sweep import sweep
from ncirl.solvers.certified.trials import Trials

__all__ = ["Schedule"]

Late = Callable[[], bool]

MISSED = 1e-3  # of the gap: what programs may leave out
OF_A_STAGE = 0.03  # and of what a stage counts, where that is little
MEMORY = 0.7  # how much a run counts when the next one is over
FAVOUR = 6.0  # how many times its share an activity may get, or be refused
WIDE, DEEP, SWEEP, PRICES, VECTORS, POINTS = 0.15, 0.25, 0.1, 0.1, 0.4, 0.1  # shares
LATER = 1e7  # when all but trials begin: easy games need nothing else


@dataclass(eq=False)
class Activity:
    """Something that brings the bounds closer, and how well it has been doing lately."""

    run: Callable[[float, Late], None]
    share: float
    due: float = 0.0  # when its turn comes
    gained: float = 0.0  # logarithm of how many times smaller the gap became; older runs count less
    work: float = 0.0  # what that took

    @property
    def rate(self) -> float:
        """What work gained."""
        return self.gained / self.work if self.work else 0.0


class Schedule:
    """Gives each activity its turn."""

    def __init__(self, search: Search, width: int) -> None:
        self.search = search
        stage = 1.0 - search.game.discount  # what a stage counts, and so about what a backup may gain
        self._missed = min(MISSED, OF_A_STAGE * stage) if search.slow else MISSED
        trials = Trials(search, width)
        self.activities = [
            Activity(trials.wide, WIDE),
            Activity(trials.deep, DEEP),
            Activity(lambda _, late: sweep(search, late), SWEEP, LATER),
            Activity(lambda _, late: priced_trial(search, late), PRICES, LATER),
            Activity(lambda _, late: polish_vectors(search, late), VECTORS, LATER),
            Activity(lambda _, late: polish_points(search, late), POINTS, LATER),
        ]

    def step(self, target: float, late: Late) -> None:
        """Let the activity run whose turn it is, and carry what it found through both controllers."""
        search = self.search
        before = search.gap_at_start()
        search.accuracy.missed = max(FINEST, self._missed * before)
        activity = min(self.activities, key=lambda each: each.due)
        work, changes = search.meter.work, search.changes
        activity.run(target, late)
        in_vain = search.changes == changes
        search.evaluate()
        taken = search.meter.work - work
        gained = float(np.log(max(before, FINEST) / max(search.gap_at_start(), FINEST)))
        activity.gained, activity.work = MEMORY * activity.gained + gained, MEMORY * activity.work + taken
        activity.due += taken / (activity.share * self._favour(activity))
        if in_vain:  # nothing will come of it until others have found something
            activity.due = max(each.due for each in self.activities)

    def _favour(self, activity: Activity) -> float:
        usual = float(np.mean([each.rate for each in self.activities]))
        return float(np.clip(activity.rate / usual, 1 / FAVOUR, FAVOUR)) if usual else 1.0
