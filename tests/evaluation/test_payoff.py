"""Expected payoffs: closed forms, every history summed by hand, and honest truncation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import payoff_by_histories

import ncirl
from ncirl._typing import FloatArray
from ncirl.errors import InputError, SizeError
from ncirl.evaluation import expected_payoff
from ncirl.model.game import Game
from ncirl.strategies.strategy import StationaryAttacker, StationaryDefender, uniform_attacker, uniform_defender
from random_games import random_game
from random_strategies import KINDS, random_attacker, random_defender

ROUNDING = 1e-11
SEEDS = st.integers(0, 2**20)


def linear_payoff(game: Game, attacker: StationaryAttacker, defender: StationaryDefender) -> float:
    """Solve v = r + γ P v of an endless game, intent by intent."""
    states = game.explore()
    values = []
    for theta in range(len(game.intents)):
        law, gain = np.zeros((len(states), len(states))), np.zeros(len(states))
        for k, state in enumerate(states):
            stage = game.stage(state)
            if not stage.is_terminal:
                pairs = np.outer(attacker.policies[state][:, theta], defender.mixes[state])
                gain[k] = (pairs * stage.reward[:, :, theta]).sum()
                for o, chance in enumerate(pairs.ravel() @ stage.law.toarray()):
                    law[k, states.index(stage.outcomes[o].state)] += chance
        values.append(np.linalg.solve(np.eye(len(states)) - game.discount * law, gain))
    return sum(float(values[t][states.index(s.state)] * p) for s in game.starts for t, p in enumerate(s.mass))


def random_stationary(game: Game, seed: int) -> tuple[StationaryAttacker, StationaryDefender]:
    attacker, defender = random_attacker(game, seed, "stationary"), random_defender(game, seed, "stationary")
    played = [state for state in game.explore() if not game.is_terminal(state)]
    none: FloatArray = np.zeros((0, len(game.intents)))
    over = [state for state in game.explore() if game.is_terminal(state)]
    return (
        StationaryAttacker({s: attacker.policy(s, None) for s in played} | dict.fromkeys(over, none)),
        StationaryDefender({s: defender.mix(s, None) for s in played} | dict.fromkeys(over, none[:, 0])),
    )


def test_uniform_play_of_a_repeated_game_earns_a_quarter_a_stage() -> None:
    game = ncirl.games.aumann_maschler_1(p=0.25, horizon=7, discount=1.0)
    payoff = expected_payoff(game, uniform_attacker(game), uniform_defender(game))
    assert payoff.value == pytest.approx(7 / 4, abs=ROUNDING)
    assert payoff.per_intent == pytest.approx([7 / 4, 7 / 4], abs=ROUNDING)
    assert (payoff.error, payoff.stages) == (0.0, 7)


def test_the_big_match_won_at_once_pays_for_ever() -> None:
    game = ncirl.games.big_match(p=0.5, discount=0.9)
    top = StationaryAttacker({"alive": np.array([[1.0, 0.0], [0.0, 1.0]]), "won": np.ones((1, 2))})
    left = StationaryDefender({"alive": np.array([0.5, 0.5]), "won": np.ones(1)})
    payoff = expected_payoff(game, top, left)
    assert payoff.per_intent == pytest.approx([5.0, 5.0], abs=1e-8)  # ½ / (1 − γ) each
    assert payoff.error <= 1e-9


def test_stages_cut_the_sum_and_leave_no_error() -> None:
    game = ncirl.games.aumann_maschler_1(discount=0.5)
    payoff = expected_payoff(game, uniform_attacker(game), uniform_defender(game), stages=3)
    assert payoff.value == pytest.approx(0.25 * 1.75, abs=ROUNDING)
    assert (payoff.error, payoff.stages) == (0.0, 3)
    assert expected_payoff(game, uniform_attacker(game), uniform_defender(game), stages=0).value == 0.0


def test_more_stages_than_the_horizon_change_nothing() -> None:
    game = ncirl.games.patrol(horizon=2)
    players = uniform_attacker(game), uniform_defender(game)
    assert expected_payoff(game, *players, stages=9).value == expected_payoff(game, *players).value


def test_an_impossible_intent_still_has_a_number() -> None:
    game = ncirl.games.aumann_maschler_1(p=1.0, horizon=4, discount=1.0)
    payoff = expected_payoff(game, uniform_attacker(game), uniform_defender(game))
    assert payoff.per_intent == pytest.approx([1.0, 1.0], abs=ROUNDING)
    assert payoff.value == pytest.approx(1.0, abs=ROUNDING)


@settings(max_examples=60)
@given(
    seed=SEEDS,
    attacker=st.sampled_from(KINDS),
    defender=st.sampled_from(KINDS),
    observes=st.sampled_from(["actions", "outcomes"]),
    signals=st.booleans(),
    horizon=st.sampled_from([None, 1, 2, 3]),
    terminal=st.booleans(),
    n_starts=st.integers(1, 2),
)
def test_payoffs_are_those_of_all_histories(
    seed: int,
    attacker: str,
    defender: str,
    observes: str,
    signals: bool,
    horizon: int | None,
    terminal: bool,
    n_starts: int,
) -> None:
    game = random_game(seed, observes=observes, signals=signals, horizon=horizon, terminal=terminal, n_starts=n_starts)
    players = random_attacker(game, seed, attacker), random_defender(game, seed, defender)
    stages = horizon or 2
    value, weighted = payoff_by_histories(game, *players, stages)
    payoff = expected_payoff(game, *players, stages=stages)
    prior = np.sum([start.mass for start in game.starts], axis=0)
    assert payoff.value == pytest.approx(value, abs=ROUNDING)
    assert payoff.per_intent * prior == pytest.approx(weighted, abs=ROUNDING)


@settings(max_examples=40)
@given(seed=SEEDS, tolerance=st.sampled_from([1.0, 1e-2, 1e-6]), terminal=st.booleans())
def test_the_error_of_an_endless_play_is_honest(seed: int, tolerance: float, terminal: bool) -> None:
    game = random_game(seed, horizon=None, discount=0.9, terminal=terminal, n_intents=3)
    attacker, defender = random_stationary(game, seed)
    payoff = expected_payoff(game, attacker, defender, tolerance=tolerance)
    assert payoff.error <= tolerance
    assert abs(payoff.value - linear_payoff(game, attacker, defender)) <= payoff.error + ROUNDING


def test_memories_without_end_are_refused_with_advice() -> None:
    game = random_game(1, horizon=None, discount=0.9)
    players = random_attacker(game, 1, "public"), random_defender(game, 1, "public")
    with pytest.raises(SizeError, match="use `simulate`"):
        expected_payoff(game, *players, limit=100)


@pytest.mark.parametrize(("wrong", "message"), [({"stages": -1}, "stages"), ({"tolerance": 0.0}, "tolerance")])
def test_wrong_arguments_are_named(wrong: dict[str, float], message: str) -> None:
    game = ncirl.games.patrol(horizon=2)
    with pytest.raises(InputError, match=message):
        expected_payoff(game, uniform_attacker(game), uniform_defender(game), **wrong)


def test_a_game_without_discount_needs_an_end() -> None:
    timed = ncirl.games.patrol(horizon=2, discount=1.0).timed()
    with pytest.raises(InputError, match="needs an end"):
        expected_payoff(timed, uniform_attacker(timed), uniform_defender(timed))
