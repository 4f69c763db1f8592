"""From below: which intents play together, and how many ways they keep to.

    first                 everybody alone, and all together
    rung by rung          those groups again that prove the best bound, with more ways, and two of them as one
    the best bound        the best choice of groups that have no intent in common, Σ_g w_g v(b_g)

Who plays alone pays for no bluff, and is stopped at once; all together hide best, in the largest game. What it takes to
be hidden is often just one other intent that nothing stops as well, so groups of few come close in small games. Beside
the groups, all hide in one team and play side by side (`hideout`), which is better where very much is usable at once.
"""

from dataclasses import replace
from itertools import combinations
from math import inf
from typing import Any

from ncirl.attack_graphs.guarded.bundles import Bundled, Group
from ncirl.attack_graphs.guarded.check import sum_down
from ncirl.attack_graphs.guarded.gather import Pool, gathered
from ncirl.attack_graphs.guarded.grow import works
from ncirl.attack_graphs.guarded.hideout import Hideout
from ncirl.attack_graphs.guarded.jobs import Job, Solved
from ncirl.attack_graphs.guarded.net import Net
from ncirl.attack_graphs.guarded.sizes import Size
from ncirl.limits import Limits

__all__ = ["Below"]

SMALL = Size(64, 2**12)  # about how large those games are
BEHIND = 0.97  # of the best bound: all together, and all groups, climb no further when they are further behind
FAR = 0.8  # of the best bound: groups climb no further even while they are small, once all together are known,
NEARLY = 0.9  # or if that is so much of what would be enough
MANY = 240  # states from which on single exploits, few at a time, may be better than bundles
LITTLE = 100  # states up to which everything climbs
MUCH = 0.6  # of what the intent gets that gets most
MOST_ALONE = 24  # intents that are also looked at alone
MOST_MATCHED = 10  # intents whose groups are put together by twos
MOST_CHOICES = 2_000  # of disjoint groups that are kept while the best one is looked for: beyond, the best ones
MOST_MERGED = 10  # pairs of groups that are looked at as one, on a rung

Intents = tuple[int, ...]
Found = tuple[float, Solved]  # weight of a group, and its game
Chosen = tuple[Any, ...]  # nothing, or a group and what was chosen before it


