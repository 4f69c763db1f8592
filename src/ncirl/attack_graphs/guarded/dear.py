r"""How dear each condition is to reach: h^max and h^add of planning, by one Dijkstra over conditions.

    h(c) = min over exploits e that give c of  κ_e + ⊕ over premises of e of h,        ⊕ = max or Σ,

0 for what holds. An exploit is usable when the last of its premises is taken from the queue, which is its dearest. The
sum counts twice what serves two premises; the maximum counts only one of them, so it never says too much.
"""

from heapq import heapify, heappop, heappush
from math import inf

from ncirl.attack_graphs.guarded.net import Net, bits

__all__ = ["Dear", "dear"]


class Dear:
    """What reaching each condition costs.

    Attributes
    ----------
    value : list of float
        Per condition, infinite where there is no way to it; one more, of the start itself, is 0.
    last : list of int
        Per condition, the exploit by which it is reached most cheaply, -1 where it holds or there is none.
    dearest : list of int
        Per exploit, the dearest of its premises; -1 where they never all hold, the start where it has none.
    """

    def __init__(self, n_conditions: int, n_exploits: int) -> None:
        self.start = n_conditions
        self.value = [inf] * n_conditions + [0.0]
        self.last = [-1] * (n_conditions + 1)
        self.dearest = [-1] * n_exploits


def dear(net: Net, costs: list[float], held: int | None = None, adds: bool = False) -> Dear:
    """Work out h^max, or h^add where `adds`, from what is held, the graph's start by default."""
    found = Dear(len(net.conditions), len(costs))
    value, last, dearest = found.value, found.last, found.dearest
    missing, total = [needs.bit_count() for needs in net.needs], list(costs)
    queue = [(0.0, c) for c in bits(net.start if held is None else held)]
    for _, c in queue:
        value[c] = 0.0
    for k in net.free:
        dearest[k] = found.start
        if costs[k] < value[net.result[k]]:
            value[net.result[k]], last[net.result[k]] = costs[k], k
            queue.append((costs[k], net.result[k]))
    heapify(queue)
    done = bytearray(len(value))
    while queue:
        far, c = heappop(queue)
        if done[c]:
            continue
        done[c] = 1
        for k in net.users[c]:
            missing[k] -= 1
            if adds:
                total[k] += far
            if missing[k]:
                continue
            dearest[k] = c
            after = total[k] if adds else far + costs[k]
            to = net.result[k]
            if after < value[to] and not done[to]:
                value[to], last[to] = after, k
                heappush(queue, (after, to))
    return found
