"""What both books share: nodes in use, and carrying what is known now through all of them.

A node keeps as rows only the opponent's choices that matter, ``gains[row] + Σ weight · value(column)``; what the other
choices were worth when the node was made stays a bound and is its `floor`. Values only ever improve.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

import numpy as np
import scipy.sparse as sp

from ncirl._typing import FloatArray, IntArray
from ncirl.controller import Response

__all__ = ["Evaluated", "alive_nodes", "improved"]


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


def alive_nodes(nodes: Sequence[Evaluated], roots: Iterable[int]) -> IntArray:
    """Return the nodes in use: the roots and all they lead to."""
    pending = list(roots)
    seen = set(pending)
    while pending:
        for n in nodes[pending.pop()].leads:
            if n not in seen:
                seen.add(n)
                pending.append(n)
    return np.array(sorted(seen), dtype=np.intp)


def improved(
    nodes: Sequence[Evaluated], alive: IntArray, values: FloatArray, sweeps: int, *, maximise: bool
) -> FloatArray:
    """Improve the values of the nodes `alive`; `maximise` says whether the opponent is the attacker."""
    at = np.full(len(nodes), -1, dtype=np.intp)
    at[alive] = np.arange(len(alive))
    used = [nodes[n] for n in alive.tolist()]
    first = np.concatenate([[0], np.cumsum([len(node.gains) for node in used])])
    rows = np.concatenate([node.row + start for node, start in zip(used, first, strict=False)])
    columns = at[np.concatenate([node.column for node in used])]
    weights = np.concatenate([node.weight for node in used])
    moves = sp.csr_array((weights, (rows, columns)), shape=(first[-1], len(used)))
    response = Response(np.concatenate([node.gains for node in used]), moves, first[:-1], maximise=maximise)
    floor = np.array([node.floor for node in used])
    return response.tightened(values, sweeps, floor)
