"""The graphs of the benchmark are of the sizes it says, in one piece, and always the same."""

from __future__ import annotations

from benchmarks.middle import chains, drawn, tree

from ncirl.attack_graphs.guarded.apart import comes_apart
from ncirl.attack_graphs.reductions import estimate_size


def test_graphs_are_neither_small_nor_huge() -> None:
    for graph in drawn():
        assert 200 <= estimate_size(graph).states <= 20_000, graph.name
        assert not comes_apart(graph)
    assert [graph.name for graph in drawn()] == list(dict.fromkeys(graph.name for graph in drawn()))


def test_graphs_are_drawn_the_same_again() -> None:
    assert chains(3, 4) == chains(3, 4)
    assert tree(2, 3, 4) == tree(2, 3, 4)
