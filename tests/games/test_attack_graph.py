"""The attack graph's description: its faults, its game's parameters, its picture."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import ncirl
from ncirl.attack_graphs.graph import Alert, AttackGraph, Condition, Exploit, Intent

GRAPH = AttackGraph(
    conditions=(Condition("web", initial=True, label="web server"), Condition("db"), Condition("keys")),
    exploits=(
        Exploit("sqli", ("web",), "db", 0.5, 0.1, 0.2, Alert(0.9, 0.05)),
        Exploit("dump", ("web", "db"), "keys", 0.25),
    ),
    intents=(Intent("spy", 0.25, {"keys": 1.0}), Intent("vandal", 0.75, {"db": 2.0})),
    discount=0.9,
    name="shop",
)
SQLI = GRAPH.exploits[0]
SPY, VANDAL = GRAPH.intents


def test_game_has_the_graphs_parameters() -> None:
    game = replace(GRAPH, horizon=3, discount=1.0, observes="outcomes").game()
    assert (game.name, game.intents, game.horizon, game.discount) == ("shop", ("spy", "vandal"), 3, 1.0)
    assert game.observes is ncirl.Observes.OUTCOMES
    [start] = game.starts
    np.testing.assert_allclose(start.mass, [0.25, 0.75])
    assert game.describe(start.state) == "start"


def test_rewards_are_paid_by_intent_when_a_condition_is_enabled() -> None:
    game = GRAPH.game()
    states = {game.describe(state): state for state in game.explore()}
    # half of 2 for the vandal's db, less the attempt
    np.testing.assert_allclose(game.stage(states["start"]).reward[1, 0], [-0.1, 1 - 0.1])
    np.testing.assert_allclose(game.stage(states["db"]).reward[1, 0], [0.25, 0])
    assert game.is_terminal(states["db + keys"])


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"conditions": ()}, "conditions: at least one is needed"),
        ({"conditions": (*GRAPH.conditions, Condition("db"))}, "conditions[3].id: 'db' appears twice"),
        ({"conditions": (*GRAPH.conditions, Condition(""))}, "conditions[3].id: must not be empty"),
        ({"exploits": (SQLI, SQLI)}, "exploits[1].id: 'sqli' appears twice"),
        ({"exploits": (replace(SQLI, premises=("web", "cms")),)}, "exploits[0].from[1]: unknown condition 'cms'"),
        ({"exploits": (replace(SQLI, premises=("web", "web")),)}, "exploits[0].from[1]: condition 'web' appears twice"),
        ({"exploits": (replace(SQLI, result="cms"),)}, "exploits[0].to: unknown condition 'cms'"),
        ({"exploits": (replace(SQLI, success=1.5),)}, "exploits[0].success: must lie in [0, 1], got 1.5"),
        ({"exploits": (replace(SQLI, success=float("nan")),)}, "exploits[0].success: must lie in [0, 1], got nan"),
        ({"exploits": (replace(SQLI, attack_cost=-1.0),)}, "exploits[0].attack_cost: must lie in [0, 1e+12], got -1"),
        ({"exploits": (replace(SQLI, block_cost=1e13),)}, "exploits[0].block_cost: must lie in [0, 1e+12], got 1e+13"),
        ({"exploits": (replace(SQLI, alert=Alert(2.0)),)}, "exploits[0].alert.attempted: must lie in [0, 1], got 2"),
        ({"exploits": (replace(SQLI, alert=Alert(1.0, -1.0)),)}, "exploits[0].alert.idle: must lie in [0, 1], got -1"),
        ({"intents": ()}, "intents: at least one is needed"),
        ({"intents": (SPY, replace(VANDAL, id="spy"))}, "intents: 'spy' appears twice"),
        ({"intents": (replace(SPY, prior=1.5),)}, "intents[0].prior: must lie in [0, 1], got 1.5"),
        ({"intents": (SPY,)}, "intents: priors sum to 0.25, not 1"),
        ({"intents": (replace(SPY, rewards={"x": 1.0}), VANDAL)}, "intents[0].rewards: unknown condition 'x'"),
        (
            {"intents": (replace(SPY, rewards={"db": float("inf")}), VANDAL)},
            "intents[0].rewards.db: must be finite and at most 1e+12 in size, got inf",
        ),
        ({"discount": 1.0}, "discount: 1 needs a finite horizon; set `horizon` or lower the discount"),
        ({"horizon": 0}, "horizon: must be at least 1, got 0"),
        ({"observes": "stars"}, "observes: must be 'actions' or 'outcomes', got 'stars'"),
        ({"attacker_budget": -1}, "attacker_budget: must not be negative, got -1"),
        ({"defender_budget": -2}, "defender_budget: must not be negative, got -2"),
    ],
)
def test_a_fault_is_named_with_its_place(changes: dict[str, Any], fault: str) -> None:
    with pytest.raises(ncirl.InputError) as raised:
        replace(GRAPH, **changes)
    assert fault in raised.value.faults
    assert str(raised.value).startswith("attack graph 'shop': ")


def test_faults_come_together_and_none_is_invented() -> None:
    with pytest.raises(ncirl.InputError) as raised:
        replace(
            GRAPH,
            exploits=(replace(SQLI, success=2.0, result="x"), SQLI),
            intents=(replace(SPY, prior=0.5), VANDAL),
            discount=2.0,
            attacker_budget=-1,
        )
    assert raised.value.faults == (
        "discount: must lie in [0, 1), got 2",
        "attacker_budget: must not be negative, got -1",
        "exploits[1].id: 'sqli' appears twice",
        "exploits[0].to: unknown condition 'x'",
        "exploits[0].success: must lie in [0, 1], got 2",
        "intents: priors sum to 1.25, not 1",
    )


def test_networkx_graph_has_conditions_and_exploits() -> None:
    graph = replace(GRAPH, exploits=(replace(SQLI, id="web"),)).to_networkx()  # an id may be used on both sides
    assert graph.nodes["condition", "web"]["data"].label == "web server"
    assert graph.nodes["exploit", "web"]["data"].success == 0.5
    assert set(graph.edges) == {
        (("condition", "web"), ("exploit", "web")),
        (("exploit", "web"), ("condition", "db")),
    }
    assert len(graph) == 4
