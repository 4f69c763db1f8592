"""Stores of vectors and points: homogeneous, concave, above their points; pruning changes no bound."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from ncirl.lp.stores import FixedPoints, FixedVectors, PointStore, VectorStore

ROUNDING = 1e-9
BELIEFS = 50
seeds = st.integers(0, 10**6)


def some_beliefs(rng: np.random.Generator, n_intents: int, count: int) -> np.ndarray:
    """Draw beliefs inside, on faces and at corners."""
    weights = rng.dirichlet(np.ones(n_intents), size=count) * (rng.random((count, n_intents)) < 0.8)
    weights[weights.sum(axis=1) == 0, 0] = 1.0
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


@given(seeds)
def test_pruned_vectors_have_the_same_envelope(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_t = int(rng.integers(1, 5))
    store = VectorStore(n_t)
    for node in range(int(rng.integers(1, 12))):
        store.add(node, np.round(rng.normal(size=n_t), 1))  # few digits: some are equal, some dominated
    whole = store.alphas.copy()
    beliefs = some_beliefs(rng, n_t, BELIEFS)
    before = [store.value(b) for b in beliefs]
    store.prune()
    np.testing.assert_allclose([store.value(b) for b in beliefs], before, atol=ROUNDING)
    np.testing.assert_array_equal(store.alphas, whole[store.nodes])  # each still belongs to its node
    for k, vector in enumerate(store.alphas):
        others = np.delete(store.alphas, k, axis=0)
        assert not (others <= vector).all(axis=1).any()


@given(seeds)
def test_pruned_points_are_worth_the_same_where_they_are(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_t = int(rng.integers(1, 5))
    store = PointStore(rng.normal(size=n_t))
    beliefs = some_beliefs(rng, n_t, int(rng.integers(1, 12)))
    for node, belief in enumerate(beliefs):
        store.add(node, belief, float(store.corners @ belief + np.round(rng.uniform(-0.2, 1.0), 1)))
    before = store.values(beliefs)
    gains = store.gains.copy()
    store.prune()
    after = store.values(beliefs)
    np.testing.assert_allclose(after, before, atol=ROUNDING)
    np.testing.assert_array_equal(store.beliefs, beliefs[store.nodes])
    np.testing.assert_array_equal(store.gains, gains[store.nodes])
    elsewhere = some_beliefs(rng, n_t, BELIEFS)
    assert (store.values(elsewhere) >= elsewhere @ store.corners - ROUNDING).all()


@given(seeds)
def test_shares_fit_and_no_more_would(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_t = int(rng.integers(1, 5))
    masses, beliefs = some_beliefs(rng, n_t, 4) * rng.random((4, 1)), some_beliefs(rng, n_t, 3)
    store = PointStore(np.zeros(n_t))
    for node, belief in enumerate(beliefs):
        store.add(node, belief, 1.0)
    fit = store.shares(masses)
    left = masses[:, None, :] - fit[:, :, None] * beliefs
    assert (left >= -ROUNDING).all()
    at_the_limit = np.where(beliefs > 0, left, np.inf).min(axis=2)
    np.testing.assert_allclose(at_the_limit, 0.0, atol=ROUNDING)


def drawn(seed: int) -> tuple[np.random.Generator, VectorStore, PointStore]:
    """Draw vectors, and points on or below their envelope."""
    rng = np.random.default_rng(seed)
    n_t, n = int(rng.integers(1, 5)), int(rng.integers(1, 6))
    upper = FixedVectors.of({0: rng.normal(size=(n, n_t)) * 3}, n_t).stores[0]
    beliefs = rng.dirichlet(np.ones(n_t), size=int(rng.integers(0, 5)))
    corners = upper.alphas.min(axis=0) - rng.random(n_t)
    return rng, upper, FixedPoints.of({0: (corners, beliefs, upper.values(beliefs))}).stores[0]


@given(seeds)
def test_vectors_are_concave_and_homogeneous(seed: int) -> None:
    rng, upper, _ = drawn(seed)
    one, other = rng.random((2, upper.alphas.shape[1]))
    assert upper.value(3 * one) == pytest.approx(3 * upper.value(one))
    assert upper.value(one + other) >= upper.value(one) + upper.value(other) - ROUNDING
    assert upper.value(one) == pytest.approx(upper.alphas[upper.best(one)] @ one)


@given(seeds)
def test_one_point_is_homogeneous_and_stays_below_what_the_points_came_from(seed: int) -> None:
    rng, upper, points = drawn(seed)
    mass = rng.random(len(points.corners)) * (rng.random(len(points.corners)) < 0.8)
    assert points.value(3 * mass) == pytest.approx(3 * points.value(mass))
    assert points.value(mass) <= upper.value(mass) + ROUNDING
    assert points.value(mass) >= points.corners @ mass - ROUNDING
    best = points.best(mass)
    assert (best is None) == (len(points.gains) == 0)
    if best is not None:
        assert points.value(mass) == pytest.approx(best[2])


@given(seeds)
def test_points_and_corners_are_met(seed: int) -> None:
    _, upper, points = drawn(seed)
    for belief, gain in zip(points.beliefs, points.gains, strict=True):
        assert points.value(belief) >= points.corners @ belief + gain - ROUNDING
        assert points.value(belief) == pytest.approx(upper.value(belief))
    for corner, belief in zip(points.corners, np.eye(len(points.corners)), strict=True):
        assert points.value(belief) >= corner - ROUNDING


def test_points_that_add_nothing_are_left_out() -> None:
    hull = np.array([1.0, 3.0]), np.array([[0.5, 0.5], [0.25, 0.75]]), np.array([2.0, 2.75])
    store = FixedPoints.of({0: hull}).stores[0]
    np.testing.assert_array_equal(store.beliefs, [[0.25, 0.75]])
    np.testing.assert_allclose(store.gains, [0.25])


@given(seeds)
def test_one_point_is_never_above_the_hull_and_the_sawtooth_never_above_one_point(seed: int) -> None:
    rng, _, points = drawn(seed)
    mass = rng.random(len(points.corners)) * (rng.random(len(points.corners)) < 0.8)
    n = len(points.gains)
    hull = points.corners @ mass
    if n:
        found = linprog(-points.gains, A_ub=points.beliefs.T, b_ub=mass, bounds=(0, None))
        hull -= found.fun
        values = points.gains + points.beliefs @ points.corners
        first = FixedPoints.of({0: (points.corners, points.beliefs, values)}, most=1).stores[0]
        assert first.value(mass) <= points.value(mass) + ROUNDING
    assert points.value(mass) <= hull + ROUNDING


def test_the_sawtooth_keeps_the_first_point_that_rises() -> None:
    hull = np.zeros(2), np.array([[0.4, 0.6], [0.5, 0.5], [0.1, 0.9]]), np.array([0.0, 1.0, 2.0])
    np.testing.assert_array_equal(FixedPoints.of({0: hull}, most=1).stores[0].gains, [1.0])
