"""Many small linear programs at once: one matrix, a cost or a right-hand side each, the simplex method on arrays.

    min c_k·x   subject to   M x = q_k,   x ≥ 0 but for free columns,        k = 1, …, n

A library takes longer to wake up than such a program takes to be solved; together, a pivot of all of them is a few
operations on arrays. Every program begins at a feasible basis and stays feasible, so that a pivot that fails, or one
too many, ends a program with an answer that is only not the best. Errors are those of a few dozen pivots of an explicit
inverse: as with any program, no bound is read off an answer.
"""

from dataclasses import dataclass

import numpy as np

from ncirl._typing import BoolArray, FloatArray, IntArray

__all__ = ["Answers", "minimise_together"]

GAINS = 1e-9  # reduced costs above minus this are none
PIVOT = 1e-9  # entries below this are no pivots
TIE = 1e-12  # ratios that differ by less are equal: then the largest pivot is taken
MOST = 20  # pivots, times the number of rows


@dataclass(frozen=True, eq=False)
class Answers:
    """The basis of each program, what its columns are, and what each row is worth, ∂objective/∂q."""

    basis: IntArray  # [k, row]
    level: FloatArray  # [k, row], of the basic columns
    prices: FloatArray  # [k, row]
    pivots: int  # of all programs

    def columns(self, n: int) -> FloatArray:
        """Return x[k, column] for `n` columns."""
        x = np.zeros((len(self.basis), n))
        np.put_along_axis(x, self.basis, self.level, axis=1)
        return x


def minimise_together(
    matrix: FloatArray, costs: FloatArray, sides: FloatArray, basis: IntArray, free: BoolArray
) -> Answers:
    """Solve for costs [k, column] or [column] and sides [k, row] or [row] from feasible bases [k, row].

    Free columns begin in the basis, all of them, and stay there.
    """
    (n_rows, n_columns), n, by_column = matrix.shape, len(basis), np.ascontiguousarray(matrix.T)
    cost = np.broadcast_to(costs, (n, n_columns))
    basis, inverse = basis.copy(), np.linalg.inv(by_column[basis].transpose(0, 2, 1))
    level = np.matmul(inverse, np.broadcast_to(sides, (n, n_rows))[:, :, None])[:, :, 0]
    basic_cost = np.take_along_axis(cost, basis, axis=1)
    answers = Answers(basis.copy(), level.copy(), np.zeros((n, n_rows)), 0)
    at, pivots = np.arange(n), 0  # the programs that go on
    for last in [False] * (MOST * n_rows) + [True]:
        prices = np.matmul(basic_cost[:, None, :], inverse)[:, 0]
        reduced = cost - prices @ matrix
        enters, each = reduced.argmin(axis=1), np.arange(len(at))
        goes_on = (reduced[each, enters] < -GAINS) & (not last)
        if not goes_on.all():
            ended, those = ~goes_on, at[~goes_on]
            answers.basis[those], answers.level[those], answers.prices[those] = (
                basis[ended],
                level[ended],
                prices[ended],
            )
            if not goes_on.any():
                break
            at, basis, inverse, level = at[goes_on], basis[goes_on], inverse[goes_on], level[goes_on]
            cost, basic_cost, prices, enters = cost[goes_on], basic_cost[goes_on], prices[goes_on], enters[goes_on]
            each = np.arange(len(at))
        pivots += len(at)
        change = np.matmul(inverse, by_column[enters][:, :, None])[:, :, 0]
        falls = (change > PIVOT) & ~free[basis]
        ratio = np.where(falls, level / np.where(falls, change, 1.0), np.inf)
        step = ratio.min(axis=1)
        if not np.isfinite(step).all():  # by rounding, for every program has an optimum: then all end where they are
            answers.basis[at], answers.level[at], answers.prices[at] = basis, level, prices
            break
        leaves = np.where(ratio <= step[:, None] + TIE, change, -1.0).argmax(axis=1)
        row = inverse[each, leaves] / change[each, leaves][:, None]
        inverse -= change[:, :, None] * row[:, None, :]
        inverse[each, leaves] = row
        level = np.maximum(level - step[:, None] * change, np.where(free[basis], -np.inf, 0.0))
        level[each, leaves] = step
        basis[each, leaves] = enters
        basic_cost[each, leaves] = cost[each, enters]
    return Answers(answers.basis, answers.level, answers.prices, pivots)
