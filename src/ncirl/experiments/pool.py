"""Many runs at once through one seam, `concurrent.futures.Executor`: spawned processes here, or a Dask cluster.

What a campaign must survive:

    a run raises            recorded with its reason, the rest goes on
    a worker process dies   the pool is broken and every run in flight is a suspect; a new pool goes on with the others,
                            and at the end each suspect runs once more, alone: whoever breaks the pool then is recorded
    a Dask worker dies      the scheduler gives its runs to others; after a few deaths of the same run it is recorded
    Ctrl-C, a deadline      what is finished is kept, what runs is ended
"""

import multiprocessing
import os
import re
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, ProcessPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from multiprocessing import resource_tracker
from typing import Any, TypeVar

from ncirl.errors import InputError

__all__ = ["Failure", "Pool", "cluster", "run_all", "spawned"]

ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")  # arrays are small, workers are many

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True)
class Failure:
    """Why a run has no result."""

    reason: str


@dataclass(frozen=True)
class Pool:
    """Where runs go: what opens an executor, again when one broke, and how many runs to hand over at once.

    Without a number all are handed over, where a scheduler knows which run killed a worker.
    """

    open: Callable[[], AbstractContextManager[Executor]]
    in_flight: int | None = None


def spawned(jobs: int) -> Pool:
    """Return a pool of worker processes on this machine, or refuse less than one by an `InputError`."""
    if jobs < 1:
        raise InputError(f"jobs: at least one is needed, got {jobs}")
    return Pool(lambda: _processes(jobs), jobs)


def cluster(address: str) -> Pool:
    """Return a pool on a Dask cluster whose scheduler listens at `address`.

    Raises `InputError` when Dask is not installed or this is no address; when the pool is opened, if nobody answers.
    """
    if find_spec("distributed") is None:
        raise InputError("cluster: needs Dask; install it by `pip install 'ncirl[distributed]'`")
    if re.fullmatch(r"(?:\w+://)?\S+:\d+", address) is None:
        raise InputError(f"cluster: must be the address of a scheduler, such as tcp://127.0.0.1:8786, got '{address}'")
    client_of: Callable[..., Any] = import_module("distributed").Client  # untyped

    @contextmanager
    def connected() -> Iterator[Executor]:
        try:
            client = client_of(address, set_as_default=False)
        except (OSError, ValueError) as error:
            raise InputError(f"cluster: no Dask scheduler answers at '{address}' ({error})") from None
        with client:
            executor = client.get_executor(pure=False)
            try:
                yield executor
            finally:
                executor.shutdown(wait=False)  # what still runs is not waited for

    return Pool(connected)


def run_all(
    work: Callable[[T], R],
    tasks: Iterable[T],
    pool: Pool,
    done: Callable[[T, R | Failure], None],
    *,
    seconds: float | None = None,
) -> None:
    """Run every task and tell `done` what was found, or why nothing was, in whatever order.

    `work` travels by name and tasks by value. What is not done after `seconds` is given up and not told.
    """
    deadline = None if seconds is None else time.monotonic() + seconds
    rest, suspects = deque(tasks), deque[T]()
    while rest:
        suspects.extend(_until_broken(work, rest, pool, pool.in_flight, done, deadline))
    while suspects:
        alone = deque([suspects.popleft()])
        for culprit in _until_broken(work, alone, pool, 1, done, deadline):
            done(culprit, Failure("its worker process died when it ran alone; it may need more memory"))


def _until_broken(
    work: Callable[[T], R],
    rest: deque[T],
    pool: Pool,
    in_flight: int | None,
    done: Callable[[T, R | Failure], None],
    deadline: float | None,
) -> list[T]:
    """Take tasks off `rest` until none is left or the pool breaks; return those in flight when it broke."""
    running: dict[Future[R], T] = {}
    suspects: list[T] = []
    with pool.open() as executor:
        while rest or running:
            try:
                while rest and not suspects and (in_flight is None or len(running) < in_flight):
                    running[executor.submit(work, rest[0])] = rest[0]
                    rest.popleft()
            except BrokenExecutor:
                pass  # those in flight will say so; without any, a new pool is needed
            if not running:
                break
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            finished, late = wait(running, timeout=left, return_when=FIRST_COMPLETED)
            for future in finished:
                task = running.pop(future)
                try:
                    found: R | Failure = future.result()
                except BrokenExecutor:
                    suspects.append(task)
                    continue
                except Exception as error:  # whatever a run raises is its result
                    found = Failure(f"{type(error).__name__}: {error}")
                done(task, found)
            if not finished:
                rest.clear()
                for future in late:
                    future.cancel()
                return []
    return suspects


@contextmanager
def _processes(jobs: int) -> Iterator[Executor]:
    """Open a pool of spawned processes that never outlives the block, however it ends."""
    before = {child.pid for child in multiprocessing.active_children()}
    kept = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update({name: os.environ.get(name, "1") for name in ONE_THREAD})
    executor = ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn"), initializer=_in_worker)
    try:
        with _no_interrupts():
            for _ in range(jobs):
                executor.submit(os.getpid)  # starts a worker
        yield executor
    finally:
        executor.shutdown(wait=False, cancel_futures=True)
        for child in multiprocessing.active_children():
            if child.pid not in before:
                child.terminate()
        for name, value in kept.items():
            if value is None:
                os.environ.pop(name, None)


@contextmanager
def _no_interrupts() -> Iterator[None]:
    """Put Ctrl-C off while workers are started: none is left half started, and they inherit that it is not for them."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # would let Ctrl-C in again when it starts
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])


def _in_worker() -> None:
    """Leave Ctrl-C to the parent, and do not outlive it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()

    def follow() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=follow, daemon=True).start()
