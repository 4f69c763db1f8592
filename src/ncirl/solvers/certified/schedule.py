"""Whose turn it is: each activity has a share of the work, and more of it while it does better than the others.

    due ← due + work / (share · favour),        favour = rate / mean rate,   rate = log(gap before / gap after) / work

Which activity pays differs from game to game and from hour to hour. One that has just taken some work waits for as long
as that is at its share. Where one bound only is wanted, what the other gains does not count. Work is counted in rows
touched by the linear programs, not in seconds, so that a run can be repeated.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ncirl.lp.program import Accuracy
from ncirl.lp.session import Meter
from ncirl.model.game import Game
from ncirl.solvers.certified.search import FINEST
from ncirl.solvers.certified.tuning import Aim, Tuning

__all__ = ["Activity", "Late", "Schedule", "Searched"]

Late = Callable[[], bool]

OF_A_STAGE = 0.03  # of what a stage counts, where that is little: what programs may leave out
MEMORY = 0.7  # how much a run counts when the next one is over


@dataclass(eq=False)
class Activity:
    """Something that brings the bounds closer, and how well it has been doing lately."""

    run: Callable[[float, Late], None]
    share: float
    due: float = 0.0  # when its turn comes
    least: float | None = None  # of its share, what it gets while it gains nothing; by default 1 / the most
    shows_later: bool = False  # whether what it gains shows only after a while: then work is never in vain
    gained: float = 0.0  # logarithm of how many times smaller the gap became; older runs count less
    work: float = 0.0  # what that took

    @property
    def rate(self) -> float:
        """What work gained."""
        return self.gained / self.work if self.work else 0.0


class Searched(Protocol):
    """Bounds that activities bring closer: those of a search, here or in the kernel."""

    game: Game
    tuning: Tuning
    meter: Meter
    accuracy: Accuracy
    slow: bool

    @property
    def changes(self) -> int:
        """How often anything has changed."""

    def bounds(self) -> tuple[float, float]:
        """Return both bounds on the value of the game."""
        ...

    def evaluate(self) -> None:
        """Carry improvements through both controllers, once enough has changed."""

    def look(self) -> None:
        """Take note of how far the bounds have come."""


class Schedule:
    """Gives each activity its turn."""

    def __init__(self, search: Searched, activities: list[Activity], aim: Aim = Aim.BOTH) -> None:
        self.search, self.activities, self.aim = search, activities, aim
        stage = 1.0 - search.game.discount  # what a stage counts, and so about what a backup may gain
        self._missed = min(search.tuning.missed, OF_A_STAGE * stage) if search.slow else search.tuning.missed

    def step(self, target: float, late: Late) -> bool:
        """Let the activity run whose turn it is, and carry what it found through both controllers.

        Return whether what it gained shows by now.
        """
        search = self.search
        low, high = search.bounds()
        search.accuracy.missed = max(FINEST, self._missed * (high - low))
        activity = min(self.activities, key=lambda each: each.due)
        work, changes = search.meter.work, search.changes
        activity.run(target, late)
        taken = search.meter.work - work
        in_vain = not taken if activity.shows_later else search.changes == changes
        search.evaluate()
        search.look()
        gained = float(np.log(max(high - low, FINEST) / max(self._left(low, high), FINEST)))
        activity.gained, activity.work = MEMORY * activity.gained + gained, MEMORY * activity.work + taken
        activity.due += taken / (activity.share * self._favour(activity))
        if in_vain:  # nothing will come of it until others have found something
            activity.due = max(each.due for each in self.activities)
        return not activity.shows_later

    def _left(self, low: float, high: float) -> float:
        """Return what is left of the gap now: what the bound that is not wanted has gained does not count."""
        now_low, now_high = self.search.bounds()
        return (high if self.aim is Aim.BELOW else now_high) - (low if self.aim is Aim.ABOVE else now_low)

    def _favour(self, activity: Activity) -> float:
        usual, most = float(np.mean([each.rate for each in self.activities])), self.search.tuning.favour
        least = 1 / most if activity.least is None else activity.least
        return float(np.clip(activity.rate / usual, least, most)) if usual else 1.0
