"""The strategies of the printed NC-PBVI: solve the printed program at the belief, or at the promise, and go on.

The attacker's belief moves by Lemma 1, b'(θ) ∝ π(a | s, θ) b(θ), as the paper's text says, although its program looks
ahead otherwise. The defender's promise after (a, s') is λ_as' of its program. Where that is unbounded there is nothing
to play by: the defender then does everything equally often and keeps its promise. Memory and answers are kept as in
`ncirl.solvers.nc_pbvi.play`.
"""

from collections.abc import Sequence

import numpy as np

from ncirl._typing import FloatArray, State
from ncirl.lp.printed import PrintedDefenderStep
from ncirl.model.belief import policy_of, posterior
from ncirl.model.game import Game
from ncirl.solvers.nc_pbvi.play import remembered, vector_of
from ncirl.solvers.nc_pbvi.printed.sides import PrintedAttackerSide, PrintedDefenderSide
from ncirl.strategies.remembered import Remembered
from ncirl.strategies.strategy import Memory

__all__ = ["PrintedAttacker", "PrintedDefender"]


class PrintedAttacker:
    """The attacker of the printed NC-PBVI."""

    def __init__(self, timed: Game, side: PrintedAttackerSide) -> None:
        self._timed, self._side, self._certain = timed, side, np.ones(len(side.prior))
        self._program = Remembered(side.program)
        self._answer = Remembered(self._answered, sent=True)

    def begin(self, state: State) -> Sequence[tuple[Memory, FloatArray]]:
        """Begin with the belief of the start."""
        belief = next(start.belief for start in self._timed.starts if start.state == state)
        return [(remembered(belief), self._certain)]

    def policy(self, state: State, memory: Memory) -> FloatArray:
        """Return π[a, θ]."""
        return self._answer(self._timed.parted(state)[1], memory)

    def after(self, state: State, memory: Memory, a: int, d: int, i: int) -> Sequence[tuple[Memory, FloatArray]]:
        """Move on to the posterior of Lemma 1."""
        plan = self.policy(state, memory) * vector_of(memory)
        return [(remembered(posterior(self._timed.observations(state), plan, i)), self._certain)]

    def _answered(self, place: State, memory: Memory) -> FloatArray:
        return policy_of(self._program(place).solve(vector_of(memory)).plan)


class PrintedDefender:
    """The defender of the printed NC-PBVI."""

    def __init__(self, timed: Game, side: PrintedDefenderSide) -> None:
        self._timed, self._side = timed, side
        self._program = Remembered(side.program)
        self._answer = Remembered(self._answered, sent=True)

    def begin(self, state: State) -> Sequence[tuple[Memory, float]]:
        """Begin with ζ0."""
        return [(remembered(self._side.first[self._timed.parted(state)[1]][0]), 1.0)]

    def mix(self, state: State, memory: Memory) -> FloatArray:
        """Return D[d]."""
        step = self._answer(self._timed.parted(state)[1], memory)
        n_d = self._timed.stage(state).shape[1]
        if step is None:
            return np.full(n_d, 1.0 / n_d)
        mix = np.maximum(step.defence, 0.0)
        return np.asarray(mix / mix.sum())

    def after(self, state: State, memory: Memory, d: int, i: int) -> Sequence[tuple[Memory, float]]:
        """Move on to the promise λ_as'."""
        step = self._answer(self._timed.parted(state)[1], memory)
        if step is None:
            return [(memory, 1.0)]
        seen, stage = self._timed.observations(state), self._timed.stage(state)
        a, successor = int(seen.mass[[i]].indices[0]), seen.successors[i]
        place = list(dict.fromkeys(outcome.state for outcome in stage.outcomes)).index(successor)
        return [(remembered(step.promises[a, place]), 1.0)]

    def _answered(self, place: State, memory: Memory) -> PrintedDefenderStep | None:
        return self._side.step(self._program(place), vector_of(memory))
