r"""The attack on the whole graph: the playbook of one's group, bundle by bundle.

The attacker keeps the state n of the bundled game, behind the real one, and attempts of each bundle what has not yet
succeeded. A bundle with the rest R counts as done when all of R is, with chance Π_{bundle} p / Π_R p (`bundles` has the
proof that n follows the bundled game's law). Attempting a bundle that is done but does not yet count attempts nothing,
so what it meant to attempt is then drawn as it was chosen. What is really in place or applied counts as applied in the
bundled game, it or what outdoes it there, as soon as that offers it; what is really dead, but not there yet, is not
attempted.
"""

from collections.abc import Iterable, Sequence
from math import prod

import numpy as np

from ncirl._typing import FloatArray, State
from ncirl.attack_graphs.controls import stopped
from ncirl.attack_graphs.guarded.bundles import Bundled
from ncirl.attack_graphs.guarded.few_ways import FewWays
from ncirl.attack_graphs.guarded.hiding import HiddenAttacker
from ncirl.attack_graphs.guarded.net import Net
from ncirl.attack_graphs.guarded.seen import Ids, Seen, Words, drawn
from ncirl.attack_graphs.guarded.teams import Team
from ncirl.model.stage import Outcome
from ncirl.playbook.play import PlaybookAttacker
from ncirl.playbook.playbook import AttackerPlaybook
from ncirl.strategies.strategy import Memory

__all__ = ["GroupAttacker", "GuardedAttacker", "Place", "attackers"]

Place = tuple[State, Memory]  # the state of the bundled game, timed, and the node
Chances = FloatArray  # [θ] of the group


class GroupAttacker:
    """One group's playbook at play on the whole graph."""

    def __init__(self, bundled: Bundled, playbook: AttackerPlaybook) -> None:
        assert isinstance(bundled.rules, FewWays)
        self.bundled, self.rules, self.net = bundled, bundled.rules, bundled.net
        self.words = Words(bundled.graph, self.rules)
        self.timed = self.words.timed
        self.strategy = PlaybookAttacker(playbook)
        self._members = {e.id: bundled.members[bundled.bundle_of[k]] for k, e in enumerate(bundled.graph.exploits)}
        self._exploits = {e.id: e for e in bundled.graph.exploits}
        self._bit = {c.id: 1 << k for k, c in enumerate(bundled.graph.conditions)}
        self.intents = [t for t, name in enumerate(self.net.intents) if name in bundled.group.intents]

    def begin(self) -> list[tuple[Place, Chances]]:
        """Return where it may begin, with probabilities per intent of the group."""
        start = self.timed.starts[0].state
        return [((start, node), chances) for node, chances in self.strategy.begin(start)]

    def policy(self, place: Place, held: int, placed: Ids = frozenset()) -> list[tuple[Ids, Chances]]:
        """Return what it attempts when `held` really holds and `placed` is in place."""
        law: dict[Ids, Chances] = {}
        for ids, chances in self._planned(place):
            really = self._really(ids, held, placed)
            law[really] = law.get(really, np.zeros(len(self.intents))) + chances
        return list(law.items())

    def after(self, place: Place, seen: Seen) -> list[tuple[Place, Chances]]:
        """Return where it goes after a stage; `seen` has what it attempted itself."""
        state = place[0]
        if self.timed.is_terminal(state):
            return [(place, np.ones(len(self.intents)))]
        assert seen.attempted is not None
        applied = self._applied(state, seen)
        d = self.words.blocks(state).index(applied)
        dead = stopped(self.bundled.graph.defences, applied | self.words.placed(state))
        law: dict[Place, Chances] = {}
        for a, meant in self._meant(place, seen):
            for outcome, chance in self._followed(state, self.words.attempts(state)[a] - dead, applied, seen):
                i = self._observation(state, a, d, outcome)
                for node, p in self.strategy.after(state, place[1], a, d, i):
                    at = outcome.state, node
                    law[at] = law.get(at, np.zeros(len(self.intents))) + chance * meant * p
        return list(law.items())

    def start(self, rng: np.random.Generator, column: int) -> Place:
        """Draw where an intent, by its place in the group, begins."""
        return drawn(rng, [(place, float(chances[column])) for place, chances in self.begin()])

    def act(self, rng: np.random.Generator, place: Place, column: int, held: int, placed: Ids) -> Ids:
        """Draw what it attempts."""
        return drawn(rng, [(ids, float(chances[column])) for ids, chances in self.policy(place, held, placed)])

    def move(self, rng: np.random.Generator, place: Place, column: int, seen: Seen) -> Place:
        """Draw where it goes after a stage."""
        return drawn(rng, [(to, float(chances[column])) for to, chances in self.after(place, seen)])

    def _planned(self, place: Place) -> list[tuple[Ids, Chances]]:
        if self.timed.is_terminal(place[0]):
            return [(frozenset(), np.ones(len(self.intents)))]
        policy = self.strategy.policy(place[0], place[1])
        return list(zip(self.words.attempts(place[0]), policy, strict=True))

    def _applied(self, state: State, seen: Seen) -> Ids:
        """Return what the defender counts as applying in the bundled game."""
        rules, whole = self.rules, self.words.whole(state)
        usable = [exploit for exploit, _ in rules.usable(whole)]
        if self.net.graph.controls is not None:
            return rules.counted_as(whole, usable, seen.blocked | seen.placed)
        offered = self.words.offered(state)
        return frozenset(name for name in offered if self._really([name], seen.before, seen.placed) & seen.blocked)

    def _really(self, ids: Sequence[str] | Ids, held: int, placed: Ids) -> Ids:
        """Return the members of bundles that have not yet succeeded, and can be attempted."""
        dead = self.net.stopped(placed)
        rest = (e for name in ids for e in self._members[name] if not held >> self.net.number[e.result] & 1)
        heard = not self.net.sees_actions
        return frozenset(e.id for e in rest if self.net.place[e.id] not in dead or (heard and e.alert is not None))

    def _meant(self, place: Place, seen: Seen) -> list[tuple[int, Chances]]:
        """Return what may have been meant by what was attempted, with probabilities per intent."""
        planned = self._planned(place)
        fits = [
            a for a, (ids, _) in enumerate(planned) if self._really(ids, seen.before, seen.placed) == seen.attempted
        ]
        weights = np.array([planned[a][1] for a in fits]).reshape(len(fits), len(self.intents))
        total = weights.sum(axis=0)
        chances = np.where(total > 0, weights / np.where(total > 0, total, 1.0), 1.0 / max(len(fits), 1))
        return [(a, row) for a, row in zip(fits, chances, strict=True) if row.any()]

    def _followed(self, state: State, live: Ids, applied: Ids, seen: Seen) -> list[tuple[Outcome, float]]:
        """Return what the bundled game's outcome is, with its probabilities."""
        placing = sum(map(self.words.rules.bit, applied))
        law = [(self.words.whole(state) | placing, 1.0)]
        for name in live:
            bundle = self._exploits[name]
            rest = [e for e in self._members[name] if not seen.before >> self.net.number[e.result] & 1]
            if not all(seen.after >> self.net.number[e.result] & 1 for e in rest):
                continue
            ratio = min(bundle.success / prod(e.success for e in rest), 1.0)
            law = [
                (n | (self._bit[bundle.result] if done else 0), p * (ratio if done else 1.0 - ratio))
                for n, p in law
                for done in (True, False)
                if (ratio if done else 1.0 - ratio) > 0
            ]
        heard = self._heard(state, seen)
        time = state[0] + 1 if self.net.graph.horizon is not None and isinstance(state, tuple) else None
        settled = [(self.rules.settled(n), p) for n, p in law]
        return [(Outcome(n if time is None else (time, n), heard), p) for n, p in settled]

    def _heard(self, state: State, seen: Seen) -> str | None:
        if self.words.sees_actions:
            return None
        ids = [name for name in self.words.usable(state) if self._exploits[name].alert is not None]
        if not ids:
            return None
        rung = [name for name in ids if name in seen.alerts]
        return f"alert: {self.words.name(rung, ', ')}" if rung else "quiet"

    def _observation(self, state: State, a: int, d: int, outcome: Outcome) -> int:
        stage, observed = self.timed.stage(state), self.timed.observations(state)
        o = stage.outcomes.index(outcome)
        return observed.index(a, d, o)


