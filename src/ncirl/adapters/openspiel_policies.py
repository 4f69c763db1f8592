"""Policies of OpenSpiel as strategies, to be evaluated, simulated and played like any other.

Memory is what is public, h = s_0, (d_1, i_1), ... The attacker's policy may depend on its own past actions too, which
the defender need not have seen. Averaged over them,

    π(a | h, θ) = Σ_past p(past | h, θ) π(a | past, h, θ),
    p(past·a | h·(d, i), θ) ∝ p(past | h, θ) π(a | past, h, θ) mass[i, a],

it leads to the same law of all that matters, (θ, h, a), against every defender; and because nothing is hidden any more
`best_response_to_attacker` is exact.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from ncirl._typing import FloatArray, State
from ncirl.adapters.extensive import Mover, Told
from ncirl.adapters.openspiel import SpielGame
from ncirl.strategies.memory import averaged, filtered
from ncirl.strategies.strategy import Memory

__all__ = ["PolicyAttacker", "PolicyDefender"]

Past = tuple[int, ...]  # the attacker's actions so far


class _Follower:
    """What a policy says, by what a side knows; what it does not speak of is played equally often."""

    def __init__(self, game: SpielGame, policy: Any) -> None:
        self.form = game.form
        self._policy = policy if hasattr(policy, "policy_for_key") else policy.to_tabular()

    def said(self, known: str, n_actions: int) -> FloatArray:
        if known not in self._policy.state_lookup:
            return np.full(n_actions, 1 / max(n_actions, 1))
        chances: FloatArray = np.array(self._policy.policy_for_key(known), dtype=np.float64)[:n_actions]
        chances /= chances.sum()
        return chances


class PolicyAttacker(_Follower):
    """The attacker's half of a policy of OpenSpiel.

    Parameters
    ----------
    game : SpielGame
        What the policy is for.
    policy : open_spiel.python.policy.Policy
        Any policy for both players.

    Examples
    --------
    >>> import ncirl
    >>> from open_spiel.python.policy import UniformRandomPolicy
    >>> from ncirl.adapters.openspiel import open_spiel_game
    >>> game = ncirl.games.aumann_maschler_1(horizon=2, discount=1.0)
    >>> spiel = open_spiel_game(game)
    >>> attacker = PolicyAttacker(spiel, UniformRandomPolicy(spiel))
    >>> round(ncirl.best_response_to_attacker(game, attacker).value, 6)
    0.5
    """

    def __init__(self, game: SpielGame, policy: Any) -> None:
        super().__init__(game, policy)
        self._pasts = cache(self._pasts_after)
        self._n_intents = len(game.form.game.intents)

    def begin(self, state: State) -> Sequence[tuple[Memory, FloatArray]]:
        """Remember where play began."""
        return [((self.form.begins.index(state), ()), np.ones(self._n_intents))]

    def policy(self, state: State, memory: Memory) -> FloatArray:
        """Return π[a, θ]."""
        begin, told = _recalled(memory)
        return np.stack([self._average(begin, theta, told) for theta in range(self._n_intents)], axis=1)

    def after(self, state: State, memory: Memory, a: int, d: int, i: int) -> Sequence[tuple[Memory, FloatArray]]:
        """Remember what was public of the stage."""
        begin, told = _recalled(memory)
        return [((begin, (*told, (0, d, i))), np.ones(self._n_intents))]

    def _average(self, begin: int, theta: int, told: Told) -> FloatArray:
        return averaged(self._pasts(begin, theta, told), lambda past: self._mix(begin, theta, told, past))

    def _mix(self, begin: int, theta: int, told: Told, past: Past) -> FloatArray:
        own = tuple((a, d, i) for a, (_, d, i) in zip(past, told, strict=True))
        n_a = self.form.timed.stage(self.form.state_after(begin, told)).shape[0]
        return self.said(self.form.known(Mover.ATTACKER, begin, theta, own), n_a)

    def _pasts_after(self, begin: int, theta: int, told: Told) -> dict[Past, float]:
        """Return p(past | h, θ)."""
        if not told:
            return {(): 1.0}
        before, (_, _, i) = told[:-1], told[-1]
        return filtered(
            self._pasts(begin, theta, before),
            self.form.timed.observations(self.form.state_after(begin, before)).mass[[i]].toarray()[0],
            lambda past: self._mix(begin, theta, before, past),
            lambda past, a: [((*past, a), 1.0)],
        )


class PolicyDefender(_Follower):
    """The defender's half of a policy of OpenSpiel; arguments as for `PolicyAttacker`."""

    def begin(self, state: State) -> Sequence[tuple[Memory, float]]:
        """Remember where play began."""
        return [((self.form.begins.index(state), ()), 1.0)]

    def mix(self, state: State, memory: Memory) -> FloatArray:
        """Return D[d]."""
        begin, told = _recalled(memory)
        return self.said(self.form.known(Mover.DEFENDER, begin, 0, told), self.form.timed.stage(state).shape[1])

    def after(self, state: State, memory: Memory, d: int, i: int) -> Sequence[tuple[Memory, float]]:
        """Remember the stage."""
        begin, told = _recalled(memory)
        return [((begin, (*told, (0, d, i))), 1.0)]


def _recalled(memory: Memory) -> tuple[int, Told]:
    if not isinstance(memory, tuple):
        raise TypeError(f"not what a policy remembers: {memory!r}")
    begin, told = memory
    return begin, told
