"""The attacker who knows what a defender without memory plays, and answers best.

    V(s, θ) = max_a Σ_d D(d | s) [ r(s, a, d, θ) + γ Σ_o q(o | s, a, d) V(s'(o), θ) ],

solved by strongly connected components, successors first; inside one that has cycles by sweeps until nothing changes by
more than `SETTLED`. The answer is pure, and within 2γ SETTLED / (1 − γ) of the best.
"""

from __future__ import annotations

import numpy as np

from ncirl._typing import FloatArray, State
from ncirl.baselines.lookahead import attacker_values
from ncirl.errors import InputError
from ncirl.model.game import Game
from ncirl.model.order import components
from ncirl.strategies.strategy import StationaryAttacker, StationaryDefender

__all__ = ["best_responder"]

SETTLED = 1e-12


def best_responder(game: Game, defender: StationaryDefender) -> StationaryAttacker:
    """Return the attacker who answers this defender best, for every intent.

    Parameters
    ----------
    game : Game
        With or without a horizon; with one, the answer depends on how many stages are left.
    defender : StationaryDefender
        Of this game, or of the same one without a horizon.

    Raises
    ------
    InputError
        When the discount is 1 and the game has no horizon.

    Examples
    --------
    >>> import ncirl
    >>> from ncirl.strategies.strategy import uniform_defender
    >>> game = ncirl.games.aumann_maschler_1(discount=0.5)
    >>> best_responder(game, uniform_defender(game)).policies["play"]
    array([[1., 0.],
           [0., 1.]])
    """
    if game.discount == 1 and game.horizon is None:
        raise InputError(f"game '{game.name}': a discount of 1 needs a horizon; give one by `game.with_horizon`")
    timed = game.timed()
    n_intents = len(game.intents)
    values: dict[State, FloatArray] = {}
    policies: dict[State, FloatArray] = {}
    for component in components(timed):
        values.update({state: np.zeros(n_intents) for state in component})
        playable = [state for state in component if not timed.is_terminal(state)]
        moved = np.inf if playable else 0.0
        while moved > SETTLED:
            moved = 0.0
            for state in playable:
                worth = attacker_values(timed, state, values, _for_all(defender.mix(state, None), n_intents))
                moved = max(moved, float(np.abs(worth.max(axis=0) - values[state]).max()))
                values[state] = worth.max(axis=0)
                policies[state] = np.eye(len(worth))[:, worth.argmax(axis=0)]
    return StationaryAttacker(policies)


def _for_all(mix: FloatArray, n_intents: int) -> FloatArray:
    return np.repeat(mix[:, None], n_intents, axis=1)
