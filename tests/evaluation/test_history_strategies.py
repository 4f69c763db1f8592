"""Strategies of the history program, played in the game itself: they earn the value and nobody can exploit them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ncirl
from ncirl.evaluation import (
    best_response_to_attacker,
    best_response_to_defender,
    expected_payoff,
    exploitability,
)
from ncirl.model.game import Game
from ncirl.solvers.history_lp.history_lp import HistoryLP
from ncirl.solvers.history_lp.strategies import HistoryAttacker, HistoryDefender
from random_games import random_game

LP_ACCURACY = 1e-6
SAME = 1e-9  # what the tree says and what play says


def check(game: Game) -> None:
    solution = ncirl.solve(game, HistoryLP())
    attacker, defender = HistoryAttacker(solution), HistoryDefender(solution)
    assert best_response_to_attacker(game, attacker).value == pytest.approx(solution.lower, abs=SAME)
    assert best_response_to_defender(game, defender).value == pytest.approx(solution.upper, abs=SAME)
    value = expected_payoff(game, attacker, defender).value
    assert solution.lower - SAME <= value <= solution.upper + SAME
    assert abs(exploitability(game, attacker, defender).nash_conv) <= LP_ACCURACY


@settings(max_examples=40)
@given(
    seed=st.integers(0, 2**20),
    observes=st.sampled_from(["actions", "outcomes"]),
    signals=st.booleans(),
    terminal=st.booleans(),
    n_starts=st.integers(1, 3),
    discount=st.sampled_from([0.5, 1.0]),
)
def test_the_pair_earns_the_value_and_cannot_be_exploited(
    seed: int, observes: str, signals: bool, terminal: bool, n_starts: int, discount: float
) -> None:
    check(
        random_game(
            seed,
            n_states=3,
            n_actions=(3, 2),
            observes=observes,
            signals=signals,
            terminal=terminal,
            n_starts=n_starts,
            horizon=3,
            discount=discount,
        )
    )


@pytest.mark.parametrize("observes", ["actions", "outcomes"])
@pytest.mark.parametrize("horizon", [1, 2, 4])
def test_states_that_were_merged_are_told_apart_again(observes: str, horizon: int) -> None:
    check(ncirl.games.patrol(horizon=horizon, discount=1.0, observes=observes))


def test_the_patrol_pair_is_worth_seven_eighths() -> None:
    game = ncirl.games.patrol(horizon=2, discount=1.0)
    solution = ncirl.solve(game, HistoryLP())
    pair = HistoryAttacker(solution), HistoryDefender(solution)
    assert expected_payoff(game, *pair).value == pytest.approx(7 / 8, abs=LP_ACCURACY)
