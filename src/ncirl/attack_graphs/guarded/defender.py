r"""The defence of the whole graph: the parts' playbooks side by side, each at a state m ⊇ s of its own.

A part plays its playbook at m_t; of what that blocks, the guards that can stop anything usable at s_t are really set.
After the stage (`relaxed` has the proof that m follows the law of the relaxed game):

- an option was attempted in the part if one of its exploits was, and nobody stopped it;
- what was really enabled is in m_{t+1}, with the wave of m_t;
- where attempts are seen, a slow condition that was attempted in vain is enabled all the same with the chance that is
  missing, 1 − f / f_r: f the chance that all its exploits usable at m fail, f_r that those really attempted do;
- where they are not, which of its actions the part took is known up to guards that could stop nothing: they are drawn,
  as they were chosen; and an alert of an exploit that is not usable at s is drawn, too.

What the part counts as futile (`parts`) and is enabled all the same ends the part: it blocks no more.

Every law here is exact, so the promise of each part holds on the whole graph and the promises add up.
"""

from collections.abc import Iterable, Sequence
from itertools import product
from math import prod
from typing import TypeVar

import numpy as np

from ncirl._typing import FloatArray, State
from ncirl.attack_graphs.coins import subsets
from ncirl.attack_graphs.guarded.relaxed import Relaxed
from ncirl.attack_graphs.guarded.seen import Ids, Seen, Words
from ncirl.attack_graphs.guarded.waves import Choices
from ncirl.attack_graphs.names import signals
from ncirl.model.stage import Outcome
from ncirl.playbook.play import PlaybookDefender
from ncirl.playbook.playbook import DefenderPlaybook
from ncirl.strategies.strategy import Memory

__all__ = ["GuardedDefender", "PartDefender", "Place"]

T = TypeVar("T")
Place = tuple[State, Memory]  # where a part stands: the state of its timed game, and the node


