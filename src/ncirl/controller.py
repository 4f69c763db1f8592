"""Against a finite-state controller the opponent faces an MDP over its nodes; here it is, and what it is worth.

Rows are the opponent's choices, grouped by node: ``reward[row]``, and ``moves[row, node]``, the discounted chance of
what follows (the opponent sees the node: that only makes the check stricter). Its value is the fixed point of

    U(n) = max_{rows of n}  reward[row] + Σ_m moves[row, m] U(m)          (min for a minimising opponent),

one column per intent where the attacker responds. No linear program is needed: sweeps from a bound on the right side
stay bounds, and any U at all becomes one by its residual, U + |TU − U|⁺ / (1 − γ), or, where nodes never recur, by
evaluating successors first. `Response.solved` does both, level by level of the graph of nodes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ncirl._typing import FloatArray, IntArray

__all__ = ["Response", "spans"]

SETTLED = 1e-9  # tightening ends when nothing moves by more
ACCURACY = 1e-12  # relative to what can be won; where sweeps end
CLOSE = 10  # times that: where a policy is good enough, such as one that was found before
ROUNDS = 200  # improvements of the opponent's policy, at most
SWEEPS = 1000  # in the evaluation of one policy, at most


def spans(begin: IntArray, end: IntArray) -> IntArray:
    """Concatenate the ranges begin[k] … end[k] − 1."""
    lengths = end - begin
    offsets = np.repeat(begin - np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(np.intp), lengths)
    return offsets + np.arange(lengths.sum(), dtype=np.intp)


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

    @property
    def discount(self) -> float:
        """The largest sum of a row's chances."""
        return float(np.asarray(self.moves.sum(axis=1)).max(initial=0.0))

    def backup(self, values: FloatArray) -> FloatArray:
        """Apply the operator once."""
        return self._best(self.reward + self.moves @ values)

    def tightened(self, values: FloatArray, sweeps: int, floor: FloatArray | float | None = None) -> FloatArray:
        """Improve a bound: values the opponent cannot beat stay so under the operator.

        Parameters
        ----------
        values : ndarray
            Values the opponent cannot beat.
        sweeps : int
            How often to apply the operator at the most; fewer when nothing moves any more.
        floor : ndarray, optional
            Per node, what choices that are not among the rows are worth to the opponent at most.
        """
        worse, better = (np.maximum, np.minimum) if self.maximise else (np.minimum, np.maximum)
        for _ in range(sweeps):
            answer = self.backup(values)
            before, values = values, better(values, answer if floor is None else worse(answer, floor))
            if float(np.abs(values - before).max(initial=0.0)) < SETTLED:
                break
        return values

    def answers(self, values: FloatArray) -> IntArray:
        """Return the rows that are best against some values, per node (and intent)."""
        row_values = self.reward + self.moves @ values
        return self._reaching(row_values, self._best(row_values))

    def bound(self, values: FloatArray) -> FloatArray:
        """Turn any values into ones the opponent cannot beat, by their residual.

        Needs the chances of every row to sum to less than one; the largest sum is the effective discount.
        """
        excess = self.backup(values) - values if self.maximise else values - self.backup(values)
        discount = self.discount
        slack = np.maximum(excess.max(axis=0), 0.0) / (1.0 - discount) if discount < 1 else np.inf
        return values + slack if self.maximise else values - slack

    def solved(self, hint: FloatArray | None = None) -> FloatArray:
        """Return values the opponent cannot beat, and that its best answer reaches up to `ACCURACY`.

        Where nodes recur without any discount there is no bound: the values are infinite.

        Parameters
        ----------
        hint : ndarray, optional
            Where sweeps begin; a good one saves time, any one gives a bound.
        """
        values: FloatArray = np.zeros((len(self.first), *self.reward.shape[1:]))
        ends = np.append(self.first[1:], len(self.reward)).astype(np.intp)
        for nodes in self.levels():
            rows = spans(self.first[nodes], ends[nodes])
            moves = self.moves[rows]
            widths = ends[nodes] - self.first[nodes]
            inside = Response(
                self.reward[rows] + moves @ values,  # this level's own values are still 0
                sp.csr_array(moves[:, nodes]),
                np.cumsum(widths) - widths,
                self.maximise,
            )
            begin = values[nodes] if hint is None else hint[nodes]
            values[nodes] = inside.bound(inside._iterated(begin)) if inside.moves.nnz else inside._best(inside.reward)
        return values

    def levels(self) -> list[IntArray]:
        """Group the nodes so that each leads to earlier groups, or to nodes of its own that lead back to it."""
        from scipy.sparse.csgraph import connected_components  # slow to load, and play does without it

        n = len(self.first)
        owner = np.repeat(np.arange(n), np.diff(np.append(self.first, len(self.reward))))
        entries = self.moves.tocoo()
        met = entries.data > 0
        here, there = owner[entries.row[met]], entries.col[met]
        _, part = connected_components(
            sp.csr_array((np.ones(len(here)), (here, there)), shape=(n, n)), connection="strong"
        )
        # between the parts there is no cycle: peel off what leads nowhere, then what led only there, and so on
        pairs = np.unique(np.stack([part[there], part[here]])[:, part[here] != part[there]], axis=1)
        waiting = np.bincount(pairs[1], minlength=n)
        starts = np.searchsorted(pairs[0], np.arange(n + 1))
        level = np.zeros(n, dtype=np.intp)  # by part
        ready = np.flatnonzero(waiting == 0)
        depth = 0
        while len(ready):
            level[ready] = depth
            before = pairs[1][spans(starts[ready], starts[ready + 1])]
            np.subtract.at(waiting, before, 1)
            ready = np.unique(before[waiting[before] == 0])
            depth += 1
        order = np.argsort(level[part], kind="stable")
        cuts = np.flatnonzero(np.diff(level[part][order])) + 1
        return [nodes for nodes in np.split(order, cuts) if len(nodes)]

    def _best(self, row_values: FloatArray) -> FloatArray:
        best = np.maximum if self.maximise else np.minimum
        answer: FloatArray = best.reduceat(row_values, self.first, axis=0)
        return answer

    def _iterated(self, values: FloatArray) -> FloatArray:
        """Approach the fixed point by policy iteration."""
        discount = self.discount
        if not discount < 1:
            return values
        enough = ACCURACY * float(np.abs(self.reward).max(initial=0.0))
        for _ in range(ROUNDS):
            row_values = self.reward + self.moves @ values
            after = self._best(row_values)
            if np.abs(after - values).max() <= CLOSE * enough:
                return after
            values = self._followed(row_values, after, enough)
        return values

    def _followed(self, row_values: FloatArray, values: FloatArray, enough: float) -> FloatArray:
        """Evaluate the policy whose rows reach `values` now."""
        chosen = self._reaching(row_values, values)
        columns = [
            self._evaluated(rows, k, values.reshape(len(values), -1)[:, k], enough)
            for k, rows in enumerate(chosen.reshape(len(chosen), -1).T)
        ]
        return np.stack(columns, axis=-1).reshape(values.shape)

    def _reaching(self, row_values: FloatArray, best: FloatArray) -> IntArray:
        """Return the first row of each node that is as good as its best."""
        widths = np.diff(np.append(self.first, len(self.reward)))
        reached = row_values == np.repeat(best, widths, axis=0)
        numbers = np.arange(len(row_values)).reshape(-1, *[1] * (reached.ndim - 1))
        chosen: IntArray = np.minimum.reduceat(np.where(reached, numbers, len(row_values)), self.first, axis=0)
        return chosen

    def _evaluated(self, rows: IntArray, k: int, value: FloatArray, enough: float) -> FloatArray:
        """Approach v = reward + moves v for the rows chosen: a Krylov method, and sweeps for what it leaves."""
        from scipy.sparse.linalg import bicgstab  # slow to load, and play does without it

        moves, reward = self.moves[rows], self.reward.reshape(len(self.reward), -1)[rows, k]
        with np.errstate(all="ignore"):  # it may break down: then its answer is not taken
            matrix = sp.eye_array(len(rows), format="csr") - moves
            found, _ = bicgstab(matrix, reward, x0=value, rtol=0.0, atol=enough, maxiter=SWEEPS)
            if np.abs(reward - matrix @ found).max() < np.abs(reward - matrix @ value).max():
                value = found
        for _ in range(SWEEPS):
            before, value = value, reward + moves @ value
            if np.abs(value - before).max() <= enough:
                break
        return value
