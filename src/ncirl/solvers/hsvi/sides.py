"""What both players take from HSVI's search to the table: points or vectors, with the programs built on them."""

from collections.abc import Mapping
from dataclasses import dataclass

from ncirl._typing import FloatArray, State
from ncirl.lp.defender import DefenderProgram
from ncirl.lp.point_program import PointProgram
from ncirl.lp.state_arrays import StateArrays
from ncirl.model.belief import prior_of
from ncirl.model.game import Game
from ncirl.solvers.hsvi.bounds import Bounds, Points, Vectors

__all__ = ["PointSide", "VectorSide"]


@dataclass(frozen=True, eq=False)
class PointSide:
    """The attacker's: P_A over points, at any belief."""

    game: Game
    arrays: Mapping[State, StateArrays]
    points: Points

    @classmethod
    def of(cls, bounds: Bounds) -> "PointSide":
        """Take what a search has found."""
        return cls(bounds.game, dict(zip(bounds.states, bounds.arrays, strict=True)), bounds.lower)

    def program(self, state: State) -> PointProgram:
        """Build P_A at a state."""
        return PointProgram(self.arrays[state], self.points, whole=True)


@dataclass(frozen=True, eq=False)
class VectorSide:
    """The defender's: P_D over vectors, at any promise."""

    game: Game
    arrays: Mapping[State, StateArrays]
    vectors: Vectors

    @classmethod
    def of(cls, bounds: Bounds) -> "VectorSide":
        """Take what a search has found."""
        return cls(bounds.game, dict(zip(bounds.states, bounds.arrays, strict=True)), bounds.upper)

    def known(self, state: State) -> FloatArray:
        """Return the vectors at a state that is played."""
        return self.vectors.stores[self.arrays[state].number].alphas

    def program(self, state: State) -> DefenderProgram:
        """Build P_D at a state."""
        return DefenderProgram(self.arrays[state], self.vectors.stores, prior_of(self.game))
