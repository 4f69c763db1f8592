"""From above: all goals in one part, and one part for each, climbing from nothing guarded to as much as fits.

Each rung of the ladder allows larger relaxed games. The two divisions climb side by side until one is clearly better.
What was solved on any rung stays a candidate; a division takes for every goal the best part whose guards no other part
has.
"""

from dataclasses import replace
from math import inf

from ncirl.attack_graphs.guarded.check import sum_up
from ncirl.attack_graphs.guarded.cuts import Flow
from ncirl.attack_graphs.guarded.grow import grown, works
from ncirl.attack_graphs.guarded.jobs import Job, Solved
from ncirl.attack_graphs.guarded.limits import Deadline, Size
from ncirl.attack_graphs.guarded.net import Net
from ncirl.attack_graphs.guarded.parts import Part, terms

__all__ = ["Above"]

BEHIND = 1.02  # a division whose bound is larger than the other's by this factor climbs no further
MOST_PARTS = 24  # goals for which there is one part each


class Above:
    """The best division of a graph so far."""

    def __init__(self, net: Net, flow: Flow) -> None:
        self.net, self.flow = net, flow
        self.goals = net.goals()
        everything = [self.goals] if self.goals else []
        self.divisions: list[list[list[int]]] = [everything]
        if 1 < len(self.goals) <= MOST_PARTS:
            self.divisions.append([[goal] for goal in self.goals])
        self.solved: dict[tuple[str, ...], list[Solved]] = {}
        self.helpful: list[str] = []  # guards to try first
        self._met: set[Part] = set()

    @property
    def bound(self) -> float:
        """The best bound."""
        return min((_total(self.plan(n)) for n in range(len(self.divisions))), default=inf)

    def best(self) -> list[Solved]:
        """Return the parts that prove it."""
        plans = [self.plan(n) for n in range(len(self.divisions))]
        found = min(plans, key=_total)
        return found or []

    def plan(self, n: int) -> list[Solved] | None:
        """Return the best parts of a division whose guards are disjoint; None where a part is not solved."""
        kept: list[Solved] = []
        choices = [self.solved.get(self._names(goals), []) for goals in self.divisions[n]]
        if not all(choices):
            return None
        taken: set[str] = set()
        for some in sorted(choices, key=lambda some: -_saved(some)):
            fitting = [s for s in some if isinstance(s.job.what, Part) and taken.isdisjoint(s.job.what.guards)]
            if not fitting:
                return None
            kept.append(min(fitting, key=lambda s: s.upper))
            part = kept[-1].job.what
            assert isinstance(part, Part)
            taken |= set(part.guards)
        return kept

    def climb(self, size: Size, width: int, gap: float, deadline: Deadline) -> list[Job]:
        """Return what to solve on the next rung; seconds are left to whoever runs them."""
        totals = [_total(self.plan(n)) for n in range(len(self.divisions))]
        jobs: list[Job] = []
        for n, division in enumerate(self.divisions):
            if totals[n] > BEHIND * min(totals) and totals[n] < inf and size.states > 100:
                continue
            if n and not size.states:  # nothing guarded: parts add up to the whole
                continue
            jobs += self._rung(division, size, width, gap, deadline)
        return jobs

    def take(self, solved: Solved) -> None:
        """Keep what was found."""
        assert isinstance(solved.job.what, Part)
        self.solved.setdefault(solved.job.what.goals, []).append(solved)

    def _rung(self, division: list[list[int]], size: Size, width: int, gap: float, deadline: Deadline) -> list[Job]:
        taken: set[str] = set()
        parts, sizes = [], []
        shares = _shares(self.net.graph.defender_budget, len(division))
        for goals, share in zip(division, shares, strict=True):
            part, its_size = grown(
                self.net, self.flow, goals, taken, size, width, share, deadline.within(deadline.left / 2), self.helpful
            )
            taken |= set(part.guards)
            parts.append(part)
            sizes.append(its_size)
        jobs: list[Job] = []
        for tolled in (False, True):
            charged = [replace(part, tolled=tolled) for part in parts]
            for part, its_terms, its_size in zip(charged, terms(self.net, charged, deadline), sizes, strict=True):
                if part in self._met or (tolled and not part.guards):
                    continue
                self._met.add(part)
                wanting = int((its_terms.worth > 0).any(axis=0).sum())
                intents = min(wanting + 1, len(self.net.intents))
                jobs.append(Job(part, its_terms, 0.0, gap, 0.0, works(its_size, intents)))
        return jobs

    def _names(self, goals: list[int]) -> tuple[str, ...]:
        return tuple(self.net.conditions[c] for c in goals)


def _total(plan: list[Solved] | None) -> float:
    return inf if plan is None else sum_up([solved.upper for solved in plan])


def _saved(some: list[Solved]) -> float:
    """Return how much the best of several saves against one that guards nothing."""
    free = [s.upper for s in some if isinstance(s.job.what, Part) and not s.job.what.guards]
    return (min(free) if free else inf) - min(s.upper for s in some)


def _shares(budget: int | None, count: int) -> list[int | None]:
    """Divide a budget evenly."""
    if budget is None or not count:
        return [None] * count
    return [budget // count + (k < budget % count) for k in range(count)]
