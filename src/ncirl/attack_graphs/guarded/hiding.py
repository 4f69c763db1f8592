r"""The attack of those who hide in a team, on the whole graph: one playbook a component, and one draw for all of them.

What a stage shows is drawn by a mode μ, the same in all components (`hidden`). An attacker with intent θ plays

    P(attempted | θ) = Σ_μ P(μ | θ) Π_k π_k(what component k attempts in mode μ),

where P(μ | θ) is 1 − h for showing nothing and h P(g | θ) for a smaller team g (`teams`). Which μ and which action of
each component it was is drawn only after the stage, from what was attempted: the law is the same, and a player that
draws lists nothing that grows with the number of components.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, combinations, product
from math import prod

import numpy as np

from ncirl._typing import FloatArray, State
from ncirl.attack_graphs.guarded.bundles import Bundled
from ncirl.attack_graphs.guarded.here import Here
from ncirl.attack_graphs.guarded.hidden import Hidden
from ncirl.attack_graphs.guarded.seen import Ids, Seen, drawn
from ncirl.model.stage import Outcome
from ncirl.playbook.play import PlaybookAttacker
from ncirl.playbook.playbook import AttackerPlaybook
from ncirl.strategies.strategy import Memory

__all__ = ["HiddenAttacker"]

At = tuple[State, Memory]  # the state of a component's game, timed, and the node
Place = tuple[int, tuple[At, ...]]  # the team that is known, and where each component is
Chances = FloatArray  # [θ] of the team
Actions = list[tuple[int, float]]  # of a component, with their probabilities


class _Component:
    """One component's playbook at play."""

    def __init__(self, bundled: Bundled, playbook: AttackerPlaybook) -> None:
        assert isinstance(bundled.rules, Hidden)
        self.rules, self.net = bundled.rules, bundled.net
        self.timed = bundled.game().timed()
        self.strategy = PlaybookAttacker(playbook)
        self.own = frozenset(e.id for e in bundled.graph.exploits)
        self._bits = [1 << self.net.number[c.id] for c in bundled.graph.conditions]
        self.mask = sum(self._bits)  # conditions of the whole graph

    def begin(self) -> list[tuple[At, float]]:
        start = self.timed.starts[0].state
        return [((start, node), float(chances[0])) for node, chances in self.strategy.begin(start) if chances[0] > 0]

    def attempts(self, at: At, m: int, held: int) -> dict[Ids, Actions]:
        """Return the actions by what they attempt in a mode; nothing where there is nothing more to get.

        Of exploits that are alike every set is as likely as any other of its size. What really holds is not attempted:
        whoever watches another attack may have seen more than this one would do.
        """
        if self.timed.is_terminal(at[0]):
            return {frozenset(): []}
        here, found = self._here(at), dict[Ids, dict[int, float]]()
        policy = self.strategy.policy(at[0], at[1])[:, 0]
        for a in np.flatnonzero(policy > 0).tolist():
            sets = self._sets(here, a, m, held)
            for ids in sets:
                its = found.setdefault(ids, {})
                its[a] = its.get(a, 0.0) + float(policy[a]) / len(sets)
        return {ids: list(its.items()) for ids, its in found.items()}

    def tried(self, attempted: Ids) -> Ids:
        """Return what of an attempt is this component's."""
        return attempted & self.own

    def after(self, at: At, m: int, actions: Actions, seen: Seen) -> list[tuple[At, float]]:
        """Return where it goes after a stage in a mode, one of the actions having been chosen; nowhere if it cannot be.

        What it meant to attempt and what really holds counts as done, as soon as it is not blocked.
        """
        if self.timed.is_terminal(at[0]):
            return [(at, 1.0)]
        here, stage = self._here(at), self.timed.stage(at[0])
        d = here.applied.tolist().index([len(seen.blocked.intersection(watch.controls)) for watch in here.watches])
        number = {outcome: o for o, outcome in enumerate(stage.outcomes)}
        total = sum(chance for _, chance in actions)
        law: dict[At, float] = {}
        for a, chance in actions:
            plan, stopped = here.plans[m][here.chosen[a, m]].tolist(), here.blocked[d].tolist()
            live = (kind for kind, n, b in zip(here.kinds, plan, stopped, strict=True) if n and b < kind.size)
            done = {kind.result for kind in live if seen.after & self._bits[kind.result]}
            then: State = self.rules.joined(here.mask | sum(1 << c for c in done), here.modes[m].team)
            if self.rules.graph.horizon is not None and isinstance(at[0], tuple):
                then = at[0][0] + 1, then
            o = number.get(Outcome(then))
            i = -1 if o is None else self.timed.observations(at[0]).index(a, d, o)
            if i < 0:
                continue
            for node, p in self.strategy.after(at[0], at[1], a, d, i):
                law[then, node] = law.get((then, node), 0.0) + chance / total * float(p[0])
        return list(law.items())

    def _sets(self, here: Here, a: int, m: int, held: int) -> list[Ids]:
        """Return the sets of exploits that an action may attempt in a mode, all of them equally likely."""
        plan = here.plans[m][here.chosen[a, m]].tolist()
        parts = (
            [()] if held & self._bits[kind.result] else list(combinations((e.id for e in kind.exploits), n))
            for kind, n in zip(here.kinds, plan, strict=True)
        )
        return [frozenset(chain.from_iterable(chosen)) for chosen in product(*parts)]

    def _here(self, at: At) -> Here:
        whole = at[0][1] if self.rules.graph.horizon is not None and isinstance(at[0], tuple) else at[0]
        assert isinstance(whole, int)
        return self.rules.here(whole)


