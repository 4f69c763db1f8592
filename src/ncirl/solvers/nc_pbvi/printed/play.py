"""The strategies of the printed NC-PBVI: solve the printed program at the belief, or at the promise, and go on.

The attacker's belief moves by Lemma 1, b'(θ) ∝ π(a | s, θ) b(θ), as the paper's text says, although its program looks
ahead otherwise. The defender's promise after (a, s') is λ_as' of its program. Where that is unbounded there is nothing
to play by: the defender then does everything equally often and keeps its promise. Memory and answers are kept as in
`program_strategies`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ncirl._typing import FloatArray, State
from ncirl.lp.point_program import PointProgram
from ncirl.lp.printed import PrintedDefenderProgram, PrintedDefenderStep
from ncirl.model.belief import policy_of, posterior
from ncirl.model.game import Game
from ncirl.solvers.nc_pbvi.play import remembered, vector_of
from ncirl.solvers.nc_pbvi.printed.sides import PrintedAttackerSide, PrintedDefenderSide
from ncirl.strategies.strategy import Memory

__all__ = ["PrintedAttacker", "PrintedDefender"]


class _Untimed:
    """Finds the state of the game without a horizon that a state of the timed game is."""

    def __init__(self, timed: Game, endless: Game) -> None:
        self.timed = timed
        self._timeless = timed.starts[0].state == endless.starts[0].state

    def state(self, place: State) -> State:
        return place if self._timeless or not isinstance(place, tuple) else place[1]


class PrintedAttacker:
    """The attacker of the printed NC-PBVI.

    Parameters
    ----------
    timed : Game
        What is played (`Game.timed`).
    side : PrintedAttackerSide
        What was stored.
    """

    def __init__(self, timed: Game, side: PrintedAttackerSide) -> None:
        self._words, self._side = _Untimed(timed, side.game), side
        self._certain = np.ones(len(side.prior))
        self._programs: dict[State, PointProgram] = {}
        self._answers: dict[tuple[State, Memory], FloatArray] = {}

    def begin(self, state: State) -> Sequence[tuple[Memory, FloatArray]]:
        """Begin with the belief of the start."""
        belief = next(start.belief for start in self._words.timed.starts if start.state == state)
        return [(remembered(belief), self._certain)]

    def policy(self, state: State, memory: Memory) -> FloatArray:
        """Return π[a, θ]."""
        key = self._words.state(state), memory
        if key not in self._answers:
            if key[0] not in self._programs:
                self._programs[key[0]] = self._side.program(key[0])
            self._answers[key] = policy_of(self._programs[key[0]].solve(vector_of(memory)).plan)
        return self._answers[key]

    def after(self, state: State, memory: Memory, a: int, d: int, i: int) -> Sequence[tuple[Memory, FloatArray]]:
        """Move on to the posterior of Lemma 1."""
        plan = self.policy(state, memory) * vector_of(memory)
        return [(remembered(posterior(self._words.timed.observations(state), plan, i)), self._certain)]


class PrintedDefender:
    """The defender of the printed NC-PBVI.

    Parameters
    ----------
    timed : Game
        What is played (`Game.timed`).
    side : PrintedDefenderSide
        What was stored.
    """

    def __init__(self, timed: Game, side: PrintedDefenderSide) -> None:
        self._words, self._side = _Untimed(timed, side.game), side
        self._programs: dict[State, PrintedDefenderProgram] = {}
        self._answers: dict[tuple[State, Memory], PrintedDefenderStep | None] = {}

    def begin(self, state: State) -> Sequence[tuple[Memory, float]]:
        """Begin with ζ0."""
        return [(remembered(self._side.first[self._words.state(state)][0]), 1.0)]

    def mix(self, state: State, memory: Memory) -> FloatArray:
        """Return D[d]."""
        step = self._answer(state, memory)
        n_d = self._words.timed.stage(state).shape[1]
        if step is None:
            return np.full(n_d, 1.0 / n_d)
        mix = np.maximum(step.defence, 0.0)
        return np.asarray(mix / mix.sum())

    def after(self, state: State, memory: Memory, d: int, i: int) -> Sequence[tuple[Memory, float]]:
        """Move on to the promise λ_as'."""
        step = self._answer(state, memory)
        if step is None:
            return [(memory, 1.0)]
        seen, stage = self._words.timed.observations(state), self._words.timed.stage(state)
        a, successor = int(seen.mass[[i]].indices[0]), seen.successors[i]
        place = list(dict.fromkeys(outcome.state for outcome in stage.outcomes)).index(successor)
        return [(remembered(step.promises[a, place]), 1.0)]

    def _answer(self, state: State, memory: Memory) -> PrintedDefenderStep | None:
        key = self._words.state(state), memory
        if key not in self._answers:
            if key[0] not in self._programs:
                self._programs[key[0]] = self._side.program(key[0])
            self._answers[key] = self._side.step(self._programs[key[0]], vector_of(memory))
        return self._answers[key]
