"""Workers for whom there is no memory are left out, and one is told."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ncirl.cli import main
from ncirl.cli.output import EACH, affordable
from ncirl.games.office import office_graph


@pytest.mark.parametrize(
    ("jobs", "processes", "left"), [(2, 3.0, 2), (4, 5.5, 4), (4, 4.5, 3), (4, 2.9, None), (1, 1.5, None), (64, 9.0, 8)]
)
def test_as_many_workers_as_there_is_memory_for(
    jobs: int, processes: float, left: int | None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert affordable(jobs, processes * EACH) == left
    said = capsys.readouterr().err
    assert (f"--jobs {jobs}: each of {jobs + 1} processes" in said) == (left != jobs)


@pytest.mark.parametrize(("jobs", "memory"), [(None, 1.0), (4, None)])
def test_without_either_nothing_is_said(
    jobs: int | None, memory: float | None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert affordable(jobs, memory) == jobs
    assert capsys.readouterr().err == ""


def test_little_memory_for_several_processes_is_enough_for_one(tmp_path: Path) -> None:
    office_graph().save(tmp_path / "office.yaml")
    words = [str(tmp_path / "office.yaml"), "--memory", "300MB", "--gap", "20%", "--jobs", "2", "--json"]
    command = [sys.executable, "-m", "ncirl", "solve", *words]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert "each of 3 processes would have 100 MB of the 300 MB" in ended.stderr
    assert json.loads(ended.stdout)["lower"] > 0


def test_less_memory_than_is_in_use_ends_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    office_graph().save(tmp_path / "office.json")
    words = ["solve", str(tmp_path / "office.json"), "--solver", "guarded", "--memory", "1MB", "-q"]
    assert main(words) == 3
    said = capsys.readouterr().err
    assert "within the memory of 1 MB that it may use" in said
    assert "--memory" in said
