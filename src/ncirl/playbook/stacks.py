"""What nodes have each, worked on state by state: arrays of one shape, stacked.

A node's mix or policy has the shape of its state, so what all nodes have is a sequence of arrays and not one array. At
one state they stack, [k, ...]; parts of a stack are as large as can be held at once.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from ncirl._typing import FloatArray, IntArray

__all__ = ["BLOCK", "by_state", "changed", "in_blocks", "in_stacks", "running", "stacked"]

BLOCK = 2_000_000  # numbers held at once


def running(lengths: IntArray) -> IntArray:
    """Return where each of consecutive blocks begins, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.intp)


def by_state(state: IntArray) -> list[tuple[int, IntArray]]:
    """Group nodes by the number of their state."""
    order = np.argsort(state, kind="stable")
    groups = np.split(order, np.flatnonzero(np.diff(state[order])) + 1)
    return [(int(state[nodes[0]]), nodes) for nodes in groups if len(nodes)]


def in_blocks(nodes: IntArray, numbers: int) -> list[IntArray]:
    """Split nodes that take so many numbers each into parts that can be held at once, of one node at least."""
    parts = min(len(nodes), 1 + len(nodes) * numbers // BLOCK)
    return [nodes] if parts == 1 else np.array_split(nodes, parts)


def stacked(parts: Sequence[FloatArray], nodes: IntArray) -> FloatArray:
    """Return what nodes at one state have each, [k, ...]."""
    some = [parts[n] for n in nodes.tolist()]
    together: FloatArray = np.concatenate(some).reshape(len(some), *some[0].shape)
    return together


def in_stacks(
    state: IntArray, parts: Sequence[FloatArray], among: IntArray | None = None
) -> Iterator[tuple[IntArray, FloatArray]]:
    """Go through what nodes have each, all of them or those `among` which to stay: nodes of one state, [k, ...]."""
    for _, here in by_state(state if among is None else state[among]):
        nodes = here if among is None else among[here]
        for some in in_blocks(nodes, parts[nodes[0]].size):
            yield some, stacked(parts, some)


def changed(
    state: IntArray, parts: Sequence[FloatArray], change: Callable[[IntArray, FloatArray], FloatArray]
) -> tuple[FloatArray, ...]:
    """Return what nodes have each after a `change` of some nodes at one state and what they have, [k, ...]."""
    after = list(parts)
    for some, stack in in_stacks(state, parts):
        for n, part in zip(some.tolist(), change(some, stack), strict=True):
            after[n] = part
    return tuple(after)
