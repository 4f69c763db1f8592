"""The attacker's side of NC-PBVI: points (b, v) per state under a hull over exact corners, a value from below."""

import numpy as np

from ncirl._typing import FloatArray, State
from ncirl.lp.backups import PointBackup, VectorBackup
from ncirl.lp.point_program import PointProgram
from ncirl.lp.session import Meter
from ncirl.lp.stores import FixedPoints, PointStore
from ncirl.model.game import Game
from ncirl.solvers.initial import InitialBounds
from ncirl.solvers.nc_pbvi.defender import DefenderSide
from ncirl.solvers.nc_pbvi.side import PROGRESS, SAME, SETTLED, Approximation, Side, distance

__all__ = ["AttackerSide"]

POSSIBLE = 1e-9  # posteriors of less mass are not followed


class AttackerSide(Side[PointStore, PointProgram]):
    """UPDATE-A and EXPAND-A; the value from above of the `optimist` says where something may still be gained."""

    def __init__(
        self, game: Game, approximation: Approximation, meter: Meter, initial: InitialBounds, optimist: DefenderSide
    ) -> None:
        super().__init__(game, approximation, meter)
        self.optimist = optimist
        self.corners = initial.corners
        self.beliefs: dict[State, list[FloatArray]] = {s: [self.prior] for s in self.order}
        self.values = {s: [float(self.corners[s] @ self.prior)] for s in self.order}
        for start in game.starts:
            self._store(start.state, start.belief)

    @property
    def size(self) -> int:
        """Number of points."""
        return sum(len(points) for points in self.beliefs.values())

    def value(self) -> float:
        """Return Σ_s v̂(s, P0(s, ·)) from below."""
        starts = [start for start in self.game.starts if not self.game.is_terminal(start.state)]
        return sum(self.store(start.state).value(start.mass) for start in starts)

    def update(self) -> bool:
        """Re-solve P_A at every point; tell whether anything rose."""
        rose = False
        for state in self.order:
            due = [k for k in range(len(self.beliefs[state])) if self._due(state, k)]
            secured = {k: self.program(state).solve(self.beliefs[state][k]).value for k in due}
            better = {k: v for k, v in secured.items() if v > _beyond(self.values[state][k])}
            if better:  # noted only now: all were solved on the same points
                for k, value in better.items():
                    self.values[state][k] = value
                self._changed(state)
                rose = True
        return rose

    def expand(self) -> None:
        """Store, per point, two posteriors.

        One of the best plan on the points, the farthest in ℓ1; one of the best plan on the defender's vectors, that
        where most is still open, |β_i| (U − L)(s'_i, b_i).
        """
        for state in self.order:
            own, optimistic = self.program(state), self.optimist.primal(state)
            for belief in list(self.beliefs[state]):
                self._store_farthest(state, own.solve(belief), belief)
                self._store_most_open(state, optimistic.solve(belief))

    def _store_farthest(self, state: State, plan: PointBackup, belief: FloatArray) -> None:
        found = self._posteriors(state, plan)
        if found:
            successor, mass = max(found, key=lambda each: distance(each[1] / each[1].sum(), [belief]))
            self._store(successor, mass / mass.sum())

    def _store_most_open(self, state: State, plan: VectorBackup) -> None:
        found = self._posteriors(state, plan)
        if found:
            successor, mass = max(found, key=lambda each: self._open(*each))
            self._store(successor, mass / mass.sum())

    def _open(self, state: State, mass: FloatArray) -> float:
        return self.optimist.store(state).value(mass) - self.store(state).value(mass)

    def _posteriors(self, state: State, found: PointBackup | VectorBackup) -> list[tuple[State, FloatArray]]:
        """List the unnormalised posteriors of a plan that leave anything open, with the states they are at."""
        here = self.arrays[state]
        masses = here.posteriors(np.arange(len(here.seen)), found.actions, found.plan)
        return [
            (self.order[successor], mass)
            for successor, mass in zip(here.successor.tolist(), masses, strict=True)
            if mass.sum() > POSSIBLE and mass.max() < (1 - SAME) * mass.sum()
        ]

    def _store(self, state: State, belief: FloatArray) -> None:
        if self.game.is_terminal(state) or distance(belief, self.beliefs[state]) <= SAME:
            return
        value = self.store(state).value(belief)
        above = self.optimist.store(state).value(belief)
        if above - value > SETTLED * (1 + abs(above)):  # where both sides already agree there is nothing to learn
            self.beliefs[state].append(belief)
            self.values[state].append(value)
            self._changed(state)
            self.optimist.follow(state, belief)

    def _points(self, states: list[State], most: int | None = None) -> FixedPoints:
        hulls = {self.number[s]: (self.corners[s], np.array(self.beliefs[s]), np.array(self.values[s])) for s in states}
        return FixedPoints.of(hulls, most)

    def _new_store(self, state: State) -> PointStore:
        return self._points([state]).stores[self.number[state]]

    def _program(self, state: State) -> PointProgram:
        points = self._points(self.successors(state), most=1 if self.approximation == "sawtooth" else None)
        return PointProgram(self.arrays[state], points, self.accuracy, self.meter, whole=True)


def _beyond(value: float) -> float:
    return value + PROGRESS * (1 + abs(value))
