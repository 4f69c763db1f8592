"""How a play goes on from stage to stage, and how many of them count.

Observation i follows (a, d) with probability mass[i, a] · weight[i, d] (`ncirl.model.observations`). After n stages of
a play that never ends there may still be won at most γ^n R / (1 − γ), R the largest |r|.
"""

import math
from collections.abc import Iterator
from functools import cached_property

import numpy as np

from ncirl._typing import FloatArray, IntArray, State
from ncirl.errors import InputError, LimitError, SizeError
from ncirl.limits import UNLIMITED, Limits
from ncirl.mdp import OpponentMDP
from ncirl.model.game import Game

__all__ = ["Continuations", "Tail"]

FOLLOWING = "following the play"
AT_ONCE = 1000  # ways to go on between two checks
MAX_STATES = 100_000  # public states looked at for the largest reward

Sight = tuple[int, int, State, IntArray, FloatArray]  # d, i, the successor, and the a with P(i | a, d) > 0, that chance


class Continuations:
    """Every way in which play can go on from the public states of a game, kept once it was needed."""

    def __init__(self, game: Game, limits: Limits = UNLIMITED) -> None:
        self._game, self._limits = game, limits
        self._met: dict[State, tuple[IntArray, IntArray, IntArray, FloatArray]] = {}
        self._sights: dict[State, list[Sight]] = {}

    def at(self, state: State, attack: FloatArray, defence: FloatArray) -> Iterator[tuple[int, int, int, float, State]]:
        """Give (a, d, i, P(i | a, d), successor) where a and d have weight and play does not end.

        Parameters
        ----------
        state : State
            Where; not terminal.
        attack, defence : ndarray of shape (A,), (D,)
            A weight for each action.
        """
        successors = self._game.observations(state).successors
        a, d, i, chance = self._entries(state)
        at = np.flatnonzero((attack[a] > 0) & (defence[d] > 0))
        columns = (a[at].tolist(), d[at].tolist(), i[at].tolist(), chance[at].tolist())
        for one, other, seen, p in self._limits.watch(zip(*columns, strict=True), FOLLOWING, AT_ONCE):
            yield one, other, seen, p, successors[seen]

    def by_sight(self, state: State) -> Iterator[Sight]:
        """Give what the defender's action and the observation can be where play goes on, with what brings it about."""
        if state not in self._sights:
            a, d, i, chance = self._entries(state)
            successors = self._game.observations(state).successors
            order = np.lexsort((a, i, d))
            cuts = np.flatnonzero(np.diff(d[order]) | np.diff(i[order])) + 1
            parts = [part for part in np.split(order, cuts) if len(part)]
            self._sights[state] = [
                (int(d[at[0]]), int(i[at[0]]), successors[i[at[0]]], a[at], chance[at])
                for at in self._limits.watch(parts, FOLLOWING, AT_ONCE)
            ]
        yield from self._limits.watch(self._sights[state], FOLLOWING, AT_ONCE)

    def _entries(self, state: State) -> tuple[IntArray, IntArray, IntArray, FloatArray]:
        if state not in self._met:
            seen = self._game.observations(state)
            goes_on = np.array([not self._game.is_terminal(after) for after in seen.successors])
            a, d, i, chance = seen.entries
            kept = goes_on[i] & (chance > 0)
            self._met[state] = a[kept], d[kept], i[kept], chance[kept]
        return self._met[state]


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
    limits : Limits
        Of time and memory.
    """

    def __init__(self, game: Game, stages: int | None, tolerance: float, limits: Limits = UNLIMITED) -> None:
        if stages is not None and stages < 0:
            raise InputError(f"stages: must not be negative, got {stages}")
        if not tolerance > 0:
            raise InputError(f"tolerance: must be positive, got {tolerance:g}")
        if stages is None and game.horizon is None and game.discount == 1:
            raise InputError(
                f"game '{game.name}': a discount of 1 needs an end; give `stages` or a game with a horizon"
            )
        self._game, self.discount, self.tolerance, self._limits = game, game.discount, tolerance, limits
        self.cut = stages is not None or game.horizon is not None
        if stages is not None:
            self.stages = stages if game.horizon is None else min(stages, game.horizon)
        else:
            self.stages = game.horizon if game.horizon is not None else self._needed()

    @cached_property
    def largest_reward(self) -> float:
        """R, over every reachable public state."""
        try:
            stages = [self._game.stage(state) for state in self._game.explore(MAX_STATES, self._limits)]
        except LimitError:
            raise
        except SizeError as error:
            raise SizeError(f"{error}; give `stages`, for then the largest reward need not be known") from None
        return max((float(np.abs(stage.reward).max()) for stage in stages if not stage.is_terminal), default=0.0)

    def bound(self, n: int) -> float:
        """Bound |what comes after stage n|; 0 where nothing beyond the end is asked for."""
        if self.cut:
            return 0.0
        return self.discount**n * self.largest_reward / (1.0 - self.discount)

    def values(self, process: OpponentMDP, *, closed: bool) -> tuple[FloatArray, float, int]:
        """Iterate the values [node, k] of a process from 0; return them, how far off they may be, and the sweeps.

        N sweeps are the value of N stages. Where every node that can be reached is known (`closed`) the residual
        |Tv − v| bounds the error as well, by γ |Tv − v| / (1 − γ), and often earlier.
        """
        values, error, n = np.zeros((len(process.first), 1)), self.bound(0), 0
        while len(values) and n < self.stages and (self.cut or error > self.tolerance):
            self._limits.check(FOLLOWING)
            before, values = values, process.backup(values)
            n += 1
            residual = float(np.abs(values - before).max())
            if residual == 0:  # further sweeps change nothing
                return values, 0.0 if closed else self.bound(self.stages), n
            error = self.bound(n)
            if closed and not self.cut:
                error = min(error, self.discount * residual / (1.0 - self.discount))
        return values, error, n

    def _needed(self) -> int:
        all_of_it = self.bound(0)
        if all_of_it <= self.tolerance:
            return 0
        return 1 if self.discount == 0 else math.ceil(math.log(self.tolerance / all_of_it) / math.log(self.discount))
