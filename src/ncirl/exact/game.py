"""The game of a policy file, rebuilt exactly: the prior divided by its total, the stages, how long a play weighs.

A place is a public state with the stage number of play there, -1 in a game without a horizon; at stage ``horizon`` play
is over. No play weighs more than

    N = Σ_{t < horizon} γ^t,        1 / (1 − γ) where there is no horizon.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from ncirl.exact.arithmetic import LEAST, has_small, is_distribution, normalised
from ncirl.exact.reading import Contents
from ncirl.exact.stage import OVER, Observation, Stage, read_stages

__all__ = ["Game", "Place", "read_game"]

LONGEST = 10**9  # stages
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
    faults: Sequence[str]  # what keeps the prior from being one

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
    def length(self) -> tuple[Fraction, Fraction]:
        """N, how much a play can weigh, from below and from above: the same where play is infinite or undiscounted."""
        if self.horizon is None:
            return (1 / (1 - self.discount),) * 2
        if self.discount == 1:
            return (Fraction(self.horizon),) * 2
        low, high = _power(self.discount, self.horizon)
        return (1 - high) / (1 - self.discount), (1 - low) / (1 - self.discount)


def _power(base: Fraction, exponent: int) -> tuple[Fraction, Fraction]:
    """Return base ** exponent from below and from above, by squaring, rounded to `FINE` bits after the point."""
    one = 2**FINE
    low = high = one
    low_square, high_square = math.floor(base * one), math.ceil(base * one)
    while exponent:
        if exponent % 2:
            low, high = low * low_square // one, -(-high * high_square // one)
        low_square, high_square = low_square**2 // one, -(-(high_square**2) // one)
        exponent //= 2
    return Fraction(low, one), Fraction(high, one)


def read_game(contents: Contents) -> Game:
    """Rebuild the game of a file; raises InputError where parts are missing, do not fit together, or are no game."""
    intents, states = contents.names("game.intents"), contents.names("game.states")
    if not intents or len(set(intents)) != len(intents):
        raise contents.fault("header: 'game.intents' must name at least one intent, and none twice")
    if len(set(states)) != len(states):
        raise contents.fault("header: a state appears twice in 'game.states'")
    discount, horizon = Fraction(contents.number("game.discount")), contents.value("game.horizon", int, type(None))
    if not 0 <= discount <= 1 or (discount == 1 and horizon is None):
        raise contents.fault("header: 'game.discount' must lie in [0, 1), or be 1 where there is a horizon")
    if horizon is not None and not 1 <= horizon <= LONGEST:
        raise contents.fault(f"header: 'game.horizon' must lie between 1 and {LONGEST}")
    observes = contents.value("game.observes", str)
    if observes not in ("actions", "outcomes"):
        raise contents.fault("header: 'game.observes' must be 'actions' or 'outcomes'")
    stages = read_stages(contents, len(states), len(intents), observes == "actions")
    at = contents.integers("start_state", None, least=0, below=len(states))
    given = contents.floats("start_mass", len(at), len(intents))
    faults = [f"prior: a probability lies between 0 and {LEAST:g}"] if has_small(given) else []
    return Game(len(intents), discount, horizon, stages, _prior(contents, at, given, len(intents)), faults)


def _prior(
    contents: Contents, at: Sequence[int], given: Sequence[float], n_intents: int
) -> list[tuple[int, Sequence[Fraction]]]:
    """Return each start with its row of the prior, divided by the total."""
    rows = [slice(k * n_intents, (k + 1) * n_intents) for k in range(len(at))]
    if len(set(at)) != len(at) or not is_distribution(given) or not all(any(given[row]) for row in rows):
        raise contents.fault("the prior must sum to one over distinct start states, each with a positive probability")
    masses = normalised(given)
    return [(state, masses[row]) for state, row in zip(at, rows, strict=True)]
