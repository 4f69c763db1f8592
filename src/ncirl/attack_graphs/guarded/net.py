"""An attack graph in numbers, for whoever walks over all of it: conditions as bits, exploits as rows.

Left out is what no play can meet: exploits that never succeed, that give what holds from the start, or whose premises
can never all hold. What the defender can do is a `Guard`: it stops a set of exploits at a cost, for one stage or from
then on. Each control of the graph is one or, where the graph has none given, each exploit has its own at its block
cost. A control that stops nothing that matters is left out, too.
"""

from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from ncirl._typing import FloatArray
from ncirl.attack_graphs.graph import AttackGraph, Exploit
from ncirl.attack_graphs.reductions.prune import rounds_to
from ncirl.model.game import Observes

__all__ = ["Guard", "Net", "bits", "fresh"]


@dataclass(frozen=True)
class Guard:
    """What stops exploits, by their numbers, for one stage or, where it lasts, from then on."""

    id: str
    stops: tuple[int, ...]
    cost: float
    lasts: bool = False


def bits(mask: int) -> Iterator[int]:
    """List the places of the ones in a mask, lowest first."""
    while mask:
        lowest = mask & -mask
        mask ^= lowest
        yield lowest.bit_length() - 1


def fresh(name: str, taken: Container[str]) -> str:
    """Return a name that the graph gives to nothing: what is called alike would be taken for the same thing."""
    while name in taken:
        name = f"'{name}"
    return name


