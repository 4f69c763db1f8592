"""Defenders compared on the same draws: every episode has one intent, one set of draws, and each defender meets them.

    n-cirl    the certified playbook
    ma-irl    the equilibrium against an intent inferred from an earlier attack, whatever is seen now
    static    the equilibrium against the average intent, whatever is seen
    uniform   anything, equally often

The attacker plays its certified strategy, or answers each defender as one who knows it (`AnsweringAttacker`).
"""

from collections.abc import Iterator, Mapping
from statistics import NormalDist
from typing import Any

import numpy as np

from ncirl._typing import FloatArray
from ncirl.baselines import MAIRL
from ncirl.evaluation import AnsweringAttacker
from ncirl.model.belief import prior_of
from ncirl.model.game import Game
from ncirl.solution import solve
from ncirl.solvers.shapley import Shapley
from ncirl.strategies.strategy import AttackerStrategy, DefenderStrategy, StationaryDefender, uniform_defender
from ncirl.web.play import Opponent
from ncirl.web.playable import PlayablePolicy
from ncirl.web.sampling import Sampler, Uniforms, draw_uniforms

__all__ = ["compared"]

POINTS = 100  # of a curve
CONFIDENCE = 0.95
MOST_SITUATIONS = 20_000  # looked at to answer a defender


def compared(policy: PlayablePolicy, opponent: Opponent, episodes: int, seed: int) -> Iterator[dict[str, Any]]:
    """Play the episodes and yield, from time to time, the mean payoff to the attacker by defender.

    A defender with too much memory to be answered is a `SizeError`.
    """
    samplers = {
        name: Sampler(policy.game, _against(policy, opponent, defender), defender)
        for name, defender in _defenders(policy.game, policy.defender).items()
    }
    payoffs = np.zeros((len(samplers), episodes))
    every = max(1, episodes // POINTS)
    for k in range(episodes):
        uniforms = draw_uniforms([seed, k], policy.stages)
        for row, sampler in zip(payoffs, samplers.values(), strict=True):
            row[k] = _payoff(sampler, uniforms)
        if (k + 1) % every == 0 or k + 1 == episodes:
            yield _point(list(samplers), payoffs[:, : k + 1])


def _defenders(game: Game, certified: DefenderStrategy) -> Mapping[str, DefenderStrategy]:
    mean = solve(game, Shapley(weights=prior_of(game).tolist()))
    return {
        "n-cirl": certified,
        "ma-irl": MAIRL(game),
        "static": StationaryDefender({state: mix[:, 0] for state, mix in mean.defender.items()}),
        "uniform": uniform_defender(game),
    }


def _against(policy: PlayablePolicy, opponent: Opponent, defender: DefenderStrategy) -> AttackerStrategy:
    if opponent is Opponent.CERTIFIED:
        return policy.attacker
    return AnsweringAttacker(policy.game, defender, tolerance=1e-6, limit=MOST_SITUATIONS)


def _payoff(sampler: Sampler, uniforms: Uniforms) -> float:
    theta, at = sampler.begin(None, uniforms[0])
    payoff, discount = 0.0, 1.0
    for drawn in uniforms[1:]:
        if sampler.timed.is_terminal(at.place):
            break
        done, at = sampler.move(theta, at, drawn)
        payoff += discount * done.reward
        discount *= sampler.timed.discount
    return payoff


def _point(names: list[str], payoffs: FloatArray) -> dict[str, Any]:
    episodes = payoffs.shape[1]
    spread = payoffs.std(axis=1, ddof=1) if episodes > 1 else np.full(len(names), np.nan)
    reach = NormalDist().inv_cdf((1 + CONFIDENCE) / 2) * spread / np.sqrt(episodes)
    return {
        "episode": episodes,
        "means": dict(zip(names, payoffs.mean(axis=1).tolist(), strict=True)),
        "half_width": dict(zip(names, [r if np.isfinite(r) else None for r in reach.tolist()], strict=True)),
    }
