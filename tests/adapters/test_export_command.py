"""``ncirl export`` and files of other tools where a game is expected."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ncirl.cli import main

DONE, BAD_INPUT = 0, 2
AGREE = 1e-6


def test_what_is_exported_can_be_solved(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "match.osposg"
    assert main(["export", "builtin:big-match", "-o", str(path), "--json"]) == DONE
    assert json.loads(capsys.readouterr().out)["file"] == str(path)
    bounds = []
    for game in ("builtin:big-match", str(path)):
        assert main(["solve", game, "--gap", "1e-3", "--json", "-q"]) == DONE
        bounds.append(json.loads(capsys.readouterr().out))
    assert bounds[0]["lower"] == pytest.approx(bounds[1]["lower"], abs=AGREE)


def test_a_tree_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "patrol.EFG"
    assert main(["export", "builtin:patrol", "--horizon", "2", "--discount", "1", "-o", str(path)]) == DONE
    assert path.read_text().startswith('EFG 2 R "patrol" { "attacker" "defender" }\n')
    assert "patrol.EFG" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-o", "x.efg"], "needs an end; give --horizon"),
        (["-o", "x.txt"], "must end in .efg or .osposg, got 'x.txt'"),
        (["-o", "x.osposg", "--horizon", "2", "--discount", "1"], "need a discount below 1"),
        (["-o", "x.efg", "--horizon", "20"], "shorten the horizon"),
    ],
)
def test_what_cannot_be_written_is_told(
    words: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["export", "builtin:patrol", *words]) == BAD_INPUT
    assert said in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
