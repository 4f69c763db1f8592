"""The certified solver on random games: the exact value is inside, and everything claimed is confirmed."""

from __future__ import annotations

import pytest

from ncirl import Game, Status, solve
from ncirl.solvers.certified.certified import Certified
from random_games import random_game
from solvers.certified_checks import EXACT, certify, enclosure, largest_reward, mixed_game

FEW, MANY = 30, 300
EACH_CHANGED = 6  # of how many games one is also tried in other units
GAP = 1e-3
SECONDS = 20.0
CHANGES = [(1e-3, 0.0), (1e4, 0.0), (1.0, 5.0), (1.0, -1000.0)]


def assert_valid(game: Game, gap: float, seconds: float) -> Status:
    """Hold the bounds against the exact value, whether or not they came as close as they should in that time."""
    solution = solve(game, Certified(gap=gap, time_limit=seconds))
    certify(solution, gap=gap)
    low, high = enclosure(game)
    stages = game.horizon or 1 / (1 - game.discount)
    slack = EXACT * largest_reward(game) * stages
    assert solution.lower <= high + slack
    assert solution.upper >= low - slack
    return solution.status


def assert_enclosed(game: Game, gap: float) -> None:
    assert assert_valid(game, gap, SECONDS) is Status.GAP_REACHED


@pytest.mark.parametrize("seed", range(FEW))
def test_the_exact_value_is_enclosed(seed: int) -> None:
    assert_enclosed(mixed_game(seed), GAP)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(FEW, MANY))
def test_the_exact_value_is_enclosed_in_many_more(seed: int) -> None:
    assert_enclosed(mixed_game(seed), GAP)


def assert_enclosed_in_other_units(seed: int, factor: float, shift: float) -> None:
    game = mixed_game(seed)
    other = game.scaled(factor, shift)
    assert_enclosed(other, GAP * largest_reward(other) / largest_reward(game))


@pytest.mark.parametrize(("factor", "shift"), CHANGES)
@pytest.mark.parametrize("seed", range(0, FEW, EACH_CHANGED))
def test_the_same_in_other_units(seed: int, factor: float, shift: float) -> None:
    assert_enclosed_in_other_units(seed, factor, shift)


@pytest.mark.timeout(60)
def test_a_gap_that_is_fine_for_the_rewards_ends_too() -> None:
    game = random_game(15, n_actions=(2, 3), n_intents=3, horizon=3, discount=1.0, terminal=True, n_starts=2)
    assert_enclosed(game.scaled(1.0, -1000.0), GAP)  # a millionth of the payoffs: near the accuracy of the programs


@pytest.mark.slow
@pytest.mark.parametrize(("factor", "shift"), CHANGES)
@pytest.mark.parametrize("seed", range(FEW, MANY))
def test_the_same_in_other_units_in_many_more(seed: int, factor: float, shift: float) -> None:
    assert_enclosed_in_other_units(seed, factor, shift)
