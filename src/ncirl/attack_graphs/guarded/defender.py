r"""The defence of the whole graph: the parts' playbooks side by side, each at a state m ⊇ s of its own.

A part plays its playbook at m_t; of what that sets, and of what it has in place but not yet really, the guards that can
stop anything usable at s_t are really set. After the stage (`relaxed` has the proof that m follows the law of the
relaxed game):

- an option was attempted in the part if all of its exploits were, and nobody but the part itself stopped them; where
  only some were, it is drawn whether it was, so that it was with chance s / p and succeeds just when they really do:
  s the chance of those, p of all (`relaxed` has the proof);
- of exploits that are guarded by number it is how many were attempted, and which guards are set is drawn;
- what was really enabled is in m_{t+1}, with the wave of m_t;
- where an option to c is *forced* and not stopped, c comes by itself: whether c was really enabled then tells nothing
  of what was attempted, and that counts with chance s / p;
- a lasting guard that its game forgets, since it keeps a goal from being reached, is *owed* as long as it is not really
  in place: it is set when it first stops anything usable, which is what keeps the goal from being reached;
- where they are not, or guards last, which of its actions the part took is known up to guards that could stop nothing:
  they are drawn, as they were chosen; and an alert of an exploit that is not usable at s, or that others stopped, is
  drawn, too, as of one that was not attempted.

What the part counts as futile (`parts`) and is enabled all the same ends the part: it blocks no more.

The parts of a defence with an opening are parts of the graph with it in place (`opened`), and it is set beside them.

Every law here is exact, so the promise of each part holds on the whole graph and the promises add up.
"""

from collections.abc import Sequence
from itertools import product
from math import prod
from typing import TypeVar

import numpy as np
import scipy.sparse as sp

from ncirl._typing import FloatArray, State
from ncirl.attack_graphs.coins import any_of, tally, with_tallies
from ncirl.attack_graphs.graph import Alert
from ncirl.attack_graphs.guarded.alike import amounts
from ncirl.attack_graphs.guarded.opened import Opening
from ncirl.attack_graphs.guarded.relaxed import Relaxed
from ncirl.attack_graphs.guarded.seen import Ids, Seen, Words
from ncirl.attack_graphs.guarded.waves import Choices, Option
from ncirl.attack_graphs.names import signals
from ncirl.model.stage import Outcome
from ncirl.playbook.play import PlaybookDefender
from ncirl.playbook.playbook import DefenderPlaybook
from ncirl.strategies.strategy import Memory

__all__ = ["GuardedDefender", "PartDefender", "Place"]

