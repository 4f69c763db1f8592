"""What was seen of a stage, in words instead of a number: who did what, and what came of it."""

from dataclasses import dataclass

import numpy as np

from ncirl._typing import State
from ncirl.model.game import Game

__all__ = ["Seen", "seen_of"]


@dataclass(frozen=True)
class Seen:
    """One stage as the defender sees it.

    Attributes
    ----------
    state : State
        Where it was played: a public state of ``game.timed()``, which is (t, s) where the game has a horizon.
    attacker_action : str or None
        What the attacker did; None where actions are not seen.
    defender_action : str
        What the defender did.
    next_state : State
        Where it led.
    signal : str or None
        What was told besides, where outcomes are seen and have a signal.

    Examples
    --------
    >>> import ncirl
    >>> game = ncirl.games.patrol(horizon=2)
    >>> seen = seen_of(game, (0, ("m", "m")), d=0, i=2)
    >>> seen.attacker_action, seen.defender_action, seen.next_state
    ('switch', 'stay', (1, ('g', 'm')))
    """

    state: State
    attacker_action: str | None
    defender_action: str
    next_state: State
    signal: str | None


def seen_of(game: Game, state: State, d: int, i: int) -> Seen:
    """Return what observation `i` says, made at a public state of ``game.timed()`` where the defender did `d`."""
    timed = game.timed()
    stage, observations = timed.stage(state), timed.observations(state)
    row, o = np.argwhere(observations.table == i)[0]
    seen = observations.by_action
    return Seen(
        state=state,
        attacker_action=stage.attacker[row] if seen else None,
        defender_action=stage.defender[d],
        next_state=observations.successors[i],
        signal=None if seen else stage.outcomes[o].signal,
    )
