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

How far a pair is from equilibrium is what each side would gain by answering the other best (`exploitability`),

    attacker_gain = max_π' E(π', D) − E(π, D),    defender_gain = E(π, D) − min_D' E(π, D'),

and nash_conv, their sum, which is zero for optimal strategies and bounds the distance of both from the value.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from ncirl._typing import FloatArray, State
from ncirl.evaluation.payoff import Payoff, expected_payoff
from ncirl.evaluation.stages import Continuations, Tail
from ncirl.limits import UNLIMITED, Limits
from ncirl.mdp import Decision, explored
from ncirl.model.belief import prior_of, start_laws
from ncirl.model.game import Game
from ncirl.strategies.strategy import AttackerStrategy, DefenderStrategy, Memory

__all__ = [
    "DefenderResponse",
    "Exploitability",
    "Situation",
    "attacker_decisions",
    "best_response_to_attacker",
    "best_response_to_defender",
    "exploitability",
]

DIGITS = 12  # beliefs are told apart up to here

Node = TypeVar("Node", bound=Hashable)
Situation = tuple[State, Memory]
BeliefNode = tuple[State, Memory, bytes]


@dataclass(frozen=True)
class Exploitability:
    """What each side leaves on the table.

    Attributes
    ----------
    attacker_gain, defender_gain : float
        What the attacker, the defender, would gain by a best response.
    nash_conv : float
        What the defender concedes at most minus what the attacker secures at least.
    error : float
        None of the three is further off than this; with hidden memories they are over-estimates besides.
    """

    attacker_gain: float
    defender_gain: float
    nash_conv: float
    error: float


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


def attacker_decisions(
    timed: Game, defender: DefenderStrategy, limits: Limits = UNLIMITED
) -> Callable[[Situation], Decision[Situation]]:
    """Return what an attacker can choose at each public state and memory of a defender, all intents side by side."""
    continuations = Continuations(timed, limits)

    def decide(node: Situation) -> Decision[Situation]:
        state, memory = node
        mix, reward = defender.mix(state, memory), timed.stage(state).reward
        everything = np.ones(len(reward))
        following: dict[Situation, FloatArray] = {}
        for a, d, i, chance, after in continuations.at(state, everything, mix):
            for then, p in defender.after(state, memory, d, i):
                chances = following.setdefault((after, then), np.zeros(len(reward)))
                chances[a] += mix[d] * chance * p
        return Decision(np.einsum("d,adt->at", mix, reward), following)

    return decide


def best_response_to_defender(
    game: Game,
    defender: DefenderStrategy,
    *,
    stages: int | None = None,
    tolerance: float = 1e-9,
    limit: int = 200_000,
    limits: Limits = UNLIMITED,
) -> Payoff:
    """Compute what a defender concedes at most, to an attacker who knows its strategy and could see its memory.

    Arguments are those of `expected_payoff`; `limit` is on situations of public state and memory.

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
    tail = Tail(game, stages, tolerance, limits)
    decide = attacker_decisions(game.timed(), defender, limits)
    begins = [((s, m), share * p) for s, share in start_laws(game) for m, p in defender.begin(s)]
    values, error, n = _answered([node for node, _ in begins], decide, tail, limit, limits, maximise=True)
    shares = np.array([share for _, share in begins]).reshape(len(begins), len(game.intents))
    per_intent: FloatArray = (shares * values).sum(axis=0)
    return Payoff(float(prior_of(game) @ per_intent), per_intent, error, n)


def best_response_to_attacker(
    game: Game,
    attacker: AttackerStrategy,
    *,
    stages: int | None = None,
    tolerance: float = 1e-9,
    limit: int = 200_000,
    limits: Limits = UNLIMITED,
) -> DefenderResponse:
    """Compute what an attacker secures at least, against a defender who knows its strategy but not its intent.

    The defender could see the attacker's memory too. Arguments are those of `expected_payoff`; `limit` is on situations
    of public state, memory and belief.

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
    tail, prior = Tail(game, stages, tolerance, limits), prior_of(game)
    decisions = _DefenderDecisions(game.timed(), attacker, limits)
    begins = [(s, m, prior * share * p) for s, share in start_laws(game) for m, p in attacker.begin(s)]
    begins = [begin for begin in begins if begin[2].any()]
    nodes = [decisions.node(*begin) for begin in begins]
    values, error, n = _answered(nodes, decisions.decide, tail, limit, limits, maximise=False)
    value = sum(float(mass.sum() * v[0]) for (_, _, mass), v in zip(begins, values, strict=True))
    ahead = sum(game.discount**k for k in range(tail.stages))
    return DefenderResponse(value, error + decisions.moved * decisions.largest_reward * ahead**2, n)


