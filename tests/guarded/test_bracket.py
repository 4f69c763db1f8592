"""The value is inside, promises hold and bounds are secured, on random small graphs whose whole game can be listed."""

from collections import Counter

import numpy as np
import pytest

import ncirl
from guarded_checks import OFF, check_seeds
from guarded_instances import random_graph, random_instance, solved
from ncirl.attack_graphs.graph import AttackGraph
from ncirl.attack_graphs.guarded.net import Net
from ncirl.attack_graphs.guarded.parts import Part, terms
from ncirl.attack_graphs.guarded.relaxed import Relaxed

FEW, BATCH = 12, 30


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


def everything_guarded_is_the_game(seed: int) -> bool:
    """With every exploit guarded nothing is conceded: both sides of the two brackets must overlap."""
    instance = random_instance(seed)
    if instance is None or not Net(instance.graph).goals():
        return False
    net, precise = Net(instance.graph), ncirl.Certified(gap=2e-3, time_limit=3)
    rewarded = tuple(net.conditions[c] for c in np.flatnonzero(net.rewards.any(axis=1)).tolist())
    budget = instance.graph.defender_budget
    part = Part(rewarded, tuple(net.guards), width=16, defender_budget=budget)
    (its_terms,) = terms(net, [part])
    whole = solved(Relaxed(net, part, its_terms).game(), precise)
    exact = solved(instance.graph.game(), precise)
    assert whole.lower <= exact.upper + OFF, seed
    assert whole.upper >= exact.lower - OFF, seed
    return True


def test_guarding_everything_is_the_game_itself() -> None:
    assert sum(everything_guarded_is_the_game(seed) for seed in range(8)) >= 4


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_guarding_everything_is_the_game_itself_on_many_graphs() -> None:
    assert sum(everything_guarded_is_the_game(seed) for seed in range(100, 300)) >= 100


def test_small_graphs() -> None:
    check_seeds(range(FEW))


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("first", range(FEW, 3_042, BATCH))
def test_many_small_graphs(first: int) -> None:
    check_seeds(range(first, first + BATCH))
