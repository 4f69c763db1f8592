"""Success between two numbers: the values of games in between lie between the bounds, against the exact program."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ncirl
from hardening.oracle import instance
from ncirl.attack_graphs.between import Between, between
from ncirl.attack_graphs.graph import AttackGraph
from ncirl.errors import InputError

EXACT = 1e-6
GAMES = 5  # drawn inside the intervals of a graph
ORDINARY, MANY = range(4), range(4, 40)


def provable(graph: AttackGraph, rng: np.random.Generator) -> Between:
    """Give an interval to every exploit for which that is possible."""
    found = {}
    for exploit in graph.exploits:
        low, high = sorted(rng.uniform(0, 1, size=2).tolist())
        try:
            between(graph, {exploit.id: (low, high)})
        except InputError:
            continue
        found[exploit.id] = (low, high)
    return between(graph, found)


def check(seed: int) -> int:
    rng = np.random.default_rng(seed)
    ends = provable(instance(seed), rng)
    lower = ncirl.solve(ends.mildest.game(), ncirl.Certified(gap=1e-3)).lower
    upper = ncirl.solve(ends.gravest.game(), ncirl.Certified(gap=1e-3)).upper
    for _ in range(GAMES):
        drawn = {name: float(rng.uniform(*interval)) for name, interval in ends.intervals.items()}
        exploits = tuple(replace(e, success=drawn.get(e.id, e.success)) for e in ends.mildest.exploits)
        value = ncirl.solve(replace(ends.mildest, exploits=exploits).game(), ncirl.HistoryLP()).lower
        assert lower - EXACT <= value <= upper + EXACT
    return len(ends.intervals)


def test_games_in_between_have_values_in_between() -> None:
    assert sum(check(seed) for seed in ORDINARY) > len(ORDINARY)  # most exploits may have an interval


@pytest.mark.slow
def test_the_same_for_many_games() -> None:
    assert sum(check(seed) for seed in MANY) > len(MANY)


def with_loss(graph: AttackGraph) -> AttackGraph:
    intents = (replace(graph.intents[0], rewards={"c1": -1.0, "c2": -1.0, "c3": -1.0}), *graph.intents[1:])
    return replace(graph, intents=intents)


def test_what_is_not_proved_is_refused() -> None:
    seen, unseen = instance(0), instance(2)
    first = seen.exploits[0].id
    with pytest.raises(InputError, match="loses by"):
        between(with_loss(seen), {first: (0.2, 0.4)})
    with pytest.raises(InputError, match="rings an alert"):
        between(unseen, {unseen.exploits[0].id: (0.2, 0.4)})
    between(with_loss(unseen), {unseen.exploits[1].id: (0.2, 0.4)})
    with pytest.raises(InputError, match="the smaller first"):
        between(seen, {first: (0.4, 0.2)})
