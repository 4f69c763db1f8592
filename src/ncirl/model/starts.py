"""Where play starts, seen from each intent."""

from __future__ import annotations

import numpy as np

from ncirl._typing import FloatArray, State
from ncirl.model.game import Game

__all__ = ["prior_of", "start_laws"]


def prior_of(game: Game) -> FloatArray:
    """Return P0(θ)."""
    prior: FloatArray = np.sum([start.mass for start in game.starts], axis=0)
    return prior


def start_laws(game: Game) -> list[tuple[State, FloatArray]]:
    """Return each start s of ``game.timed()`` that is played with P0(s | θ), or P0(s) where P0(θ) = 0."""
    prior = prior_of(game)
    possible = prior > 0
    timed = game.timed()
    return [
        (start.state, np.where(possible, start.mass / np.where(possible, prior, 1.0), start.probability))
        for start in timed.starts
        if not timed.is_terminal(start.state)
    ]
