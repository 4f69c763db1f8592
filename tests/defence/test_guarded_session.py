"""Sessions that follow a guarded defence of a whole attack graph: dialogue, protocol, refusals, solving again."""

import base64
import json
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from policies import alarmed_graph

import ncirl
from ncirl.attack_graphs.graph import AttackGraph, Condition, Exploit, Intent
from ncirl.attack_graphs.guarded.guarded import Guarded
from ncirl.attack_graphs.guarded.solution import GuardedSolution
from ncirl.cli.defend import Dialogue
from ncirl.defence import DefenceSession, GuardedSession, Service, session_class
from ncirl.defence.schema import RequestModel, ResponseModel, SessionModel
from ncirl.errors import InputError, LimitError
from ncirl.formats.guarded_file import guarded_bytes
from ncirl.games.office import office_graph


@cache
def office() -> GuardedSolution:
    return Guarded(relative_gap=0.3, time_limit=5).run(office_graph())


@cache
def alarmed() -> GuardedSolution:
    return Guarded(relative_gap=0.3, time_limit=5).run(alarmed_graph())


@cache
def wide() -> GuardedSolution:
    """Bound a graph with more usable exploits than anybody lists sets of."""
    names = [f"host{k}" for k in range(300)]
    graph = AttackGraph(
        conditions=(Condition("outside", initial=True), *(Condition(name) for name in names), Condition("data")),
        exploits=(
            *(Exploit(f"enter {name}", ("outside",), name, 0.8, 0.01, 0.02) for name in names),
            *(Exploit(f"{name} to data", (name,), "data", 0.5, 0.01, 0.05) for name in names[:2]),
        ),
        intents=(Intent("thief", 0.7, {"data": 1.0}), Intent("vandal", 0.3, {"host7": 0.5})),
        discount=0.9,
        name="wide",
    )
    return Guarded(relative_gap=0.3, time_limit=5).run(graph)


def test_it_is_chosen_by_the_policy() -> None:
    assert session_class(office()) is GuardedSession
    assert session_class(ncirl.solve(ncirl.games.office(), ncirl.Certified(relative_gap=0.5))) is DefenceSession


def test_it_advises_on_guards_and_tells_what_is_promised() -> None:
    advice = GuardedSession(office(), rng=1).advice()
    assert advice.drawn in advice.mix
    assert sum(advice.mix.values()) == pytest.approx(1.0)
    assert set(advice.blocked) <= set(office().guards)
    assert advice.promised is not None
    assert advice.promised == pytest.approx(advice.promised_at_start, abs=1.0)
    assert list(advice.promised_at_start.values()) == office().per_intent.tolist()


def test_it_says_what_exploits_mean() -> None:
    graph = office_graph()
    told = replace(graph, exploits=tuple(replace(e, label=f"{e.id}, in words") for e in graph.exploits))
    labels = GuardedSession(Guarded(relative_gap=0.3, time_limit=5).run(told), rng=1).labels
    assert {e.id: labels[e.id] for e in told.exploits} == {e.id: e.label for e in told.exploits}
    assert all(labels[c.id] == c.label for c in told.conditions if c.label)


