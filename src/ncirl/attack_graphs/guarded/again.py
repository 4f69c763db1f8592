"""What was solved least exactly is solved again, for longer: what promises most a second comes first.

    gain = what the bounds would gain, were only so much of a game's gap left;       first is who has the largest gain
                                                                                     for each second it has had

until no gain is more than a share of the gap. How much of its gap three times as long leaves is told from how it went
before. A game that so long brought on by little is not solved again, unless there is time and nothing else to do:
whoever is patient solves all that is not over again, until time is up.
"""

from dataclasses import replace
from math import inf, sqrt

from ncirl.attack_graphs.guarded.bundles import Group
from ncirl.attack_graphs.guarded.jobs import Job, Solved
from ncirl.attack_graphs.guarded.parts import Part
from ncirl.attack_graphs.guarded.running import Run
from ncirl.attack_graphs.guarded.spread import LAST
from ncirl.limits import Limits
from ncirl.solution import Status

__all__ = ["LEFT", "Again"]

FINE = 0.25  # by how much a game is solved more exactly
AT_ONCE = 2  # games that are solved again at a time
LONGER, LEFT = 3.0, 0.6  # times as long as before, and what is then left of the gap of a game that is new
LEAST = 0.3  # seconds that a game gets
ENOUGH = 0.8  # of that time, to tell by it whether more is of use; with less than half of it nothing is solved again
TELLING = 2.0  # seconds of a game before which it is not told by what they gained
GAINED = 0.02  # of the gap of a game: if solving it longer brought its bound on by less, that is not done again

Gains = list[tuple[float, Solved]]  # what the bounds gain by each, the best first


class Again:
    """What of a run is worth being solved again, and what has turned out not to be."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.exact: set[Part | Group] = set()  # what gains nothing by being solved more exactly
        self._is_patient = False

    def be_patient(self) -> None:
        """Give nothing up any more that does not end by itself: there is nothing else to do."""
        self._is_patient = True
        self.exact.clear()

    def refine(self, limit: Limits, enough: float) -> Status:
        """Solve again, for longer, what promises most a second, until that is no more than a share of the gap.

        Where there is time and nothing else to do, so is what gained little, and what must be far more exact to gain.
        """
        left = LEFT
        while not limit.passed:
            loose = self.loose(enough, left)
            if not loose and left and not enough and limit.seconds is not None:
                left = 0.0
                self.exact.clear()
                loose = self.loose(enough, left)
            before, jobs = self.fitting(loose, limit)
            if not jobs:
                return Status.TIME_LIMIT if loose else Status.FINISHED
            self.exact.update(before)  # unless it turns out to gain something, or had little more time
            apart = self.run.apart
            for solved in self.run.solved(jobs):
                if self._is_use(solved, before[solved.job.what], apart):
                    self.exact.discard(solved.job.what)
                if self.run.is_done():
                    return Status.GAP_REACHED
        return Status.TIME_LIMIT

    def _is_use(self, solved: Solved, worst: Solved, apart: float) -> bool:
        """Tell whether it gained something that a game was solved again, or cannot be told yet."""
        if solved.is_over and (solved.lower, solved.upper) == (worst.lower, worst.upper):
            return False
        if self._is_patient or solved.job.seconds < max(TELLING, ENOUGH * LONGER * worst.job.seconds):
            return True
        gained = worst.upper - solved.upper if solved.job.terms is not None else solved.lower - worst.lower
        return gained >= GAINED * min(worst.upper - worst.lower, apart)

    def loose(self, enough: float, left: float) -> Gains:
        """List what is not solved exactly, with what bounds gain if so much of its gap is left."""
        run = self.run
        loose = run.above.loose(lambda s: s.left(left, LONGER))
        for weight, s in run.below.best():
            loose.append(((1.0 - s.left(left, LONGER)) * min(weight * (s.upper - s.lower), run.apart), s))
        least = max(FINE * run.target, enough * run.apart) * (1.0 - left) / max(len(loose), 1)
        kept = [(gain, s) for gain, s in loose if gain > least and s.job.what not in self.exact]
        return sorted(kept, key=lambda found: -found[0] / found[1].job.seconds)

    def fitting(self, loose: Gains, limit: Limits) -> tuple[dict[Part | Group, Solved], list[Job]]:
        """Return what to solve again: the first ones at once, or else the first for which there is time."""
        for some in (loose[:AT_ONCE], *([each] for each in loose)):
            if jobs := self.longer(some, limit):
                return {job.what: worst for job, (_, worst) in zip(jobs, some, strict=True)}, jobs
        return {}, []

    def longer(self, loose: Gains, limit: Limits) -> list[Job]:
        """Return what to solve again, for longer; none where there is no time for all of it.

        Where several are solved at once nobody waits for the others, unless its own set-up leaves it no more time.
        """
        lanes = min(self.run.workers.lanes, len(loose))
        jobs, most_of_each = [], []
        for _, worst in loose:
            before = worst.job.seconds
            overhead = max(worst.overhead, 0.0 if worst.begun is not None else self.run.pace.overhead(worst.job.work))
            most = worst.spent + limit.left * lanes / len(loose)
            times = _times(before, overhead, most)
            seconds = min(LONGER, times) * before
            if seconds - worst.spent < (LEAST if worst.spent else ENOUGH * LONGER / 2 * before):
                return []
            jobs.append(replace(worst.longer(FINE * (worst.upper - worst.lower), seconds), within=LAST * limit.left))
            most_of_each.append(times * before if worst.begun is None else inf)  # `within` sees to what is gone on with
        if lanes > 1 and limit.left < inf:
            longest = max(job.seconds - job.spent for job in jobs)
            each = [min(job.spent + longest, most) for job, most in zip(jobs, most_of_each, strict=True)]
            return [replace(job, seconds=seconds) for job, seconds in zip(jobs, each, strict=True)]
        return jobs


def _times(before: float, overhead: float, most: float) -> float:
    """Return how many times as long fits: times·before + times²·overhead = most, where an overhead may be nothing."""
    return inf if most == inf else 2 * most / (sqrt(before**2 + 4 * overhead * most) + before)
