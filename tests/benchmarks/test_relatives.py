"""The table of relatives: cells of games solved and not, bounds that exclude each other, its place in a page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from benchmarks.large_graphs import write
from benchmarks.relatives import GAMES, MARKS, cell, row, solve_here

from benchmarks import relatives

GENEROUS = 20.0  # seconds of processor time; it takes a tenth of one
GAP = 0.01
ROUNDING = 1e-9
QUICK = "Big Match, γ = 0.9"


def test_a_cell_says_the_seconds_or_why_there_are_none() -> None:
    text, told = cell(QUICK, "HSVI", GENEROUS, GAP)
    assert text == f"{told['seconds']:.2f} s"
    assert told["upper"] - told["lower"] <= GAP * told["upper"]
    assert cell(QUICK, "history program", GENEROUS, GAP) == ("no horizon", {})


@pytest.mark.parametrize("method", ["certified", "HSVI", pytest.param("NC-PBVI", marks=pytest.mark.slow)])
def test_every_method_bounds_the_same_value(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relatives.resource, "setrlimit", lambda *_: None)  # here it would stay
    monkeypatch.setattr(relatives.signal, "setitimer", lambda *_: None)
    found = solve_here(QUICK, method, GENEROUS, GAP)
    value = 0.5 * (1 - 0.9**10) / 0.1  # (1 − p)(1 − γ^n) / (1 − γ) at p = 1/2, n = 10
    assert found["lower"] - ROUNDING <= value <= found["upper"] + ROUNDING


@pytest.mark.parametrize(
    ("lower", "upper", "said"),
    [(0.9, 1.0, "| 10.0% left | 10.0% left | 10.0% left | 10.0% left | 10.0% left |"), (1.2, 1.1, "bounds DISAGREE")],
)
def test_a_row_tells_gaps_and_contradictions(
    lower: float, upper: float, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def made_up(*_: Any) -> tuple[str, dict[str, float]]:
        return f"{(upper - lower) / upper:.1%} left", {"lower": lower, "upper": upper}

    monkeypatch.setattr(relatives, "cell", made_up)
    assert said in row(QUICK, GENEROUS, GAP)


def test_the_page_has_room_for_the_table(tmp_path: Path) -> None:
    page = tmp_path / "benchmarks.md"
    page.write_text((Path(__file__).parents[2] / "docs/benchmarks.md").read_text(encoding="utf-8"), encoding="utf-8")
    write(page, ["| made up |"], "(said)", MARKS)
    assert f"{MARKS[0]}\n(said)\n\n| made up |\n{MARKS[1]}" in page.read_text(encoding="utf-8")
    assert "<!-- large graphs -->" in page.read_text(encoding="utf-8")


def test_games_are_of_both_information_structures_and_some_end() -> None:
    made = [build() for build in GAMES.values()]
    assert {game.observes.value for game in made} == {"actions", "outcomes"}
    assert any(game.horizon is not None for game in made)
