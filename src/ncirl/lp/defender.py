"""P_D(s, ζ): the defender's stage program, over the vectors of the successors.

    min W   over D ∈ Δ(D(s)), μ ≥ 0, u, W
    u(θ) ≥ Σ_d D(d) r(a,d,θ) + γ Σ_i mass[i,a] Σ_j μ_ij α_j(θ)        ∀ a, θ
    Σ_j μ_ij = weight[i] · D                                          ∀ i
    W ≥ ζ(θ) + u(θ)                                                   ∀ θ

u is what the defender concedes per intent. Putting the objective b·u in place of W gives the conjugate
``min_ζ { w(s, ζ) − ζ·b }``, which equals P_A over the same vectors. Where the paper writes a sawtooth through the
origin, the mixture μ has the mass κ_i = weight[i]·D of its observation: w is translation-covariant, not homogeneous.
After observation i the defender's promise is ``ᾱ_i = Σ_j μ_ij α_j / Σ_j μ_ij``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ncirl._typing import FloatArray
from ncirl.lp.assembly import Choices, Mixture, row_kron
from ncirl.lp.bounds import Vectors
from ncirl.lp.session import INF, Meter, Session
from ncirl.model.observations import Observations
from ncirl.model.stage import Stage

__all__ = ["DefenderLP", "DefenderStep"]


@dataclass(frozen=True, eq=False)
class DefenderStep:
    """The answer of P_D. `value` is the program's objective: an estimate, not a bound.

    Attributes
    ----------
    value : float
        W at a promise ζ, or b·u at a belief.
    defence : ndarray of shape (D,)
        D(d).
    vector : ndarray of shape (Θ,)
        u(θ), what the defender concedes per intent.
    mixture : Mixture
        μ over the successors' vectors.
    """

    value: float
    defence: FloatArray
    vector: FloatArray
    mixture: Mixture


class DefenderLP:
    """P_D, live: one matrix, solved at any promise or at any belief.

    Parameters
    ----------
    stage : Stage
        Stage at s.
    observations : Observations
        What is seen of it.
    discount : float
        γ.
    vectors : sequence of Vectors
        The value from above at each observation's successor, in the order of the observations.
    meter : Meter, optional
        Where solves are counted.
    """

    def __init__(
        self,
        stage: Stage,
        observations: Observations,
        discount: float,
        vectors: Sequence[Vectors],
        meter: Meter | None = None,
    ) -> None:
        n_a, n_d, n_t = stage.reward.shape
        n_i = len(vectors)
        self._choices = Choices.of([len(each.alphas) for each in vectors])
        n_mu = len(self._choices)
        self.n_d, self.n_t = n_d, n_t
        self._u = np.arange(n_d, n_d + n_t)
        self._w = n_d + n_t

        concede = sp.csr_array(-stage.reward.transpose(0, 2, 1).reshape(n_a * n_t, n_d))
        own = sp.kron(np.ones((n_a, 1)), sp.eye_array(n_t))
        alphas = np.concatenate([each.alphas for each in vectors])
        later = -discount * row_kron(observations.mass[self._choices.observation], alphas).T

        def zeros(rows: int, columns: int) -> sp.csr_array:
            return sp.csr_array((rows, columns))

        matrix = sp.vstack(
            [
                sp.hstack([concede, own, zeros(n_a * n_t, 1), later]),
                sp.hstack([-observations.weight, zeros(n_i, n_t + 1), self._choices.gather(n_i)]),
                sp.hstack([sp.csr_array(np.ones((1, n_d))), zeros(1, n_t + 1 + n_mu)]),
                sp.hstack([zeros(n_t, n_d), -sp.eye_array(n_t), np.ones((n_t, 1)), zeros(n_t, n_mu)]),
            ],
            format="csr",
        )
        self._promise_rows = np.arange(matrix.shape[0] - n_t, matrix.shape[0])
        equal = np.concatenate([np.zeros(n_i), [1.0]])
        self.session = Session(
            maximise=False,
            cost=np.zeros(matrix.shape[1]),
            lower=np.concatenate([np.zeros(n_d), np.full(n_t + 1, -INF), np.zeros(n_mu)]),
            upper=np.full(matrix.shape[1], INF),
            matrix=matrix,
            row_lower=np.concatenate([np.zeros(n_a * n_t), equal, np.zeros(n_t)]),
            row_upper=np.concatenate([np.full(n_a * n_t, INF), equal, np.full(n_t, INF)]),
            meter=meter or Meter(),
        )

    def at_promise(self, promise: FloatArray) -> DefenderStep:
        """Solve P_D(s, ζ)."""
        self.session.set_rows(self._promise_rows, promise, np.full(self.n_t, INF))
        return self._solve(weight=np.zeros(self.n_t), total=1.0)

    def at_belief(self, belief: FloatArray) -> DefenderStep:
        """Solve ``min_ζ { w(s, ζ) − ζ·b }``: the best vector at a belief."""
        return self._solve(weight=belief, total=0.0)

    def _solve(self, weight: FloatArray, total: float) -> DefenderStep:
        self.session.set_costs(np.append(self._u, self._w), np.append(weight, total))
        solution = self.session.solve()
        defence = np.maximum(solution.columns[: self.n_d], 0.0)
        return DefenderStep(
            value=solution.objective,
            defence=defence / defence.sum(),
            vector=solution.columns[self._u],
            mixture=self._choices.mixture(solution.columns[self._w + 1 :]),
        )
