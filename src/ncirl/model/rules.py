"""Rules of games that can be sent to another process: games made from games, and games as tables.

A game made from a function that has a name of its own is sent by that name. Any other rule, a lambda, a closure, is
sent as the table of its reachable states: what is played is the same, only met beforehand.
"""

import pickle
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ncirl._typing import State
from ncirl.model.stage import TERMINAL, Stage

if TYPE_CHECKING:
    from ncirl.model.game import Game

__all__ = ["Described", "Rescaled", "Table", "Timed", "TimedText", "pickles"]


@dataclass(frozen=True, eq=False)
class Timed:
    """The rule of a game with a horizon: public states are (t, s), and stage `last` is terminal."""

    game: "Game"
    last: int

    def __call__(self, timed_state: tuple[int, State]) -> Stage:
        """Return the stage played at (t, s)."""
        t, state = timed_state
        return TERMINAL if t >= self.last else self.game.stage(state).with_states(lambda successor: (t + 1, successor))


@dataclass(frozen=True, eq=False)
class TimedText:
    """What people call (t, s)."""

    game: "Game"

    def __call__(self, timed: tuple[int, State]) -> str:
        """Describe (t, s)."""
        return f"{self.game.describe(timed[1])} at stage {timed[0] + 1}"


@dataclass(frozen=True, eq=False)
class Rescaled:
    """The rule of the same game with every reward R replaced by ``factor * R + shift``."""

    game: "Game"
    factor: float
    shift: float

    def __call__(self, state: State) -> Stage:
        """Return the stage played at a state."""
        return self.game.stage(state).rescaled(self.factor, self.shift)


@dataclass(frozen=True, eq=False)
class Table:
    """A rule as a table; what is not in it is a `KeyError` of the state."""

    stages: Mapping[State, Stage]

    def __call__(self, state: State) -> Stage:
        """Return the stage played at a state."""
        return self.stages[state]


@dataclass(frozen=True, eq=False)
class Described:
    """What people call states, as a table."""

    texts: Mapping[State, str]

    def __call__(self, state: State) -> str:
        """Describe a state."""
        return self.texts.get(state, str(state))


def pickles(function: Callable[..., Any]) -> bool:
    """Tell whether a rule can be sent as it is."""
    if isinstance(function, Timed | TimedText | Rescaled | Table | Described):
        return True
    try:
        pickle.dumps(function)
    except Exception:  # whatever its parts raise
        return False
    return True
