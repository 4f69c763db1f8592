"""The value is inside, promises hold and bounds are secured, on random small graphs whose whole game can be listed."""

from collections import Counter

import numpy as np
import pytest

from guarded_checks import check_seeds
from guarded_instances import random_graph
from ncirl.attack_graphs.graph import AttackGraph

FEW = 30  # in a batch


def kinds(graph: AttackGraph) -> set[str]:
    """Say which of what a format can say a graph has."""
    pairs = Counter((e.premises, e.result) for e in graph.exploits)
    follow = {e.result: set(e.premises) for e in graph.exploits}
    found = {
        "several premises": any(len(e.premises) > 1 for e in graph.exploits),
        "cycles": any(c in follow.get(p, ()) for c, before in follow.items() for p in before),
        "parallel exploits": max(pairs.values()) > 1,
        "negative rewards": any(r < 0 for i in graph.intents for r in i.rewards.values()),
        "several goals": any(sum(r > 0 for r in i.rewards.values()) > 1 for i in graph.intents),
        "alerts": any(e.alert is not None for e in graph.exploits),
        "attempts budgeted": graph.attacker_budget is not None,
        "blocks budgeted": graph.defender_budget is not None,
        "a horizon": graph.horizon is not None,
        str(graph.observes): True,
    }
    return {name for name, has in found.items() if has}


def test_random_graphs_are_of_every_kind() -> None:
    met = Counter(kind for seed in range(300) for kind in kinds(random_graph(np.random.default_rng(seed))))
    assert len(met) == 11
    assert min(met.values()) >= 15, met


@pytest.mark.parametrize("first", range(0, 60, FEW))
def test_small_graphs(first: int) -> None:
    check_seeds(range(first, first + FEW))


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("first", range(60, 3_060, FEW))
def test_many_small_graphs(first: int) -> None:
    check_seeds(range(first, first + FEW))
