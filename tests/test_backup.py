"""From a disturbed answer of a program to a bound: whatever the answer, the number holds."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ncirl import Game, HistoryLP, solve
from ncirl._typing import FloatArray
from ncirl.lp.assembly import Mixture
from ncirl.lp.attacker import HullLP, VectorLP
from ncirl.lp.backup import attacker_backup, defender_backup
from ncirl.lp.bounds import Hull, Vectors
from ncirl.lp.defender import DefenderLP
from random_games import random_game, started_at

EXACT = 1e-9
CLOSE = 1e-6  # what a program's own error may cost
NOISE = 1e-3
setups = st.tuples(st.integers(0, 10**6), st.sampled_from(["actions", "outcomes"]))


def exact_ends(game: Game) -> tuple[Mapping[object, Hull], Mapping[object, Vectors]]:
    """Bound the last stage of a game of two: exact corners and points from below, safe vectors from above."""
    n_t = len(game.intents)
    hulls: dict[object, Hull] = {}
    vectors: dict[object, Vectors] = {}
    last = game.with_horizon(1)
    for state in game.explore():
        if game.is_terminal(state):
            hulls[state], vectors[state] = Hull.zero(n_t), Vectors.zero(n_t)
            continue
        solved = {
            tuple(b): solve(started_at(last, state, b), HistoryLP()).lower
            for b in [*np.eye(n_t), np.full(n_t, 1 / n_t)]
        }
        corners = np.array([solved[tuple(b)] for b in np.eye(n_t)])
        hulls[state] = Hull.of(corners, [np.full(n_t, 1 / n_t)], [solved[tuple(np.full(n_t, 1 / n_t))]])
        vectors[state] = Vectors(game.stage(state).reward.max(axis=0))  # what each single defence concedes
    return hulls, vectors


def disturbed(rng: np.random.Generator, values: FloatArray) -> FloatArray:
    noisy: FloatArray = values + rng.normal(size=values.shape) * NOISE
    return noisy


def disturbed_mixture(rng: np.random.Generator, mixture: Mixture) -> Mixture:
    return Mixture(mixture.observation, mixture.index, disturbed(rng, mixture.weight))


def exact(game: Game, belief: FloatArray) -> tuple[float, float]:
    """Enclose the value of the first of two stages at a belief."""
    found = solve(started_at(game, game.starts[0].state, belief), HistoryLP())
    return found.lower, found.upper


@settings(max_examples=25)
@given(setup=setups)
def test_a_disturbed_plan_still_bounds_from_below(setup: tuple[int, str]) -> None:
    seed, observes = setup
    game = random_game(seed, observes=observes, signals=True, terminal=True, horizon=2, discount=0.9)
    rng = np.random.default_rng(seed)
    hulls, _ = exact_ends(game)
    state = game.starts[0].state
    stage, seen = game.stage(state), game.observations(state)
    after = [hulls[s] for s in seen.successors]
    belief = rng.dirichlet(np.ones(len(game.intents)))
    step = HullLP(stage, seen, game.discount, after).solve(belief)
    clean = attacker_backup(stage, seen, game.discount, after, belief, step.plan, step.mixture)
    assert clean.value == pytest.approx(step.value, abs=CLOSE)
    plan, mixture = disturbed(rng, step.plan), disturbed_mixture(rng, step.mixture)
    found = attacker_backup(stage, seen, game.discount, after, belief, plan, mixture)
    assert found.value <= exact(game, belief)[1] + EXACT
    assert found.value <= clean.value + CLOSE  # noise does not help
    np.testing.assert_allclose(found.plan.sum(axis=0), belief, atol=EXACT)
    left = seen.mass @ found.plan
    for i, j, share in zip(found.mixture.observation, found.mixture.index, found.mixture.weight, strict=True):
        left[i] -= share * after[i].beliefs[j]
    assert (left >= -EXACT).all()  # shares fit their posteriors


@settings(max_examples=25)
@given(setup=setups, dual=st.booleans())
def test_a_disturbed_defence_still_bounds_from_above(setup: tuple[int, str], dual: bool) -> None:
    seed, observes = setup
    game = random_game(seed, observes=observes, signals=True, terminal=True, horizon=2, discount=0.9)
    rng = np.random.default_rng(seed)
    _, vectors = exact_ends(game)
    state = game.starts[0].state
    stage, seen = game.stage(state), game.observations(state)
    after = [vectors[s] for s in seen.successors]
    belief = rng.dirichlet(np.ones(len(game.intents)))
    if dual:
        conjugate = DefenderLP(stage, seen, game.discount, after).at_belief(belief)
        value, defence, mixture = conjugate.value, conjugate.defence, conjugate.mixture
    else:
        step = VectorLP(stage, seen, game.discount, after).solve(belief)
        value, defence, mixture = step.value, step.defence, step.mixture
    clean = defender_backup(stage, seen, game.discount, after, belief, defence, mixture)
    assert clean.vector @ belief == pytest.approx(value, abs=CLOSE)
    noisy = disturbed(rng, defence), disturbed_mixture(rng, mixture)
    found = defender_backup(stage, seen, game.discount, after, belief, *noisy)
    assert found.vector @ belief >= clean.vector @ belief - CLOSE  # noise does not help
    for other in [belief, *np.eye(len(belief))]:
        assert found.vector @ other >= exact(game, other)[0] - EXACT
    assert found.defence.sum() == pytest.approx(1.0)
    assert (found.defence >= 0).all()