def exploitability(
    game: Game,
    attacker: AttackerStrategy,
    defender: DefenderStrategy,
    *,
    stages: int | None = None,
    tolerance: float = 1e-9,
    limit: int = 200_000,
) -> Exploitability:
    """Compute what each side would gain by a best response; arguments as for `expected_payoff`.

    Examples
    --------
    >>> import ncirl
    >>> from ncirl.strategies.strategy import uniform_attacker, uniform_defender
    >>> game = ncirl.games.aumann_maschler_1(discount=0.5)
    >>> round(exploitability(game, uniform_attacker(game), uniform_defender(game)).nash_conv, 6)
    0.5
    """
    payoff = expected_payoff(game, attacker, defender, stages=stages, tolerance=tolerance, limit=limit)
    conceded = best_response_to_defender(game, defender, stages=stages, tolerance=tolerance, limit=limit)
    secured = best_response_to_attacker(game, attacker, stages=stages, tolerance=tolerance, limit=limit)
    return Exploitability(
        attacker_gain=conceded.value - payoff.value,
        defender_gain=payoff.value - secured.value,
        nash_conv=conceded.value - secured.value,
        error=payoff.error + conceded.error + secured.error,
    )


def _answered(
    starts: list[Node],
    decide: Callable[[Node], Decision[Node]],
    tail: Tail,
    limit: int,
    limits: Limits,
    *,
    maximise: bool,
) -> tuple[FloatArray, float, int]:
    """Return the values [start, k] of a process, how far off they may be, and the number of stages looked ahead."""
    process, numbers, closed = explored(
        starts, decide, discount=tail.discount, maximise=maximise, limit=limit, stages=tail.stages, limits=limits
    )
    values, error, n = tail.values(process, closed=closed)
    return values[[numbers[node] for node in starts]], error, n


class _DefenderDecisions:
    """What a defender can choose against one attacker; it pays the attacker's gains."""

    def __init__(self, timed: Game, attacker: AttackerStrategy, limits: Limits) -> None:
        self.timed, self.attacker = timed, attacker
        self.continuations = Continuations(timed, limits)
        self.beliefs: dict[bytes, FloatArray] = {}
        self.largest_reward = 0.0
        self.moved = 0.0  # the largest ℓ1 distance between beliefs taken for one

    def node(self, state: State, memory: Memory, mass: FloatArray) -> BeliefNode:
        belief = mass / mass.sum()
        key = (np.round(belief, DIGITS) + 0.0).tobytes()  # no negative zeros
        kept = self.beliefs.setdefault(key, belief)
        self.moved = max(self.moved, float(np.abs(belief - kept).sum()))
        return state, memory, key

    def decide(self, node: BeliefNode) -> Decision[BeliefNode]:
        state, memory, key = node
        reward = self.timed.stage(state).reward
        self.largest_reward = max(self.largest_reward, float(np.abs(reward).max()))
        plan = self.attacker.policy(state, memory) * self.beliefs[key]
        masses: dict[tuple[State, Memory, int, int], FloatArray] = {}
        everything = np.ones(reward.shape[1])
        for a, d, i, chance, after in self.continuations.at(state, plan.sum(axis=1), everything):
            for then, p in self.attacker.after(state, memory, a, d, i):
                at = (after, then, d, i)
                masses[at] = masses.get(at, 0.0) + chance * plan[a] * p
        following: dict[BeliefNode, FloatArray] = {}
        for (successor, then, d, _), mass in masses.items():
            if mass.any():
                at_node = self.node(successor, then, mass)
                following.setdefault(at_node, np.zeros(reward.shape[1]))[d] += mass.sum()
        return Decision(np.einsum("at,adt->d", plan, reward)[:, None], following)