class Below:
    """The best groups so far."""

    def __init__(self, net: Net) -> None:
        self.net, self.pool = net, Pool(net)
        self.able = tuple(t for t in range(len(net.intents)) if any(net.rewards[c, t] > 0 for c in net.goals()))
        self.solved: dict[Intents, Found] = {}  # the best game of each group
        self.plan: list[Intents] = []  # the best choice of groups
        self.together: Found | None = None  # all intents with as many ways as there are, as it was solved last
        self._everything: Group | None = None  # which game that is
        self._met: set[Group] = set()
        self.is_whole = False  # whether all intents together have been looked at with all exploits there are
        self._merged: set[Intents] = set()  # what has been looked at as one
        self.hideout = Hideout(net, self.pool, self.able)
        self.hidden: list[dict[int, Found | None]] = []  # what all play side by side, None where it is not solved

    @property
    def bound(self) -> float:
        """The best bound; doing nothing gets 0."""
        return max(_total(self.best()), 0.0)

    def best(self) -> list[Found]:
        """Return the groups that prove it, with their weights; who gets nothing is in none, and does nothing."""
        whole = [[found for found in trial.values() if found is not None] for trial in self.hidden]
        return max([[self.solved[group] for group in self.plan], *whole], key=_total)

    def climb(self, size: Size, gap: float, deadline: Limits, hiding: Limits, enough: float = inf) -> list[Job]:
        """Return what to solve on the next rung; `hiding` is for what all play side by side."""
        jobs = self.hide(gap, hiding, enough)
        for intents, private, narrow in self._tries(size, enough):
            found = gathered(self.pool, list(intents), size, deadline, private, narrow)
            self._merged |= {intents} if found is not None else set()
            self.is_whole |= found is not None and intents == self.able and _is_everything(self.net, found[0])
            if found is not None and found[0] not in self._met:
                self._met.add(found[0])
                jobs.append(Job(found[0], None, 0.0, gap, 0.0, works(found[1], len(intents))))
        return jobs

    def hide(self, gap: float, deadline: Limits, enough: float = inf) -> list[Job]:
        """Return the games of all intents as one team, where that promises more than what is known.

        Better ones are looked for until one promises `enough`.
        """
        if not self.able or self.net.graph.attacker_budget is not None:
            return []
        if not self.hideout.improved(deadline, enough) or self.hideout.value <= self.bound:
            return []
        groups = self.hideout.groups()
        self.hidden.append(dict.fromkeys(range(len(groups))))
        work = works(SMALL, 1) / len(groups)
        return [Job(group, None, 0.0, gap, 0.0, work, (len(self.hidden) - 1, k)) for k, group in enumerate(groups)]

    def whole(self, size: Size, gap: float, deadline: Limits) -> list[Job]:
        """Return the game of all intents with as many ways as there are, to be gone on with if it was begun."""
        found = gathered(self.pool, list(self.able), size, deadline, len(self.able)) if self.able else None
        if found is None:
            return []
        known = self.together or self.solved.get(self.able)
        if known is not None and known[1].job.what == found[0]:
            return [] if known[1].begun is None else [replace(known[1].longer(0.0, 0.0), relative_gap=gap)]
        self._met.add(found[0])
        self._everything = found[0]
        return [Job(found[0], None, 0.0, gap, 0.0, works(found[1], len(self.able)))]

    def undivided(self, everything: Group, size: Size, gap: float) -> list[Job]:
        """Return the game of all intents that keep to everything, if it has not been met."""
        if everything in self._met:
            return []
        return [Job(everything, None, 0.0, gap, 0.0, works(size, len(self.able)))]

    @property
    def bound_of_whole(self) -> float:
        """What all intents get together with as many ways as there are."""
        return 0.0 if self.together is None else self.together[0] * self.together[1].lower

    def _tries(self, size: Size, enough: float) -> list[tuple[Intents, int, bool]]:
        """List whom to look at, how many private ways they go beside each other, and whether few exploits at a time."""
        best, is_small = self.bound, size.states <= LITTLE
        if self.plan and self._planned() < FAR * best and (self.able in self.solved or best > NEARLY * enough):
            return []  # who hides gets far more
        if not is_small and self._planned() < BEHIND * best:  # who hides gets more than groups will
            return []
        groups = [self.able] if self.able and (is_small or self._value(self.able) >= BEHIND * best) else []
        groups += [(t,) for t in self.able] if is_small and len(self.able) <= MOST_ALONE else []
        tries = []
        for group in dict.fromkeys([*groups, *self.plan]):
            tries += [(group, 1, False)]
            tries += [(group, len(group), False)] if len(group) > 1 else []
            tries += [(group, 1, True)] if size.states >= MANY else []
        return [*tries, *((group, len(group), False) for group in self._mergers())]

    def _mergers(self) -> list[Intents]:
        """Return those that get much as one, and two of the best groups each, first those that fewest guards stop."""
        alone = {t: self.solved[t,][1].lower for t in self.able if (t,) in self.solved}
        rich = tuple(t for t, gets in alone.items() if gets >= MUCH * max(alone.values()))
        few = combinations(self.plan, 2) if len(self.able) <= MOST_MATCHED else ()
        matched = sorted((tuple(sorted(a + b)) for a, b in few), key=self._crowd)
        fresh = [group for group in dict.fromkeys([rich, *matched]) if group not in self._merged | {self.able}]
        chosen = [group for group in fresh if len(group) > 1][:MOST_MERGED]
        return chosen

    def _crowd(self, intents: Intents) -> float:
        """Return how many of the guards over the first ways of some intents are over those of several."""
        over = [self.net.watching(self.pool.first(t)) for t in intents]
        every = frozenset[str]().union(*over)
        return sum(sum(name in its for its in over) - 1 for name in every) / max(len(every), 1)

    def take(self, solved: Solved) -> None:
        """Keep what was found, if it is better."""
        assert isinstance(solved.job.what, Group)
        self._met.add(solved.job.what)
        if solved.job.what == self._everything:
            self.together = Bundled(self.net, solved.job.what).weight, solved
        if solved.job.what.hiding is not None:
            trial, k = solved.job.tag
            known = self.hidden[trial][k]
            if known is None or _is_better(solved, known[1]):
                self.hidden[trial][k] = Bundled(self.net, solved.job.what).weight, solved
            return
        group = tuple(self.net.intents.index(name) for name in solved.job.what.intents)
        if group not in self.solved or _is_better(solved, self.solved[group][1]):
            self.solved[group] = Bundled(self.net, solved.job.what).weight, solved
            self.plan = self._matched()

    def _planned(self) -> float:
        return _total([self.solved[group] for group in self.plan])

    def _value(self, group: Intents) -> float:
        return self.solved[group][0] * self.solved[group][1].lower if group in self.solved else inf

    def _matched(self) -> list[Intents]:
        """Return the best choice of groups that have no intent in common, or one no worse than the last.

        Intent by intent, by its groups of which it is the first: V(taken) is the best so far that has taken so many of
        the intents that follow. Where there are too many choices the best ones are gone on with.
        """
        groups: dict[int, list[tuple[int, float, Intents]]] = {}
        for group in self.solved:
            taken = sum(1 << t for t in group)
            groups.setdefault(group[0], []).append((taken, self._value(group), group))
        best: dict[int, tuple[float, Chosen]] = {0: (0.0, ())}
        for t in self.able:
            following: dict[int, tuple[float, Chosen]] = {}
            for taken, (value, chosen) in best.items():
                options = [(taken & ~(1 << t), value, chosen)]
                for its, more, group in () if taken >> t & 1 else groups.get(t, ()):
                    if not its & taken:
                        options.append(((taken | its) & ~(1 << t), value + more, (group, chosen)))
                for left, its_value, its_choice in options:
                    if left not in following or its_value > following[left][0]:
                        following[left] = its_value, its_choice
            if len(following) > MOST_CHOICES:
                following = dict(sorted(following.items(), key=lambda each: -each[1][0])[:MOST_CHOICES])
            best = following
        value, chosen = max(best.values(), key=lambda each: each[0])
        if value < self._planned():
            return self.plan
        plan: list[Intents] = []
        while chosen:
            plan, chosen = [chosen[0], *plan], chosen[1]
        return plan


def _is_everything(net: Net, group: Group) -> bool:
    """Tell whether everybody in a group may go on with any exploit there is."""
    return len(group.bundles) == len(net.exploits) and not group.owners and group.width is None


def _total(plan: list[Found]) -> float:
    return sum_down([weight * solved.lower for weight, solved in plan])


def _is_better(solved: Solved, known: Solved) -> bool:
    return (solved.lower, -solved.upper) > (known.lower, -known.upper)
