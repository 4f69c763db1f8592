"""One stage and what follows it: Q(s, a, d, θ) = r(s, a, d, θ) + γ Σ_o q(o | s, a, d) V(s'(o), θ)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ncirl._typing import FloatArray, State
from ncirl.model.game import Game

__all__ = ["attacker_values"]


def attacker_values(game: Game, state: State, values: Mapping[State, FloatArray], mixes: FloatArray) -> FloatArray:
    """Return Q[a, θ], what each action is worth against a defender who mixes by ``mixes[:, θ]``.

    Parameters
    ----------
    game : Game
        Without a horizon.
    state : State
        Where; not terminal.
    values : mapping
        V[θ] of every successor.
    mixes : ndarray of shape (D, Θ)
        The defender's mixed action, which may differ by intent.
    """
    stage = game.stage(state)
    after = stage.law @ np.array([values[outcome.state] for outcome in stage.outcomes])
    payoffs = stage.reward + game.discount * after.reshape(*stage.shape, -1)  # indexed [a, d, θ]
    worth: FloatArray = np.einsum("adt,dt->at", payoffs, mixes)
    return worth
