"""From below: all intents in one game, and one game for each, climbing from one way each to as many as fit."""

from itertools import product
from math import inf

from ncirl.attack_graphs.guarded.bundles import Bundled, Group
from ncirl.attack_graphs.guarded.check import sum_down
from ncirl.attack_graphs.guarded.gather import Pool, gathered
from ncirl.attack_graphs.guarded.grow import works
from ncirl.attack_graphs.guarded.jobs import Job, Solved
from ncirl.attack_graphs.guarded.net import Net
from ncirl.attack_graphs.guarded.sizes import Size
from ncirl.limits import Limits

__all__ = ["Below"]

BEHIND = 0.97
MOST_GROUPS = 24


class Below:
    """The best groups so far."""

    def __init__(self, net: Net) -> None:
        self.net, self.pool = net, Pool(net)
        able = [t for t in range(len(net.intents)) if any(net.rewards[c, t] > 0 for c in net.goals())]
        self.divisions: list[list[list[int]]] = [[able]] if able else [[]]
        if 1 < len(able) <= MOST_GROUPS:
            self.divisions.append([[t] for t in able])
        self.solved: dict[tuple[str, ...], list[tuple[float, Solved]]] = {}
        self._met: set[Group] = set()

    @property
    def bound(self) -> float:
        """The best bound; doing nothing gets 0."""
        return max([0.0, *(_total(self.plan(n)) for n in range(len(self.divisions)))])

    def best(self) -> list[tuple[float, Solved]]:
        """Return the groups that prove it, with their weights."""
        found = max((self.plan(n) for n in range(len(self.divisions))), key=_total)
        return found if found and _total(found) > 0 else []

    def plan(self, n: int) -> list[tuple[float, Solved]] | None:
        """Return the best games of a division; groups that get nothing do nothing."""
        choices = [self.solved.get(self._names(intents), []) for intents in self.divisions[n]]
        kept = [max(some, key=lambda found: found[1].lower) for some in choices if some]
        return [found for found in kept if found[1].lower > 0] if any(choices) else None

    def climb(self, size: Size, gap: float, deadline: Limits) -> list[Job]:
        """Return what to solve on the next rung."""
        totals = [_total(self.plan(n)) for n in range(len(self.divisions))]
        jobs = []
        for n, division in enumerate(self.divisions):
            if -inf < totals[n] < BEHIND * max(totals) and size.states > 100:
                continue
            for intents, private in product(division, (1, len(self.net.intents))):
                found = gathered(self.pool, intents, size, deadline, private) if private <= len(intents) else None
                if found is not None and found[0] not in self._met:
                    self._met.add(found[0])
                    jobs.append(Job(found[0], None, 0.0, gap, 0.0, works(found[1], len(intents))))
        return jobs

    def take(self, solved: Solved) -> None:
        """Keep what was found."""
        assert isinstance(solved.job.what, Group)
        weight = Bundled(self.net, solved.job.what).weight
        self.solved.setdefault(solved.job.what.intents, []).append((weight, solved))

    def _names(self, intents: list[int]) -> tuple[str, ...]:
        return tuple(self.net.intents[t] for t in intents)


def _total(plan: list[tuple[float, Solved]] | None) -> float:
    return -inf if plan is None else sum_down([weight * solved.lower for weight, solved in plan])
