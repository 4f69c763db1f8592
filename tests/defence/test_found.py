"""What holds without anybody knowing how: told to either kind of session, and what is promised from there."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from policies import alarmed, alarmed_graph, match, office

import ncirl
from guarded_instances import random_instance
from ncirl.attack_graphs.graph import AttackGraph, Condition, Control, Exploit, Intent
from ncirl.attack_graphs.guarded.defender import GuardedDefender
from ncirl.attack_graphs.guarded.guarded import Guarded
from ncirl.attack_graphs.guarded.seen import Words
from ncirl.attack_graphs.guarded.solution import GuardedSolution
from ncirl.attack_graphs.names import members
from ncirl.cli.defend import Dialogue
from ncirl.defence import DefenceSession, GuardedSession, Service, Session
from ncirl.defence.schema import RequestModel, ResponseModel, SessionModel
from ncirl.errors import InputError
from ncirl.formats.graph_source import extra_of
from ncirl.games.office import office_graph
from ncirl.solution import Stats, Status

ROUNDING = 1e-9
OFF = 1e-6  # of an exact best response
SEEDS = range(9, 24)


@cache
def guarded() -> GuardedSolution:
    return Guarded(relative_gap=0.2, time_limit=10).run(office_graph())


@cache
def guarded_alarmed() -> GuardedSolution:
    return Guarded(relative_gap=0.2, time_limit=10).run(alarmed_graph())


SESSIONS = {
    "listed": lambda: DefenceSession(office(), rng=1),
    "guarded": lambda: GuardedSession(guarded(), rng=1),
}
HIDDEN = {
    "listed": lambda: DefenceSession(alarmed(), rng=1),
    "guarded": lambda: GuardedSession(guarded_alarmed(), rng=1),
}


def kept_and_undone(session: Session, before: Any) -> None:
    """A session that was told so is kept, taken up again and taken back like any other."""
    data = json.loads(json.dumps(session.to_dict()))
    SessionModel.model_validate(data)
    again = type(session).from_dict(data, session.solution)
    assert again.advice() == session.advice()
    for each in (session, again):
        each.undo()
        assert each.advice() == before


@pytest.mark.parametrize("kind", SESSIONS)
def test_what_holds_moves_the_session_there_and_says_what_is_conceded(kind: str) -> None:
    session = SESSIONS[kind]()
    before = session.advice()
    session.holds(["mail"], defender="nothing")
    advice = session.advice()
    assert (advice.state, advice.stage, advice.enabled) == ("mail", 2, ("mail",))
    assert advice.promised is not None
    assert any(
        "Told what holds, not how (stage 1)" in note and "no longer from the start" in note for note in advice.notes
    )
    assert session.steps[-1].attacker is None
    kept_and_undone(session, before)


@pytest.mark.parametrize("kind", SESSIONS)
def test_the_belief_follows_what_one_stage_of_the_certified_attacker_brings_about(kind: str) -> None:
    told, found = SESSIONS[kind](), SESSIONS[kind]()
    found.holds("mail", defender="nothing")
    attempts = ["phish a password", "phish a password + exploit web app"]  # every way to mail
    evidence = np.zeros(len(found.prior))
    for attempt in attempts:
        told.observe(attacker=attempt, defender="nothing", new=["mail"])
        evidence = evidence + told.steps[-1].evidence * _chance(attempt)
        told.undo()
    np.testing.assert_allclose(found.steps[-1].evidence, evidence, atol=1e-6)
    posterior = found.prior * evidence / (found.prior @ evidence)
    assert list(found.advice().posterior.values()) == pytest.approx(posterior.tolist(), abs=1e-6)


def _chance(attempt: str) -> float:
    """Return how likely an attempt enables mail and nothing else."""
    success = {e.id: e.success for e in office_graph().exploits}
    left = 1 - success["exploit web app"] if "web" in attempt else 1.0
    return success["phish a password"] * left


@pytest.mark.parametrize("kind", SESSIONS)
def test_where_no_one_stage_explains_it_the_belief_stays(kind: str) -> None:
    session = SESSIONS[kind]()
    before = session.advice()
    session.holds(["mail", "workstation"], defender="nothing")
    advice = session.advice()
    assert advice.enabled == ("mail", "workstation")
    assert advice.posterior == pytest.approx(before.posterior)
    assert any("does not bring that about in one stage (stage 1): the belief stays" in note for note in advice.notes)
    kept_and_undone(session, before)


@pytest.mark.parametrize("kind", HIDDEN)
def test_alerts_that_nobody_heard_are_no_evidence(kind: str) -> None:
    session = HIDDEN[kind]()
    before = session.advice()
    session.holds(["files"], defender="nothing")
    assert session.advice().posterior["vandal"] >= session.advice().prior["vandal"]
    session.holds(["root"])
    assert session.advice().enabled == ("files", "root")
    session.undo()
    kept_and_undone(session, before)


@pytest.mark.parametrize("kind", SESSIONS)
@pytest.mark.parametrize(
    ("conditions", "said"),
    [
        (
            ["backups"],
            "graph backups can only come by way of .*domain-controller.*; say `holds .*, backups` if ",
        ),
        (["x"], "holds: there is no 'x' here"),
        (["mail", "maiil"], "did you mean"),
        ([], "name a condition at least"),
    ],
)
def test_what_cannot_hold_is_refused_and_changes_nothing(kind: str, conditions: list[str], said: str) -> None:
    session = SESSIONS[kind]()
    before, kept = session.advice(), session.to_dict()
    with pytest.raises(InputError, match=said):
        session.holds(conditions)
    assert (session.advice(), session.to_dict()) == (before, kept)
    session.holds("mail")
    with pytest.raises(InputError, match="'mail' holds already"):
        session.holds("mail")


def test_a_game_that_is_no_graph_has_no_conditions() -> None:
    with pytest.raises(InputError, match="no attack graph"):
        DefenceSession(match(), rng=1).holds("lost")


def test_a_kept_stage_that_cannot_be_is_refused() -> None:
    session = SESSIONS["listed"]()
    session.holds("mail", defender="nothing")
    data = session.to_dict()
    for lie, said in (({"state": "backups"}, "can only come by way of"), ({"found": "yes"}, "stages must be a list")):
        forged = data | {"stages": [data["stages"][0] | lie]}
        with pytest.raises(InputError, match=said):
            DefenceSession.from_dict(forged, office())


def doors(lock: float = 0.1, **changes: Any) -> AttackGraph:
    """Return a graph whose one way in a lasting control stops."""
    return AttackGraph(
        conditions=(Condition("out", initial=True), Condition("in"), Condition("gold"), Condition("roof")),
        exploits=(
            Exploit("break in", ("out",), "in", 0.5),
            Exploit("climb", ("out",), "roof", 0.5),
            Exploit("grab", ("in",), "gold", 0.5, 0.0, 0.1),
        ),
        intents=(Intent("thief", 1.0, {"gold": 1.0, "roof": 0.1}),),
        controls=(Control("lock", ("break in",), lock, "lasting"), Control("watch", ("grab",), 0.1)),
        discount=0.9,
        name="doors",
        **changes,
    )


def test_what_a_control_in_place_stops_is_the_graphs_mistake() -> None:
    session = GuardedSession(Guarded(relative_gap=0.3, time_limit=5).run(doors()), rng=1)
    session.observe(attacker="nothing", defender="lock", new=[])
    with pytest.raises(InputError, match="'in' cannot hold: controls in place stop whatever leads to it"):
        session.holds("in")
    listed = DefenceSession(ncirl.solve(doors().game(), ncirl.Certified(relative_gap=0.05)), rng=1)
    listed.observe(attacker="nothing", defender="lock", state="start | in place: lock")
    with pytest.raises(InputError, match="cannot hold"):
        listed.holds("in")


def test_where_stages_are_counted_one_must_explain_it() -> None:
    session = GuardedSession(Guarded(relative_gap=0.3, time_limit=5).run(doors(horizon=4)), rng=1)
    with pytest.raises(InputError, match=r"no one stage leads to gold .* counts stages"):
        session.holds(["in", "gold"], defender="nothing")
    assert not session.steps
    session.holds("in", defender="nothing")
    listed = DefenceSession(ncirl.solve(doors(5.0, horizon=4).game(), ncirl.Certified(relative_gap=0.05)), rng=1)
    listed.holds("in", defender="nothing")
    assert (session.advice().stage, listed.advice().stage) == (2, 2)
    with pytest.raises(InputError, match=r"never comes to|cannot hold"):
        DefenceSession(listed.solution, rng=1).holds(["in", "gold"], defender="nothing")


def promise_from_there_holds(seed: int, *, controlled: bool) -> int:
    """Hold what is promised after conditions were found to hold to an exact best response from there."""
    instance = random_instance(seed, controlled=controlled)
    if instance is None or instance.graph.horizon is not None:
        return 0
    words, solution = Words(instance.graph), GuardedSolution(instance.proof, Status.FINISHED, Stats(), None, 1.0, "")
    start, checked = words.game.starts[0], 0
    for state in words.game.explore():
        held = members(words.game.describe(state))
        session = GuardedSession(solution, rng=seed)
        if not held or session.finished:
            continue
        try:
            session.holds(list(held))
        except InputError:  # what was drawn may last, and stop what leads there
            continue
        promise = session._defender.ahead
        if promise is None:
            continue
        game = words.game.like(starts=[replace(start, state=session._whole)])
        begun = GuardedDefender(session._defender.parts, words)
        places = tuple(session._defender._places)
        begun.begin = lambda _, places=places: [(places, 1.0)]  # type: ignore[method-assign, misc]
        found = ncirl.best_response_to_defender(game, begun, tolerance=1e-7)
        assert (found.per_intent <= promise + found.error + OFF).all(), (seed, held)
        assert session._defender.kept is not None
        checked += 1
        if checked == 4:
            break
    return checked


@pytest.mark.parametrize("controlled", [False, True])
def test_what_is_promised_from_there_holds_against_the_best_attacker(controlled: bool) -> None:
    assert sum(promise_from_there_holds(seed, controlled=controlled) for seed in SEEDS) > len(SEEDS)


def labelled() -> AttackGraph:
    """Return the office with labels, two of them alike."""
    graph = office_graph()
    names = {"mail": "The mail server", "web-server": "The web server, in words", "workstation": "A computer"}
    more = {"phish a password": "Spear phishing", "exploit web app": "Attack + break", "database": "A computer"}
    return replace(
        graph,
        conditions=tuple(replace(c, label=(names | more).get(c.id, c.label)) for c in graph.conditions),
        exploits=tuple(replace(e, label=more.get(e.id, e.label)) for e in graph.exploits),
    )


@cache
def with_labels(kind: str) -> Any:
    if kind == "guarded":
        return Guarded(relative_gap=0.4, time_limit=10).run(labelled())
    return replace(office(), extra=extra_of(labelled()))


@pytest.mark.parametrize("kind", SESSIONS)
def test_labels_are_names(kind: str) -> None:
    session: Session = (GuardedSession if kind == "guarded" else DefenceSession)(with_labels(kind), rng=1)
    session.observe(attacker=["spear phishing"], defender="Attack + break", new=["The mail server"])
    assert session.steps[-1].attacker == "phish a password"
    assert session.steps[-1].defender == "exploit web app"
    assert session.state == "mail"
    session.undo()
    session.holds("the web server, in words", defender=[])
    assert session.state == "web-server"
    with pytest.raises(InputError, match=r"'A computer' is the label of .*workstation.*; give the id"):
        session.holds("A computer")


def test_labels_name_what_is_held_at_the_start() -> None:
    session = DefenceSession(with_labels("listed"), rng=1, holding=["The mail server"])
    assert session.state == "mail"
    with pytest.raises(InputError, match="'A computer' is the label of database, workstation; give the id"):
        DefenceSession(with_labels("listed"), holding=["A computer"])


@pytest.mark.parametrize("kind", SESSIONS)
def test_the_service_takes_it(kind: str) -> None:
    service = Service(SESSIONS[kind]())
    asked = {"do": "holds", "conditions": ["mail"], "defender": "nothing", "id": 1}
    RequestModel.model_validate(asked)
    answer = service.answer(asked)
    ResponseModel.model_validate(answer)
    assert answer["advice"]["state"] == "mail"
    assert answer["seen"]["expected"]
    for wrong in ({"conditions": 3}, {}, {"conditions": None}, {"conditions": "mail", "new": "mail"}):
        assert service.answer({"do": "holds", **wrong})["error"]["message"]


@pytest.mark.parametrize("kind", SESSIONS)
def test_the_dialogue_takes_it(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    dialogue = Dialogue(SESSIONS[kind]())
    for line in ("help", "nothing", "holds mail", "history", "holds gold"):
        assert dialogue.take(line)
    shown = " ".join(capsys.readouterr().out.split())
    assert "holds NAME" in shown
    assert "Stage 1: you blocked nothing; found to hold, how is not known: mail." in shown
    assert "Enabled so far: mail." in shown
    assert "holds: there is no 'gold' here" in shown


@pytest.mark.parametrize("kind", SESSIONS)
def test_why_is_never_empty(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    session = SESSIONS[kind]()
    service = Service(session)
    met = 0
    rng = np.random.default_rng(4)
    for _ in range(12):
        answer = service.answer({"do": "why"})
        ResponseModel.model_validate(answer)
        said = answer["reasons"]["says"]
        assert said
        assert all(sentence.endswith(".") for sentence in said)
        assert Dialogue(session).take("why")
        assert capsys.readouterr().out.strip()
        met += 1
        if session.finished:
            break
        attacks = [name for name in session.attacks().sets.values() if name != "nothing"]
        attack = attacks[int(rng.integers(len(attacks)))]
        states = list(session.successors(attack, "nothing").sets.values())
        session.observe(attacker=attack, defender="nothing", state=states[-1])
    assert session.finished
    assert met > 3
