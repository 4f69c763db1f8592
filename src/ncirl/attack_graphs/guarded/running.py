"""One run: what it has come to from either side, how close that is, and the small games it solves on the way.

    bounds       the best of each side so far; either is a proof about the whole graph
    solved(…)    solves games here or elsewhere, hands what comes back to its side, and learns from it how fast this is

How long a game's set-up takes is predicted from those before it, so the time limit holds up to the length of one step.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from math import inf

from ncirl.attack_graphs.graph import AttackGraph
from ncirl.attack_graphs.guarded.above import Above
from ncirl.attack_graphs.guarded.below import Below
from ncirl.attack_graphs.guarded.check import sum_up
from ncirl.attack_graphs.guarded.cuts import Flow
from ncirl.attack_graphs.guarded.jobs import Job, Pace, Solved
from ncirl.attack_graphs.guarded.net import Net
from ncirl.attack_graphs.guarded.opened import Opening
from ncirl.attack_graphs.guarded.sizes import Size
from ncirl.attack_graphs.guarded.solution import measured, unhindered
from ncirl.attack_graphs.guarded.spread import LAST, Workers, solve_all
from ncirl.limits import Limits
from ncirl.solution import Progress, ProgressCallback, Status

__all__ = ["ROUGH", "Run", "nothing_watched"]

ROUGH = 0.01  # relative gap of games on the ladder
FIRST = 600.0  # seconds that the first bound gets, which takes next to none: nobody has a choice in its game
ASKED = 0.9  # of the gap that is asked


class Run:
    """Both sides' bounds on the value of a graph, how close they must come, and who solves games until when.

    Parameters
    ----------
    graph : AttackGraph
        What the bounds are about.
    gap, relative_gap : float
        How close they must come: either will do.
    seconds : float, optional
        Time for all of it.
    workers : Workers
        Who solves small games.
    progress : callable, optional
        Told of bounds, every so often; a `KeyboardInterrupt` from it ends the run.
    """

    def __init__(
        self,
        graph: AttackGraph,
        gap: float,
        relative_gap: float,
        seconds: float | None = None,
        workers: Workers | None = None,
        progress: ProgressCallback | None = None,
    ) -> None:
        self.gap, self.relative_gap, self.progress = gap, relative_gap, progress
        self.deadline = Limits(seconds, beat=self._report)  # who listens there may end it with Ctrl-C
        self.workers = Workers() if workers is None else workers
        self.net = Net.of(graph)
        self.flow = Flow(self.net)
        self.above, self.below = Above(self.net, self.flow), Below(self.net)
        self.pace = Pace()
        self.solves, self.lp_seconds, self.states = 0, 0.0, 0
        self.left_out: Status | None = None  # which limit kept games out that a larger one has room for
        self.dropped = 0  # how many times
        self.opened: tuple[Opening, Above] | None = None  # the best of what has an opening in place
        self._unhindered = unhindered(self.net, self.flow.depth)

    @property
    def rough(self) -> float:
        """The relative gap of games that are solved for the first time."""
        return min(ROUGH, self.relative_gap / 4) if self.relative_gap else ROUGH

    @property
    def upper(self) -> float:
        """The best bound from above, with an opening in place or without."""
        return min(self.above.bound, self.opened_bound)

    @property
    def opened_bound(self) -> float:
        """What the opening costs, and what is conceded with it in place; infinite where there is none."""
        return inf if self.opened is None else sum_up([*self.opened[0].costs.values(), self.opened[1].bound])

    @property
    def scale(self) -> tuple[float, str]:
        """What the gap is measured against, and its name."""
        return measured(self.below.bound, self.upper, self._unhindered)

    @property
    def target(self) -> float:
        """How close the bounds must come."""
        return max(self.gap, self.relative_gap * self.scale[0])

    @property
    def enough(self) -> float:
        """A bound from below that is as close as asked, and a little closer: it is proved only afterwards."""
        return self.upper - ASKED * self.target if self.has_bounds else inf

    @property
    def has_bounds(self) -> bool:
        """Whether there is a bound from above; from below there always is one."""
        return self.upper < inf

    @property
    def apart(self) -> float:
        """How far apart the bounds are."""
        return self.above.bound - self.below.bound

    def is_done(self) -> bool:
        """Whether the bounds are as close as asked."""
        return self.has_bounds and self.upper - self.below.bound <= self.target

    def share(self, part: float) -> Limits:
        """Return limits on a part of the time that is left."""
        return self.deadline.within(part * self.deadline.left)

    def solved(self, jobs: Iterable[Job]) -> Iterator[Solved]:
        """Solve games, and take what comes back, in their order."""
        asked, came = list(jobs), 0
        for found in solve_all(self.net, asked, self.workers, self._report, self.deadline):
            came += 1
            self.take(found)
            yield found
        if came < len(asked):
            is_late = self.deadline.passed or any(job.within < inf for job in asked)
            self.leave_out(Status.TIME_LIMIT if is_late else Status.MEMORY_LIMIT)

    def leave_out(self, limit: Status) -> None:
        """Take note that there is no time, or no memory, for a game."""
        self.left_out, self.dropped = limit, self.dropped + 1

    def solved_within(self, part: float, jobs: Iterable[Job]) -> list[Solved]:
        """Solve large games at the same time, set-up and playbooks included in a part of the time that is left."""
        seconds = min(part, LAST) * self.deadline.left
        return list(self.solved(replace(job, seconds=job.spent + seconds, within=seconds) for job in jobs))

    def take(self, solved: Solved) -> None:
        """Take note of what became of a game, and tell who listens."""
        self._note(solved)
        self._report()
        if solved.interrupted:
            raise KeyboardInterrupt

    def take_ready(self) -> None:
        """Take note of all that others have found by now, though Ctrl-C has ended the run."""
        for solved in self.workers.ready(self.net):
            self._note(solved)

    def _note(self, solved: Solved) -> None:
        self.pace.learn(solved)
        self.solves += solved.lp_solves
        self.lp_seconds += solved.lp_seconds
        self.states += solved.states
        (self.above if solved.job.terms is not None else self.below).take(solved)

    def bound_at_all(self) -> None:
        """Find a bound from above if there is none yet: with nothing guarded, in a moment."""
        if not self.has_bounds:
            self.above = _nothing_watched(self.net, self.flow, self.workers)  # what was begun may be left in the middle

    def take_opened(self, opening: Opening, other: "Run") -> None:
        """Keep what a run with an opening in place has come to, if it is better."""
        self.solves, self.lp_seconds = self.solves + other.solves, self.lp_seconds + other.lp_seconds
        self.states += other.states
        if self.opened is None or other.above.bound < self.opened[1].bound:
            self.opened = opening, other.above

    def beat(self, _: Progress) -> None:
        """Tell who listens how far this run is while another goes on."""
        self._report()

    def _report(self) -> None:
        if self.progress is not None and self.has_bounds:
            self.progress(Progress(self.deadline.spent, self.below.bound, self.upper, lp_solves=self.solves))


def nothing_watched(net: Net, flow: Flow, workers: Workers) -> float:
    """Return what is conceded with nothing watched; infinite where there is no memory for that."""
    return _nothing_watched(net, flow, workers).bound


def _nothing_watched(net: Net, flow: Flow, workers: Workers) -> Above:
    above = Above(net, flow)
    for job in above.climb(Size(0, 0), 0, ROUGH, Limits(0.0), Limits(0.0)):
        for solved in solve_all(net, [replace(job, seconds=FIRST)], Workers(memory=workers.memory)):
            above.take(solved)
    return above
