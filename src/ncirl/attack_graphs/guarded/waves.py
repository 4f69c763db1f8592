r"""The states of a relaxed game: what is played for at each, what comes by itself, and where that leads.

    wave(m) = results of conceded exploits usable at m,        m' = settled( m ∪ wave(m) ∪ what is won ).

A state is the mask of m and, above its conditions, of the part's lasting guards L that are in place. What they stop is
dead: it is neither played for nor conceded. One whose exploits all lead into m is dropped, as it does nothing more.

Nothing here is listed in advance. What conceded exploits give at m is kept with m and carried on: at m' only conditions
that are new can make a conceded exploit usable, since at m all that were usable have fired. So a state costs no more
than what changes in it, and sets are bits of integers. `relaxed` has what the states are for, and why it is sound.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations, product

import numpy as np

from ncirl._typing import BoolArray, FloatArray, IntArray
from ncirl.attack_graphs.coins import any_of, unions
from ncirl.attack_graphs.graph import Alert
from ncirl.attack_graphs.guarded.alike import amounts, chunks, count_amounts
from ncirl.attack_graphs.guarded.net import Guard, Net, bits
from ncirl.attack_graphs.guarded.parts import Part, Terms
from ncirl.attack_graphs.guarded.tolls import SHADE

__all__ = ["Choices", "Option", "Waves"]

MOST_RARE = 3  # conditions that may be attempted at one state beside the width


@dataclass(frozen=True, eq=False)
class Option:
    """What can be attempted at a state: a guarded exploit, several that are alike, or those to a slow condition.

    By number, success and charge are those of each of its exploits, and `most` says how many there are.
    """

    exploits: tuple[int, ...]
    result: int
    success: float
    charge: FloatArray  # [θ]
    is_guarded: bool
    most: int = 1


@dataclass(frozen=True, eq=False)
class Choices:
    """What is played for at a state, and what comes by itself."""

    wave: int
    options: tuple[Option, ...]
    guards: tuple[Guard, ...]
    forced: tuple[Option, ...] = ()  # guarded, and conceded where nothing stops them
    alike: tuple[tuple[Guard, ...], ...] = ()  # the guards, those together of which only the number matters

    @property
    def sizes(self) -> list[int]:
        """How many of each option may be attempted."""
        return [option.most for option in self.options]

    def defences(self, budget: int | None) -> IntArray:
        """List how many guards of each sort may be set, [d, sort]."""
        return amounts([len(its) for its in self.alike], budget)

    def sets(self, row: Sequence[int]) -> list[frozenset[str]]:
        """List the sets of guards that a defence is, all of them equally likely."""
        parts = (combinations((guard.id for guard in its), n) for its, n in zip(self.alike, row, strict=True))
        return [frozenset(chain.from_iterable(chosen)) for chosen in product(*parts)]

    def stopped(self) -> BoolArray:
        """Return which guard stops which option and, after those, which that is forced, [guard, option]."""
        table = np.zeros((len(self.guards), len(self.options) + len(self.forced)), dtype=np.bool_)
        for g, guard in enumerate(self.guards):
            for k, option in enumerate((*self.options, *self.forced)):
                table[g, k] = option.is_guarded and option.exploits[0] in guard.stops
        return table

    def swept(self, applied: Collection[str]) -> int:
        """Return what comes by itself, beside the wave, while some guards are set."""
        found = 0
        for option in self.forced:
            if not any(option.exploits[0] in guard.stops for guard in self.guards if guard.id in applied):
                found |= 1 << option.result
        return found


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
        lasting = [guard for guard in self._guards if guard.lasts]
        self._lasting = {  # the bit of a state, and what the guard keeps from being reached
            guard.id: (1 << j, self._reached(guard)) for j, guard in enumerate(lasting, len(net.conditions))
        }
        self._stoppable = frozenset(k for guard in lasting for k in guard.stops)  # for good
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
        self.start = self.settled(net.start, frozenset())
        self._remember(0, self._given, self.start)

    def settled(self, held: int, dead: Collection[int]) -> int:
        """Return what is held with everything that no longer matters where some exploits are stopped for good."""
        useful = self._goals & ~held & ~(self.lost(held, dead) if dead else 0)
        rest = useful
        while rest:
            lowest = rest & -rest
            rest ^= lowest
            c = lowest.bit_length() - 1
            fresh = self._before(c, dead) & ~held & ~useful
            useful |= fresh
            rest |= fresh
        return self.over & ~useful

    def _before(self, c: int, dead: Collection[int]) -> int:
        """Return all premises of all exploits that give a condition and are not stopped."""
        if dead and not self._stoppable.isdisjoint(self.net.makers[c]):
            found = 0
            for k in self.net.makers[c]:
                if k not in dead:
                    found |= self.net.needs[k]
            return found
        return self.net.before[c]

    def lost(self, held: int, dead: Collection[int]) -> int:
        """Return what cannot be reached any more as all ways to it lead by what is stopped."""
        found, rest = 0, {self.net.result[k] for k in dead}
        while rest:
            c = rest.pop()
            if (held | found) >> c & 1 or any(
                k not in dead and not self.net.needs[k] & found for k in self.net.makers[c]
            ):
                continue
            found |= 1 << c
            rest.update(self.net.result[k] for k in self.net.users[c])
        return found

    def choices(self, state: int) -> Choices:
        """Return what is played for at a state."""
        if state not in self._choices:
            self._choices[state] = self._chosen(state)
        return self._choices[state]

    def size(self, state: int) -> tuple[int, int]:
        """Return how many actions the two sides have at a state, without listing them."""
        here, graph = self.choices(state), self.net.graph
        n_a = count_amounts(here.sizes, graph.attacker_budget)
        return n_a, count_amounts([len(its) for its in here.alike], self.part.defender_budget)

    def bit(self, guard: str) -> int:
        """Return the bit of a state that says that a guard is in place; 0 where it does not last."""
        return self._lasting[guard][0] if guard in self._lasting else 0

    def placed(self, state: int) -> frozenset[str]:
        """Return the lasting guards that are in place at a state."""
        if not state >> len(self.net.conditions):
            return frozenset()
        return frozenset(name for name, (bit, _) in self._lasting.items() if state & bit)

    def after(self, state: int, won: int, placed: int = 0) -> int:
        """Return the state that follows when `won` was enabled beside the wave, and guards were put in place."""
        held = state & self.over
        raw = self.over if won & self._rare else held | self.choices(state).wave | won
        set_up = state | placed
        following = self.settled(
            raw, self.net.stopped(self.placed(set_up)) if set_up >> len(self.net.conditions) else ()
        )
        if following not in self._front:
            self._remember(held, self._front_of(held), following)
        in_place = sum(bit for bit, keeps in self._lasting.values() if set_up & bit and keeps & ~following)
        return following | in_place

    def successors(self, state: int) -> list[int]:
        """List the states that may follow, without building the stage."""
        here = self.choices(state)
        if not here.wave and not here.options:
            return []
        stops, found = here.stopped(), dict[int, None]()
        telling = (g for g, guard in enumerate(here.guards) if guard.lasts or here.forced)
        for some in unions(telling, self.part.defender_budget):
            chosen = [here.guards[g].id for g in bits(some)]
            live = [option for k, option in enumerate(here.options) if not stops[list(bits(some)), k].any()]
            placed, swept = sum(map(self.bit, chosen)), here.swept(chosen)
            for gained in unions((option.result for option in live), self.net.graph.attacker_budget):
                found[self.after(state, gained | swept, placed)] = None
        return list(found)

    def _reached(self, guard: Guard) -> int:
        """Return what the exploits that a guard stops lead to, but for what nobody tries to reach."""
        found = 0
        for k in guard.stops:
            found |= 1 << self.net.result[k]
        return found & ~self.terms.futile

    def _chosen(self, state: int) -> Choices:
        net, width = self.net, self.part.width
        held, placed = state & self.over, self.placed(state)
        dead = net.stopped(placed)
        usable = [
            k for k in self._played if k not in dead and not net.needs[k] & ~held and not held >> net.result[k] & 1
        ]
        wave = self._front_of(held) & ~held
        while True:  # conceding one thing may make others pointless
            open_ones = [k for k in usable if not wave >> net.result[k] & 1]
            candidates = set(open_ones)
            free = (guard for guard in self._guards if guard.id not in placed)
            able_ones = [guard for guard in free if not candidates.isdisjoint(guard.stops)]
            alike = self._alike(able_ones, candidates)
            guards = [guard for its in alike for guard in its]
            played, forced = self._watched(guards, candidates)
            if len(guards) > len(alike):
                played, forced = self._by_number(alike, candidates), []
            watched = {k for option in (*played, *forced) for k in option.exploits}
            groups: dict[int, list[int]] = {}
            for k in open_ones:
                if k not in watched:
                    groups.setdefault(net.result[k], []).append(k)
            room = width - len(played)
            order = sorted((c for c in groups if c in self._slow), key=self._slow.__getitem__)
            able = [option for c in order if (option := self._unguarded(c, groups[c])) is not None]
            kept = [option for option in able if self._rare >> option.result & 1][:MOST_RARE]
            kept += [option for option in able if not self._rare >> option.result & 1][: max(room, 0)]
            conceded = set(groups) - {option.result for option in kept}
            if not conceded:
                break
            for c in conceded:
                wave |= 1 << c
        return Choices(wave, (*played, *kept), tuple(guards), tuple(forced), tuple(alike))

    def _alike(self, guards: list[Guard], candidates: set[int]) -> list[tuple[Guard, ...]]:
        """Return the first guards, as many as the width, those together of which only the number matters (`relaxed`).

        None are where guards last, or where what they stop, by number, is more than the width.
        """
        width = self.part.width
        apart: list[tuple[Guard, ...]] = [(guard,) for guard in guards[:width]]
        if not self.part.by_number or self._lasting:
            return apart
        over = Counter(k for guard in guards for k in guard.stops if k in candidates)
        sorts: dict[object, list[Guard]] = {}
        for guard in guards:
            live = [k for k in guard.stops if k in candidates]
            is_alone = len(live) == 1 and over[live[0]] == 1
            sorts.setdefault(self._numbers(guard, live[0]) if is_alone else guard.id, []).append(guard)
        alike = chunks(list(sorts.values()))[:width]
        fits = len(self._by_number(alike, candidates)) <= width
        return alike if fits else apart

    def _numbers(self, guard: Guard, k: int) -> tuple[int, float, bytes, float, Alert | None]:
        """Return what is the same of exploits that are alike: an alert counts where attempts are not seen."""
        exploit, charge = self.net.exploits[k], self.terms.charge[k].tobytes()
        return self.net.result[k], exploit.success, charge, guard.cost, self._heard(k)

    def _heard(self, k: int) -> Alert | None:
        return None if self.net.sees_actions else self.net.exploits[k].alert

    def _by_number(self, alike: Sequence[tuple[Guard, ...]], candidates: set[int]) -> list[Option]:
        """Return what guards stop: exploit by exploit, but those together of which only the number matters."""
        options = []
        for its in alike:
            stops = sorted({k for guard in its for k in guard.stops} & candidates)
            if len(its) > 1:
                options.append(replace(self._option(tuple(stops[:1]), True), exploits=tuple(stops), most=len(stops)))
            else:
                options += [self._option((k,), True) for k in stops]
        found = {option.exploits: option for option in options}
        return sorted(found.values(), key=lambda option: option.exploits)

    def _watched(self, guards: list[Guard], candidates: set[int]) -> tuple[list[Option], list[Option]]:
        """Return what guards stop: what is attempted, and what is forced.

        That is exploit by exploit or, where these are too many, those together that only differ in numbers; and where
        these are too many still, the surest and cheapest are forced.
        """
        width = self.part.width
        watched = sorted({k for guard in guards for k in guard.stops} & candidates)
        options = [self._option((k,), True) for k in watched]
        if len(options) > width and self.net.sees_actions:
            alike: dict[tuple[int, ...], list[int]] = {}
            for k in watched:
                over = (g for g, guard in enumerate(guards) if k in guard.stops)
                alike.setdefault((self.net.result[k], *over), []).append(k)
            options = [self._option(tuple(exploits), True) for exploits in alike.values()]
        if len(options) > width:
            options.sort(key=lambda option: (option.success, -option.charge.max(), option.exploits))
        return sorted(options[:width], key=lambda option: option.exploits), options[width:]

    def _unguarded(self, c: int, exploits: list[int]) -> Option | None:
        """Return the attempt of a slow condition, or None where it must be conceded or that makes no difference."""
        if len(exploits) > 1 and not self.net.sees_actions:
            return None
        option = self._option(tuple(exploits), False)
        return None if option.success >= 1.0 and not option.charge.any() else option

    def _option(self, exploits: tuple[int, ...], is_guarded: bool) -> Option:
        """Return the attempt of exploits to one condition, all of them, at the price per chance of the cheapest."""
        result = self.net.result[exploits[0]]
        chances = np.array([self.net.exploits[k].success for k in exploits])
        charges = self.terms.charge[list(exploits)]
        if len(exploits) == 1:
            return Option(exploits, result, float(chances[0]), charges[0], is_guarded)
        success = min(float(any_of(chances)) * (1.0 + SHADE), 1.0)
        with np.errstate(over="ignore", invalid="ignore"):  # what is hardly ever had is dear
            dear = np.where(charges > 0, charges * (success / chances)[:, None], 0.0)
        charge: FloatArray = dear.min(axis=0) * (1.0 - SHADE)
        return Option(exploits, result, success, charge, is_guarded)

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
