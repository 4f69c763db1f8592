"""The two sides of the printed NC-PBVI: Y_s and W_s per public state, UPDATE and EXPAND as written.

Read to the letter, what follows a stage at s is looked up among the points of s, and what EXPAND finds is stored at s.
Read with charity (`at_successor`) both are at s', where play goes on.
"""

import math
from collections.abc import Iterable, Mapping

import numpy as np

from ncirl._typing import FloatArray, State
from ncirl.errors import LPError
from ncirl.lp.point_program import PointProgram
from ncirl.lp.printed import PrintedDefenderProgram, PrintedDefenderStep, PromisePoints, printed_attacker_program
from ncirl.lp.session import Meter
from ncirl.model.game import Game
from ncirl.solvers.nc_pbvi.side import SAME

__all__ = ["PrintedAttackerSide", "PrintedDefenderSide"]

POSSIBLE = 1e-9  # actions with less mass have no posterior


class _PrintedSide:
    """What both sides share: the states that are played, the prior, and what the game can pay."""

    def __init__(self, game: Game, meter: Meter, at_successor: bool = False) -> None:
        self.game, self.meter, self.at_successor = game, meter, at_successor
        self.states = [state for state in game.explore() if not game.is_terminal(state)]
        self.starts = [start for start in game.starts if not game.is_terminal(start.state)]
        self.prior: FloatArray = np.sum([start.mass for start in game.starts], axis=0)
        self.units = np.eye(len(self.prior))
        rewards = [game.stage(state).reward for state in self.states]
        ahead = 1.0 / (1.0 - game.discount)
        self.least = ahead * min((float(r.min()) for r in rewards), default=0.0)
        self.most = ahead * max((float(r.max()) for r in rewards), default=0.0)

    def _following(self, state: State) -> list[State | None]:
        """Return, for each distinct s', the state whose points follow; None where play ends there."""
        distinct = dict.fromkeys(outcome.state for outcome in self.game.stage(state).outcomes)
        if not self.at_successor:
            return [state] * len(distinct)
        return [None if self.game.is_terminal(after) else after for after in distinct]

    def _places(self, state: State) -> list[State]:
        """Return the states whose points follow a stage at `state`."""
        return [at for at in dict.fromkeys(self._following(state)) if at is not None]


class PrintedAttackerSide(_PrintedSide):
    """Pairs (b, v): W_s at the unit beliefs, Y_s at the rest."""

    def __init__(self, game: Game, meter: Meter, at_successor: bool = False) -> None:
        super().__init__(game, meter, at_successor)
        self.corners = {s: np.full(len(self.prior), self.least) for s in self.states}
        self.beliefs = {s: [self.prior] for s in self.states}
        for start in self.starts:
            self.beliefs[start.state] = _joined(self.beliefs[start.state], start.belief)
        self.values = {s: [self.least] * len(points) for s, points in self.beliefs.items()}

    @property
    def size(self) -> int:
        """Number of points."""
        return sum(len(points) + len(self.prior) for points in self.beliefs.values())

    def program(self, state: State) -> PointProgram:
        """Build the printed P_A(s, ·) on the points stored now."""
        stage = self.game.stage(state)
        after = dict(
            zip(dict.fromkeys(outcome.state for outcome in stage.outcomes), self._following(state), strict=True)
        )
        number = {at: k for k, at in enumerate(self._places(state))}
        points = {
            k: (self.corners[at], np.array(self.beliefs[at]), np.array(self.values[at])) for at, k in number.items()
        }
        following = [number.get(after[successor]) for successor in stage.seen_outcomes.successors]
        return printed_attacker_program(stage, self.game.discount, points, following, self.meter)

    def value(self) -> float:
        """Return Σ_s P0(s) P_A(s, P0(· | s))."""
        return sum(start.probability * self.program(start.state).solve(start.belief).value for start in self.starts)

    def slopes(self) -> dict[State, list[FloatArray]]:
        """Return ∂v(s, b) at the prior and at the beliefs of the starts."""
        found: dict[State, list[FloatArray]] = {}
        for state in self.states:
            program = self.program(state)
            at = [start.belief for start in self.starts if start.state == state] or [self.prior]
            found[state] = [program.solve(belief).slope for belief in at]
        return found

    def update(self) -> None:
        """Update v at every point by the printed P_A."""
        for state in self.states:
            program = self.program(state)
            self.corners[state] = np.array([program.solve(unit).value for unit in self.units])
            self.values[state] = [program.solve(belief).value for belief in self.beliefs[state]]

    def expand(self) -> None:
        """Store, per point, the posterior τ(s, b, a) farthest from b in ℓ1, where it is looked up."""
        for state in self.states:
            program = self.program(state)
            for belief in [*self.beliefs[state], *self.units]:
                plan = program.solve(belief).plan
                mass = plan.sum(axis=1)
                posterior = _farthest(belief, plan[mass > POSSIBLE] / mass[mass > POSSIBLE, None])
                for at in self._places(state):
                    if _is_new(posterior, [*self.beliefs[at], *self.units]):
                        there = program if at == state else self.program(at)
                        self.beliefs[at].append(posterior)
                        self.values[at].append(there.solve(posterior).value)


