"""Solves and comparisons in worker processes: a few of each at once, some waiting, no more.

A job is known by an id that cannot be guessed: whoever has it may follow the job and end it, nobody else. Each worker
is watched by a thread of its own. What can happen to it:

    it ends               what came of it is kept: a solve's policy becomes a contest
    it is cancelled       a solve is asked to stop and keeps what it has, within a grace period; a comparison is ended
    it does not end       it is ended some time after its time limit, or after it said that it was done
    it dies               its own job has failed, with the reason; no other job notices
"""

import asyncio
import json
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Literal

from ncirl.web.child_process import ChildProcess
from ncirl.web.limits import Limits, Refused
from ncirl.web.worker import Task, work

__all__ = ["Job", "JobQueue", "JobState", "SaveResult", "new_id"]

RESULTS = 2  # messages that follow when a solve is done
POLL = 0.05  # seconds between two looks at a worker
LOOK_EVERY = 0.1  # seconds between two looks at a job that is followed
SIGN_OF_LIFE = 10.0  # seconds without an event after which a comment is sent, so that nobody hangs up


JobState = Literal["queued", "running", "done", "cancelled", "failed"]
SaveResult = Callable[[bytes, bytes], str]  # makes a contest of what is told of a policy and the policy; returns its id


def new_id() -> str:
    """Return an id that cannot be guessed: to know it is to be allowed."""
    return secrets.token_urlsafe(16)


@dataclass(eq=False)
class Job:
    """One solve or comparison."""

    id: str  # what it is known by, and whether it is a "solve", a "resolve" or a "compare"
    kind: str
    own: bool = False  # whether it is the server's own: all may follow it, none may end it
    state: JobState = "queued"
    contest: str | None = None  # the contest that came of it
    events: list[tuple[str, dict[str, Any]]] = field(default_factory=list)  # what it told, in order
    error: str | None = None  # why it failed
    pid: int | None = None  # of the worker, while there is one
    cancelled: threading.Event = field(default_factory=threading.Event)

    @property
    def ended(self) -> bool:
        """Whether nothing more will come."""
        return self.state not in ("queued", "running")

    def view(self) -> dict[str, Any]:
        """Return it as plain data."""
        latest = self.events[-1][1] if self.events else None
        told = {"id": self.id, "kind": self.kind, "state": self.state, "latest": latest}
        return {**told, "contest": self.contest, "error": self.error}

    async def stream(self) -> AsyncIterator[str]:
        """Send everything that it told, past and to come, and its end, as server-sent events."""
        told, quiet = 0, 0.0
        while True:
            ended = self.ended  # asked first: nothing is added after the end
            fresh = self.events[told:]
            for name, data in fresh:
                yield _event(name, data)
            told += len(fresh)
            if ended:
                yield _event("end", self.view())
                return
            quiet = 0.0 if fresh else quiet + LOOK_EVERY
            if quiet >= SIGN_OF_LIFE:
                quiet = 0.0
                yield ": still there\n\n"
            await asyncio.sleep(LOOK_EVERY)


def _event(name: str, data: dict[str, Any]) -> str:
    return f"event: {name}\ndata: {json.dumps(data, allow_nan=False)}\n\n"


class JobQueue:
    """Starts solves and comparisons, watches and ends them; the limits say how many at once and waiting."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._most = {"solve": limits.workers, "resolve": limits.workers, "compare": limits.comparisons}
        self._watchers = {kind: ThreadPoolExecutor(most, thread_name_prefix=kind) for kind, most in self._most.items()}

    def start(self, task: Task, save: SaveResult | None = None, *, own: bool = False) -> Job:
        """Start a job, or let it wait for its turn, or refuse it; `save` keeps what comes of a solve."""
        job = Job(new_id(), task.kind, own)
        with self._lock:
            busy = sum(not other.ended for other in self._jobs.values() if other.kind == job.kind)
            waiting = busy - self._most[job.kind]
            if waiting >= self._limits.queue:
                raise Refused(429, f"{waiting} others are waiting already; try again in a minute")
            self._jobs[job.id] = job
            for old in [j for j in self._jobs.values() if j.ended][: max(0, len(self._jobs) - self._limits.jobs)]:
                del self._jobs[old.id]
        self._watchers[job.kind].submit(self._watch, job, task, save)
        return job

    def get(self, job_id: str) -> Job:
        """Return a job; refused where there is none of this id."""
        with self._lock:
            if job_id not in self._jobs:
                raise Refused(404, f"there is no job '{job_id:.40}' here, or not any more")
            return self._jobs[job_id]

    def cancel(self, job_id: str) -> Job:
        """Ask a job to stop with what it has; one that waits never starts. The server's own are not stopped."""
        job = self.get(job_id)
        if job.own:
            raise Refused(403, "the server solves its examples for everybody; that cannot be stopped from here")
        job.cancelled.set()
        with self._lock:
            if job.state == "queued":
                job.state = "cancelled"
        return job

    def close(self) -> None:
        """End every worker; nothing is kept."""
        self._closing.set()
        for watchers in self._watchers.values():
            watchers.shutdown(cancel_futures=True)

    def _watch(self, job: Job, task: Task, save: SaveResult | None) -> None:
        with self._lock:
            if job.state != "queued" or self._closing.is_set():
                return
            job.state = "running"
        try:
            job.error = self._run(job, task, save)
        except Exception as error:  # a job that nobody watches any more would run for ever
            job.error = str(error) or type(error).__name__
        job.state = "cancelled" if job.cancelled.is_set() else "done" if job.error is None else "failed"

    def _run(self, job: Job, task: Task, save: SaveResult | None) -> str | None:
        """Run a worker to its end; return why nothing came of it, None where something did."""
        child = ChildProcess(work, task)
        job.pid = child.process.pid
        try:
            return self._follow(job, child, task, save)
        except (EOFError, OSError):  # it hung up
            return child.fate(self._limits.grace)
        finally:
            job.pid = None
            child.end()

    def _follow(self, job: Job, child: ChildProcess, task: Task, save: SaveResult | None) -> str | None:
        late = time.monotonic() + task.seconds
        asked = False
        results: list[bytes] | None = None  # once it is done: what is told of the policy, and the policy
        while True:
            message = child.receive(POLL, self._limits.policy)
            if message is not None and results is not None and save is not None:
                results.append(message)
                if len(results) == RESULTS:
                    job.contest = save(*results)
                    return None
            elif message is not None:
                kind, told = json.loads(message)
                if kind == "failed":
                    return str(told)
                if kind == "done" and save is None:
                    return None
                if kind == "done":
                    results, late = [], time.monotonic() + self._limits.grace
                else:
                    job.events.append((kind, told))
            if self._closing.is_set():
                return "the server was stopped"
            if job.cancelled.is_set() and not asked and results is None:
                if save is None:  # there is nothing to wind up
                    return None
                asked = True
                late = time.monotonic() + self._limits.grace
                child.pipe.send("stop")
            if time.monotonic() > late:
                if results is not None:
                    within = f"within {self._limits.grace:g} s"
                    return f"the worker was done, but did not hand over what it found {within}; start it again"
                return f"did not end within {task.seconds:g} s, all its time"
