"""Walks by others at the same time: each begins with the search as it is now, and what it finds is taken home.

    send         the search and a seed, to each of the others; each walks for as much work as W
    meanwhile    everything goes on here
    take         after W of work here, wait for them: their vectors come behind those found here meanwhile

A walk adds vectors and changes none, and each leads to others of that walk or to what the search had when it was sent:
of what comes home only the numbers of nodes are changed. It is the same for a search in the kernel (`compiled`). Work
is counted and everybody is waited for, so that a run can be repeated with as many others. Nothing that anybody says is
believed: what vectors are worth is what the verifier finds in the end. Who cannot go on is done without; what a walk
raises is raised here (`ncirl.workers`).
"""

import logging
import pickle
from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import dataclass

from ncirl._typing import FloatArray, IntArray
from ncirl.limits import Limits, default_memory
from ncirl.lp.state_arrays import NONE
from ncirl.solvers.certified.alpha_vectors import VectorNode
from ncirl.solvers.certified.compiled import Compiled
from ncirl.solvers.certified.node_tables import VectorTable
from ncirl.solvers.certified.search import Search
from ncirl.solvers.certified.walks import Walks
from ncirl.workers import Raised, WorkersLost, done_by, result_of

__all__ = ["Beside", "WalksElsewhere"]

PART, LEAST = 0.3, 1e7  # of the work so far, and at the least: what others are given at a time
COMPILED = 3e9  # the same at the least in the kernel, which counts otherwise
LARGEST = 100_000_000  # bytes of a search that is worth sending
LISTEN = 0.1  # seconds between two looks at the clock while others are waited for
BROKEN = "the workers cannot go on ({reason}): the search goes on without them"
log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Beside:
    """Who works beside this process: how many at a time, and the most bytes that each may have resident."""

    executor: Executor
    others: int
    memory: int | None = None


@dataclass(frozen=True, eq=False)
class Walked:
    """What a walk elsewhere has added to a search that had `first` nodes, or to one in the kernel."""

    first: int
    nodes: list[VectorNode]
    vectors: FloatArray
    stored: list[int]  # those that no other is better than
    table: VectorTable | None  # in the kernel, all of it
    solves: int
    seconds: float  # inside linear programs


Sent = Future[Walked | Raised[Walked]]  # a walk that somebody else is at


class WalksElsewhere:
    """Keeps others walking; `left` tells how many seconds there are."""

    def __init__(self, search: Search | Compiled, beside: Beside, left: Callable[[], float]) -> None:
        self.search, self.left = search, left
        self._known: IntArray = NONE  # in the kernel, the vectors that were sent
        self._beside: Beside | None = beside
        self._sent: list[Sent] = []
        self._due, self._seed = 0.0, 0

    def turn(self, late: Callable[[], bool]) -> None:
        """Take what others have found, once they have had their time, and send them off again."""
        if self._beside is None or self.search.meter.work < self._due:
            return
        try:
            self._take(late)
            self._send(self._beside)
        except WorkersLost as error:
            log.warning(BROKEN.format(reason=error))
            self._beside = None

    def _take(self, late: Callable[[], bool]) -> None:
        search, meter, sent = self.search, self.search.meter, self._sent
        self._sent = []
        for future in sent:
            found = _waited(future, late)
            if found is None:
                return
            meter.solves, meter.seconds = meter.solves + found.solves, meter.seconds + found.seconds
            if isinstance(search, Search):
                search.upper.join(found.nodes, found.vectors, found.stored, found.first)
            elif found.table is not None:
                search.take_in(found.table, self._known)
        if sent and isinstance(search, Search):
            search.upper.evaluate(search.tuning.sweeps)

    def _send(self, beside: Beside) -> None:
        least = LEAST if isinstance(self.search, Search) else COMPILED
        work, seconds = max(least, PART * self.search.meter.work), self.left()
        sent: Search | Compiled = self.search
        if isinstance(sent, Compiled):
            sent, self._known = sent.sent()
        data = pickle.dumps(sent)
        if len(data) > LARGEST:
            self._beside = None
            return
        self._due = self.search.meter.work + work
        for _ in range(beside.others):
            self._seed += 1
            task = data, self.search.accuracy.missed, self._seed, work, seconds, beside.memory
            self._sent.append(done_by(beside.executor, walked, *task))

    def end(self) -> None:
        """Wait for nobody any more."""
        for future in self._sent:
            future.cancel()


def _waited(future: Sent, late: Callable[[], bool]) -> Walked | None:
    """Wait for a walk; None if time is up first."""
    while not future.done():
        try:
            return result_of(future, LISTEN)
        except TimeoutError:
            if late() and not future.done():
                return None
    return result_of(future)


def walked(data: bytes, missed: float, seed: int, work: float, seconds: float, memory: int | None) -> Walked:
    """Walk on from a search for some work, or until one of the limits comes."""
    search: Search | Compiled = pickle.loads(data)
    meter, limits = search.meter, Limits(seconds, memory or default_memory())
    solves, lp_seconds, until = meter.solves, meter.seconds, meter.work + work

    def late() -> bool:
        return meter.work >= until or limits.passed or limits.room <= 0

    if isinstance(search, Compiled):
        table = search.walked(seed, missed, late)
        return Walked(0, [], table.worth, [], table, meter.solves - solves, 0.0)
    search.accuracy.missed = missed
    upper, walks = search.upper, Walks(search, seed)
    first = len(upper.nodes)
    while not late():
        before = meter.work
        walks.some(late)
        if meter.work == before:  # there is nowhere to go
            break
    stored = [n for store in upper.stores.values() for n in store.nodes.tolist() if n >= first]
    return Walked(
        first,
        upper.nodes[first:],
        upper.vectors[first:].copy(),
        stored,
        None,
        meter.solves - solves,
        meter.seconds - lp_seconds,
    )
