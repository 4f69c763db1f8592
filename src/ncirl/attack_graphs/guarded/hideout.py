r"""Which components and which teams: what those who hide play side by side (`hidden`), improved while there is time.

Exploits are gathered way by way, as long as the component that a way is in stays small. For a team, the value is the
sum over components of one game of complete information each (`menus`); those that are met again are solved
once. From all intents in one team that shows nothing it goes on to several teams, and to how likely it shows which,
by moving one intent, alone or to another team, or swapping two, as long as that gains, and then to teams within these:

    max over divisions (g, g', …) of t and h of  Σ_k V^k_t,        V as in `hidden`.

Values that only compare need no proof; whatever is chosen is solved again, with playbooks, and verified.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from math import inf

import numpy as np

from ncirl.attack_graphs.guarded.apart import Component, components
from ncirl.attack_graphs.guarded.bundles import Bundled, Group, group_faults
from ncirl.attack_graphs.guarded.gather import WAYS, Pool
from ncirl.attack_graphs.guarded.here import Menu
from ncirl.attack_graphs.guarded.hidden import Hidden, Team
from ncirl.attack_graphs.guarded.menus import Menus
from ncirl.attack_graphs.guarded.net import Net
from ncirl.attack_graphs.guarded.sizes import Size, counted
from ncirl.errors import LimitError
from ncirl.limits import Limits
from ncirl.solvers.shapley import backward

__all__ = ["Hideout"]

SMALL = Size(64, 2**15)  # what a component's game keeps within, all in one team
LONG = 2.0  # seconds that one of them may take
TOLERANCE = 1e-5  # of values that only compare
BETTER = 1e-5  # by which a choice must be better to be better
DEPTH = 2  # of teams within teams
SHOWS = (1.0, 0.85, 0.6)  # how likely a team shows what it is, the most promising first
MOST_KNOWN = 2**14  # menus of teams in components that are kept
COUNTS, STARTS = (2, 3, 4), 3  # of teams to begin with, and how often in another order

Division = tuple[tuple[str, ...], ...]


class Hideout:
    """The best components and teams so far, for intents given by number."""

    def __init__(self, net: Net, pool: Pool, intents: Sequence[int]) -> None:
        self.net, self.pool = net, pool
        self.names = tuple(net.intents[t] for t in intents)
        self.intents = list(intents)
        self.components: list[Component] = []
        self.team, self.value = Team(self.names), 0.0
        self._bundled: list[Bundled] = []
        self._by_number = net.graph.horizon is None
        self._known: dict[object, float] = {}
        self._known_menus: dict[object, Menus] = {}
        self._search: Iterator[None] | None = None
        self._deadline = Limits(0.0)  # of the steps now

    def improved(self, deadline: Limits, enough: float = inf) -> bool:
        """Go on with the search, as long as it has not found enough; tell whether it has found something better."""
        before, self._deadline = self.value, deadline
        self._search = self._search or self._steps()
        while not deadline.passed and self.value < enough and next(self._search, self) is not self:
            pass
        return self.value > before + BETTER * abs(before)

    def groups(self) -> list[Group]:
        """Return the groups, one a component."""
        groups = [self._group(component, self.team) for component in self.components]
        self._total(self.team)  # its menus may have been let go of
        return [replace(group, menus=self._menu(k)) for k, group in enumerate(groups)] if self._by_number else groups

    def _menu(self, k: int) -> tuple[tuple[int, Menu], ...]:
        """Return what is on offer at the states of a component."""
        rules = Hidden(self._bundled[k].graph, self.team, {})
        return tuple(
            (rules.joined(mask, n), menu)
            for n, team in enumerate(rules.teams)
            for mask, menu in sorted(self._menus(k, team).menu.items())
        )

    def _steps(self) -> Iterator[None]:
        """Search, one step at a time."""
        if not self.components:
            self.components = self._gathered(self._deadline)
            self._bundled = [Bundled(self.net, self._group(each, self.team)) for each in self.components]
            self.value = self._total(self.team)
        yield
        for _ in range(DEPTH):
            for leaf in [leaf for leaf in _leaves(self.team) if len(leaf.intents) > 1]:
                for begun in _beginnings(leaf.intents):
                    yield from self._climb(leaf, begun, SHOWS[0])
                for shows in SHOWS[1:]:
                    yield from self._climb(leaf, self._division(leaf), shows)

    def _division(self, leaf: Team) -> Division:
        """Return the best division of a team so far."""
        known = next(team for team in _all(self.team) if team.intents == leaf.intents)
        return tuple(part.intents for part in known.teams) or (leaf.intents,)

    def _climb(self, leaf: Team, division: Division, shows: float) -> Iterator[None]:
        """Improve a division of a team by one step at a time."""
        best, grew = self._tried(leaf, division, shows), True
        while grew:
            grew = False
            for other in _beside(leaf.intents, division):
                if (its := self._tried(leaf, other, shows)) > best + BETTER * abs(best):
                    division, best, grew = other, its, True
                yield
                if grew:
                    break

    def _tried(self, leaf: Team, division: Division, shows: float) -> float:
        """Return what all get if a team falls into these; keep it if it is the best."""
        if len(division) < 2:
            return self.value
        if len(self._known_menus) > MOST_KNOWN:
            self._known_menus.clear()
        team = _replaced(self.team, Team(leaf.intents, tuple(map(Team, division)), shows))
        total = self._total(team)
        if total > self.value:
            self.team, self.value = team, total
        return total

    def _total(self, team: Team) -> float:
        return sum(self._worth(k, team) for k in range(len(self.components)))

    def _worth(self, k: int, team: Team) -> float:
        """Return what a team gets by a component, weighed by how likely it is; 0 where that takes too long to tell."""
        bundled = self._bundled[k]
        limits = self._deadline.at_least(LONG / len(self.components))
        try:
            if self._by_number:
                return bundled.weight * self._menus(k, team).worth(bundled.rules.start, limits)
            return bundled.weight * self._listed(k, team, limits)
        except LimitError:
            return 0.0

    def _menus(self, k: int, team: Team) -> Menus:
        """Return the menus of a team in a component, the same for all teams whose numbers are the same."""
        rules = Hidden(self._bundled[k].graph, team, {})
        means = tuple(tuple(np.round(mean, 9).tolist()) for mean in rules.means)
        key = k, tuple(rules.modes), means
        if key not in self._known_menus:
            self._known_menus[key] = Menus(rules, {part: self._menus(k, part) for part in team.teams})
        return self._known_menus[key]

    def _listed(self, k: int, team: Team, limits: Limits) -> float:
        """Return the same where play ends after so many stages: what is attempted then depends on the stage."""
        rules = Hidden(self._bundled[k].graph, team)
        means = tuple(tuple(np.round(mean, 9).tolist()) for mean in rules.means)
        key = k, tuple(rules.modes), means
        if key not in self._known:
            game = rules.game().timed()
            found = backward(game, np.eye(1), TOLERANCE, limits=limits)
            self._known[key] = float(found.lower[game.starts[0].state][0])
        return self._known[key]

    def _gathered(self, deadline: Limits) -> list[Component]:
        """Gather exploits way by way, as long as components stay small."""
        used: set[int] = set()
        for n in range(WAYS):
            for t in self.intents:
                if deadline.passed and used:
                    return components(self.net, sorted(used))
                for way in self.pool.nth(t, n, deadline):
                    if way <= used or self.net.lasting(self.net.watching(way)):
                        continue
                    touched = [each for each in components(self.net, sorted(used | way)) if not way.isdisjoint(each)]
                    if all(self._fits(each, deadline) for each in touched):
                        used |= way
        return components(self.net, sorted(used))

    def _fits(self, component: Component, deadline: Limits) -> bool:
        group = self._group(component, Team(self.names))
        if group_faults(self.net, [group]):
            return False
        return counted(Bundled(self.net, group).rules, SMALL, deadline.at_least(0.1)) is not None

    def _group(self, component: Component, team: Team) -> Group:
        bundles = tuple((self.net.exploits[k].id,) for k in component)
        return Group(team.intents, bundles, hiding=team, menus=() if self._by_number else None)


def _all(team: Team) -> Iterator[Team]:
    yield team
    for part in team.teams:
        yield from _all(part)


def _leaves(team: Team) -> list[Team]:
    return [each for each in _all(team) if not each.teams]


def _replaced(team: Team, other: Team) -> Team:
    """Return a team with the one of the same intents in it replaced."""
    if team.intents == other.intents:
        return other
    return replace(team, teams=tuple(_replaced(part, other) for part in team.teams))


def _beginnings(names: tuple[str, ...]) -> Iterator[Division]:
    """Yield divisions to begin with: even ones, in the order given and in some others."""
    rng = np.random.default_rng(0)
    orders = [list(names), *(rng.permutation(list(names)).tolist() for _ in range(STARTS))]
    for count in COUNTS:
        for order in orders if count <= len(names) else []:
            yield tuple(tuple(name for name in names if name in order[k::count]) for k in range(count))


def _beside(names: tuple[str, ...], division: Division) -> Iterator[Division]:
    """Yield the divisions that differ by one intent, in another team or alone, or by two that are swapped."""
    where = {name: next(g for g, its in enumerate(division) if name in its) for name in names}
    for name in names:
        for g in range(len(division) + (len(division[where[name]]) > 1)):
            if g != where[name]:
                yield _sides(where | {name: g})
    for one, other in combinations(names, 2):
        if where[one] != where[other]:
            yield _sides(where | {one: where[other], other: where[one]})


def _sides(where: dict[str, int]) -> Division:
    sides = (tuple(name for name, g in where.items() if g == side) for side in sorted(set(where.values())))
    return tuple(sides)
