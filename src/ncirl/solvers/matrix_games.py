"""Many zero-sum matrix games of one shape at once: the pivots of `matrix_game`, taken in all of them together.

    val M_k = max_{x ∈ Δ} min_j (x'M_k)_j = min_{y ∈ Δ} max_i (M_k y)_i,        k = 1, …, n

A small game takes NumPy longer to look at than to solve; a pivot of a hundred of them takes about as long as two. As
there, nothing is read off a tableau: values and gaps are worked out from the strategies, clipped and normalised. What
is special, payoffs far apart or a tableau that has not come to its end, is left to `matrix_game`, one by one.
"""

from dataclasses import dataclass

import numpy as np

from ncirl._typing import BoolArray, FloatArray, IntArray
from ncirl.limits import UNLIMITED, Limits
from ncirl.solvers.matrix_game import (
    BETWEEN_CHECKS,
    COST_TOLERANCE,
    FAR,
    GAP_TOLERANCE,
    PIVOTS_PER_ACTION,
    RATIO_FLOOR,
    SADDLE_ROUNDING,
    SOLVING,
    matrix_game,
)

__all__ = ["MatrixGames", "matrix_games"]


@dataclass(frozen=True, eq=False)
class MatrixGames:
    """Solved matrix games, rows maximising; the first axis numbers them."""

    value: FloatArray  # [k], what `row_strategy` guarantees
    row_strategy: FloatArray  # x[k, i]
    column_strategy: FloatArray  # y[k, j]
    by_lp: int  # how many of them the general solver had to be asked about


def matrix_games(payoffs: FloatArray, limits: Limits = UNLIMITED) -> MatrixGames:
    """Solve games [k, i, j], all with rows and columns.

    Raises `InputError`, as `matrix_game` does, when a payoff is not finite.

    Examples
    --------
    >>> games = matrix_games(np.array([[[3.0, -1.0], [-2.0, 4.0]], [[1.0, 2.0], [0.0, 5.0]]]))
    >>> games.value.round(12), games.row_strategy.round(12)
    (array([1., 1.]), array([[0.6, 0.4],
           [1. , 0. ]]))
    """
    n, n_rows, n_columns = payoffs.shape
    each = np.arange(n)
    row_minima, column_maxima = payoffs.min(axis=2), payoffs.max(axis=1)
    low, high = row_minima.min(axis=1), column_maxima.max(axis=1)
    i, j = row_minima.argmax(axis=1), column_maxima.argmin(axis=1)
    saddle = column_maxima[each, j] - row_minima[each, i]
    x, y = np.zeros((n, n_rows)), np.zeros((n, n_columns))
    x[each, i] = y[each, j] = 1.0  # where these are a saddle point, up to a tie that is rounded, they stay
    mixed = saddle > SADDLE_ROUNDING * np.maximum(np.abs(low), np.abs(high))
    alone = (mixed & (high - low > FAR * saddle)) | ~np.isfinite(high - low)
    (those,) = (mixed & ~alone).nonzero()
    if len(those):
        spread = (high - low)[those, None, None]
        unit = (payoffs[those] - low[those, None, None]) / spread
        x[those], y[those] = _tableaux(unit, j[those], limits)
        secured = np.matmul(x[those, None, :], unit)[:, 0].min(axis=1)
        conceded = np.matmul(unit, y[those, :, None])[:, :, 0].max(axis=1)
        alone[those[~(conceded - secured <= GAP_TOLERANCE)]] = True
    by_lp = 0
    for k in alone.nonzero()[0].tolist():
        solved = matrix_game(payoffs[k], limits)
        x[k], y[k], by_lp = solved.row_strategy, solved.column_strategy, by_lp + solved.by_lp
    return MatrixGames(np.matmul(x[:, None, :], payoffs)[:, 0].min(axis=1), x, y, by_lp)


def _tableaux(unit: FloatArray, entering: IntArray, limits: Limits) -> tuple[FloatArray, FloatArray]:
    """Pivot from the columns `entering` to the optima; return both strategies of each game at its last basis."""
    n, m, width = unit.shape
    tableau = np.empty((n, m + 1, width + 1))
    tableau[:, :m, :width] = unit + 1.0
    tableau[:, :m, width], tableau[:, m, :width], tableau[:, m, width] = 1.0, -1.0, 0.0
    basic = np.tile(np.arange(width, width + m), (n, 1))  # the variable of each row and column: ŷ, then slacks
    nonbasic = np.tile(np.arange(width), (n, 1))
    primal, dual = np.zeros((n, width + m)), np.zeros((n, width + m))
    at, each = np.arange(n), np.arange(n)  # the games that go on

    def keep(ended: BoolArray) -> None:
        whose = at[ended, None]
        primal[whose, basic[ended]], dual[whose, nonbasic[ended]] = tableau[ended, :m, width], tableau[ended, m, :width]

    for k in range(PIVOTS_PER_ACTION * (m + width)):
        if k % BETWEEN_CHECKS == BETWEEN_CHECKS - 1:
            limits.check(SOLVING)
        column = tableau[each, :, entering]
        # the least side / entry, turned over, as for one game
        leaving = (column[:, :m] / np.maximum(tableau[:, :m, width], RATIO_FLOOR)).argmax(axis=1)
        pivot = column[each, leaving]
        if not (pivot > 0.0).all():  # by rounding, for every program has an optimum: then all end where they are
            break
        row = tableau[each, leaving]
        row[each, entering], column[each, leaving] = 1.0, -1.0
        tableau[each, leaving] = 0.0
        tableau[each, :, entering] = 0.0
        tableau -= (column / pivot[:, None])[:, :, None] * row[:, None, :]
        basic[each, leaving], nonbasic[each, entering] = nonbasic[each, entering], basic[each, leaving]
        entering = tableau[:, m, :width].argmin(axis=1)
        goes_on = tableau[each, m, entering] < -COST_TOLERANCE
        if not goes_on.all():
            keep(~goes_on)
            at, tableau, entering = at[goes_on], tableau[goes_on], entering[goes_on]
            basic, nonbasic, each = basic[goes_on], nonbasic[goes_on], np.arange(len(at))
            if not len(at):
                break
    keep(np.ones(len(at), dtype=np.bool_))
    return _distributions(dual[:, width:]), _distributions(primal[:, :width])


def _distributions(weights: FloatArray) -> FloatArray:
    """Clip at zero and normalise each row; uniform if nothing is left."""
    clipped = np.maximum(weights, 0.0)
    total = clipped.sum(axis=1, keepdims=True)
    return np.where(total > 0.0, clipped / np.where(total > 0.0, total, 1.0), 1.0 / weights.shape[1])
