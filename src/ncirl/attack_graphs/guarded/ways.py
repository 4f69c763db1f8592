r"""Ways: cheapest sets of exploits that lead to a goal, and the next cheapest.

An exploit weighs what it delays and costs: a step that succeeds with chance p per stage multiplies what follows by
γp / (1 − γ(1 − p)), so

    w(e) = −log( γ p / (1 − γ (1 − p)) ) + κ_e / reward.

Where several premises are needed their weights are added up (h^add, `dear`); the way is then unfolded from the
goal, so what serves two premises is in it once. Adding up counts it twice when ways are compared, so a way is then
improved by doing without one of its exploits at a time, as long as that gains. More ways come from weighing what is
used already more heavily.
"""

from collections.abc import Iterable, Mapping
from math import exp, inf, log

from ncirl.attack_graphs.guarded.dear import dear
from ncirl.attack_graphs.guarded.net import Net, bits
from ncirl.limits import Limits

__all__ = ["best_way", "cheapest", "unfolded", "weights"]

LEAST = 1e-6  # weight of a step that is free, certain and at once


def weights(net: Net, reward: float, dearer: Mapping[int, float] | None = None) -> list[float]:
    """Weigh all exploits for an intent that gets `reward`; `dearer` adds to some of them."""
    discount, dearer = net.graph.discount, dearer or {}
    found = []
    for k, e in enumerate(net.exploits):
        delay = discount * e.success / (1.0 - discount * (1.0 - e.success)) if discount < 1 else 1.0
        slow = -log(delay) if delay > 0 else inf
        found.append(LEAST + slow + e.attack_cost / max(reward, LEAST) + dearer.get(k, 0.0))
    return found


def cheapest(net: Net, weight: list[float], avoid: Iterable[int] = (), held: int | None = None) -> list[int]:
    """Return the exploit by which each condition is reached most cheaply from what is held, -1 where there is none."""
    costs = list(weight)
    for k in avoid:
        costs[k] = inf
    return dear(net, costs, held, adds=True).last


def unfolded(net: Net, goal: int, last: list[int], held: int | None = None) -> set[int]:
    """Return all exploits of the way to `goal`; none where it cannot be reached."""
    begun = net.start if held is None else held
    if last[goal] < 0:
        return set()
    found = {last[goal]}
    rest = [last[goal]]
    while rest:
        for c in bits(net.needs[rest.pop()] & ~begun):
            if last[c] not in found:
                found.add(last[c])
                rest.append(last[c])
    return found


def best_way(net: Net, goal: int, reward: float, weight: list[float], deadline: Limits) -> set[int]:
    """Return a way to `goal` that doing without any one of its exploits does not improve; empty where there is none."""
    way = unfolded(net, goal, cheapest(net, weight))
    score = gain(net, goal, reward, way, weight)
    tried: set[int] = set()
    avoided: set[int] = set()
    while (rest := sorted(way - tried)) and not deadline.passed:
        tried.add(rest[0])
        other = unfolded(net, goal, cheapest(net, weight, avoided | {rest[0]}))
        if other and (its := gain(net, goal, reward, other, weight)) > score + LEAST:
            way, score = other, its
            avoided.add(rest[0])
    return way


def gain(net: Net, goal: int, reward: float, way: set[int], weight: list[float]) -> float:
    """Return what the goal is worth if this way is gone, every exploit as soon as it can be, unhindered."""
    late = dict.fromkeys(bits(net.start), 0.0)
    rest, grew = set(way), True
    while rest and grew:
        ready = [k for k in rest if all(c in late for c in bits(net.needs[k]))]
        grew = bool(ready)
        rest -= set(ready)
        for k in ready:
            c = net.result[k]
            delay = weight[k] - net.exploits[k].attack_cost / max(reward, LEAST)
            late[c] = min(late.get(c, inf), max((late[b] for b in bits(net.needs[k])), default=0.0) + delay)
    costs = sum(net.exploits[k].attack_cost for k in way)
    return reward * exp(-late[goal]) - costs if goal in late else -inf
