"""How a stage can go on, as flat arrays: every (a, d, i) that does not end the play, and its probability.

P(i | s, a, d) = mass[i, a] · weight[i, d]          (`ncirl.model.observations`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ncirl._typing import FloatArray, IntArray, State
from ncirl.model.game import Game

__all__ = ["MoveTable", "Moves"]


@dataclass(frozen=True, eq=False)
class Moves:
    """Parallel arrays, one entry per (a, d, i); `successors` by i."""

    a: IntArray
    d: IntArray
    i: IntArray
    chance: FloatArray
    successors: tuple[State, ...]

    def where(self, kept: NDArray[np.bool_]) -> Iterator[tuple[int, int, int, float, State]]:
        """Give (a, d, i, chance, successor) for the entries kept."""
        at = np.flatnonzero(kept)
        columns = (self.a[at].tolist(), self.d[at].tolist(), self.i[at].tolist(), self.chance[at].tolist())
        for a, d, i, chance in zip(*columns, strict=True):
            yield a, d, i, chance, self.successors[i]


class MoveTable:
    """The moves of every public state met so far."""

    def __init__(self, game: Game) -> None:
        self._game = game
        self._met: dict[State, Moves] = {}

    def at(self, state: State) -> Moves:
        """Return the moves of a public state."""
        if state not in self._met:
            self._met[state] = _moves(self._game, state)
        return self._met[state]


def _moves(game: Game, state: State) -> Moves:
    stage, seen = game.stage(state), game.observations(state)
    law = stage.law.tocoo()
    a, d = np.divmod(law.row.astype(np.intp), len(stage.defender))
    i = seen.table[a if seen.by_action else d, law.col]
    triples, place = np.unique(np.stack([a, d, i]), axis=1, return_inverse=True)
    chance = np.bincount(place.ravel(), law.data, minlength=triples.shape[1])
    goes_on = np.array([not game.is_terminal(successor) for successor in seen.successors])
    kept = (chance > 0) & goes_on[triples[2]]
    a, d, i = triples[:, kept]
    return Moves(a, d, i, chance[kept], seen.successors)
