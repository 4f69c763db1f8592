"""Playbooks of merged games, brought back: the same bounds in the game itself."""

from __future__ import annotations

import pytest

import ncirl
from ncirl.attack_graphs.graph import AttackGraph, Condition, Exploit, Intent
from ncirl.attack_graphs.random_graphs import random_attack_graph
from ncirl.model.game import Game, Observes
from ncirl.model.quotient import quotient
from ncirl.playbook.unmerged import unmerged
from ncirl.playbook.verify import verify
from playbook.makers import Pair, controller_pair
from random_games import random_game

EXACT = 1e-9


def games() -> list[Game]:
    drawn = [
        random_game(seed, observes=observes, signals=True, horizon=None, n_starts=2, terminal=True)
        for seed in range(3)
        for observes in ("actions", "outcomes")
    ]
    return [
        ncirl.games.patrol(discount=0.9),
        ncirl.games.patrol(horizon=3, discount=1.0),
        ncirl.games.big_match(),
        random_attack_graph(5, intents=3, rng=2).game(),
        random_attack_graph(4, intents=2, observes="outcomes", horizon=3, rng=3).game(),
        *drawn,
    ]


def several_alike(observes: str) -> Game:
    """Three exploits to one condition, so that how many of them is all that matters."""
    exploits = tuple(Exploit(f"x{k}", ("in",), "ab"[k == 3], 0.5, 0.1, 0.2) for k in range(4))
    conditions = (Condition("in", initial=True), Condition("a"), Condition("b"))
    intents = (Intent("one", 0.5, {"a": 1.0}), Intent("other", 0.5, {"a": 0.5, "b": 2.0}))
    return AttackGraph(conditions, exploits, intents, discount=0.8, observes=Observes(observes)).game()


@pytest.mark.parametrize("actions", [False, True], ids=["states", "actions"])
@pytest.mark.parametrize(
    "game",
    [*games(), several_alike("actions"), several_alike("outcomes")],
    ids=lambda game: f"{game.name} {game.observes}",
)
def test_bounds_stay_the_same(game: Game, actions: bool) -> None:
    timed = game.timed()
    merged = quotient(timed, actions=actions)
    pair = controller_pair(merged.game, seed=1)
    attacker = unmerged(pair.attacker_playbook, timed, merged)
    defender = unmerged(pair.defender_playbook, timed, merged)
    found = verify(Pair(game, attacker, defender, pair.lower, pair.upper))
    assert found.holds, found.faults
    assert found.lower == pytest.approx(pair.lower, abs=EXACT)
    assert found.upper == pytest.approx(pair.upper, abs=EXACT)


def test_a_class_of_states_becomes_its_states() -> None:
    game = ncirl.games.patrol(discount=0.9)
    merged = quotient(game)
    pair = controller_pair(merged.game, seed=1)
    defender = unmerged(pair.defender_playbook, game, merged)
    assert len(merged.game.explore()) == 1
    assert set(defender.states) == set(game.explore())
    assert len(defender) == 4 * len(pair.defender_playbook)
