r"""Guard and concede: the relaxed game of a part, small however large the graph.

Choose guards B. An exploit under none of them is *conceded*: whenever it is usable it succeeds in that stage, free,
certain, never blocked. A state is a set m of conditions with the guards L of B that last and are in place, and

    m' = m ∪ wave(m) ∪ (what succeeds of the attempted exploits that are not blocked),

wave(m) being the results of conceded exploits usable at m. A wave brings r_θ⁺, a guarded exploit r_θ; only guarded
exploits cost. **v(G) ≤ v(G_B)**, and intent by intent: a playbook of G_B is a defence of G.

*Proof.* The defender keeps m_t ⊇ s_t, m_{t+1} = m_t ∪ wave(m_t) ∪ s_{t+1}, plays G_B's playbook at m_t and really
blocks what of it is usable at s_t, which costs no more. A real attempt of a guarded exploit whose result is not in m_t
is an attempt in G_B with the same coin; everything else only costs the attacker. A condition is in m no later than in
s, so its reward comes no later and is no smaller. An alert that G_B hears of and G does not is one of an exploit that
is not usable: it rings by itself, and the defender draws it. ∎

**Guards that stop several exploits, or last.** An exploit may be under guards of other parts as well, and one that
lasts may stop it from before. A real attempt that somebody else than this part stops in this stage is none in G_B: that
only costs the attacker, it does not depend on what this part draws now, and where alerts are seen the defender tosses
that exploit's as if it were idle. A guard that lasts is in L, and paid for in G_B, when it is drawn; it is really
applied when it first stops anything usable at s, which is no earlier, so it costs no more, and no later than it is
needed. With a budget it is applied when it is drawn, unless it can stop nothing any more: so no stage has more than the
part's share. What L stops is dead in G_B and in G, and one in place is not applied again. ∎

Refinements, each by the same coupling:

- **Slow conditions.** The exploits to a condition c that nobody guards may be attempted instead of conceded: those
  usable at m together, never blocked, with chance P = 1 − Π(1 − p) and for P min κ/p, the price per chance of the
  cheapest. A real attempt of some of them, T, succeeds with chance s ≤ P and s ≤ Σ_T p; it counts as an attempt of all
  with chance s/P, which then succeeds as often, and is charged (s/P) P min κ/p ≤ Σ_T p min κ/p ≤ Σ_T κ. Where attempts
  are seen the defender draws whether it counts: always if T succeeds, with chance (s/P − s)/(1 − s) if it fails. Where
  they are not a condition is slow only while one exploit leads to it.
- **Rare conditions** are slow ones after which everything is conceded at once. m is larger, so that is safe; and where
  they hardly ever come about it costs next to nothing, and one state.
- **Width.** At each state only the first few guards and slow conditions in their order are played for; what is beyond
  is conceded at that state. The proof goes stage by stage, so what is guarded may depend on m. No stage is too large.
- **Alike.** Where guards stop more exploits than the width, those to the same condition under the same guards may be
  attempted together, as for slow conditions, where attempts are seen: what stops one of them stops all. What is more
  than the width still is *forced*: conceded in every stage in which no guard that is set stops it.
- **By number.** Exploits to one condition with the same chance and charge, each under one guard of its own that costs
  the same and does not last, may be guarded by number: which b of the n guards are set is drawn, every set of b being
  equally likely. Then of an attempt only how many it has, a, matters, with the chances of `alike`; so the game in which
  the sides name a and b is the one that is worth what that defence concedes. That needs nothing of s: what of it others
  stop, or is not usable, is not in a. Where attempts are not seen and each of them rings an alert, all alike, the
  defender counts how many ring: each of the a with one chance and each of the n − a others with another, whichever they
  are and whatever is blocked. So the law of the number depends on a only, and given a it is independent of what
  succeeds. (Which of them ring it does not use, so this is the value of a defender that can do a little less.)
- **Settled states.** A condition that pays nobody and leads to nothing that does, by conditions not in m and exploits
  that L does not stop, counts as held. It is worth no more to anybody than nothing, and m is larger. So does a goal
  that L keeps from being reached, as it is really never reached either; and a guard in L that stops nothing that is
  not held is forgotten by the game, though not by the defender, who still has to apply it when it is first needed.
"""

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from ncirl._typing import BoolArray, FloatArray, IntArray
from ncirl.attack_graphs.coins import coin_law, distinct_rows, enabled, paid, rewarded, tally, with_tallies
from ncirl.attack_graphs.graph import Alert
from ncirl.attack_graphs.guarded.alike import amount_names, amounts, outcomes
from ncirl.attack_graphs.guarded.net import bits, fresh
from ncirl.attack_graphs.guarded.tolls import SHADE
from ncirl.attack_graphs.guarded.waves import Choices, Option, Waves
from ncirl.attack_graphs.names import set_name, signals
from ncirl.attack_graphs.rules import with_placed
from ncirl.model.game import Game
from ncirl.model.stage import TERMINAL, Outcome, Stage

