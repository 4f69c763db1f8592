"""A public state as the certified solver sees it: arrays in the order its programs ask for them.

Only observations that do not end the game are kept. Where actions are seen, i = (a, s'), an observation belongs to one
attacker action and ``weight[i, d] = T(s' | a, d)`` is a dense table; where outcomes are, i = (d, o), it belongs to one
defence and ``mass[i, a] = q(o | a, d)`` is. The methods hide which.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ncirl._typing import BoolArray, FloatArray, IntArray, State
from ncirl.model.belief import policy_of
from ncirl.model.game import Game
from ncirl.model.tempered import Options

__all__ = ["SLOW", "Place"]

SLOW = 0.98  # a discount from which on one stage counts little


class Place:
    """Arrays of one public state.

    Attributes
    ----------
    slow : bool
        Whether values creep from one stage to the next: then nodes keep all they need to be evaluated to the end.
    reward : ndarray of shape (A, D, Θ)
        r.
    attacker, defender : ndarray of bool, of shapes (A, Θ) and (D,)
        What each side may play; the other is ready for everything.
    seen : ndarray of shape (I,)
        Numbers of the kept observations in the game's own list.
    owner : ndarray of shape (I,)
        The action each observation belongs to: the attacker's where actions are seen, else the defender's.
    table : ndarray of shape (I, D) or (I, A)
        Its chance against each action of the other side.
    successor : ndarray of shape (I,)
        Number of the place each observation leads to.
    successors : list of int
        The places there are among them.
    toward : ndarray of shape (I,)
        Where each observation's successor stands in `successors`.
    loop : ndarray of bool
        Which observations lead back here.
    """

    def __init__(self, game: Game, state: State, number: dict[State, int], options: Options | None = None) -> None:
        stage, observations = game.stage(state), game.observations(state)
        self.number = number[state]
        self.discount = game.discount
        self.slow = SLOW < game.discount < 1
        self.reward = stage.reward
        self.n_a, self.n_d, self.n_t = (int(n) for n in stage.reward.shape)
        self.attacker: BoolArray = _all(self.n_a, self.n_t) if options is None else options.attacker[state]
        self.defender: BoolArray = _all(self.n_d) if options is None else options.defender[state]
        self.by_action = observations.by_action
        on = [i for i, s in enumerate(observations.successors) if not game.is_terminal(s)]
        unit, table = observations.mass, observations.weight
        if not self.by_action:
            unit, table = table, unit
        self.seen: IntArray = np.array(on, dtype=np.intp)
        self.owner: IntArray = unit[self.seen].indices.astype(np.intp)
        self.table: FloatArray = table[self.seen].toarray()
        self.successor: IntArray = np.array([number[observations.successors[i]] for i in on], dtype=np.intp)
        self.successors: list[int] = sorted(set(self.successor.tolist()))
        self.toward: IntArray = np.searchsorted(self.successors, self.successor)
        self.loop: BoolArray = self.successor == self.number
        self.loops = bool(self.loop.any())
        self._owners, self._first = np.unique(self.owner, return_index=True)  # owners are in order
        self._of_owner = np.split(np.arange(len(on)), np.searchsorted(self.owner, np.arange(1, self._n_owners)))
        self._eye_d = np.eye(self.n_d) if not self.by_action else np.zeros((0, 0))

    @property
    def _n_owners(self) -> int:
        return self.n_a if self.by_action else self.n_d

    def weight_of(self, observations: IntArray) -> FloatArray:
        """Return weight rows [i, d] of some observations."""
        return self.table[observations] if self.by_action else self._eye_d[self.owner[observations]]

    def reach(self, defences: IntArray, mix: FloatArray) -> FloatArray:
        """Return weight[i]·D for every observation."""
        if self.by_action:
            chances: FloatArray = self.table[:, defences] @ mix
            return chances
        whole = np.zeros(self.n_d)
        whole[defences] = mix
        return whole[self.owner]

    def mass_of(self, observations: IntArray, actions: IntArray) -> FloatArray:
        """Return mass entries [i, a] of some observations and actions."""
        if self.by_action:
            return np.asarray(self.owner[observations][:, None] == actions, dtype=np.float64)
        return self.table[np.ix_(observations, actions)]

    def posteriors(self, observations: IntArray, actions: IntArray, plan: FloatArray) -> FloatArray:
        """Return β[i, θ] of some observations under a plan over some actions."""
        if self.by_action:
            whole = np.zeros((self.n_a, plan.shape[1]))
            whole[actions] = plan
            return whole[self.owner[observations]]
        beta: FloatArray = self.table[np.ix_(observations, actions)] @ plan
        return beta

    def possible(self, actions: IntArray) -> BoolArray:
        """Tell which observations can follow some of the attacker's actions, as a mask."""
        if self.by_action:
            mask = np.zeros(self.n_a, dtype=np.bool_)
            mask[actions] = True
            return mask[self.owner]
        return np.asarray(self.table[:, actions].any(axis=1), dtype=np.bool_)

    def gather(self, worth: FloatArray) -> FloatArray:
        """Return Σ_i mass[i, a] worth_i for every action; `worth` is [i] or [i, θ]."""
        if not self.by_action:
            total: FloatArray = self.table.T @ worth
            return total
        return self._by_owner(worth)

    def expected(self, actions: IntArray, worth: FloatArray) -> FloatArray:
        """Return Σ_i mass[i, a] weight[i, d] worth_i for some actions, [a, d]."""
        if self.by_action:
            return self._by_owner(self.table * worth[:, None])[actions]
        return self._by_owner(self.table[:, actions] * worth[:, None]).T

    def _by_owner(self, values: FloatArray) -> FloatArray:
        total = np.zeros((self._n_owners, *values.shape[1:]))
        if len(self._first):
            total[self._owners] = np.add.reduceat(values, self._first, axis=0)
        return total

    def conceded(self, defences: IntArray, mix: FloatArray, reach: FloatArray, promised: FloatArray) -> FloatArray:
        """Return what each action gets against a mixed action when vectors `promised` follow, [a, θ]."""
        now: FloatArray = mix @ self.reward[:, defences]
        return now + self.discount * self.gather(reach[:, None] * promised)

    def grouped(self, observations: IntArray) -> Iterator[tuple[int, IntArray]]:
        """Go through the successors of some observations; with each, where in the list those that lead to it stand."""
        toward = self.toward[observations]
        order = np.argsort(toward, kind="stable")
        ends = np.cumsum(np.bincount(toward, minlength=len(self.successors))).tolist()
        begin = 0
        for t, end in zip(self.successors, ends, strict=True):
            if end > begin:
                yield t, order[begin:end]
            begin = end

    def opened_by(self, action: int | None, defence: int | None) -> IntArray:
        """Return the observations that come into play with an attacker's action, or with a defender's."""
        owner = action if self.by_action else defence
        return np.zeros(0, dtype=np.intp) if owner is None else self._of_owner[owner]

    def policy(self, actions: IntArray, plan: FloatArray) -> FloatArray:
        """Return π[a, θ] of a plan over some actions, without what an intent may not play; they must leave it some."""
        may = self.attacker[actions]
        policy = np.where(may, policy_of(plan), 0.0)
        lost = ~(policy.sum(axis=0) > 0)
        policy[may.argmax(axis=0)[lost], lost] = 1.0
        return np.asarray(policy / policy.sum(axis=0))


def _all(*shape: int) -> BoolArray:
    return np.ones(shape, dtype=np.bool_)
