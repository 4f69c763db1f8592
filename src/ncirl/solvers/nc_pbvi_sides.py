"""The two sides of NC-PBVI: what each player stores per public state, and its UPDATE and EXPAND."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Literal

import numpy as np

from ncirl._typing import FloatArray, State
from ncirl.backup import attacker_backup, defender_backup
from ncirl.belief import posterior_masses
from ncirl.bounds import Hull, Vectors, sawtooth
from ncirl.game import Game
from ncirl.graph_order import components
from ncirl.lp.attacker import AttackerStep, HullLP, VectorLP
from ncirl.lp.defender import DefenderLP, DefenderStep
from ncirl.lp.session import Meter
from ncirl.solvers.initial import initial_bounds

__all__ = ["Approximation", "AttackerSide", "DefenderSide"]

SAME = 1e-6  # points nearer than this in ℓ1 are one
SETTLED = 1e-4  # relative; points that could gain less are not stored
POSSIBLE = 1e-9  # posteriors of less mass are not followed
PROGRESS = 1e-9  # relative; smaller improvements end the sweeps

Approximation = Literal["hull", "sawtooth"]


class _Side(ABC):
    """What both players' sides share: the states, successors first."""

    def __init__(self, game: Game, approximation: Approximation, meter: Meter) -> None:
        self.game, self.approximation, self.meter = game, approximation, meter
        self.order = [s for component in components(game) for s in component if not game.is_terminal(s)]
        self.prior: FloatArray = np.sum([start.mass for start in game.starts], axis=0)
        self.n_intents = len(self.prior)

    @abstractmethod
    def update(self) -> bool:
        """Re-solve the program at every stored point; tell whether anything moved."""

    def sweep(self, times: int) -> None:
        """UPDATE up to so many times, until nothing moves."""
        for _ in range(times):
            if not self.update():
                break


class AttackerSide(_Side):
    """Points (b, v) per state, under a hull over exact corners: a value from below."""

    def __init__(self, game: Game, approximation: Approximation, meter: Meter, optimist: DefenderSide) -> None:
        super().__init__(game, approximation, meter)
        self.optimist = optimist
        self.corners = initial_bounds(game).corners
        self.beliefs: dict[State, list[FloatArray]] = {s: [self.prior] for s in self.order}
        self.values = {s: [float(self.corners[s] @ self.prior)] for s in self.order}
        for start in game.starts:
            self._store(start.state, start.belief)

    @property
    def size(self) -> int:
        """Number of points."""
        return sum(len(points) for points in self.beliefs.values())

    def hull(self, state: State) -> Hull:
        """Return the value from below at a state."""
        if self.game.is_terminal(state):
            return Hull.zero(self.n_intents)
        hull = Hull.of(self.corners[state], self.beliefs[state], self.values[state])
        return sawtooth(hull) if self.approximation == "sawtooth" else hull

    def program(self, state: State) -> HullLP:
        """Build P_A(s, ·) on the points stored now."""
        seen = self.game.observations(state)
        return HullLP(self.game.stage(state), seen, self.game.discount, self._after(state), self.meter)

    def value(self) -> float:
        """Return Σ_s v̂(s, P0(s, ·)) from below."""
        total = 0.0
        for start in self.game.starts:
            if not self.game.is_terminal(start.state):
                points = Hull.of(self.corners[start.state], self.beliefs[start.state], self.values[start.state])
                total += points.single(start.mass)
        return total

    def update(self) -> bool:
        """Re-solve P_A at every point; tell whether anything rose."""
        rose = False
        for state in self.order:
            program = self.program(state)
            for k, belief in enumerate(self.beliefs[state]):
                value, before = self._secured(state, belief, program.solve(belief)), self.values[state][k]
                if value > before + PROGRESS * (1 + abs(before)):
                    self.values[state][k], rose = value, True
        return rose

    def expand(self) -> None:
        """Store, per point, the posterior farthest in ℓ1: from the point itself, and from all that is stored."""
        for state in self.order:
            own, optimistic = self.program(state), self.optimist.primal(state)
            for belief in list(self.beliefs[state]):
                self._store_farthest(state, own.solve(belief), belief)
                self._store_farthest(state, optimistic.solve(belief), None)

    def _store_farthest(self, state: State, step: AttackerStep, belief: FloatArray | None) -> None:
        """Store the posterior of a plan that is farthest from `belief`, or else from all that is stored where it is."""
        seen = self.game.observations(state)
        found: list[tuple[float, State, FloatArray]] = []
        for successor, mass in zip(seen.successors, posterior_masses(seen, step.plan), strict=True):
            if mass.sum() > POSSIBLE and mass.max() < (1 - SAME) * mass.sum() and not self.game.is_terminal(successor):
                posterior = mass / mass.sum()
                known = self.beliefs[successor] if belief is None else [belief]
                found.append((_distance(posterior, known), successor, posterior))
        if found:
            _, successor, posterior = max(found, key=lambda each: each[0])
            self._store(successor, posterior)

    def _store(self, state: State, belief: FloatArray) -> None:
        if self.game.is_terminal(state) or _distance(belief, self.beliefs[state]) <= SAME:
            return
        value = Hull.of(self.corners[state], self.beliefs[state], self.values[state]).single(belief)
        above = self.optimist.vectors(state).value(belief)
        if above - value > SETTLED * (1 + abs(above)):  # where both sides already agree there is nothing to learn
            self.beliefs[state].append(belief)
            self.values[state].append(value)
            self.optimist.follow(state, belief)

    def _after(self, state: State) -> list[Hull]:
        successors = self.game.observations(state).successors
        hulls = {s: self.hull(s) for s in dict.fromkeys(successors)}
        return [hulls[s] for s in successors]

    def _secured(self, state: State, belief: FloatArray, step: AttackerStep) -> float:
        stage, seen, after = self.game.stage(state), self.game.observations(state), self._after(state)
        return attacker_backup(stage, seen, self.game.discount, after, belief, step.plan, step.mixture).value


