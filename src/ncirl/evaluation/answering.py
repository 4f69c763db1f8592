"""Best responses as strategies: an attacker who knows the defender's strategy, a defender who knows the attacker's.

Each keeps the law of what it cannot see, given what it can, and does what is worth most (costs least):

    attacker    p(n), the defender's memory              a ∈ argmax r(a, θ) + γ Σ P(d, i | a) u(s_i, p'_{d,i}, θ)
    defender    β(m, θ), the attacker's memory, intent   d ∈ argmin r(d) + γ Σ P(i | d) V(s_i, β'_i)

with u and V of `best_response`. That is the best response, and `exact` is true, where the laws could be followed, as
they always can where memory is a function of what is public. Where they could not, u and V are those of one who sees
the memory, averaged over the law: it does what would be best if the memory came to light after this stage, and gets no
more than `best_response_to_defender` says, pays no less than `best_response_to_attacker` does.

Against a defender without memory the answer depends on the public state alone (`best_responder`).
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Generic, Self, TypeVar

import numpy as np

from ncirl._typing import FloatArray, State
from ncirl.errors import InputError
from ncirl.evaluation.answered import Answered, answered
from ncirl.evaluation.decisions import AttackerDecisions, Decisions, DefenderDecisions, Situation
from ncirl.evaluation.stages import Tail
from ncirl.limits import UNLIMITED, Limits
from ncirl.mdp import explored
from ncirl.model.belief import prior_of, start_laws
from ncirl.model.game import Game
from ncirl.strategies.checked import checked_attacker, checked_defender
from ncirl.strategies.memory import filtered
from ncirl.strategies.strategy import (
    AttackerStrategy,
    DefenderStrategy,
    Memory,
    StationaryAttacker,
    StationaryDefender,
)

__all__ = ["AnsweringAttacker", "AnsweringDefender", "best_responder"]

SETTLED = 1e-12  # the answer to a defender without memory is sought until values move by less


Other = TypeVar("Other", AttackerStrategy, DefenderStrategy)  # the strategy that is answered


class _Answering(ABC, Generic[Other]):
    """What is worth how much to whoever answers, by what it knows.

    Its own laws are numbered apart from those of the process, which may be of one who sees the memory.
    """

    _decisions: Decisions

    @classmethod
    def of(cls, game: Game, other: Other, found: Answered, limits: Limits = UNLIMITED) -> Self:
        """Return who plays what was found for a game and the strategy of the other side."""
        self = cls.__new__(cls)
        self._know(game, other, limits)
        self._follow(game, found)
        return self

    @abstractmethod
    def _know(self, game: Game, other: Other, limits: Limits) -> None:
        """Keep what is answered, with what is known before play begins."""

    def _solve(self, game: Game, tolerance: float, limit: int, limits: Limits) -> None:
        tail = Tail(game, None, tolerance, limits)
        self._follow(game, answered(self._made, tail, limit, limits, sees_memory=False))

    def _follow(self, game: Game, found: Answered) -> None:
        self._decisions = found.decisions
        self._values = {situation: found.values[k] for situation, k in found.numbers.items()}
        self.exact = not found.sees_memory
        self._discount = game.discount
        self._laws = self._made(False, None)
        self._worths: dict[Situation, FloatArray] = {}

    @abstractmethod
    def _made(self, sees_memory: bool, steps: int | None) -> Decisions:
        """Return what can be chosen, by what is known."""

    def _worth(self, state: State, memory: Memory) -> FloatArray:
        """Return what each choice is worth, [c, k]; where play was never expected, as far as it is known."""
        assert isinstance(memory, int)
        key = (state, memory)
        if key not in self._worths:
            law = dict(self._laws.laws[memory])
            parts = [law] if self.exact else [{each: mass} for each, mass in law.items()]
            self._worths[key] = sum((self._of_part(state, part) for part in parts), start=np.zeros(()))
        return self._worths[key]

    def _of_part(self, state: State, part: dict[Memory, FloatArray]) -> FloatArray:
        found = self._decisions.decide((state, self._decisions.laws.number(part)))
        ahead = [np.outer(chances, self._values[x]) for x, chances in found.following.items() if x in self._values]
        share = sum(float(mass.sum()) for mass in part.values())
        return np.asarray(share * (found.reward + self._discount * sum(ahead)))


class AnsweringAttacker(_Answering[DefenderStrategy]):
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

    Attributes
    ----------
    exact : bool
        Whether this is the best response, up to `tolerance`.

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
    >>> round(ncirl.expected_payoff(game, attacker, defender).value, 6), attacker.exact
    (1.0, True)
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
        self._know(game, defender, limits)
        self._solve(game, tolerance, limit, limits)

    def _know(self, game: Game, other: DefenderStrategy, limits: Limits) -> None:
        self._game, self._defender, self._limits = game, checked_defender(game, other), limits
        self._certain = np.ones(len(game.intents))

    def begin(self, state: State) -> Sequence[tuple[Memory, FloatArray]]:
        """Know how the defender begins."""
        return self._known({n: np.asarray(p) for n, p in self._defender.begin(state)})

    def policy(self, state: State, memory: Memory) -> FloatArray:
        """Attack where it is worth most, by intent."""
        return _pure(self._worth(state, memory))

    def after(self, state: State, memory: Memory, a: int, d: int, i: int) -> Sequence[tuple[Memory, FloatArray]]:
        """Learn from what the defender did, and follow where it goes."""
        assert isinstance(memory, int)
        done = np.zeros(self._game.timed().stage(state).shape[1])
        done[d] = 1.0
        return self._known(
            filtered(
                dict(self._laws.laws[memory]),
                done,
                lambda n: self._defender.mix(state, n),
                lambda n, own: self._defender.after(state, n, own, i),
            )
        )

    def _known(self, law: dict[Memory, FloatArray]) -> Sequence[tuple[Memory, FloatArray]]:
        return [(self._laws.laws.number(law), self._certain)]

    def _made(self, sees_memory: bool, steps: int | None) -> Decisions:
        return AttackerDecisions(self._game, self._defender, sees_memory=sees_memory, steps=steps, limits=self._limits)


class AnsweringDefender(_Answering[AttackerStrategy]):
    """A defender strategy whose memory is the law of the attacker's memory and intent.

    Parameters
    ----------
    game, tolerance, limit, limits
        As for `AnsweringAttacker`.
    attacker : AttackerStrategy
        What is answered.

    Attributes
    ----------
    exact : bool
        Whether this is the best response, up to `tolerance`.

    Raises
    ------
    SizeError
        When there are more than `limit` situations.

    Examples
    --------
    >>> import ncirl
    >>> from ncirl.strategies.strategy import uniform_attacker
    >>> game = ncirl.games.aumann_maschler_1(p=0.3, discount=0.5)
    >>> attacker = uniform_attacker(game)
    >>> defender = AnsweringDefender(game, attacker)
    >>> round(ncirl.expected_payoff(game, attacker, defender).value, 6), defender.exact
    (0.3, True)
    """

    def __init__(
        self,
        game: Game,
        attacker: AttackerStrategy,
        *,
        tolerance: float = 1e-9,
        limit: int = 200_000,
        limits: Limits = UNLIMITED,
    ) -> None:
        self._know(game, attacker, limits)
        self._solve(game, tolerance, limit, limits)

    def _know(self, game: Game, other: AttackerStrategy, limits: Limits) -> None:
        self._game, self._attacker, self._limits = game, checked_attacker(game, other), limits
        prior = prior_of(game)
        self._masses = {state: prior * share for state, share in start_laws(game)}

    def begin(self, state: State) -> Sequence[tuple[Memory, float]]:
        """Know how the attacker begins."""
        return self._known({m: self._masses[state] * p for m, p in self._attacker.begin(state)})

    def mix(self, state: State, memory: Memory) -> FloatArray:
        """Do what costs least."""
        return _pure(-self._worth(state, memory))[:, 0]

    def after(self, state: State, memory: Memory, d: int, i: int) -> Sequence[tuple[Memory, float]]:
        """Learn from what was seen."""
        assert isinstance(memory, int)
        seen = self._game.timed().observations(state)
        return self._known(
            filtered(
                dict(self._laws.laws[memory]),
                seen.mass[[i]].toarray()[0],
                lambda m: self._attacker.policy(state, m),
                lambda m, a: self._attacker.after(state, m, a, d, i),
            )
        )

    def _known(self, law: dict[Memory, FloatArray]) -> Sequence[tuple[Memory, float]]:
        return [(self._laws.laws.number(law), 1.0)]

    def _made(self, sees_memory: bool, steps: int | None) -> Decisions:
        return DefenderDecisions(self._game, self._attacker, sees_memory=sees_memory, steps=steps, limits=self._limits)


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
    decisions = AttackerDecisions(game, checked_defender(game, defender))
    alone = decisions.laws.number({None: np.ones(())})  # the memory of whoever has none
    playable: list[Situation] = [(state, alone) for state in timed.explore() if not timed.is_terminal(state)]
    process, _, _ = explored(playable, decisions.decide, discount=game.discount, maximise=True, limit=len(playable))
    values, moved = np.zeros((len(playable), len(game.intents))), np.inf if playable else 0.0
    while moved > SETTLED:
        before, values = values, process.backup(values)
        moved = float(np.abs(values - before).max())
    worth = np.split(process.reward + process.moves @ values, process.first[1:])
    return StationaryAttacker({state: _pure(each) for (state, _), each in zip(playable, worth, strict=True)})


def _pure(worth: FloatArray) -> FloatArray:
    """Return π[a, θ] that does what is worth most, the first of several."""
    return np.eye(len(worth), dtype=np.float64)[:, worth.argmax(axis=0)]
