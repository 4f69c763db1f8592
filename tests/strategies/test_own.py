"""Strategies of one's own: in words, by memory or by history, looked through by the checker."""

from __future__ import annotations

import pickle
import re
from itertools import cycle
from typing import Any

import numpy as np
import pytest

import ncirl
from ncirl.errors import InputError
from ncirl.model.game import Game
from ncirl.strategies import (
    BehaviouralAttacker,
    BehaviouralDefender,
    RememberingAttacker,
    RememberingDefender,
    Seen,
    StationaryDefender,
    check_attacker,
    check_defender,
    seen_of,
    uniform_attacker,
    uniform_defender,
)
from random_games import random_game
from random_strategies import KINDS, random_attacker, random_defender

ROUNDING = 1e-10
PATROL = ncirl.games.patrol(horizon=2, discount=1.0)


def even(*_: object) -> dict[str, float]:
    return {"stay": 0.5, "switch": 0.5}


@pytest.mark.parametrize("observes", ["actions", "outcomes"])
@pytest.mark.parametrize("seed", range(5))
def test_what_is_seen_is_told_in_words(seed: int, observes: str) -> None:
    game = random_game(seed, observes=observes, signals=True, horizon=2)
    timed = game.timed()
    state = timed.starts[0].state
    stage, seen = timed.stage(state), timed.observations(state)
    for a in range(stage.shape[0]):
        for d in range(stage.shape[1]):
            for o in stage.outcome_law(a, d)[0].tolist():
                told = seen_of(game, state, d, seen.index(a, d, o))
                assert told.attacker_action == (stage.attacker[a] if observes == "actions" else None)
                assert told.defender_action == stage.defender[d]
                assert told.next_state == stage.outcomes[o].state
                assert told.signal == (stage.outcomes[o].signal if observes == "outcomes" else None)


@pytest.mark.parametrize("observes", ["actions", "outcomes"])
@pytest.mark.parametrize("seed", range(5))
def test_rules_in_words_are_the_strategies_in_numbers(seed: int, observes: str) -> None:
    """An optimal strategy told again as a rule of all that was seen pays the same."""
    game = random_game(seed, observes=observes, signals=True, horizon=2, n_starts=2)
    timed, solution = game.timed(), ncirl.solve(game, ncirl.HistoryLP())
    attacker, defender = solution.attacker_strategy(), solution.defender_strategy()

    def numbered(seen: Seen) -> tuple[int, int]:
        d = timed.stage(seen.state).defender.index(seen.defender_action)
        found = [i for i in range(len(timed.observations(seen.state))) if _told(timed, seen, d, i)]
        return d, found[0]

    def defends(state: Any, history: tuple[Seen, ...]) -> dict[str, float]:
        place = history[0].state if history else state
        memory = defender.begin(place)[0][0]
        for seen in history:
            memory = defender.after(seen.state, memory, *numbered(seen))[0][0]
        return dict(zip(timed.stage(state).defender, defender.mix(state, memory).tolist(), strict=True))

    def attacks(state: Any, history: tuple[Seen, ...], intent: str) -> np.ndarray:
        place = history[0].state if history else state
        memory = attacker.begin(place)[0][0]
        for seen in history:
            memory = attacker.after(seen.state, memory, 0, *numbered(seen))[0][0]
        return attacker.policy(state, memory)[:, game.intents.index(intent)]

    own = BehaviouralAttacker(game, attacks), BehaviouralDefender(game, defends)
    value = ncirl.expected_payoff(game, attacker, defender).value
    assert ncirl.expected_payoff(game, *own).value == pytest.approx(value, abs=ROUNDING)
    conceded = ncirl.best_response_to_defender(game, defender).value
    assert ncirl.best_response_to_defender(game, own[1]).value == pytest.approx(conceded, abs=ROUNDING)
    assert check_attacker(game, own[0]).public_memory
    assert check_defender(game, own[1]).public_memory


