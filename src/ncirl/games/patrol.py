"""The thief and the guard of the paper's appendix A.

A thief (the attacker) and a guard (the defender) stand in the museum m or the gallery g; each stage both stay or
switch. The thief values the museum at θ and the gallery at 1 − θ, and steals with probability 1 where it is alone
and ½ where the guard is too:

    R(s'; θ) = θ/2 at (m, m),   θ at (m, g),   1 − θ at (g, m),   (1 − θ)/2 at (g, g).
"""

from __future__ import annotations

from collections.abc import Sequence

from ncirl.model.game import Game, Observes
from ncirl.model.stage import Branch, Stage

__all__ = ["patrol"]

PLACES = ("m", "g")
MOVES = ("stay", "switch")


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
