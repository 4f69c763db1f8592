"""What can be done at a state of a game side by side (`hidden`): plans of the attacker, one a mode, and defences.

A plan says of every kind of exploits how many are attempted (`alike`). An action is a plan for each mode, so there are
very many of them: a *menu* lists those that are on offer at a state. Whatever it lists, who chooses from it is an
attacker of the game, so any menu bounds from below; `menus` finds out which actions are of use.
"""

from functools import cached_property
from itertools import product
from math import prod
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from ncirl._typing import BoolArray, FloatArray, IntArray
from ncirl.attack_graphs.coins import coin_law, enabled
from ncirl.attack_graphs.guarded.alike import amount_names, amounts, count_amounts, kinds

if TYPE_CHECKING:
    from ncirl.attack_graphs.guarded.hidden import Hidden

__all__ = ["Action", "Here", "Menu"]

MOST_ATTEMPTS, MOST_PAIRS = 2**9, 2**12  # actions, and pairs of them, up to which anything is attempted in any mode

Action = tuple[tuple[int, ...], ...]  # how many of each kind, mode by mode
Menu = tuple[Action, ...]


class Here:
    """What can be done at a state: the attacker's actions are one plan for each mode."""

    def __init__(self, rules: "Hidden", state: int) -> None:
        self.rules = rules
        self.mask, self.team = rules.parted(state)
        self.modes = rules.modes[self.team]
        self.usable = rules.leading(self.mask, self.team)
        exploits = [exploit for exploit, _ in self.usable]
        self.kinds, self.watches = kinds(self.usable, rules.offered(self.mask, exploits), rules.by_number)
        self.sizes = [kind.size for kind in self.kinds]
        self.hit = list(dict.fromkeys(kind.result for kind in self.kinds))
        self.menu = tuple(action for action in rules.menus.get(state, ()) if self._fits(action))

    def _fits(self, action: Action) -> bool:
        """Tell whether an action is one: what a file lists may be anything."""
        return len(action) == len(self.modes) and all(
            len(plan) == len(self.sizes) and all(0 <= n <= most for n, most in zip(plan, self.sizes, strict=True))
            for plan in action
        )

    @property
    def n_attacks(self) -> int:
        """How many actions the attacker has."""
        return len(self.menu) or prod(map(len, self.plans))

    @property
    def n_defences(self) -> int:
        """How many the defender has."""
        return count_amounts([len(watch.controls) for watch in self.watches], self.rules.graph.defender_budget)

    @cached_property
    def plans(self) -> list[IntArray]:
        """What may be attempted in each mode, [plan, kind]: what is on the menu or, without one, `unlisted`."""
        if not self.menu:
            return self.unlisted
        return [np.array(list(dict.fromkeys(action[m] for action in self.menu))) for m in range(len(self.modes))]

    @cached_property
    def unlisted(self) -> list[IntArray]:
        """Anything or, where that is too much, nothing, all of its own, all."""
        n_a = prod(size + 1 for size in self.sizes) ** len(self.modes)
        if n_a <= MOST_ATTEMPTS and n_a * self.n_defences <= MOST_PAIRS:
            return [amounts(self.sizes)] * len(self.modes)
        found = []
        for mode in self.modes:
            own = {e.id for e, _ in self.rules.leading(self.mask, mode.team)}
            its = tuple(kind.size * (kind.exploits[0].id in own) for kind in self.kinds)
            found.append(np.array(sorted({(0,) * len(self.kinds), its, tuple(self.sizes)}), dtype=np.intp))
        return found

    @cached_property
    def chosen(self) -> IntArray:
        """The plan of each mode, per action, [a, mode]."""
        if not self.menu:
            return np.array(list(product(*(range(len(its)) for its in self.plans))), dtype=np.intp)
        number = [{tuple(plan): p for p, plan in enumerate(its.tolist())} for its in self.plans]
        return np.array([[number[m][plan] for m, plan in enumerate(action)] for action in self.menu], dtype=np.intp)

    @cached_property
    def applied(self) -> IntArray:
        """How many controls of each watch a defence applies, [d, watch]."""
        return amounts([len(watch.controls) for watch in self.watches], self.rules.graph.defender_budget)

    @cached_property
    def blocked(self) -> IntArray:
        """How many of each kind a defence stops, [d, kind]."""
        stops = np.array([[k in watch.stops for k in range(len(self.kinds))] for watch in self.watches], dtype=np.intp)
        found: IntArray = np.minimum(self.applied @ stops.reshape(len(self.watches), len(self.kinds)), self.sizes)
        return found

    @property
    def cost(self) -> FloatArray:
        """What each defence costs, [d]."""
        found: FloatArray = self.applied @ np.array([watch.cost for watch in self.watches])
        return found

    def attack_cost(self, plans: IntArray) -> FloatArray:
        """Return what plans cost, [plan]."""
        found: FloatArray = plans @ np.array([kind.exploits[0].attack_cost for kind in self.kinds])
        return found

    def law(self, plans: IntArray) -> tuple[sp.csr_array, BoolArray]:
        """Return what follows plans, [(plan, d), outcome], and which of `hit` each outcome brings, [outcome, hit]."""
        code = np.zeros((len(plans), len(self.blocked)), dtype=np.intp)
        for k, size in enumerate(self.sizes):
            code = (code * (size + 1) + plans[:, [k]]) * (size + 1) + self.blocked[None, :, k]
        _, first, kind = np.unique(code, return_index=True, return_inverse=True)
        tried, stopped = plans[first // len(self.blocked)], self.blocked[first % len(self.blocked)]
        pairs = [its.outcomes() for its in self.kinds]  # some of a kind, and none
        some, none = (np.column_stack([p[i][tried[:, k], stopped[:, k]] for k, p in enumerate(pairs)]) for i in (0, 1))
        results = np.array([self.hit.index(its.result) for its in self.kinds])
        law, gained = coin_law(*enabled(some, none, results, np.ones(some.shape, dtype=np.bool_), self.rules.rounded))
        return sp.csr_array(law[kind.ravel()]), gained

    def masks(self, gained: BoolArray) -> list[int]:
        """Return the conditions that hold after each outcome."""
        return [self.mask | sum(1 << c for c, on in zip(self.hit, row, strict=True) if on) for row in gained.tolist()]

    @property
    def attacks(self) -> tuple[str, ...]:
        """Names of the attacker's actions, numbered, since ids may have any mark in them."""
        names = [amount_names([[e.id for e in kind.exploits] for kind in self.kinds], its) for its in self.plans]
        rows = enumerate(self.chosen.tolist())
        return tuple(f"{a}: " + " | ".join(names[m][p] for m, p in enumerate(row)) for a, row in rows)

    @property
    def defences(self) -> tuple[str, ...]:
        """Names of the defender's actions."""
        return amount_names([watch.controls for watch in self.watches], self.applied)
