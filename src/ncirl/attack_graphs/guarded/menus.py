r"""What is worth attempting where: menus for games side by side (`hidden`), by actions that are added when missed.

At a state, with a plan a_μ for each mode μ of chance w_μ, and v what the game is worth there,

    v = val [ β(d) + Σ_μ w_μ (r̄_μ + γ V_μ − κ)(a_μ, d) ],        V_μ = v where everything stays as it is.

There are as many actions as the product of the plans of all modes, but the payoff is a *sum* over modes: against a
mixed defence y the best action is the best plan of each mode by itself. So an action enters the menu when the best one
against y gets more than v, until none does; v is what makes the two sides agree, by Newton's method,

    v ← x'(gain) y / (1 − γ x'(stay) y),        x, y optimal for the v before,

or by halves where that leads away. A menu of a few actions then secures what all of them would. Values only tell which
teams to play (`hideout`): whatever is chosen is solved again, with playbooks, and verified.
"""

from collections.abc import Callable, Mapping
from math import inf, prod

import numpy as np

from ncirl._typing import FloatArray, IntArray
from ncirl.attack_graphs.guarded.alike import amounts
from ncirl.attack_graphs.guarded.here import Here, Menu
from ncirl.attack_graphs.guarded.hidden import Hidden
from ncirl.attack_graphs.guarded.teams import Team
from ncirl.limits import Limits
from ncirl.solvers.matrix_game import matrix_game

__all__ = ["Menus"]

TOLERANCE = 1e-6  # of what a state is worth, relative to the largest reward there
MOST_PLANS = 2**7  # of a mode, up to which all of them are looked at
MOST_STEPS = 30  # of Newton's method, and actions that are added
USED = 1e-7  # how likely an action is at least that stays on the menu

Worth = Callable[[int], float]  # of the conditions that hold


class Menus:
    """What a team gets by a component once it is known, and by which actions; worked out when it is asked for.

    Parameters
    ----------
    rules : Hidden
        Of the component, the team being the first.
    parts : mapping of Team to Menus
        Of the teams that it may show to be in.
    """

    def __init__(self, rules: Hidden, parts: Mapping[Team, "Menus"]) -> None:
        self.rules, self.parts = rules, parts
        self.value: dict[int, float] = {}  # by the conditions that hold
        self.menu: dict[int, Menu] = {}

    def worth(self, mask: int, limits: Limits) -> float:
        """Return what the team gets from here on."""
        if mask not in self.value:
            here = self.rules.here(self.rules.joined(mask, 0))
            if not here.kinds:
                self.value[mask] = 0.0
            else:
                limits.check("looking for what to attempt")
                after = [self._after(mode.team, limits) for mode in here.modes]
                self.value[mask], self.menu[mask] = _Stage(here, after).solved()
        return self.value[mask]

    def _after(self, team: int, limits: Limits) -> Worth:
        known = self if team == 0 else self.parts[self.rules.teams[team]]
        return lambda mask: known.worth(mask, limits)


class _Stage:
    """One state: what plans bring in each mode, [plan, d], and how likely everything stays as it is."""

    def __init__(self, here: Here, after: list[Worth]) -> None:
        rules, n_d = here.rules, len(here.blocked)
        self.discount, self.plans = float(rules.graph.discount), _plans(here)
        law, gained = here.law(self.plans)
        self.cost, attack = here.cost, here.attack_cost(self.plans)
        self.gains: list[FloatArray] = []
        self.stays: list[FloatArray] = []
        for mode, its in zip(here.modes, after, strict=True):
            is_same = np.array([mode.team == here.team and mask == here.mask for mask in here.masks(gained)])
            then = [0.0 if same else its(mask) for same, mask in zip(is_same, here.masks(gained), strict=True)]
            brought = gained @ rules.means[mode.team][here.hit] + self.discount * np.array(then)
            self.gains.append(mode.chance * ((law @ brought).reshape(-1, n_d) - attack[:, None]))
            self.stays.append(mode.chance * (law @ is_same.astype(np.float64)).reshape(-1, n_d))
        self.close = TOLERANCE * max(float(np.abs(rules.means[mode.team]).max()) for mode in here.modes)

    def solved(self) -> tuple[float, Menu]:
        """Return what the state is worth, and the actions that secure it."""
        rows, v = [[0] * len(self.gains), [len(self.plans) - 1] * len(self.gains)], 0.0
        while True:
            v, x, y = self._agreed(np.array(rows), v)
            best = [int(gain.argmax()) for gain in self._against(y, v)]
            most = float(self.cost @ y) + sum(float(gain.max()) for gain in self._against(y, v))
            if most <= v + self.close or best in rows or len(rows) > MOST_STEPS:
                break
            rows.append(best)
        kept = [row for row, likely in zip(rows, x.tolist(), strict=True) if likely > USED or row is rows[0]]
        return v, tuple(tuple(tuple(self.plans[p].tolist()) for p in row) for row in kept)

    def _against(self, y: FloatArray, v: float) -> list[FloatArray]:
        """Return what each plan brings against a mixed defence, mode by mode."""
        return [(gain + self.discount * v * stay) @ y for gain, stay in zip(self.gains, self.stays, strict=True)]

    def _agreed(self, rows: IntArray, v: float) -> tuple[float, FloatArray, FloatArray]:
        """Return what the state is worth with these actions, and how both sides play."""
        gain = self.cost + sum(its[rows[:, m]] for m, its in enumerate(self.gains))
        stay = self.discount * sum(its[rows[:, m]] for m, its in enumerate(self.stays))
        low, high = -inf, inf
        for _ in range(MOST_STEPS):
            game = matrix_game(gain + v * stay)
            x, y = game.row_strategy, game.column_strategy
            off = game.value - v  # the value rises with v, but more slowly
            if abs(off) <= self.close * (1.0 - self.discount):
                break
            low, high = (max(low, v + off), high) if off > 0 else (low, min(high, v + off))
            v = float(x @ gain @ y / (1.0 - x @ stay @ y))
            if not low < v < high:
                v = (low + high) / 2 if high - low < inf else low + off / (1.0 - self.discount)
        return v, x, y


def _plans(here: Here) -> IntArray:
    """List the plans to choose from, nothing first and everything last: all, or so many of each kind at most."""
    if prod(size + 1 for size in here.sizes) <= MOST_PLANS:
        return amounts(here.sizes)
    own = [{e.id for e, _ in here.rules.leading(here.mask, mode.team)} for mode in here.modes]
    mine = [[kind.exploits[0].id in its for kind in here.kinds] for its in [*own, {e.id for e, _ in here.usable}]]
    rows = {
        tuple(min(n, size) * on for size, on in zip(here.sizes, its, strict=True))
        for its in mine
        for n in range(max(here.sizes) + 1)
    }
    return np.array(sorted(rows), dtype=np.intp)
