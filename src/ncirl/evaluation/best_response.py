"""What the best opponent makes of a strategy: what a defender concedes at most, what an attacker secures at least.

Against a defender who remembers n at s, the attacker of each intent decides

    u(s, n, θ) = max_a Σ_d D(d) [ r(a, d, θ) + γ Σ_i P(i | a, d) Σ_n' P(n' | n, d, i) u(s_i, n', θ) ].

Against an attacker who remembers m at s, with β(θ) the mass of the intents that may have come there, the defender does

    V(s, m, β) = min_d Σ_{a,θ} β(θ) π(a | m, θ) r(a, d, θ) + γ Σ_i weight[i, d] Σ_m' V(s_i, m', β'_{i,m'}),
    β'_{i,m'}(θ) = Σ_a mass[i, a] π(a | m, θ) β(θ) P(m' | m, a, d, i, θ).

In both the opponent sees the memory. Where memory is a function of what is public anyway this is exact; where it moves
at random or on what is hidden it errs on the safe side: the defender is said to concede too much, the attacker to
secure too little.

V is homogeneous in β, so β is normalised, and beliefs equal to `DIGITS` digits count as one. V changes with β by at
most |β − β'|₁ times what the game can pay; the distances that occur are part of the error stated.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ncirl._typing import FloatArray, State
from ncirl.evaluation.decision import Choices, best_values
from ncirl.evaluation.moves import MoveTable
from ncirl.evaluation.tail import Tail
from ncirl.model.belief import prior_of, start_laws
from ncirl.model.game import Game
from ncirl.strategies.strategy import AttackerStrategy, DefenderStrategy, Memory

__all__ = [
    "AttackerResponse",
    "DefenderResponse",
    "Situation",
    "attacker_choices",
    "best_response_to_attacker",
    "best_response_to_defender",
]

DIGITS = 12  # beliefs are told apart up to here


@dataclass(frozen=True)
class DefenderResponse:
    """What the attacker secures against the best defender.

    Attributes
    ----------
    value : float
        The mean over the prior.
    error : float
        `value` is at most this far from it.
    stages : int
        How many stages were looked ahead.
    """

    value: float
    error: float
    stages: int


@dataclass(frozen=True, eq=False)
class AttackerResponse:
    """What the defender concedes to the best attacker.

    Attributes
    ----------
    value : float
        The mean over the prior.
    per_intent : ndarray of shape (Θ,)
        To each intent; one that the prior rules out starts like the others do on average.
    error : float
        `value` and `per_intent` are at most this far off.
    stages : int
        How many stages were looked ahead.
    """

    value: float
    per_intent: FloatArray
    error: float
    stages: int


Situation = tuple[State, Memory]


def attacker_choices(timed: Game, defender: DefenderStrategy) -> Callable[[Situation], Choices[Situation]]:
    """Return what an attacker can choose at each public state and memory of a defender, all intents side by side."""
    table = MoveTable(timed)

    def choices(node: Situation) -> Choices[Situation]:
        state, memory = node
        mix, moves = defender.mix(state, memory), table.at(state)
        following: dict[Situation, FloatArray] = {}
        for a, d, i, chance, after in moves.where(mix[moves.d] > 0):
            for then, p in defender.after(state, memory, d, i):
                chances = following.setdefault((after, then), np.zeros(timed.stage(state).shape[0]))
                chances[a] += mix[d] * chance * p
        return Choices(np.einsum("d,adt->at", mix, timed.stage(state).reward), list(following.items()))

    return choices


def best_response_to_defender(
    game: Game,
    defender: DefenderStrategy,
    *,
    stages: int | None = None,
    tolerance: float = 1e-9,
    limit: int = 200_000,
) -> AttackerResponse:
    """Compute what a defender concedes at most, to an attacker who knows its strategy.

    Parameters
    ----------
    game : Game
        With or without a horizon.
    defender : DefenderStrategy
        For the public states of ``game.timed()``; an attacker that could see its memory is answered for.
    stages : int, optional
        Count the payoffs of that many stages only.
    tolerance : float
        The error allowed where play does not end.
    limit : int
        The most pairs of public state and memory to look at.

    Raises
    ------
    SizeError
        When there are more than `limit`.

    Examples
    --------
    >>> import ncirl
    >>> from ncirl.strategies.strategy import uniform_defender
    >>> game = ncirl.games.aumann_maschler_1(discount=0.5)
    >>> best_response_to_defender(game, uniform_defender(game)).per_intent.round(6)
    array([1., 1.])
    """
    choices = attacker_choices(game.timed(), defender)
    begins = [((s, m), share * p) for s, share in start_laws(game) for m, p in defender.begin(s)]
    solved = best_values(
        [node for node, _ in begins],
        choices,
        len(game.intents),
        discount=game.discount,
        tail=Tail(game, stages, tolerance),
        tolerance=tolerance,
        limit=limit,
    )
    shares = np.array([share for _, share in begins]).reshape(len(begins), len(game.intents))
    per_intent: FloatArray = (shares * solved.values).sum(axis=0)
    return AttackerResponse(float(prior_of(game) @ per_intent), per_intent, solved.error, solved.stages)


def best_response_to_attacker(
    game: Game,
    attacker: AttackerStrategy,
    *,
    stages: int | None = None,
    tolerance: float = 1e-9,
    limit: int = 200_000,
) -> DefenderResponse:
    """Compute what an attacker secures at least, against a defender who knows its strategy but not its intent.

    Parameters
    ----------
    game : Game
        With or without a horizon.
    attacker : AttackerStrategy
        For the public states of ``game.timed()``; a defender that could see its memory is answered for.
    stages : int, optional
        Count the payoffs of that many stages only.
    tolerance : float
        The error allowed where play does not end.
    limit : int
        The most triples of public state, memory and belief to look at.

    Raises
    ------
    SizeError
        When there are more than `limit`.

    Examples
    --------
    >>> import ncirl
    >>> from ncirl.strategies.strategy import uniform_attacker
    >>> game = ncirl.games.aumann_maschler_1(discount=0.5)
    >>> round(best_response_to_attacker(game, uniform_attacker(game)).value, 6)
    0.5
    """
    process = _Answered(game.timed(), attacker)
    tail = Tail(game, stages, tolerance)
    prior = prior_of(game)
    begins = [(s, m, prior * share * p) for s, share in start_laws(game) for m, p in attacker.begin(s)]
    begins = [begin for begin in begins if begin[2].any()]
    solved = best_values(
        [process.node(*begin) for begin in begins],
        process.choices,
        1,
        discount=game.discount,
        tail=tail,
        tolerance=tolerance,
        limit=limit,
    )
    value = -sum(float(mass.sum()) * v for (_, _, mass), v in zip(begins, solved.values[:, 0].tolist(), strict=True))
    ahead = sum(game.discount**k for k in range(tail.stages))
    pooled = process.moved * process.largest_reward * ahead**2
    return DefenderResponse(value, solved.error + pooled, solved.stages)


BeliefNode = tuple[State, Memory, bytes]


class _Answered:
    """The defender's decisions against one attacker, as gains of minus the attacker's payoff."""

    def __init__(self, timed: Game, attacker: AttackerStrategy) -> None:
        self.timed, self.attacker = timed, attacker
        self.table = MoveTable(timed)
        self.beliefs: dict[bytes, FloatArray] = {}
        self.largest_reward = 0.0
        self.moved = 0.0  # the largest ℓ1 distance between beliefs taken for one

    def node(self, state: State, memory: Memory, mass: FloatArray) -> BeliefNode:
        belief = mass / mass.sum()
        key = (np.round(belief, DIGITS) + 0.0).tobytes()  # no negative zeros
        kept = self.beliefs.setdefault(key, belief)
        self.moved = max(self.moved, float(np.abs(belief - kept).sum()))
        return state, memory, key

    def choices(self, node: BeliefNode) -> Choices[BeliefNode]:
        state, memory, key = node
        reward, moves = self.timed.stage(state).reward, self.table.at(state)
        self.largest_reward = max(self.largest_reward, float(np.abs(reward).max()))
        plan = self.attacker.policy(state, memory) * self.beliefs[key]
        masses: dict[tuple[State, Memory, int, int], FloatArray] = {}
        for a, d, i, chance, after in moves.where(plan.sum(axis=1)[moves.a] > 0):
            for then, p in self.attacker.after(state, memory, a, d, i):
                at = (after, then, d, i)
                masses[at] = masses.get(at, 0.0) + chance * plan[a] * p
        following: dict[BeliefNode, FloatArray] = {}
        for (successor, then, d, _), mass in masses.items():
            if mass.any():
                at_node = self.node(successor, then, mass)
                following.setdefault(at_node, np.zeros(reward.shape[1]))[d] += mass.sum()
        return Choices(-np.einsum("at,adt->d", plan, reward)[:, None], list(following.items()))
