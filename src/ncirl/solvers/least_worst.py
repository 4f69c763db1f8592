r"""The mixture that concedes least at the worst prior: one linear program for whoever may begin in several ways.

In each block s one of several vectors α_sj(θ) is drawn, with probability w_sj, and what they concede adds up. With
P the priors that are possible (`ncirl.model.priors`),

    min_w  max_{b ∈ P}  Σ_θ b(θ) Σ_s Σ_j w_sj α_sj(θ).

The maximum is a linear program in b; by its dual, with prices u, v for the bounds on b,

    min  λ + Σ_θ (high(θ) u(θ) − low(θ) v(θ))
    s.t. λ + u(θ) − v(θ) ≥ Σ_s Σ_j w_sj α_sj(θ)   for every θ,        Σ_j w_sj = 1 for every s,   u, v, w ≥ 0,

and the multipliers of the first rows are the worst prior. No number is read off it: weights are cleaned, what they
concede is worked out from them, and the prior is only where to look next.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ncirl._typing import BoolArray, FloatArray
from ncirl.lp.session import INF, Meter, Session
from ncirl.model.priors import Priors

__all__ = ["LeastWorst", "least_worst"]

FAR = 1e6  # times what the vectors chosen one by one leave open: what concedes more to anybody is left out
NONE = 1e-12  # probabilities below are none


@dataclass(frozen=True, eq=False)
class LeastWorst:
    """A mixture for every block, what they concede to each intent and at most, and the prior at which they do."""

    weights: list[FloatArray]
    conceded: FloatArray
    upper: float
    prior: FloatArray


def least_worst(blocks: Sequence[FloatArray], priors: Priors, meter: Meter) -> LeastWorst:
    """Mix the vectors of each block, α[j, θ], so that the worst prior gets least.

    Examples
    --------
    >>> import numpy as np
    >>> found = least_worst([np.array([[3.0, 0.0], [0.0, 1.0]])], Priors.all_of(2), Meter())
    >>> round(found.upper, 9), found.weights[0].round(9), found.prior.round(9)
    (0.75, array([0.25, 0.75]), array([0.25, 0.75]))
    """
    possible = np.array(priors.high) > 0
    kept = [_of_use(block[:, possible]) for block in blocks]
    used = [block[some][:, possible] for block, some in zip(blocks, kept, strict=True)]
    spread = max((float(np.ptp(vectors)) for vectors in used), default=0.0) or 1.0
    columns, multipliers = _solved([(vectors - vectors.min()) / spread for vectors in used], priors, possible, meter)
    prior: FloatArray = np.zeros(len(possible))
    prior[possible] = multipliers
    weights, taken = [], 0
    for block, some in zip(blocks, kept, strict=True):
        chances: FloatArray = np.zeros(len(block))
        chances[some] = columns[taken : taken + len(some)]
        chances[chances < NONE] = 0.0
        weights.append(chances / chances.sum())
        taken += len(some)
    conceded: FloatArray = np.zeros(len(priors.low))
    for chances, block in zip(weights, blocks, strict=True):
        conceded = conceded + chances @ block
    return LeastWorst(weights, conceded, priors.most(conceded), priors.nearest(prior))


def _of_use(vectors: FloatArray) -> list[int]:
    """Return the vectors that are not out of all proportion: they would cost the others their digits."""
    most = vectors.max(axis=1)
    best = vectors[most.argmin()]
    limit = best.max() + FAR * max(float(np.ptp(best)), abs(float(best.max())))
    return np.flatnonzero(most <= limit).tolist()


def _solved(
    blocks: Sequence[FloatArray], priors: Priors, possible: BoolArray, meter: Meter
) -> tuple[FloatArray, FloatArray]:
    """Return the probabilities of all vectors, block after block, and the worst prior over possible intents."""
    n_t, sizes = int(possible.sum()), [len(block) for block in blocks]
    unit = sp.eye_array(n_t)
    conceded = np.concatenate(blocks).T if blocks else np.zeros((n_t, 0))
    chosen = sp.block_diag([np.ones((1, size)) for size in sizes]) if blocks else sp.coo_array((0, 0))
    nothing = sp.coo_array((len(blocks), 1 + 2 * n_t))
    above = sp.hstack([np.ones((n_t, 1)), unit, -unit, sp.coo_array(-conceded)])  # λ, u, v, w
    cost = np.concatenate(
        [[1.0], np.array(priors.high)[possible], -np.array(priors.low)[possible], np.zeros(sum(sizes))]
    )
    session = Session(
        maximise=False,
        cost=cost,
        lower=np.concatenate([[-INF], np.zeros(len(cost) - 1)]),
        upper=np.full(len(cost), INF),
        matrix=sp.csr_array(sp.vstack([above, sp.hstack([nothing, chosen])])),
        row_lower=np.concatenate([np.zeros(n_t), np.ones(len(blocks))]),
        row_upper=np.concatenate([np.full(n_t, INF), np.ones(len(blocks))]),
        meter=meter,
    )
    found = session.solve()
    return np.maximum(found.columns[1 + 2 * n_t :], 0.0), found.duals[:n_t]