def attackers(found: Iterable[tuple[Bundled, AttackerPlaybook]]) -> list[GroupAttacker | HiddenAttacker]:
    """Return the attackers of groups with their playbooks; those that hide in the same team are one."""
    teams: dict[Team, list[tuple[Bundled, AttackerPlaybook]]] = {}
    alone: list[GroupAttacker | HiddenAttacker] = []
    for bundled, playbook in found:
        if bundled.group.hiding is None:
            alone.append(GroupAttacker(bundled, playbook))
        else:
            teams.setdefault(bundled.group.hiding, []).append((bundled, playbook))
    return [*alone, *map(HiddenAttacker, teams.values())]


class GuardedAttacker:
    """The lifted attack as a strategy of the graph's own game, where that can be listed.

    Memory is (number of the group, its place), or None for intents in no group, which do nothing.
    """

    def __init__(self, net: Net, groups: Sequence[GroupAttacker | HiddenAttacker], words: Words) -> None:
        self.net, self.groups, self.words = net, tuple(groups), words

    def begin(self, state: State) -> Sequence[tuple[Memory, FloatArray]]:
        """Begin in one's group."""
        idle: FloatArray = np.ones(len(self.net.intents))
        found: list[tuple[Memory, FloatArray]] = []
        for g, group in enumerate(self.groups):
            idle[group.intents] = 0.0
            found += [((g, place), self._spread(group, chances)) for place, chances in group.begin()]
        return [*found, (None, idle)] if idle.any() else found

    def policy(self, state: State, memory: Memory) -> FloatArray:
        """Return π[a, θ]; intents that never come here do nothing."""
        number = {ids: a for a, ids in enumerate(self.words.attempts(state))}
        policy: FloatArray = np.zeros((max(len(number), 1), len(self.net.intents)))
        policy[0] = 1.0
        if isinstance(memory, tuple):
            group = self.groups[memory[0]]
            policy[0, group.intents] = 0.0
            for ids, chances in group.policy(memory[1], self.words.mask(state), self.words.placed(state)):
                policy[number[ids]][group.intents] += chances
        return policy

    def after(self, state: State, memory: Memory, a: int, d: int, i: int) -> Sequence[tuple[Memory, FloatArray]]:
        """Move one's group on."""
        if not isinstance(memory, tuple):
            return [(None, np.ones(len(self.net.intents)))]
        g, place = memory
        law = self.groups[g].after(place, self.words.seen(state, a, d, i))
        return [((g, to), self._spread(self.groups[g], chances)) for to, chances in law]

    def _spread(self, group: GroupAttacker | HiddenAttacker, chances: Chances) -> FloatArray:
        spread: FloatArray = np.zeros(len(self.net.intents))
        spread[group.intents] = chances
        return spread
