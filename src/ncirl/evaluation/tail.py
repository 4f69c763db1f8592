"""What may still be won after n stages of a play that never ends: at most γ^n R / (1 − γ), R the largest |r|."""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from ncirl.errors import InputError, SizeError
from ncirl.model.game import Game

__all__ = ["MAX_STATES", "Tail"]

MAX_STATES = 100_000  # public states looked at for the largest reward


class Tail:
    """How long a game is to be followed, and what is missed by that.

    Parameters
    ----------
    game : Game
        With or without a horizon.
    stages : int, optional
        Follow it that long and count nothing beyond; by default to its horizon or until `tolerance` is met.
    tolerance : float
        What may be missed of a game without a horizon.
    """

    def __init__(self, game: Game, stages: int | None, tolerance: float) -> None:
        if stages is not None and stages < 0:
            raise InputError(f"stages: must not be negative, got {stages}")
        if not tolerance > 0:
            raise InputError(f"tolerance: must be positive, got {tolerance:g}")
        if stages is None and game.horizon is None and game.discount == 1:
            raise InputError(
                f"game '{game.name}': a discount of 1 needs an end; give `stages` or a game with a horizon"
            )
        self._game = game
        self.cut = stages is not None or game.horizon is not None
        if stages is not None:
            self.stages = stages if game.horizon is None else min(stages, game.horizon)
        else:
            self.stages = game.horizon if game.horizon is not None else self._needed(tolerance)

    @cached_property
    def largest_reward(self) -> float:
        """R, over every reachable public state."""
        try:
            stages = [self._game.stage(state) for state in self._game.explore(MAX_STATES)]
        except SizeError as error:
            raise SizeError(f"{error}; give `stages`, for then the largest reward need not be known") from None
        return max((float(np.abs(stage.reward).max()) for stage in stages if not stage.is_terminal), default=0.0)

    def bound(self, n: int) -> float:
        """Bound |what comes after stage n|; 0 where nothing beyond the end is asked for."""
        if self.cut:
            return 0.0
        return self._game.discount**n * self.largest_reward / (1.0 - self._game.discount)

    def _needed(self, tolerance: float) -> int:
        discount, all_of_it = self._game.discount, self.bound(0)
        if all_of_it <= tolerance:
            return 0
        return 1 if discount == 0 else math.ceil(math.log(tolerance / all_of_it) / math.log(discount))
