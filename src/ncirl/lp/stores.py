"""What is known of v(s, ·): vectors from above, points over corners from below. Masses β need not sum to one.

    Û(β) = min_j α_j·β,        L̂(β) = c·β + max { Σ_j φ_j δ_j : Σ_j φ_j b_j ≤ β, φ ≥ 0 },        δ_j = v_j − c·b_j

Corners c are values at the point beliefs. The hull L̂ is a linear program, which the stage programs contain; `values`
evaluates it by the best single point, cheaply and never above it. The paper's sawtooth is the hull with one point, the
first. A vector or a point is known elsewhere by its `node`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ncirl._typing import FloatArray
from ncirl.lp.state_arrays import NONE

__all__ = ["FixedPoints", "FixedVectors", "KnownPoints", "KnownVectors", "PointStore", "VectorStore"]

GROWN = 1.25  # pruning compares every pair of points, so it waits for this many times as many
AT_ONCE = 1_000_000  # numbers compared in one go
NO_GAIN = 1e-12  # points that rise above the others by less add nothing
TINY, HUGE = 1e-290, 1e300  # a 0 and a 1 / 0 whose product is still huge: where both are 0 a share has no limit


class VectorStore:
    """The vectors α[j, θ] of one state that are worth comparing, and the nodes they belong to."""

    def __init__(self, n_intents: int) -> None:
        self.alphas = np.zeros((0, n_intents))
        self.nodes = NONE
        self.changes = 0  # since the beginning

    def add(self, node: int, vector: FloatArray) -> None:
        """Append a vector."""
        self.changes += 1
        alphas, nodes = np.concatenate([self.alphas, vector[None]]), np.concatenate([self.nodes, [node]])
        self.alphas, self.nodes = alphas, nodes  # at once: an interruption may come whenever something is called

    def put(self, node: int, vector: FloatArray) -> None:
        """Append a vector, or change the one there is."""
        here = (self.nodes == node).nonzero()[0]
        if len(here):
            self.changes += 1
            self.alphas[here] = vector
        else:
            self.add(node, vector)

    def best(self, mass: FloatArray) -> int:
        """Return the position of the vector that is lowest at a mass."""
        return int((self.alphas @ mass).argmin())

    def values(self, masses: FloatArray) -> FloatArray:
        """Return Û(β) for each mass."""
        return np.asarray((masses @ self.alphas.T).min(axis=1))

    def value(self, mass: FloatArray) -> float:
        """Return Û(β)."""
        return float((self.alphas @ mass).min())

    def set_values(self, alphas: FloatArray) -> None:
        """Change all vectors, and drop those that another one dominates."""
        self.changes += 1
        self.alphas = alphas
        self.prune()

    def prune(self, slack: float = NO_GAIN) -> None:
        """Drop vectors that another one dominates, up to some slack."""
        order = np.argsort(self.alphas.sum(axis=1), kind="stable")
        alphas = self.alphas[order]
        below = np.triu(np.ones((len(alphas), len(alphas)), dtype=np.bool_), 1)  # [j, k]: α_j ≤ α_k, j before k
        for worth in alphas.T:  # intent by intent: all of them at once would be compared a few numbers at a time
            below &= worth[:, None] <= worth + slack
        kept = ~below.any(axis=0)
        self.alphas, self.nodes = alphas[kept], self.nodes[order[kept]]


class PointStore:
    """The points (b_j, v_j) of one state that are worth having, over its corners."""

    def __init__(self, corners: FloatArray) -> None:
        self.corners = corners
        self.beliefs = np.zeros((0, len(corners)))
        self.reciprocals = np.zeros((len(corners), 0))  # 1 / b_j(θ), [θ, j]
        self.gains = np.zeros(0)  # δ_j
        self.nodes = NONE
        self._pruned = 0  # points there were when last pruned

    def add(self, node: int, belief: FloatArray, value: float) -> None:
        """Append a point."""
        beliefs = np.vstack([self.beliefs, belief])
        reciprocals = np.hstack([self.reciprocals, _reciprocal(belief)[:, None]])
        gains, nodes = np.append(self.gains, value - self.corners @ belief), np.append(self.nodes, node)
        # all at once: an interruption may come whenever something is called
        self.beliefs, self.reciprocals, self.gains, self.nodes = beliefs, reciprocals, gains, nodes

    def put(self, node: int, belief: FloatArray, value: float) -> None:
        """Append a point, or change the value of the one there is."""
        here = (self.nodes == node).nonzero()[0]
        if len(here):
            self.gains[here] = value - self.corners @ belief
        else:
            self.add(node, belief, value)

    def set_beliefs(self, beliefs: FloatArray) -> None:
        """Change where the points are."""
        self.beliefs, self.reciprocals = beliefs, _reciprocal(beliefs).T

    def set_values(self, values: FloatArray) -> None:
        """Change the values of all points, and drop those that add nothing once there are enough of them."""
        self.gains = values - self.beliefs @ self.corners
        if len(self.nodes) > GROWN * self._pruned:
            self.prune()

    def shares(self, masses: FloatArray) -> FloatArray:
        """Return how much of each point's belief fits into each mass: min_θ β(θ) / b_j(θ), [mass, j]."""
        fit: FloatArray = ((masses.T + TINY)[:, :, None] * self.reciprocals[:, None, :]).min(axis=0)
        return fit

    def _share(self, mass: FloatArray) -> FloatArray:
        """Return how much of each point's belief fits into one mass, [j]."""
        fit: FloatArray = ((mass + TINY)[:, None] * self.reciprocals).min(axis=0)
        return fit

    def best(self, mass: FloatArray) -> tuple[int, float, float] | None:
        """Return the position of the point that serves a mass best, how much of it fits, and L̂ with it alone."""
        if not len(self.gains):
            return None
        fit = self._share(mass)
        j = int((fit * self.gains).argmax())
        return j, float(fit[j]), float(self.corners @ mass + fit[j] * self.gains[j])

    def values(self, masses: FloatArray) -> FloatArray:
        """Return L̂(β) by the best single point, for each mass."""
        base: FloatArray = masses @ self.corners
        if not len(self.gains):
            return base
        return np.asarray(base + np.maximum((self.shares(masses) * self.gains).max(axis=1), 0.0))

    def value(self, mass: FloatArray) -> float:
        """Return L̂(β) by the best single point."""
        base = float((mass[None] @ self.corners)[0])
        return base + max(0.0, float((self._share(mass) * self.gains).max())) if len(self.gains) else base

    def prune(self) -> None:
        """Drop points that add nothing to the others, the highest first."""
        order = np.argsort(-self.gains, kind="stable")
        rank = np.argsort(order)
        offered = np.zeros(len(order))  # what the higher points give at each
        some = max(1, AT_ONCE // (len(order) * len(self.corners)))
        for begin in range(0, len(order), some):
            each = np.arange(begin, min(begin + some, len(order)))
            higher = rank[None, :] < rank[each][:, None]
            given = np.where(higher, self.shares(self.beliefs[each]) * self.gains, 0.0)
            offered[each] = given.max(axis=1, initial=0.0)
        kept = order[(self.gains > NO_GAIN)[order] & (offered < self.gains - NO_GAIN)[order]]
        beliefs, reciprocals = self.beliefs[kept], self.reciprocals[:, kept]
        gains, nodes, self._pruned = self.gains[kept], self.nodes[kept], len(kept)
        self.beliefs, self.reciprocals, self.gains, self.nodes = beliefs, reciprocals, gains, nodes


class KnownVectors(Protocol):
    """Vectors of all states: per state those to compare, and each as it is now, by node."""

    @property
    def stores(self) -> Mapping[int, VectorStore]:
        """By number of the state."""

    @property
    def vectors(self) -> FloatArray:
        """[node, θ]."""


class KnownPoints(Protocol):
    """Points of all states: per state those to compare, and what each is worth now, by node."""

    @property
    def stores(self) -> Mapping[int, PointStore]:
        """By number of the state."""

    @property
    def values(self) -> FloatArray:
        """[node]."""


@dataclass(frozen=True, eq=False)
class FixedVectors:
    """Vectors that stay as they are."""

    stores: Mapping[int, VectorStore]
    vectors: FloatArray

    @classmethod
    def of(cls, alphas: Mapping[int, FloatArray], n_intents: int) -> "FixedVectors":
        """Take α[j, θ] by number of the state."""
        stores, first = {}, 0
        for state, here in alphas.items():
            stores[state] = store = VectorStore(n_intents)
            store.alphas, store.nodes = here, np.arange(first, first + len(here))
            first += len(here)
        return cls(stores, np.concatenate([np.zeros((0, n_intents)), *alphas.values()]))


@dataclass(frozen=True, eq=False)
class FixedPoints:
    """Points that stay as they are."""

    stores: Mapping[int, PointStore]
    values: FloatArray

    @classmethod
    def of(
        cls, hulls: Mapping[int, tuple[FloatArray, FloatArray, FloatArray]], most: int | None = None
    ) -> "FixedPoints":
        """Take corners c[θ], beliefs b[j, θ] and values v[j] by number of the state.

        Points that add nothing to the corners are left out; of the others the first `most` are kept (1: the sawtooth).
        """
        stores: dict[int, PointStore] = {}
        worth: list[float] = []
        for state, (corners, beliefs, values) in hulls.items():
            stores[state] = store = PointStore(corners)
            rising = np.flatnonzero(values - beliefs @ corners > NO_GAIN)[:most]
            for j in rising.tolist():
                store.add(len(worth), beliefs[j], float(values[j]))
                worth.append(float(values[j]))
        return cls(stores, np.array(worth))


def _reciprocal(belief: FloatArray) -> FloatArray:
    there = belief > TINY
    return np.where(there, 1.0 / np.where(there, belief, 1.0), HUGE)
