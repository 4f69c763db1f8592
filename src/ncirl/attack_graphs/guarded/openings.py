r"""Which opening to try: lasting controls that together cut goals off, if that is worth more than they cost.

    a cut        the cheapest guards between the start and some goals, near the one or the other      (`cuts`)
    fewer        the dearest first, each that saves less than it costs is left out
    fewer goals  what costs more to cut off than it is worth is not

measured by what an attacker would get whom nobody hinders. An opening is tried if what it costs and what is conceded
with nothing watched in the graph that has it in place come to less than what is conceded with nothing watched in the
graph itself. All bounds come with proofs of their own, so nothing here need be right.
"""

from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from math import inf

from ncirl.attack_graphs.guarded.check import sum_up
from ncirl.attack_graphs.guarded.cuts import Flow, depths
from ncirl.attack_graphs.guarded.opened import Opening
from ncirl.attack_graphs.guarded.running import Run, nothing_watched
from ncirl.attack_graphs.guarded.solution import unhindered
from ncirl.errors import LimitError
from ncirl.limits import Limits
from ncirl.solution import Status

__all__ = ["chosen", "climbed_beside"]

CHOOSING, TRYING = 0.1, 0.35  # of the time that is left, to choose an opening, and to climb with it in place
MOST_GOALS = 24  # which are left out one by one


def climbed_beside(run: Run, climbed: Callable[[Run], Status]) -> Status:
    """Climb with an opening in place for a share of the time, if there is one that may be of use, then without."""
    opening = _worth_trying(run)
    if opening is None:
        return climbed(run)
    beside = _climbed_in(run, opening, climbed, TRYING)
    status = climbed(run)
    if status is Status.FINISHED and beside is Status.TIME_LIMIT:  # all that is left of the time is for the opening
        status = _climbed_in(run, opening, climbed, 1.0)
    elif status is Status.FINISHED and beside is Status.MEMORY_LIMIT:
        status = beside
    return Status.GAP_REACHED if run.is_done() else status


def _worth_trying(run: Run) -> Opening | None:
    names = chosen(run.flow, run.share(CHOOSING))
    if not names:
        return None
    opening = Opening(run.net, names)
    least = nothing_watched(opening.net, Flow(opening.net), run.workers)
    most = nothing_watched(run.net, run.flow, run.workers)
    return opening if sum_up([*opening.costs.values(), least]) < most else None


def _climbed_in(run: Run, opening: Opening, climbed: Callable[[Run], Status], share: float) -> Status:
    """Climb with an opening in place, and keep what comes of it where it is better."""
    seconds = None if run.deadline.left == inf else share * run.deadline.left
    other = Run(opening.net.graph, run.gap, run.relative_gap, seconds, run.workers, run.beat)
    try:
        return climbed(other)
    except KeyboardInterrupt:
        with suppress(KeyboardInterrupt, MemoryError, LimitError):
            other.take_ready()
        raise
    finally:
        other.bound_at_all()
        run.take_opened(opening, other)


def chosen(flow: Flow, deadline: Limits) -> tuple[str, ...]:
    """Return an opening of a graph that may be of use; none where there is none."""
    net, cut = flow.net, _Cut(flow, deadline)
    goals = [c for c in net.goals() if c not in cut.open]
    best: tuple[str, ...] = ()
    least, left = cut.total(()), sorted(goals, key=lambda c: float(net.prior @ net.rewards[c].clip(0.0)))
    for candidate in cut.candidates(goals):
        if cut.total(candidate) < least:
            best, least = candidate, cut.total(candidate)
    for goal in left[:MOST_GOALS] if len(goals) > 1 else ():
        fewer = [c for c in goals if c != goal]
        if deadline.passed or not fewer:
            break
        for candidate in cut.candidates(fewer):
            if cut.total(candidate) < least:
                best, least, goals = candidate, cut.total(candidate), fewer
    return best


class _Cut:
    """Sets of lasting controls that cut goals off, and what they come to."""

    def __init__(self, flow: Flow, deadline: Limits) -> None:
        self.flow, self.net, self.deadline = flow, flow.net, deadline
        self.costs = {guard.id: guard.cost for guard in self.net.guards.values() if guard.lasts}
        able = self.net.stopped(self.costs)
        open_ones = self.net.closure(self.net.start, set(range(len(self.net.exploits))) - able)
        self.open = {c for c in self.net.goals() if open_ones >> c & 1}  # what no lasting control keeps from

    def total(self, names: Collection[str]) -> float:
        """Return what controls cost, and what an attacker gets whom nobody else hinders."""
        paid = sum(self.costs[name] for name in names)
        return paid + unhindered(self.net, depths(self.net, self.net.stopped(names)))

    def candidates(self, goals: list[int]) -> Iterator[tuple[str, ...]]:
        """Cut some goals off near the start and near them, and leave out what is not worth it."""
        for near_goal in (False, True) if goals and self.costs else ():
            found = self.flow.guards(goals, self.costs, self.deadline, near_goal)
            if found:
                yield self._fewer(found)

    def _fewer(self, names: list[str]) -> tuple[str, ...]:
        """Leave out the dearest first, each that saves less than it costs, and what is more than a budget allows."""
        kept, total = sorted(names), self.total(names)
        for name in sorted(names, key=lambda name: (-self.costs[name], name)):
            fewer = [each for each in kept if each != name]
            if self.deadline.passed:
                return ()
            if (less := self.total(fewer)) < total:
                kept, total = fewer, less
        budget = self.net.graph.defender_budget
        while budget is not None and len(kept) > budget:
            trials = [[each for each in kept if each != name] for name in kept]
            kept = min(trials, key=self.total)
        return tuple(kept)
