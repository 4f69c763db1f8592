r"""Guard and concede: the relaxed game of a part, small however large the graph.

Choose guards B. An exploit under none of them is *conceded*: whenever it is usable it succeeds in that stage, free,
certain, never blocked. A state m is a set of conditions, and

    m' = m ∪ wave(m) ∪ (what succeeds of the attempted exploits that are not blocked),

wave(m) being the results of conceded exploits usable at m. A wave brings r_θ⁺, a guarded exploit r_θ; only guarded
exploits cost. **v(G) ≤ v(G_B)**, and intent by intent: a playbook of G_B is a defence of G.

*Proof.* The defender keeps m_t ⊇ s_t, m_{t+1} = m_t ∪ wave(m_t) ∪ s_{t+1}, plays G_B's playbook at m_t and really
blocks what of it is usable at s_t, which costs no more. A real attempt of a guarded exploit whose result is not in m_t
is an attempt in G_B with the same coin; everything else only costs the attacker. A condition is in m no later than in
s, so its reward comes no later and is no smaller. An alert that G_B hears of and G does not is one of an exploit that
is not usable: it rings by itself, and the defender draws it. ∎

Four refinements, each by the same coupling:

- **Slow conditions.** The exploits to a condition c that nobody guards may be attempted instead of conceded: together,
  with chance 1 − Π(1 − p) of those usable at m, for the least of their charges, never blocked. A real attempt of any of
  them is such an attempt. It succeeds no more often than that; where attempts are seen the defender tosses what is
  missing. Where they are not it cannot know what is missing, so there a condition is slow only while one exploit leads
  to it.
- **Rare conditions** are slow ones after which everything is conceded at once. m is larger, so that is safe; and where
  they hardly ever come about it costs next to nothing, and one state.
- **Width.** At each state only the first few guards and slow conditions in their order are played for; what is beyond
  is conceded at that state. The proof goes stage by stage, so what is guarded may depend on m. No stage is too large.
- **Settled states.** A condition that pays nobody and leads to nothing that does, by conditions not in m, counts as
  held. It is worth no more to anybody than nothing, and m is larger.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ncirl._typing import BoolArray, FloatArray
from ncirl.attack_graphs.coins import coin_law, count_sets, distinct_rows, enabled, listed, set_names, signals, subsets
from ncirl.attack_graphs.graph import Alert
from ncirl.attack_graphs.guarded.net import Guard, Net, bits
from ncirl.attack_graphs.guarded.parts import Part, Terms
from ncirl.model.game import Game
from ncirl.model.stage import TERMINAL, Outcome, Stage

__all__ = ["Choices", "Option", "Relaxed"]

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


class Relaxed:
    """The relaxed game of one part; states are met lazily and cost no more than what changes in them.

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

    def game(self) -> Game:
        """Return the game, for the solver and for the certificate."""
        graph = self.net.graph
        return Game(
            self.stage,
            intents=self.net.intents,
            initial={self.start: self.net.prior},
            discount=graph.discount,
            horizon=graph.horizon,
            observes=graph.observes,
            name=f"{graph.name}, guarded",
            describe=self.describe,
        )

    def describe(self, state: int) -> str:
        """Name a state by what it has beyond the start."""
        return listed(self.net.conditions[c] for c in bits(state & ~self.start)) or "start"

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
        reached = [0] if here.wave or here.options else []
        for c in dict.fromkeys(option.result for option in here.options):
            reached += [won | 1 << c for won in reached]
        return list(dict.fromkeys(self.after(state, won) for won in reached))

    def stage(self, state: int) -> Stage:
        """Return the stage at a state; terminal when nothing can happen any more."""
        here = self.choices(state)
        if not here.options:
            return self._waiting(state, here) if here.wave else TERMINAL
        graph, options = self.net.graph, here.options
        attempted = subsets(len(options), graph.attacker_budget)  # [a, option]
        chosen = subsets(len(here.guards), self.part.defender_budget)  # [d, guard]
        blocked: BoolArray = np.any(chosen[:, :, None] & here.stopped()[None], axis=1)  # [d, option]
        alerts = self.alerts(here)
        alerted = [k for k, _ in alerts]
        hit = list(dict.fromkeys(option.result for option in options))
        live = (attempted[:, None, :] & ~blocked[None, :, :]).reshape(-1, len(options))
        told = np.repeat(attempted[:, alerted], len(blocked), axis=0)
        decisive = np.hstack([live, told])
        first, kind = distinct_rows(decisive)
        live, told = np.split(decisive[first], [len(options)], axis=1)
        success = np.array([option.success for option in options])
        rung = np.where(told, [a.attempted for _, a in alerts], [a.idle for _, a in alerts])
        results = np.array([hit.index(option.result) for option in options])
        law, faces = coin_law(np.hstack([enabled(success, results, live), rung]))
        gained = faces[:, : len(hit)]
        heard = signals([self.net.exploits[options[k].exploits[0]].id for k in alerted], faces[:, len(hit) :])
        outcomes = tuple(
            Outcome(self.after(state, sum(1 << c for c, on in zip(hit, row, strict=True) if on)), signal)
            for row, signal in zip(gained.tolist(), heard, strict=True)
        )
        charges = np.array([option.charge for option in options])
        cost = chosen @ np.array([guard.cost for guard in here.guards])
        return Stage(
            attacker=set_names([self._name(option) for option in options], attempted),
            defender=set_names([guard.id for guard in here.guards], chosen),
            outcomes=outcomes,
            law=law[kind],
            pair=cost[None, :, None] - (attempted @ charges)[:, None, :],
            outcome=self._gained(state, here, hit, gained),
        )

    def _waiting(self, state: int, here: Choices) -> Stage:
        """Return the stage in which a wave comes and nobody has a choice."""
        following = (Outcome(self.after(state, 0)),)
        brought = self._gained(state, here, [], np.zeros((1, 0), dtype=np.bool_))
        return Stage(("nothing",), ("nothing",), following, sp.csr_array(np.ones((1, 1))), outcome=brought)

    def alerts(self, here: Choices) -> list[tuple[int, Alert]]:
        """List the options that ring an alert that is seen, with the alert."""
        if self.net.sees_actions:
            return []
        found = []
        for k, option in enumerate(here.options):
            alert = self.net.exploits[option.exploits[0]].alert
            if option.is_guarded and alert is not None:
                found.append((k, alert))
        return found

    def _gained(self, state: int, here: Choices, hit: Sequence[int], gained: BoolArray) -> FloatArray:
        """Return the rewards of each outcome, [o, θ]; what may come by chance alone counts if it pays."""
        worth = self.terms.worth
        brought: FloatArray = np.maximum(worth[list(bits(here.wave))], 0.0).sum(axis=0)
        gains = worth[list(hit)]
        by_chance = [c in {option.result for option in here.options if not option.is_guarded} for c in hit]
        gains[by_chance] = np.maximum(gains[by_chance], 0.0)
        found: FloatArray = brought + gained @ gains
        rare = [self._rare >> c & 1 == 1 for c in hit]
        if any(rare):
            found[gained[:, rare].any(axis=1)] = np.maximum(worth[list(bits(self.over & ~state))], 0.0).sum(axis=0)
        return found

    def _name(self, option: Option) -> str:
        if option.is_guarded:
            return self.net.exploits[option.exploits[0]].id
        return f"any way to {self.net.conditions[option.result]}"

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
        success = 1.0 - float(np.prod([1.0 - self.net.exploits[k].success for k in exploits]))
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
