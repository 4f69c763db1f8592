"""The game of a policy file, rebuilt exactly: the prior divided by its total, the stages, how long a play weighs.

A place is a public state with the stage number of play there, -1 in a game without a horizon; at stage ``horizon`` play
is over. No play weighs more than

    N = Σ_{t < horizon} γ^t,        1 / (1 − γ) where there is no horizon.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from ncirl.exact.rationals import TOLERANCE, ZERO, exact
from ncirl.exact.reading import Contents
from ncirl.exact.stage import OVER, Observation, Stage, read_stages

__all__ = ["MOST_STAGES", "Game", "Place", "read_game"]

MOST_STAGES = 2**31
FINE = 320  # bits after the point in powers of the discount

Place = tuple[int, int]  # public state and stage number


@dataclass(frozen=True)
class Game:
    """The contest: stages by the number of their state, and the prior P0(s, θ)."""

    n_intents: int
    discount: Fraction
    horizon: int | None
    stages: Sequence[Stage]
    starts: Sequence[tuple[int, Sequence[Fraction]]]  # a state and its row of the prior

    def at(self, place: Place) -> Stage:
        """Return the stage played at a place; beyond the horizon there is none."""
        state, t = place
        return self.stages[state] if self.horizon is None or t < self.horizon else OVER

    def over(self, place: Place) -> bool:
        """Tell whether play has ended at a place."""
        return self.at(place).n_a == 0

    def beginning(self, state: int) -> Place:
        """Return the place of a start."""
        return state, -1 if self.horizon is None else 0

    def after(self, place: Place, observation: Observation) -> Place:
        """Return the place that follows."""
        return observation.successor, -1 if self.horizon is None else place[1] + 1

    @cached_property
    def length(self) -> Fraction:
        """N, how much a play can weigh: Σ γ^t over its stages.

        Exact where play is infinite or not discounted; powers of γ are otherwise rounded down, and N so up.
        """
        if self.horizon is None:
            return 1 / (1 - self.discount)
        if self.discount == 1:
            return Fraction(self.horizon)
        return (1 - _power_from_below(self.discount, self.horizon)) / (1 - self.discount)


def _power_from_below(base: Fraction, exponent: int) -> Fraction:
    """Return at most base ** exponent, and less by next to nothing."""
    one = 2**FINE
    power, square = one, math.floor(base * one)
    while exponent:
        if exponent % 2:
            power = power * square // one
        square, exponent = square * square // one, exponent // 2
    return Fraction(power, one)


def read_game(contents: Contents) -> Game:
    """Rebuild the game of a file.

    Raises
    ------
    InputError
        When parts are missing, do not fit together, or are no game.
    """
    intents, states = contents.names("game.intents"), contents.names("game.states")
    if not intents or len(set(intents)) != len(intents):
        raise contents.fault("header: 'game.intents' must name at least one intent, and none twice")
    if len(set(states)) != len(states):
        raise contents.fault("header: a state appears twice in 'game.states'")
    discount, horizon = Fraction(contents.number("game.discount")), contents.value("game.horizon", int, type(None))
    if not 0 <= discount <= 1 or (discount == 1 and horizon is None):
        raise contents.fault("header: 'game.discount' must lie in [0, 1), or be 1 where there is a horizon")
    if horizon is not None and not 1 <= horizon <= MOST_STAGES:
        raise contents.fault(f"header: 'game.horizon' must lie between 1 and {MOST_STAGES}")
    observes = contents.value("game.observes", str)
    if observes not in ("actions", "outcomes"):
        raise contents.fault("header: 'game.observes' must be 'actions' or 'outcomes'")
    stages = read_stages(contents, len(states), len(intents), observes == "actions")
    return Game(len(intents), discount, horizon, stages, _prior(contents, len(states), len(intents)))


def _prior(contents: Contents, n_states: int, n_intents: int) -> list[tuple[int, Sequence[Fraction]]]:
    at = contents.integers("start_state", None, least=0, below=n_states)
    masses = exact(contents.floats("start_mass", len(at), n_intents))
    if masses is None or any(mass < 0 for mass in masses):
        raise contents.fault("array 'start_mass': a probability is negative or not finite")
    rows = [masses[k * n_intents : (k + 1) * n_intents] for k in range(len(at))]
    total = sum(masses, ZERO)
    if len(set(at)) != len(at) or not all(map(any, rows)) or abs(total - 1) > TOLERANCE:
        raise contents.fault("the prior must sum to one over distinct start states, each with a positive probability")
    return [(state, [mass / total for mass in row]) for state, row in zip(at, rows, strict=True)]
