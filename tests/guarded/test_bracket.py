"""The value is inside, promises hold and bounds are secured, on random small graphs whose whole game can be listed."""

from collections import Counter

import numpy as np
import pytest

import ncirl
from guarded_instances import Instance, random_graph, random_instance, solved
from ncirl.attack_graphs.graph import AttackGraph
from ncirl.attack_graphs.guarded.attacker import GroupAttacker, GuardedAttacker
from ncirl.attack_graphs.guarded.bundles import Bundled
from ncirl.attack_graphs.guarded.check import verify_guarded
from ncirl.attack_graphs.guarded.defender import GuardedDefender, PartDefender
from ncirl.attack_graphs.guarded.net import Net
from ncirl.attack_graphs.guarded.parts import Part, terms
from ncirl.attack_graphs.guarded.relaxed import Relaxed
from ncirl.attack_graphs.guarded.seen import Words

FEW = 30  # in a batch
OFF = 1e-6


def is_inside(instance: Instance) -> None:
    exact = solved(instance.graph.game(), ncirl.Certified(gap=1e-3, time_limit=3))
    assert instance.proof.lower <= exact.upper + OFF
    assert instance.proof.upper >= exact.lower - OFF


def promises_hold(instance: Instance) -> None:
    net, words = Net(instance.graph), Words(instance.graph)
    parts = [proof.part for proof in instance.proof.parts]
    lifted = [
        PartDefender(Relaxed(net, part, its), proof.defender_playbook)
        for part, its, proof in zip(parts, terms(net, parts), instance.proof.parts, strict=True)
    ]
    found = ncirl.best_response_to_defender(words.game, GuardedDefender(lifted, words), tolerance=1e-7)
    assert (found.per_intent <= instance.proof.per_intent + found.error + OFF).all()


def bounds_are_secured(instance: Instance) -> None:
    net, words = Net(instance.graph), Words(instance.graph)
    lifted = [GroupAttacker(Bundled(net, proof.group), proof.attacker_playbook) for proof in instance.proof.groups]
    found = ncirl.best_response_to_attacker(words.game, GuardedAttacker(net, lifted, words), tolerance=1e-7)
    assert found.value >= instance.proof.lower - found.error - OFF


def batch(first: int, count: int) -> None:
    for seed in range(first, first + count):
        instance = random_instance(seed)
        if instance is None:
            continue
        for check in (is_inside, promises_hold, bounds_are_secured):
            try:
                check(instance)
            except Exception as error:
                raise AssertionError(f"seed {seed}, {check.__name__}") from error
        certificate = verify_guarded(instance.proof)
        assert certificate.holds, (seed, certificate.faults)


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


@pytest.mark.parametrize("first", range(0, 60, FEW))
def test_small_graphs(first: int) -> None:
    batch(first, FEW)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("first", range(60, 3_060, FEW))
def test_many_small_graphs(first: int) -> None:
    batch(first, FEW)
