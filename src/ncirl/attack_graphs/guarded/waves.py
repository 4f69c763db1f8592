r"""The states of a relaxed game: what is played for at each, what comes by itself, and where that leads.

    wave(m) = results of conceded exploits usable at m,        m' = settled( m ∪ wave(m) ∪ what is won ).

Nothing here is listed in advance. What conceded exploits give at m is kept with m and carried on: at m' only conditions
that are new can make a conceded exploit usable, since at m all that were usable have fired. So a state costs no more
than what changes in it, and sets are bits of integers. `relaxed` has what the states are for, and why it is sound.
"""

from dataclasses import dataclass

import numpy as np

from ncirl._typing import BoolArray, FloatArray
from ncirl.attack_graphs.coins import count_sets, unions
from ncirl.attack_graphs.guarded.net import Guard, Net, bits
from ncirl.attack_graphs.guarded.parts import Part, Terms
from ncirl.attack_graphs.guarded.tolls import SHADE

__all__ = ["Choices", "Option", "Waves"]

MOST_RARE = 3  # conditions that may be attempted at one state beside the width


@dataclass(frozen=True, eq=False)
class Option:
    """What can be attempted at a state: one guarded exploit, or the unguarded ones to a slow condition."""

    exploits: tuple[int, ...]
    result: int
    success: float
    charge: FloatArray  # [θ]
    is_guarded: bool


@dataclass(frozen=True, eq=False)
class Choices:
    """What is played for at a state, and what comes by itself."""

    wave: int
    options: tuple[Option, ...]
    guards: tuple[Guard, ...]

    def stopped(self) -> BoolArray:
        """Return which guard stops which option, [guard, option]."""
        table = np.zeros((len(self.guards), len(self.options)), dtype=np.bool_)
        for g, guard in enumerate(self.guards):
            for k, option in enumerate(self.options):
                table[g, k] = option.is_guarded and option.exploits[0] in guard.stops
        return table


