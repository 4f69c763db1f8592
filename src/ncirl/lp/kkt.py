"""How good an answer to a linear program really is: violations of its optimality conditions.

For ``min c·x`` with bounds on the rows Ax and the columns x, multipliers y and reduced costs z = c − Aᵀy must be
non-negative where only a lower bound exists, non-positive where only an upper one does, zero where neither, and a
non-zero price may stand only at a bound.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ncirl._typing import FloatArray

__all__ = ["KKT", "residuals"]


@dataclass(frozen=True)
class KKT:
    """Largest violations, absolute."""

    primal: float
    dual: float
    complementarity: float

    @property
    def worst(self) -> float:
        """The largest of them."""
        return max(self.primal, self.dual, self.complementarity)


@dataclass(frozen=True, eq=False)
class _Bounded:
    """Quantities with their bounds and their prices in a minimisation."""

    at: FloatArray
    lower: FloatArray
    upper: FloatArray
    price: FloatArray

    def residuals(self) -> KKT:
        """Check these quantities alone."""
        to_lower = np.where(np.isinf(self.lower), np.inf, self.at - self.lower)
        to_upper = np.where(np.isinf(self.upper), np.inf, self.upper - self.at)
        held = np.where(self.price > 0, to_lower, to_upper)  # the bound that would justify the price
        wrong_sign = np.where(np.isinf(held), np.abs(self.price), 0.0)
        loose = np.where(np.isinf(held), 0.0, np.abs(self.price * np.where(np.isinf(held), 0.0, held)))
        return KKT(
            primal=float(np.max(-np.minimum(to_lower, to_upper), initial=0.0)),
            dual=float(np.max(wrong_sign, initial=0.0)),
            complementarity=float(np.max(loose, initial=0.0)),
        )


def residuals(
    cost: FloatArray,
    matrix: sp.csr_array | sp.csc_array,
    columns: tuple[FloatArray, FloatArray, FloatArray],
    rows: tuple[FloatArray, FloatArray],
    prices: FloatArray,
) -> KKT:
    """Check an answer to a minimisation.

    Parameters
    ----------
    cost, matrix : ndarray of shape (n,), sparse array of shape (m, n)
        The program.
    columns : tuple
        Values x, lower and upper bounds of the columns.
    rows : tuple
        Lower and upper bounds of the rows.
    prices : ndarray of shape (m,)
        Row multipliers y.
    """
    parts = (
        _Bounded(matrix @ columns[0], *rows, prices).residuals(),
        _Bounded(*columns, cost - matrix.T @ prices).residuals(),
    )
    return KKT(
        primal=max(part.primal for part in parts),
        dual=max(part.dual for part in parts),
        complementarity=max(part.complementarity for part in parts),
    )
