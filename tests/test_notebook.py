"""Progress in a notebook: shown once, then renewed in place; without IPython one sentence says so."""

from __future__ import annotations

import builtins
import math
import re
import sys
from types import SimpleNamespace
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

import ncirl
from ncirl.solution import Progress, bar_of

CELL = """import ncirl
ncirl.solve(ncirl.games.patrol(horizon=3), ncirl.Certified(), progress=ncirl.notebook_progress(0));
"""


def test_a_cell_ends_with_one_table_that_has_the_last_bounds(tmp_path: Any) -> None:
    cell = nbformat.v4.new_code_cell(CELL)
    NotebookClient(nbformat.v4.new_notebook(cells=[cell]), resources={"metadata": {"path": str(tmp_path)}}).execute()
    (shown,) = [output.data["text/html"] for output in cell.outputs if output.output_type == "display_data"]
    reports: list[Progress] = []
    ncirl.solve(ncirl.games.patrol(horizon=3), ncirl.Certified(), progress=reports.append)
    assert len(reports) > 1
    assert f"{reports[-1].lower:.6g} to {reports[-1].upper:.6g}" in shown
    assert f"<td>{reports[-1].lp_solves}</td>" in shown


def test_reports_that_come_too_fast_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    place = SimpleNamespace(update=shown.append)
    told = SimpleNamespace(HTML=str, display=lambda html, display_id: shown.append(html) or place)
    monkeypatch.setitem(sys.modules, "IPython.display", told)  # type: ignore[arg-type]
    show = ncirl.notebook_progress(between=1.0)
    for seconds in (0.0, 0.5, 0.9, 1.0, 1.5, 2.5):
        show(Progress(seconds, -1.0, 1.0))
    assert [re.findall(r"<td>(\d\.\d)</td>", html) for html in shown] == [["0.0"], ["1.0"], ["2.5"]]


def test_without_ipython_one_sentence_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "IPython.display", None)
    with pytest.raises(ncirl.InputError, match="needs IPython"):
        ncirl.notebook_progress()


def test_ncirl_does_not_load_ipython_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = builtins.__import__

    def guarded(name: str, *rest: Any, **named: Any) -> Any:
        assert not name.startswith("IPython"), "loaded before it is asked for"
        return plain(name, *rest, **named)

    monkeypatch.delitem(sys.modules, "ncirl.notebook", raising=False)
    monkeypatch.setattr(builtins, "__import__", guarded)
    assert callable(ncirl.notebook_progress)


@pytest.mark.parametrize("bounds", [(0.875, 0.875), (-2.0, -2.0), (-1.0, 3.0), (0.0, 0.0), (1.4, 1.5)])
def test_the_bar_lies_within_its_line(bounds: tuple[float, float]) -> None:
    start, width = map(float, re.findall(r'<rect x="([\d.-]+)" width="([\d.]+)"', bar_of(*bounds))[0])
    assert start >= 0
    assert start + width <= 100 or math.isclose(start + width, 100)
