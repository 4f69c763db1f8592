"""Drawn episodes: agreement with the expectation, the same for the same seed, complete records."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import ncirl
from ncirl.errors import InputError
from ncirl.evaluation import expected_payoff, simulate
from ncirl.strategies.strategy import StationaryAttacker, uniform_attacker, uniform_defender
from random_games import random_game
from random_strategies import KINDS, random_attacker, random_defender

SIGMAS = 4.0
EPISODES = 4000
ROUNDING = 1e-12
NORMAL_95 = 1.959963985  # half of a 95 % interval, in standard errors


@pytest.mark.parametrize("observes", ["actions", "outcomes"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("horizon", [None, 4])
def test_the_mean_is_near_the_expectation(observes: str, kind: str, horizon: int | None) -> None:
    game = random_game(5, observes=observes, signals=True, horizon=horizon, terminal=True, n_starts=2, discount=0.5)
    attacker, defender = random_attacker(game, 5, kind), random_defender(game, 5, kind)
    payoff = expected_payoff(game, attacker, defender, tolerance=1e-2)
    drawn = simulate(game, attacker, defender, episodes=EPISODES, rng=7)
    assert abs(drawn.mean - payoff.value) <= SIGMAS * drawn.standard_error + drawn.truncation + payoff.error
    assert drawn.counts.sum() == EPISODES
    assert (drawn.counts * np.nan_to_num(drawn.means)).sum() / EPISODES == pytest.approx(drawn.mean)


def test_the_same_seed_draws_the_same_episodes() -> None:
    game = random_game(2, horizon=3, signals=True, observes="outcomes")
    players = random_attacker(game, 2, "private"), random_defender(game, 2, "private")
    first, again, other = (simulate(game, *players, episodes=50, rng=seed, keep_histories=50) for seed in (1, 1, 2))
    assert first.histories == again.histories
    assert first.mean == again.mean
    assert first.histories != other.histories


def test_records_are_complete_and_possible() -> None:
    game = random_game(4, horizon=4, terminal=True, signals=True)
    timed = game.timed()
    players = random_attacker(game, 4, "public"), random_defender(game, 4, "public")
    drawn = simulate(game, *players, episodes=20, keep_histories=5)
    assert len(drawn.histories) == 5
    for history in drawn.histories:
        theta = game.intents.index(history.intent)
        total = 0.0
        for n, played in enumerate(history.stages):
            stage = timed.stage(played.state)
            a, d = stage.attacker.index(played.attacker_action), stage.defender.index(played.defender_action)
            assert played.reward == stage.realised(a, d, stage.outcomes.index(played.outcome))[theta]
            total += game.discount**n * played.reward
        assert history.payoff == pytest.approx(total, abs=ROUNDING)
        assert all(now.outcome.state == then.state for now, then in pairwise(history.stages))
        assert timed.is_terminal(history.stages[-1].outcome.state)


def test_an_endless_play_is_cut_with_a_stated_error() -> None:
    game = ncirl.games.aumann_maschler_1(discount=0.9)
    sure = StationaryAttacker({"play": np.array([[1.0, 0.0], [0.0, 1.0]])})
    drawn = simulate(game, sure, uniform_defender(game), episodes=200, tolerance=1e-3, keep_histories=1)
    n = len(drawn.histories[0].stages)
    assert drawn.truncation == pytest.approx(0.9**n / 0.1)
    assert drawn.truncation <= 1e-3 < 0.9 ** (n - 1) / 0.1
    reach = NORMAL_95 * drawn.standard_error + drawn.truncation
    assert drawn.interval == pytest.approx((drawn.mean - reach, drawn.mean + reach))


def test_a_single_episode_says_nothing_about_the_spread() -> None:
    game = ncirl.games.patrol(horizon=1)
    drawn = simulate(game, uniform_attacker(game), uniform_defender(game), episodes=1)
    assert drawn.interval == (-np.inf, np.inf)
    assert sorted(drawn.counts.tolist()) == [0, 1]
    assert np.isnan(drawn.means).sum() == 1


@pytest.mark.parametrize(("wrong", "message"), [({"episodes": 0}, "episodes"), ({"confidence": 1.0}, "confidence")])
def test_wrong_arguments_are_named(wrong: dict[str, float], message: str) -> None:
    game = ncirl.games.patrol(horizon=2)
    with pytest.raises(InputError, match=message):
        simulate(game, uniform_attacker(game), uniform_defender(game), **({"episodes": 3} | wrong))
