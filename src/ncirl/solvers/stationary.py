"""Stationary plans inside a cyclic component: what they guarantee, concede, and yield against each other.

With a plan fixed, the other side faces an `OpponentMDP` over the states, solved by policy iteration. Its answer enters
as v + |Tv − v|⁺ / (1 − γ), so it bounds from above however it was found.
"""

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import spsolve

from ncirl._typing import FloatArray, IntArray, State
from ncirl.mdp import OpponentMDP
from ncirl.model.game import Game

__all__ = ["ROUNDING", "Cycle", "Loop"]

ROUNDING = 1e-14  # relative; improvements below this are noise


class Loop:
    """The discounted chance γ q(s | s, a, d) of coming back to the one state of a component: all is scalar."""

    def __init__(self, game: Game, state: State) -> None:
        stage = game.stage(state)
        own = np.array([float(outcome.state == state) for outcome in stage.outcomes])
        self.chance: FloatArray = game.discount * (stage.law @ own).reshape(stage.shape)  # indexed [a, d]


class Cycle:
    """The discounted moves γ q(s' | s, a, d) inside a component, one entry per (s, a, d, s') that can happen."""

    def __init__(self, game: Game, component: list[State]) -> None:
        self.discount = game.discount
        self.n = len(component)
        stages = [game.stage(state) for state in component]
        self.shapes = [stage.shape for stage in stages]
        self.first_a = np.cumsum([0] + [n_a for n_a, _ in self.shapes])  # first row of each state where (s, a) is
        self.first_d = np.cumsum([0] + [n_d for _, n_d in self.shapes])
        number = {state: i for i, state in enumerate(component)}
        laws = []
        for stage in stages:
            own = [(o, number[x.state]) for o, x in enumerate(stage.outcomes) if x.state in number]
            o, j = np.array(own, dtype=np.intp).reshape(-1, 2).T
            laws.append(stage.law @ sp.csr_array((np.ones(len(o)), (o, j)), shape=(len(stage.outcomes), self.n)))
        self.law = sp.csr_array(sp.vstack(laws, format="csr")) * game.discount  # row (s, a, d), column s'
        pair = [np.indices(shape).reshape(2, -1) for shape in self.shapes]
        row_a = np.concatenate([a + first for (a, _), first in zip(pair, self.first_a, strict=False)])
        row_d = np.concatenate([d + first for (_, d), first in zip(pair, self.first_d, strict=False)])
        row_s = np.repeat(np.arange(self.n), [n_a * n_d for n_a, n_d in self.shapes])
        entries = self.law.tocoo()
        self.row_s, self.row_a, self.row_d = row_s[entries.row], row_a[entries.row], row_d[entries.row]
        self.column = entries.col
        self.chance = entries.data
        self.cuts = np.cumsum([n_a * n_d for n_a, n_d in self.shapes])[:-1]

    def payoffs(self, value: FloatArray) -> list[FloatArray]:
        """Return γ Σ_s' q(s' | s, a, d) value(s'), a matrix [a, d] per state."""
        parts = np.split(self.law @ value, self.cuts)
        return [part.reshape(shape) for part, shape in zip(parts, self.shapes, strict=True)]

    def guaranteed(self, plans: list[FloatArray], beyond: list[FloatArray]) -> FloatArray:
        """Bound from below what the attacker's stationary plans get against any defender."""
        costs = np.concatenate([x @ part for x, part in zip(plans, beyond, strict=True)])
        return -self._not_exceeded(-costs, np.concatenate(plans)[self.row_a], self.row_d, self.first_d)

    def conceded(self, plans: list[FloatArray], beyond: list[FloatArray]) -> FloatArray:
        """Bound from above what any attacker gets against the defender's stationary plans."""
        gains = np.concatenate([part @ y for y, part in zip(plans, beyond, strict=True)])
        return self._not_exceeded(gains, np.concatenate(plans)[self.row_d], self.row_a, self.first_a)

    def played(self, rows: list[FloatArray], columns: list[FloatArray], beyond: list[FloatArray]) -> FloatArray:
        """Evaluate a pair of stationary plans against each other."""
        gains = np.array([x @ part @ y for x, part, y in zip(rows, beyond, columns, strict=True)])
        weight = self.chance * np.concatenate(rows)[self.row_a] * np.concatenate(columns)[self.row_d]
        return evaluate(gains, sp.csr_array((weight, (self.row_s, self.column)), shape=(self.n, self.n)))

    def _not_exceeded(self, gains: FloatArray, chosen: FloatArray, rows: IntArray, first: IntArray) -> FloatArray:
        """Bound from above what an opponent gets whose row of each move is in `rows`, against plans that choose it."""
        moves = sp.csr_array((self.chance * chosen, (rows, self.column)), shape=(len(gains), self.n))
        return not_exceeded(OpponentMDP(gains, moves, first[:-1], maximise=True), self.discount)


def evaluate(gains: FloatArray, moves: sp.csr_array) -> FloatArray:
    """Solve v = gains + moves v."""
    value: FloatArray = spsolve(sp.eye_array(len(gains), format="csr") - moves, gains)
    return value


def not_exceeded(process: OpponentMDP, discount: float) -> FloatArray:
    """Bound from above what a maximising opponent gets, by policy iteration; its moves include the discount."""
    policy = process.answers(np.zeros(len(process.first)))
    reached = -np.inf
    while True:
        value = evaluate(process.reward[policy], process.moves[policy])
        after = process.backup(value)
        scale = float(max(np.abs(value).max(), np.abs(process.reward[policy]).max()))  # of what is met
        if not value.sum() > reached + ROUNDING * scale:
            break
        reached = value.sum()
        policy = np.where(after > value + ROUNDING * scale, process.answers(value), policy)
    excess = max(0.0, float((after - value).max()))
    return value + excess / (1.0 - discount)
