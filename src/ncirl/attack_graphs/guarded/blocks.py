r"""Which goals share a part: blocks of components that the same intents want, and the cheapest blocks together.

Any division of the goals bounds from above (`parts`), so which to take is a matter of what it costs:

    min over divisions of  Σ_k U(part k).

Goals of different components (`apart`) have no exploit and no guard in common, but an intent may want both: what comes
of one then tells of the other, which a defender of both in one part makes use of. So components are joined that are
*linked* by intents, as long as few enough exploits are usable at once. And once parts of several divisions are solved,
the cheapest of them that make up all goals are a division of their own, as what is best in one component need not be in
another: goals behind the same exploits are better in one part where what leads to them is cheap to guard, and apart
where that has too many states to be solved exactly.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import inf

import numpy as np

from ncirl.attack_graphs.guarded.net import Net

__all__ = ["Block", "cheapest", "is_union", "linked"]

FEW = 3  # exploits usable at the start that a block of several components has at most

Block = tuple[int, ...]  # goals by number


def linked(net: Net, groups: Sequence[Sequence[int]]) -> list[list[int]]:
    """Join groups of goals that the same intents want, most wanted first, while few exploits are usable at the start.

    Examples
    --------
    >>> from ncirl.attack_graphs.graph import AttackGraph, Condition, Exploit, Intent
    >>> names = "abc"
    >>> graph = AttackGraph(
    ...     conditions=(Condition("start", initial=True), *map(Condition, names)),
    ...     exploits=tuple(Exploit(f"take {name}", ("start",), name, 0.8, 0.01, 0.01) for name in names),
    ...     intents=(Intent("both", 0.5, {"a": 1.0, "c": 1.0}), Intent("one", 0.5, {"b": 1.0})),
    ...     discount=0.9,
    ... )
    >>> net = Net(graph)
    >>> linked(net, [[net.number[name]] for name in names]) == [[1, 3], [2]]
    True
    """
    usable = {tuple(group): _usable(net, group) for group in groups}  # which have no exploit in common
    while True:
        pairs = [(a, b) for a, b in combinations(usable, 2) if usable[a] + usable[b] <= FEW and _wanted(net, a, b) > 0]
        if not pairs:
            return sorted(map(list, usable))
        one, other = max(pairs, key=lambda pair: _wanted(net, *pair))
        usable[tuple(sorted((*one, *other)))] = usable.pop(one) + usable.pop(other)


def _wanted(net: Net, one: Sequence[int], other: Sequence[int]) -> float:
    """Return how much the same intents want of both: Σ_θ b(θ) min(r_θ of the one, r_θ of the other)."""
    mine, its = (net.rewards[list(block)].clip(min=0.0).sum(axis=0) for block in (one, other))
    return float(net.prior @ np.minimum(mine, its))


def _usable(net: Net, goals: Sequence[int]) -> int:
    """Return how many exploits that lead to some goals are usable at the start."""
    return sum(not net.needs[k] & ~net.start for k in net.leading(list(goals)))


def is_union(block: Sequence[int], groups: Sequence[Sequence[int]]) -> bool:
    """Tell whether a block of goals is some of the groups, whole."""
    return sum(len(group) for group in groups if set(group) <= set(block)) == len(block)


def cheapest(costs: Mapping[Block, float], goals: Sequence[int]) -> tuple[float, list[Block]]:
    """Return the least that blocks which make up all goals cost, and which they are.

    Examples
    --------
    >>> cheapest({(1,): 0.2, (2,): 0.3, (1, 2): 0.4, (3,): 0.1, (2, 3): 0.45}, [1, 2, 3])
    (0.5, [(1, 2), (3,)])
    """
    known: dict[Block, tuple[float, list[Block]]] = {(): (0.0, [])}

    def chosen(left: Block) -> tuple[float, list[Block]]:
        if left not in known:
            options = []
            for block, cost in costs.items():
                if left[0] in block and set(block) <= set(left):
                    rest, others = chosen(tuple(goal for goal in left if goal not in block))
                    options.append((cost + rest, [block, *others]))
            known[left] = min(options, key=lambda option: option[0], default=(inf, []))
        return known[left]

    return chosen(tuple(goals))
