"""A defence under way: what is advised, promised, believed, taken back, saved."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ncirl
from defence.policies import alarmed, match, office, patrol
from ncirl.defence import DefenceSession
from ncirl.errors import InputError
from ncirl.evaluation.simulate import Played
from ncirl.model.stage import TERMINAL, Branch, Stage
from ncirl.playbook.solution import CertifiedSolution

ROUNDING = 1e-9
CLAIMED = 1e-6  # how far a node's claim may be off
SEEDS, SIGMAS = 400, 4
POLICIES = [office, alarmed, match, patrol]


def histories(solution: CertifiedSolution, count: int = 5) -> list[tuple[Played, ...]]:
    """Draw plays of the certified attacker against the certified defender."""
    attack, defence = solution.attacker_strategy(), solution.defender_strategy()
    drawn = ncirl.simulate(solution.game, attack, defence, episodes=count, stages=6, rng=3, keep_histories=count)
    return [history.stages for history in drawn.histories]


def told(solution: CertifiedSolution, played: Played) -> dict[str, Any]:
    """Say what the defender sees of a stage."""
    after = played.outcome.state
    if solution.game.horizon is not None:
        assert isinstance(after, tuple)
        after = after[1]
    seen = {"defender": played.defender_action, "state": solution.game.describe(after)}
    if solution.game.observes == "actions":
        return seen | {"attacker": played.attacker_action}
    return seen | ({} if played.outcome.signal is None else {"signal": played.outcome.signal})


def begun(solution: CertifiedSolution, stages: tuple[Played, ...]) -> DefenceSession:
    state = stages[0].state
    return DefenceSession(solution, rng=1, state=state)


@pytest.mark.parametrize("policy", POLICIES)
def test_the_session_follows_the_players(policy: Any) -> None:
    solution = policy()
    for stages in histories(solution):
        session = begun(solution, stages)
        observer = solution.observer(state=stages[0].state)
        for played in stages:
            advice = session.advice()
            assert sum(advice.mix.values()) == pytest.approx(1, abs=ROUNDING)
            assert advice.drawn in advice.mix
            assert advice.posterior == pytest.approx(dict(zip(solution.game.intents, observer.belief, strict=True)))
            session.observe(**told(solution, played))
            action = played.attacker_action if session.sees_attempts else None
            observer.observe(action, played.defender_action, played.outcome)
            assert session.steps[-1].expected
        assert len(session.steps) == len(stages)


@pytest.mark.parametrize("policy", POLICIES)
def test_belief_moves_by_the_evidence(policy: Any) -> None:
    solution = policy()
    for stages in histories(solution):
        session = begun(solution, stages)
        for played in stages:
            before = np.array(list(session.advice().posterior.values()))
            session.observe(**told(solution, played))
            after = before * session.steps[-1].evidence
            assert list(session.advice().posterior.values()) == pytest.approx(
                (after / after.sum()).tolist(), abs=ROUNDING
            )


@pytest.mark.parametrize("policy", POLICIES)
def test_what_is_promised_is_what_the_best_attack_brings(policy: Any) -> None:
    solution = policy()
    for stages in histories(solution):
        session = begun(solution, stages)
        for played in stages:
            promised = session.advice().promised
            assert promised is not None
            reasons = session.reasons()
            for intent, (worth, attacks) in reasons.best_attacks.items():
                assert worth <= promised[intent] + CLAIMED
                assert set(attacks) <= set(session.stage.attacker)
                assert worth <= max(worths[intent] for worths in reasons.if_known.values()) + ROUNDING
            session.observe(**told(solution, played))


@pytest.mark.parametrize("policy", POLICIES)
def test_undo_and_saving_change_nothing(policy: Any, tmp_path: Path) -> None:
    solution = policy()
    stages = max(histories(solution), key=len)
    session = begun(solution, stages)
    told_so_far = [session.advice()]
    for played in stages:
        session.observe(**told(solution, played))
        told_so_far.append(session.advice())
    path = tmp_path / "session.json"
    session.save(path)
    again = DefenceSession.load(path, solution)
    assert again.advice() == session.advice() == told_so_far[-1]
    assert json.loads(path.read_text()) == again.to_dict()
    for advice in told_so_far[-2::-1]:
        session.undo()
        assert session.advice() == advice
    with pytest.raises(InputError, match="nothing to undo"):
        session.undo()


def test_a_session_from_a_file_says_the_same(tmp_path: Path) -> None:
    solution = office()
    solution.save(tmp_path / "p.ncirl")
    loaded = DefenceSession(ncirl.load_solution(tmp_path / "p.ncirl"), rng=5)
    fresh = DefenceSession(solution, rng=5)
    for session in (loaded, fresh):
        session.observe(attacker=["phish a password", "exploit web app"], defender=[], new=["mail"])
    for part in ("mix", "promised", "promised_at_start", "posterior"):
        assert getattr(loaded.advice(), part) == pytest.approx(getattr(fresh.advice(), part), abs=CLAIMED)
    assert (loaded.drawn, loaded.state) == (fresh.drawn, fresh.state)
    assert DefenceSession.from_dict(fresh.to_dict(), loaded.solution).advice() == loaded.advice()


def test_an_outcome_without_a_signal_beside_others_is_kept() -> None:
    branches = [Branch("on", 0.5, (1.0, 0.0)), Branch("on", 0.25, signal="beep"), Branch("off", 0.25)]
    stages = {"on": Stage.from_moves(["go"], ["look"], {("go", "look"): branches}, 2), "off": TERMINAL}
    prior = {"on": [0.5, 0.5]}
    game = ncirl.Game(stages.__getitem__, intents=["t1", "t2"], initial=prior, discount=0.5, observes="outcomes")
    session = DefenceSession(ncirl.solve(game, ncirl.Certified(gap=0.1)))
    with pytest.raises(InputError, match="signal: not given"):
        session.observe(state="on")
    session.observe(state="on", signal="")
    session.observe(state="on", signal="beep")
    assert [step.signal for step in session.steps] == [None, "beep"]
    again = DefenceSession.from_dict(session.to_dict(), session.solution)
    assert again.advice() == session.advice()


def test_draws_follow_the_mix() -> None:
    advice = DefenceSession(office()).advice()
    drawn = [DefenceSession(office(), rng=seed).drawn for seed in range(SEEDS)]
    for name, chance in advice.mix.items():
        assert drawn.count(name) / SEEDS == pytest.approx(chance, abs=SIGMAS * 0.5 / SEEDS**0.5)


def surprised() -> DefenceSession:
    """Return a session in which the attacker did what the certified one never does."""
    session = DefenceSession(office())
    for attack in session.stage.attacker:
        session.observe(attacker=attack, defender="exploit web app + phish a password")
        if not session.steps[-1].expected:
            return session
        session.undo()
    raise AssertionError("the certified attacker may try anything")


def test_an_attack_out_of_character_is_said_to_be_one() -> None:
    session = surprised()
    advice = session.advice()
    assert any("would never do this (stage 1); the guarantee still holds" in note for note in advice.notes)
    assert advice.posterior == advice.prior
    assert not session.steps[-1].evidence.any()
    assert advice.promised is not None


def test_a_promise_counts_anew_where_the_draw_was_overridden() -> None:
    session = DefenceSession(office())
    session.observe(attacker="nothing")
    assert not any("Not what was drawn" in note for note in session.advice().notes)
    other = next(name for name in session.stage.defender if name != session.drawn)
    session.observe(attacker="nothing", defender=other)
    assert any("Not what was drawn (stage 2)" in note for note in session.advice().notes)


def test_where_the_playbook_has_no_place_nothing_is_promised(monkeypatch: pytest.MonkeyPatch) -> None:
    session = DefenceSession(office())
    monkeypatch.setattr(session._guard, "_memory", None)
    advice = session.advice()
    assert advice.promised is None
    assert any("nothing is promised" in note for note in advice.notes)
    assert set(advice.mix.values()) == {1 / len(session.stage.defender)}
    assert session.reasons().best_attacks == {}


def test_what_the_graph_enables_and_blocks_is_told_by_item() -> None:
    session = DefenceSession(office())
    session.observe(attacker=["phish a password"], defender=[], new="mail")
    session.observe(attacker=["mail an attachment"], defender="none", new=["workstation"])
    advice = session.advice()
    assert advice.enabled == ("mail", "workstation")
    for exploit, chance in advice.blocked.items():
        assert chance == pytest.approx(sum(p for name, p in advice.mix.items() if exploit in name.split(" + ")))


def test_where_outcomes_are_seen_attempts_are_not_asked() -> None:
    session = DefenceSession(alarmed())
    with pytest.raises(InputError, match="what is attempted is not seen"):
        session.observe(attacker="phish", new=[], signal="quiet")
    session.observe(new=["mail, inbox"], signal=["phish"], defender="nothing")
    assert session.advice().enabled == ("mail, inbox",)
    with pytest.raises(InputError, match="newly enabled: not given"):
        session.observe(defender="nothing", signal="quiet")


@pytest.mark.parametrize(
    ("seen", "said"),
    [
        ({}, "attempted: not given; possible are nothing, exploit web app"),
        ({"attacker": "dance"}, "attempted: there is no 'dance' here"),
        ({"attacker": "exploit", "defender": "dance"}, "blocked: there is no 'dance' here"),
        ({"attacker": "exploit", "defender": [], "new": ["mail"]}, "newly enabled: there is no 'mail' here"),
        ({"attacker": "exploit", "defender": [], "state": "moon"}, "newly enabled: there is no 'moon' here"),
        ({"attacker": "exploit", "defender": []}, "newly enabled: not given; possible are"),
        ({"attacker": "exploit", "new": [], "state": "start"}, "new: give either the state or what is new"),
    ],
)
def test_what_cannot_have_happened_is_explained_and_changes_nothing(seen: dict[str, Any], said: str) -> None:
    session = DefenceSession(office())
    before = session.advice()
    with pytest.raises(InputError) as error:
        session.observe(**seen)
    assert str(error.value).startswith(said)
    assert session.advice() == before


def test_the_end_is_told() -> None:
    session = DefenceSession(match())
    session.observe(attacker="Top", defender="Right")
    advice = session.advice()
    assert (advice.finished, advice.drawn, advice.mix) == (True, "", {})
    assert advice.promised is not None
    assert not any(advice.promised.values())
    with pytest.raises(InputError, match="play has ended"):
        session.observe(attacker="stay")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"format": "other"}, "is no saved defence"),
        ({"policy": "0"}, "was saved with another policy, of game 'office'"),
        ({"seed": "x"}, "seed must be a whole number"),
        ({"seed": -1}, "a seed must not be negative"),
        ({"start": "moon"}, "is no start state"),
        ({"stages": 3}, "stages must be a list of maps"),
        ({"stages": [{"attacker": [["dance"]]}]}, "stages must be a list of maps"),
        ({"stages": [{"attacker": "dance"}]}, "stages[0]: attempted: there is no 'dance'"),
        ({"stages": [{"colour": "red"}]}, "stages must be a list of maps"),
    ],
)
def test_a_saved_session_that_does_not_fit_is_refused(change: dict[str, Any], said: str, tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    path.write_text(json.dumps(DefenceSession(office()).to_dict() | change))
    with pytest.raises(InputError) as error:
        DefenceSession.load(path, office())
    assert str(error.value).startswith(f"{path}: ")
    assert said in str(error.value)
