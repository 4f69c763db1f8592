"""Enclosures: the exact value of a process lies inside, by rational arithmetic, whatever the numbers are like."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from ncirl.mdp import OpponentMDP
from ncirl.playbook.enclosure import EPSILON, enclosed

OPERATIONS = 40  # more than are behind any row here
DISCOUNTS = (0.0, 0.5, 0.95, 0.9999, 1 - 2.0**-20)


def random_process(seed: int, *, discount: float, columns: int, maximise: bool, huge: bool) -> OpponentMDP:
    """Make a small process; with `huge` some rows that nobody would choose are worth billions less."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 5))
    widths = rng.integers(1, 4, n)
    chances = rng.random((widths.sum(), n)) * (rng.random((widths.sum(), n)) < 0.6)
    sums = chances.sum(axis=1, keepdims=True)
    chances = discount * chances / np.where(sums > 0, sums, 1.0) * (1 - 4 * EPSILON)  # never more than the discount
    reward = rng.normal(size=(widths.sum(), columns)) * 10.0 ** rng.integers(-3, 4)
    first = np.cumsum(widths) - widths
    if huge:
        hopeless = np.setdiff1d(np.arange(widths.sum()), first)
        reward[hopeless] -= (1 if maximise else -1) * 1e9 / max(1 - discount, 1e-6)
    return OpponentMDP(reward, sp.csr_array(chances), first, maximise)


def exact_values(process: OpponentMDP) -> list[list[Fraction]]:
    """Solve by enumeration of policies, in rational arithmetic; indexed [k][n]."""
    n = len(process.first)
    ends = np.append(process.first[1:], len(process.reward))
    dense = [[Fraction(x) for x in row] for row in process.moves.toarray().tolist()]
    choose = max if process.maximise else min
    values = []
    for k in range(process.reward.shape[1]):
        found: list[list[Fraction]] = []
        for rows in product(*(range(b, e) for b, e in zip(process.first, ends, strict=True))):
            system = [
                [Fraction(i == j) - dense[r][j] for j in range(n)] + [Fraction(float(process.reward[r, k]))]
                for i, r in enumerate(rows)
            ]
            found.append(_solved(system))
        values.append([choose(each[i] for each in found) for i in range(n)])
    return values


def _solved(system: list[list[Fraction]]) -> list[Fraction]:
    n = len(system)
    for i in range(n):
        pivot = next(r for r in range(i, n) if system[r][i])
        system[i], system[pivot] = system[pivot], system[i]
        system[i] = [x / system[i][i] for x in system[i]]
        for r in range(n):
            if r != i and system[r][i]:
                system[r] = [x - system[r][i] * y for x, y in zip(system[r], system[i], strict=True)]
    return [row[n] for row in system]


@given(
    st.integers(0, 10_000),
    st.sampled_from(DISCOUNTS),
    st.sampled_from([1, 3]),
    st.booleans(),
    st.booleans(),
    st.sampled_from([0.0, 1e3, -1e3, np.nan]),
)
def test_exact_value_lies_inside(
    seed: int, discount: float, columns: int, maximise: bool, huge: bool, hint: float
) -> None:
    process = random_process(seed, discount=discount, columns=columns, maximise=maximise, huge=huge)
    shape = (len(process.first), columns)
    found = enclosed(process, np.abs(process.reward), OPERATIONS, np.full(shape, hint))
    exact = exact_values(process)
    for k, by_node in enumerate(exact):
        for n, value in enumerate(by_node):
            assert Fraction(float(found.low[n, k])) <= value <= Fraction(float(found.high[n, k]))
    # as wide as rounding explains, and no wider for rows that nobody chooses
    ends = np.append(process.first[1:], len(process.reward))
    scale = max(
        float(np.abs(process.reward[begin : begin + 1 if huge else end]).max())
        for begin, end in zip(process.first, ends, strict=True)
    ) / (1 - discount)
    assert (found.high - found.low).max() <= 10 * OPERATIONS * EPSILON * scale / (1 - discount)


@given(st.integers(0, 10_000), st.booleans())
def test_equal_columns_are_worth_the_same_and_others_are_told_apart(seed: int, maximise: bool) -> None:
    process = random_process(seed, discount=0.5, columns=3, maximise=maximise, huge=False)
    repeated = replace(process, reward=process.reward[:, [0, 1, 0, 2, 1]])
    hint = np.random.default_rng(seed).normal(size=(len(process.first), 5))
    found = enclosed(repeated, np.abs(repeated.reward), OPERATIONS, hint)
    for k, by_node in enumerate(exact_values(repeated)):
        for n, value in enumerate(by_node):
            assert Fraction(float(found.low[n, k])) <= value <= Fraction(float(found.high[n, k]))
    np.testing.assert_array_equal(found.low[:, [0, 1]], found.low[:, [2, 4]])
    np.testing.assert_array_equal(found.high[:, [0, 1]], found.high[:, [2, 4]])


def test_equal_rewards_of_other_extents_are_told_apart() -> None:
    """Of 1 + 1e9 − 1e9 less is known than of 1."""
    process = OpponentMDP(np.ones((1, 2)), sp.csr_array((1, 1)), np.zeros(1, dtype=np.intp), maximise=True)
    found = enclosed(process, np.array([[1.0, 2e9]]), OPERATIONS, np.ones((1, 2)))
    narrow, wide = (found.high - found.low)[0]
    assert wide > 1e6 * narrow


def test_without_discount_what_never_recurs_is_enclosed() -> None:
    chain = OpponentMDP(
        np.array([[1.0], [2.0]]), sp.csr_array([[0.0, 1.0], [0.0, 0.0]]), np.array([0, 1]), maximise=True
    )
    found = enclosed(chain, chain.reward, OPERATIONS, np.zeros((2, 1)))
    assert found.low[:, 0] == pytest.approx([3.0, 2.0])
    assert (found.low <= [[3.0], [2.0]]).all()
    assert (found.high >= [[3.0], [2.0]]).all()


@pytest.mark.parametrize("chance", [1.0, 1 - EPSILON, 2.0])
def test_without_discount_what_recurs_has_no_bound(chance: float) -> None:
    loop = OpponentMDP(np.array([1.0]), sp.csr_array([[chance]]), np.array([0]), maximise=True)
    found = enclosed(loop, np.ones(1), OPERATIONS, np.zeros(1))
    assert (found.low[0], found.high[0]) == (-np.inf, np.inf)


def test_cancelling_rewards_are_charged_for() -> None:
    """A reward of 0 that is the difference of two billions may be off by their rounding."""
    alone = OpponentMDP(np.array([0.0]), sp.csr_array((1, 1)), np.array([0]), maximise=True)
    found = enclosed(alone, np.array([2e9]), OPERATIONS, np.zeros(1))
    assert found.high[0] >= OPERATIONS * EPSILON * 2e9
    assert found.low[0] <= -OPERATIONS * EPSILON * 2e9
