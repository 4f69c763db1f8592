"""Certified bounds for attack graphs of any size: two ladders of small games, climbed by turns.

    first bounds      nothing guarded, everything conceded; one way per intent, in bundles
    rung by rung      guard more while the relaxed game fits, keep to more ways while the restricted game fits;
                      what was solved least exactly is solved more exactly, as long as that is a good part of the gap
    no huge graphs    once, for a good while, the whole of it in one game, from either side, where that can be listed
    in the end        what was solved least exactly again, for what is left of the time

until the bounds are as close as asked, or time is up. All of it is anytime: the best of each side so far is a proof
about the whole graph. Sizes are known before a game is built, and how long its set-up takes is predicted from those
before it, so the time limit holds up to the length of one step.
"""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from math import inf, sqrt

from ncirl.attack_graphs.graph import AttackGraph
from ncirl.attack_graphs.guarded.above import Above
from ncirl.attack_graphs.guarded.any_prior import solved_for_any_prior
from ncirl.attack_graphs.guarded.below import Below
from ncirl.attack_graphs.guarded.bundles import Group
from ncirl.attack_graphs.guarded.cuts import Flow, depths
from ncirl.attack_graphs.guarded.entire import Entire, counted_entire, is_affordable, is_one, taken_over
from ncirl.attack_graphs.guarded.jobs import Job, Pace, Solved
from ncirl.attack_graphs.guarded.net import Net
from ncirl.attack_graphs.guarded.parts import Part
from ncirl.attack_graphs.guarded.sizes import Size
from ncirl.attack_graphs.guarded.solution import GuardedSolution, assembled, measured, unhindered
from ncirl.attack_graphs.guarded.spread import Workers, solve_all
from ncirl.errors import InputError, LimitError
from ncirl.limits import Limits
from ncirl.model.priors import Priors
from ncirl.solution import Progress, ProgressCallback, Stats, Status

__all__ = ["Guarded"]

RUNGS = ((0, 4, 0), (24, 4, 40), (80, 5, 40), (240, 6, 40), (500, 6, 40), (1000, 7, 40), (2400, 7, 40), (2400, 7, 300))
# states, width, pairs of actions per state on average
MORE_PAIRS = 2_000
LEAST, WORTH = 0.3, 1.5  # seconds that a game gets, and times what it takes beside the search
FIRST = 600.0  # seconds that the first bound gets, which takes next to none: nobody has a choice in its game
ROUGH = 0.01  # relative gap of games on the ladder
FINE = 0.25  # by how much a game is solved more exactly
ABOVE, BELOW = 0.3, 0.2  # of a rung's time, to choose and as much to solve; solving more exactly has the rest
HIDING = 0.15  # of it, to look for what all play side by side
NEAR = 0.5  # of the time that is left, to solve more exactly where that alone will do
INNER = 0.5  # of the gap that is asked, where the prior is not known: for each prior that is tried
AT_ONCE = 2  # games that are solved again at a time
FEW = 24  # exploits of a graph that may be one small game
WHOLE = Size(240, 20_000)  # how large such a game may be
TOGETHER, UNDIVIDED = 0.4, 0.5  # of the time that is left, for all intents together, then for the whole in one part
FIRST_LOOK = 0.35  # of that: then it must do better than groups and teams, or than parts
ENTIRE = 2  # rungs before the whole of a graph that is not that small, in which parts and groups are tried
COUNTING = 0.1  # of the time that is left, to count its states
LISTING, GUARDING = 0.8, 0.45  # of it, for the whole in one game, and where that differs for it in one part
ALL, LAST = 1.1, 0.92  # in the end: what is tried for then may have no time to search, and what it gets
LONGER, LEFT = 3.0, 0.6  # times as long as before, and what is then left of the gap of a game, by experience
ENOUGH = (
    0.8  # of that time, to tell by it whether more time is of use; with less than half of it nothing is solved again
)
TELLING = 2.0  # seconds of a game before which it is not told by what they gained
GAINED = 0.02  # of the gap of a game: if solving it longer brought its bound on by less, that is not done again
ASKED = 0.9  # of the gap that is asked
OPEN = 0.5  # of the gap: what exact parts may leave open, where they are solved exactly instead of climbing on
SLACK = 0.3  # of the gap: if games are solved less exactly than that, it pays to solve them again