class PartDefender:
    """One part's playbook at play on the whole graph."""

    def __init__(self, relaxed: Relaxed, playbook: DefenderPlaybook) -> None:
        self.relaxed, self.net = relaxed, relaxed.net
        self.strategy = PlaybookDefender(playbook)
        self.timed = playbook.game
        self.has_time = self.net.graph.horizon is not None

    def begin(self) -> list[tuple[Place, float]]:
        """Return where it may begin."""
        start = self.timed.starts[0].state
        return [((start, node), chance) for node, chance in self.strategy.begin(start)]

    def mask(self, place: Place) -> int:
        """Return m."""
        state = place[0][1] if self.has_time and isinstance(place[0], tuple) else place[0]
        assert isinstance(state, int)
        return state

    def blocks(self, place: Place, held: int) -> list[tuple[Ids, float]]:
        """Return the guards that it sets when `held` really holds, with their probabilities."""
        law: dict[Ids, float] = {}
        for ids, chance in self._mixed(place):
            really = self._setting(ids, held)
            law[really] = law.get(really, 0.0) + chance
        return list(law.items())

    def after(self, place: Place, seen: Seen) -> list[tuple[Place, float]]:
        """Return where it goes after a stage of the whole graph."""
        state = place[0]
        if self.timed.is_terminal(state):
            return [(place, 1.0)]
        here = self.relaxed.choices(self.mask(place))
        law: dict[Place, float] = {}
        for (d, i), chance in self._observations(place, here, seen):
            successor = self.timed.observations(state).successors[i]
            if seen.after & ~self.mask((successor, None)):  # nobody was expected to try that: the part is given up
                return [((self._timed_state(state, self.relaxed.over), None), 1.0)]
            for node, p in self.strategy.after(state, place[1], d, i):
                at = successor, node
                law[at] = law.get(at, 0.0) + chance * p
        return list(law.items())

    def _mixed(self, place: Place) -> list[tuple[Ids, float]]:
        """Return the part's own actions with their probabilities."""
        if self.timed.is_terminal(place[0]):
            return [(frozenset(), 1.0)]
        here = self.relaxed.choices(self.mask(place))
        names = [guard.id for guard in here.guards]
        rows = subsets(len(names), self.relaxed.part.defender_budget).tolist()
        mix = self.strategy.mix(place[0], place[1]).tolist()
        return [
            (frozenset(name for name, on in zip(names, row, strict=True) if on), chance)
            for row, chance in zip(rows, mix, strict=True)
        ]

    def _setting(self, ids: Iterable[str], held: int) -> Ids:
        """Leave out guards that stop nothing that is usable."""
        return frozenset(name for name in ids if any(self._is_usable(k, held) for k in self.net.guards[name].stops))

    def _is_usable(self, k: int, held: int) -> bool:
        return not self.net.needs[k] & ~held and not held >> self.net.result[k] & 1

    def _observations(self, place: Place, here: Choices, seen: Seen) -> list[tuple[tuple[int, int], float]]:
        """Return (its action, its observation) with their probabilities."""
        state, mask = place[0], self.mask(place)
        observed, outcomes = self.timed.observations(state), self.timed.stage(state).outcomes
        number = {outcome: o for o, outcome in enumerate(outcomes)}
        found: list[tuple[tuple[int, int], float]] = []
        if not here.options:
            return [((0, 0), 1.0)]
        if self.net.sees_actions:
            a, luck = self._tried(here, seen)
            for won, chance in luck:
                following = self._timed_state(state, self.relaxed.after(mask, won))
                found.append(((0, int(observed.table[a, number[Outcome(following)]])), chance))
            return found
        won = sum(1 << c for c in {option.result for option in here.options} if seen.after >> c & 1)
        following = self._timed_state(state, self.relaxed.after(mask, won))
        really = seen.blocked & {guard.id for guard in here.guards}
        mine = [
            (d, p)
            for d, (ids, p) in enumerate(self._mixed(place))
            if self._setting(ids, seen.before) == really  # the others are not what was done
        ]
        total = sum(p for _, p in mine)
        for (d, p), (signal, chance) in product(mine, self._heard(here, seen)):
            i = int(observed.table[d, number[Outcome(following, signal)]])
            if i >= 0 and (p > 0 or not total):
                found.append(((d, i), (p / total if total else 1 / len(mine)) * chance))
        return found

    def _tried(self, here: Choices, seen: Seen) -> tuple[int, list[tuple[int, float]]]:
        """Return the part's number of what was attempted, and what it then has enabled with which chance."""
        assert seen.attempted is not None
        exploits = self.net.exploits
        stopped = {k for name in seen.blocked if name in self.net.guards for k in self.net.guards[name].stops}
        row, sure, missing = [], 0, []
        for option in here.options:
            tried = [k for k in option.exploits if exploits[k].id in seen.attempted]
            live = [k for k in tried if k not in stopped]
            row.append(bool(tried) if option.is_guarded else bool(live))
            if not live:
                continue
            if seen.after >> option.result & 1:
                sure |= 1 << option.result
            elif not option.is_guarded:
                failed = prod(1.0 - exploits[k].success for k in live)
                missing.append((option.result, 1.0 - (1.0 - option.success) / failed))
        luck = [(sure, 1.0)]
        for c, chance in missing:
            if chance > 0:
                luck = [(won | on << c, p * (chance if on else 1.0 - chance)) for won, p in luck for on in (0, 1)]
        rows = subsets(len(row), self.net.graph.attacker_budget)
        return int((rows == np.array(row)).all(axis=1).argmax()), [(won, p) for won, p in luck if p > 0]

    def _heard(self, here: Choices, seen: Seen) -> list[tuple[str | None, float]]:
        """Return what the part hears, drawing the alerts of what is not usable."""
        alerts = self.relaxed.alerts(here)
        names = [self.net.exploits[here.options[k].exploits[0]].id for k, _ in alerts]
        chances = []
        for (k, alert), name in zip(alerts, names, strict=True):
            known = self._is_usable(here.options[k].exploits[0], seen.before)
            chances.append(float(name in seen.alerts) if known else alert.idle)
        rung = subsets(len(names), None)
        law = np.where(rung, chances, 1.0 - np.array(chances)).prod(axis=1)
        return [(signal, p) for signal, p in zip(signals(names, rung), law.tolist(), strict=True) if p > 0]

    def _timed_state(self, state: State, mask: int) -> State:
        return (state[0] + 1, mask) if self.has_time and isinstance(state, tuple) else mask


class GuardedDefender:
    """The lifted defence as a strategy of the graph's own game, where that can be listed.

    Parameters
    ----------
    parts : sequence of PartDefender
        Of one division of the graph.
    words : Words
        Of the graph.
    """

    def __init__(self, parts: Sequence[PartDefender], words: Words) -> None:
        self.parts, self.words = tuple(parts), words

    def begin(self, state: State) -> Sequence[tuple[Memory, float]]:
        """Begin every part."""
        return _side_by_side([part.begin() for part in self.parts])

    def mix(self, state: State, memory: Memory) -> FloatArray:
        """Return D[d]: the union of what the parts block."""
        assert isinstance(memory, tuple)
        number = {ids: d for d, ids in enumerate(self.words.blocks(state))}
        held = self.words.mask(state)
        mix: FloatArray = np.zeros(max(len(number), 1))
        laws = [part.blocks(place, held) for part, place in zip(self.parts, memory, strict=True)]
        for ids, chance in _side_by_side(laws):
            mix[number[frozenset().union(*ids)]] += chance
        return mix

    def after(self, state: State, memory: Memory, d: int, i: int) -> Sequence[tuple[Memory, float]]:
        """Move every part on."""
        assert isinstance(memory, tuple)
        seen = self.words.seen(state, None, d, i)
        return _side_by_side([part.after(place, seen) for part, place in zip(self.parts, memory, strict=True)])


def _side_by_side(laws: Sequence[Sequence[tuple[T, float]]]) -> list[tuple[tuple[T, ...], float]]:
    """Return the law of independent draws, one from each."""
    return [
        (tuple(value for value, _ in drawn), prod(chance for _, chance in drawn))
        for drawn in product(*laws)
        if all(chance > 0 for _, chance in drawn)
    ]
