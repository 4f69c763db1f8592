"""The best defence found that does not learn: against closed forms, the exact value and independent best responses."""

from __future__ import annotations

import numpy as np
import pytest

import ncirl
from ncirl.baselines import markov_defence
from ncirl.errors import InputError
from ncirl.strategies.strategy import uniform_defender
from random_games import random_game

ROUNDING = 1e-9
LP_ACCURACY = 1e-6


@pytest.mark.parametrize("horizon", [1, 2, 4])
def test_who_does_not_learn_concedes_half_a_stage_to_aumann_and_maschlers_attacker(horizon: int) -> None:
    game = ncirl.games.aumann_maschler_1(horizon=horizon, discount=1.0)
    assert markov_defence(game).concedes == pytest.approx(horizon / 2, abs=1e-3)


@pytest.mark.parametrize("observes", ["actions", "outcomes"])
@pytest.mark.parametrize("seed", range(4))
def test_it_concedes_what_a_best_response_takes_and_no_less_than_the_value(seed: int, observes: str) -> None:
    game = random_game(seed, horizon=3, observes=observes, signals=seed % 2 == 1, n_intents=2 + seed % 2)
    found = markov_defence(game)
    answer = ncirl.best_response_to_defender(game, found.strategy)
    assert found.concedes == pytest.approx(answer.value, abs=ROUNDING)
    np.testing.assert_allclose(found.per_intent, answer.per_intent, atol=ROUNDING)
    assert found.concedes >= ncirl.solve(game, ncirl.HistoryLP()).lower - LP_ACCURACY
    assert found.concedes <= ncirl.best_response_to_defender(game, uniform_defender(game)).value + ROUNDING


@pytest.mark.parametrize("seed", range(4))
def test_with_a_single_intent_there_is_nothing_to_learn(seed: int) -> None:
    game = random_game(seed, horizon=3, n_intents=1)
    assert markov_defence(game).concedes == pytest.approx(ncirl.solve(game, ncirl.HistoryLP()).upper, abs=LP_ACCURACY)


def test_play_that_comes_back_needs_a_horizon() -> None:
    with pytest.raises(InputError, match="give the game a horizon"):
        markov_defence(ncirl.games.aumann_maschler_1())
