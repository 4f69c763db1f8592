"""The defender's side of NC-PBVI: promises ζ with their vectors α per state, over stationary defences.

Some promises are fixed; others belong to a belief, ζ ∈ −∂v(s, b), and move as the vectors get better: that of the
prior, and those of the beliefs the attacker may be in.
"""

import numpy as np

from ncirl._typing import FloatArray, State
from ncirl.lp.defender import DefenderProgram
from ncirl.lp.session import Meter
from ncirl.lp.stores import FixedVectors, VectorStore
from ncirl.lp.vector_program import VectorProgram
from ncirl.model.game import Game
from ncirl.solvers.initial import InitialBounds
from ncirl.solvers.nc_pbvi.side import PROGRESS, SAME, SETTLED, Approximation, Side, distance

__all__ = ["DefenderSide"]


class DefenderSide(Side[VectorStore, DefenderProgram]):
    """UPDATE-D and EXPAND-D."""

    def __init__(self, game: Game, approximation: Approximation, meter: Meter, initial: InitialBounds) -> None:
        super().__init__(game, approximation, meter)
        self.base = {s: np.array([d.vectors[s] for d in initial.defences]) for s in self.order}
        self.promises: dict[State, list[FloatArray]] = {s: [] for s in self.order}
        self.alphas: dict[State, list[FloatArray]] = {s: [] for s in self.order}
        self.beliefs: dict[State, dict[int, FloatArray]] = {s: {} for s in self.order}  # by number of the promise
        for state in self.order:
            self.follow(state, self.prior)

    @property
    def size(self) -> int:
        """Number of vectors."""
        return sum(len(alphas) + len(self.base[s]) for s, alphas in self.alphas.items())

    def known(self, state: State) -> FloatArray:
        """Return every vector stored at a state that is played."""
        return np.array([*self.base[state], *self.alphas[state]])

    def value(self) -> float:
        """Return Σ_s v̂(s, P0(s, ·)) from above."""
        starts = [start for start in self.game.starts if not self.game.is_terminal(start.state)]
        return sum(float((self.known(start.state) @ start.mass).min()) for start in starts)

    def follow(self, state: State, belief: FloatArray) -> None:
        """Keep a promise that belongs to a belief."""
        known = self.known(state)
        self.beliefs[state][len(self.alphas[state])] = belief
        self._add(state, vector := known[(known @ belief).argmin()], -vector)

    def primal(self, state: State) -> VectorProgram:
        """Build P_A(s, ·) on the vectors stored now: what an optimistic attacker would do."""
        vectors = FixedVectors.of(
            {self.number[s]: self.store(s).alphas for s in self.successors(state)}, self.n_intents
        )
        return VectorProgram(self.arrays[state], vectors, self.accuracy, self.meter)

    def update(self) -> bool:
        """Re-solve P_D at every promise; tell whether anything fell."""
        fell = False
        for state in self.order:
            due = [k for k in range(len(self.promises[state])) if self._due(state, k)]
            better = {k: vector for k in due if (vector := self._better(state, k)) is not None}
            if better:  # noted only now: all were solved on the same vectors
                for k, vector in better.items():
                    before = self.alphas[state][k]
                    if (vector > before).any():  # other vectors may rest on it where it was lower
                        self.base[state] = self._vectors(state, np.vstack([self.base[state], before])).alphas
                    self.alphas[state][k] = vector
                    if k in self.beliefs[state]:
                        self.promises[state][k] = -vector
                self._changed(state)
                fell = True
        return fell

    def expand(self) -> None:
        """Store, per promise, the successor promise farthest from it in ℓ1 (constants do not count)."""
        for state in self.order:
            program, successor = self.program(state), self.arrays[state].successor
            for promise in list(self.promises[state]):
                step = program.at_promise(promise)
                options: list[tuple[float, State, FloatArray]] = []
                for i in np.flatnonzero(step.mixed).tolist():
                    following = -step.promised[i]
                    apart = float(np.abs(_centred(following) - _centred(promise)).sum())
                    options.append((apart, self.order[successor[i]], following))
                farthest = max((apart for apart, *_ in options), default=0.0)
                for apart, after, following in options:
                    if apart >= farthest - SAME:
                        self._store(after, following)

    def _better(self, state: State, k: int) -> FloatArray | None:
        """Solve P_D at promise `k`; return the vector conceded if that keeps the promise better than before."""
        promise, program, before = self.promises[state][k], self.program(state), self.alphas[state][k]
        belief = self.beliefs[state].get(k)
        if belief is None:
            vector = program.at_promise(promise).vector
            was, now = float((promise + before).max()), float((promise + vector).max())
        else:
            vector = program.at_belief(belief).vector
            was, now = float(before @ belief), float(vector @ belief)
        return vector if now < was - PROGRESS * (1 + abs(was)) else None

    def _store(self, state: State, promise: FloatArray) -> None:
        if distance(_centred(promise), [_centred(p) for p in self.promises[state]]) <= SAME:
            return
        vector = self.program(state).at_promise(promise).vector
        known = (self.store(state).alphas + promise).max(axis=1).min()
        if known - (vector + promise).max() > SETTLED * (1 + abs(known)):
            self._add(state, vector, promise)

    def _add(self, state: State, vector: FloatArray, promise: FloatArray) -> None:
        self.alphas[state].append(vector)
        self.promises[state].append(promise)
        self._changed(state)

    def _new_store(self, state: State) -> VectorStore:
        alphas = self.alphas[state]
        if self.approximation == "sawtooth":  # the base and the first vector that lowers it, as the printed `break`
            alphas = [a for a in alphas if not (self.base[state] <= a + SAME).all(axis=1).any()][:1]
        return self._vectors(state, np.array([*self.base[state], *alphas]))

    def _vectors(self, state: State, alphas: FloatArray) -> VectorStore:
        """Return vectors without those that another one is nowhere above."""
        store = FixedVectors.of({self.number[state]: alphas}, self.n_intents).stores[self.number[state]]
        store.prune(slack=0.0)
        return store

    def _program(self, state: State) -> DefenderProgram:
        stores = {self.number[s]: self.store(s) for s in self.successors(state)}
        return DefenderProgram(self.arrays[state], stores, self.prior, self.meter)


def _centred(promise: FloatArray) -> FloatArray:
    return np.asarray(promise - promise.mean())
