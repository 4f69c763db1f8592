"""α-vectors as nodes of the defender's controller: what made each, what it refers to, what it is worth now.

    α_n(θ) = max_a  Σ_d D_n(d) r(a,d,θ) + γ Σ_i mass[i,a] (weight[i]·D_n) Σ_j p_ij α_j(θ)

A vector was made from the values its successors had then. They fall as search goes on; `evaluate` carries that through
the whole controller without any program, and prunes. Per node only the actions that matter are kept as rows; the others
are remembered by what they got when the node was made, which stays an upper bound.
"""

from dataclasses import dataclass, replace

import numpy as np

from ncirl._typing import FloatArray, IntArray
from ncirl.lp.backups import ONESELF, VectorBackup
from ncirl.lp.state_arrays import StateArrays
from ncirl.lp.stores import VectorStore
from ncirl.solvers.certified.controller import Evaluated, Nodes

__all__ = ["AlphaVectors", "VectorNode"]


@dataclass(frozen=True, eq=False, kw_only=True)
class VectorNode(Evaluated):
    """How a vector was made. Entries (i, j, p_ij) of the continuation; other observations follow `default`."""

    state: int
    belief: FloatArray | None  # where it was best when it was made
    defences: IntArray
    mix: FloatArray
    observation: IntArray
    following: IntArray
    chance: FloatArray
    default: IntArray  # by successor


class AlphaVectors(Nodes[VectorNode]):
    """The defender's controller: all vectors."""

    opponent_maximises = True

    def __init__(self, arrays: list[StateArrays], *, every_row: bool) -> None:
        n_t = arrays[0].n_t if arrays else 0
        self.stores = {here.number: VectorStore(n_t) for here in arrays}
        super().__init__(self.stores, np.zeros((256, n_t)), every_row=every_row)

    @property
    def vectors(self) -> FloatArray:
        """Current vectors, [node, θ]."""
        return self._worth[: len(self.nodes)]

    def add(
        self,
        here: StateArrays,
        belief: FloatArray | None,
        found: VectorBackup,
        *,
        vector: FloatArray | None = None,
        instead_of: int | None = None,
    ) -> None:
        """Store the vector of a backup.

        A vector that is nowhere larger may stand `instead_of` another: whatever refers to that node profits at once.
        """
        me = len(self.nodes) if instead_of is None else instead_of
        node, vector = self._node(here, belief, found, me), found.vector if vector is None else vector
        self._keep(me, node, vector)
        store = self.stores[here.number]
        if instead_of is None:
            store.add(me, vector)
        else:
            store.put(me, vector)

    def take(self, others: "AlphaVectors") -> None:
        """Add all nodes of another controller, which lead to each other."""
        first = len(self.nodes)
        for node, vector in zip(others.nodes, others.vectors, strict=True):
            self._keep(len(self.nodes), _shifted(node, first), vector)
        for state, store in others.stores.items():  # now, so that what is in a store leads to nodes there are
            for n, vector in zip(store.nodes.tolist(), store.alphas, strict=True):
                self.stores[state].add(first + n, vector)

    def join(self, nodes: list[VectorNode], vectors: FloatArray, stored: list[int], first: int) -> None:
        """Add nodes that lead to the first ones here or to each other; `stored` are those worth comparing.

        They have numbers from `first` on, which others here may have had meanwhile.
        """
        by = len(self.nodes) - first
        for node, vector in zip(nodes, vectors, strict=True):
            self._keep(len(self.nodes), _shifted(node, by, first), vector)
        for n in stored:
            self.stores[nodes[n - first].state].add(n + by, vectors[n - first])

    def restore(self, node: VectorNode, vector: FloatArray, *, kept: bool) -> None:
        """Add a node as it is; its vector is compared if it is `kept`."""
        me = len(self.nodes)
        self._keep(me, node, vector)
        if kept:
            self.stores[node.state].add(me, vector)

    def _node(self, here: StateArrays, belief: FloatArray | None, found: VectorBackup, me: int) -> VectorNode:
        """Return what a backup becomes."""
        following, default = (_named(each, me) for each in (found.following, found.default))
        others = np.full(here.n_a, not self.every_row)
        if len(found.actions):
            others[found.actions[found.plan.sum(axis=1) > 0]] = False
        others[found.conceded.argmax(axis=0)] = False
        rows = (~others).nonzero()[0]
        discount = here.discount * found.reach
        row, column, weight = self._entries(here, rows, discount, found.observation, following, found.chance, default)
        return VectorNode(
            state=here.number,
            belief=belief,
            defences=found.defences,
            mix=found.mix,
            observation=found.observation,
            following=following,
            chance=found.chance,
            default=default,
            gains=found.mix @ here.reward[rows[:, None], found.defences],
            row=row,
            column=column,
            weight=weight,
            floor=found.conceded[others].max(axis=0, initial=-np.inf),
            leads=sorted(set(column.tolist())),
        )

    def _entries(
        self,
        here: StateArrays,
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
        bare = without.nonzero()[0]
        every, to, share = bare, default[here.toward[bare]], discount[bare]
        if len(observation):
            every, to = np.concatenate([observation, every]), np.concatenate([following, to])
            share = np.concatenate([chance * discount[observation], share])
        mass = here.mass_of(every, rows)
        entry, row = mass.nonzero()
        return row, to[entry], share[entry] * mass[entry, row]


def _named(nodes: IntArray, me: int) -> IntArray:
    """Return nodes that follow, with the number of the one that is being made in place of `ONESELF`."""
    oneself = nodes == ONESELF
    return np.where(oneself, me, nodes) if oneself.any() else nodes


def _shifted(node: VectorNode, by: int, first: int = 0) -> VectorNode:
    """Return a node that leads to nodes whose numbers are larger, if they were `first` or more."""
    return replace(
        node,
        following=node.following + by * (node.following >= first),
        default=node.default + by * (node.default >= first),
        column=node.column + by * (node.column >= first),
        leads=[n + by * (n >= first) for n in node.leads],
    )
