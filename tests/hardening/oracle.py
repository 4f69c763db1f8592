"""What controls are worth, by brute force: the exact program for every set of them, in a game built move by move."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np

import ncirl
from control_graphs import complete_game, one_each, random_controlled
from ncirl import Game
from ncirl.attack_graphs.graph import Alert, AttackGraph, Condition, Exploit, Intent


def instance(seed: int) -> AttackGraph:
    """Draw a small graph of two stages, by turns with controls of both kinds and without any."""
    observes = "actions" if seed % 4 < 2 else "outcomes"
    if seed % 2:
        return random_controlled(seed, observes=observes)
    rng = np.random.default_rng(seed)
    names = [f"c{k}" for k in range(4)]
    exploits = []
    for k in range(4):
        result = int(rng.integers(1, 4))
        premise = "c0" if k < 2 else names[int(rng.integers(0, 4))]
        alert = Alert(0.9, 0.1) if observes == "outcomes" and k == 0 else None
        numbers = [float(rng.choice(some)) for some in ([0.4, 0.8, 1.0], [0.0, 0.1], [0.0, 0.1, 0.3])]
        exploits.append(Exploit(f"e{k}", (premise,), names[result], *numbers, alert))
    rewards = [{c: float(rng.choice([-0.3, 0.0, 0.5, 1.0])) for c in names[1:]} for _ in range(2)]
    return AttackGraph(
        conditions=tuple(Condition(name, name == "c0") for name in names),
        exploits=tuple(exploits),
        intents=(Intent("t1", 0.3, rewards[0]), Intent("t2", 0.7, rewards[1])),
        discount=0.9,
        horizon=2,
        observes=observes,
        defender_budget=1 if seed % 3 == 0 else None,
    )


def with_in_place(graph: AttackGraph, controls: frozenset[str]) -> Game:
    """Return the game that begins with some controls in place: they stop their exploits, cost nothing and stay."""
    game = complete_game(graph if graph.controls is not None else one_each(graph))
    (start,) = game.starts
    enabled, _ = start.state
    return game.like(starts=[replace(start, state=(enabled, controls))])


def brute_force(graph: AttackGraph, most: int) -> dict[frozenset[str], float]:
    """Return the exact value with every set of at most so many controls in place."""
    names = [control.id for control in graph.defences]
    sets = [frozenset(some) for size in range(most + 1) for some in combinations(names, size)]
    return {some: ncirl.solve(with_in_place(graph, some), ncirl.HistoryLP()).lower for some in sets}
