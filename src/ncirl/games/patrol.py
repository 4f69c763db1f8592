"""The thief and the guard of the paper's appendix A.

A thief (the attacker) and a guard (the defender) stand in the museum m or the gallery g; each stage both stay or
switch. The thief values the museum at θ and the gallery at 1 − θ, and steals with probability 1 where it is alone
and ½ where the guard is too:

    R(s'; θ) = θ/2 at (m, m),   θ at (m, g),   1 − θ at (g, m),   (1 − θ)/2 at (g, g).

The appendix tells a story of two stages in which the thief values the museum at ⅔. The guard of MA-IRL learned θ = ⅓
from an old log and plays that game's equilibrium. The guard of the paper's N-CIRL tosses a coin, then follows the
thief, who is supposed to go where it likes best. That pair is not in equilibrium: a thief who first goes elsewhere does
better against the same guard. The value of the game lies between.

Two things are to be known of the 4/3 that the guard of MA-IRL concedes. It is told of a log that is wrong; where the
log's intent is drawn like the true one, it is right half of the time. And it rests on a choice: the thief's equilibrium
with a public intent is not unique. With θ = ⅔ the guard stays in the museum, so the thief gets ⅓ a stage wherever it
goes, and all that is asked of it is to go to the museum one time in three at the least. At the least, it gets ⅓ a stage
from the guard in the gallery, too.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ncirl._typing import FloatArray
from ncirl.model.game import Game, Observes
from ncirl.model.stage import Branch, Stage
from ncirl.solution import solve

__all__ = ["PatrolStory", "patrol", "patrol_story"]

PLACES = ("m", "g")
MOVES = ("stay", "switch")
LOG, TRUE = 0, 1  # the intents ⅓, which the old log shows, and ⅔, which the thief now has
STAGES = 2


def patrol(
    intents: Sequence[float] = (1 / 3, 2 / 3),
    prior: Sequence[float] | None = None,
    discount: float = 0.9,
    horizon: int | None = None,
    observes: Observes | str = Observes.ACTIONS,
) -> Game:
    """Build the patrol game.

    Parameters
    ----------
    intents : sequence of float
        The values θ ∈ [0, 1] the thief may put on the museum; named t1, t2, … in order.
    prior : sequence of float, optional
        Probability of each; equal by default. The start is uniform over the four places.
    """
    stages = {
        (thief, guard): Stage.from_moves(
            MOVES,
            MOVES,
            {(a, d): [_branch(_go(thief, a), _go(guard, d), intents)] for a in MOVES for d in MOVES},
            len(intents),
        )
        for thief in PLACES
        for guard in PLACES
    }
    prior = prior or [1 / len(intents)] * len(intents)
    return Game(
        stages.__getitem__,
        intents=[f"t{i + 1}" for i in range(len(intents))],
        initial={state: [p / len(stages) for p in prior] for state in stages},
        discount=discount,
        horizon=horizon,
        observes=observes,
        name="patrol",
        describe=lambda state: f"thief {state[0]}, guard {state[1]}",
    )


def _go(place: str, move: str) -> str:
    return place if move == "stay" else PLACES[1 - PLACES.index(place)]


def _branch(thief: str, guard: str, intents: Sequence[float]) -> Branch:
    chance = 0.5 if thief == guard else 1.0
    reward = tuple(chance * (theta if thief == "m" else 1 - theta) for theta in intents)
    return Branch((thief, guard), reward=reward)


@dataclass(frozen=True)
class PatrolStory:
    """What the thief of intent ⅔ takes in two stages."""

    learned: float  # from the guard who learned the wrong intent, both playing their complete-information equilibria
    honest: float  # from the guard who tosses a coin and then follows, when the thief just goes where it likes best
    deceived: float  # from the same guard, when the thief deceives it as well as it can
    value: float  # in equilibrium, averaged over both intents: the value of the game
    averaged: float  # from the guard who learned an intent drawn like the true one: wrong half of the time
    least_learned: float  # as `learned`, of all equilibria of the thief's public intent the one that gets least


def patrol_story() -> PatrolStory:
    """Compute the numbers.

    Examples
    --------
    >>> story = patrol_story()
    >>> [round(x, 4) for x in (story.learned, story.honest, story.deceived, story.value)]
    [1.3333, 0.8333, 0.9167, 0.875]
    >>> round(story.averaged, 4), round(story.least_learned, 4)
    (1.0, 0.6667)
    """
    from ncirl.solvers.history_lp.history_lp import HistoryLP
    from ncirl.solvers.history_lp.tree import HistoryTree
    from ncirl.solvers.shapley import Shapley

    game = patrol(discount=1.0, horizon=STAGES)
    tree = HistoryTree(game.timed())
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

    def rarely(state: tuple[int, tuple[str, str]]) -> FloatArray:
        """Go to the museum one time in three: an equilibrium of θ = ⅔, too."""
        third = np.array([1 / 3, 2 / 3]) if state[1][0] == "m" else np.array([2 / 3, 1 / 3])
        return np.repeat(third[:, None], len(game.intents), axis=1)

    plays = of_states(lambda state: public.attacker[state])
    wrong_log = of_states(lambda state: public.defender[state][:, LOG])
    right_log = of_states(lambda state: public.defender[state][:, TRUE])
    learned, right = tree.conceded(wrong_log, plays), tree.conceded(right_log, plays)
    honest = tree.conceded(of_states(follow), of_states(to_museum))
    deceived = tree.conceded(of_states(follow))
    return PatrolStory(
        learned=_mean(game, learned),
        honest=_mean(game, honest),
        deceived=_mean(game, deceived),
        value=solve(game, HistoryLP()).lower,
        averaged=(_mean(game, learned) + _mean(game, right)) / 2,
        least_learned=_mean(game, tree.conceded(wrong_log, of_states(rarely))),
    )


def _mean(game: Game, payoffs: FloatArray) -> float:
    """Average the true intent's payoff over the start states."""
    return float(np.average(payoffs[:, TRUE], weights=[start.probability for start in game.starts]))


def _unit(move: str) -> FloatArray:
    return np.array([float(move == each) for each in MOVES])
