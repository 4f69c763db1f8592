"""Numbers that hardly matter must not matter: scales, prohibitive actions, traps, one intent's penalty."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from ncirl import Certified, CertifiedSolution, Game, Shapley, Status, solve
from ncirl.games.office import office_graph
from ncirl.model.stage import LARGEST_REWARD, Stage
from ncirl.model.tempered import tempered
from ncirl.playbook.verify import verify
from solvers.certified_checks import EXACT, enclosure, largest_reward, mixed_game

HUGE = 1e9
GAP = 0.02  # of the largest reward
ONE_PER_CENT = 0.01
SAME = 1e-9
PATIENT = 60.0  # seconds: no test is to end by that
MANY = 2000


def with_attack(game: Game, reward: float, intent: int | None = None) -> Game:
    """Give the attacker one more action everywhere, like its first but for the reward (of one intent only)."""

    def stage(state: object) -> Stage:
        old = game.stage(state)
        if old.is_terminal:
            return old
        n_d = len(old.defender)
        more = old.reward[:1].copy()
        more[:, :, slice(None) if intent is None else intent] = reward
        law = sp.csr_array(sp.vstack([old.law, old.law[:n_d]], format="csr"))
        return Stage((*old.attacker, "more"), old.defender, old.outcomes, law, pair=np.concatenate([old.reward, more]))

    return game.like(stage=stage)


def with_defence(game: Game, reward: float) -> Game:
    """Give the defender one more action everywhere, like its first but for what it costs."""

    def stage(state: object) -> Stage:
        old = game.stage(state)
        if old.is_terminal:
            return old
        n_a, n_d = old.shape
        rows = np.hstack([np.arange(n_a * n_d).reshape(n_a, n_d), n_d * np.arange(n_a)[:, None]]).ravel()
        law = sp.csr_array(old.law[rows])
        pair = np.concatenate([old.reward, np.full_like(old.reward[:, :1], reward)], axis=1)
        return Stage(old.attacker, (*old.defender, "more"), old.outcomes, law, pair=pair)

    return game.like(stage=stage)


def with_trap(game: Game, reward: float) -> Game:
    """Make one pair of actions ruinous for the attacker, everywhere."""

    def stage(state: object) -> Stage:
        old = game.stage(state)
        if old.is_terminal:
            return old
        pair = old.reward.copy()
        pair[-1, -1] = reward
        return replace(old, pair=pair, outcome=None, branch=None)

    return game.like(stage=stage)


def burdened(seed: int) -> tuple[Game, float]:
    """Draw a game, put it on some scale, and give one side, or both, an action that nobody would play."""
    game, scale = mixed_game(seed), 10.0 ** ((7 * seed) % 19 - 9)
    scaled, huge = game.scaled(scale), HUGE if scale < 1.0 else LARGEST_REWARD
    if seed % 3 != 1:
        scaled = with_attack(scaled, -huge)
    if seed % 3 != 0:
        scaled = with_defence(scaled, huge)
    return scaled, scale


def check_burdened(seed: int) -> None:
    game = mixed_game(seed)
    large, (heavy, scale) = largest_reward(game) or 1.0, burdened(seed)
    stages = game.horizon or 1 / (1 - game.discount)
    solution = solve(heavy, Certified(gap=GAP * large * scale, time_limit=PATIENT))
    low, high = enclosure(game)
    slack = EXACT * large * stages
    assert solution.status is Status.GAP_REACHED
    assert solution.gap <= GAP * large * scale * (1 + SAME)
    assert solution.lower / scale <= high + slack
    assert solution.upper / scale >= low - slack
    assert verify(solution).holds


@pytest.mark.parametrize("seed", range(24))
def test_what_nobody_plays_changes_nothing(seed: int) -> None:
    check_burdened(seed)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(20))
def test_what_nobody_plays_changes_nothing_in_many_games(block: int) -> None:
    for seed in range(24 + block * MANY // 20, 24 + (block + 1) * MANY // 20):
        check_burdened(seed)


@pytest.mark.parametrize("cost", [10.0, 1e6, HUGE])
def test_a_prohibitive_block_is_no_obstacle(cost: float) -> None:
    graph = office_graph()
    exploits = (replace(graph.exploits[0], block_cost=cost), *graph.exploits[1:])
    solution = solve(replace(graph, exploits=exploits).game(), Certified(gap=0.0, relative_gap=ONE_PER_CENT))
    assert solution.status is Status.GAP_REACHED
    assert solution.gap <= ONE_PER_CENT * solution.upper * (1 + SAME)


@pytest.fixture(scope="module")
def plain_office() -> CertifiedSolution:
    return solve(office_graph().game(), Certified(gap=0.0, relative_gap=ONE_PER_CENT))


@pytest.mark.parametrize("reward", [-1e3, -HUGE])
def test_a_trap_is_a_threat(plain_office: CertifiedSolution, reward: float) -> None:
    trapped = with_trap(office_graph().game(), reward)
    solution = solve(trapped, Certified(gap=0.0, relative_gap=ONE_PER_CENT))
    assert solution.gap <= ONE_PER_CENT * solution.upper * (1 + SAME)
    assert solution.upper < plain_office.lower  # the defender profits from it


def test_one_intent_may_be_barred() -> None:
    barred = with_attack(mixed_game(2), -HUGE, intent=0)
    options = tempered(barred.timed()).options
    assert all(not may[-1, 0] for may in options.attacker.values())
    assert any(may[-1, 1:].any() for may in options.attacker.values())
    low, high = enclosure(barred)
    solution = solve(barred, Certified(gap=GAP))
    assert solution.lower <= high + GAP * EXACT
    assert solution.upper >= low - GAP * EXACT


@pytest.mark.parametrize("seed", range(16))
def test_something_is_left_to_everybody(seed: int) -> None:
    for game in (mixed_game(seed), burdened(seed)[0]):
        small = tempered(game.timed())
        for state, may in small.options.attacker.items():
            assert may.any(axis=0).all()
            assert small.options.defender[state].any()
            assert np.abs(small.game.stage(state).reward[may.any(axis=1)][:, small.options.defender[state]]).max() < 1e7


@pytest.mark.parametrize("seed", range(8))
def test_complete_information_too(seed: int) -> None:
    game = mixed_game(seed)
    plain, heavy = solve(game, Shapley()), solve(with_defence(with_attack(game, -HUGE), HUGE), Shapley())
    close = 1e-7 * largest_reward(game) * (game.horizon or 1 / (1 - game.discount))
    for state, values in plain.values.items():
        np.testing.assert_allclose(heavy.values[state], values, atol=close, rtol=0)
        assert (heavy.errors[state] <= close).all()
