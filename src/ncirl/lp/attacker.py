"""P_A(s, b): the attacker's stage program, over a hull from below or over vectors from above.

    max V   over plans A ≥ 0 and V
    V ≤ Σ_{a,θ} A(a,θ) r(a,d,θ) + γ Σ_i weight[i,d] v̂(s'_i, β_i),    β_i = mass[i] @ A        ∀ d
    Σ_a A(a,θ) = b(θ)                                                                         ∀ θ

with one v̂ per observation i, so both information structures are one program. With a hull (`HullLP`),
v̂(β_i) = c·β_i + Σ_j φ_ij δ_j with Σ_j φ_ij b_j ≤ β_i, φ ≥ 0: linear, and no choice of a point as in the paper's
sawtooth. With vectors (`VectorLP`), v̂(β_i) ≤ α·β_i for all α: the value bounds from above, and the multipliers are
the defender's side: those of the d-rows its mixed action, those of the α-rows its continuation, those of the belief
rows a new vector. The sums run over i = (a, s') where the paper prints (d, s'), and use the points of s' where it
prints those of s.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ncirl._typing import FloatArray
from ncirl.lp.assembly import Choices, Mixture, row_kron
from ncirl.lp.bounds import Hull, Vectors
from ncirl.lp.session import INF, LPSolution, Meter, Session
from ncirl.model.observations import Observations
from ncirl.model.stage import Stage

__all__ = ["AttackerStep", "HullLP", "VectorLP"]


@dataclass(frozen=True, eq=False)
class AttackerStep:
    """The answer of P_A at a belief. `value` is the program's objective: an estimate, not a bound.

    Attributes
    ----------
    value : float
        Objective.
    plan : ndarray of shape (A, Θ)
        A(a, θ).
    defence : ndarray of shape (D,)
        The defender's mixed action (multipliers of the d-rows).
    vector : ndarray of shape (Θ,)
        Slope of the value at the belief (multipliers of the belief rows).
    mixture : Mixture
        φ over the successors' points, or the multipliers μ of the successors' vectors.
    """

    value: float
    plan: FloatArray
    defence: FloatArray
    vector: FloatArray
    mixture: Mixture


class _AttackerLP:
    """What both forms share: columns (A, V, extra), rows (d, θ, extra ≤ 0)."""

    def __init__(
        self,
        now: sp.csr_array,  # what the plan gains for certain, [d, (a, θ)]
        future: sp.csr_array,  # what the extra columns add, [d, extra]
        rows: sp.csr_array,  # the extra rows over all columns
        extra_lower: float,
        shape: tuple[int, int, int],
        meter: Meter | None,
    ) -> None:
        self.n_a, self.n_d, self.n_t = shape
        self.n_plan, n_extra = self.n_a * self.n_t, future.shape[1]
        self.belief_rows = np.arange(self.n_d, self.n_d + self.n_t)
        spread = sp.kron(np.ones((1, self.n_a)), sp.eye_array(self.n_t))
        nothing = sp.csr_array((self.n_t, 1 + n_extra))
        blocks = [sp.hstack([-now, np.ones((self.n_d, 1)), -future]), sp.hstack([spread, nothing]), rows]
        upper = np.concatenate([np.zeros(self.n_d), np.ones(self.n_t), np.zeros(rows.shape[0])])
        lower = np.full(len(upper), -INF)
        lower[self.belief_rows] = 1.0
        self.session = Session(
            maximise=True,
            cost=np.concatenate([np.zeros(self.n_plan), [1.0], np.zeros(n_extra)]),
            lower=np.concatenate([np.zeros(self.n_plan), [-INF], np.full(n_extra, extra_lower)]),
            upper=np.full(self.n_plan + 1 + n_extra, INF),
            matrix=sp.vstack(blocks, format="csr"),
            row_lower=lower,
            row_upper=upper,
            meter=meter or Meter(),
        )

    def _solve(self, belief: FloatArray) -> LPSolution:
        self.session.set_rows(self.belief_rows, belief, belief)
        return self.session.solve()

    def _step(self, solution: LPSolution, mixture: Mixture) -> AttackerStep:
        defence = np.maximum(solution.duals[: self.n_d], 0.0)
        return AttackerStep(
            value=solution.objective,
            plan=np.maximum(solution.columns[: self.n_plan], 0.0).reshape(self.n_a, self.n_t),
            defence=defence / defence.sum(),
            vector=solution.duals[self.belief_rows],
            mixture=mixture,
        )


class HullLP(_AttackerLP):
    """P_A over hulls: the attacker's side, a value from below.

    Parameters
    ----------
    stage : Stage
        Stage at s.
    observations : Observations
        What is seen of it.
    discount : float
        γ.
    hulls : sequence of Hull
        The value from below at each observation's successor, in the order of the observations.
    meter : Meter, optional
        Where solves are counted.
    """

    def __init__(
        self,
        stage: Stage,
        observations: Observations,
        discount: float,
        hulls: Sequence[Hull],
        meter: Meter | None = None,
    ) -> None:
        shape = stage.reward.shape
        corners = np.array([hull.corners for hull in hulls])
        certain = observations.weight.T @ row_kron(observations.mass, corners)
        self._choices = Choices.of([len(hull.gains) for hull in hulls])
        gains = np.concatenate([hull.gains for hull in hulls])
        future = observations.weight[self._choices.observation].T * (discount * gains)
        open_ = [i for i, hull in enumerate(hulls) if len(hull.gains)]  # the others need no rows Σ_j φ_ij b_j ≤ β_i
        spent = sp.kron(observations.mass[open_], sp.eye_array(shape[2]))
        bought = sp.block_diag([hulls[i].beliefs.T for i in open_]) if open_ else sp.csr_array((0, 0))
        rows = sp.hstack([-spent, sp.csr_array((spent.shape[0], 1)), bought], format="csr")
        super().__init__(_now(stage) + discount * certain, sp.csr_array(future), rows, 0.0, shape, meter)

    def solve(self, belief: FloatArray) -> AttackerStep:
        """Solve at a belief (or any mass)."""
        solution = self._solve(belief)
        return self._step(solution, self._choices.mixture(solution.columns[self.n_plan + 1 :]))


class VectorLP(_AttackerLP):
    """P_A over vectors: a value from above, and by duality the defender's side.

    Parameters are those of `HullLP`, with `vectors` in place of the hulls.
    """

    def __init__(
        self,
        stage: Stage,
        observations: Observations,
        discount: float,
        vectors: Sequence[Vectors],
        meter: Meter | None = None,
    ) -> None:
        self._choices = Choices.of([len(each.alphas) for each in vectors])
        alphas = np.concatenate([each.alphas for each in vectors])
        conceded = row_kron(observations.mass[self._choices.observation], alphas)
        values = self._choices.gather(len(vectors)).T
        rows = sp.hstack([-conceded, sp.csr_array((len(self._choices), 1)), values], format="csr")
        future = sp.csr_array(discount * observations.weight.T)
        super().__init__(_now(stage), future, rows, -INF, stage.reward.shape, meter)

    def solve(self, belief: FloatArray) -> AttackerStep:
        """Solve at a belief (or any mass)."""
        solution = self._solve(belief)
        return self._step(solution, self._choices.mixture(solution.duals[self.n_d + self.n_t :]))


def _now(stage: Stage) -> sp.csr_array:
    """Return r as a matrix [d, (a, θ)]."""
    return sp.csr_array(stage.reward.transpose(1, 0, 2).reshape(len(stage.defender), -1))
