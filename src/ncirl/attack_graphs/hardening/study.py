r"""One study of a graph: bounds on V(S), the value with the controls S in place from the start, asked for and kept.

A control that is in place from the start stops its exploits for good, so V(S) is the value of the graph without them:
attempting what cannot succeed tells the defender something at most, which never helps the one who knows the intent.
V(∅) comes first, solved as `ncirl solve` does and as closely as asked: no V(S) is above it. Other sets are solved on a
ladder of levels, each closer than the one before. Tasks depend on nothing but themselves, and are asked for in batches
whose make-up depends on what is known only: without a time limit the number of workers changes nothing, and what a
journal proves need not be solved again.

**What a control costs in place.** A lasting one is paid for once, a momentary one in every stage, Σ_t γ^t times its
cost to the end of play. Let c(S) be that of a set. A defender whose budget is not limited may itself apply S from the
start, in every stage, for c(S) at most, and play on as if S were in place. So

    V(S) ≤ V(∅) ≤ V(S) + c(S):

whoever plays perfectly afterwards, with every control at hand, gains by a control in place no more than it costs.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil, fsum, inf, nextafter
from typing import Protocol

from ncirl.attack_graphs.controls import Control
from ncirl.attack_graphs.graph import AttackGraph
from ncirl.attack_graphs.guarded.spread import Workers
from ncirl.attack_graphs.hardening.bounding import Bounded, Proofs, Task, bounded
from ncirl.attack_graphs.hardening.facts import Facts
from ncirl.attack_graphs.reductions.prune import prune
from ncirl.attack_graphs.reductions.reduction import restricted
from ncirl.errors import LimitError
from ncirl.limits import Limits
from ncirl.numbers import tellable_upper

__all__ = ["OVER", "Journal", "Step", "Study", "in_place_cost"]

LADDER = ((1.0, 6.0), (0.1, 15.0), (0.03, 40.0))  # how closely, relative to the value before, and in how many seconds
FINEST = 90.0  # seconds for the last level, which is as close as asked
OVER = 1.0 + 1e-9  # more than rounding takes from a sum of costs
LEAST = 0.5  # seconds that a task gets
HASTE = 0.8  # of the time that is left: a solver may be late by a step
BEGUN = 0.4  # of the time that the value with nothing in place gets at most


class Journal(Protocol):
    """Keeps policies, by a name of the task and one of their own."""

    @property
    def proofs(self) -> Proofs:
        """What packs and verifies them."""
        ...

    def read(self, task: str) -> Mapping[str, bytes]:
        """Return what was kept of a task."""
        ...

    def write(self, task: str, policies: Mapping[str, bytes]) -> None:
        """Keep what was found."""
        ...


@dataclass(frozen=True)
class Step:
    """Something to work out of a set of controls, given by number: a level of the ladder, or attacks by few ways."""

    controls: frozenset[int]
    level: int
    ways: int = 0


def in_place_cost(graph: AttackGraph, controls: Iterable[Control]) -> float:
    """Return what controls cost in place from the start to the end of play.

    Examples
    --------
    >>> from ncirl.games.office import office_graph
    >>> in_place_cost(office_graph(), [Control("patch", ("x",), 0.4, "lasting")])
    0.4
    """
    gamma, last = graph.discount, graph.horizon
    if gamma == 1.0:
        stages = inf if last is None else float(last)
    else:
        stages = (1.0 - (0.0 if last is None else gamma**last)) / (1.0 - gamma)
    costs = [its.cost * (1.0 if its.lasts else stages) if its.cost else 0.0 for its in controls]
    return fsum(costs)


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
    prize : float
        All that there is to gain, on average over the intents.
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
        self.prize = total

    @property
    def tolerance(self) -> float:
        """How close bounds on V are wanted."""
        gap, relative = self._asked
        return max(gap, relative * self._scale)

    def begin(self) -> None:
        """Bound the value with nothing in place as closely as asked, which everything else is measured by."""
        nothing = frozenset[int]()
        gap, relative = self._asked
        seconds = min(FINEST, max(BEGUN * self.limits.left, LEAST))
        task = Task(self.graph, gap / 2, seconds, relative_gap=relative / 2, is_hurried=seconds < FINEST)
        self._work([(Step(nothing, 0), task)])
        if self.upper(nothing) == inf:
            raise LimitError("memory", "bounding the graph with nothing in place")
        self._scale = min(self._scale, self.upper(nothing))
        self._level[self.left(nothing)] = len(self.levels) - 1

    @property
    def is_close(self) -> bool:
        """Whether the value with nothing in place is known as closely as asked."""
        nothing = frozenset[int]()
        return self.upper(nothing) - self.lower(nothing) <= self.tolerance

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
        attacked = self.facts.lower(self.whole & ~self.gone(controls))
        if not controls or self.graph.defender_budget is not None:
            return attacked
        return max(attacked, nextafter(self.facts.lower(self.whole) - self.price(controls) * OVER, -inf))

    def price(self, controls: Iterable[int]) -> float:
        """Return what some controls cost in place from the start: once, or in every stage where they do not last."""
        return in_place_cost(self.graph, [self.controls[k] for k in controls])

    def next_level(self, controls: frozenset[int]) -> int | None:
        """Return the level to solve next, None where there is none."""
        following = self._level.get(self.left(controls), -1) + 1
        return following if following < len(self.levels) else None

    def solve(self, steps: Sequence[Step]) -> None:
        """Work some steps out, each set of exploits once, and keep what is found."""
        if self.limits.passed:
            return
        tasks = {(self.left(step.controls), step.level, step.ways): step for step in steps}
        rounds = ceil(len(tasks) / Workers(self._executor).lanes)
        share = max(HASTE * self.limits.left / max(rounds, 1), LEAST)
        todo = []
        for (left, level, ways), step in tasks.items():
            gap, seconds = self.levels[level]
            smaller = restricted(self.graph, self._conditions, self._names_of(left))
            todo.append((step, Task(smaller, gap, min(seconds, share), ways, is_hurried=share < seconds)))
        self._work(todo)

    def _work(self, todo: "list[tuple[Step, Task]]") -> None:
        """Do tasks, or verify what the journal has of them; Ctrl-C keeps what was found."""
        keys = [self._key(step, task) for step, task in todo]
        if (journal := self._journal) is not None:
            known = zip(todo, keys, strict=True)
            todo = [
                (step, replace(task, known=journal.read(key), proofs=journal.proofs)) for (step, task), key in known
            ]
        for (step, _), key, found in zip(todo, keys, self._run([task for _, task in todo]), strict=False):
            self.solves += found.solves > 0
            self._take(step, found)
            if journal is not None:
                journal.write(key, found.policies)
            self._beat()
            if found.interrupted:
                raise KeyboardInterrupt

    def _run(self, tasks: list[Task]) -> Iterator[Bounded]:
        if self._executor is None:
            for k, task in enumerate(tasks):
                if self.limits.passed and k:
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
            upper = tellable_upper(found.upper, self.prize)
            self.facts.from_above(self.whole & ~self.gone(step.controls), upper)
            self.facts.from_above(left, upper)
            if self.graph.defender_budget is None:  # it may itself apply them from the start
                self.facts.from_above(self.whole, nextafter(upper + self.price(step.controls) * OVER, inf))
        if not step.ways:
            self._level[left] = max(step.level, self._level.get(left, -1))

    @cached_property
    def _conditions(self) -> set[str]:
        return {c.id for c in self.graph.conditions}

    def _names_of(self, mask: int) -> set[str]:
        return {name for bit, name in self._names.items() if mask & bit}

    def _key(self, step: Step, task: Task) -> str:
        names = sorted(e.id for e in task.graph.exploits)
        said = json.dumps([names, task.gap, task.relative_gap, step.level, task.ways])
        return hashlib.sha256(said.encode()).hexdigest()[:32]