class DefenderSide(_Side):
    """Promises ζ with their vectors α per state, over stationary defences: a value from above.

    Some promises are fixed; others belong to a belief, ζ ∈ −∂v(s, b), and move as the vectors get better: that of the
    prior, and those of the beliefs the attacker may be in.
    """

    def __init__(self, game: Game, approximation: Approximation, meter: Meter) -> None:
        super().__init__(game, approximation, meter)
        defences = initial_bounds(game).defences
        self.base = {s: np.array([d.vectors[s] for d in defences]) for s in self.order}
        self.promises: dict[State, list[FloatArray]] = {s: [] for s in self.order}
        self.alphas: dict[State, list[FloatArray]] = {s: [] for s in self.order}
        self.beliefs: dict[State, dict[int, FloatArray]] = {s: {} for s in self.order}  # by number of the promise
        for state in self.order:
            self.follow(state, self.prior)

    @property
    def size(self) -> int:
        """Number of vectors."""
        return sum(len(alphas) + len(self.base[s]) for s, alphas in self.alphas.items())

    def vectors(self, state: State) -> Vectors:
        """Return the value from above at a state."""
        if self.game.is_terminal(state):
            return Vectors.zero(self.n_intents)
        alphas = self.alphas[state]
        if self.approximation == "sawtooth":  # the base and the first vector that lowers it, as the printed `break`
            alphas = [a for a in alphas if not (self.base[state] <= a + SAME).all(axis=1).any()][:1]
        return Vectors(np.unique([*self.base[state], *alphas], axis=0))

    def known(self, state: State) -> FloatArray:
        """Return every vector stored at a state that is played."""
        return np.array([*self.base[state], *self.alphas[state]])

    def follow(self, state: State, belief: FloatArray) -> None:
        """Keep a promise that belongs to a belief."""
        known = self.known(state)
        self.beliefs[state][len(self.alphas[state])] = belief
        self.alphas[state].append(known[(known @ belief).argmin()])
        self.promises[state].append(-self.alphas[state][-1])

    def program(self, state: State) -> DefenderLP:
        """Build P_D(s, ·) on the vectors stored now."""
        seen = self.game.observations(state)
        return DefenderLP(self.game.stage(state), seen, self.game.discount, self._after(state), self.meter)

    def primal(self, state: State) -> VectorLP:
        """Build P_A(s, ·) on the vectors stored now: what an optimistic attacker would do."""
        seen = self.game.observations(state)
        return VectorLP(self.game.stage(state), seen, self.game.discount, self._after(state), self.meter)

    def value(self) -> float:
        """Return Σ_s v̂(s, P0(s, ·)) from above."""
        total = 0.0
        for start in self.game.starts:
            if not self.game.is_terminal(start.state):
                total += float((self.known(start.state) @ start.mass).min())
        return total

    def update(self) -> bool:
        """Re-solve P_D at every promise; tell whether anything fell."""
        fell = False
        for state in self.order:
            program, after = self.program(state), self._after(state)
            for k, promise in enumerate(self.promises[state]):
                if k in self.beliefs[state]:
                    fell |= self._move_promise(state, k, program, after)
                    continue
                vector = self._conceded(state, program.at_promise(promise), after)
                before, now = (float((promise + a).max()) for a in (self.alphas[state][k], vector))
                if now < before - PROGRESS * (1 + abs(before)):
                    self.alphas[state][k], fell = vector, True
        return fell

    def expand(self) -> None:
        """Store, per promise, the successor promise farthest from it in ℓ1 (constants do not count)."""
        for state in self.order:
            program, after = self.program(state), self._after(state)
            seen = self.game.observations(state)
            for promise in list(self.promises[state]):
                step = program.at_promise(promise)
                options: list[tuple[float, State, FloatArray]] = []
                for i in np.unique(step.mixture.observation).tolist():
                    following = -step.mixture.mean(i, after[i].alphas)
                    distance = float(np.abs(_centred(following) - _centred(promise)).sum())
                    options.append((distance, seen.successors[i], following))
                farthest = max((distance for distance, *_ in options), default=0.0)
                for distance, successor, following in options:
                    if distance >= farthest - SAME:
                        self._store(successor, following)

    def _move_promise(self, state: State, k: int, program: DefenderLP, after: list[Vectors]) -> bool:
        belief = self.beliefs[state][k]
        vector = self._conceded(state, program.at_belief(belief), after)
        before, now = float(self.alphas[state][k] @ belief), float(vector @ belief)
        if now < before - PROGRESS * (1 + abs(before)):
            self.alphas[state][k], self.promises[state][k] = vector, -vector
            return True
        return False

    def _store(self, state: State, promise: FloatArray) -> None:
        if self.game.is_terminal(state):
            return
        if _distance(_centred(promise), [_centred(p) for p in self.promises[state]]) <= SAME:
            return
        vector = self._conceded(state, self.program(state).at_promise(promise), self._after(state))
        known = (self.vectors(state).alphas + promise).max(axis=1).min()
        if known - (vector + promise).max() > SETTLED * (1 + abs(known)):
            self.promises[state].append(promise)
            self.alphas[state].append(vector)

    def _after(self, state: State) -> list[Vectors]:
        successors = self.game.observations(state).successors
        vectors = {s: self.vectors(s) for s in dict.fromkeys(successors)}
        return [vectors[s] for s in successors]

    def _conceded(self, state: State, step: DefenderStep, after: list[Vectors]) -> FloatArray:
        stage, seen = self.game.stage(state), self.game.observations(state)
        return defender_backup(stage, seen, self.game.discount, after, self.prior, step.defence, step.mixture).vector


def _distance(point: FloatArray, points: list[FloatArray]) -> float:
    """Return the ℓ1 distance of a point from the nearest of some."""
    return float(np.abs(np.array(points) - point).sum(axis=1).min())


def _centred(promise: FloatArray) -> FloatArray:
    return np.asarray(promise - promise.mean())
