r"""The stages of an attack graph: every pair of sets, of exploits and of controls, at once, as arrays.

At a public state s with usable exploits e and their results c, sets a (attempted exploits) and d (applied controls)
leave the live set a \ stopped(d), and independent coins decide what follows:

    P(c enabled | a, d)  = 1 − Π_{e ∈ a \ stopped(d), e → c} (1 − success(e)),
    P(alert e rings | a) = attempted(e) if e ∈ a else idle(e).

The law of all coins is worked out once per kind of pair (a, d), that is per live set and alerted attempts, and then
copied to the pairs. A state is the bit mask of its enabled conditions and, above those, of the lasting controls in
place; what these stop never succeeds.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from ncirl._typing import BoolArray, FloatArray, IntArray
from ncirl.attack_graphs.coins import coin_law, count_sets, distinct_rows, enabled, paid, rewarded, subsets
from ncirl.attack_graphs.names import SetName, set_name, set_names, signals
from ncirl.errors import SizeError
from ncirl.model.game import Game, Observes
from ncirl.model.stage import TERMINAL, Outcome, Stage

if TYPE_CHECKING:
    from ncirl.attack_graphs.controls import Control
    from ncirl.attack_graphs.graph import AttackGraph, Exploit

__all__ = ["MOST_ACTIONS", "MOST_NUMBERS", "AttackRules", "count_sets", "with_placed"]

MOST_ACTIONS = 4096  # of one player in one state
MOST_NUMBERS = 2**24  # in any one array of a stage: 128 MiB of floats
LEAST_WIDTH = 8  # numbers per pair of actions that sorting the pairs by kind takes


class AttackRules:
    """What the stages of one attack graph are made from.

    Attributes
    ----------
    rounded : int
        To which side chances of success are rounded: -1 where the game is to bound from below.
    """

    rounded = 0

    def __init__(self, graph: "AttackGraph") -> None:
        self._graph = graph
        self._ids = [condition.id for condition in graph.conditions]
        number = {name: k for k, name in enumerate(self._ids)}
        self.start = sum(1 << k for k, condition in enumerate(graph.conditions) if condition.initial)
        self._sees_alerts = Observes(graph.observes) is Observes.OUTCOMES
        self._edges = [  # (exploit, mask of its premises, number of its result)
            (exploit, sum(1 << number[premise] for premise in exploit.premises), number[exploit.result])
            for exploit in graph.exploits
            if exploit.success > 0 or (self._sees_alerts and exploit.alert is not None)
        ]
        self._rewards = np.zeros((len(self._ids), len(graph.intents)))  # indexed [condition, θ]
        for theta, intent in enumerate(graph.intents):
            for condition, reward in intent.rewards.items():
                self._rewards[number[condition], theta] = reward
        self._controls = [(control, frozenset(control.blocks)) for control in graph.defences]
        lasting = [control.id for control, _ in self._controls if control.lasts]
        self._lasting = {name: 1 << k for k, name in enumerate(lasting, len(self._ids))}  # the bits of a state

    def game(self) -> Game:
        """Return the contest by these rules, from their start."""
        graph = self._graph
        return Game(
            self.stage,
            intents=[intent.id for intent in graph.intents],
            initial={self.start: [intent.prior for intent in graph.intents]},
            discount=graph.discount,
            horizon=graph.horizon,
            observes=graph.observes,
            name=graph.name,
            describe=self.describe,
        )

    def describe(self, state: int) -> SetName:
        """Name a state by what has been enabled and put in place since the start; no two states share a name."""
        gained = state & ~self.start
        placed = (name for name, bit in self._lasting.items() if state & bit)
        return set_name((name for k, name in enumerate(self._ids) if gained >> k & 1), "start", placed=placed)

    def usable(self, state: int) -> "list[tuple[Exploit, int]]":
        """List the exploits that can be attempted or blocked at a state, each with the number of its result.

        One that a control in place stops cannot succeed, and is here only where its alert is seen.
        """
        able = [(e, c) for e, needs, c in self._edges if needs & ~state == 0 and not state >> c & 1]
        dead = self._dead(state)
        if not dead:
            return able
        kept = [(e, c) for e, c in able if e.id not in dead or (self._sees_alerts and e.alert is not None)]
        return [(replace(e, success=0.0) if e.id in dead else e, c) for e, c in kept]

    def offered(self, state: int, usable: "Sequence[Exploit]") -> "list[tuple[Control, frozenset[str]]]":
        """List the controls that the defender may apply at a state, each with the exploits that it stops."""
        dead = self._dead(state)
        open_ones = {e.id for e in usable} - dead
        if self._graph.defender_budget is not None and self._lasting:  # what lasts may have to be applied ahead
            ahead = {e.id for e, _, c in self._edges if not state >> c & 1} - dead
        else:
            ahead = open_ones
        return [
            (control, stops)
            for control, stops in self._controls
            if not state & self.bit(control.id) and stops & (ahead if control.lasts else open_ones)
        ]

    def bit(self, control: str) -> int:
        """Return the bit of a state that says that a control is in place; 0 where it does not last."""
        return self._lasting.get(control, 0)

    def _dead(self, state: int) -> set[str]:
        """Return the exploits that controls in place stop."""
        if not state >> len(self._ids):
            return set()
        return {name for control, stops in self._controls if state & self.bit(control.id) for name in stops}

    def stage(self, state: int) -> Stage:
        """Return the stage at a state; terminal when no exploit is usable."""
        usable = self.usable(state)
        if not usable:
            return TERMINAL
        exploits = [exploit for exploit, _ in usable]
        offered = self.offered(state, exploits)
        self._check_actions(state, len(usable), len(offered))
        attempted = subsets(len(usable), self._graph.attacker_budget)  # indexed [a, e]
        applied = subsets(len(offered), self._graph.defender_budget)  # indexed [d, k]
        stops = np.array([[e.id in its for e in exploits] for _, its in offered], dtype=np.bool_)  # indexed [k, e]
        blocked = applied @ stops.reshape(len(offered), len(usable))  # indexed [d, e]
        alerted = [k for k, e in enumerate(exploits) if self._sees_alerts and e.alert is not None]
        hit = list(dict.fromkeys(c for _, c in usable))
        results = np.array([hit.index(c) for _, c in usable])

        live = (attempted[:, None, :] & ~blocked[None, :, :]).reshape(-1, len(usable))
        told = np.repeat(attempted[:, alerted], len(blocked), axis=0)
        decisive = np.hstack([live, told])  # all of a pair (a, d) that the coins depend on
        first, kind = distinct_rows(decisive)
        live, told = np.split(decisive[first], [len(usable)], axis=1)
        success = np.array([e.success for e in exploits])
        gained_or_not = enabled(success, 1.0 - success, results, live, self.rounded)
        rings = _rings([exploits[k] for k in alerted], told)
        heads, tails = (np.hstack(pair) for pair in zip(gained_or_not, (rings, 1.0 - rings), strict=True))
        self._check_law(state, heads, tails, kind)
        law, faces = coin_law(heads, tails)

        gains = faces[:, : len(hit)]
        masks = [1 << c for c in hit]
        heard = signals([exploits[k].id for k in alerted], faces[:, len(hit) :])
        reached = [state | sum(mask for mask, on in zip(masks, row, strict=True) if on) for row in gains.tolist()]
        bits = [self.bit(control.id) for control, _ in offered]
        law, then = with_placed(law[kind], applied, bits, len(reached))
        attempts = attempted, np.array([e.attack_cost for e in exploits])
        blocks = applied, np.array([control.cost for control, _ in offered])
        return Stage(
            attacker=set_names([e.id for e in exploits], attempted),
            defender=set_names([control.id for control, _ in offered], applied),
            outcomes=tuple(Outcome(reached[o] | bits, heard[o]) for o, bits in then),
            law=law,
            pair=paid(blocks, attempts)[:, :, None],
            outcome=rewarded(gains, self._rewards[hit])[[o for o, _ in then]],
        )

    def _check_actions(self, state: int, n_usable: int, n_offered: int) -> None:
        graph = self._graph
        n_a, n_d = count_sets(n_usable, graph.attacker_budget), count_sets(n_offered, graph.defender_budget)
        width = max(LEAST_WIDTH, n_usable // 8, len(graph.intents))  # exploits are kept as bytes

        def fits(attacker: int, defender: int) -> bool:
            return max(attacker, defender) <= MOST_ACTIONS and attacker * defender * width <= MOST_NUMBERS

        if not fits(n_a, n_d):
            most = max(n_usable, n_offered)
            sizes = [(count_sets(n_usable, budget), count_sets(n_offered, budget)) for budget in range(most)]
            budget = max(b for b, size in enumerate(sizes) if fits(*size))
            made = f"{n_usable} usable exploits" + (f" and {n_offered} controls" if graph.controls is not None else "")
            raise SizeError(
                f"{self._place(state)}: {made} make {n_a} x {n_d} pairs of actions, too many; set attacker_budget and "
                f"defender_budget ({budget} for both makes {sizes[budget][0]} x {sizes[budget][1]})"
            )

    def _check_law(self, state: int, heads: FloatArray, tails: FloatArray, kind: IntArray) -> None:
        per_kind = 2.0 ** ((heads > 0) & (tails > 0)).sum(axis=1)
        entries = float(per_kind @ np.bincount(kind))
        if entries > MOST_NUMBERS:
            raise SizeError(
                f"{self._place(state)}: {len(kind)} pairs of actions lead to {entries:.3g} (pair, outcome) "
                f"combinations, more than {MOST_NUMBERS}; set attacker_budget and defender_budget, "
                "or give fewer exploits an alert that rings when idle"
            )

    def _place(self, state: int) -> str:
        return f"attack graph '{self._graph.name}', state '{self.describe(state)}'"


def with_placed(
    law: sp.csr_array, applied: BoolArray, bits: list[int], n_o: int
) -> tuple[sp.csr_array, list[tuple[int, int]]]:
    """Tell outcomes apart by what the defender puts in place: ``bits[k]`` for each k with ``applied[d, k]``.

    Returns the law, indexed [pair, outcome], and for each outcome the one it was and what is put in place with it.
    """
    if not any(bits):
        return law, [(o, 0) for o in range(n_o)]
    placed = [sum(bit for bit, on in zip(bits, row, strict=True) if on) for row in applied.tolist()]
    kinds = list(dict.fromkeys(placed))
    which = np.tile([kinds.index(bits) for bits in placed], law.shape[0] // len(placed))  # by pair (a, d)
    columns = law.indices + n_o * np.repeat(which, np.diff(law.indptr))
    met, columns = np.unique(columns, return_inverse=True)
    parted = sp.csr_array((law.data, columns, law.indptr), shape=(law.shape[0], len(met)))
    return parted, [(m % n_o, kinds[m // n_o]) for m in met.tolist()]


def _rings(exploits: "Sequence[Exploit]", attempted: BoolArray) -> FloatArray:
    """Probability that each alert rings, indexed [kind, alert], from ``attempted[kind, alert]``."""
    alerts = [e.alert for e in exploits if e.alert is not None]
    return np.where(attempted, [alert.attempted for alert in alerts], [alert.idle for alert in alerts])
