"""The prior, plans and posteriors: what the public may conclude from what it sees.

The attacker's one-stage plan is a joint mass ``A(a, θ) = π(a | s, θ) b(θ)``, so Σ_a A(a, ·) = b. After observation i
the unnormalised posterior is ``β_i(θ) = Σ_a mass[i, a] A(a, θ)``. Where actions are seen this is the paper's Lemma 1,

    b'(θ) ∝ π(a | s, θ) b(θ),

whatever d and s' are.

**What has probability zero.** An observation that the plan makes impossible teaches nothing: the belief stays as it
was. An intent that the belief rules out has no plan of its own: its policy is the crowd's, Σ_θ A(·, θ), which
reveals nothing about it. Neither ever yields a NaN.
"""

import numpy as np

from ncirl._typing import FloatArray, State
from ncirl.model.game import Game
from ncirl.model.observations import Observations

__all__ = ["plan_of", "policy_of", "posterior", "posterior_masses", "prior_of", "start_laws"]


def prior_of(game: Game) -> FloatArray:
    """Return P0(θ)."""
    prior: FloatArray = np.sum([start.mass for start in game.starts], axis=0)
    return prior


def start_laws(game: Game) -> list[tuple[State, FloatArray]]:
    """Return each start s of ``game.timed()`` that is played with P0(s | θ), or P0(s) where P0(θ) = 0."""
    prior, timed = prior_of(game), game.timed()
    possible = prior > 0
    return [
        (start.state, np.where(possible, start.mass / np.where(possible, prior, 1.0), start.probability))
        for start in timed.starts
        if not timed.is_terminal(start.state)
    ]


def plan_of(policy: FloatArray, belief: FloatArray) -> FloatArray:
    """Return the joint mass A[a, θ] = π[a, θ] b[θ]."""
    return policy * belief


def policy_of(plan: FloatArray) -> FloatArray:
    """Return π[…, a, θ] = A[…, a, θ] / Σ_a A[…, a, θ]; intents without mass follow the crowd.

    Examples
    --------
    >>> import numpy as np
    >>> policy_of(np.array([[0.3, 0.0], [0.7, 0.0]]))
    array([[0.3, 0.3],
           [0.7, 0.7]])
    """
    plan = np.maximum(plan, 0.0)
    mass, crowd = plan.sum(axis=-2, keepdims=True), plan.sum(axis=-1, keepdims=True)
    total = crowd.sum(axis=-2, keepdims=True)
    crowd = np.where(total > 0, crowd / np.where(total > 0, total, 1.0), 1 / plan.shape[-2])
    policy: FloatArray = np.where(mass > 0, plan / np.where(mass > 0, mass, 1.0), crowd)
    return policy


def posterior_masses(observations: Observations, plan: FloatArray) -> FloatArray:
    """Return the unnormalised posteriors β[i, θ] of every observation."""
    masses: FloatArray = observations.mass @ plan
    return masses


def posterior(observations: Observations, plan: FloatArray, i: int) -> FloatArray:
    """Return the belief after observation `i`, -1 for what no plan could have caused.

    It stays as it was, the column sums of the plan, when the plan makes `i` impossible.
    """
    before = plan.sum(axis=0)
    after = (observations.mass[[i]] @ plan)[0] if i >= 0 else np.zeros_like(before)
    kept = after if after.sum() > 0 else before
    belief: FloatArray = kept / kept.sum()
    return belief
