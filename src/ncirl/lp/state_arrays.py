"""A public state as the stage programs see it: arrays in the order they ask for them.

Only observations that do not end the game are kept: what follows the others is worth 0. Where actions are seen,
i = (a, s'), an observation belongs to one attacker action and ``weight[i, d] = T(s' | a, d)`` is a dense table; where
outcomes are, i = (d, o), it belongs to one defence and ``mass[i, a] = q(o | a, d)`` is. The methods hide which.
"""

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from ncirl._typing import BoolArray, FloatArray, IntArray, State
from ncirl.model.belief import policy_of
from ncirl.model.game import Game
from ncirl.model.observations import Observations
from ncirl.model.stage import Stage
from ncirl.model.tempered import Options

__all__ = ["NONE", "StateArrays"]

NONE: IntArray = np.zeros(0, dtype=np.intp)


class StateArrays:
    """Arrays of one public state.

    Parameters
    ----------
    number : int
        Of the state among those that are played.
    stage, observations : Stage, Observations
        What happens there, and what is seen of it.
    discount : float
        γ.
    successors : sequence of int or None
        Per observation, the number of the state it leads to; None where the game ends.
    attacker, defender : ndarray of bool, of shapes (A, Θ) and (D,), optional
        What each side may play; the other is ready for everything.
    """

    def __init__(
        self,
        number: int,
        stage: Stage,
        observations: Observations,
        discount: float,
        successors: Sequence[int | None],
        attacker: BoolArray | None = None,
        defender: BoolArray | None = None,
    ) -> None:
        self.number, self.discount, self.reward = number, discount, stage.reward
        self.n_a, self.n_d, self.n_t = (int(n) for n in stage.reward.shape)
        self.attacker: BoolArray = _all(self.n_a, self.n_t) if attacker is None else attacker
        self.defender: BoolArray = _all(self.n_d) if defender is None else defender
        self.by_action = observations.by_action
        going_on = [(i, s) for i, s in enumerate(successors) if s is not None]
        unit, table = observations.mass, observations.weight
        if not self.by_action:
            unit, table = table, unit
        # per kept observation: its number in the game's own list, the action it belongs to (the attacker's where
        # actions are seen, else the defender's), its chance against each action of the other side, where it leads
        self.seen: IntArray = np.array([i for i, _ in going_on], dtype=np.intp)
        self.owner: IntArray = unit[self.seen].indices.astype(np.intp)
        self.table: FloatArray = table[self.seen].toarray()
        self.successor: IntArray = np.array([s for _, s in going_on], dtype=np.intp)
        self.successors: list[int] = sorted(set(self.successor.tolist()))
        self.toward: IntArray = np.searchsorted(self.successors, self.successor)  # its place in `successors`
        self.loop: BoolArray = self.successor == self.number  # whether it leads back here
        self.loops = bool(self.loop.any())
        self._owners, self._first = np.unique(self.owner, return_index=True)  # owners are in order
        self._of_owner = np.split(np.arange(len(self.seen)), np.searchsorted(self.owner, np.arange(1, self._n_owners)))
        self._eye_d = np.eye(self.n_d) if not self.by_action else np.zeros((0, 0))

    @classmethod
    def of(cls, game: Game, state: State, number: Mapping[State, int], options: Options | None = None) -> "StateArrays":
        """Return the arrays of a state of `game`; `number` has every state that is played."""
        observations = game.observations(state)
        return cls(
            number[state],
            game.stage(state),
            observations,
            game.discount,
            [number.get(successor) for successor in observations.successors],
            None if options is None else options.attacker[state],
            None if options is None else options.defender[state],
        )

    def among(self, intents: IntArray) -> "StateArrays":
        """Return the same state in the game with some of the intents only."""
        fewer = copy(self)
        fewer.n_t, fewer.attacker = len(intents), self.attacker[:, intents]
        fewer.reward = np.ascontiguousarray(self.reward[:, :, intents])
        return fewer

    @property
    def mass(self) -> sp.csr_array:
        """mass[i, a] of the kept observations."""
        return self._owned(self.n_a) if self.by_action else sp.csr_array(self.table)

    @property
    def weight(self) -> sp.csr_array:
        """weight[i, d] of the kept observations."""
        return sp.csr_array(self.table) if self.by_action else self._owned(self.n_d)

    def _owned(self, n: int) -> sp.csr_array:
        entries = np.ones(len(self.owner)), (np.arange(len(self.owner)), self.owner)
        return sp.csr_array(entries, shape=(len(self.owner), n))

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

    def posteriors_of(self, plans: FloatArray) -> FloatArray:
        """Return β[k, i, θ] of all observations under plans A[k, a, θ]."""
        return plans[:, self.owner] if self.by_action else np.asarray(self.table @ plans)

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

    @cached_property
    def staying(self) -> FloatArray:
        """γ Pr(play stays here | a, d), [a, d]."""
        return self.discount * self.expected(np.arange(self.n_a), self.loop.astype(np.float64))

    def _by_owner(self, values: FloatArray) -> FloatArray:
        total = np.zeros((self._n_owners, *values.shape[1:]))
        if len(self._first):
            total[self._owners] = np.add.reduceat(values, self._first, axis=0)
        return total

    def conceded(self, defences: IntArray, mix: FloatArray, reach: FloatArray, promised: FloatArray) -> FloatArray:
        """Return what each action gets against a mixed action when vectors `promised` follow, [a, θ]."""
        now: FloatArray = mix @ self.reward[:, defences]
        return now + self.discount * self.gather(reach[:, None] * promised)

    def by_successor(self, observations: IntArray) -> tuple[IntArray, list[tuple[int, slice]]]:
        """Return an order of some observations in which those that lead to the same state come together, and where."""
        toward = self.toward[observations]
        order = toward.argsort(kind="stable")
        ends = np.bincount(toward, minlength=len(self.successors)).cumsum().tolist()
        parts = zip(self.successors, [0, *ends], ends, strict=False)
        return order, [(t, slice(begin, end)) for t, begin, end in parts if end > begin]

    def grouped(self, observations: IntArray) -> Iterator[tuple[int, IntArray]]:
        """Go through the successors of some observations; with each, where in the list those that lead to it stand."""
        order, parts = self.by_successor(observations)
        for t, part in parts:
            yield t, order[part]

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
