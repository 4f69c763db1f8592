"""The opponent's MDP: values against enumeration of its policies, bounds that stay bounds."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from ncirl import mdp
from ncirl.mdp import OpponentMDP, spans

ACCURACY = 1e-9
ROUNDING = 1e-11  # of values up to 100, twenty times over


def random_response(seed: int, *, discount: float, cyclic: bool, columns: int | None, maximise: bool) -> OpponentMDP:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 6))
    widths = rng.integers(1, 4, n)
    chances = rng.random((widths.sum(), n)) * (rng.random((widths.sum(), n)) < 0.5)
    if not cyclic:
        chances[np.repeat(np.arange(n), widths)[:, None] >= np.arange(n)] = 0.0
    sums = chances.sum(axis=1, keepdims=True)
    chances = discount * chances / np.where(sums > 0, sums, 1.0)
    reward = rng.normal(size=widths.sum() if columns is None else (widths.sum(), columns))
    return OpponentMDP(reward, sp.csr_array(chances), np.cumsum(widths) - widths, maximise)


def best_by_enumeration(response: OpponentMDP) -> np.ndarray:
    ends = np.append(response.first[1:], len(response.reward))
    dense = response.moves.toarray()
    answers = []
    for choice in product(*(range(begin, end) for begin, end in zip(response.first, ends, strict=True))):
        rows = list(choice)
        answers.append(np.linalg.solve(np.eye(len(rows)) - dense[rows], response.reward[rows]))
    return (np.max if response.maximise else np.min)(answers, axis=0)


@given(
    st.integers(0, 10_000),
    st.sampled_from([0.0, 0.5, 0.95]),
    st.booleans(),
    st.sampled_from([1, 3]),
    st.booleans(),
    st.sampled_from([0.0, 1e3, -1e3]),
)
def test_policy_iteration_comes_close_from_anywhere(
    seed: int, discount: float, cyclic: bool, columns: int, maximise: bool, hint: float
) -> None:
    response = random_response(seed, discount=discount, cyclic=cyclic, columns=columns, maximise=maximise)
    best = best_by_enumeration(response)
    found = response.approached(np.full(best.shape, hint), np.full(response.reward.shape, ROUNDING))
    assert found == pytest.approx(best, abs=ACCURACY)


@pytest.mark.parametrize("together", [1, 4, 9, 100])
@pytest.mark.parametrize("seed", range(8))
def test_columns_do_not_depend_on_which_are_solved_together(
    seed: int, together: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    response = random_response(seed, discount=0.95, cyclic=True, columns=7, maximise=bool(seed % 2))
    monkeypatch.setattr(mdp, "SMALL", together)
    hint = np.zeros((len(response.first), 7))
    found = response.approached(hint, np.full(response.reward.shape, ROUNDING))
    assert found == pytest.approx(best_by_enumeration(response), abs=ACCURACY)
    assert not hint.any()  # what was handed in stays


@given(st.integers(0, 10_000), st.booleans(), st.integers(0, 20))
def test_bounds_stay_bounds_under_sweeps(seed: int, maximise: bool, sweeps: int) -> None:
    response = random_response(seed, discount=0.9, cyclic=True, columns=2, maximise=maximise)
    best, sign = best_by_enumeration(response), 1 if maximise else -1
    bound = best + sign * np.random.default_rng(seed).random()  # the same everywhere
    tighter = response.tightened(bound, sweeps)
    assert (sign * (tighter - best) >= -ROUNDING).all()
    assert (sign * (bound - tighter) >= 0).all()


@given(st.integers(0, 10_000))
def test_levels_lead_only_to_earlier_ones_or_round_in_circles(seed: int) -> None:
    response = random_response(seed, discount=0.9, cyclic=True, columns=None, maximise=True)
    levels = response.levels()
    n = len(response.first)
    assert sorted(np.concatenate(levels).tolist()) == list(range(n))
    ends = np.append(response.first[1:], len(response.reward))
    leads = np.array([response.moves[b:e].sum(axis=0) > 0 for b, e in zip(response.first, ends, strict=True)])
    reach = np.linalg.matrix_power(leads.astype(float) + np.eye(n), n) > 0
    rank = {int(node): k for k, level in enumerate(levels) for node in level}
    for x, y in zip(*np.nonzero(leads), strict=True):
        assert rank[y] < rank[x] or (rank[y] == rank[x] and reach[y, x])


def test_spans_concatenates_ranges() -> None:
    assert spans(np.array([3, 0, 7]), np.array([5, 0, 8])).tolist() == [3, 4, 7]
