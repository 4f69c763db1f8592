"""Workers that stop answering at the worst moment: their slot is free again, their process gone, soon."""

from __future__ import annotations

import json
import os
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from multiprocessing.connection import Connection

import pytest

from ncirl.web import child_process, jobs
from ncirl.web.jobs import Job, JobQueue
from ncirl.web.limits import Limits
from ncirl.web.source import Source
from ncirl.web.worker import Solve, Task

LIMITS = Limits(workers=1, grace=1.0)
TASK = Solve(Source("builtin:patrol", None), 0.1, 60.0, LIMITS)
FOR_EVER = 3600.0
PATIENCE = 60.0  # seconds that a busy machine needs to start a process, and to end one


def hangs_after_done(pipe: Connection, _: Task) -> None:
    pipe.send_bytes(json.dumps(["bounds", {}]).encode())
    pipe.send_bytes(json.dumps(["done", None]).encode())
    time.sleep(FOR_EVER)


def hangs_after_half_of_what_is_told(pipe: Connection, _: Task) -> None:
    pipe.send_bytes(json.dumps(["done", None]).encode())
    pipe.send_bytes(b"{}")
    os.write(pipe.fileno(), struct.pack("!i", 1000) + b"half a policy")
    time.sleep(FOR_EVER)


def hangs_within_a_bound(pipe: Connection, _: Task) -> None:
    os.write(pipe.fileno(), struct.pack("!i", 1000) + b'["bounds"')
    time.sleep(FOR_EVER)


def answers(pipe: Connection, _: Task) -> None:
    for told in (json.dumps(["done", None]).encode(), b"{}", b"policy"):
        pipe.send_bytes(told)


@pytest.fixture
def queue(monkeypatch: pytest.MonkeyPatch) -> Iterator[JobQueue]:
    monkeypatch.setattr(child_process, "UNFINISHED", 1.0)
    found = JobQueue(LIMITS)
    yield found
    found.close()


def started(queue: JobQueue, monkeypatch: pytest.MonkeyPatch, body: Callable[[Connection, Task], None]) -> Job:
    monkeypatch.setattr(jobs, "work", body)
    return queue.start(TASK, lambda told, raw: (told + raw).decode())


def ended(job: Job, seconds: float = PATIENCE) -> bool:
    late = time.monotonic() + seconds
    while time.monotonic() < late and not job.ended:
        time.sleep(0.02)
    return job.ended


def kill(pid: int | None) -> None:
    if pid is not None:
        with suppress(ProcessLookupError):
            os.kill(pid, 9)


@pytest.mark.parametrize("body", [hangs_after_done, hangs_after_half_of_what_is_told, hangs_within_a_bound])
def test_a_worker_that_hangs_is_ended_and_its_slot_is_free(
    queue: JobQueue, monkeypatch: pytest.MonkeyPatch, body: Callable[[Connection, Task], None]
) -> None:
    job = started(queue, monkeypatch, body)
    pid = None
    while pid is None:
        pid = job.pid
    try:
        assert ended(job)
    finally:
        kill(pid)  # else the queue would never close
    assert (job.state, job.contest) == ("failed", None)
    assert job.error
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    following = started(queue, monkeypatch, answers)
    assert ended(following)
    assert (following.state, following.contest) == ("done", "{}policy")


def test_why_nothing_came_of_it_is_said(queue: JobQueue, monkeypatch: pytest.MonkeyPatch) -> None:
    job = started(queue, monkeypatch, hangs_after_done)
    try:
        assert ended(job)
    finally:
        kill(job.pid)
    assert job.error == "the worker was done, but did not hand over what it found within 1 s; start it again"


def test_closing_does_not_wait_for_a_worker_that_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    queue = JobQueue(Limits(workers=1, grace=FOR_EVER))
    job = started(queue, monkeypatch, hangs_after_done)
    while not job.events:
        time.sleep(0.02)
    time.sleep(0.5)  # in which it says that it is done
    pid, began = job.pid, time.monotonic()
    closing = threading.Thread(target=queue.close)
    closing.start()
    closing.join(PATIENCE)
    try:
        assert not closing.is_alive()
        assert time.monotonic() - began < PATIENCE
    finally:
        kill(pid)
        closing.join()