class Net:
    """The graph in numbers.

    Attributes
    ----------
    exploits : tuple of Exploit
        Those that can matter; everything below numbers them by their place here.
    needs, result : list of int
        Mask of the premises and number of the result, per exploit.
    premises : list of tuple of int
        The premises by number, each once.
    free : list of int
        The exploits without a premise.
    makers, users : list of list of int
        The exploits that give each condition, and that need it.
    before : list of int
        Mask of all premises of all exploits that give each condition.
    rewards : ndarray of shape (conditions, Θ)
        0 for conditions that hold from the start.
    guards : dict
        What the defender can do, by its id.
    watchers : list of list of str
        The guards that stop each exploit; none for one that cannot be stopped.
    """

    def __init__(self, graph: AttackGraph) -> None:
        self.graph = graph
        self.conditions = [condition.id for condition in graph.conditions]
        self.number = {name: k for k, name in enumerate(self.conditions)}
        self.intents = tuple(intent.id for intent in graph.intents)
        self.prior: FloatArray = np.array([intent.prior for intent in graph.intents])
        self.start = self.mask(condition.id for condition in graph.conditions if condition.initial)
        self.sees_actions = Observes(graph.observes) is Observes.ACTIONS
        start = [c.id for c in graph.conditions if c.initial]
        self.met = self.mask(rounds_to(start, [(e.premises, e.result) for e in graph.exploits if e.success > 0]))
        self.exploits: tuple[Exploit, ...] = tuple(e for e in graph.exploits if self._matters(e))
        self.place = {e.id: k for k, e in enumerate(self.exploits)}
        self.needs = [self.mask(e.premises) for e in self.exploits]
        self.result = [self.number[e.result] for e in self.exploits]
        self.premises = [tuple(dict.fromkeys(self.number[name] for name in e.premises)) for e in self.exploits]
        self.free = [k for k, needs in enumerate(self.needs) if not needs]
        self.makers: list[list[int]] = [[] for _ in self.conditions]
        self.users: list[list[int]] = [[] for _ in self.conditions]
        self.before = [0] * len(self.conditions)
        for k in range(len(self.exploits)):
            self.makers[self.result[k]].append(k)
            self.before[self.result[k]] |= self.needs[k]
            for premise in self.premises[k]:
                self.users[premise].append(k)
        self.attack_costs: FloatArray = np.array([e.attack_cost for e in self.exploits], dtype=np.float64)
        self.rewards: FloatArray = np.zeros((len(self.conditions), len(self.intents)))
        for theta, intent in enumerate(graph.intents):
            for name, reward in intent.rewards.items():
                if not self.start >> self.number[name] & 1:
                    self.rewards[self.number[name], theta] = reward
        self.memory: dict[Any, Any] = {}  # what was worked out from the graph last, by what it is of
        self.guards: dict[str, Guard] = {}
        self.watchers: list[list[str]] = [[] for _ in self.exploits]
        for control in graph.defences:
            stops = tuple(sorted(self.place[name] for name in control.blocks if name in self.place))
            if stops:
                self.guards[control.id] = Guard(control.id, stops, control.cost, control.lasts)
            for k in stops:
                self.watchers[k].append(control.id)

    @staticmethod
    def of(graph: AttackGraph) -> "Net":
        """Return the net of a graph, the same one as long as somebody holds it."""
        found = _held.get(id(graph))  # the net holds its graph, so no other can have the same place
        if found is None:
            found = _held[id(graph)] = Net(graph)
        return found

    def mask(self, names: Iterable[str]) -> int:
        """Return the set of the conditions named."""
        found = 0
        for name in names:
            found |= 1 << self.number[name]
        return found

    def stopped(self, guards: Iterable[str]) -> frozenset[int]:
        """Return the exploits that guards stop; what is no guard, as it stops nothing that matters, stops none."""
        return frozenset(k for name in guards if name in self.guards for k in self.guards[name].stops)

    def watching(self, exploits: Iterable[int]) -> frozenset[str]:
        """Return the guards that stop any of some exploits."""
        return frozenset(name for k in exploits for name in self.watchers[k])

    def lasting(self, guards: Iterable[str]) -> frozenset[str]:
        """Return those of some guards that stay in place."""
        return frozenset(name for name in guards if name in self.guards and self.guards[name].lasts)

    def of_use(self, guards: Iterable[str], held: int, placed: frozenset[str]) -> frozenset[str]:
        """Return those of some guards that may be set now and stop anything usable, or will have to where it counts.

        A lasting one is set ahead where the defender has a budget, which may not suffice when it is needed.
        """
        dead = self.stopped(placed)
        is_counted, found = self.graph.defender_budget is not None, []
        for guard in (self.guards[name] for name in guards if name in self.guards and name not in placed):
            live = [k for k in guard.stops if k not in dead and not held >> self.result[k] & 1]
            if any(not self.needs[k] & ~held for k in live) or (live and guard.lasts and is_counted):
                found.append(guard.id)
        return frozenset(found)

    def goals(self) -> list[int]:
        """List the conditions that can be reached and that some intent is rewarded for."""
        wanted = np.flatnonzero((self.rewards > 0).any(axis=1)).tolist()
        return [c for c in wanted if self.met >> c & 1]

    def burdens(self) -> list[int]:
        """List the other conditions that can be reached and that cost some intent something."""
        dreaded = np.flatnonzero((self.rewards < 0).any(axis=1) & ~(self.rewards > 0).any(axis=1)).tolist()
        return [c for c in dreaded if self.met >> c & 1]

    def leading(self, goals: Iterable[int]) -> list[int]:
        """List the exploits that lead to some conditions."""
        rest, found = list(goals), list[int]()
        seen = set(rest)
        while rest:
            for k in self.makers[rest.pop()]:
                found.append(k)
                fresh_ones = [c for c in self.premises[k] if c not in seen]
                seen.update(fresh_ones)
                rest += fresh_ones
        return found

    def closure(self, held: int, allowed: Iterable[int] | None = None) -> int:
        """Return everything that follows from `held` by the exploits allowed, all of them by default."""
        usable = None if allowed is None else set(allowed)
        missing: dict[int, int] = {}
        rest, found = list(bits(held)), held
        for k, needs in enumerate(self.needs):
            if not needs and (usable is None or k in usable) and not found >> self.result[k] & 1:
                found |= 1 << self.result[k]
                rest.append(self.result[k])
        while rest:
            for k in self.users[rest.pop()]:
                if usable is not None and k not in usable:
                    continue
                missing[k] = missing.get(k, self.needs[k].bit_count()) - 1
                if not missing[k] and not found >> self.result[k] & 1:
                    found |= 1 << self.result[k]
                    rest.append(self.result[k])
        return found

    def _matters(self, exploit: Exploit) -> bool:
        outside = self.mask(exploit.premises) & ~self.met
        return exploit.success > 0 and not outside and not self.start >> self.number[exploit.result] & 1


_held: WeakValueDictionary[int, Net] = WeakValueDictionary()
