"""Inspections are few and the days many: when to look, when to break the rule.

With n days and m inspections left, the inspectee breaks the rule today or waits, the inspector looks or saves the
inspection. A violation ends the play: +1 for the inspectee when nobody looked, −1 when it is caught. Nothing is hidden
but the choice of the day, so there is one intent; the value obeys

    V(n, m) = val [[−1, 1], [V(n − 1, m − 1), V(n − 1, m)]],    V(0, m) = 0,    V(n, 0) = 1 for n ≥ 1.
"""

from ncirl.errors import InputError
from ncirl.model.game import Game, Observes
from ncirl.model.stage import TERMINAL, Branch, Stage

__all__ = ["inspection"]

OVER = (0, 0)


def inspection(
    days: int = 5,
    inspections: int = 2,
    discount: float = 1.0,
    observes: Observes | str = Observes.ACTIONS,
) -> Game:
    """Build the inspection game.

    Parameters
    ----------
    days : int
        n, at least 1; also the horizon of the game.
    inspections : int
        m, not negative.
    discount, observes
        As for `Game`.

    Raises
    ------
    InputError
        When a number is out of range.

    Examples
    --------
    >>> inspection(days=2, inspections=1).stage((2, 1)).reward[:, :, 0]
    array([[-1.,  1.],
           [ 0.,  0.]])
    """
    if days < 1 or inspections < 0:
        raise InputError(
            f"needs at least one day and no negative number of inspections, got {days} and {inspections}",
            where="inspection",
        )
    return Game(
        _stage,
        intents=("violator",),
        initial={(days, inspections): [1.0]},
        discount=discount,
        horizon=days,
        observes=observes,
        name="inspection",
        describe=lambda state: "over" if state == OVER else f"days left {state[0]}, inspections left {state[1]}",
    )


def _stage(state: tuple[int, int]) -> Stage:
    days, inspections = state
    if days == 0:
        return TERMINAL
    looks = ("inspect", "save") if inspections else ("save",)
    moves = {}
    for look in looks:
        seen = look == "inspect"
        left = (days - 1, inspections - seen) if days > 1 else OVER
        moves["violate", look] = [Branch(OVER, reward=-1.0 if seen else 1.0)]
        moves["wait", look] = [Branch(left)]
    return Stage.from_moves(("violate", "wait"), looks, moves, n_intents=1)
