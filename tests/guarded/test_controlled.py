"""Graphs with controls: the value is inside, promises hold and bounds are secured, on small graphs listed whole."""

from collections import Counter

import numpy as np
import pytest

from guarded_checks import check_seeds
from guarded_instances import random_graph, with_controls
from ncirl.attack_graphs.graph import AttackGraph

FEW = 20  # in a batch


def kinds(graph: AttackGraph) -> set[str]:
    """Say which of what controls can be a graph has."""
    assert graph.controls is not None
    over = Counter(name for control in graph.controls for name in control.blocks)
    found = {
        "momentary": any(not control.lasts for control in graph.controls),
        "lasting": any(control.lasts for control in graph.controls),
        "shared": any(len(control.blocks) > 1 for control in graph.controls),
        "several over one": max(over.values(), default=0) > 1,
        "under none": any(e.id not in over for e in graph.exploits),
        "lasting, budgeted": graph.defender_budget is not None and any(control.lasts for control in graph.controls),
    }
    return {name for name, has in found.items() if has}


def test_random_controls_are_of_every_kind() -> None:
    met: Counter[str] = Counter()
    for seed in range(200):
        rng = np.random.default_rng(seed)
        met.update(kinds(with_controls(random_graph(rng), rng)))
    assert len(met) == 6
    assert min(met.values()) >= 20, met


def test_small_graphs() -> None:
    check_seeds(range(FEW), controlled=True)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("first", range(FEW, 1_020, FEW))
def test_many_small_graphs(first: int) -> None:
    check_seeds(range(first, first + FEW), controlled=True)
