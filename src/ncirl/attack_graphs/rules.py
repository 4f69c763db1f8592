r"""The stages of an attack graph: every pair of exploit sets at once, as arrays.

At a public state s with usable exploits e and their results c, sets a (attempted) and d (blocked) leave the live
set a \ d, and independent coins decide what follows:

    P(c enabled | a, d)  = 1 − Π_{e ∈ a \ d, e → c} (1 − success(e)),
    P(alert e rings | a) = attempted(e) if e ∈ a else idle(e).

The law of all coins is worked out once per kind of pair (a, d), that is per live set and alerted attempts, and then
copied to the pairs. A state is the bit mask of its enabled conditions.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ncirl._typing import BoolArray, FloatArray, IntArray
from ncirl.attack_graphs.coins import coin_law, count_sets, distinct_rows, enabled, subsets
from ncirl.attack_graphs.names import SetName, set_name, set_names, signals
from ncirl.errors import SizeError
from ncirl.model.game import Observes
from ncirl.model.stage import TERMINAL, Outcome, Stage

if TYPE_CHECKING:
    from ncirl.attack_graphs.graph import AttackGraph, Exploit

__all__ = ["MOST_ACTIONS", "MOST_NUMBERS", "AttackRules", "count_sets"]

MOST_ACTIONS = 4096  # of one player in one state
MOST_NUMBERS = 2**24  # in any one array of a stage: 128 MiB of floats
LEAST_WIDTH = 8  # numbers per pair of actions that sorting the pairs by kind takes


class AttackRules:
    """What the stages of one attack graph are made from."""

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

    def describe(self, state: int) -> SetName:
        """Name a state by what has been enabled since the start; no two states share a name."""
        gained = state & ~self.start
        return set_name((name for k, name in enumerate(self._ids) if gained >> k & 1), "start")

    def usable(self, state: int) -> "list[tuple[Exploit, int]]":
        """List the exploits that can be attempted or blocked at a state, each with the number of its result."""
        return [(e, c) for e, needs, c in self._edges if needs & ~state == 0 and not state >> c & 1]

    def stage(self, state: int) -> Stage:
        """Return the stage at a state; terminal when no exploit is usable."""
        usable = self.usable(state)
        if not usable:
            return TERMINAL
        exploits = [exploit for exploit, _ in usable]
        self._check_actions(state, len(usable))
        attempted = subsets(len(usable), self._graph.attacker_budget)  # indexed [a, e]
        blocked = subsets(len(usable), self._graph.defender_budget)  # indexed [d, e]
        alerted = [k for k, e in enumerate(exploits) if self._sees_alerts and e.alert is not None]
        hit = list(dict.fromkeys(c for _, c in usable))
        results = np.array([hit.index(c) for _, c in usable])

        live = (attempted[:, None, :] & ~blocked[None, :, :]).reshape(-1, len(usable))
        told = np.repeat(attempted[:, alerted], len(blocked), axis=0)
        decisive = np.hstack([live, told])  # all of a pair (a, d) that the coins depend on
        first, kind = distinct_rows(decisive)
        live, told = np.split(decisive[first], [len(usable)], axis=1)
        success = np.array([e.success for e in exploits])
        coins = np.hstack([enabled(success, results, live), _rings([exploits[k] for k in alerted], told)])
        self._check_law(state, coins, kind)
        law, faces = coin_law(coins)

        gains = faces[:, : len(hit)]
        masks = [1 << c for c in hit]
        heard = signals([exploits[k].id for k in alerted], faces[:, len(hit) :])
        outcomes = tuple(
            Outcome(state | sum(mask for mask, on in zip(masks, row, strict=True) if on), signal)
            for row, signal in zip(gains.tolist(), heard, strict=True)
        )
        ids = [e.id for e in exploits]
        attack_cost = attempted @ np.array([e.attack_cost for e in exploits])
        block_cost = blocked @ np.array([e.block_cost for e in exploits])
        return Stage(
            attacker=set_names(ids, attempted),
            defender=set_names(ids, blocked),
            outcomes=outcomes,
            law=law[kind],
            pair=(block_cost[None, :] - attack_cost[:, None])[:, :, None],
            outcome=gains @ self._rewards[hit],
        )

    def _check_actions(self, state: int, n_usable: int) -> None:
        graph = self._graph
        n_a, n_d = count_sets(n_usable, graph.attacker_budget), count_sets(n_usable, graph.defender_budget)
        width = max(LEAST_WIDTH, n_usable // 8, len(graph.intents))  # exploits are kept as bytes

        def fits(attacker: int, defender: int) -> bool:
            return max(attacker, defender) <= MOST_ACTIONS and attacker * defender * width <= MOST_NUMBERS

        if not fits(n_a, n_d):
            sizes = [count_sets(n_usable, budget) for budget in range(n_usable)]
            budget = max(b for b, size in enumerate(sizes) if fits(size, size))
            raise SizeError(
                f"{self._place(state)}: {n_usable} usable exploits make {n_a} x {n_d} pairs of actions, too many; "
                f"set attacker_budget and defender_budget ({budget} for both makes {sizes[budget]} x {sizes[budget]})"
            )

    def _check_law(self, state: int, coins: FloatArray, kind: IntArray) -> None:
        per_kind = 2.0 ** ((coins > 0) & (coins < 1)).sum(axis=1)
        entries = float(per_kind @ np.bincount(kind))
        if entries > MOST_NUMBERS:
            raise SizeError(
                f"{self._place(state)}: {len(kind)} pairs of actions lead to {entries:.3g} (pair, outcome) "
                f"combinations, more than {MOST_NUMBERS}; set attacker_budget and defender_budget, "
                "or give fewer exploits an alert that rings when idle"
            )

    def _place(self, state: int) -> str:
        return f"attack graph '{self._graph.name}', state '{self.describe(state)}'"


def _rings(exploits: "Sequence[Exploit]", attempted: BoolArray) -> FloatArray:
    """Probability that each alert rings, indexed [kind, alert], from ``attempted[kind, alert]``."""
    alerts = [e.alert for e in exploits if e.alert is not None]
    return np.where(attempted, [alert.attempted for alert in alerts], [alert.idle for alert in alerts])
