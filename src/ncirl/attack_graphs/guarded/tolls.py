r"""Tolls: what every way to a goal must pay at least for exploits that are conceded.

Conceding makes exploits free, which is dear where ways are long. Let h be a lower bound on the attack costs of conceded
exploits that any way to condition c must attempt at least once. An attacker that enables c at stage t has paid h by
then, so replacing its reward by (r_θ(c) − h)⁺ leaves a game that is worth no less than the real one, intent by intent:

    γ^t r_θ(c) − Σ_e γ^{t_e} κ_e  ≤  γ^t (r_θ(c) − h)  ≤  γ^t' (r_θ(c) − h)⁺      as t_e ≤ t and t' ≤ t,

t' being when c holds in the relaxed game. For several goals of one intent each toll must be paid with costs of its own;
what a toll has used is subtracted before the next one is computed.

h is the LM-cut of planning (Helmert and Domshlak 2009). Hang every exploit on its dearest premise by h^max (`dear`).
Whoever reaches the goal has gone a walk of such exploits from the start. As long as the start is not in the zone from
which the goal is free, exploits that enter the zone from outside are a cut through every way, so one of them must be
attempted. The cheapest of their costs is a toll; subtract it from all of them and begin again.

Rounding is directed: what is left of a cost is rounded down, tolls are rounded down, what they leave of a reward up.
"""

from math import fsum, inf, nextafter

from ncirl.attack_graphs.guarded.dear import Dear, dear
from ncirl.attack_graphs.guarded.net import Net
from ncirl.limits import Limits

__all__ = ["SHADE", "less", "taken_off", "toll"]

SHADE = 1e-12  # by which numbers are made safer where rounding is not directed, more than it can have changed
NOTHING = 1e-12  # costs below are none
MOST = 10**6  # exploits that are looked at for one toll: counted, not timed, so that whoever verifies finds the same


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
    looks = 0
    while looks < MOST and (deadline is None or not deadline.passed):
        found = dear(net, costs)
        if found.value[goal] == inf:
            return inf
        zone, known = _Zone(net, goal, costs, found), len(paid)
        while looks + zone.looks < MOST and zone.advance(paid):
            pass
        looks += len(costs) + zone.looks
        if len(paid) == known:
            break
    return nextafter(fsum(paid), 0.0)


def less(reward: float, due: float) -> float:
    """Return what is left of a reward, rounded up: a bound from above may be too large, never too small."""
    return (nextafter(reward - due, inf) if due < reward else 0.0) if due > 0 else reward


def taken_off(reward: float, worth: float) -> float:
    """Return the toll that leaves `worth` of a reward, rounded down; all of it where nothing is left."""
    return max(nextafter(reward - worth, -inf), 0.0) if worth > 0 else reward


class _Zone:
    """The conditions from which the goal is free, with exploits hung on premises that were the dearest once.

    Any premise would do, as a walk along them leads to the goal whatever they are; so the zone only grows while costs
    fall, until it meets the start.
    """

    def __init__(self, net: Net, goal: int, costs: list[float], found: Dear) -> None:
        self.net, self.costs, self.found = net, costs, found
        self.looks = 0  # at exploits
        self._zone, self._rest = {goal}, [goal]
        self._entering: list[int] = []

    def advance(self, paid: list[float]) -> bool:
        """Pay the next toll; False if the goal is free from the start, along these premises."""
        costs, dearest = self.costs, self.found.dearest
        if not self._grown():
            return False
        cut = [k for k in self._entering if dearest[k] not in self._zone]
        self.looks += len(cut)
        least = min((costs[k] for k in cut), default=0.0)
        if least <= NOTHING:
            return False
        paid.append(least)
        self._entering = []
        for k in cut:
            costs[k] = max(nextafter(costs[k] - least, -inf), 0.0)  # never more than is left
            self._meet(k)
        return True

    def _meet(self, k: int) -> None:
        """Take note of an exploit that leads into the zone."""
        c = self.found.dearest[k]
        if c < 0 or self.costs[k] == inf:
            return
        if self.costs[k] > NOTHING:
            self._entering.append(k)
        elif c not in self._zone:
            self._zone.add(c)
            self._rest.append(c)

    def _grown(self) -> bool:
        """Follow what is free; False if that leads to the start."""
        while self._rest:
            c = self._rest.pop()
            if c == self.found.start or self.net.start >> c & 1:
                return False
            self.looks += len(self.net.makers[c])
            for k in self.net.makers[c]:
                self._meet(k)
        return True
