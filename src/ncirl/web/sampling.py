"""Play by numbers drawn beforehand: a seed fixes one uniform number per stage and purpose, whoever plays.

The same seed and the same moves so give the same play however often it is replayed, and different defenders meet the
same draws (common random numbers): the intent, what the attacker draws, and how the coins fall.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeVar

import numpy as np

from ncirl._typing import FloatArray, State
from ncirl.model.belief import prior_of
from ncirl.model.game import Game
from ncirl.strategies.strategy import AttackerStrategy, DefenderStrategy, Memory

__all__ = ["JointState", "Sampler", "Transition", "Uniforms", "draw_uniforms"]

PURPOSES = 5  # a, d, o and the two memories
Uniforms = list[list[float]]  # indexed [stage, purpose]; the first row is for the beginning
Sums = list[float]  # running sums of weights
T = TypeVar("T")
Options = tuple[list[T], Sums]


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
    """Two strategies and a game, everything that is drawn from kept ready once it was needed.

    Parameters
    ----------
    game : Game
        With or without a horizon.
    attacker, defender : AttackerStrategy, DefenderStrategy
        For the public states of ``game.timed()``.
    """

    def __init__(self, game: Game, attacker: AttackerStrategy, defender: DefenderStrategy) -> None:
        self.timed = timed = game.timed()
        self._prior = _sums(prior_of(game))
        self._policy = cache(lambda s, m, t: _sums(attacker.policy(s, m)[:, t]))
        self._mix = cache(lambda s, n: _sums(defender.mix(s, n)))
        self._attackers = cache(lambda s, t: _options([(m, float(p[t])) for m, p in attacker.begin(s)]))
        self._defenders = cache(lambda s: _options(defender.begin(s)))
        self._next_attacker = cache(
            lambda s, m, a, d, i, t: _options([(then, float(p[t])) for then, p in attacker.after(s, m, a, d, i)])
        )
        self._next_defender = cache(lambda s, n, d, i: _options(defender.after(s, n, d, i)))
        self._law = cache(self._outcomes)
        self._reward = cache(lambda s, a, d, o: timed.stage(s).realised(a, d, o).tolist())

    def begin(self, theta: int | None, uniforms: Sequence[float]) -> tuple[int, JointState]:
        """Draw the intent, if none is given, the start and the memories; return the intent and where play stands."""
        theta = _pick(uniforms[0], self._prior) if theta is None else theta
        starts = self.timed.starts
        weights = [float(start.mass[theta]) for start in starts]
        if not any(weights):  # an intent that the prior rules out starts like the others do
            weights = [start.probability for start in starts]
        place = starts[_pick(uniforms[1], _sums(weights))].state
        if self.timed.is_terminal(place):
            return theta, JointState(place, None, None)
        m, n = _taken(uniforms[2], self._attackers(place, theta)), _taken(uniforms[3], self._defenders(place))
        return theta, JointState(place, m, n)

    def move(
        self, theta: int, at: JointState, uniforms: Sequence[float], *, a: int | None = None, d: int | None = None
    ) -> tuple[Transition, JointState]:
        """Play a stage; `a` and `d` are drawn from the strategies unless somebody has chosen."""
        place = at.place
        a = _pick(uniforms[0], self._policy(place, at.attacker, theta)) if a is None else a
        d = _pick(uniforms[1], self._mix(place, at.defender)) if d is None else d
        o = _taken(uniforms[2], self._law(place, a, d))
        i = self.timed.observations(place).index(a, d, o)
        m = _taken(uniforms[3], self._next_attacker(place, at.attacker, a, d, i, theta))
        n = _taken(uniforms[4], self._next_defender(place, at.defender, d, i))
        done = Transition(a, d, o, self._reward(place, a, d, o)[theta])
        return done, JointState(self.timed.stage(place).outcomes[o].state, m, n)

    def _outcomes(self, place: State, a: int, d: int) -> Options[int]:
        outcomes, chances = self.timed.stage(place).outcome_law(a, d)
        return outcomes.tolist(), _sums(chances)


def _sums(weights: FloatArray | Sequence[float]) -> Sums:
    sums: Sums = np.cumsum(weights).tolist()
    return sums


def _options(options: Sequence[tuple[T, float]]) -> Options[T]:
    return [option for option, _ in options], _sums([float(weight) for _, weight in options])


def _pick(uniform: float, sums: Sums) -> int:
    """Return the index that a uniform number falls on; never one of weight zero."""
    return bisect_right(sums, uniform * sums[-1])


def _taken(uniform: float, options: Options[T]) -> T:
    found, sums = options
    return found[_pick(uniform, sums)]
