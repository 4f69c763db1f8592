"""Play by numbers drawn beforehand: a seed fixes one uniform number per stage and purpose, whoever plays.

The same seed and the same moves so give the same play however often it is replayed, and different defenders meet the
same draws (common random numbers): the intent, what the attacker draws, and how the coins fall.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeVar

import numpy as np

from ncirl._typing import State
from ncirl.evaluation.simulate import Draws, Weighted, outcome_law
from ncirl.model.belief import prior_of
from ncirl.model.game import Game
from ncirl.strategies.memory import drawn
from ncirl.strategies.strategy import AttackerStrategy, DefenderStrategy, Memory, attacking, defending

__all__ = ["JointState", "Sampler", "Transition", "Uniforms", "draw_uniforms"]

PURPOSES = 5  # a, d, o and the two memories
Uniforms = list[list[float]]  # indexed [stage, purpose]; the first row is for the beginning
T = TypeVar("T")


@dataclass(frozen=True)
class JointState:
    """Where a play stands: the public state, and what each side remembers."""

    place: State
    attacker: Memory
    defender: Memory


@dataclass(frozen=True)
class Transition:
    """What was done at a stage and came of it, by number; `reward` is the intent's."""

    a: int
    d: int
    o: int
    reward: float


def draw_uniforms(seed: int | Sequence[int], stages: int) -> Uniforms:
    """Draw the numbers of a play of at most so many stages; fewer of them are the beginning of more."""
    uniforms: Uniforms = np.random.default_rng(seed).random((stages + 1, PURPOSES)).tolist()
    return uniforms


class Sampler:
    """Two strategies and a game, everything that is drawn from kept ready once it was needed."""

    def __init__(self, game: Game, attacker: AttackerStrategy, defender: DefenderStrategy) -> None:
        self.timed = timed = game.timed()
        self._prior = np.cumsum(prior_of(game)).tolist()
        self._attackers = [Draws(attacking(attacker, theta)) for theta in range(len(game.intents))]
        self._defender = Draws(defending(defender))
        self._law = outcome_law(timed)
        self._reward = cache(lambda s, a, d, o: timed.stage(s).realised(a, d, o).tolist())

    def begin(self, theta: int | None, uniforms: Sequence[float]) -> tuple[int, JointState]:
        """Draw the intent, if none is given, the start and the memories; return the intent and where play stands."""
        theta = drawn(self._prior, uniforms[0]) if theta is None else theta
        starts = self.timed.starts
        weights = [float(start.mass[theta]) for start in starts]
        if not any(weights):  # an intent that the prior rules out starts like the others do
            weights = [start.probability for start in starts]
        place = starts[drawn(np.cumsum(weights).tolist(), uniforms[1])].state
        if self.timed.is_terminal(place):
            return theta, JointState(place, None, None)
        m = _taken(uniforms[2], self._attackers[theta].begin(place))
        return theta, JointState(place, m, _taken(uniforms[3], self._defender.begin(place)))

    def move(
        self, theta: int, at: JointState, uniforms: Sequence[float], *, a: int | None = None, d: int | None = None
    ) -> tuple[Transition, JointState]:
        """Play a stage; `a` and `d` are drawn from the strategies unless somebody has chosen."""
        place, attacker, defender = at.place, self._attackers[theta], self._defender
        a = _taken(uniforms[0], attacker.mix(place, at.attacker)) if a is None else a
        d = _taken(uniforms[1], defender.mix(place, at.defender)) if d is None else d
        o, i = _taken(uniforms[2], self._law(place, a, d))
        m = _taken(uniforms[3], attacker.after(place, at.attacker, a, d, i))
        n = _taken(uniforms[4], defender.after(place, at.defender, -1, d, i))  # which does not see a
        done = Transition(a, d, o, self._reward(place, a, d, o)[theta])
        return done, JointState(self.timed.stage(place).outcomes[o].state, m, n)


def _taken(uniform: float, options: Weighted[T]) -> T:
    found, sums = options
    return found[drawn(sums, uniform)]
