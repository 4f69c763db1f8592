"""A finite-state controller as its opponent faces it: carrying what is known now through all its nodes.

    value(node) ← max_row | min_row  gains[row] + Σ weight · value(column)        (the attacker answers | the defender)


A node keeps as rows only the opponent's choices that matter, ``gains[row] + Σ weight · value(column)``; what the other
choices were worth when the node was made stays a bound and is its `floor`. Values only ever improve.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Generic, TypeVar

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import spsolve

from ncirl._typing import FloatArray, IntArray
from ncirl.lp.stores import PointStore, VectorStore
from ncirl.mdp import OpponentMDP
from ncirl.playbook.stacks import in_blocks

__all__ = ["ControllerMDP", "Evaluated", "Nodes", "depths"]

FOLLOWED = 100  # stages for which visits are counted
LEFT = 0.3  # of a value that is still to come after some stages: then equations are solved instead of sweeping
ROUNDS = 20  # improvements of the opponent's policy, at most
ROUNDING = 1e-12  # relative; improvements below this are noise


@dataclass(frozen=True, eq=False, kw_only=True)
class Evaluated:
    """A node as its evaluation sees it: rows of the opponent's choices that matter."""

    gains: FloatArray  # what each row is worth before anything that follows, [row] or [row, θ]
    row: IntArray  # entries (row, node it leads to, discounted chance)
    column: IntArray
    weight: FloatArray
    floor: FloatArray | float  # what the choices not kept as rows are worth
    leads: list[int]  # nodes it refers to


Node = TypeVar("Node", bound=Evaluated)


def depths(nodes: Sequence[Evaluated], roots: Iterable[int]) -> dict[int, int]:
    """Return the nodes in use, the roots and all they lead to, with how many steps away they are."""
    met = list(dict.fromkeys(roots))
    depth = dict.fromkeys(met, 0)
    for n in met:  # grows as it goes
        for m in nodes[n].leads:
            if m not in depth:
                depth[m] = depth[n] + 1
                met.append(m)
    return depth


class ControllerMDP:
    """The nodes that some roots lead to, as what their opponent faces; `maximise` says whether that is the attacker."""

    def __init__(self, nodes: Sequence[Evaluated], roots: Iterable[int], *, maximise: bool) -> None:
        self.depth = depths(nodes, roots)
        self.alive: IntArray = np.array(sorted(self.depth), dtype=np.intp)
        self._at = np.full(len(nodes), -1, dtype=np.intp)
        self._at[self.alive] = np.arange(len(self.alive))
        used = [nodes[n] for n in self.alive.tolist()]
        first = np.concatenate([[0], np.cumsum([len(node.gains) for node in used])])
        rows = np.concatenate([node.row + start for node, start in zip(used, first, strict=False)])
        columns = self._at[np.concatenate([node.column for node in used])]
        weights = np.concatenate([node.weight for node in used])
        moves = sp.csr_array((weights, (rows, columns)), shape=(first[-1], len(used)))
        self._response = OpponentMDP(
            np.concatenate([node.gains for node in used]), moves, first[:-1], maximise=maximise
        )
        self._floor = np.array([node.floor for node in used])

    def improved(self, values: FloatArray, sweeps: int) -> FloatArray:
        """Return what is known of the nodes `alive` after some sweeps, or after all where some do not get far."""
        swept = self._response.tightened(values, sweeps, self._floor)
        if not self._goes_on(sweeps):
            return swept
        better = np.minimum if self._response.maximise else np.maximum
        return np.asarray(better(swept, self.settled(swept)))

    def settled(self, values: FloatArray) -> FloatArray:
        """Approach the fixed point by policy iteration, and turn what was found into a bound by its residual."""
        response, shape = self._response, values.shape
        sign = 1.0 if response.maximise else -1.0
        reward, floor = (each.reshape(len(each), -1) for each in (response.reward, self._floor))
        before, found = -np.inf, values
        for _ in range(ROUNDS):
            rows = response.answers(found).reshape(floor.shape)
            on = sign * (response.backup(found).reshape(floor.shape) - floor) >= 0  # else a choice that is no row
            policies = [(rows[:, k], on[:, k], reward[rows[:, k], k], floor[:, k]) for k in range(rows.shape[1])]
            columns = [
                self._solved(response.moves[row] * goes[:, None], np.where(goes, now, least))
                for row, goes, now, least in policies
            ]
            found = np.stack(columns, axis=-1).reshape(shape)
            total = sign * float(found.sum())
            if not total > before + ROUNDING * abs(total):
                break
            before = total
        excess = sign * (response.backup(found).reshape(floor.shape) - found.reshape(floor.shape))
        excess = np.maximum(excess, sign * (floor - found.reshape(floor.shape))).max(axis=0).clip(0.0)
        return np.asarray(found + sign * (excess / (1.0 - response.discount)).reshape(shape[1:]))

    def _goes_on(self, stages: int) -> bool:
        """Tell whether much of what is to come comes later than after so many stages, though not for ever."""
        return stages > 0 and LEFT < self._response.discount**stages < 1

    def _solved(self, moves: sp.csr_array, side: FloatArray) -> FloatArray:
        """Solve x = side + moves x."""
        answer: FloatArray = spsolve(sp.csc_array(sp.eye_array(len(side)) - moves), side)
        return answer

    def visits(self, values: FloatArray, root: int, mass: FloatArray) -> FloatArray:
        """Return how often the best answer meets each node, discounted, when `mass` begins at a root; [node, θ].

        That is how much the root's value changes with the node's.
        """
        chosen = self._response.answers(values).reshape(len(self.alive), -1)
        met = np.zeros(chosen.shape)
        for some in in_blocks(np.flatnonzero(mass), self._response.moves.nnz):
            onward = self._response.kept_to(chosen[:, some]).T.tocsr()
            flow = np.zeros((len(some), len(self.alive)))
            flow[:, self._at[root]] = mass[some]
            met[:, some] = self._collected(onward, flow.ravel()).reshape(flow.shape).T
        return met

    def _collected(self, onward: sp.csr_array, flow: FloatArray) -> FloatArray:
        """Return Σ_t onward^t flow."""
        if self._goes_on(FOLLOWED):
            return self._solved(onward, flow)
        met = np.zeros_like(flow)
        for _ in range(FOLLOWED):
            met += flow
            flow = onward @ flow
        return met


