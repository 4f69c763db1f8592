"""Families of games that grow with one number; all finite, since the others know no endless play."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from ncirl import games
from ncirl.attack_graphs.random_graphs import random_attack_graph
from ncirl.model.game import Game

__all__ = ["FAMILIES", "Family"]

INTENTS = 3
SEED = 0


@dataclass(frozen=True)
class Family:
    """Games by size.

    Attributes
    ----------
    name, title, letter : str
        For the command line, for people, and what the size is called.
    sizes : tuple of int
        In the order in which they are tried.
    common : int
        The size at which all answers are compared and scored.
    build : callable
        From a size to a game.
    """

    name: str
    title: str
    letter: str
    sizes: tuple[int, ...]
    common: int
    build: Callable[[int], Game]


def _one_at_a_time(horizon: int) -> Game:
    drawn = random_attack_graph(6, intents=INTENTS, horizon=horizon, rng=SEED)
    return replace(drawn, attacker_budget=1, defender_budget=1).game()


def _any_subset(n: int) -> Game:
    return random_attack_graph(n, intents=INTENTS, horizon=2, rng=SEED).game()


FAMILIES = {
    family.name: family
    for family in (
        Family(
            "patrol",
            "Patrol, T undiscounted stages",
            "T",
            (2, 3, 4, 5, 6, 8, 10),
            3,
            lambda size: games.patrol(discount=1.0, horizon=size),
        ),
        Family(
            "aumann-maschler-1",
            "Aumann–Maschler I at p = 1/2, T undiscounted stages",
            "T",
            (2, 4, 6, 8, 10, 12),
            4,
            lambda size: games.aumann_maschler_1(discount=1.0, horizon=size),
        ),
        Family(
            "attack-graph",
            "A random attack graph on 6 conditions, 3 intents, one exploit at a time, T stages",
            "T",
            (1, 2, 3, 4, 5, 6),
            2,
            _one_at_a_time,
        ),
        Family(
            "attack-graphs",
            "Random attack graphs on n conditions, 3 intents, any set of exploits at a time, 2 stages",
            "n",
            (3, 4, 5, 6),
            3,
            _any_subset,
        ),
    )
}
