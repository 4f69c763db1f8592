"""The MA-IRL defender: the paper's example, its mixture, and the attacker who answers it best."""

from __future__ import annotations

import numpy as np
import pytest

import ncirl
from ncirl.baselines import MAIRL, best_responder
from ncirl.errors import InputError
from ncirl.evaluation import best_response_to_defender, expected_payoff, simulate
from ncirl.games.patrol import patrol_story
from ncirl.solvers.shapley import Shapley
from ncirl.strategies.strategy import StationaryAttacker
from random_games import random_game

EXACT = 1e-9
SIGMAS = 4.0
EPISODES = 4000
EARLIER, TRUE = 0, 1  # the intents ⅓ and ⅔


def test_the_guard_who_learned_the_wrong_intent_concedes_four_thirds() -> None:
    game = ncirl.games.patrol(discount=1.0, horizon=2)
    public = ncirl.solve(game, Shapley())
    payoff = expected_payoff(game, StationaryAttacker(public.attacker), MAIRL(game, [1, 0], equilibrium=public))
    assert payoff.per_intent[TRUE] == pytest.approx(4 / 3, abs=EXACT)
    assert payoff.per_intent[TRUE] == pytest.approx(patrol_story().learned, abs=EXACT)


def test_the_guard_who_learned_the_right_intent_concedes_the_public_value() -> None:
    game = ncirl.games.patrol(discount=0.9)
    public = ncirl.solve(game, Shapley())
    attacker = StationaryAttacker(public.attacker)
    for k in range(len(game.intents)):
        payoff = expected_payoff(game, attacker, MAIRL(game, np.eye(2)[k], equilibrium=public))
        value = np.mean([public.values[start.state][k] for start in game.starts])
        assert payoff.per_intent[k] == pytest.approx(value, abs=1e-6)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("horizon", [None, 3])
def test_the_mixture_is_the_mean_over_what_was_inferred(seed: int, horizon: int | None) -> None:
    game = random_game(seed, n_intents=3, horizon=horizon, discount=0.5)
    public = ncirl.solve(game, Shapley())
    attacker, defender = StationaryAttacker(public.attacker), MAIRL(game, [0.2, 0.3, 0.5], equilibrium=public)
    mixed = expected_payoff(game, attacker, defender).per_intent
    each = [expected_payoff(game, attacker, defender.given(k)).per_intent for k in range(3)]
    assert mixed == pytest.approx(np.array([0.2, 0.3, 0.5]) @ np.array(each), abs=EXACT)


def test_by_default_the_prior_is_what_is_inferred() -> None:
    game = ncirl.games.patrol(prior=[0.3, 0.7])
    assert MAIRL(game).inferred == pytest.approx([0.3, 0.7])


def test_drawn_episodes_agree_with_the_expectation() -> None:
    game = ncirl.games.patrol(discount=1.0, horizon=3)
    public = ncirl.solve(game, Shapley())
    attacker, defender = StationaryAttacker(public.attacker), MAIRL(game, equilibrium=public)
    drawn = simulate(game, attacker, defender, episodes=EPISODES, rng=3)
    assert abs(drawn.mean - expected_payoff(game, attacker, defender).value) <= SIGMAS * drawn.standard_error


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("horizon", [None, 3])
def test_the_best_responder_takes_what_the_defender_concedes_at_most(seed: int, horizon: int | None) -> None:
    game = random_game(seed, n_intents=2, horizon=horizon, discount=0.6)
    public = ncirl.solve(game, Shapley())
    defender = MAIRL(game, equilibrium=public)
    taken = [
        expected_payoff(game, best_responder(game, defender.given(k)), defender.given(k)).per_intent for k in range(2)
    ]
    conceded = best_response_to_defender(game, defender, sees_memory=True).per_intent  # who knows what was inferred
    assert defender.inferred @ np.array(taken) == pytest.approx(conceded, abs=1e-7)
    unseen = best_response_to_defender(game, defender)  # who has to find out
    assert (unseen.per_intent <= conceded + unseen.error + 1e-7).all()


def test_the_defender_of_an_endless_game_can_be_answered_within_a_horizon() -> None:
    game = ncirl.games.patrol(discount=0.9)
    cut = game.with_horizon(3)
    guard = MAIRL(game).given(EARLIER)
    taken = expected_payoff(cut, best_responder(cut, guard), guard).value
    assert taken == pytest.approx(best_response_to_defender(cut, guard).value, abs=EXACT)


def test_an_undiscounted_game_without_end_has_no_best_responder() -> None:
    game = ncirl.games.patrol(discount=0.9)
    with pytest.raises(InputError, match="horizon"):
        best_responder(game.like(discount=1.0), MAIRL(game).given(EARLIER))


@pytest.mark.parametrize("inferred", [[1.0], [0.5, 0.4], [1.5, -0.5], [np.nan, 1.0]])
def test_what_is_inferred_must_be_a_law(inferred: list[float]) -> None:
    with pytest.raises(InputError, match="inferred"):
        MAIRL(ncirl.games.patrol(), inferred)
