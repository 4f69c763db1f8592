"""From below: all intents in one game, one game for each, and those that get much in one, the others alone.

Each climbs from one way per intent to as many as fit. Who gets little by itself needs a large game for it, which is
better not multiplied with those of the others.
"""

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
MUCH = 0.6  # of what the intent gets that gets most
MANY = 240  # states from which on single exploits, few at a time, may be better than bundles
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
        self._divide()
        totals = [_total(self.plan(n)) for n in range(len(self.divisions))]
        variants = [(1, False), (len(self.net.intents), False), (1, True)]
        jobs = []
        for n, division in enumerate(self.divisions):
            if -inf < totals[n] < BEHIND * max(totals) and size.states > 100:
                continue
            for intents, (private, narrow) in product(division, variants):
                if private > len(intents) or (narrow and size.states < MANY):
                    continue
                found = gathered(self.pool, intents, size, deadline, private, narrow)
                if found is not None and found[0] not in self._met:
                    self._met.add(found[0])
                    jobs.append(Job(found[0], None, 0.0, gap, 0.0, works(found[1], len(intents))))
        return jobs

    def _divide(self) -> None:
        """Put those that get much by themselves together, once it is known who does."""
        if len(self.divisions) != 2:
            return
        alone = {group[0]: self.solved.get(self._names(group), []) for group in self.divisions[1]}
        if not all(alone.values()):
            return
        gets = {t: max(solved.lower for _, solved in found) for t, found in alone.items()}
        rich = [t for t, value in gets.items() if value >= MUCH * max(gets.values())]
        if 1 < len(rich) < len(gets):
            self.divisions.append([rich, *([t] for t in gets if t not in rich)])

    def take(self, solved: Solved) -> None:
        """Keep what was found."""
        assert isinstance(solved.job.what, Group)
        weight = Bundled(self.net, solved.job.what).weight
        self.solved.setdefault(solved.job.what.intents, []).append((weight, solved))

    def _names(self, intents: list[int]) -> tuple[str, ...]:
        return tuple(self.net.intents[t] for t in intents)


def _total(plan: list[tuple[float, Solved]] | None) -> float:
    return -inf if plan is None else sum_down([weight * solved.lower for weight, solved in plan])
