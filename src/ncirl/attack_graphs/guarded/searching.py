r"""Attackers of a whole graph that follow no playbook: one at random, and one that searches one way at a time.

The searching one weighs an exploit e as `ways` does, with the chance p_e (1 − q_e) for p_e, q_e being how likely it is
blocked: what it has seen so far or, where it may look, what the defender really draws from now. It goes the way that is
worth most from where it stands, and chooses again when something has changed. No draw is known to it before it acts,
so no promise to its intent may be broken by what it gets.
"""

from collections.abc import Callable, Iterable, Mapping
from math import inf, log

import numpy as np

from ncirl.attack_graphs.guarded.net import Net, bits
from ncirl.attack_graphs.guarded.seen import Ids
from ncirl.attack_graphs.guarded.ways import LEAST, cheapest, unfolded, weights
from ncirl.strategies.streams import Seed, stream

__all__ = ["RandomAttacker", "SearchingAttacker"]

RATE = 0.3  # with which a random attacker tries what it can
CAUTION = 4.0  # stages without a block that an attacker has in mind before it has seen any


class _OnTheWay:
    """What stands somewhere in the graph and knows what it can do."""

    def __init__(self, net: Net, intent: str, rng: Seed | None = None) -> None:
        self.net, self.held, self._rng = net, net.start, stream(rng, "attacker")
        self.dead: frozenset[int] = frozenset()  # what guards in place stop
        self.theta = net.intents.index(intent)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(graph '{self.net.graph.name}', intent '{self.net.intents[self.theta]}')"

    def observe(self, attempted: Ids, blocked: Ids, enabled: Ids, alerts: Ids = frozenset()) -> None:
        """Go on after a stage."""
        self.held |= self.net.mask(enabled)
        self.dead |= self.net.stopped(self.net.lasting(blocked))

    def _is_usable(self, k: int) -> bool:
        return k not in self.dead and not self.net.needs[k] & ~self.held and not self.held >> self.net.result[k] & 1

    def _within_budget(self, chosen: Iterable[int]) -> Ids:
        ids = [self.net.exploits[k].id for k in chosen]
        return frozenset(ids[: self.net.graph.attacker_budget])


class RandomAttacker(_OnTheWay):
    """Tries each usable exploit now and then."""

    def act(self) -> Ids:
        """Draw what to attempt."""
        usable = [k for k in range(len(self.net.exploits)) if self._is_usable(k)]
        return self._within_budget(k for k in usable if self._rng.random() < RATE)


class SearchingAttacker(_OnTheWay):
    """Goes the way that is worth most by what it knows of the blocking.

    Parameters
    ----------
    net : Net
        The graph.
    intent : str
        What it is after.
    rng : int or Generator, optional
        Not used by itself; attackers are made alike.
    likely : callable, optional
        Tells how likely each guard is set now; without it the attacker goes by what it has seen.
    """

    def __init__(
        self,
        net: Net,
        intent: str,
        rng: Seed | None = None,
        likely: Callable[[], Mapping[str, float]] | None = None,
    ) -> None:
        super().__init__(net, intent, rng)
        self._likely = likely
        self._met: dict[str, tuple[int, int]] = {}  # how often it was tried, and blocked
        self._way: set[int] | None = None

    def act(self) -> Ids:
        """Attempt what is usable of the best way."""
        if self._way is None or self._likely is not None:
            self._way = self._best_way()
        return self._within_budget(k for k in sorted(self._way) if self._is_usable(k))

    def observe(self, attempted: Ids, blocked: Ids, enabled: Ids, alerts: Ids = frozenset()) -> None:
        """Go on after a stage, and choose again if anything was blocked or gained."""
        super().observe(attempted, blocked, enabled, alerts)
        hit = {self.net.exploits[k].id for k in self.net.stopped(blocked)}
        for name in attempted:
            tried, stopped = self._met.get(name, (0, 0))
            self._met[name] = tried + 1, stopped + (name in hit)
        if enabled or attempted & hit:
            self._way = None

    def _best_way(self) -> set[int]:
        net, discount = self.net, self.net.graph.discount
        rewards = net.rewards[:, self.theta]
        goals = [c for c in net.goals() if rewards[c] > 0 and not self.held >> c & 1]
        if not goals:
            return set()
        blocked = {name: stopped / (tried + CAUTION) for name, (tried, stopped) in self._met.items()}
        if self._likely is not None:
            blocked |= self._stopped(self._likely())
        reward = float(rewards[goals].sum())
        dearer = {
            net.place[name]: _dearer(net.exploits[net.place[name]].success, q, discount)
            for name, q in blocked.items()
            if q > 0 and name in net.place
        }
        weight = weights(net, reward, dearer)
        last = cheapest(net, weight, self.dead, held=self.held)
        found = [(self._worth(c, unfolded(net, c, last, self.held), weight), c) for c in goals if last[c] >= 0]
        worth, goal = max(found, default=(0.0, -1))
        return unfolded(net, goal, last, self.held) if worth > 0 else set()

    def _stopped(self, likely: Mapping[str, float]) -> dict[str, float]:
        """Return how likely each exploit is stopped, from how likely each guard is set."""
        passed: dict[str, float] = {}
        for guard, chance in likely.items():
            for k in self.net.stopped([guard]):
                name = self.net.exploits[k].id
                passed[name] = passed.get(name, 1.0) * (1.0 - chance)
        return {name: 1.0 - chance for name, chance in passed.items()}

    def _worth(self, goal: int, way: set[int], weight: list[float]) -> float:
        """Return what a way brings, one step after the other in its longest line of premises."""
        net, late = self.net, dict.fromkeys(bits(self.held), 0.0)
        rest = set(way)
        while ready := [k for k in rest if all(c in late for c in bits(net.needs[k]))]:
            rest -= set(ready)
            for k in ready:
                before = max((late[c] for c in bits(net.needs[k])), default=0.0)
                late[net.result[k]] = before + weight[k]
        gained = sum(net.rewards[net.result[k], self.theta] * np.exp(-late.get(net.result[k], inf)) for k in way)
        return float(gained)


def _dearer(success: float, blocked: float, discount: float) -> float:
    """Return by how much blocking makes an exploit heavier."""

    def delay(chance: float) -> float:
        return discount * chance / (1.0 - discount * (1.0 - chance)) if discount < 1 else 1.0

    left = max(success * (1.0 - blocked), LEAST)
    return log(delay(success)) - log(delay(left)) if success > 0 and discount > 0 else 0.0
