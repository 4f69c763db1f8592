"""The search, compiled: both controllers and all programs in a kernel that does what takes longest many times as fast.

    walk       optimistic play as it comes, improving the vectors, among extreme intents      (as `walks`)
    trial      the optimistic plan to where the bounds are apart, and home, improving both    (as `trials`)
    improve    the points that the defender's best answer meets most                          (as `policy_improvement`)

Games that are not solved at once are handed over: what was found so far goes into the kernel, which goes on by itself.
In the end the nodes that the starts lead to come home and are written and verified like any others: nothing that the
kernel says is believed. Work is counted, not timed, and the arithmetic is the same everywhere, so runs can be repeated.
"""

import time
from collections.abc import Callable
from copy import copy
from dataclasses import replace

import numpy as np

from ncirl._typing import FloatArray, IntArray
from ncirl.lp.program import Accuracy
from ncirl.solvers.certified.loading import Members, loaded
from ncirl.solvers.certified.machine import ADDRESS, Machine
from ncirl.solvers.certified.node_tables import PointTable, VectorTable
from ncirl.solvers.certified.schedule import Activity, Late
from ncirl.solvers.certified.search import Search
from ncirl.solvers.certified.tuning import Aim

__all__ = ["Compiled", "brought"]

SLICE, LONGEST = 5e7, 2e9  # work between two looks at the clock, and the most until something is cut short
TURN, PART = 5e8, 0.05  # work of a turn: at the most, and of all work so far
ROUGHLY = 4.0  # times as much may be missed on walks as elsewhere: more vectors are worth more than better ones
GROWN = 1.15  # times as many nodes as when they were last counted
ROUNDED = 1e-15  # beliefs that differ by less are the same
WALK, TRIAL, IMPROVE = range(3)


