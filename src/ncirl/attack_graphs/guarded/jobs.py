"""Small games to be solved, one a job: independent of each other, so any executor may run them.

A job names a part or a group of a graph and how long to try. What comes back has its playbooks without their game,
which the one who asked builds again: games hold functions that do not travel between processes. A job depends on
nothing but itself, so the number of workers changes nothing but the time.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from math import inf

import numpy as np

from ncirl._typing import FloatArray
from ncirl.attack_graphs.graph import AttackGraph
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

__all__ = ["Job", "Pace", "Solved", "solve_all"]


@dataclass(frozen=True, eq=False)
class Job:
    """A small game and how closely, and how long, to solve it; `work` tells how large it is, `tag` where it belongs."""

    what: Part | Group
    terms: Terms | None
    gap: float
    relative_gap: float
    seconds: float
    work: float = 0.0
    tag: tuple[int, int] = (0, 0)


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


def solve_all(
    net: Net, jobs: Sequence[Job], executor: Executor | None, beat: Callable[[], None] = lambda: None
) -> Iterator[Solved]:
    """Solve jobs, here or elsewhere; what comes back is in their order, without those that memory is too small for.

    Here `beat` is called between the steps of the search; a `KeyboardInterrupt` from it ends the job with what it has.
    """
    if executor is None:
        yield from (solved for job in jobs if (solved := _solved(net, job, beat)) is not None)
        return
    for job, found in zip(jobs, executor.map(_elsewhere, [(net.graph, job) for job in jobs]), strict=True):
        if found is None:
            continue
        timed = small_game(net, job).timed()
        yield replace(
            found,
            job=job,
            attacker_playbook=replace(found.attacker_playbook, game=timed),
            defender_playbook=replace(found.defender_playbook, game=timed),
        )


def _elsewhere(task: tuple[AttackGraph, Job]) -> Solved | None:
    found = _solved(Net(task[0]), task[1])
    if found is None:
        return None
    gone: Game = None  # type: ignore[assignment]
    return replace(
        found,
        attacker_playbook=replace(found.attacker_playbook, game=gone),
        defender_playbook=replace(found.defender_playbook, game=gone),
    )


def _solved(net: Net, job: Job, beat: Callable[[], None] = lambda: None) -> Solved | None:
    """Solve a job; None where there is not the memory for any bounds."""
    began = time.perf_counter()
    ready = inf

    def note(progress: Progress) -> None:
        nonlocal ready
        ready = min(ready, time.perf_counter())
        beat()

    solver = Certified(gap=job.gap, relative_gap=job.relative_gap, time_limit=job.seconds)
    try:
        found = solver.run(small_game(net, job), progress=note, limits=Limits(None, default_memory()))
    except LimitError:
        return None
    took = time.perf_counter() - began
    searched = min(job.seconds, took - (ready - began)) if np.isfinite(ready) else 0.0
    return Solved(
        job,
        found.lower,
        found.upper,
        found.per_intent,
        found.attacker_playbook,
        found.defender_playbook,
        found.stats.states,
        found.stats.lp_solves,
        found.stats.lp_seconds,
        max(took - searched, 0.0),
        found.status is Status.INTERRUPTED,
    )
