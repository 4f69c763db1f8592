"""Nodes of both controllers as flat arrays, to be handed to the kernel and taken back.

    node n:   state[n];   what it plays, n_played[n] entries;   links (observation, node, share), n_links[n];   worth[n]

A vector plays defences with their chances, and where it has no links follows `rest`, a node by successor. A point plays
actions with the mass of each intent, at a belief. A table can be cut down to what some nodes lead to; then these get
new numbers, in order.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ncirl._typing import BoolArray, FloatArray, IntArray
from ncirl.lp.state_arrays import NONE, StateArrays
from ncirl.lp.stores import PointStore, VectorStore
from ncirl.solvers.certified.alpha_vectors import AlphaVectors, VectorNode
from ncirl.solvers.certified.belief_points import BeliefPoints, PointNode

__all__ = ["PointTable", "VectorTable", "pieces"]


def pieces(starts: IntArray, lengths: IntArray) -> IntArray:
    """Return starts[0], starts[0] + 1, … for so many each, one piece after another."""
    ends = np.cumsum(lengths)
    within = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - lengths, lengths)
    return np.asarray(np.repeat(starts, lengths) + within, dtype=np.intp)


@dataclass(frozen=True, eq=False, kw_only=True)
class NodeTable(ABC):
    """What nodes of both kinds have; `kept` are those that programs compare."""

    state: IntArray
    n_played: IntArray
    n_links: IntArray
    kept: BoolArray
    played: IntArray
    observation: IntArray
    to: IntArray
    share: FloatArray
    worth: FloatArray

    def __len__(self) -> int:
        return len(self.state)

    def arrays(self) -> list[NDArray[Any]]:
        """Return all arrays, in the order in which they are declared, as the kernel takes them."""
        return [getattr(self, field.name) for field in fields(self)]

    def _leads(self, some: IntArray) -> IntArray:
        """Return the nodes that some lead to."""
        return self.to[_parts(self.n_links, some)]

    def plays_of(self, some: IntArray) -> tuple[IntArray, IntArray]:
        """Return, for each entry of what some nodes play, whose it is among them, and where it is."""
        return np.repeat(np.arange(len(some)), self.n_played[some]), _parts(self.n_played, some)

    def links_of(self, some: IntArray) -> tuple[IntArray, IntArray]:
        """Return the same for their links."""
        return np.repeat(np.arange(len(some)), self.n_links[some]), _parts(self.n_links, some)

    def reached(self, roots: Sequence[int] | IntArray) -> IntArray:
        """Return the numbers of some nodes and of all they lead to, in order."""
        met = np.zeros(len(self), dtype=np.bool_)
        new = np.unique(np.asarray(roots, dtype=np.intp))
        while len(new):
            met[new] = True
            new = np.unique(self._leads(new))
            new = new[~met[new]]
        return np.flatnonzero(met)

    def led_to(self, roots: Sequence[int] | IntArray) -> Self:
        """Return the table of some nodes, which alone are kept to be compared, and of all they lead to."""
        some = self.reached(roots)
        number = np.zeros(len(self), dtype=np.intp)
        number[some] = np.arange(len(some))
        kept = np.isin(some, roots)
        return replace(self.among(some, number), kept=kept)

    def among(self, some: IntArray, number: IntArray) -> Self:
        """Return the table of some nodes; what they lead to gets the numbers given."""
        plays, links = _parts(self.n_played, some), _parts(self.n_links, some)
        return replace(
            self,
            state=self.state[some],
            n_played=self.n_played[some],
            n_links=self.n_links[some],
            kept=self.kept[some],
            played=self.played[plays],
            observation=self.observation[links],
            to=number[self.to[links]],
            share=self.share[links],
            worth=self.worth[some],
            **self._own(some, plays, number),
        )

    @abstractmethod
    def _own(self, some: IntArray, plays: IntArray, number: IntArray) -> dict[str, Any]:
        """Return, for some nodes, what only those of one kind have."""


@dataclass(frozen=True, eq=False, kw_only=True)
class VectorTable(NodeTable):
    """The defender's nodes: worth[n, θ]."""

    chance: FloatArray
    n_rest: IntArray
    rest: IntArray

    @classmethod
    def of(cls, vectors: AlphaVectors) -> "VectorTable":
        """Return all nodes of a controller."""
        nodes = vectors.nodes
        return cls(
            **_common(nodes, vectors.stores, [node.defences for node in nodes]),
            share=_joined([node.chance for node in nodes]),
            worth=vectors.vectors.copy(),
            chance=_joined([node.mix for node in nodes]),
            n_rest=_lengths([node.default for node in nodes]),
            rest=_joined([node.default for node in nodes]).astype(np.intp),
        )

    def controller(self, arrays: list[StateArrays]) -> AlphaVectors:
        """Return a controller to be written: what its nodes are worth stays what it is."""
        found = AlphaVectors(arrays, every_row=False)
        played, links = _split(self.n_played), _split(self.n_links)
        for n, rest in enumerate(_split(self.n_rest)):
            node = VectorNode(
                state=int(self.state[n]),
                belief=None,
                defences=self.played[played[n]],
                mix=self.chance[played[n]],
                observation=self.observation[links[n]],
                following=self.to[links[n]],
                chance=self.share[links[n]],
                default=self.rest[rest],
                **_settled(self.worth[n]),
            )
            found.restore(node, self.worth[n], kept=bool(self.kept[n]))
        return found

    def _leads(self, some: IntArray) -> IntArray:
        return np.concatenate([super()._leads(some), self.rest[_parts(self.n_rest, some)]])

    def _own(self, some: IntArray, plays: IntArray, number: IntArray) -> dict[str, Any]:
        rest = number[self.rest[_parts(self.n_rest, some)]]
        return {"chance": self.chance[plays], "n_rest": self.n_rest[some], "rest": rest}


