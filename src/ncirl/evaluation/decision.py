"""A decision process met node by node, with several payoffs side by side.

    v(x, k) = max_c  gains(x, c, k) + γ Σ_x' P(x' | x, c) v(x', k).

Values are iterated from 0, so N sweeps are the value of N stages: all of a game that ends, and of one that does not
all but γ^N R / (1 − γ). Where every node that can be reached is known the residual |Tv − v| bounds the error as well,
by γ |Tv − v| / (1 − γ), and often earlier.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Generic, TypeVar

import numpy as np
import scipy.sparse as sp

from ncirl._typing import FloatArray, IntArray
from ncirl.errors import SizeError
from ncirl.evaluation.tail import Tail

__all__ = ["Choices", "Solved", "best_values"]

Node = TypeVar("Node", bound=Hashable)


@dataclass(frozen=True, eq=False)
class Choices(Generic[Node]):
    """What can be chosen at a node: gains [c, k], and each next node with its probabilities [c]."""

    gains: FloatArray
    following: Sequence[tuple[Node, FloatArray]]


@dataclass(frozen=True, eq=False)
class Solved:
    """Values [start, k], how far off they may be, and the number of sweeps."""

    values: FloatArray
    error: float
    stages: int


def best_values(
    starts: Sequence[Node],
    choices: Callable[[Node], Choices[Node]],
    n_payoffs: int,
    *,
    discount: float,
    tail: Tail,
    tolerance: float,
    limit: int,
) -> Solved:
    """Solve the process from `starts`, as far as `tail` asks.

    Raises
    ------
    SizeError
        When more than `limit` nodes can be reached.
    """
    if not starts:
        return Solved(np.zeros((0, n_payoffs)), 0.0, 0)
    numbers = {node: k for k, node in enumerate(dict.fromkeys(starts))}
    found: list[Choices[Node]] = []
    layer = list(numbers)
    depth = 0
    while layer and depth < tail.stages:
        following: list[Node] = []
        for node in layer:
            found.append(choices(node))
            for after, _ in found[-1].following:
                if after not in numbers:
                    numbers[after] = len(numbers)
                    following.append(after)
            if len(numbers) > limit:
                raise SizeError(
                    f"more than {limit} situations of public state and memory can be reached within {depth + 1} "
                    "stages; give fewer `stages`, a larger `tolerance`, or raise `limit`"
                )
        layer = following
        depth += 1
    swept = _sweep(found, numbers, n_payoffs, discount, tail, tolerance, closed=not layer)
    return Solved(swept.values[[numbers[node] for node in starts]], swept.error, swept.stages)


def _sweep(
    found: Sequence[Choices[Node]],
    numbers: dict[Node, int],
    n_payoffs: int,
    discount: float,
    tail: Tail,
    tolerance: float,
    *,
    closed: bool,
) -> Solved:
    values = np.zeros((len(numbers), n_payoffs))  # nodes too deep to matter stay 0
    if not found:
        return Solved(values, tail.bound(0), 0)
    gains = np.concatenate([node.gains for node in found])
    first = np.cumsum([0, *(len(node.gains) for node in found)])
    moves = discount * _matrix(found, numbers, first)
    error = tail.bound(0)
    for n in range(1, tail.stages + 1):
        before = values[: len(found)]
        after = np.maximum.reduceat(gains + moves @ values, first[:-1])
        residual = float(np.abs(after - before).max())
        values[: len(found)] = after
        if residual == 0:  # further sweeps change nothing
            error = 0.0 if closed else tail.bound(tail.stages)
            break
        error = tail.bound(n)
        if closed and not tail.cut:
            error = min(error, discount * residual / (1.0 - discount))
        if error <= tolerance and not tail.cut:
            break
    return Solved(values, error, n)


def _matrix(found: Sequence[Choices[Node]], numbers: dict[Node, int], first: IntArray) -> sp.csr_array:
    columns = [numbers[after] for node in found for after, _ in node.following]
    chances = [chances for node in found for _, chances in node.following]
    spans = [np.arange(begin, end) for begin, end in pairwise(first)]
    rows = [span for node, span in zip(found, spans, strict=True) for _ in node.following]
    shape = (int(first[-1]), len(numbers))
    if not chances:
        return sp.csr_array(shape)
    widths = [len(part) for part in chances]
    data, row, column = np.concatenate(chances), np.concatenate(rows), np.repeat(columns, widths)
    kept = data > 0
    return sp.csr_array((data[kept], (row[kept], column[kept])), shape=shape)
