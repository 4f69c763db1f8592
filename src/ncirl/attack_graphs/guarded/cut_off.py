r"""Lasting controls that together cut goals off, if that is worth more than they cost.

    a cut        the cheapest guards between the start and some goals, near the one or the other      (`cuts`)
    fewer        the dearest first, each that saves less than it costs is left out
    fewer goals  what costs more to cut off than it is worth is not

measured by what an attacker would get whom nobody hinders. All bounds come with proofs of their own, so nothing here
need be right.
"""

from collections.abc import Collection, Iterator

from ncirl.attack_graphs.guarded.cuts import Flow, depths
from ncirl.attack_graphs.guarded.solution import unhindered
from ncirl.limits import Limits

__all__ = ["chosen"]

MOST_GOALS = 24  # which are left out one by one


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
