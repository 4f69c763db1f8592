"""A policy of a graph with controls, put to use: defended, told, reported, shown on the page, exported, played."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ncirl
from control_graphs import small_shop
from ncirl.attack_graphs.controls import stopped
from ncirl.attack_graphs.names import in_place, members
from ncirl.cli.app import main
from ncirl.defence import DefenceSession
from ncirl.evaluation import best_response_to_defender, simulate
from ncirl.formats.graph_source import extra_of, graph_of
from ncirl.playbook.solution import CertifiedSolution
from ncirl.reports import report_page
from ncirl.web.limits import Limits
from ncirl.web.opening import open_source
from ncirl.web.play import Play, Role
from ncirl.web.playable import PlayablePolicy
from ncirl.web.source import Source
from ncirl.web.view import contest_view, play_view

GRAPH = small_shop()
NEAR = 1e-6


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("shop") / "shop.ncirl"
    ncirl.solve(GRAPH.game(), ncirl.Certified(relative_gap=0.02)).save(path, extra_of(GRAPH))
    return path


@pytest.fixture(scope="module")
def policy(file: Path) -> CertifiedSolution:
    found = ncirl.load_solution(file)
    assert isinstance(found, CertifiedSolution)
    return found


def test_the_policy_holds_and_carries_its_graph(policy: CertifiedSolution) -> None:
    assert ncirl.verify(policy).holds
    assert graph_of(policy) == GRAPH


def test_a_lasting_fix_is_advised_once_and_remembered(policy: CertifiedSolution) -> None:
    session = DefenceSession(policy, rng=1)
    first = session.advice()
    assert first.in_place == ()
    assert first.blocked["patch"] > 0.9
    assert first.labels["patch"] == "<b>patch</b> the web shop"
    session.observe(attacker=["phish"], defender=["patch"], new=["mail"])
    then = session.advice()
    assert (then.enabled, then.in_place) == (("mail",), ("patch",))
    assert not any("patch" in members(name) for name in session.stage.defender)
    assert not any("sqli" in members(name) for name in session.stage.attacker)
    session.undo()
    assert session.advice() == first


def test_a_session_is_resumed_with_what_is_in_place(policy: CertifiedSolution, tmp_path: Path) -> None:
    session = DefenceSession(policy, rng=1)
    session.observe(attacker="nothing", defender=["patch", "cut off"])
    session.save(tmp_path / "kept.json")
    again = DefenceSession.load(tmp_path / "kept.json", policy)
    assert again.advice() == session.advice()
    assert again.advice().in_place == ("patch",)


def test_defend_says_apply(file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    lines = iter(["patch", "none", "cut off"])
    monkeypatch.setattr("builtins.input", lambda _: next(lines, None) or (_ for _ in ()).throw(EOFError))
    assert not main(["defend", str(file)])
    said = capsys.readouterr().out
    assert "Apply now: " in said
    assert "Stage 1: you applied patch; the attacker attempted nothing; newly enabled: nothing." in said
    assert "In place, and staying so: patch." in said


def test_the_report_tells_controls_and_what_they_stop(policy: CertifiedSolution) -> None:
    page, certificate = report_page(policy, GRAPH, quick=True)
    assert certificate.holds
    for said in ("apply with chance", "stays in place", "sqli, reuse, dump", "T1566", "A lasting control is paid for"):
        assert said in page
    assert "&lt;b&gt;patch&lt;/b&gt; the web shop" in page


def test_the_page_plays_with_controls(file: Path) -> None:
    opened = open_source(Source("shop.ncirl", file.read_bytes()), Limits())
    told = contest_view(opened)["graph"]
    assert [control["id"] for control in told["controls"]] == ["patch", "mfa", "cut off"]
    play = Play(PlayablePolicy(opened), Role.DEFENDER, "thief", 1)
    play.step(("patch",))
    now = play_view(play)["now"]
    assert now["in_place"] == ["patch"]
    assert "patch" not in now["usable"]
    assert now["block"]["sqli"] == 1.0
    chances = dict(zip(play.position.defender.names, play.defences.tolist(), strict=True))
    for exploit in play.position.attacker.exploits:
        held = sum(p for name, p in chances.items() if exploit in stopped(GRAPH.defences, members(name)))
        assert now["block"][exploit] == pytest.approx(held, abs=NEAR)


def test_simulation_and_best_response_play_it(policy: CertifiedSolution) -> None:
    attacker, defender = policy.attacker_strategy(), policy.defender_strategy()
    means = simulate(policy.game, attacker, defender, episodes=400, rng=1, confidence=1 - 1e-6)
    low, high = means.interval
    assert low <= policy.upper
    assert high >= policy.lower
    assert high - low < 0.6
    answer = best_response_to_defender(policy.game, defender)
    assert answer.value == pytest.approx(policy.upper, abs=NEAR)


def test_names_of_states_say_what_is_in_place(policy: CertifiedSolution) -> None:
    names = [policy.game.describe(state) for state in policy.game.explore()]
    placed = {in_place(name) for name in names}
    assert {(), ("patch",), ("mfa",), ("patch", "mfa")} <= placed
    assert len(set(names)) == len(names)
    np.testing.assert_equal(len(names), len(GRAPH.game().explore()))
