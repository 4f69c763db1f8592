r"""One study of a graph: bounds on V(S), the value with the controls S in place from the start, asked for and kept.

A control that is in place from the start stops its exploits for good, so V(S) is the value of the graph without them:
attempting what cannot succeed tells the defender something at most, which never helps the one who knows the intent.
What is asked for is solved on a ladder of levels, each closer than the one before. Tasks depend on nothing but
themselves, and are asked for in batches whose make-up depends on what is known only: the number of workers changes
nothing, and what a journal remembers need not be solved again.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import cached_property
from math import fsum, inf
from typing import Any, Protocol

from ncirl.attack_graphs.controls import Control
from ncirl.attack_graphs.graph import AttackGraph
from ncirl.attack_graphs.hardening.bounding import Bounded, Task, bounded
from ncirl.attack_graphs.hardening.facts import Attack, Facts
from ncirl.attack_graphs.reductions.prune import prune
from ncirl.attack_graphs.reductions.reduction import restricted
from ncirl.errors import LimitError
from ncirl.limits import Limits

__all__ = ["Journal", "Step", "Study"]

LADDER = ((1.0, 6.0), (0.1, 15.0), (0.03, 40.0))  # how closely, relative to the value before, and in how many seconds
FINEST = 90.0  # seconds for the last level, which is as close as asked
LEAST = 0.5  # seconds that a task gets
HASTE = 0.8  # of the time that is left: a solver may be late by a step


class Journal(Protocol):
    """Remembers what was solved, by a name of the task."""

    def get(self, key: str) -> Mapping[str, object] | None:
        """Return what was found, None where the task is not known."""
        ...

    def put(self, key: str, found: Mapping[str, object]) -> None:
        """Remember what was found."""
        ...


@dataclass(frozen=True)
class Step:
    """Something to work out of a set of controls, given by number: a level of the ladder, or attacks by few ways."""

    controls: frozenset[int]
    level: int
    ways: int = 0


class Study:
    """What is known of V(S), and how to know more.

    Attributes
    ----------
    controls : list of Control
        Those that matter: some exploit that they stop can be used and leads to a reward.
    idle : list of Control
        The others, which are worth nothing.
    stops : list of int
        The exploits that each of `controls` stops, as a mask.
    tolerance : float
        How close bounds on V are wanted.
    """

    def __init__(
        self,
        graph: AttackGraph,
        gap: float,
        relative_gap: float,
        limits: Limits,
        executor: Executor | None,
        journal: Journal | None,
        beat: Callable[[], None],
    ) -> None:
        self.graph, _ = prune(graph)
        self.limits, self._executor, self._journal, self._beat = limits, executor, journal, beat
        self.facts = Facts(e.id for e in self.graph.exploits)
        kept = {control.id for control in self.graph.defences}
        self.controls: list[Control] = [c for c in graph.defences if c.id in kept]
        self.idle: list[Control] = [c for c in graph.defences if c.id not in kept]
        self.stops = [self.facts.mask(control.blocks) for control in self.controls]
        self.whole = (1 << len(self.graph.exploits)) - 1
        self.solves = 0
        self._level: dict[int, int] = {}  # the last level solved, by what is left
        self._left: dict[frozenset[int], int] = {}
        self._names = {bit: name for name, bit in self.facts.bit.items()}
        total = fsum(i.prior * max(r, 0.0) for i in graph.intents for r in i.rewards.values())
        self._scale, self._asked = total, (gap, relative_gap)

    @property
    def tolerance(self) -> float:
        """How close bounds on V are wanted."""
        gap, relative = self._asked
        return max(gap, relative * self._scale)

    def begin(self) -> None:
        """Bound the value with nothing in place, roughly, for a scale to measure by."""
        nothing = frozenset[int]()
        self.solve([Step(nothing, 0)])
        if self.upper(nothing) == inf:
            raise LimitError("memory", "bounding the graph with nothing in place")
        self._scale = min(self._scale, self.upper(nothing))

    def before(self) -> list[Step]:
        """Return what is left to solve with nothing in place, to know that as closely as asked."""
        nothing = frozenset[int]()
        if self.next_level(nothing) is None or self.upper(nothing) - self.lower(nothing) <= self.tolerance / 2:
            return []
        return [Step(nothing, len(self.levels) - 1)]

    @property
    def levels(self) -> list[tuple[float, float]]:
        """The ladder: gaps and seconds, the last as close as asked."""
        finest = self.tolerance / 2
        coarser = [(share * self._scale, seconds) for share, seconds in LADDER if share * self._scale > 2 * finest]
        return [*coarser, (finest, FINEST)]

    def gone(self, controls: Iterable[int]) -> int:
        """Return the exploits that some controls stop."""
        found = 0
        for k in controls:
            found |= self.stops[k]
        return found

    def left(self, controls: frozenset[int]) -> int:
        """Return the exploits that still matter with some controls in place."""
        if controls not in self._left:
            kept = self._names_of(self.whole & ~self.gone(controls))
            smaller, _ = prune(restricted(self.graph, self._conditions, kept))
            self._left[controls] = self.facts.mask(e.id for e in smaller.exploits)
        return self._left[controls]

    def known_left(self, controls: frozenset[int]) -> int | None:
        """Return the same if it was ever asked for, None otherwise."""
        return self._left.get(controls)

    def upper(self, controls: frozenset[int]) -> float:
        """Bound V from above."""
        known = self.known_left(controls)
        if known == 0:
            return 0.0
        return self.facts.upper(self.whole & ~self.gone(controls) if known is None else known)

    def lower(self, controls: frozenset[int]) -> float:
        """Bound V from below."""
        return self.facts.lower(self.whole & ~self.gone(controls))

    def next_level(self, controls: frozenset[int]) -> int | None:
        """Return the level to solve next, None where there is none."""
        following = self._level.get(self.left(controls), -1) + 1
        return following if following < len(self.levels) else None

    def solve(self, steps: Sequence[Step]) -> None:
        """Work some steps out, each set of exploits once, and keep what is found."""
        tasks = {(self.left(step.controls), step.level, step.ways): step for step in steps}
        todo: list[tuple[str, Step, Task]] = []
        for (left, level, ways), step in tasks.items():
            gap, seconds = self.levels[level]
            names = self._names_of(left)
            smaller = restricted(self.graph, self._conditions, names)
            task = Task(smaller, gap, seconds, ways)
            key = self._key(names, gap, level, ways)
            remembered = None if self._journal is None else self._journal.get(key)
            if remembered is not None:
                self._take(step, _from_data(remembered))
            elif not self.limits.passed or self.upper(step.controls) == inf:
                todo.append((key, step, task))
        share = max(HASTE * self.limits.left / max(len(todo), 1), LEAST)  # whoever works does not know who waits
        hasty = [replace(task, seconds=min(task.seconds, share)) for _, _, task in todo]
        for (key, step, task), found in zip(todo, self._run(hasty), strict=False):
            self.solves += 1
            self._take(step, found)
            if task.seconds <= share and not found.interrupted and self._journal is not None:
                self._journal.put(key, _to_data(found))
            self._beat()
            if found.interrupted:
                raise KeyboardInterrupt

    def _run(self, tasks: list[Task]) -> Iterator[Bounded]:
        if self._executor is None:
            for task in tasks:
                if self.limits.passed and self.solves:
                    return
                yield bounded(task, self._beat)
            return
        futures = [self._executor.submit(bounded, task) for task in tasks]
        try:
            for future in futures:
                yield future.result(None if self.limits.left == inf else max(self.limits.left, 0.0) + LEAST)
        except TimeoutError:  # workers that are late are not waited for
            return
        finally:
            for future in futures:
                future.cancel()

    def _take(self, step: Step, found: Bounded) -> None:
        left = self.left(step.controls)
        for attacks in found.records:
            self.facts.from_below(attacks)
        if found.upper is not None:
            self.facts.from_above(self.whole & ~self.gone(step.controls), found.upper)
            self.facts.from_above(left, found.upper)
        if not step.ways:
            self._level[left] = max(step.level, self._level.get(left, -1))

    @cached_property
    def _conditions(self) -> set[str]:
        return {c.id for c in self.graph.conditions}

    def _names_of(self, mask: int) -> set[str]:
        return {name for bit, name in self._names.items() if mask & bit}

    def _key(self, names: Iterable[str], gap: float, level: int, ways: int) -> str:
        said = json.dumps([sorted(names), gap, level, ways])
        return hashlib.sha256(said.encode()).hexdigest()[:32]


def _to_data(found: Bounded) -> dict[str, object]:
    records = [[[list(a.intents), sorted(a.exploits), a.secures] for a in attacks] for attacks in found.records]
    return {"upper": found.upper, "records": records}


def _from_data(data: Mapping[str, Any]) -> Bounded:
    records = [[Attack(tuple(i), frozenset(e), float(s)) for i, e, s in attacks] for attacks in data["records"]]
    return Bounded(data["upper"], tuple(map(tuple, records)))
