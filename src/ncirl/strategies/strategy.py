"""Strategies as controllers with a private memory; anything that fits can be evaluated, simulated and played.

Per stage: each side mixes over its actions given the public state and its memory; both then see observation i
(`Game.observations`) and the defender's action d, the attacker also knows its own action a; each side's memory moves
on, possibly at random. Public states are those of ``game.timed()``. The defender is never told the intent, nor a where
actions are not seen; neither side is told rewards.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ncirl._typing import FloatArray, State
from ncirl.errors import InputError
from ncirl.model.game import Game

__all__ = [
    "AttackerStrategy",
    "Controller",
    "DefenderStrategy",
    "Memory",
    "StationaryAttacker",
    "StationaryDefender",
    "attacking",
    "defending",
    "uniform_attacker",
    "uniform_defender",
]

Memory = Hashable


class AttackerStrategy(Protocol):
    """How the attacker plays, for every intent at once."""

    def begin(self, state: State) -> Sequence[tuple[Memory, FloatArray]]:
        """Return the memories to start with at `state` and their probabilities per intent, [θ]."""
        ...

    def policy(self, state: State, memory: Memory) -> FloatArray:
        """Return π[a, θ]; every column sums to one."""
        ...

    def after(self, state: State, memory: Memory, a: int, d: int, i: int) -> Sequence[tuple[Memory, FloatArray]]:
        """Return the next memories and their probabilities per intent, [θ], after observation `i`."""
        ...


class DefenderStrategy(Protocol):
    """How the defender plays."""

    def begin(self, state: State) -> Sequence[tuple[Memory, float]]:
        """Return the memories to start with at `state` and their probabilities."""
        ...

    def mix(self, state: State, memory: Memory) -> FloatArray:
        """Return D[d]."""
        ...

    def after(self, state: State, memory: Memory, d: int, i: int) -> Sequence[tuple[Memory, float]]:
        """Return the next memories and their probabilities after its action `d` and observation `i`."""
        ...


@dataclass(frozen=True, eq=False)
class Controller:
    """One side with all that is its own: the attacker of one intent, or the defender, in the same words.

    ``begin(s)`` and ``after(s, m, a, d, i)`` give memories with their probabilities, ``mix(s, m)`` the mixed action.
    """

    begin: Callable[[State], Sequence[tuple[Memory, float]]]
    mix: Callable[[State, Memory], FloatArray]
    after: Callable[[State, Memory, int, int, int], Sequence[tuple[Memory, float]]]


@dataclass(frozen=True, eq=False)
class _OfIntent:
    """The attacker of one intent; methods rather than closures, so that players can be pickled."""

    attacker: AttackerStrategy
    intent: int

    def begin(self, state: State) -> list[tuple[Memory, float]]:
        return self._own(self.attacker.begin(state))

    def mix(self, state: State, memory: Memory) -> FloatArray:
        return self.attacker.policy(state, memory)[:, self.intent]

    def after(self, state: State, memory: Memory, a: int, d: int, i: int) -> list[tuple[Memory, float]]:
        return self._own(self.attacker.after(state, memory, a, d, i))

    def _own(self, options: Sequence[tuple[Memory, FloatArray]]) -> list[tuple[Memory, float]]:
        return [(memory, float(p[self.intent])) for memory, p in options]


@dataclass(frozen=True, eq=False)
class _OfDefender:
    """The defender, told of an action that it does not look at."""

    defender: DefenderStrategy

    def after(self, state: State, memory: Memory, _: int, d: int, i: int) -> Sequence[tuple[Memory, float]]:
        return self.defender.after(state, memory, d, i)


def attacking(attacker: AttackerStrategy, intent: int) -> Controller:
    """Return the attacker of one intent, by number."""
    own = _OfIntent(attacker, intent)
    return Controller(own.begin, own.mix, own.after)


def defending(defender: DefenderStrategy) -> Controller:
    """Return the defender."""
    return Controller(defender.begin, defender.mix, _OfDefender(defender).after)


def _untimed(table: Mapping[State, FloatArray], state: State) -> FloatArray:
    """Look a state up, without its stage number where the table has none."""
    if state in table:
        return table[state]
    if isinstance(state, tuple) and state[-1] in table:
        return table[state[-1]]
    raise InputError(f"stationary strategy: nothing is given for the public state {state!r}; add it to the table")


@dataclass(frozen=True, eq=False)
class StationaryAttacker:
    """Plays π[a, θ] at each public state, whatever happened before.

    Parameters
    ----------
    policies : mapping of State to ndarray of shape (A, Θ)
        π[a, θ] by public state; states may be given without their stage.

    Examples
    --------
    >>> import numpy as np
    >>> import ncirl
    >>> game = ncirl.games.aumann_maschler_1(horizon=2, discount=1.0)
    >>> honest = StationaryAttacker({"play": np.eye(2)})
    >>> ncirl.best_response_to_attacker(game, honest).value  # it earns ½, and is found out
    0.5
    """

    policies: Mapping[State, FloatArray]

    def begin(self, state: State) -> Sequence[tuple[Memory, FloatArray]]:
        """Remember nothing."""
        return [(None, np.ones(self.policy(state, None).shape[1]))]

    def policy(self, state: State, memory: Memory) -> FloatArray:
        """Return π[a, θ]."""
        return _untimed(self.policies, state)

    def after(self, state: State, memory: Memory, a: int, d: int, i: int) -> Sequence[tuple[Memory, FloatArray]]:
        """Remember nothing."""
        return self.begin(state)


@dataclass(frozen=True, eq=False)
class StationaryDefender:
    """Plays D[d] at each public state, whatever happened before.

    Parameters
    ----------
    mixes : mapping of State to ndarray of shape (D,)
        D[d] by public state; states may be given without their stage.

    Examples
    --------
    >>> import numpy as np
    >>> import ncirl
    >>> game = ncirl.games.aumann_maschler_1(horizon=2, discount=1.0)
    >>> deaf = StationaryDefender({"play": np.array([0.5, 0.5])})
    >>> ncirl.best_response_to_defender(game, deaf).value
    1.0
    """

    mixes: Mapping[State, FloatArray]

    def begin(self, state: State) -> Sequence[tuple[Memory, float]]:
        """Remember nothing."""
        return [(None, 1.0)]

    def mix(self, state: State, memory: Memory) -> FloatArray:
        """Return D[d]."""
        return _untimed(self.mixes, state)

    def after(self, state: State, memory: Memory, d: int, i: int) -> Sequence[tuple[Memory, float]]:
        """Remember nothing."""
        return [(None, 1.0)]


def uniform_attacker(game: Game) -> StationaryAttacker:
    """Return the attacker that tries everything equally often, whatever it wants."""
    timed = game.timed()
    sizes = {state: timed.stage(state).shape[0] for state in timed.explore()}
    return StationaryAttacker({state: np.full((n, len(game.intents)), 1 / max(n, 1)) for state, n in sizes.items()})


def uniform_defender(game: Game) -> StationaryDefender:
    """Return the defender that does everything equally often."""
    timed = game.timed()
    sizes = {state: timed.stage(state).shape[1] for state in timed.explore()}
    return StationaryDefender({state: np.full(n, 1 / max(n, 1)) for state, n in sizes.items()})