@dataclass(frozen=True)
class Guarded:
    """Bounds on the value of a whole attack graph, with a proof that lists only small games.

    Where nobody knows the prior of a graph, the bounds are on the largest value over all priors that are possible, and
    the defence keeps its promise at each of them.

    Parameters
    ----------
    relative_gap : float
        Stop when the bounds are this close relative to the larger; where the value is near nothing, relative to what
        the attacker would get if nobody hindered it.
    gap : float
        Stop also when they are this close.
    time_limit : float, optional
        Seconds after which to stop with the bounds so far.
    executor : Executor, optional
        Runs the small games, which are independent; the result does not depend on how many workers it has.
    memory : int, optional
        The most bytes that this process, and each worker, may have resident; a share of what is free if not given.

    Examples
    --------
    >>> from ncirl.games.office import office_graph
    >>> solution = Guarded(relative_gap=0.3, time_limit=20).run(office_graph())
    >>> solution.lower <= solution.upper, solution.verify().holds
    (True, True)
    """

    relative_gap: float = 0.05
    gap: float = 0.0
    time_limit: float | None = 60.0
    executor: Executor | None = None
    memory: int | None = None

    def run(self, graph: AttackGraph, *, progress: ProgressCallback | None = None) -> GuardedSolution:
        """Bound the value of `graph`."""
        self._check(graph)
        if graph.priors is not None:
            return self._for_any_prior(graph, graph.priors, progress)
        search = _Search(self, graph, progress)
        try:
            status = search.climbed()
        except KeyboardInterrupt:
            status = Status.INTERRUPTED
        search.bound_at_all()
        return search.solution(status)

    def _check(self, graph: AttackGraph) -> None:
        if not self.gap >= 0 or not self.relative_gap >= 0:
            raise InputError("gap and relative_gap must not be negative")
        if self.memory is not None and not self.memory > 0:
            raise InputError(f"memory: must be a positive number of bytes, got {self.memory:g}")
        if self.time_limit is not None and not self.time_limit > 0:
            raise InputError(f"time_limit: must be a positive number of seconds, got {self.time_limit:g}")

    def _for_any_prior(self, graph: AttackGraph, priors: Priors, progress: ProgressCallback | None) -> GuardedSolution:
        """Bound the largest value over some priors (`any_prior`)."""

        def guarded(known: AttackGraph, seconds: float | None, told: ProgressCallback) -> GuardedSolution:
            closer = replace(self, relative_gap=INNER * self.relative_gap, gap=INNER * self.gap, time_limit=seconds)
            return closer.run(known, progress=told)

        def is_close(lower: float, upper: float, known: AttackGraph) -> bool:
            net = Net.of(known)
            scale, _ = measured(lower, upper, unhindered(net, depths(net)))
            return upper - lower <= max(self.gap, self.relative_gap * scale)

        workers = Workers(self.executor, self.memory)
        found = solved_for_any_prior(graph, priors, guarded, workers, self.time_limit, is_close, progress)
        return replace(found, settings=replace(self, executor=None))


