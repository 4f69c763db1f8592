"""The exact oracle: values of the literature, through files and the command line, and against other computations."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ncirl
from ncirl import Game, HistoryLP, InputError, SizeError, games, solve
from ncirl.cli import main
from ncirl.solvers.history_lp.tree import HistoryTree, tree_size
from random_games import random_game, started_at

EXACT = 1e-7  # the accuracy claimed for values of the literature
ROUNDING = 1e-9  # two exact computations of one number

AUMANN_MASCHLER_1 = {1: 1 / 2, 2: 3 / 4, 3: 1.0, 4: 9 / 7, 5: 1.535714286, 6: 1.803921569}
PATROL = {1: 1 / 2, 2: 7 / 8, 3: 9 / 7, 4: 5 / 3, 5: 2.058823529, 6: 2.442477876, 7: 2.827736364, 8: 3.211851913}
KNOWN = [("aumann-maschler-1", n, v) for n, v in AUMANN_MASCHLER_1.items()]
KNOWN += [("patrol", n, v) for n, v in PATROL.items()]
KNOWN += [("aumann-maschler-2", n, 0.0) for n in (1, 3, 5)]


@pytest.mark.parametrize(("name", "horizon", "value"), KNOWN)
def test_known_values_come_from_files_through_the_command_line(
    name: str, horizon: int, value: float, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "game.json"
    ncirl.save_game(games.builtin(name).with_horizon(horizon, discount=1.0), path)
    assert main(["solve", str(path), "--solver", "history-lp", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["lower"] == pytest.approx(value, abs=EXACT)
    assert found["upper"] == pytest.approx(value, abs=EXACT)


@pytest.mark.parametrize("horizon", [1, 2, 3, 4])
def test_unseen_actions_never_teach(horizon: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One state and no signal: the defender learns nothing, so the value is n times that of one stage."""
    path = tmp_path / "game.yaml"
    ncirl.save_game(games.aumann_maschler_1(discount=1.0, horizon=horizon, observes="outcomes"), path)
    assert main(["solve", str(path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["lower"] == pytest.approx(horizon / 2, abs=EXACT)
    assert found["upper"] == pytest.approx(horizon / 2, abs=EXACT)


def test_sorin_big_match_is_approached_by_its_finite_versions() -> None:
    """p_N = N λ / (1 + N λ), (1 − γ) V(p_N) = (1 − p_N)(1 − γ^N), linear between."""
    gamma, horizon = 0.5, 10
    lam = 1 - gamma
    tail = gamma**horizon / (1 - gamma)
    for n in range(4):
        p = n * lam / (1 + n * lam)
        value = (1 - p) * (1 - gamma**n) / lam
        found = solve(games.big_match(p=p, discount=gamma, horizon=horizon), HistoryLP())
        assert value - tail - EXACT <= found.lower <= found.upper <= value + EXACT


def test_one_intent_is_a_shapley_game() -> None:
    for seed in range(20):
        game = random_game(seed, n_intents=1, horizon=3, discount=0.9)
        public = solve(game, ncirl.Shapley())
        assert solve(game, HistoryLP()).lower == pytest.approx(public.lower, abs=ROUNDING)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), observes=st.sampled_from(["actions", "outcomes"]))
def test_both_bounds_meet_and_rewards_scale_and_shift(seed: int, observes: str) -> None:
    game = random_game(seed, observes=observes, horizon=3, discount=0.8, terminal=False)
    found = solve(game, HistoryLP())
    assert found.lower <= found.upper + ROUNDING
    assert found.gap <= ROUNDING
    changed = solve(game.scaled(1e4, -3.0), HistoryLP())
    stages = 1 + 0.8 + 0.64
    assert changed.lower == pytest.approx(1e4 * found.lower - 3.0 * stages, rel=1e-9, abs=1e-5)
    tiny = solve(game.scaled(1e-3), HistoryLP())
    assert tiny.lower == pytest.approx(1e-3 * found.lower, abs=1e-3 * ROUNDING)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_value_is_concave_and_above_the_public_one(seed: int) -> None:
    game = random_game(seed, n_intents=2, horizon=3, discount=0.9)
    state = game.starts[0].state
    values = [solve(started_at(game, state, [p, 1 - p]), HistoryLP()).lower for p in (0.0, 0.25, 0.5, 0.75, 1.0)]
    for k in range(1, 4):
        assert values[k] >= (values[k - 1] + values[k + 1]) / 2 - ROUNDING
    assert solve(game, HistoryLP()).lower >= solve(game, ncirl.Shapley()).lower - ROUNDING


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_seeing_less_never_helps_the_defender(seed: int) -> None:
    seen = random_game(seed, observes="actions", horizon=3)
    unseen = random_game(seed, observes="outcomes", horizon=3)
    assert solve(unseen, HistoryLP()).lower >= solve(seen, HistoryLP()).lower - ROUNDING


def unmerged_value(game: Game) -> float:
    """Solve without merging equivalent states, by the tree's own passes on a program of its own."""
    from ncirl.lp.session import Meter
    from ncirl.solvers.history_lp.history_lp import _solve

    tree = HistoryTree(game.timed())
    policies, _ = _solve(tree, 1.0, Meter())
    return tree.guaranteed(tree.masses(policies))


@pytest.mark.parametrize("observes", ["actions", "outcomes"])
def test_merging_equivalent_states_keeps_the_value(observes: str) -> None:
    for horizon in (1, 2, 3, 4):
        game = games.patrol(discount=0.9, horizon=horizon, observes=observes)
        assert solve(game, HistoryLP()).lower == pytest.approx(unmerged_value(game), abs=ROUNDING)
    for seed in range(30):
        game = random_game(seed, observes=observes, horizon=3)
        assert solve(game, HistoryLP()).lower == pytest.approx(unmerged_value(game), abs=ROUNDING)


def test_refuses_what_is_too_large_before_building_it() -> None:
    game = games.patrol(discount=1.0, horizon=60)
    with pytest.raises(SizeError, match=r"public histories.*limit is 1000000 columns"):
        solve(game, HistoryLP())
    with pytest.raises(SizeError, match="limit is 10 columns"):
        solve(games.patrol(discount=1.0, horizon=3), HistoryLP(max_columns=10))
    with pytest.raises(InputError, match="finite horizon"):
        solve(games.patrol(), HistoryLP())


def test_size_is_counted_as_built() -> None:
    game = games.patrol(discount=1.0, horizon=4).timed()
    histories, rows, columns = tree_size(game)
    tree = HistoryTree(game)
    assert histories == sum(cluster.size for cluster in tree.clusters)
    assert rows == sum(cluster.size * (2 + 2) for cluster in tree.clusters)
    assert columns == sum(cluster.size * (2 * 2 + 1) for cluster in tree.clusters)


def test_a_game_that_starts_at_its_end_is_worth_nothing() -> None:
    game = Game(lambda _: ncirl.TERMINAL, intents=["x"], initial={"s": [1.0]}, discount=0.5, horizon=2)
    found = solve(game, HistoryLP())
    assert (found.lower, found.upper) == (0.0, 0.0)


def test_strategies_are_distributions() -> None:
    found = solve(games.patrol(discount=1.0, horizon=5), HistoryLP())
    for policy, defence in zip(found.policies, found.defences, strict=True):
        np.testing.assert_allclose(policy.sum(axis=1), 1.0)
        np.testing.assert_allclose(defence.sum(axis=1), 1.0)
        assert (policy >= 0).all()
        assert (defence >= 0).all()