__all__ = ["Relaxed"]


class Relaxed(Waves):
    """The relaxed game of one part: its states with the stages played there."""

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
        """Name a state by what it has beyond the start, and what is in place."""
        gained = (self.net.conditions[c] for c in bits(state & self.over & ~self.start))
        return set_name(gained, "start", placed=sorted(self.placed(state)))

    def stage(self, state: int) -> Stage:
        """Return the stage at a state; terminal when nothing can happen any more."""
        here = self.choices(state)
        if not here.options:
            return self._waiting(state, here) if here.wave else TERMINAL
        graph, options = self.net.graph, here.options
        attempted = amounts(here.sizes, graph.attacker_budget)  # [a, option]
        every = (*options, *here.forced)
        most = np.array([*here.sizes, *(1 for _ in here.forced)])
        tried = np.hstack([attempted, np.ones((len(attempted), len(here.forced)), dtype=np.intp)])
        chosen = here.defences(self.part.defender_budget)  # [d, sort of guards]
        blocked: IntArray = np.minimum(chosen @ self._stopping(here), most)  # [d, option]
        alerts, counted = self.alerts(here), self.counted_alerts(here)
        alerted = [k for k, _ in alerts]
        hit = list(dict.fromkeys(option.result for option in every))
        live = ((tried[:, None, :] > 0) & (blocked < most)[None, :, :]).reshape(-1, len(every))
        told = np.repeat(attempted[:, alerted] > 0, len(blocked), axis=0)
        is_heard = np.isin(np.arange(len(every)), [k for k, _ in counted])
        decisive = np.hstack([live, told, *_digits(tried, blocked, most, live | is_heard)])
        first, kind = distinct_rows(decisive)
        live, told = live[first], told[first]
        success = np.array([*(option.success for option in options), *(1.0 for _ in here.forced)])
        rung = np.where(told, [a.attempted for _, a in alerts], [a.idle for _, a in alerts])
        results = np.array([hit.index(option.result) for option in every])
        chances = _chances(success, most, tried[first // len(blocked)], blocked[first % len(blocked)])
        won_or_not = enabled(*chances, results, live, rounded=1)
        law, faces = coin_law(*(np.hstack(pair) for pair in zip(won_or_not, (rung, 1.0 - rung), strict=True)))
        rings = (rung_of(options[k].most, alert)[tried[first // len(blocked), k]] for k, alert in counted)
        law, faces = with_tallies(law, faces, rings)
        gained = faces[:, : len(hit)]
        heard = signals(self.heard_ids(here), faces[:, len(hit) :])
        won = [sum(1 << c for c, on in zip(hit, row, strict=True) if on) for row in gained.tolist()]
        placing = [self.bit(its[0].id) for its in here.alike]
        parted, then = with_placed(law[kind], chosen > 0, placing, len(won))
        outcomes = tuple(Outcome(self.after(state, won[o], placed), heard[o]) for o, placed in then)
        charges = np.array([option.charge for option in options])
        costs = np.array([its[0].cost for its in here.alike])
        return Stage(
            attacker=amount_names([self._names(option) for option in options], attempted),
            defender=amount_names([[guard.id for guard in its] for its in here.alike], chosen),
            outcomes=outcomes,
            law=parted,
            pair=paid((chosen, costs), (attempted, charges)),
            outcome=self._gained(state, here, hit, gained)[[o for o, _ in then]],
        )

    def _waiting(self, state: int, here: Choices) -> Stage:
        """Return the stage in which a wave comes and nobody has a choice."""
        following = (Outcome(self.after(state, 0)),)
        brought = self._gained(state, here, [], np.zeros((1, 0), dtype=np.bool_))
        return Stage(("nothing",), ("nothing",), following, sp.csr_array(np.ones((1, 1))), outcome=brought)

    def alerts(self, here: Choices) -> list[tuple[int, Alert]]:
        """List the options that ring an alert that is seen, with the alert."""
        return [(k, alert) for k, alert in self._loud(here) if here.options[k].most == 1]

    def counted_alerts(self, here: Choices) -> list[tuple[int, Alert]]:
        """List the options by number of whose alerts it is seen how many ring, with the alert of each exploit."""
        return [(k, alert) for k, alert in self._loud(here) if here.options[k].most > 1]

    def heard_ids(self, here: Choices) -> list[str]:
        """List what may be heard at a state; of exploits by number the first so many stand for any so many."""
        loud = [*self.alerts(here), *self.counted_alerts(here)]
        return [self.net.exploits[e].id for k, _ in loud for e in here.options[k].exploits]

    def _loud(self, here: Choices) -> list[tuple[int, Alert]]:
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
        brought = _all_of(worth[list(bits(here.wave))])
        gains = worth[list(hit)]
        drawn = {option.result for option in here.forced}
        by_chance = [c in drawn for c in hit]
        gains[by_chance] = np.maximum(gains[by_chance], 0.0)
        found: FloatArray = brought + rewarded(gained, gains)
        rare = [self._rare >> c & 1 == 1 for c in hit]
        if any(rare):
            found[gained[:, rare].any(axis=1)] = _all_of(worth[list(bits(self.over & ~state))])
        return found

    def _stopping(self, here: Choices) -> IntArray:
        """Return which guards, sort by sort, stop which option, and which that is forced, [sort, option]."""
        first = np.cumsum([0, *(len(its) for its in here.alike)])[:-1]
        stops: IntArray = here.stopped()[first].astype(np.intp)
        return stops

    def _names(self, option: Option) -> list[str]:
        """Return the ids of an option's exploits where these are attempted by number, or the one name that it has."""
        return [self.net.exploits[k].id for k in option.exploits] if option.most > 1 else [self._name(option)]

    def _name(self, option: Option) -> str:
        if option.is_guarded:
            return self._any_of([self.net.exploits[k].id for k in option.exploits])
        return fresh(f"any way to {self.net.conditions[option.result]}", self.net.place)

    def _any_of(self, ids: Sequence[str]) -> str:
        return ids[0] if len(ids) == 1 else fresh(f"any of {', '.join(ids)}", self.net.place)


def rung_of(n: int, alert: Alert) -> FloatArray:
    """Return how likely so many of n exploits ring an alert when a of them are attempted, [a, count]."""
    return np.array([tally([alert.attempted] * a + [alert.idle] * (n - a)) for a in range(n + 1)])


def _chances(success: FloatArray, most: IntArray, tried: IntArray, blocked: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return how likely options succeed in some of what they attempt, not being blocked, and in none, [row, option]."""
    some: FloatArray = np.repeat(success[None, :], len(tried), axis=0)
    none = 1.0 - some
    for k in np.flatnonzero(most > 1).tolist():
        for chances, its in zip((some, none), outcomes(int(most[k]), float(success[k])), strict=True):
            chances[:, k] = its[tried[:, k], blocked[:, k]]
    return some, none


def _digits(tried: IntArray, blocked: IntArray, most: IntArray, telling: BoolArray) -> list[BoolArray]:
    """Return how many are attempted and blocked of what is attempted by number, in digits, each [(a, d), digit].

    Where that makes no difference to what follows, by `telling`, [(a, d), option], there are none.
    """
    found: list[BoolArray] = []
    for k in np.flatnonzero(most > 1).tolist():
        pairs = tried[:, [k]] * (most[k] + 1) + blocked[None, :, k]
        number = np.where(telling[:, k], pairs.ravel(), 0)
        found.append((number[:, None] >> np.arange(int((most[k] + 1) ** 2).bit_length()) & 1).astype(np.bool_))
    return found


def _all_of(worth: FloatArray) -> FloatArray:
    """Add up, intent by intent, what conditions are worth to those who want them, [c, θ]; rounded up."""
    gains: FloatArray = np.maximum(worth, 0.0)
    total: FloatArray = gains.sum(axis=0) * np.where((gains > 0).sum(axis=0) > 1, 1.0 + SHADE, 1.0)
    return total
