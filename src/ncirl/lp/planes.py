"""Planes over beliefs, many at once: those that touch a hull of points, and mixtures of some that lie below others.

    α_j touches L̂ at b_j:      min α·b_j   over   α·b_i ≥ v_i  ∀ i,   α ≥ c
    p_j stands in for α_j:     min δ   over p ∈ Δ, δ:     Σ_k p_k α'_k(θ) ≤ α_j(θ) + δ     ∀ θ

The touching planes are the prices of what makes up b_j. How far a mixture must rise above α_j, δ_j, is by duality how
far min_k α'_k·b rises above α_j·b at any belief: planes of two functions that are near to each other stand in for each
other, however different they are one by one.
"""

import numpy as np

from ncirl._typing import FloatArray
from ncirl.lp.program import ACTIVE
from ncirl.lp.stores import PointStore
from ncirl.lp.together import minimise_together

__all__ = ["stand_ins", "touching"]


def touching(store: PointStore, beliefs: FloatArray) -> FloatArray:
    """Return planes [k, θ] that touch the hull of points and corners at beliefs [k, θ], up to rounding."""
    n_t = len(store.corners)
    places = np.concatenate([np.eye(n_t), store.beliefs])
    values = np.concatenate([store.corners, store.gains + store.beliefs @ store.corners])
    corners = np.tile(np.arange(n_t), (len(beliefs), 1))  # to begin with
    found = minimise_together(places.T, -values, beliefs, corners, np.zeros(len(places), dtype=np.bool_))
    return -found.prices


def stand_ins(planes: FloatArray, others: FloatArray) -> FloatArray:
    """Return the mixtures p[j, k] of other planes [k, θ] that rise least above planes [j, θ].

    Examples
    --------
    >>> stand_ins(np.array([[1.0, 1.0]]), np.array([[0.0, 2.0], [2.0, 0.0], [3.0, 3.0]]))
    array([[0.5, 0.5, 0. ]])
    """
    (n, n_t), n_others = planes.shape, len(others)
    # columns δ, what a mixture is short of α_j + δ, p; rows θ, Σp
    first = 1 + n_t
    matrix = np.zeros((n_t + 1, first + n_others))
    matrix[:n_t, 0] = -1.0
    matrix[:n_t, 1:first] = np.eye(n_t)
    matrix[:n_t, first:] = others.T
    matrix[-1, first:] = 1.0
    costs = np.zeros(matrix.shape[1])
    costs[0] = 1.0
    sides = np.ones((n, n_t + 1))
    sides[:, :n_t] = planes

    # begin with the plane that rises least
    rises = others - planes[:, None, :]  # [j, k, θ]
    least = rises.max(axis=2).argmin(axis=1)
    basis = np.empty((n, n_t + 1), dtype=np.intp)
    basis[:, :n_t] = 1 + np.arange(n_t)
    basis[np.arange(n), rises[np.arange(n), least].argmax(axis=1)] = 0
    basis[:, -1] = first + least
    found = minimise_together(matrix, costs, sides, basis, np.arange(matrix.shape[1]) == 0)
    mixtures = found.columns(matrix.shape[1])[:, first:]
    mixtures = np.where(mixtures > ACTIVE, mixtures, 0.0)
    return np.asarray(mixtures / mixtures.sum(axis=1)[:, None])
