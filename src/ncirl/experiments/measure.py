"""What contests are worth to the attacker, in units of what its intent could gain, expected and drawn.

The unit of intent θ is the sum of its rewards over all conditions, Σ_c reward_θ(c): "the total reward across all nodes"
of appendix C. Every reward and cost of a play with intent θ is divided by it, and intents are averaged by the prior:

    E = Σ_θ P0(θ) payoff(θ) / Σ_c reward_θ(c).

Costs count, so E can exceed 1 (blocking is paid to the attacker) and be negative.

The interval around the mean of m episodes is that of the normal law, plus truncation, plus what was too rare to be
drawn: with probability 1 − δ some of the m shows any event of probability ln(1/δ) / m, and one that none shows is taken
to matter by one unit, all that an intent is worth. Without it, episodes that all went well would seem to prove that
none can go wrong.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, hypot, log
from statistics import NormalDist

import numpy as np

from ncirl._typing import FloatArray, State
from ncirl.attack_graphs.graph import AttackGraph
from ncirl.errors import InputError, SizeError
from ncirl.evaluation import expected_payoff, simulate
from ncirl.model.game import Game
from ncirl.model.stage import Stage
from ncirl.strategies.strategy import AttackerStrategy, DefenderStrategy

__all__ = ["CONFIDENCE", "Measured", "Pairing", "in_units", "measure", "units"]

CONFIDENCE = 0.9999  # of each interval, so that hundreds of them hold all at once
LIMIT = 50_000  # situations followed for an exact payoff: some seconds
TRUNCATION = 1e-3  # what drawn episodes of a play without end may miss; part of the interval


@dataclass(frozen=True, eq=False)
class Pairing:
    """A pair of strategies, and how often it is the one that meets."""

    weight: float
    attacker: AttackerStrategy
    defender: DefenderStrategy


@dataclass(frozen=True)
class Measured:
    """The attacker's mean reward."""

    expected: float  # exact, but for this error: where play does not end, or where only bounds are known; where
    error: float  # memories are too many to follow, the mean of what was drawn with half of its interval
    mean: float  # of the episodes drawn
    standard_error: float
    low: float  # an interval around `mean` that holds what is expected with probability `CONFIDENCE`
    high: float

    @property
    def agrees(self) -> bool:
        """Whether what is expected lies in the interval, but for its error."""
        return self.low - self.error <= self.expected <= self.high + self.error


def units(graph: AttackGraph) -> FloatArray:
    """Return the total reward of each intent, [θ]; `InputError` when an intent has nothing to gain."""
    totals = np.array([sum(intent.rewards.values()) for intent in graph.intents])
    faults = [
        f"intent '{intent.id}': its rewards must sum to more than 0 to be a unit, got {total:g}"
        for intent, total in zip(graph.intents, totals.tolist(), strict=True)
        if not total > 0
    ]
    if faults:
        raise InputError(faults, where=f"attack graph '{graph.name}'")
    return totals


def in_units(game: Game, totals: FloatArray) -> Game:
    """Return the same contest with the rewards of each intent divided by its total."""

    def stage(state: State) -> Stage:
        given = game.stage(state)
        if given.is_terminal:
            return given
        pair, outcome, branch = (
            None if part is None else part / totals for part in (given.pair, given.outcome, given.branch)
        )
        return replace(given, pair=pair, outcome=outcome, branch=branch)

    return game.like(stage=stage)


def measure(
    game: Game,
    pairings: Sequence[Pairing],
    *,
    stages: int | None,
    episodes: int,
    seed: np.random.SeedSequence,
    bounds: tuple[float, float] | None = None,
    limit: int = LIMIT,
    or_drawn: bool = False,
) -> Measured:
    """Evaluate a mixture of pairings, exactly and by drawing episodes of each in proportion to its weight.

    Parameters
    ----------
    game : Game
        In the units wanted.
    pairings : sequence of Pairing
        Weights sum to 1.
    stages : int, optional
        Count that many stages only.
    episodes : int
        How many in all, rounded up to at least two of each pairing.
    bounds : pair of float, optional
        What every pairing is known to lie between; stands in where memories are too many to follow.
    limit : int
        The most triples of public state and memories to follow.
    or_drawn : bool
        Whether what was drawn may stand in where there are more.

    Raises
    ------
    SizeError
        When there are more than `limit` and nothing stands in.
    """
    expected = error = mean = spread = truncation = 0.0
    total = 0
    for pairing, child in zip(pairings, seed.spawn(len(pairings)), strict=True):
        share = max(2, ceil(pairing.weight * episodes))
        drawn = simulate(
            game, pairing.attacker, pairing.defender, episodes=share, stages=stages, rng=child, tolerance=TRUNCATION
        )
        instead = bounds
        if or_drawn:
            reach = _reach(drawn.standard_error, drawn.truncation, share)
            instead = drawn.mean - reach, drawn.mean + reach
        value, off = _expected(game, pairing, stages, instead, limit)
        total += share
        expected += pairing.weight * value
        error += pairing.weight * off
        mean += pairing.weight * drawn.mean
        spread = hypot(spread, pairing.weight * drawn.standard_error)
        truncation += pairing.weight * drawn.truncation
    reach = _reach(spread, truncation, total)
    return Measured(expected, error, mean, spread, mean - reach, mean + reach)


def _reach(spread: float, truncation: float, episodes: int) -> float:
    """Return half of the interval around a mean: the normal law, what was cut, what is too rare to be drawn."""
    doubt = (1 - CONFIDENCE) / 2
    return NormalDist().inv_cdf(1 - doubt) * spread + truncation + log(1 / doubt) / episodes


def _expected(
    game: Game, pairing: Pairing, stages: int | None, bounds: tuple[float, float] | None, limit: int
) -> tuple[float, float]:
    try:
        payoff = expected_payoff(game, pairing.attacker, pairing.defender, stages=stages, limit=limit)
    except SizeError:
        if bounds is None:
            raise
        low, high = bounds
        return (low + high) / 2, (high - low) / 2
    return payoff.value, payoff.error
