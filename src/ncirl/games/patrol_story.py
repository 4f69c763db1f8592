"""Appendix A of the paper, told in numbers: two stages of the patrol game, the thief values the museum at ⅔.

The guard of MA-IRL learned θ = ⅓ from an old log and plays that game's equilibrium. The guard of the paper's N-CIRL
tosses a coin, then follows the thief, who is supposed to go where it likes best. That pair is not in equilibrium: a
thief who first goes elsewhere does better against the same guard. The value of the game lies between.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ncirl._typing import FloatArray
from ncirl.games.patrol import MOVES, patrol
from ncirl.model.game import Game
from ncirl.solution import solve
from ncirl.solvers.history_lp.history_lp import HistoryLP
from ncirl.solvers.history_lp.tree import HistoryTree
from ncirl.solvers.shapley import Shapley

__all__ = ["PatrolStory", "patrol_story"]

LOG, TRUE = 0, 1  # the intents ⅓, which the old log shows, and ⅔, which the thief now has
STAGES = 2


@dataclass(frozen=True)
class PatrolStory:
    """What the thief of intent ⅔ takes in two stages.

    Attributes
    ----------
    learned : float
        From the guard who learned the wrong intent, both playing their complete-information equilibria.
    honest : float
        From the guard who tosses a coin and then follows, when the thief just goes where it likes best.
    deceived : float
        From the same guard, when the thief deceives it as well as it can.
    value : float
        In equilibrium, averaged over both intents: the value of the game.
    """

    learned: float
    honest: float
    deceived: float
    value: float


def patrol_story() -> PatrolStory:
    """Compute the four numbers.

    Examples
    --------
    >>> story = patrol_story()
    >>> [round(x, 4) for x in (story.learned, story.honest, story.deceived, story.value)]
    [1.3333, 0.8333, 0.9167, 0.875]
    """
    game = patrol(discount=1.0, horizon=STAGES)
    timed = game.timed()
    tree = HistoryTree(timed)
    public = solve(game, Shapley())

    def of_states(rule: Callable[[Any], FloatArray]) -> list[FloatArray]:
        """Play the same at every history of a timed state."""
        return [np.stack([rule(cluster.state)] * cluster.size) for cluster in tree.clusters]

    def follow(state: tuple[int, tuple[str, str]]) -> FloatArray:
        stage, (thief, guard) = state
        if stage == 0:
            return np.array([0.5, 0.5])
        return _unit("stay" if thief == guard else "switch")

    def to_museum(state: tuple[int, tuple[str, str]]) -> FloatArray:
        move = _unit("stay" if state[1][0] == "m" else "switch")
        return np.repeat(move[:, None], len(game.intents), axis=1)

    learned = tree.conceded(
        of_states(lambda state: public.defender[state][:, LOG]), of_states(lambda state: public.attacker[state])
    )
    honest = tree.conceded(of_states(follow), of_states(to_museum))
    deceived = tree.conceded(of_states(follow))
    return PatrolStory(
        learned=_mean(game, learned),
        honest=_mean(game, honest),
        deceived=_mean(game, deceived),
        value=solve(game, HistoryLP()).lower,
    )


def _mean(game: Game, payoffs: FloatArray) -> float:
    """Average the true intent's payoff over the start states."""
    return float(np.average(payoffs[:, TRUE], weights=[start.probability for start in game.starts]))


def _unit(move: str) -> FloatArray:
    return np.array([float(move == each) for each in MOVES])
