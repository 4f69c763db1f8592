"""One run in a process of its own, which ends itself when its processor time or memory is used up.

Processor time, not time on the wall: every run has one thread, and the machine may have other work.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["Run", "Task", "run_in_process"]

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"), "1")
SCORING = 20.0  # seconds of processor time for both judges together
START_UP = 120.0  # seconds on the wall, beyond the caps, before a run is given up
BUSY = 6.0  # how many times slower than its processor time a run may be
ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Run:
    """How a run went; `failure` says why there is no value, and is empty when there is one."""

    value: float | None = None
    seconds: float = 0.0
    megabytes: float = 0.0
    our_score: float | None = None
    their_score: float | None = None
    failure: str = ""


@dataclass(frozen=True)
class Task:
    """What to run: names of a contestant and a family, and the caps."""

    contestant: str
    family: str
    size: int
    path: str
    gap: float
    seconds: float
    gigabytes: float
    score: bool


def run_in_process(task: Task) -> Run:
    """Run in a fresh process; a failure is an answer too."""
    command = [sys.executable, "-m", "benchmarks.peers.child", json.dumps(vars(task))]
    patience = START_UP + BUSY * (task.seconds + SCORING)
    environment = os.environ | ONE_THREAD
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, env=environment, cwd=ROOT, check=False, timeout=patience
        )
    except subprocess.TimeoutExpired:
        return Run(failure="time")
    found: dict[str, Any] = {}
    for line in done.stdout.splitlines():
        if line.startswith("{"):
            found |= json.loads(line)
    if "value" in found:
        return Run(**found)
    return Run(failure=_failure(done.returncode, done.stderr))


def _failure(code: int, said: str) -> str:
    if code == -signal.SIGPROF:
        return "time"
    if "MemoryError" in said or "bad_alloc" in said or code in (-signal.SIGKILL, -signal.SIGSEGV, -signal.SIGABRT):
        return "memory"
    return (said.strip().splitlines() or ["no message"])[-1].removeprefix("RuntimeError: ")


def solve_here(task: Task) -> None:
    """Solve, print what was found, then let both judges score it."""
    from benchmarks.peers.contestants import CONTESTANTS
    from benchmarks.peers.families import FAMILIES

    limit = int(task.gigabytes * 2**30)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    contestant = CONTESTANTS[task.contestant]
    contestant.load()
    game = FAMILIES[task.family].build(task.size)
    signal.setitimer(signal.ITIMER_PROF, task.seconds)  # its default action ends the process, wherever it is
    began = time.process_time()
    answer = contestant.solve(game, task.path, task.gap)
    seconds = time.process_time() - began
    signal.setitimer(signal.ITIMER_PROF, 0)
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"value": answer.value, "seconds": seconds, "megabytes": megabytes}), flush=True)
    if task.score:
        from benchmarks.peers.scoring import our_score, their_score

        signal.setitimer(signal.ITIMER_PROF, SCORING)
        print(json.dumps({"our_score": our_score(game, answer)}), flush=True)
        print(json.dumps({"their_score": their_score(game, answer)}), flush=True)


if __name__ == "__main__":
    solve_here(Task(**json.loads(sys.argv[1])))
