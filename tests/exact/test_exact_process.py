"""Decision processes: enclosures against every policy tried, and groups of nodes against reachability."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from ncirl.errors import InputError
from ncirl.exact.elimination import ONE, evaluated
from ncirl.exact.process import Process, Row, components

NARROW = Fraction(1, 2**150)


def random_rows(seed: int, n: int, n_rows: int, discount: Fraction) -> list[list[Row]]:
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(n):
        choices = []
        for _ in range(n_rows):
            to = rng.choice(n, size=int(rng.integers(0, min(n, 3) + 1)), replace=False).tolist()
            weights = [int(w) for w in rng.integers(1, 50, len(to))]
            chances = {j: discount * Fraction(w, sum(weights)) for j, w in zip(to, weights, strict=True)}
            rewards = [Fraction(int(rng.integers(-30, 31)), int(rng.integers(1, 20))) for _ in range(2)]
            choices.append(Row.of(rewards, chances))
        rows.append(choices)
    return rows


def solved(rows: list[Row], column: int) -> list[Fraction]:
    """Solve V = r + C V by Gauss's elimination with fractions."""
    n = len(rows)
    matrix = [[Fraction(i == j) for j in range(n)] + [row.rewards[column]] for i, row in enumerate(rows)]
    for line, row in zip(matrix, rows, strict=True):
        for node, chance in row.moves:
            line[node] -= Fraction(chance, row.below)
    for k in range(n):
        matrix[k] = [entry / matrix[k][k] for entry in matrix[k]]
        for i in range(n):
            if i != k:
                factor = matrix[i][k]
                matrix[i] = [x - factor * y for x, y in zip(matrix[i], matrix[k], strict=True)]
    return [line[n] for line in matrix]


@pytest.mark.parametrize("discount", [Fraction(1, 2), Fraction(99, 100), 1 - Fraction(1, 10**6)])
@pytest.mark.parametrize("seed", range(8))
def test_enclosures_are_narrow_and_hold_the_best_of_all_policies(seed: int, discount: Fraction) -> None:
    rows = random_rows(seed, n=4, n_rows=2, discount=discount)
    process = Process(rows)
    for column in range(2):
        policies = [solved(list(policy), column) for policy in itertools.product(*rows)]
        best = [max(values) for values in zip(*policies, strict=True)]
        for hint in ([0.0] * 4, [1e300, float("nan"), -1e300, float("inf")]):
            found = process.enclose(column, hint)
            assert all(low <= v <= high for low, v, high in zip(found.low, best, found.high, strict=True))
            assert found.width <= NARROW / (1 - discount)


def test_a_long_chain_of_loops_stays_narrow() -> None:
    """Each node stays or goes on to the next, in two ways that are equally good."""
    discount, n = 1 - Fraction(1, 10**6), 60
    rows = [
        [
            Row.of([Fraction(1, 3)], {k: discount * stay, **({k + 1: discount * (1 - stay)} if k + 1 < n else {})})
            for stay in (Fraction(1, 3), Fraction(2, 3))
        ]
        for k in range(n)
    ]
    found = Process(rows).enclose(0, [0.0] * n)
    assert found.width <= NARROW * 10**6
    assert found.low[n - 1] <= Fraction(1, 3) / (1 - discount * Fraction(2, 3)) <= found.high[n - 1]


def test_recurrence_without_discount_is_refused() -> None:
    rows = [[Row.of([Fraction(1)], {1: Fraction(1)})], [Row.of([Fraction(1)], {0: Fraction(1)})]]
    with pytest.raises(InputError, match="recur without any discount"):
        Process(rows).enclose(0, [0.0, 0.0])


@pytest.mark.parametrize("seed", range(5))
def test_elimination_solves(seed: int) -> None:
    rows = [choices[0] for choices in random_rows(seed, n=12, n_rows=1, discount=Fraction(999, 1000))]
    wanted = solved(rows, 0)
    unit = Fraction(1, 2**300)
    chances = [{node: chance * ONE // row.below for node, chance in row.moves} for row in rows]
    found = evaluated(chances, [round(row.rewards[0] / unit) for row in rows])
    assert all(abs(v * unit - w) <= NARROW for v, w in zip(found, wanted, strict=True))


@pytest.mark.parametrize("seed", range(20))
def test_groups_lead_to_earlier_groups_or_to_themselves(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 15))
    linked = rng.random((n, n)) < 1.5 / n
    after = [np.flatnonzero(row).tolist() for row in linked]
    reaches = np.eye(n, dtype=bool) | linked
    for k in range(n):
        reaches |= np.outer(reaches[:, k], reaches[k])
    groups = components(after)
    number = {node: g for g, group in enumerate(groups) for node in group}
    assert sorted(number) == list(range(n))
    for i in range(n):
        for j in range(n):
            assert (number[i] == number[j]) == bool(reaches[i, j] and reaches[j, i])
            assert not linked[i, j] or number[j] <= number[i]
