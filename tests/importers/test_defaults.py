"""Defaults that mean something: what an import says they stand for, and where a graph rests on them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from importers.samples import ARCS, VERTICES
from ncirl.attack_graphs.graph import AttackGraph
from ncirl.cli import main
from ncirl.games.office import office_graph
from ncirl.importers import Imported, import_graph
from ncirl.importers.defaults import defaults_in


@pytest.fixture
def imported(tmp_path: Path) -> Imported:
    paths = [tmp_path / "VERTICES.CSV", tmp_path / "ARCS.CSV"]
    for path, text in zip(paths, (VERTICES, ARCS), strict=True):
        path.write_text(text)
    return import_graph("mulval", paths)


def test_the_report_says_what_each_default_stands_for(imported: Imported) -> None:
    said = "\n".join(imported.report.meanings)
    for words in (
        "a stage is as long as",
        "about 20 stages",
        "a lasting fix is a patch",
    ):
        assert words in said
    assert all(f"  means       {line}" in imported.report.lines() for line in imported.report.meanings)
    assert imported.report.to_data()["meanings"] == list(imported.report.meanings)


def test_what_is_asked_for_is_told_as_asked(tmp_path: Path) -> None:
    (tmp_path / "VERTICES.CSV").write_text(VERTICES)
    (tmp_path / "ARCS.CSV").write_text(ARCS)
    found = import_graph("mulval", tmp_path, lasting_cost=0.7, discount=0.9, block_cost=0.0).report.meanings
    assert any("done once; it costs 0.7 (" in line for line in found)
    assert any("about 10 stages" in line for line in found)
    blocking = import_graph("mulval", tmp_path, controls=False, block_cost=0.0).report.meanings
    assert any("a step blocked for one stage" in line and "it costs nothing" in line for line in blocking)


def test_a_graph_that_rests_on_defaults_is_known(imported: Imported) -> None:
    found = defaults_in(imported.graph)
    assert f"attack_cost 0.02 of {len(imported.graph.exploits)}" in found
    assert "discount 0.95" in found
    chosen = tuple(replace(e, attack_cost=0.03) for e in imported.graph.exploits)
    assert defaults_in(replace(imported.graph, exploits=chosen)) == ()
    assert defaults_in(office_graph()) == ()


def test_a_graph_without_controls_rests_on_the_price_of_a_block() -> None:
    graph = office_graph()
    plain = tuple(replace(e, attack_cost=0.02, block_cost=0.05) for e in graph.exploits)
    assert "blocking a step for a stage at 0.05 (9)" in defaults_in(replace(graph, exploits=plain))


def test_solve_says_it_in_one_line(imported: Imported, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "graph.yaml"
    imported.graph.save(path)
    assert main(["solve", str(path), "--gap", "50%", "--json"]) == 0
    lines = [line for line in capsys.readouterr().err.splitlines() if "rests on defaults" in line]
    assert len(lines) == 1
    assert "--set" in lines[0]
    assert main(["solve", str(path), "--gap", "50%", "--json", "-q"]) == 0
    assert "rests on defaults" not in capsys.readouterr().err


def test_no_exploits_rest_on_nothing() -> None:
    graph = office_graph()
    assert defaults_in(AttackGraph(graph.conditions, (), graph.intents, discount=0.9)) == ()