class PrintedDefenderSide(_PrintedSide):
    """Pairs (ζ, w): W_s at the unit promises, Y_s at the rest, beginning with ζ0 = −∂v."""

    def __init__(
        self, game: Game, meter: Meter, slopes: Mapping[State, list[FloatArray]], at_successor: bool = False
    ) -> None:
        super().__init__(game, meter, at_successor)
        self.unbounded = False
        self.first = {s: [-slope for slope in slopes[s]] for s in self.states}  # ζ0, one per start there
        self.corners = {s: np.full(len(self.prior), 1.0 + self.most) for s in self.states}
        self.promises = {s: list(first) for s, first in self.first.items()}
        self.values = {s: [self.most + float(z.max()) for z in points] for s, points in self.promises.items()}

    @property
    def size(self) -> int:
        """Number of points."""
        return sum(len(points) + len(self.prior) for points in self.promises.values())

    def program(self, state: State) -> PrintedDefenderProgram:
        """Build the printed P_D(s, ·) on the points stored now."""
        following = [None if at is None else self._points(at) for at in self._following(state)]
        return PrintedDefenderProgram(self.game.stage(state), self.game.discount, following, self.meter)

    def _points(self, state: State) -> PromisePoints:
        return PromisePoints(self.corners[state], np.array(self.promises[state]), np.array(self.values[state]))

    def value(self) -> float:
        """Return Σ_s P0(s) [P_D(s, ζ0) − ζ0·P0(· | s)]; NaN once a program was unbounded."""
        total = 0.0
        seen: dict[State, int] = {}
        for start in self.starts:
            k = seen.setdefault(start.state, 0)
            seen[start.state] += 1
            promise = self.first[start.state][k]
            step = self.step(self.program(start.state), promise)
            total += start.probability * (step.value - float(promise @ start.belief)) if step else math.nan
        return math.nan if self.unbounded else total

    def step(self, program: PrintedDefenderProgram, promise: FloatArray) -> PrintedDefenderStep | None:
        """Solve the printed P_D at ζ; None where it is unbounded."""
        try:
            return program.at_promise(promise)
        except LPError:
            self.unbounded = True
            return None

    def update(self) -> None:
        """Update w at every point by the printed P_D."""
        for state in self.states:
            program = self.program(state)
            corners = zip(self.units, self.corners[state].tolist(), strict=True)
            self.corners[state] = np.array([self._updated(program, *pair) for pair in corners])
            points = zip(self.promises[state], self.values[state], strict=True)
            self.values[state] = [self._updated(program, *pair) for pair in points]

    def expand(self) -> None:
        """Store, per point, the promise λ_as' farthest from ζ in ℓ1, where it is looked up."""
        for state in self.states:
            program, places = self.program(state), self._following(state)
            goes_on = [k for k, at in enumerate(places) if at is not None]
            for promise in [*self.promises[state], *self.units]:
                step = self.step(program, promise)
                if step is None or not goes_on:
                    continue
                promises = step.promises[:, goes_on].reshape(-1, len(self.prior))
                farthest = int(np.abs(promises - promise).sum(axis=1).argmax())
                following, at = promises[farthest], places[goes_on[farthest % len(goes_on)]]
                if _is_new(following, [*self.promises[at], *self.units]):
                    found = self.step(program if at == state else self.program(at), following)
                    if found is not None:
                        self.promises[at].append(following)
                        self.values[at].append(found.value)

    def _updated(self, program: PrintedDefenderProgram, promise: FloatArray, before: float) -> float:
        step = self.step(program, promise)
        return before if step is None else step.value


def _farthest(point: FloatArray, others: FloatArray) -> FloatArray:
    """Return the row farthest from a point in ℓ1."""
    row: FloatArray = others[np.abs(others - point).sum(axis=1).argmax()]
    return row


def _is_new(point: FloatArray, known: Iterable[FloatArray]) -> bool:
    return all(float(np.abs(point - each).sum()) > SAME for each in known)


def _joined(points: list[FloatArray], point: FloatArray) -> list[FloatArray]:
    return [*points, point] if _is_new(point, points) else points
