from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from scipy.optimize import linprog

from ncirl.errors import InputError
from ncirl.solvers import matrix_game as module
from ncirl.solvers import matrix_games as together
from ncirl.solvers.matrix_game import GAP_TOLERANCE, MatrixGame, matrix_game
from ncirl.solvers.matrix_games import matrix_games

TIGHT = 1e-12  # of the payoffs' spread: hand-solved games
ORACLE = 1e-7  # of the payoffs' spread: what linprog promises
ROUNDING = 1e-13  # of the largest payoff: sums of products


def linprog_value(payoff):
    m, n = payoff.shape
    low, spread = payoff.min(), np.ptp(payoff) or 1.0
    unit = (payoff - low) / spread
    answer = linprog(
        np.append(np.zeros(m), -1.0),
        A_ub=np.hstack([-unit.T, np.ones((n, 1))]),
        b_ub=np.zeros(n),
        A_eq=np.append(np.ones(m), 0.0)[None],
        b_eq=[1.0],
        bounds=[(0, None)] * m + [(None, None)],
        method="highs",
    )
    assert answer.status == 0
    return low - spread * answer.fun


def two_by_two_value(payoff):
    (a, b), (c, d) = payoff
    lower, upper = max(min(a, b), min(c, d)), min(max(a, c), max(b, d))
    return lower if lower >= upper else (a * d - b * c) / (a + d - b - c)


def check(payoff, game: MatrixGame):
    """What a solution claims, recomputed from the strategies alone."""
    size = np.abs(payoff).max()
    for plan, length in ((game.row_strategy, payoff.shape[0]), (game.column_strategy, payoff.shape[1])):
        assert plan.shape == (length,)
        assert (plan >= 0).all()
        assert plan.sum() == pytest.approx(1, abs=ROUNDING)
    assert (game.row_strategy @ payoff).min() == pytest.approx(game.value, abs=ROUNDING * size)
    assert (payoff @ game.column_strategy).max() == pytest.approx(game.value + game.gap, abs=ROUNDING * size)
    assert 0 <= game.gap <= GAP_TOLERANCE * np.ptp(payoff)


@pytest.mark.parametrize(
    ("payoff", "value", "x", "y"),
    [
        ([[1, -1], [-1, 1]], 0, [1 / 2, 1 / 2], [1 / 2, 1 / 2]),
        ([[0, -1, 1], [1, 0, -1], [-1, 1, 0]], 0, [1 / 3] * 3, [1 / 3] * 3),
        ([[3, -1], [-2, 4]], 1, [3 / 5, 2 / 5], [1 / 2, 1 / 2]),
        ([[3, -1], [-2, 4], [-3, -2]], 1, [3 / 5, 2 / 5, 0], [1 / 2, 1 / 2]),  # a dominated row
        ([[3, -1, 4], [-2, 4, 5]], 1, [3 / 5, 2 / 5], [1 / 2, 1 / 2, 0]),  # a dominated column
        ([[4, 1, 2], [6, 3, 5], [9, 0, 1]], 3, [0, 1, 0], [0, 1, 0]),  # a saddle point
        ([[1, 0, 0], [0, 2, 0], [0, 0, 3]], 6 / 11, [6 / 11, 3 / 11, 2 / 11], [6 / 11, 3 / 11, 2 / 11]),
    ],
)
def test_hand_solved(payoff, value, x, y):
    game = matrix_game(payoff)
    assert game.value == pytest.approx(value, abs=TIGHT)
    assert game.row_strategy == pytest.approx(x, abs=TIGHT)
    assert game.column_strategy == pytest.approx(y, abs=TIGHT)
    assert game.gap <= TIGHT
    assert not game.by_lp


@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (5, 1), (4, 7)])
@pytest.mark.parametrize("constant", [0.0, -3.5, 1e9, 1e-300])
def test_all_equal(shape, constant):
    game = matrix_game(np.full(shape, constant))
    assert game.value == constant
    assert game.gap == 0
    check(np.full(shape, constant), game)


def test_one_row_and_one_column_are_pure():
    assert matrix_game([[3.0, 1.0, 2.0]]).value == 1
    assert matrix_game([[3.0], [1.0], [2.0]]).value == 3


def test_equal_rows_and_columns_are_harmless():
    pennies = np.kron([[1.0, -1.0], [-1.0, 1.0]], np.ones((7, 5)))
    game = matrix_game(pennies)
    assert game.value == pytest.approx(0, abs=TIGHT)
    check(pennies, game)


def test_the_input_is_left_alone():
    payoff = np.array([[3.0, -1.0], [-2.0, 4.0]])
    matrix_game(payoff)
    np.testing.assert_array_equal(payoff, [[3, -1], [-2, 4]])


@pytest.mark.parametrize("payoff", [[], [[]], np.zeros((0, 3)), [1.0, 2.0], np.zeros((2, 2, 2))])
def test_shapes_that_are_no_game(payoff):
    with pytest.raises(InputError, match="rows and columns"):
        matrix_game(payoff)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_payoffs_must_be_finite(bad):
    with pytest.raises(InputError, match="finite"):
        matrix_game([[1.0, 2.0], [bad, 0.0]])


