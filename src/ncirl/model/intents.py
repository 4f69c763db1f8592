"""Intents that want the same are one intent: equal rewards everywhere, and equal odds wherever play may start."""

from dataclasses import dataclass

import numpy as np

from ncirl._typing import FloatArray, IntArray
from ncirl.limits import UNLIMITED, Limits
from ncirl.model.game import Game, Start

__all__ = ["MergedIntents", "merge_intents"]


@dataclass(frozen=True, eq=False)
class MergedIntents:
    """A game with fewer intents, and the way back."""

    whole: Game  # with all intents
    game: Game  # with the merged ones
    group: IntArray  # the merged intent of each θ
    odds: FloatArray  # its probability given the merged one


def merge_intents(game: Game, limits: Limits = UNLIMITED) -> MergedIntents:
    """Merge the intents of a game that cannot be told apart by anything they do."""
    wants = _equal_rewards(game, limits)
    prior = np.array([start.mass for start in game.starts])  # [start, θ]
    group = np.full(len(game.intents), -1, dtype=np.intp)
    chosen: list[int] = []
    for k in range(len(game.intents)):
        for g, leader in enumerate(chosen):
            if wants[k] == wants[leader] and _proportional(prior[:, k], prior[:, leader]):
                group[k] = g
                if not prior[:, leader].any():
                    chosen[g] = k  # whom the prior rules out is like any odds, so must not speak for the others
                break
        else:
            group[k] = len(chosen)
            chosen.append(k)
    if len(chosen) == len(game.intents):
        return MergedIntents(game, game, group, np.ones(len(group)))
    own = prior.sum(axis=0)
    total = np.bincount(group, weights=own, minlength=len(chosen))[group]
    odds = np.where(total > 0, own / np.where(total > 0, total, 1.0), 1 / np.bincount(group)[group])
    pooled = np.eye(len(chosen))[group]  # [θ, merged θ]
    fewer = game.like(
        stage=lambda state: game.stage(state).paying(lambda reward: reward[:, :, chosen]),
        starts=[Start(start.state, start.mass @ pooled) for start in game.starts],
        intents=tuple(game.intents[k] for k in chosen),
        same_moves=True,
    )
    return MergedIntents(game, fewer, group, odds)


def _equal_rewards(game: Game, limits: Limits) -> list[int]:
    """Give intents with equal rewards at every state one number."""
    wants = [0] * len(game.intents)
    for state in game.explore(limits=limits):
        limits.check("comparing intents")
        if len(set(wants)) == len(wants):
            break
        if game.is_terminal(state):
            continue
        reward = game.stage(state).reward + 0.0  # no negative zeros
        met: dict[tuple[int, bytes], int] = {}
        wants = [met.setdefault((want, reward[:, :, k].tobytes()), len(met)) for k, want in enumerate(wants)]
    return wants


def _proportional(one: FloatArray, other: FloatArray) -> bool:
    """Tell whether two priors differ by a factor only (or one is nothing)."""
    return bool(np.array_equal(one * other.sum(), other * one.sum())) or not one.any() or not other.any()
