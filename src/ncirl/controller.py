"""Against a finite-state controller the opponent faces an MDP over its nodes; here it is, and what it is worth.

Rows are the opponent's choices, grouped by node: ``reward[row]``, and ``moves[row, node]``, the discounted chance of
what follows (the opponent sees the node: that only makes the check stricter). Its value is the fixed point of

    U(n) = max_{rows of n}  reward[row] + Σ_m moves[row, m] U(m)          (min for a minimising opponent),

one column per intent where the attacker responds. No linear program is needed: sweeps from a bound on the right side
stay bounds, and any U at all becomes one by its residual, U + |TU − U|⁺ / (1 − γ), or, where nodes never recur, by
evaluating successors first.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ncirl._typing import FloatArray, IntArray

__all__ = ["Response"]


@dataclass(frozen=True, eq=False)
class Response:
    """What the opponent of a controller faces.

    Attributes
    ----------
    reward : ndarray of shape (rows,) or (rows, Θ)
        Expected reward of each choice.
    moves : csr_array of shape (rows, nodes)
        Discounted chances of the next node.
    first : ndarray of shape (nodes,)
        First row of each node; every node has at least one.
    maximise : bool
        Whether the opponent is the attacker.
    """

    reward: FloatArray
    moves: sp.csr_array
    first: IntArray
    maximise: bool

    def backup(self, values: FloatArray) -> FloatArray:
        """Apply the operator once."""
        best = np.maximum if self.maximise else np.minimum
        answer: FloatArray = best.reduceat(self.reward + self.moves @ values, self.first, axis=0)
        return answer

    def tightened(self, values: FloatArray, sweeps: int) -> FloatArray:
        """Improve a bound: values the opponent cannot beat stay so under the operator."""
        better = np.minimum if self.maximise else np.maximum
        for _ in range(sweeps):
            values = better(values, self.backup(values))
        return values

    def bound(self, values: FloatArray) -> FloatArray:
        """Turn any values into ones the opponent cannot beat, by their residual.

        Needs the chances of every row to sum to less than one; the largest sum is the effective discount.
        """
        excess = self.backup(values) - values if self.maximise else values - self.backup(values)
        discount = float(np.asarray(self.moves.sum(axis=1)).max(initial=0.0))
        slack = np.maximum(excess.max(axis=0), 0.0) / (1.0 - discount) if discount < 1 else np.inf
        return values + slack if self.maximise else values - slack
