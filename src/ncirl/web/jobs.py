"""Solves in worker processes: a few at once, some waiting, no more.

Each worker is watched by a thread of its own. What can happen to it:

    it ends               its policy is opened, verified and becomes a contest
    it is cancelled       it is asked to stop and keeps what it has; if it does not within a grace period, it is ended
    it does not end       it is ended some time after its time limit
    it dies               its own job has failed, with the reason; no other job notices
"""

from __future__ import annotations

import multiprocessing
import secrets
import signal
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from enum import StrEnum
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ncirl.web.limits import Limits
from ncirl.web.opening import Opened, open_file
from ncirl.web.refusals import Refused
from ncirl.web.worker import Task, work

__all__ = ["Job", "JobState", "Jobs", "Keep"]

POLL = 0.05  # seconds


class JobState(StrEnum):
    """How far a solve is."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    CANCELLED = "cancelled"
    FAILED = "failed"


ENDED = (JobState.DONE, JobState.CANCELLED, JobState.FAILED)


@dataclass(eq=False)
class Job:
    """One solve.

    Attributes
    ----------
    id : str
        Opaque.
    contest : str or None
        The contest that came of it.
    bounds : list of (seconds, lower, upper)
        In the order they were reported.
    error : str or None
        Why it failed.
    pid : int or None
        Of the worker, while there is one.
    """

    id: str
    state: JobState = JobState.QUEUED
    contest: str | None = None
    bounds: list[tuple[float, float, float]] = field(default_factory=list)
    error: str | None = None
    pid: int | None = None
    cancelled: threading.Event = field(default_factory=threading.Event)

    @property
    def ended(self) -> bool:
        """Whether nothing more will come."""
        return self.state in ENDED

    def view(self) -> dict[str, Any]:
        """Return it as plain data."""
        seconds, lower, upper = self.bounds[-1] if self.bounds else (0.0, None, None)
        told = {"id": self.id, "state": str(self.state), "lower": lower, "upper": upper, "seconds": seconds}
        return {**told, "contest": self.contest, "error": self.error}


Keep = Callable[[Opened], str]  # makes what came of a solve a contest and returns its id


class Jobs:
    """Starts solves, watches and ends them.

    Parameters
    ----------
    limits : Limits
        How many at once and waiting.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._watchers = ThreadPoolExecutor(limits.workers, thread_name_prefix="solve")

    def start(self, opened: Opened, relative_gap: float, time_limit: float, keep: Keep) -> Job:
        """Start a solve, or let it wait for its turn.

        Raises
        ------
        Refused
            When too many are waiting.
        """
        job = Job(secrets.token_hex(6))
        with self._lock:
            waiting = sum(not other.ended for other in self._jobs.values()) - self._limits.workers
            if waiting >= self._limits.queue:
                raise Refused(429, f"{waiting} solves are waiting already; try again in a minute, or cancel one")
            self._jobs[job.id] = job
            for old in [j for j in self._jobs.values() if j.ended][: max(0, len(self._jobs) - self._limits.jobs)]:
                del self._jobs[old.id]
        self._watchers.submit(self._watch, job, opened, relative_gap, time_limit, keep)
        return job

    def get(self, job_id: str) -> Job:
        """Return a job.

        Raises
        ------
        Refused
            When there is none of this id.
        """
        with self._lock:
            if job_id not in self._jobs:
                raise Refused(404, f"there is no solve '{job_id:.40}' here, or not any more")
            return self._jobs[job_id]

    def cancel(self, job_id: str) -> Job:
        """Ask a job to stop with what it has; one that waits never starts."""
        job = self.get(job_id)
        job.cancelled.set()
        with self._lock:
            if job.state is JobState.QUEUED:
                job.state = JobState.CANCELLED
        return job

    def close(self) -> None:
        """End every worker; nothing is kept."""
        self._closing.set()
        self._watchers.shutdown(cancel_futures=True)

    def _watch(self, job: Job, opened: Opened, relative_gap: float, time_limit: float, keep: Keep) -> None:
        with self._lock:
            if job.state is not JobState.QUEUED or self._closing.is_set():
                return
            job.state = JobState.RUNNING
        with TemporaryDirectory(prefix="ncirl-", ignore_cleanup_errors=True) as folder:
            path = Path(folder) / "policy.ncirl"
            task = Task(opened.name, opened.raw, relative_gap, time_limit, str(path), self._limits.memory)
            try:
                reason = self._run(job, task)
                if reason is None:
                    job.contest = keep(open_file(path.name, path.read_bytes(), self._limits))
            except Exception as error:  # a job that nobody watches any more would run for ever
                reason = str(error) or type(error).__name__
        job.error = reason
        otherwise = JobState.DONE if reason is None else JobState.FAILED
        job.state = JobState.CANCELLED if job.cancelled.is_set() else otherwise

    def _run(self, job: Job, task: Task) -> str | None:
        """Run a worker to its end; return why there is no policy, None where there is."""
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=work, args=(task, theirs), daemon=True)
        process.start()
        theirs.close()
        job.pid = process.pid
        try:
            return self._followed(job, ours, task.time_limit)
        except (EOFError, OSError):  # it hung up
            process.join(self._limits.grace)
            return _fate(process.exitcode)
        finally:
            job.pid = None
            process.kill()
            process.join()
            ours.close()

    def _followed(self, job: Job, worker: Connection, time_limit: float) -> str | None:
        late = time.monotonic() + time_limit + self._limits.grace
        asked = False
        while True:
            if worker.poll(POLL):
                kind, *told = worker.recv()
                if kind == "bounds":
                    job.bounds.append((told[0], told[1], told[2]))
                else:
                    return None if kind == "done" else str(told[0])
            if self._closing.is_set():
                return "the server was stopped"
            if job.cancelled.is_set() and not asked:
                asked = True
                late = time.monotonic() + self._limits.grace
                worker.send("stop")
            if time.monotonic() > late:
                return f"did not end within {self._limits.grace:g} s after its time was up"


def _fate(code: int | None) -> str:
    if code is not None and code < 0:
        return f"the worker was ended by signal {signal.Signals(-code).name}"
    return f"the worker ended unexpectedly with exit code {code}"
