r"""The stages of an attack graph: every pair of exploit sets at once, as arrays.

At a public state s with usable exploits e and their results c, sets a (attempted) and d (blocked) leave the live
set a \ d, and independent coins decide what follows:

    P(c enabled | a, d)  = 1 − Π_{e ∈ a \ d, e → c} (1 − success(e)),
    P(alert e rings | a) = attempted(e) if e ∈ a else idle(e).

The law of all coins is worked out once per kind of pair (a, d), that is per live set and alerted attempts, and then
copied to the pairs. A state is the bit mask of its enabled conditions.
"""

from collections.abc import Sequence
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ncirl._typing import FloatArray, IntArray
from ncirl.attack_graphs.names import ALERT, SetName, set_name
from ncirl.errors import SizeError
from ncirl.model.game import Observes
from ncirl.model.stage import TERMINAL, Outcome, Stage

if TYPE_CHECKING:
    from ncirl.attack_graphs.graph import AttackGraph, Exploit

__all__ = ["MOST_ACTIONS", "MOST_NUMBERS", "AttackRules", "count_sets"]

BoolArray = NDArray[np.bool_]

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

    def stage(self, state: int) -> Stage:
        """Return the stage at a state; terminal when no exploit is usable."""
        usable = [(e, c) for e, needs, c in self._edges if needs & ~state == 0 and not state >> c & 1]
        if not usable:
            return TERMINAL
        exploits = [exploit for exploit, _ in usable]
        self._check_actions(state, len(usable))
        attempted = _subsets(len(usable), self._graph.attacker_budget)  # indexed [a, e]
        blocked = _subsets(len(usable), self._graph.defender_budget)  # indexed [d, e]
        alerted = [k for k, e in enumerate(exploits) if self._sees_alerts and e.alert is not None]
        hit = list(dict.fromkeys(c for _, c in usable))
        results = np.array([hit.index(c) for _, c in usable])

        live = (attempted[:, None, :] & ~blocked[None, :, :]).reshape(-1, len(usable))
        told = np.repeat(attempted[:, alerted], len(blocked), axis=0)
        decisive = np.hstack([live, told])  # all of a pair (a, d) that the coins depend on
        first, kind = _distinct_rows(decisive)
        live, told = np.split(decisive[first], [len(usable)], axis=1)
        coins = np.hstack([_enabled(exploits, results, live), _rings([exploits[k] for k in alerted], told)])
        self._check_law(state, coins, kind)
        law, faces = _law(coins)

        gains = faces[:, : len(hit)]
        masks = [1 << c for c in hit]
        signals = _signals([exploits[k].id for k in alerted], faces[:, len(hit) :])
        outcomes = tuple(
            Outcome(state | sum(mask for mask, on in zip(masks, row, strict=True) if on), signal)
            for row, signal in zip(gains.tolist(), signals, strict=True)
        )
        attack_cost = attempted @ np.array([e.attack_cost for e in exploits])
        block_cost = blocked @ np.array([e.block_cost for e in exploits])
        return Stage(
            attacker=_names(exploits, attempted),
            defender=_names(exploits, blocked),
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


def count_sets(n: int, budget: int | None) -> int:
    """Count the sets of at most `budget` of `n` things."""
    return sum(comb(n, size) for size in range(_most(n, budget) + 1))


def _subsets(n: int, budget: int | None) -> BoolArray:
    """List the sets of at most `budget` of `n` things, smallest first, indexed [set, thing]."""
    sets = [chosen for size in range(_most(n, budget) + 1) for chosen in combinations(range(n), size)]
    members = np.zeros((len(sets), n), dtype=np.bool_)
    members[np.repeat(np.arange(len(sets)), [len(s) for s in sets]), [k for s in sets for k in s]] = True
    return members


def _most(n: int, budget: int | None) -> int:
    return n if budget is None else min(n, budget)


def _names(exploits: "Sequence[Exploit]", sets: BoolArray) -> tuple[SetName, ...]:
    return tuple(
        set_name((e.id for e, chosen in zip(exploits, row, strict=True) if chosen), "nothing") for row in sets.tolist()
    )


def _signals(ids: Sequence[str], rung: BoolArray) -> list[str | None]:
    if not ids:
        return [None] * len(rung)
    heard = [[name for name, on in zip(ids, row, strict=True) if on] for row in rung.tolist()]
    return [set_name(names, "quiet", ALERT, ", ") for names in heard]


def _enabled(exploits: "Sequence[Exploit]", results: IntArray, live: BoolArray) -> FloatArray:
    """Probability that each result is enabled, indexed [kind, result], from ``live[kind, e]``."""
    failed = np.where(live, 1 - np.array([e.success for e in exploits]), 1.0)
    return np.column_stack([1 - failed[:, results == c].prod(axis=1) for c in range(results.max() + 1)])


def _rings(exploits: "Sequence[Exploit]", attempted: BoolArray) -> FloatArray:
    """Probability that each alert rings, indexed [kind, alert], from ``attempted[kind, alert]``."""
    alerts = [e.alert for e in exploits if e.alert is not None]
    return np.where(attempted, [alert.attempted for alert in alerts], [alert.idle for alert in alerts])


def _law(coins: FloatArray) -> tuple[sp.csr_array, BoolArray]:
    """Work out what independent coins show: the law, indexed [row, outcome], and the outcomes as [outcome, coin]."""
    rows = np.arange(len(coins))
    chances = np.ones(len(coins))
    faces = np.zeros(coins.shape, dtype=np.bool_)
    for c in range(coins.shape[1]):
        heads = coins[rows, c]
        down, up = np.flatnonzero(heads < 1), np.flatnonzero(heads > 0)
        chances = np.concatenate([chances[down] * (1 - heads[down]), chances[up] * heads[up]])
        both = np.concatenate([down, up])
        rows, faces = rows[both], faces[both]
        faces[len(down) :, c] = True
    possible = chances > 0  # a product may underflow
    rows, chances, faces = rows[possible], chances[possible], faces[possible]
    first, outcome = _distinct_rows(faces)
    return sp.csr_array((chances, (rows, outcome)), shape=(len(coins), len(first))), faces[first]


def _distinct_rows(table: BoolArray) -> tuple[IntArray, IntArray]:
    """Return one place of each distinct row and, for every row, which of those it equals."""
    octets = np.packbits(table, axis=1, bitorder="little")
    words = np.pad(octets, ((0, 0), (0, -octets.shape[1] % 8))).view("<u8")
    first, number = np.zeros(1, dtype=np.intp), np.zeros(len(table), dtype=np.intp)
    for word in words.T:
        _, rank = np.unique(word, return_inverse=True)
        _, first, number = np.unique(number * (rank.max() + 1) + rank, return_index=True, return_inverse=True)
    return first, number
