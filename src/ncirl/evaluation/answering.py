"""An attacker who knows the defender's strategy and answers it.

It keeps the law p of the defender's memory n, given all that is public, and attacks where

    Σ_n p(n) u(s, n, a, θ)

is largest, u the worth of an attack to one who sees n (`best_response`). Where memory is a function of what is public,
as for defenders without memory, this is the best response. Where it is hidden the attacker does what would be best if
the memory came to light after this stage, so it gets at most what `best_response_to_defender` says.

Against a defender without memory the answer depends on the public state alone (`best_responder`).
"""

from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np

from ncirl._typing import FloatArray, State
from ncirl.errors import InputError
from ncirl.evaluation.best_response import Situation, attacker_decisions
from ncirl.evaluation.stages import Tail
from ncirl.limits import UNLIMITED, Limits
from ncirl.mdp import explored
from ncirl.model.belief import start_laws
from ncirl.model.game import Game
from ncirl.strategies.memory import averaged, filtered
from ncirl.strategies.strategy import DefenderStrategy, Memory, StationaryAttacker, StationaryDefender

__all__ = ["AnsweringAttacker", "best_responder"]

DIGITS = 12  # laws are told apart up to here
SETTLED = 1e-12  # the answer to a defender without memory is sought until values move by less


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
    limits : Limits
        Of time and memory, while it looks.

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
        self,
        game: Game,
        defender: DefenderStrategy,
        *,
        tolerance: float = 1e-9,
        limit: int = 200_000,
        limits: Limits = UNLIMITED,
    ) -> None:
        self._defender, self._discount, self._certain = defender, game.discount, np.ones(len(game.intents))
        self._decide = attacker_decisions(game.timed(), defender, limits)
        self._worth = cache(self._worth_of)
        starts = [(s, m) for s, _ in start_laws(game) for m, _ in defender.begin(s)]
        process, numbers, _ = explored(
            starts, self._decide, discount=game.discount, maximise=True, limit=limit, limits=limits
        )
        values, _, _ = Tail(game, None, tolerance, limits).values(process, closed=True)
        self._values = dict(zip(numbers, values, strict=True))  # indexed [θ]

    def begin(self, state: State) -> Sequence[tuple[Memory, FloatArray]]:
        """Know how the defender begins."""
        return self._known(dict(self._defender.begin(state)))

    def policy(self, state: State, memory: Memory) -> FloatArray:
        """Attack where it is worth most, by intent."""
        return _pure(averaged(_law(memory), lambda n: self._worth((state, n))))

    def after(self, state: State, memory: Memory, a: int, d: int, i: int) -> Sequence[tuple[Memory, FloatArray]]:
        """Learn from what the defender did, and follow where it goes."""
        law = _law(memory)
        done = np.arange(len(self._defender.mix(state, next(iter(law))))) == d
        return self._known(
            filtered(
                law,
                done.astype(np.float64),
                lambda n: self._defender.mix(state, n),
                lambda n, own: self._defender.after(state, n, own, i),
            )
        )

    def _known(self, law: Mapping[Memory, float]) -> Sequence[tuple[Memory, FloatArray]]:
        total = sum(law.values())
        ordered = tuple((n, round(p / total, DIGITS)) for n, p in sorted(law.items(), key=repr) if p > 0)
        return [(ordered, self._certain)]

    def _worth_of(self, situation: Situation) -> FloatArray:
        """Return u[a, θ]; where the defender never goes, what follows counts as far as it is known."""
        found = self._decide(situation)
        ahead = [np.outer(chances, self._values[x]) for x, chances in found.following.items() if x in self._values]
        return np.asarray(found.reward + self._discount * sum(ahead))


def best_responder(game: Game, defender: StationaryDefender) -> StationaryAttacker:
    """Return the attacker who answers a defender without memory best, for every intent.

    The answer is pure, and within 2γ `SETTLED` / (1 − γ) of the best.

    Parameters
    ----------
    game : Game
        With or without a horizon; with one, the answer depends on how many stages are left.
    defender : StationaryDefender
        Of this game, or of the same one without a horizon.

    Raises
    ------
    InputError
        When the discount is 1 and the game has no horizon.

    Examples
    --------
    >>> import ncirl
    >>> from ncirl.strategies.strategy import uniform_defender
    >>> game = ncirl.games.aumann_maschler_1(discount=0.5)
    >>> best_responder(game, uniform_defender(game)).policies["play"]
    array([[1., 0.],
           [0., 1.]])
    """
    if game.discount == 1 and game.horizon is None:
        raise InputError(f"game '{game.name}': a discount of 1 needs a horizon; give one by `game.with_horizon`")
    timed = game.timed()
    playable: list[Situation] = [(state, None) for state in timed.explore() if not timed.is_terminal(state)]
    decide = attacker_decisions(timed, defender)
    process, _, _ = explored(playable, decide, discount=game.discount, maximise=True, limit=len(playable))
    values, moved = np.zeros((len(playable), len(game.intents))), np.inf if playable else 0.0
    while moved > SETTLED:
        before, values = values, process.backup(values)
        moved = float(np.abs(values - before).max())
    worth = np.split(process.reward + process.moves @ values, process.first[1:])
    return StationaryAttacker({state: _pure(each) for (state, _), each in zip(playable, worth, strict=True)})


def _pure(worth: FloatArray) -> FloatArray:
    """Return π[a, θ] that does what is worth most, the first of several."""
    return np.eye(len(worth), dtype=np.float64)[:, worth.argmax(axis=0)]


def _law(memory: Memory) -> dict[Memory, float]:
    return dict(memory) if isinstance(memory, tuple) else {}
