"""The points found so far, as nodes of a controller: what made each, what it refers to, what it is worth now.

    v_n = min_d  Σ_{a,θ} A_n(a,θ) gain(a,d,θ) + γ Σ_i weight[i,d] Σ_j φ_ij (v_j − c·b_j),
    gain(a,d,θ) = r(a,d,θ) + γ Σ_i mass[i,a] weight[i,d] c_i(θ)

Points rise above the corners' plane c·b by their gains; what a posterior holds beyond its shares goes to the corners,
which are exact. `evaluate` carries rises through the whole controller without any program, and prunes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ncirl._typing import FloatArray, IntArray
from ncirl.solvers.certified.book import Controller
from ncirl.solvers.certified.place import Place

__all__ = ["LowerBook", "LowerNode", "LowerStep", "Plan", "PointStore"]

NEAR = 0.05  # defences that pay less than this above the best are kept as rows
GROWN = 1.25  # pruning compares every pair of points, so it waits for this many times as many
AT_ONCE = 1_000_000  # numbers compared in one go
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
        beliefs = np.vstack([self.beliefs, belief])
        reciprocals = np.hstack([self.reciprocals, _reciprocal(belief)[:, None]])
        gains, nodes = np.append(self.gains, value - self.corners @ belief), np.append(self.nodes, node)
        # all at once: an interruption may come whenever something is called
        self.beliefs, self.reciprocals, self.gains, self.nodes = beliefs, reciprocals, gains, nodes

    def put(self, node: int, belief: FloatArray, value: float) -> None:
        """Append a point, or change the value of the one there is."""
        here = np.flatnonzero(self.nodes == node)
        if len(here):
            self.gains[here] = value - self.corners @ belief
        else:
            self.add(node, belief, value)

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
        rank = np.argsort(order)
        offered = np.zeros(len(order))  # what the higher points give at each
        some = max(1, AT_ONCE // (len(order) * len(self.corners)))
        for begin in range(0, len(order), some):
            each = np.arange(begin, min(begin + some, len(order)))
            higher = rank[None, :] < rank[each][:, None]
            given = np.where(higher, self.shares(self.beliefs[each]) * self.gains, 0.0)
            offered[each] = given.max(axis=1, initial=0.0)
        kept = order[(self.gains > 1e-12)[order] & (offered < self.gains - 1e-12)[order]]
        beliefs, reciprocals = self.beliefs[kept], self.reciprocals[:, kept]
        gains, nodes, self.pruned = self.gains[kept], self.nodes[kept], len(kept)
        self.beliefs, self.reciprocals, self.gains, self.nodes = beliefs, reciprocals, gains, nodes


def _reciprocal(belief: FloatArray) -> FloatArray:
    there = belief > TINY
    return np.where(there, 1.0 / np.where(there, belief, 1.0), HUGE)


@dataclass(frozen=True, eq=False)
class Plan:
    """A plan that is a plan, shares that fit its posteriors, and what they get against each defence.

    Attributes
    ----------
    actions, plan : ndarray
        The attacker's actions in use and A[a, θ].
    observation, following, share : ndarray
        Entries (i, node j, φ_ij) of the continuation.
    worth : ndarray
        What each of those nodes is counted to be worth.
    payoff : ndarray of shape (D,)
        What comes of it against each defence.
    """

    actions: IntArray
    plan: FloatArray
    observation: IntArray
    following: IntArray
    share: FloatArray
    worth: FloatArray
    payoff: FloatArray

    @property
    def value(self) -> float:
        """What it secures."""
        return float(self.payoff.min())


@dataclass(frozen=True, eq=False)
class LowerStep(Plan):
    """What P_A over points says at a belief: a plan, and the defender's answer to it.

    Attributes
    ----------
    belief : ndarray of shape (Θ,)
        Where.
    defences, mix : ndarray
        The defender's actions in use and D[d].
    prices : ndarray of shape (I, Θ)
        What mass is worth after each observation; a point above that plane would help.
    """

    belief: FloatArray
    defences: IntArray
    mix: FloatArray
    prices: FloatArray


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
        self._at: dict[tuple[int, bytes], int] = {}
        self.changes = self.size = 0  # since, and nodes in use at, the last evaluation

    @property
    def values(self) -> FloatArray:
        """Current values, [node]."""
        return self._values[: len(self.nodes)]

    def number_of(self, place: Place, belief: FloatArray) -> int:
        """Return the node that a plan for this belief becomes: the one there is already, or a new one."""
        return self._at.get((place.number, belief.tobytes()), len(self.nodes))

    def add(self, place: Place, belief: FloatArray, plan: Plan) -> None:
        """Store a plan for a belief; whatever refers to the point there was at this belief now follows the new plan."""
        me = self.number_of(place, belief)
        payoff, value = plan.payoff, plan.value
        rows = np.flatnonzero((payoff <= value + NEAR * (1 + abs(value))) | place.slow)
        others = np.ones(place.n_d, dtype=bool)
        others[rows] = False
        weights = place.discount * place.weight_of(plan.observation)[:, rows] * plan.share[:, None]  # [entry, row]
        entry, row = np.nonzero(weights)
        column = plan.following[entry]
        node = LowerNode(
            place.number,
            belief,
            plan.actions,
            plan.plan,
            plan.observation,
            plan.following,
            plan.share,
            payoff[rows] - weights.T @ plan.worth,
            row,
            column,
            weights[entry, row],
            float(payoff[others].min(initial=np.inf)),
            sorted(set(column.tolist())),
        )
        if me >= len(self._values):
            self._values = np.concatenate([self._values, np.zeros_like(self._values)])
        if me == len(self.nodes):
            self._at[place.number, belief.tobytes()] = me
            self._values[me] = value
            self.nodes.append(node)
        else:  # no call in between: an interruption must not leave the new value with the old plan
            self.nodes[me], self._values[me] = node, value
        self.stores[place.number].put(me, belief, value)
        self.changes += 1

    def controller(self, roots: Iterable[int] | None = None) -> Controller:
        """Return some nodes, by default those in the stores, and all they lead to as what the defender faces."""
        if roots is None:
            roots = (n for store in self.stores.values() for n in store.nodes.tolist())
        return Controller(self.nodes, roots, maximise=False)

    def evaluate(self, sweeps: int) -> None:
        """Carry what is known now through all nodes in use; then drop points that add nothing."""
        if not self.nodes:
            return
        controller = self.controller()
        self.changes, self.size = 0, len(controller.alive)
        self._values[controller.alive] = controller.improved(self._values[controller.alive], sweeps)
        for store in self.stores.values():
            if len(store.nodes):
                store.gains = self._values[store.nodes] - store.beliefs @ store.corners
                if len(store.nodes) > GROWN * store.pruned:
                    store.prune()
