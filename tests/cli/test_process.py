"""The command line as a process of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import ncirl

NCIRL = [sys.executable, "-m", "ncirl"]
PATIENCE = 60


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*NCIRL, *words], capture_output=True, text=True, timeout=PATIENCE, check=False)


def test_result_on_stdout_and_progress_on_stderr() -> None:
    done = run("solve", "builtin:patrol", "--solver", "shapley", "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["solver"] == "shapley"
    assert "lower" in done.stderr


def test_bad_file_ends_with_two_and_no_traceback(tmp_path: Path) -> None:
    path = tmp_path / "bad.json"
    path.write_text('{"format": "ncirl-game/1", ')
    done = run("solve", str(path))
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith(f"ncirl: {path}: line 1, column ")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("words", [["show", "builtin:patrol"], ["show", "builtin:patrol", "--json"], ["--help"]])
def test_nobody_reading_is_silent(words: list[str]) -> None:
    process = subprocess.Popen([*NCIRL, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.close()
    process.stdout = None
    _, complaint = process.communicate(timeout=PATIENCE)
    assert process.returncode == 128 + signal.SIGPIPE
    assert complaint == b""


def _interrupted(process: subprocess.Popen[bytes]) -> bytes:
    """Press Ctrl-C, and again if Python lost it: one that arrives inside a destructor is ignored."""
    for _ in range(6):
        process.send_signal(signal.SIGINT)
        try:
            return process.communicate(timeout=PATIENCE / 6)[1]
        except subprocess.TimeoutExpired:
            continue
    process.kill()
    process.communicate()
    raise AssertionError("the process cannot be interrupted")


def test_interrupt_ends_with_130_and_a_short_line(tmp_path: Path) -> None:
    pipe = tmp_path / "game.json"
    os.mkfifo(pipe)
    process = subprocess.Popen([*NCIRL, "show", str(pipe)], stderr=subprocess.PIPE)
    with pipe.open("wb"):  # opens once the command reads, and never feeds it
        complaint = _interrupted(process)
    assert process.returncode == 130
    assert complaint == b"ncirl: interrupted\n"


SLOW_TO_LOAD = {"highspy", "networkx", "pydantic", "rich", "cyclopts"}


@pytest.mark.parametrize(
    ("code", "needed"),
    [
        ("ncirl.AttackGraph, ncirl.Defender, ncirl.simulate", set()),
        ("policy = ncirl.load_solution(sys.argv[1]); policy.defender().act(); ncirl.verify(policy)", {"pydantic"}),
        ("ncirl.solve(ncirl.games.big_match(), ncirl.Certified(gap=0.1))", {"highspy"}),
    ],
    ids=["import", "play", "solve"],
)
def test_nothing_slow_is_loaded_that_is_not_needed(code: str, needed: set[str], tmp_path: Path) -> None:
    path = tmp_path / "p.ncirl"
    ncirl.solve(ncirl.games.big_match(), ncirl.Certified(gap=0.1)).save(path)
    script = f"import sys, ncirl; {code}; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script, str(path)], capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    assert "ncirl.playbook.verify" in done.stdout.split()
    assert SLOW_TO_LOAD & set(done.stdout.split()) == needed
