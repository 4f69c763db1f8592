"""Zero-sum matrix games: the value, and a strategy for each side that proves it.

    val M = max_{x ∈ Δ} min_j (x'M)_j = min_{y ∈ Δ} max_i (My)_i

With P = (M − min M) / (max M − min M) + 1, which is positive, both sides solve one pair of linear programs,

    max 1'ŷ  s.t.  P ŷ ≤ 1, ŷ ≥ 0          min 1'x̂  s.t.  x̂'P ≥ 1, x̂ ≥ 0,

whose optima, divided by their sums, are y and x. They are found by the simplex method on Tucker's condensed tableau
of (m + 1) × (n + 1) numbers: a pivot is one rank-one update, and x̂ stands in the last row when ŷ does in the last
column. The entering column has the most negative cost; a tie of the ratio test goes to the largest pivot.

Where payoffs lie far apart, rows that are everywhere below what one row secures are left out first, and columns
likewise, until none is left: a penalty of 1e9 would cost the other payoffs their digits.

No number is read off the tableau. The strategies are clipped and normalised first, and ``value = min_j (x'M)_j``,
``gap = max_i (My)_i − value`` follow from them. Should the pivots run out (a cycle through ties) or the gap exceed
`GAP_TOLERANCE` of the payoffs' spread, HiGHS solves the program instead, and the better pair is kept.

References
----------
A. W. Tucker, Solving a matrix game by linear programming, IBM Journal of Research and Development 4 (1960).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg.blas import dger

from ncirl._typing import BoolArray, FloatArray
from ncirl.errors import InputError
from ncirl.limits import UNLIMITED, Limits

__all__ = ["GAP_TOLERANCE", "MatrixGame", "matrix_game"]

GAP_TOLERANCE = 1e-9  # of the spread of the payoffs
SADDLE_ROUNDING = 4 * np.finfo(np.float64).eps  # of the largest payoff
FAR = 1e3  # times what pure strategies leave open: payoffs so far apart can hardly all be of use
COST_TOLERANCE = 1e-12  # a cost above minus this does not enter
RATIO_FLOOR = 1e-12  # right-hand sides below this tie at zero
PIVOTS_PER_ACTION = 20  # random games take about one
SOLVING = "solving the games with public intents"
BETWEEN_CHECKS = 16  # pivots
LP_TOLERANCE = 1e-10  # the least HiGHS accepts


@dataclass(frozen=True, eq=False)
class MatrixGame:
    """A solved matrix game, rows maximising."""

    value: float  # what `row_strategy` guarantees
    row_strategy: FloatArray  # x[i]
    column_strategy: FloatArray  # y[j]
    gap: float  # how much more than `value` the rows can get at most against `column_strategy`
    by_lp: bool = False  # whether the general solver had to be asked


def matrix_game(payoff: ArrayLike, limits: Limits = UNLIMITED) -> MatrixGame:
    """Solve a zero-sum matrix game.

    Parameters
    ----------
    payoff : array_like of shape (m, n)
        What the column player pays the row player.
    limits : Limits
        Of time and memory, asked now and then.

    Raises
    ------
    InputError
        When the matrix is empty or not finite.

    Examples
    --------
    >>> game = matrix_game([[3, -1], [-2, 4]])
    >>> round(game.value, 12), game.row_strategy.round(12)
    (1.0, array([0.6, 0.4]))
    """
    matrix = np.asarray(payoff, dtype=np.float64)
    if matrix.ndim != 2 or matrix.size == 0:
        raise InputError(f"payoff: a matrix with rows and columns is needed, got shape {matrix.shape}")
    row_minima, column_maxima = matrix.min(axis=1), matrix.max(axis=0)
    low = float(row_minima.min())
    spread = float(column_maxima.max()) - low
    if not np.isfinite(spread):
        raise InputError("payoff: every entry must be finite, and so must their differences")
    i, j = row_minima.argmax(), column_maxima.argmin()
    saddle = float(column_maxima[j] - row_minima[i])
    if saddle <= SADDLE_ROUNDING * max(abs(low), abs(low + spread)):  # pure strategies, also where a tie is rounded
        x, y = np.zeros(matrix.shape[0]), np.zeros(matrix.shape[1])
        x[i] = y[j] = 1.0
        return MatrixGame(float(row_minima[i]), x, y, saddle)
    if spread > FAR * saddle:
        rows, columns = _of_use(matrix)
        if not (rows.all() and columns.all()):
            return _within(matrix, rows, columns, limits)
    unit = (matrix - low) / spread
    x, y = _tableau(unit, j, limits)
    lower, upper = _guarantees(unit, x, y)
    by_lp = upper - lower > GAP_TOLERANCE
    if by_lp:
        other_x, other_y = _linear_program(unit, limits)
        other_lower, other_upper = _guarantees(unit, other_x, other_y)
        if other_lower > lower:
            x, lower = other_x, other_lower
        if other_upper < upper:
            y, upper = other_y, other_upper
    return MatrixGame(low + spread * lower, x, y, spread * max(upper - lower, 0.0), by_lp)


def _of_use(matrix: FloatArray) -> tuple[BoolArray, BoolArray]:
    """Tell which rows and columns may be of use: the others are worse than a safe one whatever is played."""
    rows, columns = np.ones(matrix.shape[0], dtype=np.bool_), np.ones(matrix.shape[1], dtype=np.bool_)
    left = -1
    while left != (left := int(rows.sum() + columns.sum())):
        part = matrix[np.ix_(rows, columns)]
        secured, conceded = part.min(axis=1).max(), part.max(axis=0).min()
        rows[rows] = part.max(axis=1) >= secured
        columns[columns] = part.min(axis=0) <= conceded
    return rows, columns


def _within(matrix: FloatArray, rows: BoolArray, columns: BoolArray, limits: Limits) -> MatrixGame:
    """Solve with some rows and columns only, and work out what that is worth against all."""
    solved = matrix_game(matrix[np.ix_(rows, columns)], limits)
    x, y = np.zeros(len(rows)), np.zeros(len(columns))
    x[rows], y[columns] = solved.row_strategy, solved.column_strategy
    lower, upper = _guarantees(matrix, x, y)
    return MatrixGame(lower, x, y, max(upper - lower, 0.0), solved.by_lp)


def _guarantees(unit: FloatArray, x: FloatArray, y: FloatArray) -> tuple[float, float]:
    return float((x @ unit).min()), float((unit @ y).max())


def _tableau(unit: FloatArray, entering: np.intp, limits: Limits) -> tuple[FloatArray, FloatArray]:
    """Pivot from column `entering` to the optimum; return both strategies at the last basis."""
    m, n = unit.shape
    tableau = np.empty((m + 1, n + 1), order="F")  # the layout BLAS updates in place
    tableau[:m, :n] = unit
    tableau[:m, :n] += 1.0
    tableau[:m, n], tableau[m, :n], tableau[m, n] = 1.0, -1.0, 0.0
    costs, sides = tableau[m, :n], tableau[:m, n]
    basic, nonbasic = list(range(n, n + m)), list(range(n))  # the variable of each row and column: ŷ, then slacks
    column, row, ratios = np.empty(m + 1), np.empty(n + 1), np.empty(m)
    entries, floor = column[:m], np.full(m, RATIO_FLOOR)
    for k in range(PIVOTS_PER_ACTION * (m + n)):
        if k % BETWEEN_CHECKS == BETWEEN_CHECKS - 1:
            limits.check(SOLVING)
        column[:] = tableau[:, entering]
        # the least side / entry, turned over: no division by zero, and ties at zero prefer the largest entry
        np.maximum(sides, floor, out=ratios)
        np.divide(entries, ratios, out=ratios)
        leaving = ratios.argmax()
        pivot = float(column[leaving])
        if pivot <= 0.0:
            break
        row[:] = tableau[leaving]
        # with row and column emptied, the update writes their new entries too
        row[entering], column[leaving] = 1.0, -1.0
        tableau[leaving] = 0.0
        tableau[:, entering] = 0.0
        dger(-1.0 / pivot, column, row, 1, 1, tableau, 1, 1, 1)  # by position: keywords cost half as much again
        basic[leaving], nonbasic[entering] = nonbasic[entering], basic[leaving]
        entering = costs.argmin()
        if costs[entering] >= -COST_TOLERANCE:
            break
    primal, dual = np.zeros(n + m), np.zeros(n + m)
    primal[basic], dual[nonbasic] = sides, costs
    return _distribution(dual[n:]), _distribution(primal[:n])


def _linear_program(unit: FloatArray, limits: Limits) -> tuple[FloatArray, FloatArray]:
    """Solve max 1'ŷ s.t. P ŷ ≤ 1 by HiGHS; its row duals are x̂."""
    import highspy  # slow to load, and hardly ever needed

    m, n = unit.shape
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = n, m
    lp.sense_ = highspy.ObjSense.kMaximize
    lp.col_cost_, lp.col_lower_, lp.col_upper_ = np.ones(n), np.zeros(n), np.full(n, highspy.kHighsInf)
    lp.row_lower_, lp.row_upper_ = np.full(m, -highspy.kHighsInf), np.ones(m)
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_ = np.arange(0, m * n + 1, n)
    lp.a_matrix_.index_ = np.tile(np.arange(n), m)
    lp.a_matrix_.value_ = (unit + 1.0).ravel()
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    highs.setOptionValue("threads", 1)
    highs.setOptionValue("primal_feasibility_tolerance", LP_TOLERANCE)
    highs.setOptionValue("dual_feasibility_tolerance", LP_TOLERANCE)
    if limits.left < np.inf:
        highs.setOptionValue("time_limit", max(limits.left, 0.0))
    highs.passModel(lp)
    highs.run()
    limits.check(SOLVING)
    solution = highs.getSolution()
    return _distribution(np.array(solution.row_dual)), _distribution(np.array(solution.col_value))


def _distribution(weights: FloatArray) -> FloatArray:
    """Clip at zero and normalise; uniform if nothing is left."""
    clipped = np.maximum(weights, 0.0)
    total = clipped.sum()
    return clipped / total if total > 0.0 else np.full(len(weights), 1.0 / len(weights))
