"""A public state as the certified solver sees it: arrays in the order its programs ask for them.

Only observations that do not end the game are kept. The attacker's actions are seen (i = (a, s')) or not (i = (d, o));
either way ``β_i = mass[i] @ A`` and the weight of i against the defender's action is ``weight[i]``.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ncirl._typing import FloatArray, IntArray, State
from ncirl.game import Game

__all__ = ["Place"]


class Place:
    """Arrays of one public state.

    Attributes
    ----------
    reward : ndarray of shape (A, D, Θ)
        r.
    seen : ndarray of shape (I,)
        Numbers of the kept observations in the game's own list.
    mass, gather : csr_array of shape (I, A) and (A, I)
        What of the plan reaches the posterior, and its transpose.
    successor : ndarray of shape (I,)
        Number of the place each observation leads to.
    loop : ndarray of bool
        Which observations lead back here.
    """

    def __init__(self, game: Game, state: State, number: dict[State, int]) -> None:
        stage, observations = game.stage(state), game.observations(state)
        self.number = number[state]
        self.discount = game.discount
        self.reward = stage.reward
        self.n_a, self.n_d, self.n_t = stage.reward.shape
        on = [i for i, s in enumerate(observations.successors) if not game.is_terminal(s)]
        self.seen: IntArray = np.array(on, dtype=np.intp)
        self.mass = sp.csr_array(observations.mass[self.seen])
        self.gather = sp.csr_array(self.mass.T)
        self.weight_rows = sp.csr_array(observations.weight[self.seen])
        self._weight_columns = sp.csc_array(self.weight_rows)
        self.successor: IntArray = np.array([number[observations.successors[i]] for i in on], dtype=np.intp)
        self.successors: list[int] = list(dict.fromkeys(self.successor.tolist()))
        self.loop = self.successor == self.number
        self.by_action = observations.by_action
        entries = self.mass.tocoo()
        if self.by_action:  # one action an observation, in order
            self.action: IntArray = entries.col.astype(np.intp)
            self._of_action = np.split(np.arange(len(on)), np.searchsorted(self.action, np.arange(1, self.n_a)))

    def weight_of(self, observations: IntArray) -> FloatArray:
        """Return weight rows [i, d] of some observations."""
        rows: FloatArray = self.weight_rows[observations].toarray()
        return rows

    def weight_against(self, defences: IntArray) -> FloatArray:
        """Return weight columns [i, d] of some of the defender's actions."""
        columns: FloatArray = self._weight_columns[:, defences].toarray()
        return columns

    def expected(self, actions: IntArray, *worths: FloatArray) -> list[FloatArray]:
        """Return Σ_i mass[i,a] weight[i,d] worth_i for some actions, [a, d], one matrix per vector of worths."""
        share = self.gather[actions]
        return [(share.multiply(worth[None]) @ self.weight_rows).toarray() for worth in worths]

    def opened_by(self, action: int | None, defence: int | None) -> IntArray:
        """Return the observations that come into play with an attacker's action, or with a defender's."""
        if self.by_action:
            return self._of_action[action] if action is not None else np.zeros(0, dtype=np.intp)
        if defence is None:
            return np.zeros(0, dtype=np.intp)
        column = self._weight_columns[:, [defence]]
        return np.asarray(column.indices, dtype=np.intp)
