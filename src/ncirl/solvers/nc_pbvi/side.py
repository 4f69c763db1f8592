"""What the two sides of NC-PBVI share: states swept successors first, programs built again only when they must be.

A program at s is built on what is stored at its successors. Every state counts its changes; a program is rebuilt, and
a point solved again, only when the counts of the successors say that something moved. Otherwise programs stay live.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Generic, Literal, TypeVar

import numpy as np

from ncirl._typing import FloatArray, State
from ncirl.lp.session import Meter
from ncirl.model.game import Game
from ncirl.model.order import components

__all__ = ["PROGRESS", "SAME", "SETTLED", "Approximation", "Side", "distance"]

SAME = 1e-6  # points nearer than this in ℓ1 are one
SETTLED = 1e-4  # relative; points that could gain less are not stored
PROGRESS = 1e-9  # relative; smaller improvements end the sweeps

Approximation = Literal["hull", "sawtooth"]
Stamp = tuple[int, ...]
Shape = TypeVar("Shape")
Program = TypeVar("Program")


class Side(ABC, Generic[Shape, Program]):
    """One player's points, the value at each state that they make up, and the programs built on it.

    Parameters
    ----------
    game : Game
        Without a horizon (`Game.timed`).
    approximation : {"hull", "sawtooth"}
        How points are joined.
    meter : Meter
        Where solves are counted.
    """

    def __init__(self, game: Game, approximation: Approximation, meter: Meter) -> None:
        self.game, self.approximation, self.meter = game, approximation, meter
        self.order = [s for component in components(game) for s in component if not game.is_terminal(s)]
        self.prior: FloatArray = np.sum([start.mass for start in game.starts], axis=0)
        self.n_intents = len(self.prior)
        self._changes = dict.fromkeys(self.order, 0)
        self._successors = {s: list(dict.fromkeys(game.observations(s).successors)) for s in self.order}
        self._shapes: dict[State, tuple[int, Shape]] = {}
        self._programs: dict[State, tuple[Stamp, Program]] = {}
        self._solved: dict[tuple[State, int], Stamp] = {}

    @abstractmethod
    def _shape(self, state: State) -> Shape:
        """Make the value at a state of what is stored."""

    @abstractmethod
    def _program(self, state: State) -> Program:
        """Build the program at a state on what is stored."""

    @abstractmethod
    def update(self) -> bool:
        """Re-solve the program at every stored point; tell whether anything moved."""

    def sweep(self, times: int) -> None:
        """UPDATE up to so many times, until nothing moves."""
        for _ in range(times):
            if not self.update():
                break

    def shape(self, state: State) -> Shape:
        """Return the value at a state."""
        count = self._changes.get(state, 0)
        found = self._shapes.get(state)
        if found is None or found[0] != count:
            found = self._shapes[state] = count, self._shape(state)
        return found[1]

    def after(self, state: State) -> list[Shape]:
        """Return the value at the successor of every observation."""
        return [self.shape(successor) for successor in self.game.observations(state).successors]

    def program(self, state: State) -> Program:
        """Return the program at a state, on what is stored now."""
        stamp = self._stamp(state)
        found = self._programs.get(state)
        if found is None or found[0] != stamp:
            found = self._programs[state] = stamp, self._program(state)
        return found[1]

    def _changed(self, state: State) -> None:
        """Note that something stored at a state is another."""
        self._changes[state] += 1

    def _due(self, state: State, k: int) -> bool:
        """Tell whether point `k` is yet to be solved on what is stored now; it counts as solved from here on."""
        stamp = self._stamp(state)
        due = self._solved.get((state, k)) != stamp
        self._solved[state, k] = stamp
        return due

    def _stamp(self, state: State) -> Stamp:
        return tuple(self._changes.get(s, 0) for s in self._successors[state])


def distance(point: FloatArray, points: list[FloatArray]) -> float:
    """Return the ℓ1 distance of a point from the nearest of some."""
    return float(np.abs(np.array(points) - point).sum(axis=1).min())
