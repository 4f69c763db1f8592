"""The table of graphs that are listed and guarded: a row each, and a contradiction is no row."""

from __future__ import annotations

from dataclasses import replace

import pytest
from benchmarks.guarded_listed import drawn, row

import ncirl
from ncirl.games.office import office_graph

GENEROUS = 60.0  # seconds; it stops at the gap long before


def test_graphs_are_drawn_by_size_and_seed() -> None:
    names = [name for name, _ in drawn((3, 4), seeds=2)]
    assert names == ["3 conditions, seed 0", "3 conditions, seed 1", "4 conditions, seed 0", "4 conditions, seed 1"]


def test_a_row_has_both_brackets() -> None:
    cells = row("office", office_graph(), GENEROUS, 0.5).split(" | ")
    assert cells[0] == "| office"
    lower, upper, also_lower, also_upper = (float(cells[k]) for k in (2, 3, 6, 7))
    assert max(lower, also_lower) <= min(upper, also_upper)


def test_brackets_that_are_apart_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = ncirl.solve

    def lying(graph: object, solver: object) -> object:
        found = honest(graph, solver)  # type: ignore[call-overload]
        return replace(found, lower=9.0, upper=9.5) if isinstance(solver, ncirl.Certified) else found

    monkeypatch.setattr(ncirl, "solve", lying)
    with pytest.raises(AssertionError, match="apart"):
        row("office", office_graph(), GENEROUS, 0.5)
