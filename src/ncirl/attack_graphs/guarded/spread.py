"""Small games solved here or elsewhere: any `concurrent.futures.Executor`, processes on this machine or a cluster.

What comes back is taken in the order of the jobs, whoever is ready first, and a job depends on nothing but itself: the
number of workers changes nothing but the time. What must be survived:

    a worker dies, a cluster goes away    one sentence to the log, and the work goes on in this process
    a job raises                          it is raised here, as if it had been done here      (`ncirl.workers`)
    Ctrl-C, raised by `beat`              what is ready may be taken (`Workers.ready`), the rest is given up
    time is up                            what is ready is taken, a moment after the deadline
"""

import logging
import pickle
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from math import inf

from ncirl.attack_graphs.guarded.jobs import Job, Solved, small_game, solved_job
from ncirl.attack_graphs.guarded.net import Net
from ncirl.limits import UNLIMITED, Limits, default_memory, resident
from ncirl.model.game import Game
from ncirl.solvers.certified.set_up import SetUp
from ncirl.workers import Raised, WorkersLost, done_by, result_of

__all__ = ["Workers", "solve_all"]

LISTEN = 0.1  # seconds between two beats while others work
GRACE, LATELY = 2.0, 0.02  # seconds, and part of the time, after the deadline in which others may still answer
LAST = 0.92  # of what is left of the time: the most that large games get, playbooks included
LANES = 2  # who work at once, where an executor does not say how many do
AWAKE = 2  # searches that may be gone on with as they are; others rest, which loses some of what they had come to
CROWDED = 0.5  # of the memory: with more in use all rest
BROKEN = "the workers cannot go on ({reason}): the small games are solved in this process from here on"
Beat = Callable[[], None]
Handed = Future[Solved | None | Raised[Solved | None]]  # a job that was handed over
log = logging.getLogger(__name__)


class Workers:
    """Who solves small games, and with how much memory each.

    Parameters
    ----------
    executor : Executor, optional
        Where jobs go; without, all is done here.
    memory : int, optional
        The most bytes that a process may have resident.
    """

    def __init__(self, executor: Executor | None = None, memory: int | None = None) -> None:
        self.executor, self.memory = executor, memory
        self._graph: tuple[Net, bytes] | None = None
        self._awake: list[SetUp] = []
        self._open: list[tuple[Job, Handed]] = []  # what was handed over and is not taken yet

    @property
    def lanes(self) -> int:
        """How many games are solved at once."""
        return 1 if self.executor is None else getattr(self.executor, "_max_workers", None) or LANES

    def submit(self, net: Net, jobs: Sequence[Job]) -> list[Handed]:
        """Hand jobs over; none where there is nobody to hand them to."""
        if self.executor is None:
            return []
        if self._graph is None or self._graph[0] is not net:
            self._graph = net, pickle.dumps(replace(net.graph, origin=None))
        try:
            futures = [done_by(self.executor, _elsewhere, self._graph[1], job, self.memory) for job in jobs]
        except WorkersLost as error:
            self.give_up(error)
            return []
        self._open = list(zip(jobs, futures, strict=True))
        return futures

    def taken(self) -> None:
        """Take note that the first of what was handed over came home."""
        self._open = self._open[1:]

    def ready(self, net: Net) -> Iterator[Solved]:
        """Give what others have found and nobody took."""
        some, self._open = self._open, []
        for job, future in some:
            if future.done() and not future.cancelled() and future.exception() is None:
                found = future.result()
                if isinstance(found, Solved):
                    yield _at_home(net, job, found)

    def keep(self, search: SetUp | None, deadline: Limits) -> None:
        """Let all searches rest but this one and the one before.

        Where no time limit cuts all rest: elsewhere they do, and what comes out is to be the same.
        """
        self._awake = [other for other in self._awake if other is not search] + ([search] if search else [])
        most, memory = AWAKE if deadline.left < inf else 0, self.memory or default_memory() or inf
        while len(self._awake) > most or (self._awake and resident() > CROWDED * memory):
            self._rest()

    def make_room(self) -> None:
        """Let all searches rest before another one begins."""
        while self._awake:
            self._rest()

    def _rest(self) -> None:
        with suppress(MemoryError):  # it goes on as it is, then
            self._awake.pop(0).rest()

    def give_up(self, error: WorkersLost) -> None:
        """Work alone from now on."""
        if self.executor is not None:
            self.executor = None
            log.warning(BROKEN.format(reason=error))


def solve_all(
    net: Net, jobs: Sequence[Job], workers: Workers, beat: Beat = lambda: None, deadline: Limits = UNLIMITED
) -> Iterator[Solved]:
    """Solve jobs; what comes back is in their order, without those that memory is too small for.

    `beat` is called between the steps of a search here, and while others work; a `KeyboardInterrupt` from it ends the
    job here with what it has, and gives up those elsewhere that are not `Workers.ready`.
    """
    futures = workers.submit(net, [_in_time(job, deadline) for job in jobs])
    try:
        for k, job in enumerate(jobs):
            found = None
            if workers.executor is not None:
                try:
                    found = _waited(futures[k], beat, deadline)
                except WorkersLost as error:
                    workers.give_up(error)
            workers.taken()
            if workers.executor is None:
                if job.begun is None:
                    workers.make_room()
                found = solved_job(net, _in_time(job, deadline), beat, workers.memory)
                workers.keep(job.begun if found is None else found.begun, deadline)
                if found is not None:
                    yield found
            elif found is not None:
                yield _at_home(net, job, found)
    finally:
        for future in futures:
            future.cancel()


def _in_time(job: Job, deadline: Limits) -> Job:
    """Return a job so that a large one, or one that is gone on with, ends in time, what comes after it included."""
    if job.begun is None and job.within == inf:
        return job
    return replace(job, within=min(job.within, LAST * max(deadline.left, 0.0)))


def _waited(future: Handed, beat: Beat, deadline: Limits) -> Solved | None:
    """Wait for a job, listening for Ctrl-C; None if it does not end in time."""
    until = inf if deadline.left == inf else time.monotonic() + deadline.left * (1.0 + LATELY) + GRACE
    while not future.done():
        try:
            return result_of(future, LISTEN)
        except TimeoutError:
            pass
        if time.monotonic() > until:
            return None
        beat()
    return result_of(future)


def _at_home(net: Net, job: Job, found: Solved) -> Solved:
    """Return what was found elsewhere with its game, which does not travel."""
    timed = small_game(net, job).timed()
    return replace(
        found,
        job=replace(job, begun=None),
        attacker_playbook=replace(found.attacker_playbook, game=timed),
        defender_playbook=replace(found.defender_playbook, game=timed),
    )


@lru_cache(maxsize=2)
def _net(graph: bytes) -> Net:
    """Build a graph once for all of its jobs."""
    return Net(pickle.loads(graph))


def _elsewhere(graph: bytes, job: Job, memory: int | None) -> Solved | None:
    found = solved_job(_net(graph), job, memory=memory)
    if found is None:
        return None
    if found.begun is not None:
        found.begun.rest()
    gone: Game = None  # type: ignore[assignment]
    return replace(
        found,
        attacker_playbook=replace(found.attacker_playbook, game=gone),
        defender_playbook=replace(found.defender_playbook, game=gone),
    )
