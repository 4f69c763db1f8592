"""Strategies at any information state, by one warm linear program.

Attacker: the memory is the belief b. It plays π(a | s, θ) = A(a, θ) / b(θ), A the plan of P_A(s, b) on the points
stored, and moves on to the posterior. With a hull this secures the stored value L: the hull's points were themselves
secured by P_A on an earlier and lower hull, and P_A is concave in b, so L(s, b) ≤ P_A(s, b) at every belief met.

Defender: the memory is the promise ᾱ, a vector per intent. It plays D of P_D(s, −ᾱ) and after observation i promises
the mean of the mixture there, ᾱ_i = Σ_j μ_ij α_j / Σ_j μ_ij. It starts from the vector best at the belief of the start,
−ζ0 with ζ0 ∈ −∂v(s0, b0). It never sees a belief, nor the plan of the attacker. With a hull it keeps what it promises:
every vector was conceded by P_D on vectors that are still there, or on others nowhere below those that are, and so are
their means.

The sawtooth looks at one point or vector at a time and not always the same; play on it may fall short of the bounds.

**What has probability zero.** The attacker's belief stays as it was after what its plan makes impossible (`belief`).
An observation that the defender's own mixed action makes impossible has no mixture; that can only happen when someone
else acted in its place, and then it promises the vector that is best at the prior.

Memories are rounded to `DIGITS` digits, so that play which meets the same information state again knows it. P_A moves
with b by at most |b − b'|₁ times the value, P_D with the promise by at most the largest difference, so this costs no
more per stage. Programs with several best answers give the one next to the last solved, so every answer is remembered.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np

from ncirl._typing import FloatArray, State
from ncirl.lp.defender import DefenderProgram
from ncirl.lp.point_program import PointProgram
from ncirl.lp.state_arrays import StateArrays
from ncirl.model.belief import policy_of, posterior
from ncirl.model.game import Game
from ncirl.model.quotient import Quotient
from ncirl.strategies.quotient_map import QuotientMap
from ncirl.strategies.remembered import Remembered
from ncirl.strategies.strategy import Memory

__all__ = ["DIGITS", "ProgramAttacker", "ProgramDefender", "remembered", "vector_of"]

DIGITS = 10


def remembered(vector: FloatArray) -> Memory:
    """Return a belief or a promise as a memory."""
    return tuple((np.round(vector, DIGITS) + 0.0).tolist())  # no negative zeros


def vector_of(memory: Memory) -> FloatArray:
    """Return a memory as the belief or the promise it is."""
    return np.array(memory, dtype=np.float64)


class Points(Protocol):
    """What an attacker takes to the table."""

    @property
    def game(self) -> Game:
        """With equivalent states merged."""

    def program(self, state: State) -> PointProgram:
        """Return P_A at a state, over all that is stored."""


class Vectors(Protocol):
    """What a defender takes to the table."""

    @property
    def arrays(self) -> Mapping[State, StateArrays]:
        """Of every state that is played."""

    def known(self, state: State) -> FloatArray:
        """Return every vector stored at a state, [j, θ]."""

    def program(self, state: State) -> DefenderProgram:
        """Return P_D at a state."""


class Programs(Protocol):
    """A solution that has both."""

    @property
    def game(self) -> Game:
        """As it was given."""

    @property
    def merged(self) -> Quotient:
        """Of its timed twin."""

    @property
    def attacker_side(self) -> Points:
        """From below."""

    @property
    def defender_side(self) -> Vectors:
        """From above."""


class ProgramAttacker:
    """The attacker of NC-PBVI, and of whoever has points."""

    def __init__(self, solution: Programs) -> None:
        self._words = QuotientMap(solution.game.timed(), solution.merged)
        self._side = solution.attacker_side
        self._certain = np.ones(len(solution.game.intents))
        self._program = Remembered(self._side.program)
        self._answer = Remembered(self._answered, sent=True)

    def begin(self, state: State) -> Sequence[tuple[Memory, FloatArray]]:
        """Begin with the belief of the start."""
        return [(remembered(self._words.belief(state)), self._certain)]

    def policy(self, state: State, memory: Memory) -> FloatArray:
        """Return π[a, θ]."""
        return self._words.attacker_actions(state, self._answer(self._words.number(state), memory))

    def after(self, state: State, memory: Memory, a: int, d: int, i: int) -> Sequence[tuple[Memory, FloatArray]]:
        """Move on to the posterior."""
        place = self._words.number(state)
        seen = self._side.game.observations(place)
        plan = self._answer(place, memory) * vector_of(memory)
        return [(remembered(posterior(seen, plan, self._words.observation(state, i))), self._certain)]

    def _answered(self, place: int, memory: Memory) -> FloatArray:
        """Return π[k, θ] over the actions of the merged game."""
        return policy_of(self._program(place).solve(vector_of(memory)).plan)


class ProgramDefender:
    """The defender of NC-PBVI, and of whoever has vectors."""

    def __init__(self, solution: Programs) -> None:
        self._words = QuotientMap(solution.game.timed(), solution.merged)
        self._side = solution.defender_side
        self._program = Remembered(self._side.program)
        self._answer = Remembered(self._answered, sent=True)

    def begin(self, state: State) -> Sequence[tuple[Memory, float]]:
        """Begin with the vector that is best at the belief of the start."""
        alphas, belief = self._side.known(self._words.number(state)), self._words.belief(state)
        return [(remembered(alphas[(alphas @ belief).argmin()]), 1.0)]

    def mix(self, state: State, memory: Memory) -> FloatArray:
        """Return D[d]."""
        return self._words.defender_actions(state, self._answer(self._words.number(state), memory)[0])

    def after(self, state: State, memory: Memory, d: int, i: int) -> Sequence[tuple[Memory, float]]:
        """Move on to the promise of what was seen."""
        place, seen = self._words.number(state), self._words.observation(state, i)
        here = np.flatnonzero(self._side.arrays[place].seen == seen)
        if not len(here):  # the game is over
            return [(None, 1.0)]
        _, promised = self._answer(place, memory)
        return [(remembered(promised[here[0]]), 1.0)]

    def _answered(self, place: int, memory: Memory) -> tuple[FloatArray, FloatArray]:
        """Return D[k] over the actions of the merged game, and ᾱ[i, θ]."""
        step = self._program(place).at_promise(-vector_of(memory))
        return step.mix, step.promised
