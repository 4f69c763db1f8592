"""An attacker who knows the defender's strategy and answers it.

It keeps the law p of the defender's memory n, given all that is public, and attacks where

    Σ_n p(n) u(s, n, a, θ)

is largest, u the worth of an attack to one who sees n (`best_response`). Where memory is a function of what is public,
as for defenders without memory, this is the best response. Where it is hidden the attacker does what would be best if
the memory came to light after this stage, so it gets at most what `best_response_to_defender` says.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from ncirl._typing import FloatArray, State
from ncirl.errors import SizeError
from ncirl.evaluation.best_response import Situation, attacker_choices
from ncirl.evaluation.decision import best_values
from ncirl.evaluation.tail import Tail
from ncirl.model.belief import start_laws
from ncirl.model.game import Game
from ncirl.strategies.strategy import DefenderStrategy, Memory

__all__ = ["AnsweringAttacker"]

DIGITS = 12  # laws are told apart up to here


class AnsweringAttacker:
    """An attacker strategy whose memory is the law of the defender's memory.

    Parameters
    ----------
    game : Game
        With or without a horizon.
    defender : DefenderStrategy
        What is answered.
    tolerance : float
        How exactly worth is computed where play does not end.
    limit : int
        The most pairs of public state and defender's memory to look at.

    Raises
    ------
    SizeError
        When there are more than `limit`.

    Examples
    --------
    >>> import ncirl
    >>> from ncirl.strategies.strategy import uniform_defender
    >>> game = ncirl.games.aumann_maschler_1(discount=0.5)
    >>> defender = uniform_defender(game)
    >>> attacker = AnsweringAttacker(game, defender)
    >>> round(ncirl.expected_payoff(game, attacker, defender).value, 6)
    1.0
    """

    def __init__(
        self, game: Game, defender: DefenderStrategy, *, tolerance: float = 1e-9, limit: int = 200_000
    ) -> None:
        self._defender = defender
        self._discount, self._n_intents = game.discount, len(game.intents)
        self._choices = cache(attacker_choices(game.timed(), defender))
        situations = self._reachable([(s, m) for s, _ in start_laws(game) for m, _ in defender.begin(s)], limit)
        tail = Tail(game, None, tolerance)
        solved = best_values(
            situations,
            self._choices,
            self._n_intents,
            discount=game.discount,
            tail=tail,
            tolerance=tolerance,
            limit=limit,
        )
        self._values = dict(zip(situations, solved.values, strict=True))  # indexed [θ]

    def begin(self, state: State) -> Sequence[tuple[Memory, FloatArray]]:
        """Know how the defender begins."""
        return self._known(dict(self._defender.begin(state)))

    def policy(self, state: State, memory: Memory) -> FloatArray:
        """Attack where it is worth most, by intent."""
        worth: FloatArray = np.sum([p * self._worth((state, n)) for n, p in _law(memory)], axis=0)
        return np.eye(len(worth), dtype=np.float64)[:, np.asarray(worth.argmax(axis=0))]

    def after(self, state: State, memory: Memory, a: int, d: int, i: int) -> Sequence[tuple[Memory, FloatArray]]:
        """Learn from what the defender did, and follow where it goes."""
        law = _law(memory)
        made = {n: p * float(self._defender.mix(state, n)[d]) for n, p in law}
        if not sum(made.values()) > 0:  # the defender does what it never would
            made = dict(law)
        following: dict[Memory, float] = {}
        for n, mass in made.items():
            for then, p in self._defender.after(state, n, d, i) if mass > 0 else ():
                following[then] = following.get(then, 0.0) + mass * p
        return self._known(following)

    def _known(self, masses: dict[Memory, float]) -> Sequence[tuple[Memory, FloatArray]]:
        total = sum(masses.values())
        law = tuple((n, round(p / total, DIGITS)) for n, p in sorted(masses.items(), key=repr) if p > 0)
        return [(law, np.ones(self._n_intents))]

    def _worth(self, situation: Situation) -> FloatArray:
        found = self._choices(situation)
        ahead = [np.outer(chances, self._values[after]) for after, chances in found.following if after in self._values]
        worth: FloatArray = found.gains + self._discount * np.sum([np.zeros(found.gains.shape), *ahead], axis=0)
        return worth

    def _reachable(self, starts: list[Situation], limit: int) -> list[Situation]:
        order = dict.fromkeys(starts)
        queue = list(order)
        while queue:
            for after, _ in self._choices(queue.pop()).following:
                if after not in order:
                    order[after] = None
                    queue.append(after)
            if len(order) > limit:
                raise SizeError(
                    f"more than {limit} situations of public state and defender's memory can be reached; "
                    "answer a defender with less memory, or shorten the horizon"
                )
        return list(order)


def _law(memory: Memory) -> tuple[tuple[Memory, float], ...]:
    return memory if isinstance(memory, tuple) else ()
