"""Random strategies of every kind: without memory, with public memory, with private memory that moves at random."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ncirl._typing import FloatArray, State
from ncirl.model.game import Game
from ncirl.strategies.strategy import AttackerStrategy, DefenderStrategy, Memory

__all__ = [
    "KINDS",
    "DrawnAttacker",
    "DrawnDefender",
    "RandomAttacker",
    "RandomDefender",
    "random_attacker",
    "random_defender",
]

KINDS = ("stationary", "public", "private")
N_MEMORIES = 2


def _rng(*key: object) -> np.random.Generator:
    return np.random.default_rng(zlib.crc32(repr(key).encode()))


def _mixed(rng: np.random.Generator, *shape: int) -> FloatArray:
    """Draw columns that sum to one, about a third of their entries zero."""
    draws = rng.random(shape) * (rng.random(shape) > 1 / 3)
    draws[rng.integers(shape[0])] += 0.25
    mixed: FloatArray = draws / draws.sum(axis=0)
    return mixed


@dataclass(frozen=True)
class RandomAttacker:
    """Its policy is drawn anew, but always the same, for each state and memory."""

    game: Game
    seed: int
    kind: str

    def begin(self, state: State) -> Sequence[tuple[Memory, FloatArray]]:
        return self._move((), ("begin", state))

    def policy(self, state: State, memory: Memory) -> FloatArray:
        n_a = self.game.stage(state).shape[0]
        return _mixed(_rng("attacker", self.seed, state, memory), n_a, len(self.game.intents))

    def after(self, state: State, memory: Memory, a: int, d: int, i: int) -> Sequence[tuple[Memory, FloatArray]]:
        return self._move((*memory, i) if isinstance(memory, tuple) else (), (state, memory, a, d, i))

    def _move(self, public: tuple[int, ...], key: object) -> Sequence[tuple[Memory, FloatArray]]:
        n_t = len(self.game.intents)
        if self.kind == "private":
            return list(enumerate(_mixed(_rng("attacker", self.seed, key), N_MEMORIES, n_t)))
        return [(public if self.kind == "public" else None, np.ones(n_t))]


@dataclass(frozen=True)
class RandomDefender:
    """Its mix is drawn anew, but always the same, for each state and memory."""

    game: Game
    seed: int
    kind: str

    def begin(self, state: State) -> Sequence[tuple[Memory, float]]:
        return self._move((), ("begin", state))

    def mix(self, state: State, memory: Memory) -> FloatArray:
        return _mixed(_rng("defender", self.seed, state, memory), self.game.stage(state).shape[1])

    def after(self, state: State, memory: Memory, d: int, i: int) -> Sequence[tuple[Memory, float]]:
        return self._move((*memory, i) if isinstance(memory, tuple) else (), (state, memory, d, i))

    def _move(self, public: tuple[int, ...], key: object) -> Sequence[tuple[Memory, float]]:
        if self.kind == "private":
            return [(k, float(p)) for k, p in enumerate(_mixed(_rng("defender", self.seed, key), N_MEMORIES))]
        return [(public if self.kind == "public" else None, 1.0)]


def random_attacker(game: Game, seed: int, kind: str) -> AttackerStrategy:
    return RandomAttacker(game.timed(), seed, kind)


def random_defender(game: Game, seed: int, kind: str) -> DefenderStrategy:
    return RandomDefender(game.timed(), seed, kind)


@dataclass(frozen=True)
class DrawnAttacker:
    """Plays as another strategy does, but draws each action a stage before: it is part of its private memory."""

    game: Game  # timed
    strategy: AttackerStrategy

    def begin(self, state: State) -> Sequence[tuple[Memory, FloatArray]]:
        return self._drawn(state, self.strategy.begin(state))

    def policy(self, state: State, memory: Memory) -> FloatArray:
        assert isinstance(memory, tuple)
        return np.repeat(np.eye(self.game.stage(state).shape[0])[:, [memory[1]]], len(self.game.intents), axis=1)

    def after(self, state: State, memory: Memory, a: int, d: int, i: int) -> Sequence[tuple[Memory, FloatArray]]:
        assert isinstance(memory, tuple)
        successor = self.game.observations(state).successors[i]
        return self._drawn(successor, self.strategy.after(state, memory[0], a, d, i))

    def _drawn(self, state: State, options: Sequence[tuple[Memory, FloatArray]]) -> Sequence[tuple[Memory, FloatArray]]:
        if self.game.is_terminal(state):
            return options
        return [((m, a), p * pi) for m, p in options for a, pi in enumerate(self.strategy.policy(state, m))]


@dataclass(frozen=True)
class DrawnDefender:
    """Plays as another strategy does, but draws each action a stage before: it is part of its private memory."""

    game: Game  # timed
    strategy: DefenderStrategy

    def begin(self, state: State) -> Sequence[tuple[Memory, float]]:
        return self._drawn(state, self.strategy.begin(state))

    def mix(self, state: State, memory: Memory) -> FloatArray:
        assert isinstance(memory, tuple)
        return np.eye(self.game.stage(state).shape[1])[memory[1]]

    def after(self, state: State, memory: Memory, d: int, i: int) -> Sequence[tuple[Memory, float]]:
        assert isinstance(memory, tuple)
        successor = self.game.observations(state).successors[i]
        return self._drawn(successor, self.strategy.after(state, memory[0], d, i))

    def _drawn(self, state: State, options: Sequence[tuple[Memory, float]]) -> Sequence[tuple[Memory, float]]:
        if self.game.is_terminal(state):
            return options
        return [((n, d), p * float(y)) for n, p in options for d, y in enumerate(self.strategy.mix(state, n))]