class Waves:
    """The states of one part's relaxed game, met lazily.

    Parameters
    ----------
    net : Net
        The whole graph.
    part : Part
        What is guarded, slow and rewarded.
    terms : Terms
        Rewards and charges, as `parts.terms` works them out.
    """

    def __init__(self, net: Net, part: Part, terms: Terms) -> None:
        self.net, self.part, self.terms = net, part, terms
        self._guards = [net.guards[name] for name in part.guards]
        self._slow = {net.number[name]: rank for rank, name in enumerate((*part.rare, *part.slow))}
        self._rare = net.mask(part.rare)
        guarded = {k for guard in self._guards for k in guard.stops}
        played = guarded | {k for c in self._slow for k in net.makers[c]}
        self._played = sorted(k for k in played if not terms.futile >> net.result[k] & 1)
        self._single = [0] * len(net.conditions)  # what conceded exploits with one premise bring
        self._several: list[list[int]] = [[] for _ in net.conditions]  # conceded ones with several, by premise
        self._given = 0  # conceded ones without a premise
        for k, needs in enumerate(net.needs):
            if k in played or terms.futile >> net.result[k] & 1:
                continue
            count = needs.bit_count()
            if count == 1:
                self._single[needs.bit_length() - 1] |= 1 << net.result[k]
            elif count:
                for c in bits(needs):
                    self._several[c].append(k)
            else:
                self._given |= 1 << net.result[k]
        self._goals = 0
        for c in np.flatnonzero((terms.worth > 0).any(axis=1)).tolist():
            self._goals |= 1 << c
        self.over = (1 << len(net.conditions)) - 1
        self._front: dict[int, int] = {}  # what conceded exploits give at a state, held or not
        self._choices: dict[int, Choices] = {}
        self.start = self.settled(net.start)
        self._remember(0, self._given, self.start)

    def settled(self, state: int) -> int:
        """Return the state with everything held that no longer matters."""
        useful = self._goals & ~state
        rest = useful
        while rest:
            lowest = rest & -rest
            rest ^= lowest
            fresh = self.net.before[lowest.bit_length() - 1] & ~state & ~useful
            useful |= fresh
            rest |= fresh
        return self.over & ~useful

    def choices(self, state: int) -> Choices:
        """Return what is played for at a state."""
        if state not in self._choices:
            self._choices[state] = self._chosen(state)
        return self._choices[state]

    def size(self, state: int) -> tuple[int, int]:
        """Return how many actions the two sides have at a state, without listing them."""
        here, graph = self.choices(state), self.net.graph
        n_a = count_sets(len(here.options), graph.attacker_budget)
        return n_a, count_sets(len(here.guards), self.part.defender_budget)

    def after(self, state: int, won: int) -> int:
        """Return the state that follows when `won` was enabled beside the wave."""
        raw = self.over if won & self._rare else state | self.choices(state).wave | won
        following = self.settled(raw)
        if following not in self._front:
            self._remember(state, self._front_of(state), following)
        return following

    def successors(self, state: int) -> list[int]:
        """List the states that may follow, without building the stage."""
        here = self.choices(state)
        if not here.wave and not here.options:
            return []
        won = unions((option.result for option in here.options), self.net.graph.attacker_budget)
        return list(dict.fromkeys(self.after(state, gained) for gained in won))

    def _chosen(self, state: int) -> Choices:
        net, width = self.net, self.part.width
        usable = [k for k in self._played if not net.needs[k] & ~state and not state >> net.result[k] & 1]
        wave = self._front_of(state) & ~state
        while True:  # conceding one thing may make others pointless
            open_ones = [k for k in usable if not wave >> net.result[k] & 1]
            candidates = set(open_ones)
            guards = [guard for guard in self._guards if not candidates.isdisjoint(guard.stops)][:width]
            watched = {k for guard in guards for k in guard.stops} & candidates
            groups: dict[int, list[int]] = {}
            for k in open_ones:
                if k not in watched:
                    groups.setdefault(net.result[k], []).append(k)
            room = width - len(watched)
            order = sorted((c for c in groups if c in self._slow), key=self._slow.__getitem__)
            able = [option for c in order if (option := self._unguarded(c, groups[c])) is not None]
            kept = [option for option in able if self._rare >> option.result & 1][:MOST_RARE]
            kept += [option for option in able if not self._rare >> option.result & 1][: max(room, 0)]
            conceded = set(groups) - {option.result for option in kept}
            if not conceded:
                break
            for c in conceded:
                wave |= 1 << c
        played = [self._watched(k) for k in sorted(watched)]
        return Choices(wave, (*played, *kept), tuple(guards))

    def _watched(self, k: int) -> Option:
        return Option((k,), self.net.result[k], self.net.exploits[k].success, self.terms.charge[k], True)

    def _unguarded(self, c: int, exploits: list[int]) -> Option | None:
        """Return the attempt of a slow condition, or None where it must be conceded or that makes no difference."""
        if len(exploits) > 1 and not self.net.sees_actions:
            return None
        failure = float(np.prod([1.0 - self.net.exploits[k].success for k in exploits]))
        success = self.net.exploits[exploits[0]].success if len(exploits) == 1 else min(1.0 - failure + SHADE, 1.0)
        charge: FloatArray = self.terms.charge[exploits].min(axis=0)
        if success >= 1.0 and not charge.any():
            return None
        return Option(tuple(exploits), c, success, charge, False)

    def _front_of(self, state: int) -> int:
        if state not in self._front:
            self._remember(0, self._given, state)
        return self._front[state]

    def _remember(self, known: int, front: int, state: int) -> None:
        """Note what conceded exploits give at `state`, from what they give at a state within it."""
        for c in bits(state & ~known):
            front |= self._single[c]
            for k in self._several[c]:
                if not self.net.needs[k] & ~state:
                    front |= 1 << self.net.result[k]
        self._front[state] = front