def test_what_is_told_moves_it_and_undo_takes_it_back() -> None:
    session = GuardedSession(office(), rng=3)
    first = session.advice()
    session.observe(attacker=["phish a password"], defender="nothing", new=["mail"])
    second = session.advice()
    assert (second.state, second.stage, second.enabled) == ("mail", 2, ("mail",))
    assert second.labels["mail"]
    assert sum(second.posterior.values()) == pytest.approx(1.0)
    again = GuardedSession.from_dict(json.loads(json.dumps(session.to_dict())), office())
    assert again.advice() == second
    session.undo()
    assert session.advice() == first
    with pytest.raises(InputError, match="nothing to undo"):
        session.undo()


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ({"attacker": ["inject SQL"]}, r"attempted: 'inject SQL' is not usable: .* is not enabled"),
        ({"attacker": ["phish the password"]}, r"no 'phish the password' here; did you mean 'phish a password'\?"),
        ({"attacker": "nothing", "defender": ["inject SQL"]}, r"blocked: 'inject SQL' is not usable"),
        ({"attacker": "nothing", "new": ["mail"]}, r"'mail' cannot have been enabled: nothing attempted"),
        ({"attacker": ["phish a password"], "defender": ["phish a password"], "new": ["mail"]}, "cannot have been"),
        ({"attacker": ["phish a password"], "defender": "nothing"}, "newly enabled: not given"),
        ({}, "attempted: not given"),
    ],
)
def test_what_cannot_have_happened_is_refused(told: dict[str, object], message: str) -> None:
    session = GuardedSession(office())
    before = session.advice()
    with pytest.raises(InputError, match=message):
        session.observe(**told)  # type: ignore[arg-type]
    assert session.advice() == before


def test_what_is_held_or_never_fails_is_known() -> None:
    graph = AttackGraph(
        conditions=(Condition("out", initial=True), Condition("in"), Condition("gold")),
        exploits=(Exploit("walk", ("out",), "in", 1.0), Exploit("grab", ("in",), "gold", 0.5, 0.0, 0.1)),
        intents=(Intent("thief", 1.0, {"gold": 1.0}),),
        discount=0.9,
        attacker_budget=1,
        defender_budget=0,
    )
    session = GuardedSession(Guarded(relative_gap=0.2, time_limit=3).run(graph))
    with pytest.raises(InputError, match="in is missing; it cannot have failed"):
        session.observe(attacker="walk", new=[])
    with pytest.raises(InputError, match="at most 0 in a stage"):
        session.observe(attacker="walk", defender="walk")
    session.observe(attacker="walk")
    assert session.state == "in"
    with pytest.raises(InputError, match="'walk' is not usable: 'in' is enabled already"):
        session.observe(attacker="walk")
    session.observe(attacker="grab", new="gold")
    assert session.finished
    assert session.advice().promised == {"thief": 0.0}
    with pytest.raises(InputError, match="play has ended"):
        session.resolve(1.0)


def test_alerts_where_attempts_are_not_seen() -> None:
    session = GuardedSession(alarmed(), rng=2)
    assert not session.sees_attempts
    with pytest.raises(InputError, match="not seen"):
        session.observe(attacker="phish")
    session.observe(defender="nothing", new=["files"], signal=["inject"])
    assert session.steps[-1].signal == "alert: inject"
    assert session.advice().posterior["vandal"] >= 0.5
    session.observe(defender="nothing", new="nothing", signal="quiet")
    assert session.advice().stage == 3
    kept = GuardedSession.from_dict(session.to_dict(), alarmed())
    assert kept.advice() == session.advice()


def test_hundreds_of_usable_exploits_are_no_matter() -> None:
    session = GuardedSession(wide())
    session.observe(attacker=["enter host0", "enter host7"], defender="nothing", new=["host7", "host0"])
    assert session.state == "host0 + host7"
    assert session.advice().promised is not None
    assert len(Service(session).answer({"do": "options"})["options"]["attacker"]) == 300


def test_the_protocol_speaks_of_it_in_the_words_of_the_schema() -> None:
    service = Service(GuardedSession(office(), rng=1))
    requests = [
        {"do": "advise", "id": 1},
        {"do": "observe", "attacker": ["phish a password"], "defender": "nothing", "new": ["mail"]},
        {"do": "options", "attacker": "nothing"},
        {"do": "why"},
        {"do": "state"},
        {"do": "resolve", "seconds": 0.5},
        {"do": "undo"},
        {"do": "observe", "attacker": ["nobody"]},
        {"do": "resolve", "seconds": "long"},
        {"do": "quit"},
    ]
    answers = [service.answer(request) for request in requests]
    for request, answer in zip(requests, answers, strict=True):
        if request.get("seconds") != "long":
            RequestModel.model_validate(request)
        ResponseModel.model_validate(json.loads(json.dumps(answer)))
    assert "error" in answers[7]
    assert "seconds" in answers[8]["error"]["message"]
    listed = Service(DefenceSession(ncirl.solve(ncirl.games.office(), ncirl.Certified(relative_gap=0.5))))
    assert "must be one of" in listed.answer({"do": "resolve"})["error"]["message"]