class HiddenAttacker:
    """A team's playbooks at play on the whole graph; its groups hide in the same team."""

    def __init__(self, components: Sequence[tuple[Bundled, AttackerPlaybook]]) -> None:
        self.components = [_Component(*component) for component in components]
        net, self.rules = components[0][0].net, self.components[0].rules
        self.intents = [t for t, name in enumerate(net.intents) if name in self.rules.teams[0].intents]
        self.own = frozenset[str]().union(*(component.own for component in self.components))
        self._names = [net.intents[t] for t in self.intents]

    def begin(self) -> list[tuple[Place, Chances]]:
        """Return where it may begin, with probabilities per intent."""
        begins = product(*(component.begin() for component in self.components))
        every = np.ones(len(self.intents))
        return [((0, tuple(at for at, _ in law)), prod(p for _, p in law) * every) for law in begins]

    def likeliest(self) -> Place:
        """Return where it most likely begins, without listing where else it may."""
        return 0, tuple(max(component.begin(), key=lambda each: each[1])[0] for component in self.components)

    def policy(self, place: Place, held: int, placed: Ids = frozenset()) -> list[tuple[Ids, Chances]]:
        """Return what it attempts."""
        law: dict[Ids, Chances] = {}
        for m, chances in self._modes(place):
            plans = (list(c.attempts(at, m, held).items()) for c, at in zip(self.components, place[1], strict=True))
            for chosen in product(*plans):
                ids = frozenset[str]().union(*(its for its, _ in chosen))
                likely = prod(_likely(actions) for _, actions in chosen)
                law[ids] = law.get(ids, np.zeros(len(self.intents))) + likely * chances
        return list(law.items())

    def after(self, place: Place, seen: Seen) -> list[tuple[Place, Chances]]:
        """Return where it goes after a stage; `seen` has what it attempted itself."""
        fitting = list(self._fitting(place, seen))
        total = sum((weights for _, _, weights in fitting), np.zeros(len(self.intents)))
        law: dict[Place, Chances] = {}
        for m, chosen, weights in fitting:
            chances = np.where(total > 0, weights / np.where(total > 0, total, 1.0), 1.0 / len(fitting))
            for moved in product(*self._moves(place, m, chosen, seen)):
                to = self._team(place, m), tuple(at for at, _ in moved)
                law[to] = law.get(to, np.zeros(len(self.intents))) + prod(p for _, p in moved) * chances
        return list(law.items()) or [(place, np.ones(len(self.intents)))]

    def start(self, rng: np.random.Generator, column: int) -> Place:
        """Draw where an intent, by its place in the team, begins."""
        return 0, tuple(drawn(rng, component.begin()) for component in self.components)

    def act(self, rng: np.random.Generator, place: Place, column: int, held: int, placed: Ids) -> Ids:
        """Draw what it attempts."""
        m = drawn(rng, [(m, float(chances[column])) for m, chances in self._modes(place)])
        plans = (c.attempts(at, m, held).items() for c, at in zip(self.components, place[1], strict=True))
        return frozenset[str]().union(*(drawn(rng, [(ids, _likely(its)) for ids, its in law]) for law in plans))

    def move(self, rng: np.random.Generator, place: Place, column: int, seen: Seen) -> Place:
        """Draw where it goes after a stage."""
        fitting = [((m, chosen), float(weights[column])) for m, chosen, weights in self._fitting(place, seen)]
        m, chosen = drawn(rng, fitting)
        return self._team(place, m), tuple(drawn(rng, law) for law in self._moves(place, m, chosen, seen))

    def chances(self, place: Place, held: int) -> dict[str, Chances]:
        """Return how likely it attempts each exploit when `held` really holds."""
        law: dict[str, Chances] = {}
        for m, chances in self._modes(place):
            for component, at in zip(self.components, place[1], strict=True):
                for ids, actions in component.attempts(at, m, held).items():
                    for name in ids:
                        law[name] = law.get(name, np.zeros(len(self.intents))) + _likely(actions) * chances
        return law

    def explained(
        self, place: Place, seen: Seen, chance: Callable[[Ids, Ids, Seen], float]
    ) -> Iterator[tuple[Place, Chances]]:
        """Yield where it may be after a stage, with the likelihood of what was seen, attempts among it or not.

        Where they are not, ``chance(tried, heard, seen)`` is that of what is seen of a component which tried something.
        """
        fresh = seen.after & ~seen.before
        if seen.attempted is not None and not seen.attempted <= self.own:
            return
        for m, chances in self._modes(place):
            likely, places, rest = chances, list[At](), fresh
            for component, at in zip(self.components, place[1], strict=True):
                rest &= ~component.mask
                its = replace(seen, after=seen.before | fresh & component.mask)
                tried = []
                for ids, actions in component.attempts(at, m, seen.before).items():
                    if seen.attempted is None:
                        tried.append((actions, _likely(actions) * chance(ids, component.own, its)))
                    elif ids == component.tried(seen.attempted):
                        tried.append((actions, _likely(actions)))
                likely = likely * sum(p for _, p in tried)
                if not likely.any():
                    break
                best = max(tried, key=lambda each: each[1])[0]
                moved = component.after(at, m, best, seen)
                places += [max(moved, key=lambda each: each[1])[0]] if moved else []
            if likely.any() and not rest and len(places) == len(self.components):
                yield (self._team(place, m), tuple(places)), likely

    def _fitting(self, place: Place, seen: Seen) -> Iterator[tuple[int, list[Actions], Chances]]:
        """Yield the modes, and the actions of each component, that attempt what was attempted, with their weights."""
        assert seen.attempted is not None
        for m, chances in self._modes(place):
            chosen = []
            for component, at in zip(self.components, place[1], strict=True):
                chosen.append(component.attempts(at, m, seen.before).get(component.tried(seen.attempted)))
            known = [actions for actions in chosen if actions is not None]
            if len(known) == len(chosen):
                yield m, known, prod(map(_likely, known)) * chances

    def _moves(self, place: Place, m: int, chosen: list[Actions], seen: Seen) -> Iterator[list[tuple[At, float]]]:
        for component, at, actions in zip(self.components, place[1], chosen, strict=True):
            yield component.after(at, m, actions, seen)

    def _modes(self, place: Place) -> list[tuple[int, Chances]]:
        """Return the modes with their chances by intent.

        Teams that the prior rules out are not shown; who could only be in such a one follows the crowd.
        """
        rules, known = self.rules, self.rules.teams[place[0]]
        modes = rules.modes[place[0]]
        shown = [rules.fractions[mode.team] for mode in modes if mode.team != place[0]]
        total = {name: sum(its.get(name, 0.0) for its in shown) for its in shown for name in its}
        here = set(total) if known.shows > 0 else set(known.intents)
        found = []
        for m, mode in enumerate(modes):
            chance = dict.fromkeys(here, 1.0 - known.shows)
            if mode.team != place[0]:
                its = rules.fractions[mode.team]
                chance = {name: known.shows * its.get(name, 0.0) / total[name] for name in here}
            found.append((m, np.array([chance.get(name, mode.chance) for name in self._names])))
        return found

    def _team(self, place: Place, m: int) -> int:
        return self.rules.modes[place[0]][m].team


def _likely(actions: Actions) -> float:
    """Return how likely one of some actions is; nothing is certain where nothing is left to get."""
    return sum(chance for _, chance in actions) if actions else 1.0
