"""Two ladders of small games, climbed by turns until the bounds are as close as asked, or time is up.

    first bounds      nothing guarded, everything conceded; one way per intent, in bundles
    rung by rung      guard more while the relaxed game fits, keep to more ways while the restricted game fits;
                      what was solved least exactly is solved more exactly, as long as that is a good part of the gap
    no huge graphs    once, for a good while, the whole of it in one game, from either side, where that can be listed
    in the end        what was solved least exactly again, for what is left of the time
    with time left    rungs above the ladder, each twice as large, while one can be set up; then whatever is not exact
                      again, longer and longer

Sizes are known before a game is built.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from math import inf, sqrt

from ncirl.attack_graphs.guarded.again import Again
from ncirl.attack_graphs.guarded.grow import works
from ncirl.attack_graphs.guarded.jobs import Job
from ncirl.attack_graphs.guarded.running import Run
from ncirl.attack_graphs.guarded.sizes import Size
from ncirl.attack_graphs.guarded.undivided import is_small_enough, looked_at, played_entirely
from ncirl.solution import Status

__all__ = ["climbed"]

RUNGS = ((0, 4, 0), (24, 4, 40), (80, 5, 40), (240, 6, 40), (500, 6, 40), (1000, 7, 40), (2400, 7, 40), (2400, 7, 300))
# states, width, pairs of actions per state on average
MORE_PAIRS = 2_000
LEAST, WORTH = 0.3, 1.5  # seconds that a game gets, and times what it takes beside the search
ABOVE, BELOW = 0.3, 0.2  # of a rung's time, to choose and as much to solve; solving more exactly has the rest
HIDING = 0.15  # of it, to look for what all play side by side
NEAR = 0.5  # of the time that is left, to solve more exactly where that alone will do
ENTIRE = 2  # rungs before the whole of a graph that is not that small, in which parts and groups are tried
ALL = 1.1  # of what is left in the end: the whole may have no time to search then
OPEN = 0.5  # of the gap: what exact parts may leave open, where they are solved exactly instead of climbing on
FURTHER = 0.3  # of what is left of the time, for a rung above the ladder
SLACK = 0.3  # of the gap: if games are solved less exactly than that, it pays to solve them again


def climbed(run: Run) -> Status:
    """Climb both ladders by turns, then refine; with time left go on, so that no plan ends a search before its time."""
    again = Again(run)
    status = _ladder(run, again)
    if status in (Status.FINISHED, Status.TIME_LIMIT) and run.deadline.left < inf and not run.deadline.passed:
        status = _further(run, again)
    return run.left_out or status if status is Status.FINISHED else status


def _further(run: Run, again: Again) -> Status:
    """Go on above the ladder while there is time for what a rung adds, and in the end with what is not exact."""
    states, width, pairs = RUNGS[-1]
    while not (run.above.is_whole and run.below.is_whole):
        least = works(Size(states, 0), len(run.net.intents))  # of a game that is too large for the last rung
        if run.pace.overhead(least) > run.deadline.left:
            run.leave_out(Status.TIME_LIMIT)
            break
        states, width, share = 2 * states, width + 1, FURTHER * run.deadline.left
        solves, dropped = run.solves, run.dropped
        ended = _rung(run, Size(states, pairs * states + MORE_PAIRS), width, share)
        if ended is not None:
            return ended
        if run.dropped > dropped and run.solves == solves:  # larger ones will not fit either
            break
        again.refine(run.deadline.within(share), SLACK)
        if run.is_done():
            return Status.GAP_REACHED
    again.be_patient()
    return again.refine(run.deadline, 0.0)


def _rung(run: Run, size: Size, width: int, share: float) -> Status | None:
    """Climb a rung by turns; why that was the end of the run, if it was."""
    for jobs, part in _turns(run, size, width, share):
        _solve(run, jobs, part * share)
        if run.is_done():
            return Status.GAP_REACHED
        if run.deadline.passed:
            return Status.TIME_LIMIT
    return None


def _ladder(run: Run, again: Again) -> Status:
    """Climb both ladders as far as they go, then refine."""
    is_played = False
    for rung, (states, width, pairs) in enumerate(RUNGS):
        if rung == ENTIRE and (is_played := played_entirely(run)):
            break
        share = run.deadline.left / (len(RUNGS) - rung)
        size = Size(states, pairs * states + MORE_PAIRS if states else 0)
        ended = _rung(run, size, width, share)
        if ended is not None:
            return ended
        if run.above.is_whole:
            break
        refining = NEAR * run.deadline.left if _is_near(run) else (1.0 - ABOVE - BELOW) * share
        again.refine(run.deadline.within(refining), SLACK)
        if run.is_done():
            return Status.GAP_REACHED
        if _is_complete(run):
            break
    if run.is_done() or run.deadline.passed:
        return Status.GAP_REACHED if run.is_done() else Status.TIME_LIMIT
    share, is_timed = run.deadline.left, run.deadline.left < inf
    _solve(run, run.below.hide(run.rough, run.deadline.within(HIDING * share), run.enough), BELOW * share)
    if is_small_enough(run.net) and is_timed and not is_played:
        looked_at(run)
    status = again.refine(run.deadline, 0.0)
    if status is Status.FINISHED and is_timed and not is_played:
        played_entirely(run, ALL)  # there is nothing else to do with what is left of the time
        return again.refine(run.deadline, 0.0)
    return status


def _turns(run: Run, size: Size, width: int, share: float) -> Iterator[tuple[list[Job], float]]:
    """Yield what to solve from above on a rung, twice, and then, chosen only when asked for, from below."""
    gap, deadline = run.rough, run.deadline
    yield run.above.climb(size, width, gap, deadline.within(ABOVE * share), deadline), ABOVE
    yield run.above.mix(size, width, gap, deadline.within(ABOVE * share / 2), deadline), ABOVE / 2
    below = Size(max(size.states, 12), max(size.pairs, MORE_PAIRS))
    hiding = deadline.within(HIDING * share)
    yield run.below.climb(below, gap, deadline.within(BELOW * share / 2), hiding, run.enough), BELOW


def _solve(run: Run, jobs: Iterable[Job], share: float) -> None:
    """Solve what can be solved in a share of the time, each for at least what it takes beside and half as much."""
    jobs = list(jobs)
    share = min(share, run.deadline.left)
    fitting: list[Job] = []
    work = sum(sqrt(job.work) for job in jobs)
    for job in jobs:
        overhead = run.pace.overhead(job.work)
        seconds = max(share * sqrt(job.work) / work, LEAST, WORTH * overhead)
        if seconds + overhead <= run.deadline.left or not (run.has_bounds or fitting):
            fitting.append(replace(job, seconds=seconds))
        else:
            run.leave_out(Status.TIME_LIMIT)
    for _ in run.solved(fitting):
        if run.deadline.passed or run.is_done():
            break


def _is_near(run: Run) -> bool:
    """Tell whether the bounds would be as close as asked, were what proves them solved twice as exactly."""
    slack = sum(s.upper - s.lower for s in run.above.best())
    slack += sum(weight * (s.upper - s.lower) for weight, s in run.below.best())
    return run.apart - slack / 2 <= run.target


def _is_complete(run: Run) -> bool:
    """Tell whether nothing is left to guard, so that what remains is to be more exact, and whether that will do."""
    return inf > run.above.hope - run.below.bound <= OPEN * run.apart
