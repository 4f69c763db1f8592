"""What to do if steps may go unseen: the bound against exact best responses, and where people read it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import ncirl
from guarded_instances import random_graph, with_controls
from ncirl.attack_graphs.graph import AttackGraph, Condition, Control, Exploit, Intent
from ncirl.attack_graphs.names import members
from ncirl.attack_graphs.reductions import only_goals
from ncirl.cli import main
from ncirl.defence import session_class
from ncirl.defence.why_nothing import WhyNothing
from ncirl.defence.without_sight import without_sight
from ncirl.errors import SizeError
from ncirl.games.office import office_graph
from ncirl.strategies.strategy import StationaryDefender

ACCURACY = 1e-7
SEEDS = 80


def shop(unknown_prior: bool = False) -> AttackGraph:
    """Return two ways to two goals, one control at the door and one before the data."""
    return AttackGraph(
        conditions=(Condition("out", initial=True), Condition("web"), Condition("data"), Condition("mail")),
        exploits=(
            Exploit("phish", ("out",), "mail", 0.8),
            Exploit("scan", ("out",), "web", 0.8),
            Exploit("sqli", ("web",), "data", 0.8),
        ),
        intents=(Intent("theft", 0.75, {"data": 1.0}), Intent("spam", 0.25, {"mail": 0.4})),
        discount=0.9,
        controls=(
            Control("patch", ("sqli",), 0.1, "lasting", label="patch the shop"),
            Control("train", ("phish",), 0.3, "lasting"),
            Control("isolate", ("scan",), 0.01, "momentary"),
        ),
        unknown_prior=unknown_prior,
    )


def applied_at_once(graph: AttackGraph, names: tuple[str, ...]) -> StationaryDefender:
    """Return the defender that applies controls as soon as it can, and does nothing else, whatever it sees."""
    game = graph.game().timed()
    mixes = {}
    for state in game.explore():
        actions = game.stage(state).defender
        wanted = [k for k, action in enumerate(actions) if set(members(action)) <= set(names)]
        mixes[state] = (
            np.eye(len(actions))[max(wanted, key=lambda k: len(members(actions[k])))] if actions else np.zeros(0)
        )
    return StationaryDefender(mixes)


def check(seed: int) -> bool:
    """Check a random graph; whether anything was advised."""
    rng = np.random.default_rng(seed)
    graph = with_controls(random_graph(rng), rng)
    try:
        sizes = [len(graph.game().stage(state).attacker) for state in graph.game().explore(200)]
    except SizeError:
        return False
    found = without_sight(graph, seconds=100.0)
    if found is None or max(sizes) > 64 or graph.game().is_terminal(graph.game().starts[0].state):
        return False
    answer = ncirl.best_response_to_defender(graph.game(), applied_at_once(graph, found.controls))
    assert answer.value <= found.concedes + answer.error + ACCURACY, seed
    assert graph.defender_budget is None or len(found.controls) <= graph.defender_budget
    kinds = {control.id: control.kind for control in graph.defences}
    assert {str(kinds[name]) for name in found.controls} == {"lasting"}
    return True


def test_no_attacker_gets_more_from_who_applies_it_and_sees_nothing() -> None:
    assert sum(check(seed) for seed in range(SEEDS)) > SEEDS / 8


def test_what_is_worth_its_cost_is_applied_and_what_is_not_is_left() -> None:
    found = without_sight(shop())
    assert found is not None
    assert found.controls == ("patch",)
    assert found.cost == 0.1
    assert found.concedes == pytest.approx(0.1 + 0.25 * 0.4)
    assert str(found) == (
        "If a step may go unseen, do not wait: apply now, once: patch the shop. That costs 0.1, and the intruder gets "
        "at most 0.200, the cost included, whatever you see or miss afterwards."
    )


def test_what_is_applied_in_any_case_is_not_named_twice() -> None:
    found = without_sight(shop())
    assert found is not None
    assert found.said(["patch", "train"]).startswith("This needs nobody to watch")
    assert found.said(["train"]) == str(found)


def test_where_nobody_knows_the_prior_the_worst_intent_counts() -> None:
    found = without_sight(shop(unknown_prior=True))
    assert found is not None
    assert found.concedes == pytest.approx(0.1 + 0.4)


def test_a_bound_is_about_the_graph_that_was_given() -> None:
    cut, _ = only_goals(shop(), ["mail"])
    assert len(cut.intents) < len(shop().intents)
    assert without_sight(cut) == without_sight(shop())


def test_where_never_doing_anything_concedes_no_more_nothing_is_said() -> None:
    idle = WhyNothing(True, 0.0, 0.15, saves=0.15)
    assert without_sight(shop(), idle) is None
    assert without_sight(shop(), replace(idle, upper=0.3)) is not None
    assert without_sight(shop(), replace(idle, saves=None)) is not None  # it acts later, and needs sight for that


def test_without_lasting_controls_nothing_is_said() -> None:
    assert without_sight(office_graph()) is None


@pytest.mark.parametrize("solver", ["certified", "guarded"])
def test_solve_defend_and_report_say_it(solver: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph, policy, page = tmp_path / "g.yaml", tmp_path / "p.ncirl", tmp_path / "r.html"
    shop().save(graph)
    words = ["solve", str(graph), "--solver", solver, "-q", "--gap", "5%", "-o", str(policy)]
    assert main(words) == 0
    assert "If a step may go unseen" in capsys.readouterr().out
    assert main([*words, "--json"]) == 0
    unseen = json.loads(capsys.readouterr().out)["unseen"]
    assert (unseen["controls"], unseen["cost"]) == (["patch"], 0.1)
    assert unseen["says"] == str(without_sight(shop()))
    assert main(["report", str(policy), "-o", str(page), "--quick"]) == 0
    assert "If a step may go unseen" in page.read_text()
    solution = ncirl.load_solution(policy)
    notes = session_class(solution)(solution).advice().notes
    assert [note for note in notes if note.startswith("If a step may go unseen")] == [unseen["says"]]
