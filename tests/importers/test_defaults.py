"""Defaults that mean something: what an import says they stand for, and where a graph rests on them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from importers.samples import ARCS, VERTICES
from ncirl.attack_graphs.graph import AttackGraph
from ncirl.attack_graphs.origins import assumed_numbers, numbers_by_origin, said_of
from ncirl.cli import main
from ncirl.games.office import office_graph
from ncirl.importers import Draft, Imported, ImportOptions, import_graph
from ncirl.importers.report import Origin


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


def test_where_every_number_comes_from_is_kept_in_the_file(imported: Imported, tmp_path: Path) -> None:
    """By its origin, not by its value: a number that happens to be a default's is none if somebody said it."""
    path = tmp_path / "graph.json"
    imported.graph.save(path)
    loaded = AttackGraph.load(path)
    assert loaded.origins == imported.graph.origins
    found = Counter({n.quantity: 0 for n in assumed_numbers(loaded)})
    found.update({n.quantity: n.count for n in assumed_numbers(loaded) if n.quantity != "cost"})
    found.update(cost=sum(n.count for n in assumed_numbers(loaded) if n.quantity == "cost"))
    assert loaded.controls is not None
    assert found == {"success": 2, "attack_cost": 2, "cost": len(loaded.controls), "reward": 1, "discount": 1}
    assert numbers_by_origin(loaded) == imported.report.numbers
    assert assumed_numbers(office_graph()) == ()


def test_what_is_asked_for_is_no_default_even_at_the_value_of_one(tmp_path: Path) -> None:
    (tmp_path / "VERTICES.CSV").write_text(VERTICES)
    (tmp_path / "ARCS.CSV").write_text(ARCS)
    asked = {"success": 0.8, "attack_cost": 0.02, "block_cost": 0.05, "lasting_cost": 0.1, "discount": 0.95}
    graph = import_graph("mulval", tmp_path, goal_reward=1.0, **asked).graph
    assert {n.quantity for n in assumed_numbers(graph)} <= {"prior"}
    assert {str(n.kind) for n in numbers_by_origin(graph) if n.quantity == "cost"} == {"option"}


def test_no_default_is_explained_where_none_is_in_use(tmp_path: Path) -> None:
    (tmp_path / "VERTICES.CSV").write_text(VERTICES)
    (tmp_path / "ARCS.CSV").write_text(ARCS)
    said = "\n".join(import_graph("mulval", tmp_path, success=0.5, attack_cost=0.1).report.meanings)
    assert "success 0.8" not in said
    assert "attack_cost" not in said


def sketch() -> Draft:
    draft = Draft("sketch")
    for key in ("out", "in", "vault"):
        draft.condition(key, initial=key == "out")
    table = Origin("a table of the format", default=True)
    draft.exploit("enter", needs=["out"], gives="in", success=0.3, origins={"success": table})
    draft.exploit("open", needs=["in"], gives="vault", success=0.4)
    return draft


def test_what_is_asked_for_replaces_every_default_and_nothing_that_the_source_says() -> None:
    assert [e.success for e in sketch().finish().graph.exploits] == [0.3, 0.4]
    graph = sketch().finish(ImportOptions(success=0.9, attack_cost=0.5)).graph
    assert [e.success for e in graph.exploits] == [0.9, 0.4]
    assert [e.attack_cost for e in graph.exploits] == [0.5, 0.5]
    assert {id_: one and str(one[0]) for id_, one in said_of(graph, "success").items()} == {
        "enter": "option",
        "open": "source",
    }


def test_costs_by_default_are_shares_of_the_largest_reward() -> None:
    graph = sketch().finish(ImportOptions(goal_reward=100.0)).graph
    assert {(e.attack_cost, e.block_cost) for e in graph.exploits} == {(2.0, 5.0)}
    assert {e.block_cost for e in sketch().finish(ImportOptions(goal_reward=100.0, block_cost=0.3)).graph.exploits} == {
        0.3
    }


@pytest.mark.parametrize(
    ("options", "costs"),
    [
        ({}, [0.1, 0.05, 0.7, 0.3]),
        ({"block_cost": 0.2}, [0.4, 0.2, 0.7, 0.4]),
        ({"lasting_cost": 0.6}, [0.6, 0.05, 0.7, 0.6]),
        ({"goal_reward": 10.0}, [1.0, 0.5, 0.7, 0.3]),
    ],
)
def test_a_control_lasts_unless_it_is_said_not_to_and_there_is_one_default_cost(
    options: dict[str, float], costs: list[float]
) -> None:
    draft = sketch()
    draft.control("patch", "patch it")
    draft.control("cut", "isolate it for a stage", lasting=False)
    draft.control("priced", "as the source says", cost=0.7)
    draft.control("guessed", "as the format says", cost=0.3, origin=Origin("a table of the format", default=True))
    draft.exploit("again", needs=["out"], gives="vault", controls=["patch", "cut", "priced", "guessed"])
    controls = draft.finish(ImportOptions(goals=("vault",), **options)).graph.controls  # type: ignore[arg-type]
    assert controls is not None
    assert [c.cost for c in controls] == pytest.approx(costs)
    assert [str(c.kind) for c in controls] == ["lasting", "momentary", "lasting", "lasting"]


def test_solve_says_it_in_one_line(imported: Imported, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "graph.yaml"
    imported.graph.save(path)
    assert main(["solve", str(path), "--gap", "50%", "--json"]) == 0
    lines = [line for line in capsys.readouterr().err.splitlines() if "rests on defaults" in line]
    assert len(lines) == 1
    assert "--set" in lines[0]
    assert main(["solve", str(path), "--gap", "50%", "--json", "-q"]) == 0
    assert "rests on defaults" not in capsys.readouterr().err
