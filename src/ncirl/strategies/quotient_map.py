"""Strategies made on merged states, played in the game itself.

A solver that merges equivalent states (`ncirl.model.quotient`) knows actions by their place in the canonical order,
outcomes by their class. Here is the way between the two: what to do goes back to the game's own actions, those that
were merged being equally likely, and what was seen goes forward to the merged game's observations.
"""

import numpy as np

from ncirl._typing import FloatArray, IntArray, State
from ncirl.model.game import Game
from ncirl.model.quotient import Quotient

__all__ = ["QuotientMap"]


class QuotientMap:
    """Translates between a game without a horizon (`Game.timed`) and its merged twin."""

    def __init__(self, timed: Game, merged: Quotient) -> None:
        self.timed, self.merged = timed, merged
        self._observations: dict[State, IntArray] = {}

    def number(self, state: State) -> int:
        """Return the merged state."""
        return self.merged.number[state]

    def belief(self, state: State) -> FloatArray:
        """Return the belief with which play starts at `state`."""
        return next(start.belief for start in self.timed.starts if start.state == state)

    def attacker_actions(self, state: State, merged: FloatArray) -> FloatArray:
        """Return chances of the game's own attacker actions for those of the merged game's, [k, ...]."""
        return _drawn(self.merged.attacker[state], merged)

    def defender_actions(self, state: State, merged: FloatArray) -> FloatArray:
        """Return chances of the game's own defender actions for those of the merged game's, [k, ...]."""
        return _drawn(self.merged.defender[state], merged)

    def shares(self, state: State) -> FloatArray:
        """Return, for each observation, the share of the mass after the merged one that comes with it.

        Where actions are seen, who draws one of several leaves each of them its part.
        """
        seen = self.timed.observations(state)
        if not seen.by_action:
            return np.ones(len(seen))
        number = self.merged.attacker[state]
        found: FloatArray = 1.0 / np.bincount(number)[number[seen.mass.indices]]
        return found

    def observation(self, state: State, i: int) -> int:
        """Return the merged game's observation for observation `i` of the game."""
        return int(self.observations(state)[i])

    def observations(self, state: State) -> IntArray:
        """Return the merged game's observation for each of the game's."""
        if state not in self._observations:
            self._observations[state] = self._translated(state)
        return self._observations[state]

    def _translated(self, state: State) -> IntArray:
        seen, merged = self.timed.observations(state), self.merged.game
        number = (self.merged.attacker if seen.by_action else self.merged.defender)[state]
        outcomes = {outcome: k for k, outcome in enumerate(merged.stage(self.number(state)).outcomes)}
        own = [outcomes.get(self.merged.outcome(outcome), -1) for outcome in self.timed.stage(state).outcomes]
        row, o = np.nonzero((seen.table >= 0) & (np.array(own) >= 0))  # the others never happen
        of_merged = merged.observations(self.number(state)).table[number][:, own]
        translated: IntArray = np.full(len(seen), -1, dtype=np.intp)
        translated[seen.table[row, o]] = of_merged[row, o]  # the same wherever an observation stands in the table
        return translated


def _drawn(number: IntArray, merged: FloatArray) -> FloatArray:
    """Give each action its part of what was chosen: all that were merged are equally likely."""
    own: FloatArray = (merged.T / np.bincount(number)).T[number]
    return own
