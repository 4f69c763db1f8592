"""Small games to be solved, one a job: independent of each other, so anybody may solve them (`spread`).

A job names a part or a group of a graph and how long to try. Where the game is small, its search comes back with what
it found, for whoever wants to go on with it.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import inf

import numpy as np

from ncirl._typing import FloatArray
from ncirl.attack_graphs.guarded.bundles import Bundled, Group
from ncirl.attack_graphs.guarded.net import Net
from ncirl.attack_graphs.guarded.parts import Part, Terms
from ncirl.attack_graphs.guarded.relaxed import Relaxed
from ncirl.errors import LimitError
from ncirl.limits import Limits, default_memory
from ncirl.model.game import Game
from ncirl.playbook.playbook import AttackerPlaybook, DefenderPlaybook
from ncirl.solution import Progress, Status
from ncirl.solvers.certified.certified import Certified
from ncirl.solvers.certified.set_up import SetUp
from ncirl.solvers.certified.tuning import Aim

__all__ = ["Job", "Pace", "Solved", "small_game", "solved_job"]

TOLD = 1.5  # times as long as before: then how a gap went tells how it may go on
SMALL, FEW = 200_000, 2_000  # numbers of a game, and exploits of its graph, up to which a search is kept to go on with


@dataclass(frozen=True, eq=False)
class Job:
    """A small game and how closely, and how long, to solve it; `work` tells how large it is, `tag` where it belongs.

    A search that has `begun` is gone on with, and has been given `spent` of the seconds before. One that was solved
    `before`, begun or not, had such a gap after so many seconds. A large game has so
    many seconds `within` which all of it must be done, set-up and playbooks included. One that is `both` is to have
    good bounds from either side.
    """

    what: Part | Group
    terms: Terms | None
    gap: float
    relative_gap: float
    seconds: float
    work: float = 0.0
    tag: tuple[int, int] = (0, 0)
    begun: SetUp | None = None
    spent: float = 0.0
    within: float = inf
    both: bool = False
    before: tuple[float, float] | None = None


@dataclass(frozen=True, eq=False)
class Solved:
    """What came of a job."""

    job: Job
    lower: float
    upper: float
    per_intent: FloatArray
    attacker_playbook: AttackerPlaybook
    defender_playbook: DefenderPlaybook
    states: int
    lp_solves: int
    lp_seconds: float
    overhead: float  # seconds beyond those that were asked for
    interrupted: bool
    begun: SetUp | None = None  # the search, if it can be gone on with
    is_over: bool = False  # whether the search ended by itself

    @property
    def spent(self) -> float:
        """Seconds that need not be spent again."""
        return self.job.seconds if self.begun is not None and self.job.seconds < inf else 0.0

    def longer(self, gap: float, seconds: float) -> Job:
        """Return a job that brings the bounds this close, in so many seconds with those before."""
        job = replace(self.job, gap=gap, relative_gap=0.0, seconds=seconds, within=inf, both=False)
        return replace(job, begun=self.begun, spent=self.spent, before=(self.job.seconds, self.upper - self.lower))

    def left(self, usual: float, times: float) -> float:
        """Return the share of its gap that so many times as long may leave: as it went before, or else as `usual`."""
        gap, (seconds, wide) = self.upper - self.lower, self.job.before or (inf, 0.0)
        if not usual or not 0 < gap <= wide or not 0 < TOLD * seconds < self.job.seconds < inf:
            return usual
        return float((gap / wide) ** (np.log(times) / np.log(self.job.seconds / seconds)))


@dataclass
class Pace:
    """How fast this machine is: seconds of set-up per unit of work, learned from what was solved."""

    rate: float = 2e-4
    base: float = 0.1
    known: list[tuple[float, float]] = field(default_factory=list)

    def overhead(self, work: float) -> float:
        """Predict how long a job takes beside its search."""
        return self.base + self.rate * work

    def learn(self, solved: Solved) -> None:
        """Take note of a job."""
        if solved.job.work > 50:
            self.known.append((solved.job.work, max(solved.overhead - self.base, 0.0)))
            recent = self.known[-6:]
            self.rate = max(sum(took for _, took in recent) / sum(work for work, _ in recent), 2e-6)


def small_game(net: Net, job: Job) -> Game:
    """Build the game of a job."""
    if isinstance(job.what, Group):
        return Bundled(net, job.what).game()
    assert job.terms is not None
    return Relaxed(net, job.what, job.terms).game()


def solved_job(net: Net, job: Job, beat: Callable[[], None] = lambda: None, memory: int | None = None) -> Solved | None:
    """Solve a job; None where there is not the memory, or the time, for any bounds.

    `beat` is called between the steps of the search and of its set-up; a `KeyboardInterrupt` from it ends the job with
    what it has, which is nothing before the search. The search is awake: it takes memory of its own until it rests.
    `memory` is the most bytes that this process may have resident; a share of what is free if not given.
    """
    began = time.perf_counter()
    ready = inf

    def note(progress: Progress) -> None:
        nonlocal ready
        ready = min(ready, time.perf_counter())
        beat()

    solver = Certified(gap=job.gap, relative_gap=job.relative_gap)
    limits = Limits(None if job.within == inf else job.within, memory or default_memory(), beat=beat)
    seconds = job.seconds - job.spent
    try:
        made = solver.set_up(small_game(net, job), limits) if job.begun is None else job.begun
        solves, lp_seconds = made.meter.solves, made.meter.seconds
        aim = Aim.BOTH if job.both else Aim.BELOW if job.terms is None else Aim.ABOVE
        found = solver.go_on(made, limits, note, seconds, aim)
    except (LimitError, MemoryError):
        return None
    took = time.perf_counter() - began
    searched = min(seconds, took - (ready - began)) if np.isfinite(ready) else 0.0
    is_kept = made.numbers <= SMALL and len(net.graph.exploits) <= FEW
    if not is_kept:
        made.rest()
    return Solved(
        replace(job, begun=None),
        found.lower,
        found.upper,
        found.per_intent,
        found.attacker_playbook,
        found.defender_playbook,
        found.stats.states,
        found.stats.lp_solves - solves,
        found.stats.lp_seconds - lp_seconds,
        max(took - searched, 0.0),
        found.status is Status.INTERRUPTED,
        made if is_kept else None,
        found.status in (Status.GAP_REACHED, Status.STALLED),
    )
