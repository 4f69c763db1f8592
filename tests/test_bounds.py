"""Hulls and vectors: homogeneous, concave, above their points, below what they come from."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ncirl.lp.bounds import Hull, Vectors, sawtooth

ROUNDING = 1e-9
seeds = st.integers(0, 10**6)


def drawn(seed: int) -> tuple[np.random.Generator, Vectors, Hull]:
    """Draw vectors, and a hull of points on or below their envelope."""
    rng = np.random.default_rng(seed)
    n_t, n = int(rng.integers(1, 5)), int(rng.integers(1, 6))
    upper = Vectors(rng.normal(size=(n, n_t)) * 3)
    points = rng.dirichlet(np.ones(n_t), size=int(rng.integers(0, 5)))
    corners = upper.alphas.min(axis=0) - rng.random(n_t)
    return rng, upper, Hull.of(corners, points, [upper.value(b) for b in points])


@given(seeds)
def test_vectors_are_concave_and_homogeneous(seed: int) -> None:
    rng, upper, _ = drawn(seed)
    one, other = rng.random((2, upper.alphas.shape[1]))
    assert upper.value(3 * one) == pytest.approx(3 * upper.value(one))
    assert upper.value(one + other) >= upper.value(one) + upper.value(other) - ROUNDING
    assert Vectors.zero(len(one)).value(one) == 0


@given(seeds)
def test_one_point_is_homogeneous_and_stays_below_what_the_points_came_from(seed: int) -> None:
    rng, upper, hull = drawn(seed)
    mass = rng.random(len(hull.corners)) * (rng.random(len(hull.corners)) < 0.8)
    assert hull.single(3 * mass) == pytest.approx(3 * hull.single(mass))
    assert hull.single(mass) <= upper.value(mass) + ROUNDING
    assert hull.single(mass) >= hull.corners @ mass - ROUNDING
    assert sawtooth(hull).single(mass) <= hull.single(mass) + ROUNDING


@given(seeds)
def test_points_and_corners_are_met(seed: int) -> None:
    _, upper, hull = drawn(seed)
    for belief, gain in zip(hull.beliefs, hull.gains, strict=True):
        assert hull.single(belief) >= hull.corners @ belief + gain - ROUNDING
        assert hull.single(belief) == pytest.approx(upper.value(belief))
    for corner, belief in zip(hull.corners, np.eye(len(hull.corners)), strict=True):
        assert hull.single(belief) >= corner - ROUNDING


def test_points_that_add_nothing_are_left_out() -> None:
    hull = Hull.of(np.array([1.0, 3.0]), [np.array([0.5, 0.5]), np.array([0.25, 0.75])], [2.0, 2.75])
    np.testing.assert_array_equal(hull.beliefs, [[0.25, 0.75]])
    np.testing.assert_allclose(hull.gains, [0.25])


def test_the_sawtooth_keeps_the_first_point() -> None:
    hull = Hull(np.zeros(2), np.array([[0.5, 0.5], [0.1, 0.9]]), np.array([1.0, 2.0]))
    np.testing.assert_array_equal(sawtooth(hull).gains, [1.0])
    assert Hull.zero(3).single(np.ones(3)) == 0
