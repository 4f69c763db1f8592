"""Beginning in the middle of an incident: on the command line, in a session, in a report."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import ncirl
from control_graphs import small_shop
from defence.policies import match, office, patrol
from ncirl.cli.app import main
from ncirl.defence import DefenceSession
from ncirl.formats.graph_source import extra_of
from ncirl.playbook.solution import CertifiedSolution

GRAPH = small_shop()
ACCURACY = 1e-6
CLOSE = ncirl.Certified(gap=0.0, relative_gap=0.02)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("shop") / "shop.ncirl"
    ncirl.solve(GRAPH.game(), CLOSE).save(path, extra_of(GRAPH))
    return path


@pytest.fixture(scope="module")
def policy(file: Path) -> CertifiedSolution:
    found = ncirl.load_solution(file)
    assert isinstance(found, CertifiedSolution)
    return found


def test_what_is_held_is_paid_and_leads_on() -> None:
    held = GRAPH.holding("mail")
    assert [c.id for c in held.conditions if c.initial] == ["internet", "mail"]
    assert held.name == "shop, holding mail"
    game = held.game()
    assert game.describe(game.starts[0].state) == "start"
    assert set(game.stage(game.starts[0].state).attacker) == {"nothing", "sqli", "reuse", "sqli + reuse"}
    assert GRAPH.holding() == GRAPH
    with pytest.raises(ncirl.InputError, match="holding: unknown condition 'moon'"):
        GRAPH.holding("moon")


def test_a_session_begun_midway_promises_what_holds_from_there(policy: CertifiedSolution) -> None:
    session = DefenceSession(policy, rng=1, holding=["mail", "patch"])
    advice = session.advice()
    assert (advice.enabled, advice.in_place, advice.stage) == (("mail",), ("patch",), 1)
    assert advice.promised is not None
    assert advice.promised_at_start == advice.promised
    assert any("Begun in the middle" in note for note in advice.notes)
    assert list(advice.prior.values()) == [0.5, 0.5]
    value = ncirl.solve(GRAPH.holding("mail", "patch").game(), CLOSE)
    assert sum(0.5 * most for most in advice.promised.values()) >= value.lower - ACCURACY


def test_it_goes_on_and_is_saved_and_resumed(policy: CertifiedSolution, tmp_path: Path) -> None:
    session = DefenceSession(policy, rng=1, holding=["patch", "mail"])
    session.observe(attacker=["reuse"], defender="nothing", new=["web"])
    assert (session.advice().enabled, session.advice().in_place) == (("mail", "web"), ("patch",))
    session.save(tmp_path / "kept.json")
    again = DefenceSession.load(tmp_path / "kept.json", policy)
    assert (again.start, again.advice()) == ("mail | in place: patch", session.advice())
    again.undo()
    assert again.advice() == DefenceSession(policy, rng=1, holding=["mail", "patch"]).advice()


def test_what_the_policy_never_comes_to_is_refused_with_what_to_do(policy: CertifiedSolution) -> None:
    with pytest.raises(ncirl.InputError, match=r"this policy never comes to 'mail'; solve from there"):
        DefenceSession(policy, holding=["mail"])


def test_controls_in_place_stop_for_good_at_no_cost() -> None:
    held = GRAPH.holding("mail", "patch")
    whole, part = GRAPH.game(), held.game()
    there = next(state for state in whole.explore() if whole.describe(state) == "mail | in place: patch")
    mine, other = part.stage(part.starts[0].state), whole.stage(there)
    assert (mine.attacker, mine.defender) == (other.attacker, other.defender)
    assert (mine.reward == other.reward).all()


@pytest.mark.parametrize(
    ("solution", "holding", "said"),
    [
        (office, ["moon"], "holding: there is no condition 'moon' that can come to hold"),
        (
            office,
            ["backups"],
            "holding: in this graph backups can only come by way of domain-controller, file-server, mail, "
            "workstation; name domain-controller, file-server, mail, workstation, backups if all of these hold, or the "
            "graph lacks a way: correct it and solve anew",
        ),
        (match, ["mail"], "holding: this is no attack graph; give the state"),
    ],
)
def test_what_cannot_be_held_is_one_sentence(solution: object, holding: list[str], said: str) -> None:
    assert callable(solution)
    with pytest.raises(ncirl.InputError) as raised:
        DefenceSession(solution(), holding=holding)
    assert raised.value.faults == (said,)


def test_where_stages_count_play_cannot_begin_just_anywhere() -> None:
    game = patrol().game
    elsewhere = [state for state in game.explore() if state not in [start.state for start in game.starts]]
    for state in elsewhere[:1]:
        with pytest.raises(ncirl.InputError, match="solve from there"):
            DefenceSession(patrol(), state=state)


def test_the_commands_begin_midway(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph = tmp_path / "shop.yaml"
    GRAPH.save(graph)
    made = tmp_path / "held.ncirl"
    assert main(["solve", str(graph), "--gap", "2%", "--holding", "mail", "web", "--json", "-o", str(made)]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["game"] == "shop, holding mail + web"
    assert main(["report", str(file), "--holding", "mail", "web", "--quick", "-o", str(tmp_path / "held.html")]) == 0
    assert "shop, holding mail + web" in (tmp_path / "held.html").read_text()
    assert main(["report", str(made), "--quick", "-o", str(tmp_path / "made.html")]) == 0
    capsys.readouterr()
    assert main(["solve", str(graph), "--holding", "moon"]) == 2
    assert "holding: unknown condition 'moon'" in capsys.readouterr().err
    assert main(["solve", "builtin:patrol", "--holding", "moon"]) == 2
    assert "--holding: is no attack graph" in capsys.readouterr().err


def test_defend_begins_midway(file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("builtins.input", lambda _: (_ for _ in ()).throw(EOFError))
    assert main(["defend", str(file), "--holding", "mail", "patch"]) == 0
    said = capsys.readouterr().out
    assert "Enabled so far: mail." in said
    assert "Begun in the middle" in said
