"""Random continuations for the stage programs: vectors from above, points under their envelope from below."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ncirl import Game
from ncirl._typing import FloatArray
from ncirl.lp.defender import DefenderProgram
from ncirl.lp.point_program import PointProgram
from ncirl.lp.program import Accuracy
from ncirl.lp.state_arrays import StateArrays
from ncirl.lp.stores import FixedPoints, FixedVectors
from ncirl.lp.vector_program import VectorProgram

FEW = (np.zeros(1, dtype=np.intp), np.zeros(1, dtype=np.intp))  # one action, one defence: the others must be found


def some_belief(rng: np.random.Generator, n: int) -> FloatArray:
    """Draw beliefs of all kinds: inside, on faces, at corners."""
    weights = rng.dirichlet(np.ones(n)) * (rng.random(n) < 0.8)
    return weights / weights.sum() if weights.sum() > 0 else np.eye(n)[0]


@dataclass(frozen=True, eq=False)
class Continuation:
    """A game whose states that are played have vectors α[j, θ], and points (corners, beliefs, values)."""

    game: Game
    alphas: dict[object, FloatArray]
    hulls: dict[object, tuple[FloatArray, FloatArray, FloatArray]]

    @classmethod
    def drawn(cls, rng: np.random.Generator, game: Game, count: int) -> Continuation:
        """Draw `count` vectors a state, and as many points on their envelope."""
        n = len(game.intents)
        alphas, hulls = {}, {}
        for state in game.explore():
            if game.is_terminal(state):
                continue
            alphas[state] = rng.normal(size=(count, n)) * 3
            beliefs = np.array([some_belief(rng, n) for _ in range(count)])
            corners = alphas[state].min(axis=0) - rng.random(n)
            hulls[state] = corners, beliefs, (beliefs @ alphas[state].T).min(axis=1)
        return cls(game, alphas, hulls)

    @cached_property
    def number(self) -> dict[object, int]:
        return {state: k for k, state in enumerate(self.alphas)}

    @property
    def vectors(self) -> FixedVectors:
        return FixedVectors.of({self.number[s]: a for s, a in self.alphas.items()}, len(self.game.intents))

    @property
    def points(self) -> FixedPoints:
        return FixedPoints.of({self.number[s]: hull for s, hull in self.hulls.items()})

    def arrays(self, state: object) -> StateArrays:
        return StateArrays.of(self.game, state, self.number)

    def vector_program(self, state: object, *, few: bool = False) -> VectorProgram:
        return VectorProgram(self.arrays(state), self.vectors, Accuracy(1e-9), likely=FEW if few else None)

    def point_program(self, state: object, *, whole: bool = True) -> PointProgram:
        return PointProgram(self.arrays(state), self.points, Accuracy(1e-9), likely=FEW, whole=whole)

    def defender_program(self, state: object, prior: FloatArray) -> DefenderProgram:
        return DefenderProgram(self.arrays(state), self.vectors.stores, prior)
