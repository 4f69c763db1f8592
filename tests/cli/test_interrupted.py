"""What is left when a solve is interrupted or killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import ncirl
from ncirl.cli.progress import interruptible
from ncirl.solution import Progress, Status

SOLVE = [sys.executable, "-m", "ncirl", "solve", "builtin:office", "--gap", "0", "--json"]
PATIENCE = 60


def started(path: Path) -> subprocess.Popen[str]:
    """Begin a solve that does not end by itself, and wait until it searches."""
    process = subprocess.Popen([*SOLVE, "-o", str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    assert "lower" in process.stderr.readline()
    return process


def test_ctrl_c_prints_the_bounds_and_writes_the_policy(tmp_path: Path) -> None:
    path = tmp_path / "p.ncirl"
    process = started(path)
    process.send_signal(signal.SIGINT)
    out, complaint = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    found = json.loads(out)
    assert (found["status"], found["policy"]) == ("interrupted", str(path))
    assert "ending with the bounds so far" in complaint
    assert "Traceback" not in complaint
    loaded = ncirl.load_solution(path)
    assert (loaded.lower, loaded.upper, loaded.status) == (found["lower"], found["upper"], Status.INTERRUPTED)
    assert ncirl.verify(loaded).holds


@pytest.mark.parametrize("before", [None, b"what was there"])
def test_kill_leaves_the_old_file_or_none(before: bytes | None, tmp_path: Path) -> None:
    path = tmp_path / "p.ncirl"
    if before is not None:
        path.write_bytes(before)
    process = started(path)
    process.kill()
    process.communicate(timeout=PATIENCE)
    assert process.returncode == -signal.SIGKILL
    assert (path.read_bytes() if path.exists() else None) == before
    assert set(tmp_path.iterdir()) <= {path}


def test_kill_while_the_file_takes_its_name_leaves_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "p.ncirl"
    path.write_bytes(b"what was there")
    code = (
        "import os, signal, sys, ncirl.cli\n"
        "os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        "ncirl.cli.main(['solve', 'builtin:big-match', '-o', sys.argv[1]])\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, timeout=PATIENCE, check=False)
    assert done.returncode == -signal.SIGKILL
    assert path.read_bytes() == b"what was there"


def test_first_ctrl_c_waits_for_a_report_and_the_second_does_not(capsys: pytest.CaptureFixture[str]) -> None:
    seen: list[Progress] = []
    here = Progress(0.0, lower=0.0, upper=1.0)
    before = signal.getsignal(signal.SIGINT)
    with interruptible(seen.append) as report:
        report(here)
        os.kill(os.getpid(), signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            report(here)
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
    assert seen == [here, here]
    assert signal.getsignal(signal.SIGINT) is before
    assert "Ctrl-C again" in capsys.readouterr().err


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # of what came in a destructor
@pytest.mark.parametrize("moment", [0.02, 0.1, 0.3])
def test_interrupted_anywhere_in_the_search_the_bounds_hold(moment: float) -> None:
    struck: list[bool] = []

    def interrupt(*_: Any) -> None:
        struck.append(True)
        raise KeyboardInterrupt

    def arm(reached: Progress) -> None:
        if struck:  # the search goes on: it came in a destructor, where Python loses any exception
            raise KeyboardInterrupt
        if reached.lp_solves == 0:
            signal.setitimer(signal.ITIMER_REAL, moment)

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        solution = ncirl.solve(ncirl.games.office(), ncirl.Certified(gap=0.0), progress=arm)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert solution.status is Status.INTERRUPTED
    assert ncirl.verify(solution).holds