T = TypeVar("T")
Place = tuple[State, Memory, Ids]  # where a part stands: the state of its timed game, the node, and what is owed


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
        return [((start, node, Ids()), chance) for node, chance in self.strategy.begin(start)]

    def mask(self, place: Place) -> int:
        """Return m."""
        return self._untimed(place[0])

    def _untimed(self, state: State) -> int:
        found = state[1] if self.has_time and isinstance(state, tuple) else state
        assert isinstance(found, int)
        return found

    def blocks(self, place: Place, held: int, placed: Ids = frozenset()) -> list[tuple[Ids, float]]:
        """Return the guards that it sets when `held` really holds and `placed` is in place, with probabilities."""
        law: dict[Ids, float] = {}
        for _, ids, chance in self._mixed(place):
            really = self._setting(place, ids, held, placed)
            law[really] = law.get(really, 0.0) + chance
        return list(law.items())

    def pending(self, place: Place, placed: Ids) -> Ids:
        """Return the lasting guards that are in place in the part only, or owed."""
        return (self.relaxed.placed(self.mask(place)) | place[2]) - placed

    def after(self, place: Place, seen: Seen) -> list[tuple[Place, float]]:
        """Return where it goes after a stage of the whole graph."""
        state = place[0]
        if self.timed.is_terminal(state):
            return [(place, 1.0)]
        here = self.relaxed.choices(self.mask(place))
        law: dict[Place, float] = {}
        for (d, i, owed), chance in self._observations(place, here, seen):
            successor = self.timed.observations(state).successors[i]
            if seen.after & ~self._untimed(successor):  # nobody was expected to try that: the part is given up
                return [((self._timed_state(state, self.relaxed.over), None, Ids()), 1.0)]
            for node, p in self.strategy.after(state, place[1], d, i):
                at = successor, node, owed
                law[at] = law.get(at, 0.0) + chance * p
        return list(law.items())

    def _mixed(self, place: Place) -> list[tuple[int, Ids, float]]:
        """Return the part's own actions, by number and as guards, with their probabilities."""
        if self.timed.is_terminal(place[0]):
            return [(0, frozenset(), 1.0)]
        here = self.relaxed.choices(self.mask(place))
        rows = here.defences(self.relaxed.part.defender_budget).tolist()
        mix = self.strategy.mix(place[0], place[1]).tolist()
        sets = [here.sets(row) for row in rows]
        return [(d, ids, chance / len(sets[d])) for d, chance in enumerate(mix) for ids in sets[d]]

    def _setting(self, place: Place, ids: Ids, held: int, placed: Ids) -> Ids:
        """Return what is really set: what is drawn or has still to be put in place, but for what stops nothing now."""
        return self.net.of_use(ids | self.pending(place, placed), held, placed)

    def _is_usable(self, k: int, held: int) -> bool:
        return not self.net.needs[k] & ~held and not held >> self.net.result[k] & 1

    def _observations(self, place: Place, here: Choices, seen: Seen) -> list[tuple[tuple[int, int, Ids], float]]:
        """Return (its action, its observation, what is owed then) with their probabilities."""
        state = place[0]
        observed, outcomes = self.timed.observations(state), self.timed.stage(state).outcomes
        number = {outcome: o for o, outcome in enumerate(outcomes)}
        found: list[tuple[tuple[int, int, Ids], float]] = []
        if not here.options:
            return [((0, 0, self._owed(place, here, 0, Ids(), seen)), 1.0)]
        heard: list[tuple[int, str | None, float]]  # row of the table, signal, chance
        for d, ids, p in self._own(place, here, seen):
            swept = here.swept(ids)
            if self.net.sees_actions:
                won, tries = self._tried(here, seen, swept)
                heard = [(a, None, chance) for a, chance in tries]
            else:
                won = sum(1 << c for c in {option.result for option in here.options} if seen.after >> c & 1)
                heard = [(d, signal, chance) for signal, chance in self._heard(here, seen)]
            owed = self._owed(place, here, won | swept, ids, seen)
            for row, signal, chance in heard:
                outcome = Outcome(self._following(state, won | swept, ids), signal)
                i = int(observed.table[row, number[outcome]]) if outcome in number else -1
                if i >= 0:
                    found.append(((d, i, owed), p * chance))
        return found

    def _following(self, state: State, gained: int, ids: Ids) -> State:
        """Return the state that follows when something comes beside the wave and the part has set `ids`."""
        placing = sum(map(self.relaxed.bit, ids))
        return self._timed_state(state, self.relaxed.after(self._untimed(state), gained, placing))

    def _owed(self, place: Place, here: Choices, gained: int, ids: Ids, seen: Seen) -> Ids:
        """Return the guards that the game has forgotten, but that are not in place and may still have to be."""
        mask, placing = self.mask(place), sum(map(self.relaxed.bit, ids))
        following = self.relaxed.after(mask, gained, placing)
        forgotten = self.relaxed.placed(mask | placing) - self.relaxed.placed(following)
        paid = mask | here.wave | gained | self.relaxed.terms.futile
        stops = ((name, k) for name in forgotten for k in self.net.guards[name].stops)
        keeping = {name for name, k in stops if not paid >> self.net.result[k] & 1}
        return (place[2] | keeping) - seen.placed - seen.blocked

    def _own(self, place: Place, here: Choices, seen: Seen) -> list[tuple[int, Ids, float]]:
        """Return which of its actions the part may have taken, by number and as guards, and how likely it was that."""
        if self.net.sees_actions and not here.forced and not any(guard.lasts for guard in here.guards):
            return [(0, frozenset(), 1.0)]  # what follows does not depend on it
        mixed = self._mixed(place)
        really = seen.blocked & {*(guard.id for guard in here.guards), *self.pending(place, seen.placed)}
        mine = [
            (d, ids, p)
            for d, ids, p in mixed
            if self._setting(place, ids, seen.before, seen.placed) == really  # the others are not what was done
        ]
        if not mine:  # it was not followed
            done = frozenset(really & {guard.id for guard in here.guards})
            mine = [(d, ids, 1.0) for d, ids, _ in mixed if ids == done]
        total = sum(p for _, _, p in mine)
        return [(d, ids, p / total if total else 1 / len(mine)) for d, ids, p in mine if p > 0 or not total]

    def lost(self, before: Place, after: Place, seen: Seen) -> int:
        """Return what its lasting guards keep from ever being reached after a stage: that is held, but not paid for."""
        in_place = self.pending(before, Ids()) | self.pending(after, Ids())
        in_place |= self.net.lasting(seen.blocked) & set(self.relaxed.part.guards)
        if not in_place:
            return 0
        mask = self.mask(before)
        return self.relaxed.lost(mask | self.relaxed.choices(mask).wave | seen.after, self.net.stopped(in_place))

    def attempted(self, here: Choices, seen: Seen) -> list[list[int]]:
        """Return which exploits of each option were attempted, and stopped by nobody but the part itself."""
        assert seen.attempted is not None
        own = {guard.id for guard in here.guards}
        others = self.net.stopped((seen.blocked - own) | seen.placed)
        exploits = self.net.exploits
        return [
            [k for k in option.exploits if exploits[k].id in seen.attempted and k not in others]
            for option in here.options
        ]

    def _tried(self, here: Choices, seen: Seen, swept: int) -> tuple[int, list[tuple[int, float]]]:
        """Return what the options really enabled, and what counts as attempted, by number, with its chance.

        Of what is `swept` it is not known which exploit enabled it, and makes no difference.
        """
        stopped = self.net.stopped(seen.blocked)
        tries = self.attempted(here, seen)
        won, law = 0, [(frozenset[int](), 1.0)]
        for c in dict.fromkeys(option.result for option in here.options):
            its = [n for n, option in enumerate(here.options) if option.result == c and tries[n]]
            live = [n for n in its if self._live(here.options[n], tries[n], stopped) and not swept >> c & 1]
            has_won = bool(live) and seen.after >> c & 1 == 1
            won |= has_won << c
            may = {n: self._live(here.options[n], tries[n], stopped) or tries[n] for n in its}
            ways = self._counted(here, may, live, has_won)
            law = [(row | more, p * chance) for row, p in law for more, chance in ways]
        rows = amounts(here.sizes, self.net.graph.attacker_budget).tolist()
        number = {tuple(row): a for a, row in enumerate(rows)}
        many = [len(tried) if option.most > 1 else 1 for option, tried in zip(here.options, tries, strict=True)]
        return won, [(number[tuple(many[n] * (n in row) for n in range(len(many)))], p) for row, p in law]

    @staticmethod
    def _live(option: Option, tried: list[int], stopped: frozenset[int]) -> list[int]:
        """Return what of an option that was attempted may succeed: all, or none where one of those alike is stopped."""
        left = [k for k in tried if k not in stopped]
        return left if option.most > 1 or len(left) == len(tried) else []

    def _counted(
        self, here: Choices, tries: dict[int, list[int]], live: list[int], has_won: bool
    ) -> list[tuple[frozenset[int], float]]:
        """Return which options to one condition count as attempted, with their chance."""
        counts = {n for n in tries if here.options[n].most > 1 or len(tries[n]) == len(here.options[n].exploits)}
        if len(counts) == len(tries):
            return [(frozenset(tries), 1.0)]
        chances = {n: self._chance(tried) for n, tried in tries.items()}
        law: dict[frozenset[int], float] = {}
        for coins in product((False, True), repeat=len(live)):  # which of them succeeded: one at least, or none
            lucky = {n for n, on in zip(live, coins, strict=True) if on}
            weight = prod(chances[n] if n in lucky else 1.0 - chances[n] for n in live)
            if bool(lucky) != has_won or not weight:
                continue
            rows = [(frozenset[int](), weight)]
            for n, chance in chances.items():
                share = 1.0 if n in counts else self.share(here.options[n], tries[n])
                failed = max(share - chance, 0.0) / (1.0 - chance) if n in live and chance < 1 else share
                on = 1.0 if n in lucky else failed
                rows = [
                    (row | {n} if is_on else row, p * (on if is_on else 1 - on)) for row, p in rows for is_on in (0, 1)
                ]
            for row, p in rows:
                law[row] = law.get(row, 0.0) + p
        total = sum(law.values())
        return [(row, p / total) for row, p in law.items() if p > 0]

    def share(self, option: Option, tried: list[int]) -> float:
        """Return the chance that an option counts as attempted when some of its exploits are; by number, how many."""
        if option.most > 1:
            return float(len(tried))
        if not tried or len(tried) == len(option.exploits):
            return float(bool(tried))
        return min(self._chance(tried) / option.success, 1.0)

    def _chance(self, exploits: list[int]) -> float:
        return float(any_of(np.array([self.net.exploits[k].success for k in exploits])))

    def _heard(self, here: Choices, seen: Seen) -> list[tuple[str | None, float]]:
        """Return what the part hears, drawing the alerts of what is not usable or others stopped."""
        own, exploits = {guard.id for guard in here.guards}, self.net.exploits
        others = self.net.stopped((seen.blocked - own) | seen.placed)

        def heard(option: Option, alert: Alert) -> FloatArray:
            """Return the law of how many of an option's alerts ring, [count]."""
            known = [self._is_usable(k, seen.before) and k not in others for k in option.exploits]
            rang = [float(exploits[k].id in seen.alerts) for k in option.exploits]
            return tally([on if is_known else alert.idle for on, is_known in zip(rang, known, strict=True)])

        loud = [*self.relaxed.alerts(here), *self.relaxed.counted_alerts(here)]
        law, faces = sp.csr_array(np.ones((1, 1))), np.zeros((1, 0), dtype=np.bool_)
        law, faces = with_tallies(law, faces, (heard(here.options[k], alert)[None, :] for k, alert in loud))
        named = signals(self.relaxed.heard_ids(here), faces)
        return list(zip(named, law.toarray()[0].tolist(), strict=True))

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
    opening : Opening, optional
        What is applied beside; the parts are of the graph with it in place.
    """

    def __init__(self, parts: Sequence[PartDefender], words: Words, opening: Opening | None = None) -> None:
        self.parts, self.words, self.opening = tuple(parts), words, opening

    def begin(self, state: State) -> Sequence[tuple[Memory, float]]:
        """Begin every part."""
        return _side_by_side([part.begin() for part in self.parts])

    def mix(self, state: State, memory: Memory) -> FloatArray:
        """Return D[d]: the union of what the parts set, and what of the opening is due."""
        assert isinstance(memory, tuple)
        number = {ids: d for d, ids in enumerate(self.words.blocks(state))}
        held, placed = self.words.mask(state), self.words.placed(state)
        mix: FloatArray = np.zeros(max(len(number), 1))
        laws = [part.blocks(place, held, placed) for part, place in zip(self.parts, memory, strict=True)]
        laws += [[(self.opening.setting(held, placed), 1.0)]] if self.opening is not None else []
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