class _Search:
    """One run."""

    def __init__(self, settings: Guarded, graph: AttackGraph, progress: ProgressCallback | None) -> None:
        self.settings, self.graph, self.progress = settings, graph, progress
        self.deadline = Limits(settings.time_limit, beat=self._report)  # who listens there may end it with Ctrl-C
        self.workers = Workers(settings.executor, settings.memory)
        self.net = Net(graph)
        self.flow = Flow(self.net)
        self.above, self.below = Above(self.net, self.flow), Below(self.net)
        self.pace = Pace()
        self.solves, self.lp_seconds, self.states = 0, 0.0, 0
        self.exact: set[Part | Group] = set()  # what gains nothing by being solved more exactly
        self.unhindered = unhindered(self.net, self.flow.depth)

    @property
    def scale(self) -> tuple[float, str]:
        """What the gap is measured against, and its name."""
        return measured(self.below.bound, self.above.bound, self.unhindered)

    @property
    def target(self) -> float:
        """How close the bounds must come."""
        return max(self.settings.gap, self.settings.relative_gap * self.scale[0])

    @property
    def _enough(self) -> float:
        """A bound from below that is as close as asked, and a little closer: it is proved only afterwards."""
        return self.above.bound - ASKED * self.target if self.above.bound < inf else inf

    def is_done(self) -> bool:
        """Whether the bounds are as close as asked."""
        return self.above.bound < inf and self.above.bound - self.below.bound <= self.target

    def climbed(self) -> Status:
        """Climb both ladders by turns, then refine."""
        rough = min(ROUGH, self.settings.relative_gap / 4) if self.settings.relative_gap else ROUGH
        is_played = False
        for rung, (states, width, pairs) in enumerate(RUNGS):
            if rung == ENTIRE and (is_played := self._entirely(rough)):
                break
            share = self.deadline.left / (len(RUNGS) - rung)
            size = Size(states, pairs * states + MORE_PAIRS if states else 0)
            for jobs, part in self._turns(size, width, rough, share):
                self._solve(jobs, part * share)
                if self.is_done():
                    return Status.GAP_REACHED
                if self.deadline.passed:
                    return Status.TIME_LIMIT
            if self.above.is_whole:
                break
            refining = NEAR * self.deadline.left if self._is_near() else (1.0 - ABOVE - BELOW) * share
            self._refine(self.deadline.within(refining), SLACK)
            if self.is_done():
                return Status.GAP_REACHED
            if self._is_complete():
                break
        if self.is_done() or self.deadline.passed:
            return Status.GAP_REACHED if self.is_done() else Status.TIME_LIMIT
        share = self.deadline.left
        self._solve(self.below.hide(rough, self.deadline.within(HIDING * share), self._enough), BELOW * share)
        if len(self.net.exploits) <= FEW and share < inf and not is_played:
            self._undivided(rough)
        status = self._refine(self.deadline, 0.0)
        if status is Status.FINISHED and share < inf and not is_played:
            self._entirely(rough, ALL)  # there is nothing else to do with what is left of the time
            return self._refine(self.deadline, 0.0)
        return status

    def _entirely(self, gap: float, most: float = LISTING) -> bool:
        """Play the whole graph in one game, from either side, if that can be listed in time; whether to do no more."""
        seconds, counting = most * self.deadline.left, self._share(COUNTING)
        whole = counted_entire(self.net, self.above.goals, self.below.able, seconds, counting)
        if self._is_small(whole):
            return False
        part, group = whole.part, whole.group
        if part is not None and group is not None and self._affords(part[1], most) and is_one(self.net, whole):
            if self._as_one(part, group, gap, most) or self.is_done() or self.deadline.passed:
                return True
            part = None  # it has had its turn; the group, whose game is another after all, has its own
        solved = []
        if part is not None and self._affords(part[1], GUARDING):
            solved += [self._within(GUARDING, [job]) for job in self.above.undivided(*part, gap)]
        if group is not None and not self.is_done() and self._affords(group[1], most):
            solved += [self._within(most, [job]) for job in self.below.undivided(*group, gap)]
        return (len(solved) == 2 and all(solved)) or self.is_done() or self.deadline.passed

    def _as_one(self, part: tuple[Part, Size], group: tuple[Group, Size], gap: float, most: float) -> bool:
        """Play the whole once for both sides, to whom it is the same game; whether there was the time."""
        for job in self.above.undivided(*part, gap):
            for solved in self._within(most, [replace(job, both=True)]):
                for other in self.below.undivided(*group, gap):
                    found = taken_over(self.net, solved, other, self.deadline)
                    if found is not None:
                        self._take(found)
                        return True
        return False

    def _affords(self, size: Size, part: float) -> bool:
        """Tell whether a game has bounds in good time within a part of what is left."""
        return is_affordable(self.net, size, part * self.deadline.left)

    def _within(self, part: float, jobs: Iterable[Job]) -> list[Solved]:
        """Solve large games at the same time, set-up and playbooks included in a part of the time that is left."""
        seconds = min(part, LAST) * self.deadline.left
        jobs = [replace(job, seconds=job.spent + seconds, within=seconds) for job in jobs]
        found = []
        for solved in solve_all(self.net, jobs, self.workers, self._report, self.deadline):
            self._take(solved)
            found.append(solved)
        return found

    def _share(self, part: float) -> Limits:
        return self.deadline.within(part * self.deadline.left)

    def _undivided(self, gap: float) -> None:
        """Give the game of the whole graph a good while once, from either side: it begins slowly, and may do best.

        Where others work, both sides have a look at the same time; what does well is then gone on with like any other.
        """
        if self.workers.executor is not None:
            self._look([self.below, self.above], TOGETHER, gap)
            return
        for side, most in ((self.below, TOGETHER), (self.above, UNDIVIDED)):
            self._look([side], FIRST_LOOK * most, gap)
            if side.is_best_whole:
                self._look([side], (1.0 - FIRST_LOOK) * most, gap)

    def _look(self, sides: Sequence[Above | Below], part: float, gap: float) -> None:
        """Solve the whole, or go on with it, from some sides at once."""
        if not self.is_done():
            limit = self._share(HIDING * part)
            self._within(part, [job for side in sides for job in side.whole(WHOLE, gap, limit)])

    def _is_small(self, whole: Entire) -> bool:
        """Tell whether the whole is so small that it has its turn in the end (`_undivided`)."""
        if whole.part is None or len(self.net.exploits) > FEW:
            return False
        return whole.part[1].states <= WHOLE.states and whole.part[1].pairs <= WHOLE.pairs

    def _is_near(self) -> bool:
        """Tell whether the bounds would be as close as asked, were what proves them solved twice as exactly."""
        slack = sum(s.upper - s.lower for s in self.above.best())
        slack += sum(weight * (s.upper - s.lower) for weight, s in self.below.best())
        return self.above.bound - self.below.bound - slack / 2 <= self.target

    def _is_complete(self) -> bool:
        """Tell whether nothing is left to guard, so that what remains is to be more exact, and whether that will do."""
        return inf > self.above.hope - self.below.bound <= OPEN * (self.above.bound - self.below.bound)

    def _turns(self, size: Size, width: int, gap: float, share: float) -> Iterator[tuple[list[Job], float]]:
        """Yield what to solve from above on a rung, twice, and then, chosen only when asked for, from below."""
        yield self.above.climb(size, width, gap, self.deadline.within(ABOVE * share), self.deadline), ABOVE
        yield self.above.mix(size, width, gap, self.deadline.within(ABOVE * share / 2), self.deadline), ABOVE / 2
        below = Size(max(size.states, 12), max(size.pairs, MORE_PAIRS))
        hiding = self.deadline.within(HIDING * share)
        yield self.below.climb(below, gap, self.deadline.within(BELOW * share / 2), hiding, self._enough), BELOW

    def bound_at_all(self) -> None:
        """Find a bound from above if there is none yet: with nothing guarded, in a moment."""
        if self.above.bound == inf:
            self.above = Above(self.net, self.flow)  # what was begun may be left in the middle
            for job in self.above.climb(Size(0, 0), 0, ROUGH, Limits(0.0), Limits(0.0)):
                for solved in solve_all(self.net, [replace(job, seconds=FIRST)], Workers(memory=self.settings.memory)):
                    self.above.take(solved)

    def _solve(self, jobs: Iterable[Job], share: float) -> None:
        """Solve what can be solved in a share of the time, each for at least what it takes beside and half as much."""
        jobs = list(jobs)
        share = min(share, self.deadline.left)
        fitting: list[Job] = []
        work = sum(sqrt(job.work) for job in jobs)
        for job in jobs:
            overhead = self.pace.overhead(job.work)
            seconds = max(share * sqrt(job.work) / work, LEAST, WORTH * overhead)
            if seconds + overhead <= self.deadline.left or (self.above.bound == inf and not fitting):
                fitting.append(replace(job, seconds=seconds))
        for solved in solve_all(self.net, fitting, self.workers, self._report, self.deadline):
            self._take(solved)
            if self.deadline.passed or self.is_done():
                break

    def _take(self, solved: Solved) -> None:
        self.pace.learn(solved)
        self.solves += solved.lp_solves
        self.lp_seconds += solved.lp_seconds
        self.states += solved.states
        (self.above if solved.job.terms is not None else self.below).take(solved)
        self._report()
        if solved.interrupted:
            raise KeyboardInterrupt

    def _report(self) -> None:
        if self.progress is not None and self.above.bound < inf:
            self.progress(Progress(self.deadline.spent, self.below.bound, self.above.bound, lp_solves=self.solves))

    def _refine(self, limit: Limits, enough: float) -> Status:
        """Solve again, for longer, what promises most a second, until that is no more than a share of the gap.

        Where there is time and nothing else to do, so is what gained little, and what must be far more exact to gain.
        """
        left = LEFT
        while not limit.passed:
            loose = self._loose(enough, left)
            if not loose and left and not enough and limit.seconds is not None:
                left = 0.0
                self.exact.clear()
                loose = self._loose(enough, left)
            before, jobs = self._fitting(loose, limit)
            if not jobs:
                return Status.TIME_LIMIT if loose else Status.FINISHED
            self.exact.update(before)  # unless it turns out to gain something, or had little more time
            for solved in solve_all(self.net, jobs, self.workers, self._report, self.deadline):
                worst = before[solved.job.what]
                gained = worst.upper - solved.upper if solved.job.terms is not None else solved.lower - worst.lower
                is_longer = solved.job.seconds >= ENOUGH * LONGER * worst.job.seconds
                loose_by = min(worst.upper - worst.lower, self.above.bound - self.below.bound)
                if gained >= GAINED * loose_by or not is_longer or solved.job.seconds < TELLING:
                    self.exact.discard(solved.job.what)
                self._take(solved)
                if self.is_done():
                    return Status.GAP_REACHED
        return Status.TIME_LIMIT

    def _fitting(
        self, loose: list[tuple[float, Solved]], limit: Limits
    ) -> tuple[dict[Part | Group, Solved], list[Job]]:
        """Return what to solve again: the first ones at once, or else the first for which there is time."""
        for some in (loose[:AT_ONCE], *([each] for each in loose)):
            if jobs := self._longer(some, limit):
                return {job.what: worst for job, (_, worst) in zip(jobs, some, strict=True)}, jobs
        return {}, []

    def _loose(self, enough: float, left: float) -> list[tuple[float, Solved]]:
        """List what is not solved exactly, with what bounds gain if so much of its gap is left; best first."""
        gap = self.above.bound - self.below.bound
        loose = self.above.loose(left)
        loose += [((1.0 - left) * min(weight * (s.upper - s.lower), gap), s) for weight, s in self.below.best()]
        least = max(FINE * self.target, enough * gap) * (1.0 - left) / max(len(loose), 1)
        kept = [(gain, s) for gain, s in loose if gain > least and s.job.what not in self.exact]
        return sorted(kept, key=lambda found: -found[0] / found[1].job.seconds)

    def _longer(self, loose: list[tuple[float, Solved]], limit: Limits) -> list[Job]:
        """Return what to solve again, for longer; none where there is no time for all of it."""
        lanes = 1 if self.workers.executor is None else len(loose)
        jobs = []
        for _, worst in loose:
            before, again = worst.job.seconds, 0.0 if worst.begun is not None else self.pace.overhead(worst.job.work)
            overhead = max(worst.overhead, again)
            most = worst.spent + limit.left * lanes / len(loose)
            times = (sqrt(before**2 + 4 * overhead * most) - before) / (2 * overhead)  # times·before + times²·overhead
            seconds = min(LONGER, times) * before
            if seconds - worst.spent < (LEAST if worst.spent else ENOUGH * LONGER / 2 * before):
                return []
            jobs.append(worst.longer(FINE * (worst.upper - worst.lower), seconds))
        if lanes > 1 and limit.left < inf:  # nobody waits for the others
            longest = max(job.seconds - job.spent for job in jobs)
            return [replace(job, seconds=job.spent + longest) for job in jobs]
        return jobs

    def solution(self, status: Status) -> GuardedSolution:
        """Put the proof together."""
        if self.above.bound == inf:
            raise LimitError("memory", "bounding the graph with nothing guarded")
        stats = Stats(self.deadline.spent, self.solves, self.lp_seconds, self.states)
        scale, against = self.scale
        asked = replace(self.settings, executor=None)  # which does not travel
        return assembled(self.net, self.above.best(), self.below.best(), status, stats, asked, scale, against)
