"""Beliefs: Lemma 1, and what has probability zero."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ncirl import Branch, Stage, games
from ncirl.model.belief import plan_of, policy_of, posterior, posterior_masses

weights = st.lists(st.integers(0, 5), min_size=3, max_size=3).filter(any)


def normalised(values: list[int]) -> np.ndarray:
    return np.array(values, dtype=float) / sum(values)


@given(
    belief=weights,
    columns=st.lists(st.lists(st.integers(0, 4), min_size=2, max_size=2).filter(any), min_size=3, max_size=3),
)
def test_lemma_1_the_posterior_depends_on_the_action_alone(belief: list[int], columns: list[list[int]]) -> None:
    prior = normalised(belief)
    policy = np.array([normalised(column) for column in columns]).T
    moves = {
        (a, d): [Branch("s", 0.3 + 0.1 * k), Branch("t", 0.7 - 0.1 * k)]
        for k, (a, d) in enumerate([("a", "d"), ("a", "e"), ("b", "d"), ("b", "e")])
    }
    stage = Stage.from_moves(["a", "b"], ["d", "e"], moves, 3)
    for a in range(2):
        for d in range(2):
            for o in range(2):
                i = stage.seen_actions.index(a, d, o)
                after = posterior(stage.seen_actions, plan_of(policy, prior), i)
                joint = policy[a] * prior
                expected = joint / joint.sum() if joint.sum() > 0 else prior
                np.testing.assert_allclose(after, expected, atol=1e-15)


def test_outcome_posteriors_weigh_all_actions() -> None:
    moves = {("a", "d"): [Branch("s", 0.9), Branch("t", 0.1)], ("b", "d"): [Branch("s", 0.2), Branch("t", 0.8)]}
    seen = Stage.from_moves(["a", "b"], ["d"], moves, 2).seen_outcomes
    plan = plan_of(np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([0.5, 0.5]))
    np.testing.assert_allclose(posterior(seen, plan, seen.index(0, 0, 0)), [0.9 / 1.1, 0.2 / 1.1])
    assert posterior_masses(seen, plan).sum() == pytest.approx(1.0)


def test_what_the_plan_makes_impossible_teaches_nothing() -> None:
    game = games.aumann_maschler_1()
    seen = game.observations("play")
    plan = np.array([[0.3, 0.7], [0.0, 0.0]])
    np.testing.assert_allclose(posterior(seen, plan, seen.index(1, 0, 0)), [0.3, 0.7])
    np.testing.assert_allclose(posterior(seen, plan, -1), [0.3, 0.7])


@given(belief=weights, plan=st.lists(st.lists(st.integers(0, 4), min_size=3, max_size=3), min_size=2, max_size=2))
def test_policies_are_distributions_whatever_the_plan(belief: list[int], plan: list[list[int]]) -> None:
    policy = policy_of(np.array(plan, dtype=float) * normalised(belief))
    assert np.isfinite(policy).all()
    np.testing.assert_allclose(policy.sum(axis=0), 1.0)