@pytest.mark.slow
def test_solving_again_is_taken_where_no_intent_gains() -> None:
    loose = Guarded(relative_gap=0.99, time_limit=2).run(office_graph())
    session = GuardedSession(loose, rng=5)
    before = session.advice().promised
    found = session.resolve(60.0, relative_gap=0.1)  # the loose one is within 0.2 already
    after = session.advice().promised
    assert before is not None
    assert after is not None
    assert found.solution is not None
    assert all(after[name] <= before[name] for name in before)
    assert "Solved again (stage 1)" in session.advice().notes[-1]
    session.observe(attacker=["phish a password"], defender="nothing", new=["mail"])
    session.undo()
    assert session.advice().promised == after
    kept_and_taken_up_again(session, loose)


def kept_and_taken_up_again(session: GuardedSession, policy: GuardedSolution) -> None:
    """What was changed to is kept with the session, and believed no more than a policy."""
    session.observe(attacker=["phish a password"], defender="nothing", new=["mail"])
    data = json.loads(json.dumps(session.to_dict()))
    SessionModel.model_validate(data)
    again = GuardedSession.from_dict(data, policy)
    assert again.advice() == session.advice()
    again.undo()
    session.undo()
    assert again.advice() == session.advice()
    (change,) = data["changes"]
    generous = base64.b64encode(guarded_bytes(Guarded(relative_gap=0.99, time_limit=2).run(with_more()))).decode()
    for lie, said in (
        (change | {"policy": "?"}, "damaged"),
        (change | {"policy": generous}, "not of the graph as it was then"),
        (change | {"after": 1}, "not of the graph as it was then"),
        ({"after": 0}, "must be a list of maps"),
    ):
        with pytest.raises(InputError, match=said):
            GuardedSession.from_dict(data | {"changes": [lie]}, policy)
    better = session._changes[0]
    worse = {"after": 0, "policy": base64.b64encode(guarded_bytes(policy)).decode()}
    first = GuardedSession(better, rng=5).to_dict()
    with pytest.raises(InputError, match="lets an intent gain"):
        GuardedSession.from_dict(first | {"changes": [worse]}, better)


def with_more() -> AttackGraph:
    """Return the office with other rewards."""
    graph = office_graph()
    dearer = tuple(replace(i, rewards={c: 2 * r for c, r in i.rewards.items()}) for i in graph.intents)
    return replace(graph, intents=dearer)


def test_the_dialogue_asks_and_takes_answers(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    dialogue = Dialogue(GuardedSession(office(), rng=1))
    for line in ("nothing", "phish", "mail", "why", "history", "help", "resolve soon", f"save {tmp_path / 's.json'}"):
        assert dialogue.take(line)
    said = capsys.readouterr().out
    assert "Stage 1: you blocked nothing; the attacker attempted phish a password; newly enabled: mail." in said
    assert "Block now" in said
    assert "resolve 10" in said
    assert "a number of seconds is needed" in said
    again = GuardedSession.load(tmp_path / "s.json", office())
    assert again.state == "mail"
    with pytest.raises(InputError, match="another policy"):
        GuardedSession.load(tmp_path / "s.json", alarmed())


def test_following_it_loads_no_solver() -> None:
    import subprocess

    script = "import sys, ncirl.defence; print('highspy' in sys.modules, 'ncirl.lp.session' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


@pytest.mark.parametrize("start", ["elsewhere", 3])
def test_there_is_one_start(start: object) -> None:
    with pytest.raises(InputError, match="no start state"):
        GuardedSession(office(), state=start)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="negative"):
        GuardedSession(office(), rng=-1)


