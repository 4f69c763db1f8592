"""The two shapes of a value at one public state, extended to masses: v̂(β) = |β| v(β / |β|).

From below, a concave hull over corners c (values at the point beliefs) and points (b_j, v_j) with gains
δ_j = v_j − c·b_j ≥ 0; from above, the lower envelope of vectors α:

    L̂(β) = c·β + max { Σ_j φ_j δ_j : Σ_j φ_j b_j ≤ β, φ ≥ 0 },        Û(β) = min_α α·β.

The paper's sawtooth is the hull with φ on one point only; as written it takes the first point with a positive gain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ncirl._typing import FloatArray

__all__ = ["Hull", "Vectors", "sawtooth"]

NO_GAIN = 1e-12  # points that rise above the corners by less are left out


@dataclass(frozen=True, eq=False)
class Hull:
    """A value from below.

    Attributes
    ----------
    corners : ndarray of shape (Θ,)
        Values at the point beliefs.
    beliefs : ndarray of shape (n, Θ)
        Beliefs of the points above the corners' plane.
    gains : ndarray of shape (n,)
        How far each rises above it, δ_j > 0.
    """

    corners: FloatArray
    beliefs: FloatArray
    gains: FloatArray

    @classmethod
    def of(cls, corners: FloatArray, beliefs: Sequence[FloatArray] | FloatArray, values: Sequence[float]) -> Hull:
        """Build a hull from points (b_j, v_j); points that add nothing to the corners are left out."""
        at = np.asarray(beliefs, dtype=float).reshape(-1, len(corners))
        gains = np.asarray(values, dtype=float) - at @ corners
        kept = gains > NO_GAIN
        return cls(np.asarray(corners, dtype=float), at[kept], gains[kept])

    @classmethod
    def zero(cls, n_intents: int) -> Hull:
        """Return the value 0, as at a terminal state."""
        return cls(np.zeros(n_intents), np.zeros((0, n_intents)), np.zeros(0))

    def single(self, mass: FloatArray) -> float:
        """Evaluate from below with one point only, the best: cheap, and never above the hull."""
        best = 0.0
        if len(self.gains):
            shares = np.where(self.beliefs > 0, mass / np.where(self.beliefs > 0, self.beliefs, 1.0), np.inf)
            best = float((shares.min(axis=1) * self.gains).max())
        return float(self.corners @ mass) + best


@dataclass(frozen=True, eq=False)
class Vectors:
    """A value from above: vectors α[j, θ], each what some defender strategy concedes at most."""

    alphas: FloatArray

    @classmethod
    def zero(cls, n_intents: int) -> Vectors:
        """Return the value 0, as at a terminal state."""
        return cls(np.zeros((1, n_intents)))

    def value(self, mass: FloatArray) -> float:
        """Return Û(β)."""
        return float((self.alphas @ mass).min())


def sawtooth(hull: Hull) -> Hull:
    """Keep the first point of a hull only: the paper's SAWTOOTH-A with its `break`."""
    return Hull(hull.corners, hull.beliefs[:1], hull.gains[:1])
