"""Certified bounds for attack graphs of any size, with a proof that lists only small games.

    an opening      lasting controls that are applied at once, if that may be of use: climbed with first   (`openings`)
    climb           two ladders of small games, by turns                           (`climbing`)
    the whole       once, from either side, where it can be listed                 (`undivided`)
    in the end      what was solved least exactly, again                           (`again`)

until the bounds are as close as asked, or time is up. All of it is anytime: the best of each side so far is a proof
about the whole graph, which is what comes back (`solution`).
"""

from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import dataclass, replace

from ncirl.attack_graphs.graph import AttackGraph
from ncirl.attack_graphs.guarded.any_prior import solved_for_any_prior
from ncirl.attack_graphs.guarded.climbing import climbed
from ncirl.attack_graphs.guarded.cuts import depths
from ncirl.attack_graphs.guarded.net import Net
from ncirl.attack_graphs.guarded.openings import climbed_beside
from ncirl.attack_graphs.guarded.running import Run
from ncirl.attack_graphs.guarded.solution import GuardedSolution, assembled, measured, unhindered
from ncirl.attack_graphs.guarded.spread import Workers
from ncirl.errors import InputError, LimitError
from ncirl.limits import Limits, megabytes
from ncirl.model.priors import Priors
from ncirl.solution import ProgressCallback, Stats, Status

__all__ = ["Guarded"]

NOTHING_GUARDED = "bounding the graph with nothing guarded"
INNER = 0.5  # of the gap that is asked, where the prior is not known: for each prior that is tried


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
        if not isinstance(graph, AttackGraph):
            raise InputError("Guarded solves attack graphs; use Certified for a game")
        self._check(graph)
        Limits(memory=self.memory).check(NOTHING_GUARDED)  # with less than is in use already nothing can be done
        if graph.priors is not None:
            return self._for_any_prior(graph, graph.priors, progress)
        run = Run(graph, self.gap, self.relative_gap, self.time_limit, Workers(self.executor, self.memory), progress)
        try:
            status = climbed_beside(run, climbed)
        except KeyboardInterrupt:
            status = Status.INTERRUPTED
            with suppress(KeyboardInterrupt, MemoryError, LimitError):
                run.take_ready()
        run.bound_at_all()
        return self._solution(run, status)

    def _solution(self, run: Run, status: Status) -> GuardedSolution:
        """Put the proof together."""
        if not run.has_bounds:
            raise LimitError("memory", NOTHING_GUARDED, "" if self.memory is None else megabytes(self.memory))
        stats = Stats(run.deadline.spent, run.solves, run.lp_seconds, run.states)
        asked = replace(self, executor=None)  # which does not travel
        opening, above = None, run.above
        if run.opened is not None and run.opened_bound < run.above.bound:
            opening, above = run.opened
        return assembled(run.net, above.best(), run.below.best(), status, stats, asked, *run.scale, opening)

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
