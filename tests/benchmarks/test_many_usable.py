"""The graphs of the benchmark are what it says they are, and a row tells of one."""

from __future__ import annotations

import pytest
from benchmarks.many_usable import COSTS, SEEN, SHAPES, USABLE, drawn, row

from ncirl.attack_graphs.guarded.net import Net


@pytest.mark.parametrize("shape", SHAPES)
def test_so_many_are_usable_at_the_start(shape: str) -> None:
    graph = drawn(shape, seed=3)
    net = Net(graph)
    assert sum(not needs & ~net.start for needs in net.needs) == USABLE
    assert len(net.exploits) == len(graph.exploits)
    assert len(graph.intents) == 10
    assert graph.attacker_budget is None
    assert graph.defender_budget is None
    assert graph == drawn(shape, seed=3)


def test_every_regime_is_another_graph() -> None:
    names = {drawn("star", costs, seen).name for costs in COSTS for seen in SEEN}
    assert len(names) == len(COSTS) * len(SEEN)


def test_a_row_has_bounds_and_a_proof() -> None:
    told = row(drawn("parallel", usable=3), 20.0, "90%").split("|")
    assert float(told[2]) <= float(told[3])
    assert told[7].strip().startswith("holds")
