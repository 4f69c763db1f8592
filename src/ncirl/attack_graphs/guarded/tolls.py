r"""Tolls: what every way to a goal must pay at least for exploits that are conceded.

Conceding makes exploits free, which is dear where ways are long. Let h be a lower bound on the attack costs of conceded
exploits that any way to condition c must attempt at least once. An attacker that enables c at stage t has paid h by
then, so replacing its reward by (r_θ(c) − h)⁺ leaves a game that is worth no less than the real one, intent by intent:

    γ^t r_θ(c) − Σ_e γ^{t_e} κ_e  ≤  γ^t (r_θ(c) − h)  ≤  γ^t' (r_θ(c) − h)⁺      as t_e ≤ t and t' ≤ t,

t' being when c holds in the relaxed game. For several goals of one intent each toll must be paid with costs of its own;
what a toll has used is subtracted before the next one is computed.

h is the LM-cut of planning (Helmert and Domshlak 2009). Hang every exploit on its dearest premise by h^max (`dear`).
Whoever reaches the goal has gone a walk of such exploits from the start, which is not in the zone from which the goal
is free as long as h^max(goal) > 0. So exploits that enter the zone from outside are a cut through every way, and one of
them must be attempted. The cheapest of their costs is a toll; subtract it from all of them and begin again.

Rounding is directed: what is left of a cost is rounded down, tolls are rounded down, what they leave of a reward up.
"""

from math import fsum, inf, nextafter

from ncirl.attack_graphs.guarded.dear import Dear, cheaper, dear
from ncirl.attack_graphs.guarded.net import Net
from ncirl.limits import Limits

__all__ = ["SHADE", "less", "taken_off", "toll"]

SHADE = 1e-12  # by which numbers are made safer where rounding is not directed, more than it can have changed
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
    paid: list[float] = []
    found = dear(net, costs)
    if found.value[goal] == inf:
        return inf
    while found.value[goal] > NOTHING and (deadline is None or not deadline.passed):
        cut = _cut(net, goal, costs, found)
        least = min((costs[k] for k in cut), default=0.0)
        if least <= NOTHING:  # dust that adds up
            break
        paid.append(least)
        for k in cut:
            costs[k] = max(nextafter(costs[k] - least, -inf), 0.0)  # never more than is left
        cheaper(net, found, costs, cut)
    return nextafter(fsum(paid), 0.0)


def less(reward: float, due: float) -> float:
    """Return what is left of a reward, rounded up: a bound from above may be too large, never too small."""
    return max(nextafter(reward - due, inf), 0.0) if due > 0 else reward


def taken_off(reward: float, worth: float) -> float:
    """Return the toll that leaves `worth` of a reward, rounded down."""
    return max(nextafter(reward - worth, -inf), 0.0)


def _cut(net: Net, goal: int, costs: list[float], found: Dear) -> list[int]:
    """Return the exploits that lead into the zone from which the goal is free; none if the start is in it."""
    zone, rest, entering = {goal}, [goal], list[int]()
    while rest:
        for k in net.makers[rest.pop()]:
            c = found.dearest[k]
            if c < 0 or costs[k] == inf:
                continue
            if costs[k] > NOTHING:
                entering.append(k)
            elif c == found.start or net.start >> c & 1:
                return []
            elif c not in zone:
                zone.add(c)
                rest.append(c)
    return [k for k in entering if found.dearest[k] not in zone]
