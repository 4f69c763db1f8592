"""Random attack graphs: their structure, their intents, their sizes."""

from __future__ import annotations

from math import isfinite
from statistics import median

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ncirl
from ncirl.attack_graphs.random_graphs import DIGITS, PAPER_SIZES, SHAPES, _usual_sizes, random_attack_graph

SEEDS = 40
NEAR = 1.25  # factor by which a median may miss the paper's size
shapes = st.sampled_from(sorted(SHAPES))


@given(n=st.integers(2, 12), seed=st.integers(0, 2**32), shape=shapes)
@settings(max_examples=60)
def test_structure(n: int, seed: int, shape: str) -> None:
    graph = random_attack_graph(n, intents=3, shape=shape, rng=seed)
    arrows = nx.DiGraph([(e.premises[0], e.result) for e in graph.exploits])
    assert all(len(e.premises) == 1 for e in graph.exploits)
    assert arrows.number_of_edges() == len(graph.exploits)
    assert nx.is_directed_acyclic_graph(arrows)
    assert set(arrows) == {c.id for c in graph.conditions}  # none is isolated
    assert len(graph.conditions) == n
    assert max(degree for _, degree in [*arrows.in_degree(), *arrows.out_degree()]) <= 3
    roots = {c.id for c in graph.conditions if c.initial}
    assert roots == {node for node, degree in arrows.in_degree() if degree == 0}
    for intent in graph.intents:
        assert intent.prior == pytest.approx(1 / 3)
        assert not roots & intent.rewards.keys()
        assert sum(intent.rewards.values()) == pytest.approx(1, abs=n * 10.0**-DIGITS)


@given(seed=st.integers(0, 2**32))
@settings(max_examples=20)
def test_shapes(seed: int) -> None:
    goals = random_attack_graph(8, rng=seed)
    for intent in goals.intents:
        assert len(intent.rewards) in (1, 2)
        assert min(intent.rewards.values()) >= 0.3
    for shape in ("dense", "dirichlet"):
        graph = random_attack_graph(8, shape=shape, rng=seed)
        assert graph.exploits == goals.exploits  # the shape leaves the graph alone
        assert all(len(i.rewards) == sum(not c.initial for c in graph.conditions) for i in graph.intents)


def test_settings_are_passed_on() -> None:
    graph = random_attack_graph(
        6, success=0.5, attack_cost=0.1, block_cost=0.2, discount=1.0, horizon=4, observes="outcomes", rng=0
    )
    assert {(e.success, e.attack_cost, e.block_cost) for e in graph.exploits} == {(0.5, 0.1, 0.2)}
    assert (graph.discount, graph.horizon, graph.observes) == (1.0, 4, "outcomes")


def test_one_seed_one_graph() -> None:
    assert random_attack_graph(7, rng=5) == random_attack_graph(7, rng=np.random.default_rng(5))
    assert random_attack_graph(7, rng=5) != random_attack_graph(7, rng=6)


@pytest.mark.parametrize("n", [pytest.param(n, marks=pytest.mark.slow) if n > 8 else n for n in PAPER_SIZES])
def test_sizes_are_near_the_papers(n: int) -> None:
    games = [random_attack_graph(n, rng=seed).game() for seed in range(SEEDS)]
    stages = [[game.stage(state) for state in game.explore()] for game in games]
    states, actions = PAPER_SIZES[n]
    assert states / NEAR <= median(len(met) for met in stages) <= states * NEAR
    assert actions / NEAR <= median(sum(len(stage.attacker) for stage in met) for met in stages) <= actions * NEAR


def test_faults_come_together() -> None:
    with pytest.raises(ncirl.InputError) as raised:
        random_attack_graph(1, intents=0, shape="round")
    assert raised.value.faults == (
        "n: must be at least 2, got 1",
        "intents: must be at least 1, got 0",
        "shape: must be one of goals, dense, dirichlet, got 'round'",
    )
    with pytest.raises(ncirl.InputError, match="success: must lie in"):
        random_attack_graph(4, success=2.0, rng=0)


def test_the_sizes_of_large_graphs_are_numbers() -> None:
    assert all(isfinite(size) for size in _usual_sizes(100_000))
    assert np.exp(_usual_sizes(10)) == pytest.approx(PAPER_SIZES[10])
