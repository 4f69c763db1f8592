"""From an LP answer to a number that bounds: clean the strategy, then evaluate it on what is stored.

An answer carries errors of about 1e-7: columns a little negative, sums a little off. Here the strategy is made exactly
feasible first, and its value follows from the stored successors alone, so it is a bound whatever the solver did:

    attacker:  v    = min_d  Σ_{a,θ} A(a,θ) r(a,d,θ) + γ Σ_i weight[i,d] (c·β_i + Σ_j φ_ij δ_j)
    defender:  α(θ) = max_a  Σ_d D(d) r(a,d,θ) + γ Σ_i mass[i,a] Σ_j μ_ij α_j(θ)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ncirl._typing import FloatArray
from ncirl.lp.assembly import Mixture
from ncirl.lp.bounds import Hull, Vectors
from ncirl.model.belief import policy_of
from ncirl.model.observations import Observations
from ncirl.model.stage import Stage

__all__ = ["AttackerBackup", "DefenderBackup", "attacker_backup", "defender_backup"]

TINY = 1e-12  # weights below this are left out


@dataclass(frozen=True, eq=False)
class AttackerBackup:
    """A plan that is a plan, feasible shares φ, and what they are worth at least."""

    value: float
    plan: FloatArray
    mixture: Mixture


@dataclass(frozen=True, eq=False)
class DefenderBackup:
    """A mixed action, a mixture with the mass of its observations, and what they concede at most."""

    vector: FloatArray
    defence: FloatArray
    mixture: Mixture


def attacker_backup(
    stage: Stage,
    seen: Observations,
    discount: float,
    hulls: Sequence[Hull],
    belief: FloatArray,
    plan: FloatArray,
    mixture: Mixture,
) -> AttackerBackup:
    """Make a plan and its shares feasible at `belief`; return what they secure against every defender."""
    plan = policy_of(plan) * belief
    beta = seen.mass @ plan  # [i, θ]
    kept = mixture.weight > TINY
    i, j, share = mixture.observation[kept], mixture.index[kept], mixture.weight[kept]
    bought = np.zeros_like(beta)
    points = [hulls[a].beliefs[b] for a, b in zip(i, j, strict=True)]
    if points:
        np.add.at(bought, i, share[:, None] * np.array(points))
    with np.errstate(divide="ignore", invalid="ignore"):
        room = np.where(bought > 0, beta / bought, np.inf).min(axis=1)  # how much of each mixture its posterior bears
    share = share * np.minimum(room, 1.0)[i]
    later = np.array([hull.corners for hull in hulls]) * beta
    worth = later.sum(axis=1)
    np.add.at(worth, i, share * np.array([hulls[a].gains[b] for a, b in zip(i, j, strict=True)]))
    payoff = np.einsum("at,adt->d", plan, stage.reward, optimize=True) + discount * (seen.weight.T @ worth)
    return AttackerBackup(float(payoff.min()), plan, Mixture(i, j, share))


def defender_backup(
    stage: Stage,
    seen: Observations,
    discount: float,
    vectors: Sequence[Vectors],
    belief: FloatArray,
    defence: FloatArray,
    mixture: Mixture,
) -> DefenderBackup:
    """Give each observation's mixture its mass; return what it concedes to every attacker.

    Where the answer has no mixture for an observation (the defender never lets it happen), the vector that is best at
    `belief` stands in: any will do.
    """
    defence = np.maximum(defence, 0.0)
    defence = defence / defence.sum()
    mass = seen.weight @ defence  # κ_i
    kept = mixture.weight > TINY
    i, j, weight = mixture.observation[kept], mixture.index[kept], mixture.weight[kept]
    total = np.bincount(i, weights=weight, minlength=len(seen))
    bare = np.flatnonzero(total <= 0).tolist()
    if len(bare):
        best = [int((vectors[k].alphas @ belief).argmin()) for k in bare]
        i, j = np.concatenate([i, np.array(bare, dtype=np.intp)]), np.concatenate([j, np.array(best, dtype=np.intp)])
        weight = np.concatenate([weight, np.ones(len(bare))])
        total[bare] = 1.0
    weight = weight * (mass / total)[i]
    promised = np.zeros((len(seen), stage.reward.shape[2]))
    np.add.at(promised, i, weight[:, None] * np.array([vectors[a].alphas[b] for a, b in zip(i, j, strict=True)]))
    conceded = np.einsum("d,adt->at", defence, stage.reward) + discount * (seen.mass.T @ promised)
    return DefenderBackup(conceded.max(axis=0), defence, Mixture(i, j, weight))
