"""What both books share: nodes in use, and carrying what is known now through all of them.

A node keeps as rows only the opponent's choices that matter, ``gains[row] + Σ weight · value(column)``; what the other
choices were worth when the node was made stays a bound and is its `floor`. Values only ever improve.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import spsolve

from ncirl._typing import FloatArray, IntArray
from ncirl.controller import Response

__all__ = ["Controller", "Evaluated"]

LEFT = 0.3
ROUNDS = 20
FOLLOWED = 100  # stages for which visits are counted


class Evaluated(Protocol):
    """A node as its evaluation sees it."""

    @property
    def gains(self) -> FloatArray:
        """What each row is worth before anything that follows, [row] or [row, θ]."""

    @property
    def row(self) -> IntArray:
        """Row of each entry."""

    @property
    def column(self) -> IntArray:
        """Node each entry leads to."""

    @property
    def weight(self) -> FloatArray:
        """Discounted chance of each entry."""

    @property
    def floor(self) -> FloatArray | float:
        """What the choices not kept as rows are worth."""

    @property
    def leads(self) -> list[int]:
        """Nodes it refers to."""


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


class Controller:
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
        self._response = Response(np.concatenate([node.gains for node in used]), moves, first[:-1], maximise=maximise)
        self._floor = np.array([node.floor for node in used])

    def improved(self, values: FloatArray, sweeps: int) -> FloatArray:
        """Return what is known of the nodes `alive` after some sweeps, or where these are too few, at the fixed point."""
        swept = self._response.tightened(values, sweeps, self._floor)
        if self._response.discount**sweeps < LEFT:
            return swept
        better = np.minimum if self._response.maximise else np.maximum
        return better(swept, self.fixed_point(swept))

    def fixed_point(self, values: FloatArray) -> FloatArray:
        """Approach the fixed point by policy iteration, and make of it a bound by its residual."""
        response = self._response
        worse = np.maximum if response.maximise else np.minimum
        sign = 1.0 if response.maximise else -1.0
        best = -np.inf
        found = values
        for _ in range(ROUNDS):
            following = response.backup(found)
            rows = response.answers(found).reshape(len(self.alive), -1)
            floored = (sign * (self._floor - following) > 0).reshape(rows.shape)
            rewards, floor = response.reward.reshape(len(response.reward), -1), self._floor.reshape(rows.shape)
            columns = []
            for k, chosen in enumerate(rows.T):
                open_ = ~floored[:, k]
                moves = sp.diags_array(open_.astype(float)) @ response.moves[chosen]
                reward = np.where(open_, rewards[chosen, k], floor[:, k])
                columns.append(spsolve(sp.csc_array(sp.eye_array(len(chosen)) - moves), reward))
            found = np.stack(columns, axis=-1).reshape(values.shape)
            total = sign * float(found.sum())
            if not total > best + 1e-12 * abs(total):
                break
            best = total
        excess = (sign * (worse(response.backup(found), self._floor) - found)).max(axis=0)
        return found + sign * np.maximum(excess, 0.0) / (1.0 - response.discount)

    def visits(self, values: FloatArray, root: int, mass: FloatArray) -> FloatArray:
        """Return how often the best answer meets each node, discounted, when `mass` begins at a root; [node, θ].

        That is how much the root's value changes with the node's.
        """
        chosen = self._response.answers(values).reshape(len(self.alive), -1)
        met = np.zeros(chosen.shape)
        for k, rows in enumerate(chosen.T):
            moves = self._response.moves[rows].T.tocsr()
            flow = np.zeros(len(self.alive))
            flow[self._at[root]] = mass[k]
            if self._response.discount**FOLLOWED > LEFT:
                met[:, k] = spsolve(sp.csc_array(sp.eye_array(len(flow)) - moves), flow)
                continue
            for _ in range(FOLLOWED):
                met[:, k] += flow
                flow = moves @ flow
        return met
