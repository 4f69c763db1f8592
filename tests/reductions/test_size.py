"""How large a game is said to be, against the game itself, and whether advice helps."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from ncirl.attack_graphs.graph import AttackGraph
from ncirl.attack_graphs.random_graphs import random_attack_graph
from ncirl.attack_graphs.reductions import estimate_size, size_advice
from reductions.graphs import ladders, small_graphs

WALKS = 3000
SPREAD = 0.1  # of an estimate from so many walks


@given(small_graphs())
@settings(max_examples=60)
def test_counts_are_those_of_the_game(graph: AttackGraph) -> None:
    game = graph.game()
    shapes = [game.stage(state).shape for state in game.explore()]
    found = estimate_size(graph)
    assert (found.states, found.kind) == (len(shapes), "counted")
    assert found.pairs == sum(a * d for a, d in shapes)
    most = np.array(shapes).max(axis=0).tolist()
    assert [found.attacker_actions, found.defender_actions] == [max(1, n) for n in most]


@pytest.mark.parametrize("graph", [ladders(3, 3), random_attack_graph(10, rng=1)], ids=["ladders", "random"])
def test_walks_estimate_the_number_of_states(graph: AttackGraph) -> None:
    found = estimate_size(graph, limit=5, walks=WALKS)
    assert found.kind == "estimated"
    assert found.states == pytest.approx(estimate_size(graph).states, rel=SPREAD)


def test_large_graphs_are_said_to_be_large() -> None:
    found = estimate_size(ladders(12, 6), limit=50)
    assert (found.kind, found.too_large) == ("more-than", False)
    assert "more than 50 public states" in str(found)


def test_small_graphs_need_no_advice() -> None:
    assert size_advice(ladders(3, 2)) is None


@pytest.mark.parametrize("graph", [ladders(4, 5), ladders(1, 10)], ids=["many states", "many actions"])
def test_advice_was_tried(graph: AttackGraph) -> None:
    advice = size_advice(graph)
    assert advice is not None
    assert advice.suggestions
    for suggestion in advice.suggestions:
        assert suggestion.options
        assert not suggestion.after.too_large
        assert " ".join(suggestion.options) in str(advice)


def test_where_nothing_helps_the_advice_says_so() -> None:
    advice = size_advice(ladders(1, 14))
    assert advice is not None
    assert advice.suggestions == ()
    assert "--only-goals" in str(advice)
