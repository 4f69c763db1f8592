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

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ncirl._typing import BoolArray, FloatArray
from ncirl.lp.session import INF, Meter, Session
from ncirl.lp.state_arrays import StateArrays
from ncirl.lp.stores import VectorStore

__all__ = ["DefenderProgram", "DefenderStep"]

TINY = 1e-12  # weights below this are left out


@dataclass(frozen=True, eq=False)
class DefenderStep:
    """The answer of P_D, made exactly feasible."""

    value: float  # the program's objective, W at a promise ζ or b·u at a belief: an estimate, not a bound
    mix: FloatArray  # D[d]
    promised: FloatArray  # ᾱ[i, θ], the vector that follows each observation of the state's arrays
    vector: FloatArray  # [θ], what these concede to every attacker: a bound
    mixed: BoolArray  # [i], which have a mixture; the others never happen, and any vector will do there


class DefenderProgram:
    """P_D, live: one matrix, solved at any promise or at any belief.

    Where an observation has no mixture, the vector of `stores` that is best at the prior stands in.
    """

    def __init__(
        self, here: StateArrays, stores: Mapping[int, VectorStore], prior: FloatArray, meter: Meter | None = None
    ) -> None:
        self.here = here
        n_a, n_d, n_t, n_i = here.n_a, here.n_d, here.n_t, len(here.seen)
        after = [stores[t].alphas for t in here.successor.tolist()]
        self._observation = np.repeat(np.arange(n_i), [len(alphas) for alphas in after])  # of each μ
        self._alphas = np.concatenate(after) if after else np.zeros((0, n_t))
        best = [stores[t].alphas[stores[t].best(prior)] for t in here.successors]
        self._stand_in = np.array(best).reshape(-1, n_t)[here.toward]
        n_mu = len(self._observation)
        self._u = np.arange(n_d, n_d + n_t)
        self._w = n_d + n_t

        concede = sp.csr_array(-here.reward.transpose(0, 2, 1).reshape(n_a * n_t, n_d))
        own = sp.kron(np.ones((n_a, 1)), sp.eye_array(n_t))
        later = -here.discount * _row_kron(here.mass[self._observation], self._alphas).T
        of_observation = sp.csr_array((np.ones(n_mu), (self._observation, np.arange(n_mu))), shape=(n_i, n_mu))
        matrix = sp.block_array(
            [
                [concede, own, sp.csr_array((n_a * n_t, 1)), later],
                [-here.weight, sp.csr_array((n_i, n_t)), None, of_observation],
                [np.ones((1, n_d)), None, None, None],
                [None, -sp.eye_array(n_t), np.ones((n_t, 1)), None],
            ],
            format="csr",
        )
        self._promise_rows = np.arange(matrix.shape[0] - n_t, matrix.shape[0])
        equal = np.concatenate([np.zeros(n_i), [1.0]])
        self.session = Session(
            maximise=False,
            cost=np.zeros(matrix.shape[1]),
            lower=np.concatenate([np.zeros(n_d), np.full(n_t + 1, -INF), np.zeros(n_mu)]),
            upper=np.concatenate([np.where(here.defender, INF, 0.0), np.full(matrix.shape[1] - n_d, INF)]),
            matrix=matrix,
            row_lower=np.concatenate([np.zeros(n_a * n_t), equal, np.zeros(n_t)]),
            row_upper=np.concatenate([np.full(n_a * n_t, INF), equal, np.full(n_t, INF)]),
            meter=meter or Meter(),
        )

    def at_promise(self, promise: FloatArray) -> DefenderStep:
        """Solve P_D(s, ζ)."""
        self.session.set_rows(self._promise_rows, promise, np.full(self.here.n_t, INF))
        return self._solve(weight=np.zeros(self.here.n_t), total=1.0)

    def at_belief(self, belief: FloatArray) -> DefenderStep:
        """Solve ``min_ζ { w(s, ζ) − ζ·b }``: the best vector at a belief."""
        return self._solve(weight=belief, total=0.0)

    def _solve(self, weight: FloatArray, total: float) -> DefenderStep:
        self.session.set_costs(np.append(self._u, self._w), np.append(weight, total))
        solution = self.session.solve()
        return self.cleaned(solution.objective, solution.columns[: self.here.n_d], solution.columns[self._w + 1 :])

    def cleaned(self, value: float, mix: FloatArray, mu: FloatArray) -> DefenderStep:
        """Make a mixed action and mixtures feasible; work out what they concede."""
        mix = np.maximum(mix, 0.0)
        mix = mix / mix.sum()
        mu = np.where(mu > TINY, mu, 0.0)
        total = np.bincount(self._observation, weights=mu, minlength=len(self.here.seen))
        mixed = total > 0
        promised = np.where(mixed[:, None], 0.0, self._stand_in)
        share = np.divide(mu, total[self._observation], out=np.zeros_like(mu), where=mu > 0)
        np.add.at(promised, self._observation, share[:, None] * self._alphas)
        every = np.arange(self.here.n_d)
        conceded = self.here.conceded(every, mix, self.here.reach(every, mix), promised)
        return DefenderStep(value, mix, promised, conceded.max(axis=0), mixed)


def _row_kron(mass: sp.csr_array, vectors: FloatArray) -> sp.csr_array:
    """Return the matrix whose row k is mass[k] ⊗ vectors[k], columns ordered (a, θ)."""
    entries = mass.tocoo()
    n_rows, n_t = vectors.shape
    rows = np.repeat(entries.row, n_t)
    columns = (entries.col[:, None] * n_t + np.arange(n_t)).ravel()
    data = (entries.data[:, None] * vectors[entries.row]).ravel()
    product = sp.csr_array((data, (rows, columns)), shape=(n_rows, mass.shape[1] * n_t))
    product.eliminate_zeros()
    return product
