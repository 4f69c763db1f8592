r"""Which components and which teams: what those who hide play side by side (`hidden`), improved while there is time.

Exploits are gathered way by way, as long as the component that a way is in stays small. For a team, the value is the
sum over components of one game of complete information each (`menus`); those that are met again are solved
once. From all intents in one team that shows nothing it goes on to several teams, and to how likely it shows which,
by moving one intent, alone or to another team, or swapping two, as long as that gains, then intents by halves, of which
one may be in another team than the other (`divisions`), and then to teams within these:

    max over divisions (g, g', …) of t and h of  Σ_k V^k_t,        V as in `hidden`.

Values that only compare need no proof; whatever is chosen is solved again, with playbooks, and verified.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import inf

import numpy as np

from ncirl._typing import FloatArray
from ncirl.attack_graphs.guarded.apart import Component, components
from ncirl.attack_graphs.guarded.bundles import Bundled, Group, group_faults
from ncirl.attack_graphs.guarded.divisions import Division, beginnings, beside, division_of, multiplied, teams_of
from ncirl.attack_graphs.guarded.gather import WAYS, Pool
from ncirl.attack_graphs.guarded.here import Menu
from ncirl.attack_graphs.guarded.hidden import Hidden, Mode
from ncirl.attack_graphs.guarded.menus import Menus
from ncirl.attack_graphs.guarded.net import Net
from ncirl.attack_graphs.guarded.sizes import Size, counted
from ncirl.attack_graphs.guarded.teams import Team, divided, leaves, replaced, within
from ncirl.errors import LimitError
from ncirl.limits import Limits
from ncirl.solvers.backward import backward

__all__ = ["Hideout"]

SMALL = Size(64, 2**15)  # what a component's game keeps within, all in one team
LONG = 2.0  # seconds that one of them may take
TOLERANCE = 1e-5  # of values that only compare
BETTER = 1e-5  # by which a choice must be better to be better
DEPTH = 2  # of teams within teams
SHOWS = (1.0, 0.85, 0.6)  # how likely a team shows what it is, the most promising first
MOST_COPIES = 4  # of an intent, which may be in different teams
MOST_KNOWN = 2**14  # menus of teams in components that are kept

Modes = tuple[tuple[Mode, ...], ...]  # of each team


class Hideout:
    """The best components and teams so far, for intents given by number."""

    def __init__(self, net: Net, pool: Pool, intents: Sequence[int]) -> None:
        self.net, self.pool = net, pool
        self.names = tuple(net.intents[t] for t in intents)
        self.intents = list(intents)
        self.components: list[Component] = []
        self.team, self.value = Team(self.names), 0.0
        self._priors = {net.intents[t]: float(net.prior[t]) for t in intents}
        self._bundled: list[Bundled] = []
        self._by_number = net.graph.horizon is None
        self._refined: set[tuple[Division, float]] = set()
        self._values: dict[object, float] = {}
        self._known_menus: dict[object, Menus] = {}
        self._shapes: dict[object, tuple[Modes, FloatArray]] = {}
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
            for n, (team, mass) in enumerate(zip(rules.teams, rules.masses, strict=True))
            for mask, menu in sorted(self._menus(k, team, mass).menu.items())
        )

    def _steps(self) -> Iterator[None]:
        """Search, one step at a time."""
        if not self.components:
            self.components = self._gathered(self._deadline)
            self._bundled = [Bundled(self.net, self._group(each, self.team)) for each in self.components]
            self.value = self._total(self.team)
        yield
        for _ in range(DEPTH):
            for leaf in [leaf for leaf in leaves(self.team) if len(leaf.intents) > 1]:
                for begun in beginnings(leaf.intents):
                    yield from self._climb(leaf, begun, SHOWS[0])
                    yield from self._climb(leaf, multiplied(begun, 2), SHOWS[0])
                    yield from self._finer(leaf)
                for shows in SHOWS[2:]:
                    yield from self._climb(leaf, self._known(leaf)[0], shows)

    def _finer(self, leaf: Team) -> Iterator[None]:
        """Improve the best division of a team so far, once: where it shows less, and with more copies of intents."""
        while (known := self._known(leaf)) not in self._refined:
            self._refined.add(known)
            division, shows = known
            copies = max((k + 1 for side in division for _, k in side), default=MOST_COPIES)
            if shows == SHOWS[0]:
                yield from self._climb(leaf, division, SHOWS[1])
            if copies < MOST_COPIES:
                yield from self._climb(leaf, multiplied(division, 2), shows)

    def _known(self, leaf: Team) -> tuple[Division, float]:
        """Return the best division of a team so far, and how likely it shows."""
        known = (team for team in within(self.team) if (team.intents, team.shares) == (leaf.intents, leaf.shares))
        best = next(known, leaf)
        return division_of(best), best.shows

    def _climb(self, leaf: Team, division: Division, shows: float) -> Iterator[None]:
        """Improve a division of a team by one step at a time."""
        best, grew = self._tried(leaf, division, shows), True
        while grew:
            grew = False
            for other in beside(division):
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
            self._shapes.clear()
        team = replaced(self.team, leaf, teams_of(division), shows)
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
                return bundled.weight * self._menus(k, team, self._priors).worth(bundled.rules.start, limits)
            return bundled.weight * self._listed(k, team, limits)
        except LimitError:
            return 0.0

    def _menus(self, k: int, team: Team, mass: Mapping[str, float]) -> Menus:
        """Return the menus of a team in a component, the same for all teams whose numbers are the same."""
        modes, beliefs = self._shape(team, mass)
        wanted = self.net.rewards[[self.net.number[c.id] for c in self._bundled[k].graph.conditions]]
        key = k, modes, np.round(wanted[:, self.intents] @ beliefs, 9).tobytes()
        if key not in self._known_menus:
            parts = zip(team.teams, divided(team, mass), strict=True)
            rules = Hidden(self._bundled[k].graph, team, {}, mass)
            self._known_menus[key] = Menus(rules, {part: self._menus(k, part, its) for part, its in parts})
        return self._known_menus[key]

    def _shape(self, team: Team, mass: Mapping[str, float]) -> tuple[Modes, FloatArray]:
        """Return what is the same of a team in all components: its modes and beliefs, [intent, team]."""
        key = team, tuple(mass.values())
        if key not in self._shapes:
            rules = Hidden(self._bundled[0].graph, team, {}, mass)
            shares = np.array([[its.get(name, 0.0) for its in rules.masses] for name in self.names])
            self._shapes[key] = tuple(rules.modes), shares / np.where(shares.sum(axis=0) > 0, shares.sum(axis=0), 1.0)
        return self._shapes[key]

    def _listed(self, k: int, team: Team, limits: Limits) -> float:
        """Return the same where play ends after so many stages: what is attempted then depends on the stage."""
        rules = Hidden(self._bundled[k].graph, team)
        means = tuple(tuple(np.round(mean, 9).tolist()) for mean in rules.means)
        key = k, tuple(rules.modes), means
        if key not in self._values:
            game = rules.game().timed()
            found = backward(game, np.eye(1), TOLERANCE, limits=limits)
            self._values[key] = float(found.lower[game.starts[0].state][0])
        return self._values[key]

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