def _told(timed: Game, seen: Seen, d: int, i: int) -> bool:
    observations = timed.observations(seen.state)
    if not observations.by_action and observations.weight.toarray()[i, d] == 0:
        return False
    return seen_of(timed, seen.state, d, i) == seen


def test_an_action_that_is_not_there_is_named() -> None:
    own = RememberingDefender(PATROL, mix=lambda state, memory: {"stay": 0.5, "sleep": 0.5}, name="sleeper")
    said = "'sleeper', state 'thief m, guard m at stage 1': there is no action 'sleep' here; there are stay, switch"
    with pytest.raises(InputError, match=re.escape(said)):
        ncirl.best_response_to_defender(PATROL, own)


def test_memories_may_be_drawn() -> None:
    """A guard who draws a place for the whole play, and one who draws it by intent, which only a thief can."""
    guard = RememberingDefender(
        PATROL,
        mix=lambda state, place: "stay" if state[1][1] == place else "switch",
        begin=lambda state: {"m": 0.25, "g": 0.75},
        draws=True,
    )
    found = check_defender(PATROL, guard)
    assert (found.memories, found.public_memory, found.complete) == (2, False, True)
    # to go where one likes best is as good as anything, whatever the guard drew: ¼ · ⅓ + ¾ · ⅔ a stage in the museum
    best = ncirl.best_response_to_defender(PATROL, guard)
    assert best.per_intent == pytest.approx([5 / 6, 7 / 6], abs=ROUNDING)
    thief = RememberingAttacker(
        PATROL,
        mix=lambda state, place, intent: "stay" if state[1][0] == place else "switch",
        begin=lambda state, intent: {"m": 1.0} if intent == "t2" else {"m": 0.5, "g": 0.5},
        draws=True,
    )
    found = check_attacker(PATROL, thief)
    assert (found.memories, found.public_memory) == (2, False)
    # always at home against a guard who goes to the gallery three times in four, twice
    home, away = 0.25 * 1 / 3 + 0.75 * 2 / 3, 0.25 * 2 / 3 + 0.75 * 1 / 3
    mixed = (0.25 * 1 / 6 + 0.75 * 1 / 3) / 2 + away / 2
    assert ncirl.expected_payoff(PATROL, thief, guard).per_intent == pytest.approx([2 * mixed, 2 * home], abs=ROUNDING)


@pytest.mark.parametrize("kind", KINDS)
def test_the_checker_tells_kinds_of_memory_apart(kind: str) -> None:
    game = random_game(5, observes="actions", horizon=2)
    for found in (
        check_attacker(game, random_attacker(game, 5, kind)),
        check_defender(game, random_defender(game, 5, kind)),
    ):
        assert found.complete
        assert found.public_memory == (kind != "private")


def test_a_strategy_that_draws_itself_is_found_out() -> None:
    answers = cycle(("stay", "switch"))
    drawing = RememberingDefender(PATROL, lambda state, memory: next(answers))
    with pytest.raises(InputError, match="mixed action differs when asked twice; return probabilities, do not draw"):
        check_defender(PATROL, drawing)


def test_all_faults_are_told_at_once() -> None:
    table = {state: np.array([0.6, 0.6]) for state in PATROL.timed().explore()}
    with pytest.raises(InputError) as caught:
        check_defender(PATROL, StationaryDefender(table))
    assert len(caught.value.faults) == 4  # the starts; nothing is known of where it would go from there


def test_the_checker_stops_at_its_limit() -> None:
    endless = ncirl.games.patrol()
    counts = RememberingDefender(endless, even, lambda state: 0, lambda stages, seen: stages + 1)
    found = check_defender(endless, counts, limit=50)
    assert (found.situations, found.complete) == (50, False)


def test_whether_a_strategy_can_be_sent_is_told() -> None:
    assert check_attacker(PATROL, uniform_attacker(PATROL)).picklable
    assert not check_defender(PATROL, RememberingDefender(PATROL, lambda *_: "stay")).picklable
    defender = pickle.loads(pickle.dumps(uniform_defender(PATROL)))
    assert check_defender(PATROL, defender).picklable
