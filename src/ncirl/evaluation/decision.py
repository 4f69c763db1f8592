"""What somebody faces who answers a strategy: an `OpponentMDP` met node by node, with several payoffs side by side.

    v(x, k) = max_c  reward(x, c, k) + γ Σ_x' P(x' | x, c) v(x', k)          (min for a defender).

Values are iterated from 0, so N sweeps are the value of N stages: all of a game that ends, and of one that does not
all but γ^N R / (1 − γ). Where every node that can be reached is known the residual |Tv − v| bounds the error as well,
by γ |Tv − v| / (1 − γ), and often earlier.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Generic, TypeVar

import numpy as np
import scipy.sparse as sp

from ncirl._typing import FloatArray
from ncirl.errors import SizeError
from ncirl.evaluation.stages import Tail
from ncirl.mdp import OpponentMDP

__all__ = ["Decision", "Explored", "explored"]

Node = TypeVar("Node", bound=Hashable)


@dataclass(frozen=True, eq=False)
class Decision(Generic[Node]):
    """What can be chosen at a node: rewards [c, k], and each next node with its probabilities [c]."""

    reward: FloatArray
    following: Mapping[Node, FloatArray]


@dataclass(frozen=True, eq=False)
class Explored(Generic[Node]):
    """A process, the number of each of its nodes, and whether no others can be reached."""

    process: OpponentMDP
    numbers: Mapping[Node, int]
    closed: bool

    def values(self, tail: Tail) -> tuple[FloatArray, float, int]:
        """Return values [node, k] as far as `tail` asks, how far off they may be, and the number of sweeps."""
        values, error, n = np.zeros((len(self.numbers), 1)), tail.bound(0), 0
        while self.numbers and n < tail.stages and (tail.cut or error > tail.tolerance):
            before, values = values, self.process.backup(values)
            n += 1
            residual = float(np.abs(values - before).max())
            if residual == 0:  # further sweeps change nothing
                return values, 0.0 if self.closed else tail.bound(tail.stages), n
            error = tail.bound(n)
            if self.closed and not tail.cut:
                error = min(error, tail.discount * residual / (1.0 - tail.discount))
        return values, error, n


def explored(
    starts: Sequence[Node],
    decide: Callable[[Node], Decision[Node]],
    *,
    discount: float,
    maximise: bool,
    limit: int,
    stages: int | None = None,
) -> Explored[Node]:
    """Meet what can be reached from `starts`, within so many stages if they are given; beyond, all is worth 0.

    Raises
    ------
    SizeError
        When more than `limit` nodes can be reached.
    """
    numbers = {node: k for k, node in enumerate(dict.fromkeys(starts))}
    found: list[Decision[Node]] = []
    layer, depth = list(numbers), 0
    while layer and (stages is None or depth < stages):
        following: list[Node] = []
        for node in layer:
            found.append(decide(node))
            for after in found[-1].following:
                if after not in numbers:
                    numbers[after] = len(numbers)
                    following.append(after)
            if len(numbers) > limit:
                advice = "answer less memory, or shorten the horizon"
                if stages is not None:
                    advice = "give fewer `stages`, a larger `tolerance`, or raise `limit`"
                raise SizeError(
                    f"more than {limit} situations of public state and memory can be reached within {depth + 1} "
                    f"stages; {advice}"
                )
        layer = following
        depth += 1
    return Explored(_process(found, numbers, discount, maximise), numbers, not layer)


def _process(
    found: Sequence[Decision[Node]], numbers: Mapping[Node, int], discount: float, maximise: bool
) -> OpponentMDP:
    """Put decisions together; the nodes that come after those decided at have one choice, worth nothing."""
    n_payoffs = found[0].reward.shape[1] if found else 1
    beyond = np.zeros((len(numbers) - len(found), n_payoffs))
    reward = np.concatenate([*(node.reward for node in found), beyond])
    first = np.cumsum([0, *(len(node.reward) for node in found), *np.ones(len(beyond), dtype=np.intp)])
    chances = [np.zeros(0), *(chances for node in found for chances in node.following.values())]
    columns = np.array([-1, *(numbers[after] for node in found for after in node.following)])
    spans = (np.arange(begin, end) for begin, end in pairwise(first))
    rows = [span for node, span in zip(found, spans, strict=False) for _ in node.following]
    data = np.concatenate(chances)
    row = np.concatenate([np.zeros(0, dtype=np.intp), *rows])
    column = np.repeat(columns, [len(part) for part in chances])
    kept = data > 0
    moves = sp.csr_array((discount * data[kept], (row[kept], column[kept])), shape=(len(reward), len(numbers)))
    return OpponentMDP(reward, moves, first[:-1], maximise)
