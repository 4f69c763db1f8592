"""P_A among clusters of intents: smaller programs for plans and vectors of the game with all of them.

    max V  over plans A(·, c);     A(a, θ) = o(θ) A(a, c);      α(θ) = max_a  Σ_d D(d) r(a,d,θ) + γ Σ_i … ᾱ_i(θ)

The programs are those of the game in which each cluster is one intent (`clusters`), and find strategies. What these are
worth is worked out in the game as it is: a vector for every intent, a plan from points of the game. A point at a belief
b that is not spread by the odds serves as far as it fits,

    Σ_j φ_j b_j ≤ β   whenever   Σ_j φ_j max_{θ ∈ c} b_j(θ) / o(θ) ≤ β(c)   for every cluster c.
"""

from copy import copy
from dataclasses import replace

import numpy as np

from ncirl._typing import FloatArray, IntArray
from ncirl.lp.backups import PointBackup, VectorBackup
from ncirl.lp.point_program import PointProgram
from ncirl.lp.program import Accuracy
from ncirl.lp.session import Meter
from ncirl.lp.state_arrays import StateArrays
from ncirl.lp.stores import PointStore, VectorStore
from ncirl.lp.vector_program import MOST, VectorProgram
from ncirl.solvers.certified.alpha_vectors import AlphaVectors
from ncirl.solvers.certified.belief_points import BeliefPoints
from ncirl.solvers.certified.clusters import Clusters

__all__ = ["FusedPointProgram", "FusedVectorProgram", "fused_arrays"]

EQUAL = 1e-14  # beliefs that differ by less are the same


class FusedVectors:
    """What is known of all intents, on average within clusters: as it was when `refresh` was called."""

    def __init__(self, whole: AlphaVectors, clusters: Clusters, states: list[int]) -> None:
        self.whole, self.clusters = whole, clusters
        self.stores = {t: VectorStore(clusters.n) for t in states}

    def refresh(self) -> None:
        """Take what is known now."""
        for t, store in self.stores.items():
            now = self.whole.stores[t]
            store.alphas, store.nodes = now.alphas @ self.clusters.mean, now.nodes

    @property
    def vectors(self) -> FloatArray:
        """[node, c]."""
        return self.whole.vectors @ self.clusters.mean


class FusedVectorProgram(VectorProgram):
    """P_A(s, ·) over vectors among clusters."""

    def __init__(
        self,
        here: StateArrays,
        known: AlphaVectors,
        accuracy: Accuracy,
        meter: Meter,
        likely: tuple[IntArray, IntArray],
        clusters: Clusters,
    ) -> None:
        self.ground, self.whole, self.clusters = here, known, clusters
        self.means = FusedVectors(known, clusters, here.successors)
        super().__init__(fused_arrays(here, clusters), self.means, accuracy, meter, likely)

    def now(self, nodes: IntArray) -> FloatArray:
        """Return the vectors of some nodes as they are now, [node, c]."""
        return np.asarray(self.whole.vectors[nodes] @ self.clusters.mean)

    def solve(self, belief: FloatArray) -> VectorBackup:
        """Solve at a belief of the whole game; return a backup of the whole game."""
        self.means.refresh()
        return self._whole(super().solve(self.clusters.pooled(belief)))

    def solve_below(self, belief: FloatArray, ceiling: FloatArray) -> VectorBackup:
        """Solve for a vector that is on average nowhere above another one if that can be had."""
        self.means.refresh()
        pooled = self.clusters.pooled(belief)
        self._begun(pooled)
        with self.selling(ceiling @ self.clusters.mean - 2 * self.accuracy.missed, MOST):
            return self._whole(super().solve(pooled))

    def _whole(self, found: VectorBackup) -> VectorBackup:
        return found.among_all(self.ground, self.whole.vectors, self.clusters.spread(found.plan))


class FusedPoints:
    """Points of the game as clusters see them: as they were when `refresh` was called."""

    def __init__(self, whole: BeliefPoints, clusters: Clusters, states: list[int]) -> None:
        self.whole, self.clusters = whole, clusters
        self.stores = {t: PointStore(whole.stores[t].corners @ clusters.mean) for t in states}
        self._taken: dict[int, FloatArray] = {}  # the beliefs that were there at the last refresh

    def refresh(self) -> None:
        """Take what is known now."""
        for t, store in self.stores.items():
            now = self.whole.stores[t]
            if self._taken.get(t) is not now.beliefs:  # they are never changed in place
                self._taken[t] = now.beliefs
                store.set_beliefs(self.clusters.needed(now.beliefs))
            store.gains, store.nodes = now.gains, now.nodes

    @property
    def values(self) -> FloatArray:
        """[node]."""
        return self.whole.values


class FusedPointProgram(PointProgram):
    """P_A(s, ·) over points among clusters."""

    def __init__(
        self, here: StateArrays, known: BeliefPoints, accuracy: Accuracy, meter: Meter, clusters: Clusters
    ) -> None:
        self.points, self.clusters = known, clusters
        self.pooled_points = FusedPoints(known, clusters, here.successors)
        corners = np.array([known.stores[t].corners for t in here.successors]).reshape(-1, here.n_t)
        self.corners_of_intents: FloatArray = corners[here.toward]  # c_i(θ)
        super().__init__(fused_arrays(here, clusters), self.pooled_points, accuracy, meter)

    def certain_part(self, observation: IntArray, following: IntArray, beliefs: FloatArray) -> FloatArray:
        """Return c_i·b_j of shares, at the beliefs of the points as they are."""
        if not len(following):
            return np.zeros(0)
        own = np.array([self.points.nodes[n].belief for n in following.tolist()])
        part: FloatArray = (self.corners_of_intents[observation] * own).sum(axis=1)
        return part

    def follow(self, belief: FloatArray, hint: VectorBackup) -> PointBackup:
        """Solve at a belief of the whole game, starting with what the optimistic plan would do there."""
        self.pooled_points.refresh()
        pooled = self.clusters.pooled(belief)
        return self._whole(super().follow(pooled, replace(hint, plan=self.clusters.pooled(hint.plan))), belief)

    def solve(self, belief: FloatArray) -> PointBackup:
        """Solve at a belief of the whole game."""
        self.pooled_points.refresh()
        return self._whole(super().solve(self.clusters.pooled(belief)), belief)

    def exceed(self, prices: FloatArray) -> PointBackup:
        """Solve where the value exceeds what mass costs by most."""
        self.pooled_points.refresh()
        return self._whole(super().exceed(prices @ self.clusters.mean), None)

    def _whole(self, found: PointBackup, wanted: FloatArray | None) -> PointBackup:
        """Let all members play what their cluster does, at the belief that was wanted if it is spread by the odds."""
        belief = self.clusters.spread(found.belief)
        if wanted is not None and np.abs(belief - wanted).max() < EQUAL:
            belief = wanted
        group = self.clusters.group
        policy = self.here.policy(found.actions, found.plan)[:, group]
        return replace(
            found, plan=policy * belief, belief=belief, prices=found.prices[:, group], slope=found.slope[group]
        )


def fused_arrays(here: StateArrays, clusters: Clusters) -> StateArrays:
    """Return the same state in the game in which each cluster is one intent."""
    fewer = copy(here)
    fewer.n_t = clusters.n
    fewer.reward = here.reward @ clusters.mean
    fewer.attacker = clusters.pooled((~here.attacker).astype(np.float64)) == 0
    return fewer
