"""``ncirl reproduce``: what it refuses before any work, and what it prints."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from ncirl.cli import main
from ncirl.experiments.study import Study

SMALL = ["--sizes", "3", "--graphs", "2", "--intents", "2", "--episodes", "50", "--nc-pbvi-seconds", "20"]


@dataclass(frozen=True)
class SmallStudy(Study):
    """Two of five costs."""

    block_costs: Sequence[float] = (0.02, 0.4)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--sizes", "six"], "--sizes: must be numbers such as 6-10 or 6,8, got 'six'"),
        (["--sizes", "10-6"], "--sizes: must lie between 2 and 14, from small to large, got '10-6'"),
        (["--sizes", "40"], "--sizes: must lie between 2 and 14"),
        (["--study", "--sizes", "6-7"], "--sizes: --study looks at one size"),
        (["--graphs", "0"], "--graphs: at least one is needed, got 0"),
        (["--first-seed", "-1"], "--first-seed: must not be negative, got -1"),
        (["--study", "--first-seed", "3"], "--study has its own graphs"),
        (["--jobs", "0"], "jobs: at least one is needed, got 0"),
        (["--jobs", "2", "--cluster", "tcp://x:1"], "leave out --jobs or --cluster"),
        (["--gap", "0.01"], "--gap: must be a percentage of the value, such as 1%, got '0.01'"),
        (["--costs", "0.02"], "--costs: must be two numbers"),
        (["--costs", "0.02,-1"], "block_cost"),
        (["--time-limit", "0"], "--time-limit: must be a positive number of seconds"),
        (["--intents", "0"], "intents: must be at least 1, got 0"),
        (["--play", "endless", "--discount", "1"], "discount"),
        (["--episodes", "0"], "episodes: at least one is needed"),
    ],
)
def test_bad_input_is_refused_before_any_work(
    words: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["reproduce", "-o", str(tmp_path / "out"), *words]) == 2
    complaint = capsys.readouterr().err
    assert said in complaint
    assert len(complaint.splitlines()) == 1
    assert not (tmp_path / "out").exists()


def test_an_output_that_is_a_file_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "file"
    path.touch()
    assert main(["reproduce", "-o", str(path)]) == 2
    assert "is not a directory" in capsys.readouterr().err


def test_a_missing_extra_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ncirl.experiments.figure.find_spec", lambda _: None)
    assert main(["reproduce", "-o", str(tmp_path / "out"), *SMALL]) == 2
    assert "pip install 'ncirl[plot]'" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_one_object_on_stdout_and_progress_on_stderr(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "-o", str(tmp_path), *SMALL, "--json"]) == 0
    printed = capsys.readouterr()
    found = json.loads(printed.out)
    assert (found["runs"], found["failed"], found["apart"]) == (2, 0, 0)
    attackers = {"equilibrium", "equilibrium-fixed", "ncirl-fixed", "best-response"}
    assert {average["attacker"] for average in found["averages"]} == attackers
    assert all(Path(name).is_file() for name in found["files"])
    assert "runs: 2 of 2" in printed.err
    assert "NC-PBVI: 2 of 2" in printed.err
    # again, from what was kept, and for people
    assert main(["reproduce", "-o", str(tmp_path), *SMALL, "--quiet"]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    assert "attacker's average reward" in printed.out


def test_the_study_writes_its_table_and_heat_map(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ncirl.experiments.study.Study", SmallStudy)
    words = ["--study", "--sizes", "2", "--graphs", "1", "--intents", "2", "--episodes", "10", "--quiet", "--json"]
    assert main(["reproduce", "-o", str(tmp_path), *words]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {"study.md", "study.svg", "study.csv"} <= {Path(name).name for name in found["files"]}
    assert {average["play"] for average in found["averages"]} == {"finite", "cut", "endless"}
    assert {average["observes"] for average in found["averages"]} == {"actions", "outcomes"}
