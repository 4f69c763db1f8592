"""The vectors found so far, as nodes of a controller: what made each, what it refers to, what it is worth now.

    α_n(θ) = max_a  Σ_d D_n(d) r(a,d,θ) + γ Σ_i mass[i,a] (weight[i]·D_n) Σ_j p_ij α_j(θ)

A vector was made from the values its successors had then. They fall as search goes on; `evaluate` carries that through
the whole controller without any program, and prunes. Per node only the actions that matter are kept as rows; the others
are remembered by what they got when the node was made, which stays an upper bound.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ncirl._typing import FloatArray, IntArray
from ncirl.solvers.bounding.book import alive_nodes, improved
from ncirl.solvers.bounding.place import Place

__all__ = ["UpperBook", "UpperNode", "UpperStep", "VectorStore"]


class VectorStore:
    """The vectors of one place that are worth comparing, and the nodes they belong to."""

    def __init__(self, n_intents: int) -> None:
        self.alphas = np.zeros((0, n_intents))
        self.nodes: IntArray = np.zeros(0, dtype=np.intp)

    def add(self, node: int, vector: FloatArray) -> None:
        """Append a vector."""
        self.alphas = np.vstack([self.alphas, vector])
        self.nodes = np.append(self.nodes, node)

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
        Per successor of the place, the node for observations without entries.
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

    def until_exit(self, place: Place) -> FloatArray:
        """Return what each action gets when the same mixed action is kept until the place is left, [a, θ]."""
        away = np.where(place.loop, 0.0, self.reach)
        leave = place.conceded(self.defences, self.mix, away, self.promised)
        stay = place.discount * place.gather(self.reach - away)
        kept: FloatArray = leave / (1.0 - stay)[:, None]
        return kept


@dataclass(frozen=True, eq=False)
class UpperNode:
    """How a vector was made. Entries (i, j, p_ij) of the continuation; other observations follow `default`."""

    place: int
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
        self.evaluated = self.size = 0

    @property
    def vectors(self) -> FloatArray:
        """Current vectors, [node, θ]."""
        return self._vectors[: len(self.nodes)]

    def add(self, place: Place, step: UpperStep, *, until_exit: bool, vector: FloatArray | None = None) -> int:
        """Store the vector of a step; with `until_exit` the same node goes on while play stays here."""
        me = len(self.nodes)
        discount = place.discount * step.reach
        observation, following, chance, default = step.observation, step.following, step.chance, step.default
        conceded = step.conceded
        if until_exit:
            stays = place.loop[observation]
            observation, following, chance = observation[~stays], following[~stays], chance[~stays]
            default = np.where(np.array(place.successors) == place.number, me, default)
            conceded = step.until_exit(place)
        if vector is None:
            vector = conceded.max(axis=0)
        others = np.ones(place.n_a, dtype=bool)
        others[step.actions[step.plan.sum(axis=1) > 0]] = False
        others[conceded.argmax(axis=0)] = False
        rows = np.flatnonzero(~others)
        floor = conceded[others].max(axis=0, initial=-np.inf)
        row, column, weight = self._entries(place, rows, discount, observation, following, chance, default)
        gains = step.mix @ place.reward[np.ix_(rows, step.defences)]
        self.nodes.append(
            UpperNode(
                place.number,
                step.defences,
                step.mix,
                observation,
                following,
                chance,
                default,
                gains,
                row,
                column,
                weight,
                floor,
                sorted(set(column.tolist())),
            )
        )
        if me >= len(self._vectors):
            self._vectors = np.vstack([self._vectors, np.zeros_like(self._vectors)])
        self._vectors[me] = vector
        self.stores[place.number].add(me, vector)
        return me

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

    def evaluate(self, sweeps: int) -> None:
        """Carry what is known now through all nodes in use; then drop dominated vectors."""
        alive = alive_nodes(self.nodes, (n for store in self.stores.values() for n in store.nodes.tolist()))
        self.evaluated, self.size = len(self.nodes), len(alive)
        if not len(alive):
            return
        self._vectors[alive] = improved(self.nodes, alive, self._vectors[alive], sweeps, maximise=True)
        for store in self.stores.values():
            store.alphas = self._vectors[store.nodes]
            store.prune()
