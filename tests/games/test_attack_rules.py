"""The stages of attack graphs: against an enumeration of all luck, and by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import ncirl
from attack_oracle import ends, graphs, initial, reachable, reward, split, subsets, usable
from ncirl import Branch, Game, Stage
from ncirl.attack_graphs.graph import Alert, AttackGraph, Condition, Exploit, Intent
from ncirl.attack_graphs.names import listed
from ncirl.attack_graphs.rules import MOST_NUMBERS
from ncirl.solution import solve
from ncirl.solvers.history_lp.history_lp import HistoryLP

ROUNDING = 1e-12
LP_ACCURACY = 1e-6


@given(graphs())
@settings(max_examples=150)
def test_stages_agree_with_enumeration(graph: AttackGraph) -> None:
    game = graph.game()
    start = initial(graph)
    found = {start | split(game.describe(state), "start"): game.stage(state) for state in game.explore()}
    assert found.keys() == set(reachable(graph))
    for enabled, stage in found.items():
        able = usable(graph, enabled)
        if not able:
            assert stage.is_terminal
            continue
        assert [split(name, "nothing") for name in stage.attacker] == subsets(able, graph.attacker_budget)
        assert [split(name, "nothing") for name in stage.defender] == subsets(able, graph.defender_budget)
        assert (stage.law.data > 0).all()
        assert len(set(stage.outcomes)) == len(stage.outcomes)
        assert len(set(stage.law.indices.tolist())) == len(stage.outcomes)  # each possible under some pair
        for i, a in enumerate(subsets(able, graph.attacker_budget)):
            for j, d in enumerate(subsets(able, graph.defender_budget)):
                expected = ends(graph, enabled, a, d, able)
                law, mean = {}, np.zeros(2)
                for o, q in zip(*stage.outcome_law(i, j), strict=True):
                    outcome = stage.outcomes[o]
                    after = start | split(game.describe(outcome.state), "start")
                    law[after, outcome.signal] = q
                    realised = reward(graph, enabled, a, d, after)
                    np.testing.assert_allclose(stage.realised(i, j, int(o)), realised, atol=ROUNDING)
                    mean += q * np.array(realised)
                assert law == pytest.approx(expected, abs=ROUNDING)
                np.testing.assert_allclose(stage.reward[i, j], mean, atol=ROUNDING)


def complete_game(graph: AttackGraph) -> Game:
    """Build the game with every usable exploit in it, worthwhile or not, move by move."""

    def stage(enabled: frozenset[str]) -> Stage:
        able = usable(graph, enabled, idle_too=True)
        if not able:
            return ncirl.TERMINAL
        attacks, blocks = subsets(able, graph.attacker_budget), subsets(able, graph.defender_budget)
        moves = {
            (repr(sorted(a)), repr(sorted(d))): [
                Branch(after, chance, reward(graph, enabled, a, d, after), signal)
                for (after, signal), chance in ends(graph, enabled, a, d, able).items()
            ]
            for a in attacks
            for d in blocks
        }
        names = [[repr(sorted(chosen)) for chosen in sets] for sets in (attacks, blocks)]
        return Stage.from_moves(names[0], names[1], moves, len(graph.intents))

    return Game(
        stage,
        intents=[i.id for i in graph.intents],
        initial={initial(graph): [i.prior for i in graph.intents]},
        discount=graph.discount,
        horizon=2,
        observes=graph.observes,
    )


@given(graphs(most_conditions=3, most_exploits=3))
@settings(max_examples=40)
def test_what_is_left_out_does_not_change_the_value(graph: AttackGraph) -> None:
    ours = solve(graph.game().with_horizon(2), HistoryLP())
    complete = solve(complete_game(graph), HistoryLP())
    assert ours.lower == pytest.approx(complete.lower, abs=LP_ACCURACY)


def lab(*exploits: Exploit, **changes: Any) -> AttackGraph:
    """Return a graph on a, b (initial), c, d with one intent that wants c (1) and d (4)."""
    parts: dict[str, Any] = {
        "conditions": (Condition("a", True), Condition("b", True), Condition("c"), Condition("d")),
        "exploits": exploits,
        "intents": (Intent("t", 1.0, {"a": 100.0, "c": 1.0, "d": 4.0}),),
        "discount": 0.5,
    }
    return AttackGraph(**(parts | changes))


def start_stage(graph: AttackGraph) -> Stage:
    game = graph.game()
    return game.stage(game.starts[0].state)


def test_two_exploits_to_one_condition_and_blocking() -> None:
    stage = start_stage(lab(Exploit("x", ("a",), "c", 0.5, 0.1, 0.2), Exploit("y", ("b",), "c", 0.75, 0.3, 0.4)))
    assert stage.attacker == stage.defender == ("nothing", "x", "y", "x + y")
    assert len(stage.outcomes) == 2
    enabled = stage.law.toarray()[:, 1].reshape(4, 4)
    np.testing.assert_allclose(
        enabled, [[0, 0, 0, 0], [0.5, 0, 0.5, 0], [0.75, 0.75, 0, 0], [0.875, 0.75, 0.5, 0]], atol=ROUNDING
    )
    # the reward of c is 1, so the expected reward is its probability and the costs
    costs = np.array([0, 0.2, 0.4, 0.6]) - np.array([0, 0.1, 0.3, 0.4])[:, None]
    np.testing.assert_allclose(stage.reward[:, :, 0], enabled + costs, atol=ROUNDING)
    assert stage.realised(3, 1, 1) == pytest.approx(1 - 0.4 + 0.2)


def test_all_premises_are_needed() -> None:
    game = lab(Exploit("x", ("a",), "c", 0.5), Exploit("y", ("a", "c"), "d", 0.5)).game()
    stages = {game.describe(state): game.stage(state) for state in game.explore()}
    assert {name: stage.attacker for name, stage in stages.items()} == {
        "start": ("nothing", "x"),
        "c": ("nothing", "y"),
        "c + d": (),
    }


def test_budgets_limit_each_side() -> None:
    exploits = [Exploit(f"e{k}", ("a",), c, 0.5) for k, c in enumerate("ccd")]
    stage = start_stage(lab(*exploits, attacker_budget=1, defender_budget=2))
    assert stage.attacker == ("nothing", "e0", "e1", "e2")
    assert stage.defender == ("nothing", "e0", "e1", "e2", "e0 + e1", "e0 + e2", "e1 + e2")
    assert start_stage(lab(*exploits, defender_budget=0)).defender == ("nothing",)


def test_alerts_may_miss_and_may_be_false() -> None:
    graph = lab(Exploit("x", ("a",), "c", 1.0, alert=Alert(0.9, 0.2)), observes="outcomes")
    game = graph.game()
    stage = game.stage(game.starts[0].state)
    seen = {(game.describe(o.state), o.signal): k for k, o in enumerate(stage.outcomes)}
    law = {pair: stage.law.toarray()[:, k].reshape(2, 2).tolist() for pair, k in seen.items()}
    assert law == {
        ("start", "quiet"): [[0.8, 0.8], [0, pytest.approx(0.1)]],  # missed, though blocked
        ("start", "alert: x"): [[0.2, 0.2], [0, 0.9]],
        ("c", "quiet"): [[0, 0], [pytest.approx(0.1), 0]],
        ("c", "alert: x"): [[0, 0], [0.9, 0]],
    }


def test_alerts_tell_nothing_where_actions_are_seen() -> None:
    stage = start_stage(lab(Exploit("x", ("a",), "c", 0.5, alert=Alert(0.9, 0.2))))
    assert [outcome.signal for outcome in stage.outcomes] == [None, None]


def test_hopeless_exploits_are_left_out_unless_their_alert_is_heard() -> None:
    hopeless = Exploit("x", ("a",), "c", 0.0, alert=Alert(0.5))
    assert start_stage(lab(hopeless)).is_terminal
    assert start_stage(lab(hopeless, observes="outcomes")).attacker == ("nothing", "x")


def test_cycles_are_fine() -> None:
    game = lab(Exploit("x", ("a",), "c", 0.5), Exploit("y", ("c",), "d", 0.5), Exploit("z", ("d",), "c", 0.5)).game()
    assert [game.describe(state) for state in game.explore()] == ["start", "c", "c + d"]
    unreachable = lab(Exploit("y", ("c",), "d", 0.5), Exploit("z", ("d",), "c", 0.5)).game()
    assert unreachable.is_terminal(unreachable.starts[0].state)


def star(n: int, **changes: Any) -> AttackGraph:
    parts: dict[str, Any] = {
        "conditions": (Condition("r", True), *(Condition(f"c{k}") for k in range(n))),
        "exploits": tuple(Exploit(f"e{k}", ("r",), f"c{k}", 0.5) for k in range(n)),
        "intents": (Intent("t", 1.0, {"c0": 1.0}),),
        "discount": 0.5,
    }
    return AttackGraph(**(parts | changes))


def test_states_are_met_only_when_asked_for() -> None:
    game = star(70, attacker_budget=1, defender_budget=1).game()  # 2^70 states
    stage = game.stage(game.starts[0].state)
    assert stage.shape == (71, 71)
    assert len(stage.outcomes) == 71
    assert game.stage(stage.outcomes[-1].state).shape == (70, 70)


def test_sets_of_more_than_64_exploits_are_told_apart() -> None:
    stage = start_stage(star(66, attacker_budget=1, defender_budget=0))
    assert len(stage.outcomes) == 67
    np.testing.assert_array_equal(np.asarray(stage.law.sum(axis=0)).ravel()[1:], 0.5)


def test_too_many_actions_is_a_size_error_with_a_remedy() -> None:
    with pytest.raises(
        ncirl.SizeError,
        match=r"state 'start': 13 usable exploits make 8192 x 8192 pairs .* \(4 for both makes 1093 x 1093\)",
    ):
        start_stage(star(13))
    assert start_stage(star(13, attacker_budget=1, defender_budget=2)).shape == (14, 92)


def test_too_many_outcomes_is_a_size_error_with_a_remedy() -> None:
    noisy = tuple(Exploit(f"e{k}", ("r",), f"c{k}", 0.5, alert=Alert(0.9, 0.1)) for k in range(30))
    with pytest.raises(ncirl.SizeError, match=rf"961 pairs .* more than {MOST_NUMBERS}; .* fewer exploits an alert"):
        start_stage(star(30, exploits=noisy, observes="outcomes", attacker_budget=1, defender_budget=1))


def test_names_never_mislead() -> None:
    misleading = ["a", "b", "a + b", "start", '"start"', "c"]
    graph = AttackGraph(
        conditions=tuple(Condition(name) for name in misleading),
        exploits=tuple(Exploit(name, (), name, 0.5, alert=Alert(0.5)) for name in misleading),
        intents=(Intent("t", 1.0, {}),),
        discount=0.5,
        observes="outcomes",
        attacker_budget=2,
        defender_budget=0,
    )
    game = graph.game()
    states = game.explore()
    assert len(states) == 2 ** len(misleading)
    assert len({game.describe(state) for state in states}) == len(states)
    assert listed(["nothing", " x", "quiet", "a,b", "d"], ", ") == '"nothing", " x", "quiet", "a,b", d'