def test_real_plays_of_every_kind_can_be_told() -> None:
    sys.path.insert(0, str(Path(__file__).parents[1] / "guarded"))
    from guarded_instances import random_instance
    from ncirl.solution import Stats, Status

    met = 0
    for seed in range(40, 60):
        instance = random_instance(seed)
        if instance is None:
            continue
        met += 1
        solution = GuardedSolution(instance.proof, Status.FINISHED, Stats(), None, 1.0, "")
        tell_a_random_play(GuardedSession(solution, rng=seed), np.random.default_rng(seed))
    assert met >= 10


def tell_a_random_play(session: GuardedSession, rng: np.random.Generator, stages: int = 6) -> None:
    graph = session.graph
    held = {c.id for c in graph.conditions if c.initial}
    for _ in range(stages):
        if session.finished:
            break
        usable = [
            e
            for e in graph.exploits
            if held.issuperset(e.premises)
            and e.result not in held
            and (e.success > 0 or (e.alert and not session.sees_attempts))
        ]
        tried = [e for e in usable if rng.random() < 0.6][: graph.attacker_budget]
        blocked = ncirl.attack_graphs.names.members(session.drawn)
        won = {e.result for e in tried if e.id not in blocked and rng.random() < e.success}
        rung = [e.id for e in usable if e.alert and rng.random() < (e.alert.attempted if e in tried else e.alert.idle)]
        told: dict[str, object] = {"new": sorted(won)}
        if session.sees_attempts:
            told["attacker"] = [e.id for e in tried]
        elif any(e.alert for e in usable):
            told["signal"] = rung
        session.observe(**told)  # type: ignore[arg-type]
        held |= won
        advice = session.advice()
        assert advice.promised is not None
        assert sum(advice.posterior.values()) == pytest.approx(1.0)
    assert GuardedSession.from_dict(session.to_dict(), session.solution).advice() == session.advice()


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_session_that_was_forged_does_not_replace_the_defence_by_one_for_some_intents(count: int) -> None:
    graph = office_graph()
    some = replace(graph, intents=tuple(replace(i, prior=1 / count) for i in graph.intents[:count]))
    policy = base64.b64encode(guarded_bytes(Guarded(relative_gap=0.99, time_limit=2).run(some))).decode()
    forged = GuardedSession(office(), rng=1).to_dict() | {"changes": [{"after": 0, "policy": policy}]}
    with pytest.raises(InputError, match="not of the graph as it was then"):
        GuardedSession.from_dict(forged, office())


@pytest.mark.parametrize("seconds", ["1e999", "-1e999", "NaN", "0", "-3", "1" + "0" * 400, "86401"])
def test_seconds_that_never_end_are_refused(seconds: str) -> None:
    service = Service(GuardedSession(office(), rng=1))
    answer = service.answer_line(f'{{"do": "resolve", "seconds": {seconds}, "id": 1}}')
    assert answer["id"] == 1
    assert answer["error"]["message"].startswith("seconds: must be a positive number of at most 86,400, got ")


@pytest.mark.parametrize("error", [LimitError("memory", "solving again", "1 MB"), MemoryError()])
def test_what_cannot_be_solved_again_is_said_and_changes_nothing(
    error: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(*_: object) -> None:
        raise error

    monkeypatch.setattr("ncirl.attack_graphs.guarded.resolve.resolved", fails)
    session = GuardedSession(office(), rng=1)
    before = session.advice()
    said = Service(session).answer({"do": "resolve", "id": 7})
    assert said["id"] == 7
    assert "memory" in said["error"]["message"]
    assert Dialogue(session).take("resolve 1")
    assert "memory" in capsys.readouterr().out
    assert session.advice() == before
