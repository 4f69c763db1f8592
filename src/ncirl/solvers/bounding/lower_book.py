"""The points found so far, as nodes of a controller: what made each, what it refers to, what it is worth now.

    v_n = min_d  Σ_{a,θ} A_n(a,θ) gain(a,d,θ) + γ Σ_i weight[i,d] Σ_j φ_ij (v_j − c·b_j),
    gain(a,d,θ) = r(a,d,θ) + γ Σ_i mass[i,a] weight[i,d] c_i(θ)

Points rise above the corners' plane c·b by their gains; what a posterior holds beyond its shares goes to the corners,
which are exact. `evaluate` carries rises through the whole controller without any program, and prunes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ncirl._typing import FloatArray, IntArray
from ncirl.solvers.bounding.book import alive_nodes, improved
from ncirl.solvers.bounding.place import Place

__all__ = ["LowerBook", "LowerNode", "PointStore"]

NEAR = 0.05  # defences that pay less than this above the best are kept as rows
GROWN = 1.25  # pruning compares every pair of points, so it waits for this many times as many
TINY, HUGE = 1e-290, 1e300  # a 0 and a 1 / 0 whose product is still huge: where both are 0 a share has no limit


class PointStore:
    """The points of one place that are worth having, over its corners."""

    def __init__(self, corners: FloatArray) -> None:
        self.corners = corners
        self.beliefs = np.zeros((0, len(corners)))
        self.reciprocals = np.zeros((len(corners), 0))  # 1 / b_j(θ), [θ, j]
        self.gains = np.zeros(0)
        self.nodes: IntArray = np.zeros(0, dtype=np.intp)
        self.pruned = 0  # points there were when last pruned

    def add(self, node: int, belief: FloatArray, value: float) -> None:
        """Append a point."""
        self.beliefs = np.vstack([self.beliefs, belief])
        self.reciprocals = np.hstack([self.reciprocals, _reciprocal(belief)[:, None]])
        self.gains = np.append(self.gains, value - self.corners @ belief)
        self.nodes = np.append(self.nodes, node)

    def shares(self, masses: FloatArray) -> FloatArray:
        """Return how much of each point's belief fits into each mass: min_θ β(θ) / b_j(θ), [mass, j]."""
        fit: FloatArray = ((masses.T + TINY)[:, :, None] * self.reciprocals[:, None, :]).min(axis=0)
        return fit

    def values(self, masses: FloatArray) -> FloatArray:
        """Return L̂(β) by the best single point, for each mass."""
        base: FloatArray = masses @ self.corners
        if not len(self.gains):
            return base
        return np.asarray(base + np.maximum((self.shares(masses) * self.gains).max(axis=1), 0.0))

    def prune(self) -> None:
        """Drop points that add nothing to the others, the highest first."""
        order = np.argsort(-self.gains, kind="stable")
        gains = self.gains[order]
        fit = self.shares(self.beliefs)[np.ix_(order, order)]
        offered = np.triu((fit * gains).T, 1)  # [j, k]: what a higher point j gives at point k
        kept = order[(gains > 1e-12) & (offered.max(axis=0, initial=0.0) < gains - 1e-12)]
        self.beliefs, self.gains, self.nodes = self.beliefs[kept], self.gains[kept], self.nodes[kept]
        self.reciprocals = self.reciprocals[:, kept]
        self.pruned = len(kept)


def _reciprocal(belief: FloatArray) -> FloatArray:
    there = belief > TINY
    return np.where(there, 1.0 / np.where(there, belief, 1.0), HUGE)


@dataclass(frozen=True, eq=False)
class LowerNode:
    """How a point was made: its belief, the plan over the actions in use, and shares (i, j, φ_ij)."""

    place: int
    belief: FloatArray
    actions: IntArray
    plan: FloatArray
    observation: IntArray
    following: IntArray
    share: FloatArray
    gains: FloatArray  # constant part of the rows kept, [row]
    row: IntArray  # entries (row, node, discounted share) for evaluation
    column: IntArray
    weight: FloatArray
    floor: float  # what the other defences pay at least
    leads: list[int]  # nodes it refers to


class LowerBook:
    """All nodes, their values now, and per place the store that programs compare."""

    def __init__(self, places: list[Place], corners: dict[int, FloatArray]) -> None:
        self.places = places
        self.stores = {place.number: PointStore(corners[place.number]) for place in places}
        self.nodes: list[LowerNode] = []
        self._values = np.zeros(256)
        self.evaluated = self.size = 0

    @property
    def values(self) -> FloatArray:
        """Current values, [node]."""
        return self._values[: len(self.nodes)]

    def add(
        self,
        place: Place,
        belief: FloatArray,
        actions: IntArray,
        plan: FloatArray,
        observation: IntArray,
        following: IntArray,
        share: FloatArray,
        payoff: FloatArray,
        value: float,
    ) -> int:
        """Store a point; `payoff[d]` is what its plan gets against each defence with the values of now.

        `following` may name the new node itself (its number is ``len(nodes)``); then `value` is the fixed point and
        `payoff` was worked out with it.
        """
        me = len(self.nodes)
        if me >= len(self._values):
            self._values = np.concatenate([self._values, np.zeros_like(self._values)])
        self._values[me] = value
        rows = np.flatnonzero(payoff <= payoff.min() + NEAR * (1 + abs(value)))
        others = np.ones(place.n_d, dtype=bool)
        others[rows] = False
        floor = float(payoff[others].min()) if others.any() else np.inf
        weights = place.discount * place.weight_of(observation)[:, rows] * share[:, None]  # [entry, row]
        entry, row = np.nonzero(weights)
        column, weight = following[entry], weights[entry, row]
        gains = payoff[rows] - weights.T @ self._values[following]
        self.nodes.append(
            LowerNode(
                place.number,
                belief,
                actions,
                plan,
                observation,
                following,
                share,
                gains,
                row,
                column,
                weight,
                floor,
                sorted(set(column.tolist())),
            )
        )
        self.stores[place.number].add(me, belief, value)
        return me

    def evaluate(self, sweeps: int) -> None:
        """Carry what is known now through all nodes in use; then drop points that add nothing."""
        alive = alive_nodes(self.nodes, (n for store in self.stores.values() for n in store.nodes.tolist()))
        self.evaluated, self.size = len(self.nodes), len(alive)
        if not len(alive):
            return
        self._values[alive] = improved(self.nodes, alive, self._values[alive], sweeps, maximise=False)
        for store in self.stores.values():
            if len(store.nodes):
                store.gains = self._values[store.nodes] - store.beliefs @ store.corners
                if len(store.nodes) > GROWN * store.pruned:
                    store.prune()
