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

__all__ = ["LowerBook", "LowerNode", "PointStore", "shares"]

NEAR = 0.05  # defences that pay less than this above the best are kept as rows


def shares(masses: FloatArray, beliefs: FloatArray) -> FloatArray:
    """Return how much of each belief fits into each mass: min_θ β(θ) / b(θ), [mass, belief]."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(beliefs > 0, masses[:, None, :] / beliefs, np.inf)
    fit: FloatArray = ratio.min(axis=2)
    return fit


class PointStore:
    """The points of one place that are worth having, over its corners."""

    def __init__(self, corners: FloatArray) -> None:
        self.corners = corners
        self.beliefs = np.zeros((0, len(corners)))
        self.gains = np.zeros(0)
        self.nodes: IntArray = np.zeros(0, dtype=np.intp)

    def add(self, node: int, belief: FloatArray, value: float) -> None:
        """Append a point."""
        self.beliefs = np.vstack([self.beliefs, belief])
        self.gains = np.append(self.gains, value - self.corners @ belief)
        self.nodes = np.append(self.nodes, node)

    def values(self, masses: FloatArray) -> FloatArray:
        """Return L̂(β) by the best single point, for each mass."""
        base: FloatArray = masses @ self.corners
        if not len(self.gains):
            return base
        return np.asarray(base + np.maximum((shares(masses, self.beliefs) * self.gains).max(axis=1), 0.0))

    def prune(self) -> None:
        """Drop points that add nothing to the others, the highest first."""
        order = np.argsort(-self.gains, kind="stable")
        beliefs, gains = self.beliefs[order], self.gains[order]
        offered = np.triu((shares(beliefs, beliefs) * gains).T, 1)  # [j, k]: what a higher point j gives at point k
        kept = (gains > 1e-12) & (offered.max(axis=0, initial=0.0) < gains - 1e-12)
        self.beliefs, self.gains, self.nodes = beliefs[kept], gains[kept], self.nodes[order[kept]]


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
        self.values: list[float] = []
        self.evaluated = self.size = 0

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
        self.values.append(value)
        rows = np.flatnonzero(payoff <= payoff.min() + NEAR * (1 + abs(value)))
        others = np.ones(place.n_d, dtype=bool)
        others[rows] = False
        floor = float(payoff[others].min()) if others.any() else np.inf
        weights = place.discount * place.weight_of(observation)[:, rows] * share[:, None]  # [entry, row]
        entry, row = np.nonzero(weights)
        column, weight = following[entry], weights[entry, row]
        known = np.array([self.values[j] for j in following.tolist()])
        gains = payoff[rows] - weights.T @ known if len(following) else payoff[rows]
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
                np.unique(column).tolist(),
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
        before = np.array([self.values[n] for n in alive.tolist()])
        after = improved(self.nodes, alive, before, sweeps, maximise=False)
        for n, value in zip(alive.tolist(), after.tolist(), strict=True):
            self.values[n] = value
        for store in self.stores.values():
            if len(store.nodes):
                now = np.array([self.values[n] for n in store.nodes.tolist()])
                store.gains = now - store.beliefs @ store.corners
                store.prune()
