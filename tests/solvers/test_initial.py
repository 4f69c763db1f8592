"""Initial bounds: corners that are secured, stationary defences that concede no more than they say."""

from __future__ import annotations

import numpy as np
import pytest

from ncirl import Game, Shapley, games, solve
from ncirl.attack_graphs.random_graphs import random_attack_graph
from ncirl.solvers.certified.clusters import Clusters
from ncirl.solvers.certified.lifting import game_among
from ncirl.solvers.initial import MOST, bounds_among, concedes, initial_bounds
from random_games import random_game, started_at
from solvers.certified_checks import EXACT, enclosure, largest_reward, mixed_game

SHAPLEY = 1e-6  # times the largest payoff: to how far complete-information values are solved
BELIEFS = 2


@pytest.mark.parametrize("seed", [*range(8), *(pytest.param(each, marks=pytest.mark.slow) for each in range(8, 16))])
def test_bounds_enclose_the_value(seed: int) -> None:
    game = mixed_game(seed)
    timed = game.timed()
    initial = initial_bounds(timed)
    rng = np.random.default_rng(seed)
    n_t = len(game.intents)
    slack = EXACT * largest_reward(game) * (game.horizon or 1 / (1 - game.discount))
    for timed_start, start in zip(timed.starts, game.starts, strict=True):
        place = timed_start.state
        for belief in [*np.eye(n_t), *rng.dirichlet(np.ones(n_t), size=BELIEFS)]:
            low, high = enclosure(started_at(game, start.state, belief))
            assert initial.corners[place] @ belief <= high + slack  # the plane through the corners is below
            for defence in initial.defences:
                assert defence.vectors[place] @ belief >= low - slack


@pytest.mark.parametrize("seed", range(8))
def test_corners_are_the_values_of_complete_information(seed: int) -> None:
    game = mixed_game(seed).timed()
    initial, public = initial_bounds(game), solve(game, Shapley())
    for state, corners in initial.corners.items():
        slack = SHAPLEY * largest_reward(game)
        assert (corners <= public.values[state] + public.errors[state] + EXACT).all()
        assert (corners >= public.values[state] - slack).all()


@pytest.mark.parametrize(
    "game",
    [
        games.patrol(discount=0.9),
        games.big_match(discount=0.9),
        random_game(3, horizon=None, discount=0.9, terminal=True),
        random_game(4, horizon=None, discount=0.9, observes="outcomes", signals=True),
        random_attack_graph(4, intents=3, rng=1).game(),
    ],
    ids=lambda game: game.name,
)
def test_what_a_stationary_defence_concedes_is_a_fixed_point(game: Game) -> None:
    rng = np.random.default_rng(1)
    played = [s for s in game.explore() if not game.is_terminal(s)]
    mixes = {s: rng.dirichlet(np.ones(game.stage(s).shape[1])) for s in played}
    mixes |= {s: np.zeros(0) for s in game.explore() if game.is_terminal(s)}
    vectors = concedes(game, mixes)
    for state in played:
        stage = game.stage(state)
        after = stage.law @ np.array([vectors[o.state] for o in stage.outcomes])
        payoff = stage.reward + game.discount * after.reshape(stage.reward.shape)
        conceded = np.einsum("d,adt->at", mixes[state], payoff).max(axis=0)
        np.testing.assert_allclose(vectors[state], conceded, atol=1e-8)
        assert (vectors[state] >= conceded - EXACT).all()  # never less, were it not exactly one


def test_what_defences_concede_is_worked_out_for_all_at_once() -> None:
    for game in (random_attack_graph(5, intents=6, rng=2).game(), random_game(3, horizon=None, discount=0.9)):
        for defence in initial_bounds(game).defences:
            for state, vector in concedes(game, defence.mixes).items():
                np.testing.assert_allclose(defence.vectors[state], vector, rtol=EXACT, atol=EXACT)


def test_the_game_of_clusters_begins_with_its_own_corners_and_what_its_members_are_conceded() -> None:
    game = random_attack_graph(6, intents=24, rng=4).game()
    prior, group = np.sum([start.mass for start in game.starts], axis=0), np.arange(24) // 3
    clusters = Clusters(group, prior / np.bincount(group, weights=prior)[group])
    whole, alone = initial_bounds(game), initial_bounds(game_among(game, clusters))
    begun = bounds_among(game, whole, clusters.mean, clusters.one_of_each)
    (hidden,) = begun.defences
    assert hidden.mixes is whole.defences[-1].mixes
    for state, corners in alone.corners.items():
        np.testing.assert_allclose(begun.corners[state], corners, atol=SHAPLEY)
    some = concedes(game_among(game, clusters), hidden.mixes)
    assert all((hidden.vectors[state] >= vector - EXACT).all() for state, vector in some.items())


def test_of_many_intents_some_that_differ_become_defences_and_corners_stay_exact() -> None:
    graph = random_attack_graph(6, intents=24, rng=4)
    game = graph.game()
    initial = initial_bounds(game)
    assert len(initial.defences) == MOST + 1  # and that of the mean game
    for k in (0, 11, 23):  # each alone, without neighbours or twins to begin with
        alone = solve(game, Shapley(weights=np.eye(24)[k]))
        for state, corners in initial.corners.items():
            assert corners[k] == pytest.approx(float(alone.values[state][0]), abs=SHAPLEY)
    few = initial_bounds(random_attack_graph(5, intents=3, rng=4).game())
    assert len(few.defences) == 4
