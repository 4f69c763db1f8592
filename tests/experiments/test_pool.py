"""Runs that fail, workers that die, time that ends: the rest goes on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest

from ncirl.errors import InputError
from ncirl.experiments.pool import Failure, cluster, run_all, spawned

PATIENCE = 60
LONG = 600  # seconds nobody waits for

T = TypeVar("T")


def square_or_not(task: int | str) -> int:
    """Square a number, raise for "raise", end the process for "die"."""
    if task == "raise":
        raise InputError("no such graph")
    if task == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    assert isinstance(task, int)
    return task * task


def die_once(mark: Path) -> str:
    """End the process the first time, and leave a mark so as not to do it again."""
    if not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return mark.name


def sleep(seconds: float) -> float:
    time.sleep(seconds)
    return seconds


def collected(work: Callable[[Any], Any], tasks: list[Any], jobs: int, seconds: float | None = None) -> dict[Any, Any]:
    found: dict[Any, Any] = {}
    run_all(work, tasks, spawned(jobs), found.__setitem__, seconds=seconds)
    return found


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_run_that_raises_is_recorded_with_its_reason(jobs: int) -> None:
    found = collected(square_or_not, [1, "raise", 2, 3], jobs)
    assert found == {1: 1, "raise": Failure("InputError: no such graph"), 2: 4, 3: 9}


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_run_that_kills_its_worker_is_recorded_and_no_other(jobs: int) -> None:
    found = collected(square_or_not, [1, "die", 2, 3, 4], jobs)
    assert isinstance(found.pop("die"), Failure)
    assert found == {1: 1, 2: 4, 3: 9, 4: 16}


def test_a_run_whose_worker_died_once_gets_a_second_chance(tmp_path: Path) -> None:
    marks = [tmp_path / "a", tmp_path / "b", tmp_path / "c"]
    marks[0].touch()
    marks[2].touch()
    assert collected(die_once, [*marks], 1) == {mark: mark.name for mark in marks}


def test_what_is_not_done_in_time_is_left_out() -> None:
    began = time.monotonic()
    assert collected(sleep, [0.0, float(LONG), float(LONG)], 1, seconds=5.0) == {0.0: 0.0}
    assert time.monotonic() - began < LONG


def masked(_: int) -> bool:
    return signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, [])


def test_ctrl_c_is_not_for_workers_from_the_moment_they_start() -> None:
    assert collected(masked, [1], 1) == {1: True}
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])


def test_workers_do_not_outlive_a_killed_parent(tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    code = (
        "import os, pathlib, sys, time\n"
        "from ncirl.experiments.pool import run_all, spawned\n"
        "from test_pool import tell_and_sleep\n"
        "if __name__ == '__main__':\n"
        "    run_all(tell_and_sleep, [pathlib.Path(sys.argv[1])], spawned(1), print)\n"
    )
    script = tmp_path / "script.py"
    script.write_text(code)
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parent)}
    parent = subprocess.Popen([sys.executable, str(script), str(mark)], env=environment)
    worker = int(eventually(lambda: mark.read_text() if mark.exists() else ""))
    parent.kill()
    parent.wait()
    assert eventually(lambda: not alive(worker))


def tell_and_sleep(mark: Path) -> None:
    mark.with_suffix(".tmp").write_text(str(os.getpid()))
    mark.with_suffix(".tmp").rename(mark)
    time.sleep(LONG)


def alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{process}/stat")  # a zombie nobody reaped is not alive
    return not (stat.exists() and stat.read_text().rsplit(")", 1)[1].split()[0] == "Z")


def eventually(check: Callable[[], T]) -> T:
    """Return what `check` returns once it is true."""
    ends = time.monotonic() + PATIENCE
    while time.monotonic() < ends:
        if found := check():
            return found
        time.sleep(0.02)
    raise TimeoutError


def test_less_than_one_job_is_refused() -> None:
    with pytest.raises(InputError, match="jobs"):
        spawned(0)


def test_a_cluster_without_dask_is_refused_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ncirl.experiments.pool.find_spec", lambda _: None)
    with pytest.raises(InputError, match=r"ncirl\[distributed\]"):
        cluster("tcp://127.0.0.1:1")


def test_a_cluster_without_a_port_is_refused() -> None:
    with pytest.raises(InputError, match="got 'nonsense'"):
        cluster("nonsense")