class Nodes(Generic[Node]):
    """All nodes of a controller, what each is worth now, and per state the store that programs compare.

    With `every_row` nodes keep all choices of the opponent as rows: where values creep from one stage to the next, what
    a choice was worth when the node was made says little.
    """

    opponent_maximises: ClassVar[bool]

    def __init__(
        self, stores: Mapping[int, VectorStore] | Mapping[int, PointStore], worth: FloatArray, *, every_row: bool
    ) -> None:
        self.nodes: list[Node] = []
        self.changes = self.size = 0  # since, and nodes in use at, the last evaluation
        self.kept = 0  # nodes that have ever been added or changed
        self.every_row = every_row
        self._stores, self._worth = stores, worth

    def _keep(self, me: int, node: Node, worth: FloatArray | float) -> None:
        """Add a node, or let it take the place of another: whatever refers to that follows the new one."""
        if me >= len(self._worth):
            self._worth = np.concatenate([self._worth, np.zeros_like(self._worth)])
        if me == len(self.nodes):
            self._worth[me] = worth
            self.nodes.append(node)
        else:  # no call in between: an interruption must not leave what is new with what is old
            self.nodes[me], self._worth[me] = node, worth
        self.changes += 1
        self.kept += 1

    def controller(self, roots: Iterable[int] | None = None) -> ControllerMDP:
        """Return some nodes, by default those in the stores, and all they lead to as what the opponent faces."""
        roots = self._stored() if roots is None else roots
        return ControllerMDP(self.nodes, roots, maximise=self.opponent_maximises)

    def _stored(self) -> Iterable[int]:
        return (n for store in self._stores.values() for n in store.nodes.tolist())

    def evaluate(self, sweeps: int) -> None:
        """Carry what is known now through all nodes in use; then drop what adds nothing."""
        if not self.nodes:
            return
        if sweeps:
            controller = self.controller()
            self.changes, self.size = 0, len(controller.alive)
            self._worth[controller.alive] = controller.improved(self._worth[controller.alive], sweeps)
        else:
            self.changes, self.size = 0, len(depths(self.nodes, self._stored()))
        self._give()

    def settle(self) -> None:
        """Evaluate a controller whose nodes all lead to each other from whatever they are said to be worth."""
        controller = self.controller(range(len(self.nodes)))
        self._worth[: len(self.nodes)] = controller.settled(self._worth[: len(self.nodes)])
        self._give()

    def _give(self) -> None:
        """Tell the stores what their nodes are worth now."""
        for store in self._stores.values():
            if len(store.nodes):
                store.set_values(self._worth[store.nodes])
