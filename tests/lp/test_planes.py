"""Planes that touch a hull are on it at one belief and nowhere below; mixtures rise above planes as little as any."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from ncirl.lp.hull import Hull
from ncirl.lp.planes import stand_ins, touching
from ncirl.lp.stores import PointStore

CLOSE = 1e-7
drawn = st.tuples(st.integers(0, 10**6), st.integers(1, 4), st.integers(0, 6))


@settings(max_examples=60)
@given(drawn=drawn)
def test_a_touching_plane_is_on_the_hull_and_never_below_it(drawn: tuple[int, int, int]) -> None:
    seed, n_intents, n_points = drawn
    rng = np.random.default_rng(seed)
    store, hull = PointStore(corners := rng.normal(size=n_intents)), Hull(corners)
    for k, belief in enumerate(rng.dirichlet(np.ones(n_intents), n_points)):
        value = float(corners @ belief + rng.uniform(0, 1))
        store.add(k, belief, value)
        hull.add(belief, value)
    beliefs = np.concatenate([np.eye(n_intents), rng.dirichlet(np.ones(n_intents), 4)])
    planes = touching(store, beliefs)
    values = np.array([hull.value(belief) for belief in beliefs])
    assert (beliefs * planes).sum(axis=1) == pytest.approx(values, abs=CLOSE)
    assert (planes @ beliefs.T >= values - CLOSE).all()


@settings(max_examples=60)
@given(drawn=drawn)
def test_a_mixture_rises_as_little_as_any(drawn: tuple[int, int, int]) -> None:
    seed, n_intents, n_others = drawn
    rng = np.random.default_rng(seed)
    planes, others = rng.normal(size=(3, n_intents)), rng.normal(size=(n_others + 1, n_intents))
    mixtures = stand_ins(planes, others)
    assert (mixtures >= 0).all()
    assert mixtures.sum(axis=1) == pytest.approx(1.0)
    for plane, mixture in zip(planes, mixtures, strict=True):
        ceiling = np.hstack([others.T, -np.ones((n_intents, 1))])
        alone = linprog(
            [*np.zeros(len(others)), 1.0],
            A_ub=ceiling,
            b_ub=plane,
            A_eq=[[*np.ones(len(others)), 0.0]],
            b_eq=[1.0],
            bounds=[(0, None)] * len(others) + [(None, None)],
        )
        assert (mixture @ others - plane).max() == pytest.approx(alone.fun, abs=CLOSE)
