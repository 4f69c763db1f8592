"""Everybody against everybody: against the tree of histories, the order of the numbers, the meta-equilibrium."""

from __future__ import annotations

import numpy as np
import pytest
from oracles import on_tree

import ncirl
from ncirl.errors import InputError, SizeError
from ncirl.evaluation import CrossPlay, cross_play
from ncirl.model.game import Game
from ncirl.solvers.history_lp.tree import HistoryTree
from ncirl.strategies import (
    AttackerStrategy,
    DefenderStrategy,
    MixtureAttacker,
    MixtureDefender,
    uniform_attacker,
    uniform_defender,
)
from random_games import random_game
from random_strategies import random_attacker, random_defender

ROUNDING = 1e-9
LP_ACCURACY = 1e-6


def players(game: Game, seed: int) -> tuple[dict[str, AttackerStrategy], dict[str, DefenderStrategy]]:
    exact = ncirl.solve(game, ncirl.HistoryLP())
    kinds = ("stationary", "public")
    attackers = {kind: random_attacker(game, seed, kind) for kind in kinds} | {"exact": exact.attacker_strategy()}
    defenders = {kind: random_defender(game, seed, kind) for kind in kinds} | {"exact": exact.defender_strategy()}
    return attackers, defenders


def check_against_the_tree(seed: int) -> None:
    game = random_game(
        seed,
        observes=("actions", "outcomes")[seed % 2],
        signals=seed % 3 == 0,
        terminal=seed % 5 == 0,
        n_starts=1 + seed % 2,
        horizon=2 + seed % 2,
    )
    attackers, defenders = players(game, seed)
    found = cross_play(game, attackers, defenders)
    tree = HistoryTree(game.timed())
    for m, attacker in enumerate(attackers.values()):
        for n, defender in enumerate(defenders.values()):
            policies, defences = on_tree(tree, attacker, defender)
            laid_out = tree.conceded(defences, policies)
            payoff = sum(float(start.mass @ u) for start, u in zip(tree.starts, laid_out, strict=True))
            assert found.payoffs[m, n] == pytest.approx(payoff, abs=ROUNDING)
            assert found.secured[m] == pytest.approx(tree.guaranteed(tree.masses(policies)), abs=ROUNDING)
            best = tree.conceded(defences)
            conceded = sum(float(start.mass @ u) for start, u in zip(tree.starts, best, strict=True))
            assert found.conceded[n] == pytest.approx(conceded, abs=ROUNDING)
    check_meta(game, found)


def check_meta(game: Game, found: CrossPlay) -> None:
    meta = found.meta_equilibrium()
    value = ncirl.solve(game, ncirl.HistoryLP()).lower
    # the table holds both optimal strategies, so its equilibrium is worth the value of the game
    assert meta.value == pytest.approx(value, abs=LP_ACCURACY)
    assert meta.gap <= LP_ACCURACY
    pay = ncirl.expected_payoff(game, meta.attacker, meta.defender).value
    assert pay == pytest.approx(meta.attacker.weights @ found.payoffs @ meta.defender.weights, abs=ROUNDING)


@pytest.mark.parametrize("seed", range(10))
def test_payoffs_are_those_of_the_history_tree(seed: int) -> None:
    check_against_the_tree(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10, 200))
def test_payoffs_are_those_of_the_history_tree_on_many_games(seed: int) -> None:
    check_against_the_tree(seed)


@pytest.fixture(scope="module")
def table() -> CrossPlay:
    game = ncirl.games.aumann_maschler_1(horizon=2, discount=1.0)
    attackers, defenders = players(game, 1)
    return cross_play(game, attackers, defenders)


def test_every_payoff_lies_between_the_best_responses(table: CrossPlay) -> None:
    assert (table.secured[:, None] <= table.payoffs + ROUNDING).all()
    assert (table.payoffs <= table.conceded + ROUNDING).all()
    prior = np.array([0.5, 0.5])
    np.testing.assert_allclose(table.per_intent @ prior, table.payoffs, atol=ROUNDING)


def test_the_table_can_be_read_and_taken_elsewhere(table: CrossPlay) -> None:
    assert repr(table) == "CrossPlay('aumann-maschler-1', 3 attackers, 3 defenders)"
    lines = str(table).splitlines()
    assert lines[0].split()[-4:] == ["stationary", "public", "exact", "secured"]
    assert lines[-1].startswith("conceded")
    assert table._repr_html_().count("<td>") == 16
    frame = table.frame()
    assert list(frame.columns[:4]) == ["attacker", "defender", "payoff", "error"]
    assert len(frame) == 9
    chosen = frame[(frame.attacker == "exact") & (frame.defender == "exact")]
    assert float(chosen.payoff.iloc[0]) == pytest.approx(0.75, abs=LP_ACCURACY)
    assert float(chosen["payoff t1"].iloc[0]) == pytest.approx(table.per_intent[2, 2, 0], abs=ROUNDING)


def test_strategies_without_names_get_one() -> None:
    game = ncirl.games.aumann_maschler_1(horizon=1, discount=1.0)
    found = cross_play(game, [uniform_attacker(game)] * 2, [uniform_defender(game)])
    assert list(found.attackers) == ["StationaryAttacker 1", "StationaryAttacker 2"]
    assert list(found.defenders) == ["StationaryDefender"]


def test_nobody_and_too_much_are_named() -> None:
    game = ncirl.games.aumann_maschler_1(discount=0.5)
    with pytest.raises(InputError, match="attackers: at least one is needed"):
        cross_play(game, [], [uniform_defender(game)])
    with pytest.raises(SizeError, match="'a' against 'b': game"):
        cross_play(game, {"a": uniform_attacker(game)}, {"b": uniform_defender(game)}, limit=0)


def test_weights_that_are_none_are_refused() -> None:
    game = ncirl.games.aumann_maschler_1(discount=0.5)
    for weights in ([1.0], [0.5, 0.6], [1.5, -0.5]):
        with pytest.raises(InputError, match="weights: a probability for each of the 2 strategies"):
            MixtureAttacker([uniform_attacker(game)] * 2, weights)
        with pytest.raises(InputError, match="weights: a probability for each of the 2 strategies"):
            MixtureDefender([uniform_defender(game)] * 2, weights)
