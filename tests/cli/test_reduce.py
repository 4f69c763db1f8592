"""``ncirl reduce``: the smaller graph on stdout or in a file, the report on stderr."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import ncirl
from ncirl.cli import main
from reductions.graphs import ladders

DONE, BAD_INPUT = 0, 2


def test_the_reduced_graph_is_a_graph_and_the_report_says_what_was_done(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "small.yaml"
    words = ["--only-goals", "database", "--prune", "--paths", "1", "--defender-budget", "1", "-o", str(path)]
    assert main(["reduce", "builtin:office", *words]) == DONE
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "exact: the value is the same" in printed.err
    assert "approximation from below" in printed.err
    assert "exploit 'reach backups': leads to no reward" in printed.err
    graph = ncirl.AttackGraph.load(path)
    assert [e.id for e in graph.exploits] == ["exploit web app", "inject SQL"]
    assert graph.defender_budget == 1


def test_without_a_file_the_graph_is_on_stdout(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reduce", "builtin:office", "--crop", "1"]) == DONE
    path = tmp_path / "cropped.yaml"
    path.write_text(capsys.readouterr().out)
    assert sum(c.initial for c in ncirl.AttackGraph.load(path).conditions) > 0


def test_without_options_only_the_size_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reduce", "builtin:office"]) == DONE
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "26 public states, up to 16 x 16 actions" in printed.err


def test_json_holds_the_whole_report(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(["reduce", "builtin:office", "--merge-intents", "--certain", "--parallel", "--chains", "--json"]) == DONE
    )
    found = json.loads(capsys.readouterr().out)
    assert [step["preserves"] for step in found["reductions"]] == ["value"] * 4
    assert found["before"] == found["after"]
    assert found["advice"] is None


def test_advice_can_be_followed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    large, small = tmp_path / "large.yaml", tmp_path / "small.yaml"
    ladders(4, 5).save(large)
    assert main(["reduce", str(large), "--json"]) == DONE
    advice = json.loads(capsys.readouterr().out)["advice"]
    assert main(["reduce", str(large), *advice["options"][0], "-o", str(small), "--json"]) == DONE
    assert json.loads(capsys.readouterr().out)["advice"] is None


def test_solve_guards_a_large_graph(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    large = tmp_path / "large.yaml"
    ladders(1, 14).save(large)  # more actions than a stage can hold
    assert main(["solve", str(large), "--gap", "99%", "--time-limit", "600"]) == DONE
    said = capsys.readouterr().err
    assert "guards this graph as a whole" in said
    assert "public states" in said
    assert main(["solve", str(large), "--solver", "certified"]) == BAD_INPUT


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["builtin:patrol", "--prune"], "is no attack graph"),
        (["nowhere.yaml"], "no such file"),
        (["builtin:office", "--crop", "0"], "hops: must be at least 1"),
        (["builtin:office", "--only-goals", "nowhere"], "unknown condition 'nowhere'"),
    ],
)
def test_bad_words_get_one_sentence(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reduce", *words]) == BAD_INPUT
    assert said in capsys.readouterr().err
