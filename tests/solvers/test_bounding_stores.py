"""What the certified solver stores: dropping what adds nothing changes no bound."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ncirl.solvers.certified.lower_book import PointStore
from ncirl.solvers.certified.upper_book import VectorStore

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