@dataclass(frozen=True, eq=False, kw_only=True)
class PointTable(NodeTable):
    """The attacker's nodes: worth[n], mass[entry, θ], belief[n, θ]."""

    mass: FloatArray
    belief: FloatArray

    @classmethod
    def of(cls, points: BeliefPoints, n_t: int) -> "PointTable":
        """Return all nodes of a controller."""
        nodes = points.nodes
        return cls(
            **_common(nodes, points.stores, [node.actions for node in nodes]),
            share=_joined([node.share for node in nodes]),
            worth=points.values.copy(),
            mass=np.concatenate([np.zeros((0, n_t)), *(node.plan for node in nodes)]),
            belief=np.concatenate([np.zeros((0, n_t)), *(node.belief[None] for node in nodes)]),
        )

    def controller(self, corners: list[FloatArray]) -> BeliefPoints:
        """Return a controller to be written: what its nodes are worth stays what it is."""
        found = BeliefPoints(corners, every_row=False)
        played, links = _split(self.n_played), _split(self.n_links)
        for n in range(len(self)):
            node = PointNode(
                state=int(self.state[n]),
                belief=self.belief[n],
                actions=self.played[played[n]],
                plan=self.mass[played[n]],
                observation=self.observation[links[n]],
                following=self.to[links[n]],
                share=self.share[links[n]],
                **_settled(float(self.worth[n])),
            )
            found.restore(node, float(self.worth[n]), kept=bool(self.kept[n]))
        return found

    def _own(self, some: IntArray, plays: IntArray, number: IntArray) -> dict[str, Any]:
        return {"mass": self.mass[plays], "belief": self.belief[some]}


def _parts(lengths: IntArray, some: IntArray) -> IntArray:
    """Return where the entries of some nodes are."""
    return pieces((np.cumsum(lengths) - lengths)[some], lengths[some])


def _split(lengths: IntArray) -> list[slice]:
    ends = np.cumsum(lengths).tolist()
    return [slice(begin, end) for begin, end in zip([0, *ends], ends, strict=False)]


def _lengths(parts: Sequence[NDArray[Any]]) -> IntArray:
    return np.array([len(part) for part in parts], dtype=np.intp)


def _joined(parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
    return np.concatenate([np.zeros(0), *parts])


def _common(
    nodes: Sequence[VectorNode] | Sequence[PointNode],
    stores: Mapping[int, VectorStore] | Mapping[int, PointStore],
    played: list[IntArray],
) -> dict[str, Any]:
    """Return what nodes of both kinds have, but for their worth and what their links weigh."""
    kept = np.zeros(len(nodes), dtype=np.bool_)
    for store in stores.values():
        kept[store.nodes] = True
    return {
        "state": np.array([node.state for node in nodes], dtype=np.intp),
        "n_played": _lengths(played),
        "n_links": _lengths([node.observation for node in nodes]),
        "kept": kept,
        "played": _joined(played).astype(np.intp),
        "observation": _joined([node.observation for node in nodes]).astype(np.intp),
        "to": _joined([node.following for node in nodes]).astype(np.intp),
    }


def _settled(worth: FloatArray | float) -> dict[str, Any]:
    """Return what a node has for its evaluation where it is to stay as it is: one row, whatever it leads to."""
    row = np.asarray(worth)[None]
    return {"gains": row, "row": NONE, "column": NONE, "weight": np.zeros(0), "floor": worth, "leads": []}
