r"""Tolls: what every way to a goal must pay at least for exploits that are conceded.

Conceding makes exploits free, which is dear where ways are long. Let h be a lower bound on the attack costs of conceded
exploits that any way to condition c must attempt at least once. An attacker that enables c at stage t has paid h by
then, so replacing its reward by (r_θ(c) − h)⁺ leaves a game that is worth no less than the real one, intent by intent:

    γ^t r_θ(c) − Σ_e γ^{t_e} κ_e  ≤  γ^t (r_θ(c) − h)  ≤  γ^t' (r_θ(c) − h)⁺      as t_e ≤ t and t' ≤ t,

t' being when c holds in the relaxed game. For several goals of one intent each toll must be paid with costs of its own;
what a toll has used is subtracted before the next one is computed.

h is the LM-cut of planning (Helmert and Domshlak 2009). With h^max(c) the cost of the cheapest exploit that gives c,
each charged on top of its dearest premise: exploits that enter the zone from which the goal is free, and that come from
where it is not, are a cut through every way, so one of them must be attempted. The cheapest of their costs is a toll;
subtract it from all of them and begin again.
"""

from heapq import heapify, heappop, heappush
from math import inf

from ncirl.attack_graphs.guarded.net import Net, bits
from ncirl.limits import Limits

__all__ = ["SHADE", "toll"]

SHADE = 1e-12  # what is subtracted is made smaller by this share, more than rounding can have added
NOTHING = 1e-12  # costs below are none


def toll(net: Net, goal: int, costs: list[float], deadline: Limits | None = None) -> float:
    """Return what every way to `goal` pays at least, infinite if there is none; subtract what it uses from `costs`.

    Parameters
    ----------
    net : Net
        The graph.
    goal : int
        Number of the condition.
    costs : list of float
        What of each exploit's attack cost may be used, infinite for those that are not; changed in place.
    deadline : Limits, optional
        When to stop with what there is, which is a toll too.
    """
    total = 0.0
    while deadline is None or not deadline.passed:
        value, dearest = _hmax(net, costs)
        if value[goal] == inf:
            return inf
        if value[goal] <= NOTHING:
            break
        cut = _cut(net, goal, costs, dearest)
        least = min((costs[k] for k in cut), default=0.0)
        if least <= NOTHING:  # dust that adds up
            break
        total += least
        for k in cut:
            costs[k] = max(costs[k] - least, 0.0)
    return total * (1.0 - SHADE)


def _hmax(net: Net, costs: list[float]) -> tuple[list[float], list[int]]:
    """Return h^max per condition, and per exploit the dearest of its premises, -1 where it never can be used."""
    value = [inf] * len(net.conditions)
    missing = [needs.bit_count() for needs in net.needs]
    dearest = [-1] * len(missing)
    queue: list[tuple[float, int]] = [(0.0, c) for c in bits(net.start)]
    for _, c in queue:
        value[c] = 0.0
    for k, count in enumerate(missing):
        if not count and costs[k] < value[net.result[k]]:
            value[net.result[k]] = costs[k]
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
            if missing[k]:
                continue
            dearest[k] = c
            after = far + costs[k]
            if after < value[net.result[k]]:
                value[net.result[k]] = after
                heappush(queue, (after, net.result[k]))
    return value, dearest


def _cut(net: Net, goal: int, costs: list[float], dearest: list[int]) -> list[int]:
    """Return the exploits that lead into the zone of the goal along their dearest premises."""
    zone, rest = {goal}, [goal]
    while rest:  # from where the goal is free
        for k in net.makers[rest.pop()]:
            c = dearest[k]
            if c >= 0 and costs[k] <= NOTHING and c not in zone:
                zone.add(c)
                rest.append(c)
    cut, seen = [], net.start
    rest = list(bits(net.start))
    for k, needs in enumerate(net.needs):
        if not needs and costs[k] < inf:
            c = net.result[k]
            if c in zone:
                cut.append(k)
            elif not seen >> c & 1:
                seen |= 1 << c
                rest.append(c)
    while rest:
        held = rest.pop()
        for k in net.users[held]:
            if dearest[k] != held or costs[k] == inf:
                continue
            c = net.result[k]
            if c in zone:
                cut.append(k)
            elif not seen >> c & 1:
                seen |= 1 << c
                rest.append(c)
    return cut
