"""On what an answer rests: the same sentences wherever it is said, taken from the graph and the policy."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path

import pytest

import ncirl
from ncirl.attack_graphs.found import Findings
from ncirl.attack_graphs.graph import Alert, AttackGraph, Control
from ncirl.attack_graphs.origins import NumberOrigin
from ncirl.attack_graphs.reductions import keep_ways
from ncirl.cli.app import main
from ncirl.defence import DefenceSession, Service
from ncirl.defence.assumptions import assumptions, unit_of
from ncirl.defence.first_moves import blocked_first, now_data
from ncirl.formats.graph_source import extra_of, graph_of
from ncirl.games.office import office_graph
from ncirl.reports import guarded_overview_page, guarded_report_page, overview_page, report_page
from ncirl.reports.page import text

SIGHT = "Perfect sight"


def controlled() -> AttackGraph:
    graph = office_graph()
    controls = tuple(
        Control(f"stop {k}", tuple(e.id for e in graph.exploits[k : k + 2]), 0.05, label=f"what stops {k}")
        for k in range(0, len(graph.exploits), 2)
    )
    return replace(graph, controls=controls)


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("assumed") / "office.ncirl"
    graph = controlled()
    ncirl.solve(graph.game(), ncirl.Certified(relative_gap=0.1)).save(path, extra_of(graph))
    return path


@pytest.fixture(scope="module")
def whole() -> ncirl.GuardedSolution:
    return ncirl.solve(office_graph(), ncirl.Guarded(relative_gap=0.9))


def test_what_is_seen_is_said_first() -> None:
    graph = office_graph()
    assert assumptions(graph)[0].startswith("Perfect sight: the defender sees every attempt and result")
    blind = replace(graph, observes="outcomes")
    assert assumptions(blind)[0].startswith("Perfect sight of results")
    assert "alert" not in assumptions(blind)[0].lower()
    rung = replace(blind, exploits=tuple(replace(e, alert=Alert(0.5, 0.1)) for e in graph.exploits))
    assert "Alerts of attempts may be missed or false" in assumptions(rung)[0]
    patrol = ncirl.games.patrol(horizon=2)
    assert "every action of the attacker" in assumptions(patrol)[0]
    assert len(assumptions(graph)) <= 4


def test_the_attacker_is_said_to_know_the_defence() -> None:
    for contest in (office_graph(), ncirl.games.patrol(horizon=2)):
        assert any("knows this defence" in sentence for sentence in assumptions(contest))


def test_numbers_that_nobody_measured_are_said() -> None:
    graph = office_graph()
    assert any("taken as given" in sentence for sentence in assumptions(graph))
    some = tuple(e.id for e in graph.exploits[:4])
    origins = (NumberOrigin("success", "default", "nobody has measured it", some), NumberOrigin("discount", "default"))
    said = assumptions(replace(graph, origins=origins))
    assert "Defaults that nobody measured: success 0.8 to 0.9 of 4 exploits (44%); discount 0.9." in said


def test_what_was_cut_or_conceded_is_said(whole: ncirl.GuardedSolution) -> None:
    smaller, _ = keep_ways(office_graph(), 1)
    assert "cut from 'office'" in assumptions(smaller)[-1]
    assert "only the lower bound holds" in assumptions(smaller)[-1]
    just_solved = ncirl.solve(smaller.game(), ncirl.Certified(relative_gap=0.5))
    assert "cut from 'office'" in assumptions(smaller.game(), smaller, just_solved)[-1]
    count = len(whole.graph.exploits)
    free = count - len(whole.guards)
    assert free > 0
    said = assumptions(whole.graph, policy=whole)[-1]
    assert f"No control is kept ready against {free} of {count} usable steps; the upper bound allows the" in said
    assert "succeeded" not in said


def test_the_unit_names_the_dearest_goal() -> None:
    graph = office_graph()
    assert "1.5 = 'the customer database is open' at once (6 other goals: 0.5 to 1)" in unit_of(graph)
    alike = tuple(replace(i, rewards=dict.fromkeys(i.rewards, 2.0)) for i in graph.intents)
    assert "2 = any one goal reached at once" in unit_of(replace(graph, intents=alike))
    one = tuple(replace(i, rewards={"mail": 3.0}) for i in graph.intents)
    assert "; 3 = 'the intruder reads the company's mail' at once; " in unit_of(replace(graph, intents=one))
    assert unit_of(None) == "reward, as the game states it"


def test_what_to_do_now_names_controls_with_labels(policy: Path) -> None:
    found = ncirl.load_solution(policy)
    graph = graph_of(found)
    assert graph is not None
    assert graph.controls
    labels = {control.id: control.label for control in graph.controls}
    now = now_data(found, graph)
    assert now
    assert all(labels[option["id"]] == option["label"] and 0 < option["chance"] <= 1 for option in now)


def test_a_picture_shows_chances_of_exploits_not_of_controls(policy: Path, tmp_path: Path) -> None:
    found = ncirl.load_solution(policy)
    graph = graph_of(found)
    assert graph is not None
    blocked = blocked_first(found, graph)
    assert blocked
    assert blocked.keys() <= {e.id for e in graph.exploits}
    shown = max(blocked.values())
    assert 0.005 < shown < 0.995
    picture = tmp_path / "x.svg"
    assert main(["show", str(policy), "-o", str(picture)]) == 0
    assert f"{shown:.0%}" in picture.read_text()


def test_every_screen_and_page_says_them(
    monkeypatch: pytest.MonkeyPatch, policy: Path, whole: ncirl.GuardedSolution, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    for command in ("show", "verify", "defend"):
        assert main([command, str(policy)]) == 0
        said = capsys.readouterr().out
        assert SIGHT in said
        assert "expected loss; 1.5 = " in said
    found = ncirl.load_solution(policy)
    graph = graph_of(found)
    pages = [
        report_page(found, graph, quick=True)[0],
        overview_page(found.game, graph, found),
        guarded_report_page(whole, quick=True)[0],
        guarded_overview_page(whole),
    ]
    for page in pages:
        first = page[: page.index("<section>")]
        assert SIGHT in first
        assert text("1.5 = 'the customer database is open' at once") in first


@pytest.mark.parametrize("solver", ["certified", "guarded"])
def test_solve_says_what_a_program_needs(solver: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph, path = office_graph(), tmp_path / "small.json"
    one = tuple(replace(i, rewards={"mail": 3.0}) for i in graph.intents)
    replace(graph, intents=one).save(path)
    assert main(["solve", str(path), "--solver", solver, "--gap", "10%", "--json", "-q"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["format"] == "ncirl-solve/1"
    for key in ("lower", "upper", "gap", "unit", "status", "seconds", "now", "assumptions"):
        assert key in told, key
    assert told["now"]
    assert all(option.keys() == {"id", "label", "chance"} for option in told["now"])
    assert told["assumptions"][0].startswith(SIGHT)


def test_advice_for_programs_says_them(policy: Path) -> None:
    found = ncirl.load_solution(policy)
    advice = Service(DefenceSession(found, rng=1)).answer({"do": "advise"})["advice"]
    assert advice["assumptions"][0].startswith(SIGHT)
    assert advice["unit"].startswith("expected loss; 1.5 = ")


def test_no_bound_below_what_can_be_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph = office_graph()
    hopeless = replace(graph, exploits=tuple(replace(e, success=1e-110) for e in graph.exploits))
    path = tmp_path / "hopeless.json"
    hopeless.save(path)
    assert main(["solve", str(path), "--json", "-q", "--gap", "0.1"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["lower"] <= 0.0
    assert told["upper"] == 0.0 or told["upper"] >= 1e-9 * hopeless.magnitude
    assert all(most == 0.0 or most >= 1e-9 * hopeless.magnitude for most in told["per_intent"].values())
    assert main(["solve", str(path), "-q", "--gap", "0.1"]) == 0
    assert "e-1" not in capsys.readouterr().out.replace("e-10", "")


def test_worths_of_controls_are_told_so_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph = controlled()
    hopeless = replace(graph, exploits=tuple(replace(e, success=1e-110) for e in graph.exploits))
    path = tmp_path / "hopeless.json"
    hopeless.save(path)
    assert main(["harden", str(path), "--json", "-q", "--time-limit", "60"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["unit"].startswith("expected loss")
    assert told["controls"]
    numbers = [told["upper"], *(control[side] for control in told["controls"] for side in ("lower", "upper"))]
    assert all(x == 0.0 or abs(x) >= 1e-9 for x in numbers)


@pytest.mark.parametrize("solver", [ncirl.Certified(relative_gap=0.1), ncirl.Guarded(relative_gap=0.1)])
def test_a_value_of_nothing_that_a_default_makes_is_no_sign_of_safety(solver: ncirl.Certified | ncirl.Guarded) -> None:
    dear = replace(
        office_graph(), exploits=tuple(replace(e, attack_cost=9.0, block_cost=0.05) for e in office_graph().exploits)
    )
    told = (
        "By these numbers an intruder would not even begin: a try costs it 9, which is a default. That is no sign that "
        "the network is safe."
    )
    unmeasured = replace(dear, origins=(NumberOrigin("attack_cost", "default"),))
    measured = replace(dear, origins=(NumberOrigin("attack_cost", "source"),))
    paying = replace(office_graph(), origins=(NumberOrigin("attack_cost", "default"),))
    for graph, wanted in ((unmeasured, True), (measured, False), (paying, False)):
        solved = ncirl.solve(graph if isinstance(solver, ncirl.Guarded) else graph.game(), solver)
        assert (told in assumptions(graph, policy=solved)) is wanted
    assert told not in assumptions(unmeasured)


def test_only_goals_count_is_said_where_they_are_few() -> None:
    graph = office_graph()
    assert not any(sentence.startswith("Only") for sentence in assumptions(graph))
    one = tuple(replace(i, rewards={"mail": 3.0}) for i in graph.intents)
    said = "Only 'the intruder reads the company's mail' counts as a loss: what the intruder takes on the way counts "
    assert f"{said}nothing." in assumptions(replace(graph, intents=one))
    four = [condition.id for condition in graph.conditions if not condition.initial][:4]
    many = replace(graph, intents=tuple(replace(i, rewards=dict.fromkeys(four, 1.0)) for i in graph.intents))
    assert not any(sentence.startswith("Only") for sentence in assumptions(many))
    guessed = replace(many, found=Findings(guessed=("The goals are guesses.",)))
    assert any(sentence.startswith("Only these 4 goals count as a loss") for sentence in assumptions(guessed))
