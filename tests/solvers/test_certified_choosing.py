"""Divisions of intents into kinds, and which of them is tried next."""

from __future__ import annotations

import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ncirl.solvers.certified.choosing import FIRST, Choosing
from ncirl.solvers.certified.clusters import fused
from ncirl.solvers.certified.divisions import Copies


def some_copies(seed: int, n: int = 7) -> Copies:
    rng = np.random.default_rng(seed)
    return Copies(rng.random((4, n)), rng.dirichlet(np.ones(n)), np.zeros(n, dtype=np.intp))


@given(seed=st.integers(0, 10_000), n=st.integers(1, 4))
def test_a_division_has_every_intent_as_often_as_the_prior(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    prior = rng.dirichlet(np.ones(6)) * (rng.random(6) < 0.8) + np.eye(6)[0] + np.eye(6)[3]
    apart = rng.integers(0, 2, 6)
    copies = Copies(rng.random((3, 6)), prior, apart)
    groups = copies.drawn(n, rng)
    assume(groups is not None)
    assert groups is not None
    kinds = copies.division(groups)
    assert kinds.n == n
    assert (kinds.mass.sum(axis=1) > 0).all()
    np.testing.assert_allclose(kinds.mass.sum(axis=0), prior / prior.sum())
    np.testing.assert_allclose(kinds.spread(kinds.pooled(prior)), prior)
    np.testing.assert_allclose(kinds.mean.sum(axis=0), 1.0)
    assert all(len(np.unique(apart[kind > 0])) == 1 for kind in kinds.mass)
    assert all(apart[one] == apart[kind > 0][0] for one, kind in zip(kinds.one_of_each, kinds.mass, strict=True))


def test_there_is_no_division_where_those_who_must_be_apart_are_more() -> None:
    copies = Copies(np.eye(7), np.ones(7), np.arange(7) % 3)
    rng = np.random.default_rng(0)
    assert copies.drawn(2, rng) is None
    assert copies.drawn(3, rng) is not None
    assert copies.drawn(8, rng) is None


def test_likely_intents_have_several_copies_and_impossible_ones_none() -> None:
    copies = Copies(np.eye(4), np.array([0.4, 0.2, 0.0, 0.2]), np.zeros(4, dtype=np.intp))
    assert copies.intent.tolist() == [0, 0, 1, 3]
    np.testing.assert_allclose(copies.mass.sum(), 1.0)


@pytest.mark.parametrize("n", [3, 4])
def test_divisions_beside_one_differ_by_one_copy(n: int) -> None:
    copies = Copies(np.eye(7), np.array([4.0, 1, 1, 1, 1, 1, 1]), np.array([0, 0, 0, 0, 0, 1, 1]))
    groups = copies.drawn(n, np.random.default_rng(1))
    assert groups is not None
    beside = list(copies.beside(groups))
    assert beside
    for other in beside:
        assert sum(a != b for a, b in zip(groups, other, strict=True)) == 1
        assert set(other) == set(groups)
        assert (
            np.unique(np.array([*zip(other, copies._classes, strict=True)]), axis=0)[:, 0] == np.unique(other)
        ).all()
    assert len({copies.known_as(other) for other in beside}) == len(beside), "some differ by names only"


def test_what_is_shown_does_not_hang_on_names_and_is_all_where_all_are_told_apart() -> None:
    copies = some_copies(3)
    groups = copies.drawn(3, np.random.default_rng(0))
    assert groups is not None
    np.testing.assert_allclose(copies.shown(groups), copies.shown(tuple((c + 1) % 3 for c in groups)))
    np.testing.assert_allclose(copies.shown((0,) * len(groups)), 0.0, atol=1e-12)
    every = copies.shown(tuple(copies.intent.tolist()))
    np.testing.assert_allclose(every.reshape(4, 4), np.eye(4), atol=1e-9)
    coarse = tuple(min(c, 1) for c in groups)
    size = np.linalg.eigvalsh((copies.shown(groups) - copies.shown(coarse)).reshape(4, 4))
    assert (size >= -1e-12).all(), "a finer division shows less"


def tried(choosing: Choosing, worth: np.ndarray, n: int, times: int) -> float:
    best = -np.inf
    for _ in range(times):
        groups = choosing.ahead(n)
        if groups is None:
            break
        best = max(best, float(choosing.copies.shown(groups) @ worth))
        choosing.tell(groups, float(choosing.copies.shown(groups) @ worth))
    return best


@pytest.mark.parametrize("seed", range(6))
def test_what_is_chosen_is_better_than_what_is_drawn_and_never_tried_twice(seed: int) -> None:
    copies = some_copies(seed, 10)
    wanted = np.random.default_rng(seed).normal(size=(4, 4))
    worth = (wanted @ wanted.T).ravel()
    choosing = Choosing(copies)
    best = tried(choosing, worth, 2, 24)
    assert len(choosing._known) == len(choosing._tried) == 24
    rng = np.random.default_rng([seed, 1])
    drawn = [copies.drawn(2, rng) for _ in range(24)]
    assert best > max(float(copies.shown(groups) @ worth) for groups in drawn if groups is not None)
    assert tried(choosing, worth, 3, 8) > best, "what is known of two kinds tells nothing about three"


def test_kinds_that_are_the_same_are_one() -> None:
    prior = np.array([0.9, 0.05, 0.05, 0.0, 0.0])
    choosing = Choosing(Copies(np.random.default_rng(0).random((4, 5)), prior, np.zeros(5, dtype=np.intp)))
    assert choosing.copies.possible == 3
    for n in (2, 3):
        tried(choosing, np.ones(4), n, 40)
    games = [choosing.copies.division(groups).mean.T for groups in choosing._tried]
    assert all(len(np.unique(np.round(odds, 9), axis=0)) == len(odds) for odds in games), "two kinds are the same"


def test_many_intents_take_no_time_to_choose_among() -> None:
    """Counted: what is looked at does not grow with them."""
    rng = np.random.default_rng(0)
    choosing = Choosing(Copies(rng.random((90, 90)), np.ones(90), np.zeros(90, dtype=np.intp)))
    assert choosing.copies.shown((0, 1) * 45).size <= 64
    tried(choosing, rng.normal(size=64), 3, FIRST + 2)
    assert len(choosing._tried) == FIRST + 2


def test_all_divisions_are_tried_where_they_are_few() -> None:
    choosing = Choosing(Copies(np.eye(3), np.ones(3), np.zeros(3, dtype=np.intp)))
    tried(choosing, np.ones(4), 2, 100)
    assert len(choosing._known) == 3
    assert choosing.ahead(2) is None


def test_worths_that_are_all_the_same_are_no_obstacle() -> None:
    choosing = Choosing(some_copies(1))
    for _ in range(FIRST + 4):
        groups = choosing.ahead(2)
        assert groups is not None
        choosing.tell(groups, 0.5)


def test_intents_that_want_the_same_are_no_obstacle() -> None:
    choosing = Choosing(Copies(np.ones((3, 5)), np.ones(5), np.zeros(5, dtype=np.intp)))
    for _ in range(FIRST + 4):
        groups = choosing.ahead(2)
        assert groups is not None
        choosing.tell(groups, 0.1 * sum(groups))


def test_it_can_be_sent_elsewhere() -> None:
    choosing = Choosing(some_copies(2))
    tried(choosing, np.ones(16), 2, FIRST + 2)
    assert pickle.loads(pickle.dumps(choosing)).ahead(2) == choosing.ahead(2)


def test_clusters_are_nested_and_know_one_of_each() -> None:
    rng = np.random.default_rng(3)
    rewards, prior = rng.random((5, 7)), rng.dirichlet(np.ones(7))
    every = [fused(rewards, prior, np.zeros(7, dtype=np.intp), lost) for lost in (0.0, 0.02, 0.1, 0.3, 1.0)]
    assert every[0].n == 7
    assert every[-1].n == 1
    for fine, coarse in pairwise(every):
        assert len(set(zip(coarse.group.tolist(), fine.group.tolist(), strict=True))) == fine.n
        assert (coarse.group[coarse.one_of_each] == np.arange(coarse.n)).all()
