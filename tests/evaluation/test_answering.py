"""The attacker who knows the defender's strategy: never better than the best response, and the same without memory."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ncirl
from ncirl.baselines import MAIRL, best_responder
from ncirl.errors import SizeError
from ncirl.evaluation import (
    AnsweringAttacker,
    AnsweringDefender,
    best_response_to_attacker,
    best_response_to_defender,
    expected_payoff,
)
from ncirl.model.game import Observes
from ncirl.strategies import check_attacker, check_defender
from ncirl.strategies.strategy import StationaryAttacker, StationaryDefender, uniform_defender
from random_games import random_game
from random_strategies import KINDS, random_attacker, random_defender

EXACT = 1e-8


@settings(max_examples=30)
@given(seed=st.integers(0, 10_000), horizon=st.sampled_from([3, None]), observes=st.sampled_from(list(Observes)))
def test_without_memory_it_is_the_best_response(seed: int, horizon: int | None, observes: Observes) -> None:
    game = random_game(seed, horizon=horizon, observes=observes, terminal=True, n_starts=2)
    rng = np.random.default_rng(seed)
    sizes = {state: game.stage(state).shape[1] for state in game.explore()}
    defender = StationaryDefender({state: rng.dirichlet(np.ones(n)) for state, n in sizes.items() if n})
    attacker = AnsweringAttacker(game, defender)
    best = best_response_to_defender(game, defender)
    assert expected_payoff(game, attacker, defender).value == pytest.approx(best.value, abs=EXACT)


def test_it_agrees_with_the_responder_of_the_baselines() -> None:
    game = ncirl.games.patrol(horizon=3, discount=1.0)
    defender = uniform_defender(game)
    values = [
        expected_payoff(game, attacker, defender).value
        for attacker in (AnsweringAttacker(game, defender), best_responder(game, defender))
    ]
    assert values[0] == pytest.approx(values[1], abs=EXACT)


@settings(max_examples=25)
@given(seed=st.integers(0, 10_000), observes=st.sampled_from(list(Observes)), kind=st.sampled_from(KINDS))
def test_both_answers_are_best_responses_whatever_is_remembered(seed: int, observes: Observes, kind: str) -> None:
    game = random_game(seed, horizon=2, observes=observes, signals=True, terminal=True, n_starts=2)
    attacker, defender = random_attacker(game, seed, kind), random_defender(game, seed, kind)
    answers = AnsweringAttacker(game, defender), AnsweringDefender(game, attacker)
    assert answers[0].exact
    assert answers[1].exact
    conceded, secured = best_response_to_defender(game, defender), best_response_to_attacker(game, attacker)
    assert expected_payoff(game, answers[0], defender).value == pytest.approx(conceded.value, abs=EXACT)
    assert expected_payoff(game, attacker, answers[1]).value == pytest.approx(secured.value, abs=EXACT)
    check_attacker(game, answers[0])
    check_defender(game, answers[1])


def test_where_laws_are_too_many_answers_are_no_better_than_those_of_one_who_sees(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("ncirl.evaluation.answered.STEPS", 10)
    game = random_game(7, horizon=3)
    attacker, defender = random_attacker(game, 7, "private"), random_defender(game, 7, "private")
    answers = AnsweringAttacker(game, defender), AnsweringDefender(game, attacker)
    assert not answers[0].exact
    assert not answers[1].exact
    most = best_response_to_defender(game, defender, sees_memory=True).value
    least = best_response_to_attacker(game, attacker, sees_memory=True).value
    assert expected_payoff(game, answers[0], defender).value <= most + EXACT
    assert expected_payoff(game, attacker, answers[1]).value >= least - EXACT


def test_where_memory_is_hidden_it_gets_no_more_than_one_who_sees_it() -> None:
    game = ncirl.games.patrol(horizon=3, discount=1.0)
    defender = MAIRL(game)
    got = expected_payoff(game, AnsweringAttacker(game, defender), defender).value
    most = best_response_to_defender(game, defender).value
    assert got <= most + EXACT
    public = ncirl.solve(game, ncirl.Shapley())
    honest = StationaryAttacker(public.attacker)
    assert got >= expected_payoff(game, honest, defender).value - EXACT


def test_against_a_playbook_it_stays_within_the_guarantee() -> None:
    game = ncirl.games.big_match()
    solution = ncirl.solve(game, ncirl.Certified(gap=0.05))
    defender = solution.defender_strategy()
    got = ncirl.simulate(game, AnsweringAttacker(game, defender), defender, episodes=400, rng=1)
    assert got.interval[0] <= solution.upper


def test_too_much_memory_is_refused() -> None:
    game = ncirl.games.patrol()
    with pytest.raises(SizeError, match="more than 2 situations"):
        AnsweringAttacker(game, uniform_defender(game), limit=2)
