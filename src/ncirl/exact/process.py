"""What an opponent faces: a decision process over nodes, and an enclosure of what it is worth.

    V(n) = max_{rows of n}  reward[row] + Σ_m moves[row, m] V(m)

with exact rational rewards and moves (a minimising opponent is given rewards of the opposite sign). Solved in
fractions its numbers would grow without end; instead values are integers on a grid of 2^-k, and the operator T is
applied to them exactly, then rounded to the grid, down or up. Nodes come after those they lead to:

- a node that never recurs is evaluated once, from the lower ends of what follows to its lower end, likewise above;
- where nodes recur, with row sums of at most c < 1 among themselves, a policy is improved until no row is better
  (`elimination` evaluates it), which gives some V; then it is proved: with ε = max(TV − V, 0) over these nodes

      T(V + ε/(1−c)) ≤ TV + c ε/(1−c) ≤ V + ε + c ε/(1−c) = V + ε/(1−c),

  so V + ε/(1−c) is an upper end, and in the same way V − max(V − TV, 0)/(1−c) a lower one, whatever V was. Each end has
  its own V, made from the same ends of what follows, so that widths add up and do not multiply.

A point of the grid is between 2^-256 and 2^-254 of the largest reward R, and no row is called better that is so by less
than 2^96 points. So a node that never recurs adds at most 4 points to how wide the enclosures are that follow, and a
group that recurs some 2^-157 R / (1−c) at most: far less where no two rows are nearly the same, and more only where
`ROUNDS` do not suffice. How wide an enclosure has become is always known: that, not this estimate, is reported.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ncirl.errors import InputError
from ncirl.exact.arithmetic import common_multiple, digits, spend
from ncirl.exact.elimination import ONE, evaluated

__all__ = ["Enclosure", "Process", "Row", "components"]

FINENESS = 256  # bits of the grid below the largest reward
NOISE = 2**96  # in points of the grid: a row that is better by less is as good
ROUNDS = 200  # improvements of a policy at most; what is left is counted as ε
VALUE, STEPS = 30, 20  # digits that a value has or is as slow as, and steps for each of them


@dataclass(frozen=True)
class Row:
    """One choice: what it brings at once, per column, and where it leads, over a common denominator."""

    rewards: Sequence[Fraction]
    moves: Sequence[tuple[int, int]]  # nodes and numerators, all positive
    below: int
    steps: int  # that it takes to evaluate it

    @classmethod
    def of(cls, rewards: Sequence[Fraction], moves: Mapping[int, Fraction]) -> "Row":
        """Put moves over their common denominator."""
        below = common_multiple(chance.denominator for chance in moves.values())
        steps = STEPS * (1 + len(moves)) * (VALUE + digits(below))
        spend(steps)
        above = {node: chance.numerator * (below // chance.denominator) for node, chance in moves.items()}
        return cls(rewards, [(node, chance) for node, chance in above.items() if chance], below, steps)


@dataclass(frozen=True)
class Enclosure:
    """Where the value of each node lies."""

    low: Sequence[Fraction]
    high: Sequence[Fraction]

    @property
    def width(self) -> Fraction:
        """The largest distance between the two ends."""
        return max((high - low for low, high in zip(self.low, self.high, strict=True)), default=Fraction(0))


class Process:
    """The rows of each node, at least one, and the nodes in groups that lead to earlier groups or to themselves."""

    def __init__(self, rows: Sequence[Sequence[Row]]) -> None:
        self._rows = rows
        after = [sorted({node for row in choices for node, _ in row.moves}) for choices in rows]
        self._groups = [(group, len(group) > 1 or group[0] in after[group[0]]) for group in components(after)]
        largest = max((abs(r) for choices in rows for row in choices for r in row.rewards), default=Fraction(0))
        magnitude = largest.numerator.bit_length() - largest.denominator.bit_length() + 1  # largest < 2^magnitude
        self._unit = Fraction(2) ** (magnitude - FINENESS)

    def enclose(self, column: int, hint: Sequence[float]) -> Enclosure:
        """Return both ends of every node's value, for one column of the rewards.

        From the values `hint` policies are read off first; good ones save time, any do. Nodes that recur without any
        discount raise an InputError.
        """
        begin = [round(Fraction(value) / self._unit) if math.isfinite(value) else 0 for value in hint]
        low = self._end(column, begin, up=False)
        high = self._end(column, low, up=True)
        return Enclosure([value * self._unit for value in low], [value * self._unit for value in high])

    def _end(self, column: int, hint: Sequence[int], up: bool) -> list[int]:
        """Return the lower or the upper ends, in points of the grid."""
        choices = [[_Choice.of(row, column, self._unit, up) for row in rows] for rows in self._rows]
        values = list(hint)
        for group, recurs in self._groups:
            if recurs:
                _settle(group, choices, values, up)
            else:
                values[group[0]] = max(choice.worth(values) for choice in choices[group[0]])
        return values


@dataclass(frozen=True)
class _Choice:
    """A row on the grid, everything rounded to one side."""

    reward: int
    row: Row
    up: bool

    @classmethod
    def of(cls, row: Row, column: int, unit: Fraction, up: bool) -> "_Choice":
        reward = row.rewards[column]
        above, below = reward.numerator * unit.denominator, reward.denominator * unit.numerator
        spend(STEPS * (VALUE + digits(below)))
        return cls(-(-above // below) if up else above // below, row, up)

    def worth(self, values: Sequence[int]) -> int:
        spend(self.row.steps)
        total = sum(chance * values[node] for node, chance in self.row.moves)
        return self.reward + (-(-total // self.row.below) if self.up else total // self.row.below)


def _settle(group: Sequence[int], choices: Sequence[Sequence[_Choice]], values: list[int], up: bool) -> None:
    """Put ends in place of the values of nodes that recur; those of nodes they lead to are ends already."""
    stays = _largest_stay(group, choices)
    if stays >= 1:
        raise InputError("nodes of a playbook recur without any discount")
    policy = {node: max(choices[node], key=lambda choice: choice.worth(values)) for node in group}
    for _ in range(ROUNDS):
        _follow(group, policy, values)
        best = {node: max(choices[node], key=lambda choice: choice.worth(values)) for node in group}
        better = {
            node: choice for node, choice in best.items() if choice.worth(values) > policy[node].worth(values) + NOISE
        }
        if not better:
            break
        policy |= better
    answers = [best[node].worth(values) - values[node] for node in group]
    excess = max(0, *answers) if up else max(0, *(-answer for answer in answers))
    slack = math.ceil(excess / (1 - stays))
    for node in group:
        values[node] += slack if up else -slack


def _largest_stay(group: Sequence[int], choices: Sequence[Sequence[_Choice]]) -> Fraction:
    """Return the largest chance of any row to stay in the group, discounted."""
    inside = set(group)
    rows = [choice.row for node in group for choice in choices[node]]
    return max(Fraction(sum(c for node, c in row.moves if node in inside), row.below) for row in rows)


def _follow(group: Sequence[int], policy: Mapping[int, _Choice], values: list[int]) -> None:
    """Put the values of a policy in place of those of the group, approximately."""
    number = {node: k for k, node in enumerate(group)}
    chances, rewards = [], []
    for node in group:
        choice, below = policy[node], policy[node].row.below
        left = sum(chance * values[after] for after, chance in choice.row.moves if after not in number)
        rewards.append(choice.reward + left // below)
        chances.append({number[after]: chance * ONE // below for after, chance in choice.row.moves if after in number})
    for node, value in zip(group, evaluated(chances, rewards), strict=True):
        values[node] = value


def components(after: Sequence[Sequence[int]]) -> list[list[int]]:
    """Group nodes that lead to each other (Tarjan, without recursion), given the successors of each.

    Every group comes after those it leads to.

    Examples
    --------
    >>> components([[1], [2], [1], [0]])
    [[1, 2], [0], [3]]
    """
    met: dict[int, int] = {}  # in which order
    lowest: dict[int, int] = {}  # the first met that is known to be in the same group
    open_nodes: list[int] = []
    grouped: set[int] = set()
    groups: list[list[int]] = []
    for root in range(len(after)):
        path = [] if root in met else [(root, iter(after[root]))]
        while path:
            node, rest = path[-1]
            if node not in met:
                met[node] = lowest[node] = len(met)
                open_nodes.append(node)
            following = next((m for m in rest if m not in grouped), None)
            if following is None:
                path.pop()
                if path:
                    lowest[path[-1][0]] = min(lowest[path[-1][0]], lowest[node])
                if lowest[node] == met[node]:
                    cut = open_nodes.index(node)
                    groups.append(sorted(open_nodes[cut:]))
                    grouped.update(open_nodes[cut:])
                    del open_nodes[cut:]
            elif following in met:
                lowest[node] = min(lowest[node], met[following])
            else:
                path.append((following, iter(after[following])))
    return groups
