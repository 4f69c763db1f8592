"""Defenders compared on the same draws: every episode has one intent, one set of draws, and each defender meets them.

    n-cirl    the certified playbook
    ma-irl    the equilibrium against an intent inferred from an earlier attack, whatever is seen now
    static    the equilibrium against the average intent, whatever is seen
    uniform   anything, equally often

The attacker plays its certified strategy, or answers each defender as one who knows it (`AnsweringAttacker`).

Other defenders need the states listed. A policy that guards a whole graph has them not: there its own defence meets
several attackers, each on the same draws of the defence and of chance.

    lifted      the attack of the policy
    random      anything that can be used
    adaptive    one way at a time, by what it has seen blocked
    informed    the same, knowing what the defence draws from
"""

from collections.abc import Iterator, Mapping
from itertools import count
from statistics import NormalDist
from typing import Any

import numpy as np

from ncirl._typing import FloatArray
from ncirl.attack_graphs.guarded.plays import ATTACKERS, LEAST, play
from ncirl.attack_graphs.guarded.solution import GuardedSolution
from ncirl.baselines import MAIRL
from ncirl.errors import LimitError
from ncirl.evaluation import AnsweringAttacker
from ncirl.limits import Limits
from ncirl.model.belief import prior_of
from ncirl.model.game import Game
from ncirl.solution import solve
from ncirl.solvers.shapley import Shapley
from ncirl.strategies.strategy import AttackerStrategy, DefenderStrategy, StationaryDefender, uniform_defender
from ncirl.web.play import Opponent
from ncirl.web.playable import PlayablePolicy
from ncirl.web.sampling import Sampler, Uniforms, draw_uniforms

__all__ = ["compared", "compared_attackers"]

POINTS = 100  # of a curve
BATCHES = 20  # of plays against each attacker, at least where there are many
LARGEST = 5  # plays of an intent in a batch: what time cuts short is lost
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


def compared_attackers(solution: GuardedSolution, episodes: int, seed: int, limits: Limits) -> Iterator[dict[str, Any]]:
    """Play the defence of a whole graph against each attacker, about so many episodes or as many as time allows.

    Episodes come in batches, each of a mean with its error; these are pooled.
    """
    n_t = len(solution.graph.intents)
    each = max(LEAST, -(-episodes // n_t))
    size = min(LARGEST, max(LEAST, each // BATCHES))
    z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
    names, means, errors = list(ATTACKERS), list[list[float]](), list[list[float]]()
    for k in count():
        seeded = int(np.random.default_rng([seed, k]).integers(2**53))
        try:
            found = [play(solution, name, episodes=size, rng=seeded, limits=limits) for name in names]
        except LimitError:
            if not means:
                raise
            return
        if min(plays.episodes for plays in found) < size and means:
            return  # time is up: a batch that is cut short would count for a whole one
        means.append([plays.mean for plays in found])
        errors.append([(plays.interval[1] - plays.mean) / z for plays in found])
        n = len(means)
        pooled, error = np.mean(means, axis=0), np.sqrt(np.square(errors).sum(axis=0)) / n
        yield {
            "episode": n * size * n_t,
            "means": dict(zip(names, pooled.tolist(), strict=True)),
            "half_width": dict(zip(names, (z * error).tolist(), strict=True)),
        }
        if n * size >= each:
            return


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