class Compiled:
    """Both bounds of a game in the kernel, from where a search left them."""

    slow = False

    def __init__(self, search: Search) -> None:
        self.search, self.game, self.meter = search, search.game, search.meter
        self.tuning = replace(search.tuning, favour=search.tuning.compiled_favour)
        self.accuracy, self.changes, self._counted = Accuracy(), 0, (0, 0)
        self._n_t, self._begun = search.arrays[0].n_t, search.meter.work
        self._n_m = self._n_t  # whom vectors tell apart
        # while there is no machine:
        self._nodes: tuple[VectorTable, PointTable] = (
            VectorTable.of(search.upper),
            PointTable.of(search.lower, self._n_t),
        )
        self._machine: Machine | None = None

    def activities(
        self,
        elsewhere: Callable[[Late], None] | None = None,
        aim: Aim = Aim.BOTH,
        kinds: Callable[[float, Late], None] | None = None,
    ) -> list[Activity]:
        """Return what takes turns; with walks it is also the turn of those who walk elsewhere.

        `kinds` goes on with games that tell fewer intents apart, and hands over what these find.
        """

        def walk(_: float, late: Late) -> None:
            if elsewhere is not None:
                elsewhere(late)
            self._run(WALK, late, ROUGHLY)

        tuning = self.tuning
        above = {Aim.BOTH: 1.0, Aim.ABOVE: tuning.compiled_aim, Aim.BELOW: 1.0 / tuning.compiled_aim}[aim]
        found = [
            Activity(walk, above * tuning.compiled_walks),
            Activity(lambda _, late: self._run(TRIAL, late), tuning.compiled_trials / above),
            Activity(lambda _, late: self._run(IMPROVE, late), tuning.compiled_points / above),
        ]
        if kinds is not None and aim is not Aim.ABOVE:
            done = self.meter.work - self._begun
            share, due = (
                (tuning.compiled_kinds, max(0.0, tuning.later_kinds - done))
                if aim is Aim.BOTH
                else (tuning.kinds_below, 0.0)
            )
            found.append(Activity(kinds, share, due=due, least=1.0, shows_later=True))
        return found

    def _run(self, what: int, late: Late, roughly: float = 1.0) -> None:
        """Do one thing for a while, but for no more than about what has been done before."""
        until = self.meter.work + min(TURN, max(SLICE, PART * (self.meter.work - self._begun)))
        while self.meter.work < until and not late():
            machine, began = self.machine, time.perf_counter()
            work = int(machine.call("run", what, SLICE, LONGEST, roughly * self.accuracy.missed))
            self.meter.seconds += time.perf_counter() - began
            self.meter.work += work
            self.meter.solves += int(self.machine.call("new_solves"))
            if not work:  # there is nowhere to go
                return
            self.changes += 1

    @property
    def machine(self) -> Machine:
        """The kernel, with all that is known in it."""
        if self._machine is None:
            machine = self._loaded()
            for nodes in self._nodes:
                machine.add(nodes)
            self._machine = machine  # whole, or not at all
        return self._machine

    def _loaded(self) -> Machine:
        return loaded(self.search, Members.themselves(self.search))

    def bounds(self) -> tuple[float, float]:
        """Return both bounds on the value of the game."""
        machine, roots = self.machine, self.search.roots
        at = machine.put(np.zeros(2 * len(roots)))
        machine.call("bounds", at)
        values = machine.numbers(at, len(roots), 2)
        machine.call("give_back", at, 16 * len(roots))
        low, high = np.array([share for share, _ in roots]) @ values
        return float(low), float(high)

    def gap_at_start(self) -> float:
        """Return the distance of the bounds on the value of the game."""
        low, high = self.bounds()
        return high - low

    def evaluate(self) -> None:
        """Do nothing: the kernel carries on what it finds."""

    def look(self) -> None:
        """Do nothing: no intents are taken for one."""

    @property
    def sizes(self) -> tuple[int, int]:
        """How many points and vectors there are."""
        return int(self.machine.call("count_points")), int(self.machine.call("count_vectors"))

    @property
    def spare(self) -> int:
        """About how many bytes it takes to bring nodes home."""
        return self.machine.size // 2

    @property
    def in_use(self) -> tuple[int, int]:
        """How many nodes there are, and how many the starts lead to, as counted when there were a few less."""
        size = sum(self.sizes)
        if size > GROWN * self._counted[0]:
            self._counted = size, sum(len(nodes) for nodes in self._played(self._known()))
        return self._counted

    def _settled(self) -> tuple[VectorTable, PointTable]:
        """Return all nodes once nothing leads any more to what others have taken the place of."""
        if self._machine is not None:
            self._machine.call("sweep")
        return self._known()

    def _known(self) -> tuple[VectorTable, PointTable]:
        """Return all nodes there are."""
        if self._machine is None:
            return self._nodes
        successors = np.array([len(here.successors) for here in self.search.arrays])
        return self._machine.vectors(self._n_m, successors), self._machine.points(self._n_t)

    def _played(self, known: tuple[VectorTable, PointTable]) -> tuple[VectorTable, PointTable]:
        """Return, of all nodes, those that are best at the starts, and what these lead to."""
        vectors, points = known
        best: list[int] = []
        for _, root in self.search.roots:
            here = np.flatnonzero(vectors.kept & (vectors.state == root.state))
            best.append(int(here[(vectors.worth[here] @ self._of_members(root.belief)).argmin()]))
        return vectors.led_to(best), self._played_of(points)

    def _of_members(self, belief: FloatArray) -> FloatArray:
        """Return a belief about those whom vectors tell apart."""
        return belief

    def _played_of(self, points: PointTable) -> PointTable:
        return points.led_to(self._begun_with())

    def _begun_with(self) -> list[int]:
        """Return the points that serve the starts best."""
        machine, found = self.machine, list[int]()
        for root in range(len(self.search.roots)):
            at = int(machine.call("begun_with", root)) & ADDRESS
            (n,) = machine.integers(at, 1)
            found += machine.integers(at + 4, n).tolist()
        return found

    def played_points(self) -> PointTable:
        """Return the points that are best at the starts, and what these lead to."""
        return self._played_of(self.machine.points(self._n_t))

    def home(self) -> Search:
        """Return the search with the nodes that the starts lead to, to be written."""
        return brought(self.search, *self._played(self._settled()))

    def rest(self) -> None:
        """Give back the kernel's memory until it is gone on with; what nothing leads to any more is forgotten."""
        self.__dict__.update(self.__getstate__())

    def __getstate__(self) -> dict[str, object]:
        """Return what travels to another process: all but the machine."""
        return self._resting(*self._settled())

    def _resting(self, vectors: VectorTable, points: PointTable) -> dict[str, object]:
        nodes = vectors.led_to(np.flatnonzero(vectors.kept)), points.led_to(np.flatnonzero(points.kept))
        return {**vars(self), "accuracy": Accuracy(), "_nodes": nodes, "_machine": None}

    def sent(self) -> tuple["Compiled", IntArray]:
        """Return a copy for somebody elsewhere, and the numbers here of the vectors that are numbered anew there."""
        vectors, points = self._settled()
        other = type(self).__new__(type(self))
        other.__dict__.update(self._resting(vectors, points))
        return other, vectors.reached(np.flatnonzero(vectors.kept))

    def walked(self, seed: int, missed: float, late: Late) -> VectorTable:
        """Walk until it is late; return the new vectors, the first of which has the number after the last known one."""
        n = len(self._nodes[0])
        self.machine.call("draw_from", seed)
        self.accuracy.missed = missed
        changes = -1
        while not late() and self.changes > changes:
            changes = self.changes
            self._run(WALK, late, ROUGHLY)
        found, _ = self._known()
        some = found.reached(np.flatnonzero(found.kept[n:]) + n)
        some = some[some >= n]
        number = np.arange(len(found))
        number[some] = n + np.arange(len(some))
        return found.among(some, number)

    def take_in(self, found: VectorTable, known: IntArray) -> None:
        """Add what was found elsewhere, where the vectors `known` here had been sent to."""
        first = int(self.machine.call("count_vectors"))
        number = np.concatenate([known, first + np.arange(len(found))])
        self.machine.add(replace(found, to=number[found.to], rest=number[found.rest]))
        self.changes += 1

    def take_points(self, found: PointTable) -> None:
        """Add points that lead to each other only; what is at a start but for rounding is just there."""
        first, belief = int(self.machine.call("count_points")), found.belief.copy()
        for _, root in self.search.roots:
            belief[(found.state == root.state) & (np.abs(belief - root.belief) <= ROUNDED).all(axis=1)] = root.belief
        self.machine.add(replace(found, to=first + found.to, belief=belief))
        self.changes += 1


def brought(search: Search, vectors: VectorTable, points: PointTable | None) -> Search:
    """Return a search with nodes that come home to be written; with its own points where there are no others."""
    home = copy(search)
    home.upper = vectors.controller(home.arrays)
    if points is not None:
        home.lower = points.controller([home.lower.stores[here.number].corners for here in home.arrays])
    return home