@given(npst.arrays(float, (2, 2), elements=st.integers(-5, 5).map(float)))
def test_two_by_two_closed_form(payoff):
    assert matrix_game(payoff).value == pytest.approx(two_by_two_value(payoff), abs=10 * TIGHT)


SHAPES = st.tuples(st.integers(1, 12), st.integers(1, 12)) | st.sampled_from([(40, 3), (3, 40), (25, 25)])
ELEMENTS = {
    "floats": lambda rng, shape: rng.normal(size=shape),
    "ties": lambda rng, shape: rng.integers(-1, 3, shape).astype(float),
    "sparse": lambda rng, shape: (rng.random(shape) < 0.15).astype(float),
    "skew": lambda rng, shape: np.exp(4 * rng.normal(size=shape)),
    "low rank": lambda rng, shape: rng.integers(-2, 3, (shape[0], 2)) @ rng.integers(-2, 3, (2, shape[1])) * 1.0,
}


@pytest.mark.parametrize("elements", ELEMENTS)
@given(shape=SHAPES, seed=st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_agrees_with_linprog(elements, shape, seed):
    payoff = ELEMENTS[elements](np.random.default_rng(seed), shape)
    game = matrix_game(payoff)
    check(payoff, game)
    assert game.value == pytest.approx(linprog_value(payoff), abs=ORACLE * max(np.ptp(payoff), TIGHT))


@given(
    seed=st.integers(0, 2**32 - 1),
    factor=st.sampled_from([1e-6, 1e-3, 1.0, 1e4, 1e9]),
    shift=st.sampled_from([0.0, -10.0, 1e3]),
)
@settings(deadline=None)
def test_scaled_and_shifted_payoffs_scale_and_shift_the_value(seed, factor, shift):
    payoff = np.random.default_rng(seed).normal(size=(6, 5))
    plain, moved = matrix_game(payoff), matrix_game(factor * (payoff + shift))
    check(factor * (payoff + shift), moved)
    assert moved.value == pytest.approx(factor * (plain.value + shift), abs=1e-10 * factor * np.ptp(payoff))


@given(seed=st.integers(0, 2**32 - 1))
def test_exchanging_the_players_changes_the_sign(seed):
    payoff = np.random.default_rng(seed).integers(-3, 4, (5, 7)).astype(float)
    assert matrix_game(-payoff.T).value == pytest.approx(-matrix_game(payoff).value, abs=100 * TIGHT)


@pytest.mark.parametrize("size", [64, 100])
@pytest.mark.parametrize("density", [0.1, 0.5])
def test_large_games_with_many_ties_need_no_linear_program(size, density):
    for seed in range(5):
        payoff = (np.random.default_rng(seed).random((size, size)) < density).astype(float)
        game = matrix_game(payoff)
        check(payoff, game)
        assert not game.by_lp


def test_without_pivots_the_linear_program_steps_in(monkeypatch):
    monkeypatch.setattr(module, "PIVOTS_PER_ACTION", 0)
    payoff = np.random.default_rng(3).normal(size=(9, 8))
    game = matrix_game(payoff)
    assert game.by_lp
    check(payoff, game)
    assert game.value == pytest.approx(linprog_value(payoff), abs=ORACLE * np.ptp(payoff))


def check_all(payoffs, games):
    """What many games solved at once claim, recomputed from the strategies; the values are those of each alone."""
    for payoff, value, x, y in zip(payoffs, games.value, games.row_strategy, games.column_strategy, strict=True):
        gap = max((payoff @ y).max() - value, 0.0)
        check(payoff, MatrixGame(value, x, y, gap))
        assert value == pytest.approx(matrix_game(payoff).value, abs=GAP_TOLERANCE * max(np.ptp(payoff), TIGHT))


@pytest.mark.parametrize("elements", ELEMENTS)
@given(shape=SHAPES, seed=st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_many_at_once_are_what_each_is_alone(elements, shape, seed):
    rng = np.random.default_rng(seed)
    payoffs = np.array([ELEMENTS[elements](rng, shape) for _ in range(7)])
    check_all(payoffs, matrix_games(payoffs))


def test_among_many_at_once_special_ones_are_solved_alone(monkeypatch):
    rng = np.random.default_rng(5)
    payoffs = np.array([rng.normal(size=(6, 5)), np.full((6, 5), 2.0), rng.normal(size=(6, 5)), rng.random((6, 5))])
    payoffs[2, 1, 3] = -1e9  # far from the others
    check_all(payoffs, matrix_games(payoffs))
    monkeypatch.setattr(together, "PIVOTS_PER_ACTION", 0)  # no pivot: none of them comes to its end
    check_all(payoffs, matrix_games(payoffs))
    payoffs[1, 0, 0] = np.inf
    with pytest.raises(InputError, match="finite"):
        matrix_games(payoffs)
