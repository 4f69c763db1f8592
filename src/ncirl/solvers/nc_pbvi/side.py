"""What the two sides of NC-PBVI share: states swept successors first, programs built again only when they must be.

A program at s is built on what is stored at its successors. Every state counts its changes; a program is rebuilt, and
a point solved again, only when the counts of the successors say that something moved. Otherwise programs stay live.
"""

from abc import ABC, abstractmethod
from typing import Any, Generic, Literal, TypeVar

import numpy as np

from ncirl._typing import FloatArray, State
from ncirl.limits import UNLIMITED, Limits
from ncirl.lp.program import Accuracy
from ncirl.lp.session import Meter
from ncirl.lp.state_arrays import StateArrays
from ncirl.model.game import Game
from ncirl.model.order import components

__all__ = ["PROGRESS", "SAME", "SETTLED", "Approximation", "Side", "distance"]

SAME = 1e-6  # points nearer than this in ℓ1 are one
SETTLED = 1e-4  # relative; points that could gain less are not stored
PROGRESS = 1e-9  # relative; smaller improvements end the sweeps
MISSED = 1e-9  # what programs may leave out
LIVE = ("_programs",)  # what cannot be sent to another process

Approximation = Literal["hull", "sawtooth"]
Stamp = tuple[int, ...]
Store = TypeVar("Store")
Program = TypeVar("Program")


class Side(ABC, Generic[Store, Program]):
    """One player's points, the value at each state that they make up, and the programs built on it."""

    limits: Limits = UNLIMITED  # of the time and memory that sweeps may take

    def __init__(self, game: Game, approximation: Approximation, meter: Meter) -> None:
        self.game, self.approximation, self.meter, self.accuracy = game, approximation, meter, Accuracy(MISSED)
        self.order = [s for component in components(game) for s in component if not game.is_terminal(s)]
        self.prior: FloatArray = np.sum([start.mass for start in game.starts], axis=0)
        self.n_intents = len(self.prior)
        self.number = {state: k for k, state in enumerate(self.order)}
        self.arrays = {state: StateArrays.of(game, state, self.number) for state in self.order}
        self._changes = dict.fromkeys(self.order, 0)
        self._stores: dict[State, tuple[int, Store]] = {}
        self._programs: dict[State, tuple[Stamp, Program]] = {}
        self._solved: dict[tuple[State, int], Stamp] = {}

    def __getstate__(self) -> dict[str, Any]:
        """Return what is sent to another process: everything but live programs, which are built anew."""
        return {name: {} if name in LIVE else value for name, value in vars(self).items()}

    @abstractmethod
    def _new_store(self, state: State) -> Store:
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

    def store(self, state: State) -> Store:
        """Return the value at a state that is played."""
        count = self._changes[state]
        found = self._stores.get(state)
        if found is None or found[0] != count:
            found = self._stores[state] = count, self._new_store(state)
        return found[1]

    def successors(self, state: State) -> list[State]:
        """Return the states that are played after a state."""
        return [self.order[k] for k in self.arrays[state].successors]

    def program(self, state: State) -> Program:
        """Return the program at a state, on what is stored now."""
        self.limits.check("sweeping over the states")
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
        return tuple(self._changes[s] for s in self.successors(state))


def distance(point: FloatArray, points: list[FloatArray]) -> float:
    """Return the ℓ1 distance of a point from the nearest of some."""
    return float(np.abs(np.array(points) - point).sum(axis=1).min())
