"""The two strategies of a history program, as controllers that anything can play.

Memory is a place in the tree of public histories: (cluster, history). What is seen in the game itself is first told in
the words of the merged game on whose histories the program was solved (`quotient_map`). Every observation the game
allows has its place in the tree, so memory always moves on, also after what neither side meant to happen.
"""

from collections.abc import Sequence

import numpy as np

from ncirl._typing import FloatArray, State
from ncirl.solvers.history_lp.history_lp import HistorySolution
from ncirl.strategies.quotient_map import QuotientMap
from ncirl.strategies.strategy import Memory

__all__ = ["HistoryAttacker", "HistoryDefender"]


class _Places:
    """Finds the place in the tree."""

    def __init__(self, solution: HistorySolution) -> None:
        self.tree = solution.tree
        self.words = QuotientMap(solution.game.timed(), solution.merged)

    def root(self, state: State) -> tuple[int, int] | None:
        """Return the place where play that starts at `state` begins; None if it ends there."""
        belief = self.words.belief(state)
        # starts that were merged share their belief up to rounding
        distances = {
            root: float(np.abs(start.belief - belief).sum())
            for start, root in zip(self.tree.starts, self.tree.roots, strict=True)
            if start.state == self.words.number(state)
        }
        return min(distances, key=distances.__getitem__, default=None)

    def child(self, state: State, place: tuple[int, int], i: int) -> tuple[int, int] | None:
        """Return the place after observation `i` of the game itself; None where play ends."""
        k, history = place
        child = self.tree.clusters[k].children.get(self.words.observation(state, i))
        return None if child is None else (child[0], child[1] + history)


class HistoryAttacker:
    """The attacker's optimal strategy."""

    def __init__(self, solution: HistorySolution) -> None:
        self._places = _Places(solution)
        self._policies = solution.policies
        self._certain = np.ones(len(solution.game.intents))

    def begin(self, state: State) -> Sequence[tuple[Memory, FloatArray]]:
        """Begin at the root of the histories that start at `state`."""
        return [(self._places.root(state), self._certain)]

    def policy(self, state: State, memory: Memory) -> FloatArray:
        """Return π[a, θ]."""
        k, history = _place(memory)
        return self._places.words.attacker_actions(state, self._policies[k][history])

    def after(self, state: State, memory: Memory, a: int, d: int, i: int) -> Sequence[tuple[Memory, FloatArray]]:
        """Move on to the history that `i` leads to."""
        return [(self._places.child(state, _place(memory), i), self._certain)]


class HistoryDefender:
    """The defender's optimal strategy."""

    def __init__(self, solution: HistorySolution) -> None:
        self._places = _Places(solution)
        self._defences = solution.defences

    def begin(self, state: State) -> Sequence[tuple[Memory, float]]:
        """Begin at the root of the histories that start at `state`."""
        return [(self._places.root(state), 1.0)]

    def mix(self, state: State, memory: Memory) -> FloatArray:
        """Return D[d]."""
        k, history = _place(memory)
        return self._places.words.defender_actions(state, self._defences[k][history])

    def after(self, state: State, memory: Memory, d: int, i: int) -> Sequence[tuple[Memory, float]]:
        """Move on to the history that `i` leads to."""
        return [(self._places.child(state, _place(memory), i), 1.0)]


def _place(memory: Memory) -> tuple[int, int]:
    """Return a memory as what it is: a place in the tree."""
    if not isinstance(memory, tuple):
        raise TypeError(f"not a place in the tree of histories: {memory!r}")
    k, history = memory
    return k, history
