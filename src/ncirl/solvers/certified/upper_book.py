"""The vectors found so far, as nodes of a controller: what made each, what it refers to, what it is worth now.

    α_n(θ) = max_a  Σ_d D_n(d) r(a,d,θ) + γ Σ_i mass[i,a] (weight[i]·D_n) Σ_j p_ij α_j(θ)

A vector was made from the values its successors had then. They fall as search goes on; `evaluate` carries that through
the whole controller without any program, and prunes. Per node only the actions that matter are kept as rows; the others
are remembered by what they got when the node was made, which stays an upper bound.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from ncirl._typing import FloatArray, IntArray
from ncirl.solvers.certified.book import Controller
from ncirl.solvers.certified.place import Place

__all__ = ["UpperBook", "UpperNode", "UpperStep", "VectorStore"]

ONESELF = -1  # as a node that follows: the one that is being made


class VectorStore:
    """The vectors of one place that are worth comparing, and the nodes they belong to."""

    def __init__(self, n_intents: int) -> None:
        self.alphas = np.zeros((0, n_intents))
        self.nodes: IntArray = np.zeros(0, dtype=np.intp)

    def add(self, node: int, vector: FloatArray) -> None:
        """Append a vector."""
        alphas, nodes = np.vstack([self.alphas, vector]), np.append(self.nodes, node)
        self.alphas, self.nodes = alphas, nodes  # at once: an interruption may come whenever something is called

    def put(self, node: int, vector: FloatArray) -> None:
        """Append a vector, or change the one there is."""
        here = np.flatnonzero(self.nodes == node)
        if len(here):
            self.alphas[here] = vector
        else:
            self.add(node, vector)

    def value(self, mass: FloatArray) -> float:
        """Return Û(β)."""
        return float((self.alphas @ mass).min())

    def prune(self) -> None:
        """Drop vectors that another one dominates."""
        order = np.argsort(self.alphas.sum(axis=1), kind="stable")
        alphas = self.alphas[order]
        below = (alphas[:, None, :] <= alphas[None, :, :] + 1e-12).all(axis=2)  # [j, k]: α_j ≤ α_k
        kept = ~np.triu(below, 1).any(axis=0)
        self.alphas, self.nodes = alphas[kept], self.nodes[order[kept]]


@dataclass(frozen=True, eq=False)
class UpperStep:
    """What P_A over vectors says at a belief: the optimistic plan, and the defender's answer to it.

    Attributes
    ----------
    actions, plan : ndarray
        The attacker's actions in use and A[a, θ].
    defences, mix : ndarray
        The defender's actions in use and D[d].
    observation, following, chance : ndarray
        Entries (i, node j, p_ij) of the continuation.
    default : ndarray
        Per successor of the place, the node for observations without entries; here and there `ONESELF` is the node
        that this step becomes.
    promised : ndarray of shape (I, Θ)
        The vector that follows each observation.
    conceded : ndarray of shape (A, Θ)
        What each action of the attacker gets at most; the new vector is its maximum.
    reach : ndarray of shape (I,)
        weight[i]·D.
    """

    actions: IntArray
    plan: FloatArray
    defences: IntArray
    mix: FloatArray
    observation: IntArray
    following: IntArray
    chance: FloatArray
    default: IntArray
    promised: FloatArray
    conceded: FloatArray
    reach: FloatArray

    @property
    def vector(self) -> FloatArray:
        """The vector that comes of it, [θ]."""
        vector: FloatArray = self.conceded.max(axis=0)
        return vector

    def variants(self, place: Place) -> list[UpperStep]:
        """Return the step and, where one can stay, that of keeping at it until the place is left."""
        if not place.loops:
            return [self]
        away = ~place.loop[self.observation]
        leave = place.conceded(self.defences, self.mix, np.where(place.loop, 0.0, self.reach), self.promised)
        stay = place.discount * place.gather(np.where(place.loop, self.reach, 0.0))
        kept = replace(
            self,
            observation=self.observation[away],
            following=self.following[away],
            chance=self.chance[away],
            default=np.where(np.array(place.successors) == place.number, ONESELF, self.default),
            conceded=leave / (1.0 - stay)[:, None],
        )
        return [self, kept]


@dataclass(frozen=True, eq=False)
class UpperNode:
    """How a vector was made. Entries (i, j, p_ij) of the continuation; other observations follow `default`."""

    place: int
    belief: FloatArray | None  # where it was best when it was made
    defences: IntArray
    mix: FloatArray
    observation: IntArray
    following: IntArray
    chance: FloatArray
    default: IntArray  # by successor
    gains: FloatArray  # Σ_d D(d) r of the rows kept, [row, θ]
    row: IntArray  # entries (row, node, discounted chance) for evaluation
    column: IntArray
    weight: FloatArray
    floor: FloatArray  # what the other actions get at most, [θ]
    leads: list[int]  # nodes it refers to


class UpperBook:
    """All nodes, their vectors now, and per place the store that programs compare."""

    def __init__(self, places: list[Place]) -> None:
        self.places = places
        n_t = places[0].n_t if places else 0
        self.stores = {place.number: VectorStore(n_t) for place in places}
        self.nodes: list[UpperNode] = []
        self._vectors = np.zeros((256, n_t))
        self.changes = self.size = 0  # since, and nodes in use at, the last evaluation

    @property
    def vectors(self) -> FloatArray:
        """Current vectors, [node, θ]."""
        return self._vectors[: len(self.nodes)]

    def add(
        self,
        place: Place,
        belief: FloatArray | None,
        step: UpperStep,
        *,
        vector: FloatArray | None = None,
        instead_of: int | None = None,
    ) -> None:
        """Store the vector of a step.

        A vector that is nowhere larger may stand `instead_of` another: whatever refers to that node profits at once.
        """
        me = len(self.nodes) if instead_of is None else instead_of
        node, vector = self._node(place, belief, step, me), step.vector if vector is None else vector
        if me >= len(self._vectors):
            self._vectors = np.vstack([self._vectors, np.zeros_like(self._vectors)])
        if instead_of is None:
            self._vectors[me] = vector
            self.nodes.append(node)
        else:  # no call in between: an interruption must not leave the new vector with the old node
            self.nodes[me], self._vectors[me] = node, vector
        self.stores[place.number].put(me, vector)
        self.changes += 1

    def _node(self, place: Place, belief: FloatArray | None, step: UpperStep, me: int) -> UpperNode:
        """Return what a step becomes."""
        following, default = (np.where(each == ONESELF, me, each) for each in (step.following, step.default))
        others = np.full(place.n_a, not place.slow)
        others[step.actions[step.plan.sum(axis=1) > 0]] = False
        others[step.conceded.argmax(axis=0)] = False
        rows = np.flatnonzero(~others)
        discount = place.discount * step.reach
        row, column, weight = self._entries(place, rows, discount, step.observation, following, step.chance, default)
        return UpperNode(
            place.number,
            belief,
            step.defences,
            step.mix,
            step.observation,
            following,
            step.chance,
            default,
            step.mix @ place.reward[np.ix_(rows, step.defences)],
            row,
            column,
            weight,
            step.conceded[others].max(axis=0, initial=-np.inf),
            sorted(set(column.tolist())),
        )

    def _entries(
        self,
        place: Place,
        rows: IntArray,
        discount: FloatArray,
        observation: IntArray,
        following: IntArray,
        chance: FloatArray,
        default: IntArray,
    ) -> tuple[IntArray, IntArray, FloatArray]:
        """Return entries (row, node, discounted chance) of the attacker's actions `rows`."""
        without = discount > 0
        without[observation] = False
        bare = np.flatnonzero(without)
        every = np.concatenate([observation, bare])
        to = np.concatenate([following, default[place.toward[bare]]])
        share = np.concatenate([chance, np.ones(len(bare))]) * discount[every]
        mass = place.mass_of(every, rows)
        entry, row = np.nonzero(mass)
        return row, to[entry], share[entry] * mass[entry, row]

    def controller(self, roots: Iterable[int] | None = None) -> Controller:
        """Return some nodes, by default those in the stores, and all they lead to as what the attacker faces."""
        if roots is None:
            roots = (n for store in self.stores.values() for n in store.nodes.tolist())
        return Controller(self.nodes, roots, maximise=True)

    def evaluate(self, sweeps: int) -> None:
        """Carry what is known now through all nodes in use; then drop dominated vectors."""
        if not self.nodes:
            return
        controller = self.controller()
        self.changes, self.size = 0, len(controller.alive)
        self._vectors[controller.alive] = controller.improved(self._vectors[controller.alive], sweeps)
        for store in self.stores.values():
            store.alphas = self._vectors[store.nodes]
            store.prune()
