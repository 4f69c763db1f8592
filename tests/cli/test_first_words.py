"""What to do now is said by `solve` and `defend`, for every kind of policy, with labels and chances."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import ncirl
from ncirl.attack_graphs.graph import AttackGraph, Condition, Control, Exploit, Intent
from ncirl.cli import main
from ncirl.cli.first import first_data
from ncirl.defence import DefenceSession, GuardedSession
from ncirl.defence.hurried import RUSHED
from ncirl.reports import report_page
from ncirl.reports.guarded_report import guarded_report_page
from ncirl.solution import Status


def shed(cost: float = 0.05) -> AttackGraph:
    """A door that one lasting control, which has a label, shuts for good."""
    return AttackGraph(
        (Condition("outside", True), Condition("prize")),
        (Exploit("door", ("outside",), "prize", 0.9),),
        (Intent("thief", 1.0, {"prize": 1.0}),),
        discount=0.9,
        controls=(Control("c1", ("door",), cost, "lasting", label="bolt the door"),),
    )


@pytest.mark.parametrize("solver", ["certified", "guarded"])
def test_solve_says_what_to_do_now(solver: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "shed.json"
    shed().save(path)
    asked = ["solve", str(path), "--solver", solver, "--gap", "1%", "-q"]
    assert main(asked) == 0
    said = capsys.readouterr().out
    assert main([*asked, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    (option,) = data["now"]
    first = "Apply now, once: bolt the door" if "opening" in data else f"Do now: bolt the door ({option['chance']:.1%})"
    assert first in said
    if option["chance"] < 0.9995:
        assert f"nothing ({1 - option['chance']:.1%})" in said
    assert said.count("Do now") + said.count("Apply now, once") == 1
    assert all(sentence in " ".join(said.split()) for sentence in data["do_now"])
    assert RUSHED not in said


def test_where_nothing_is_to_be_done_that_is_all_that_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "shed.json"
    shed(5.0).save(path)
    assert main(["solve", str(path), "--gap", "1%", "-q"]) == 0
    said = capsys.readouterr().out
    assert "Nothing yet" in said
    assert "Do now" not in said


def test_a_game_without_a_graph_names_actions() -> None:
    found = ncirl.solve(ncirl.games.patrol(horizon=2), ncirl.Certified(relative_gap=0.1))
    said = first_data(found, None)["do_now"]
    assert len(said) == min(len(found.game.starts), 5) + (len(found.game.starts) > 5)
    assert len(found.game.starts) > 1
    assert said[0].startswith(f"Do now at {found.game.describe(found.game.starts[0].state)}: ")
    assert "%)" in said[0]


def test_an_answer_of_a_search_that_was_cut_short_says_so() -> None:
    graph = shed()
    listed = ncirl.solve(graph.game(), ncirl.Certified(relative_gap=0.01))
    whole = ncirl.Guarded(relative_gap=0.01).run(graph)
    for found, session in ((listed, DefenceSession), (whole, GuardedSession)):
        assert first_data(found, graph)["now"]
        assert RUSHED not in first_data(found, graph)["do_now"]
        assert not any(RUSHED in note for note in session(found, rng=1).advice().notes)
        cut = replace(found, status=Status.TIME_LIMIT)
        assert RUSHED in first_data(cut, graph)["do_now"]
        (note,) = [note for note in session(cut, rng=1).advice().notes if RUSHED in note]
        assert note.startswith("The bounds are still ")
    assert RUSHED not in report_page(listed, graph, quick=True)[0]
    assert RUSHED in report_page(replace(listed, status=Status.TIME_LIMIT), graph, quick=True)[0]
    assert RUSHED in guarded_report_page(replace(whole, status=Status.MEMORY_LIMIT), quick=True)[0]


def test_people_read_labels_and_not_ids(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph = replace(shed(), exploits=(replace(shed().exploits[0], label="kick the door in"),))
    found = ncirl.Guarded(relative_gap=0.01).run(graph)
    says = GuardedSession(found, rng=1).reasons().says
    assert any("bolt the door is applied" in said and "kick the door in" in said for said in says)
    assert not any("c1" in said for said in says)
    path = tmp_path / "shed.json"
    graph.save(path)
    assert main(["sensitivity", str(path), "--only", "success", "-q"]) == 0
    told = capsys.readouterr().out
    assert "bolt the door" in told
    assert "door.success 0.9" in told
