"""Bounds of graphs whose chances are tiny, or hardly short of sure, and whose rewards are huge: in exact arithmetic."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, product
from math import nextafter

import numpy as np
import pytest

import ncirl
from guarded_instances import proved
from ncirl.attack_graphs.coins import any_of, enabled, paid, rewarded
from ncirl.attack_graphs.controls import Control
from ncirl.attack_graphs.graph import AttackGraph, Condition, Exploit, Intent
from ncirl.attack_graphs.guarded.alike import outcomes
from ncirl.attack_graphs.guarded.bundles import Group
from ncirl.attack_graphs.guarded.check import verify_guarded
from ncirl.attack_graphs.guarded.net import Net
from ncirl.attack_graphs.guarded.parts import Part, terms
from ncirl.attack_graphs.guarded.relaxed import Relaxed
from ncirl.attack_graphs.parallel import Numbers, in_parallel
from ncirl.playbook.faults import LEAST

CHANCES = [5e-324, 1e-300, 1e-17, 3e-13, 5e-13, 0.003, 0.05, 0.3, 0.5, 0.8, 1 - 1e-10, nextafter(1.0, 0.0), 1.0]


def some(chances: Sequence[float]) -> Fraction:
    """Return how likely some of independent coins show heads, exactly."""
    none = Fraction(1)
    for chance in chances:
        none *= 1 - Fraction(chance)
    return 1 - none


def test_chances_of_several_are_right_to_the_last_digits_and_on_the_side_asked_for() -> None:
    rng = np.random.default_rng(1)
    for chance in CHANCES:
        assert any_of(np.array([0.0, chance, 0.0])) == chance
    tried = [rng.choice(CHANCES, size=int(rng.integers(2, 9))).tolist() for _ in range(600)]
    for chances in tried:
        exact, of = some(chances), np.array(chances)
        low, near, high = (float(any_of(of, rounded)) for rounded in (-1, 0, 1))
        assert Fraction(low) <= exact <= Fraction(high)
        assert abs(Fraction(near) - exact) <= exact * Fraction(1, 2**48) + Fraction(5e-324)
        assert high - low <= 2**-46 * near + 2e-323
        one = in_parallel([Numbers(chance, 0.1, 0.2) for chance in chances])
        assert exact <= Fraction(one.success) <= exact * (1 + Fraction(1, 2**48)) + Fraction(5e-323)


def test_the_chance_that_none_succeeds_may_be_as_small() -> None:
    near = np.array([1 - 1e-10, 1 - 1e-10])
    won, lost = enabled(near, 1 - near, np.zeros(2, dtype=np.intp), np.ones((1, 2), dtype=np.bool_))
    assert won[0, 0] == 1.0
    assert lost[0, 0] == pytest.approx(1e-20, rel=1e-5)
    found = outcomes(2, 3e-13)
    assert found[0][1, 0] == 3e-13
    assert found[0][1, 1] == 1.5e-13
    assert found[0][2, 0] == pytest.approx(6e-13, rel=1e-12)


def lottery(chances: Sequence[float], reward: float) -> AttackGraph:
    """Return a graph of one stage in which nobody blocks: it is worth the chance of some success times the reward."""
    steps = tuple(Exploit(f"e{k}", ("out",), "in", chance) for k, chance in enumerate(chances))
    goal = Intent("all", 1.0, {"in": reward})
    return AttackGraph((Condition("out", True), Condition("in")), steps, (goal,), discount=1.0, horizon=1, controls=())


SMALL = [(3e-13,), (5e-13,), (3e-13, 3e-13), (1e-17, 1e-300, 2e-13), (0.003,) * 3, (5e-324,), (1e-60, 1e-40)]


@pytest.mark.parametrize("chances", SMALL)
@pytest.mark.parametrize("reward", [1e12, 1.0, 1e-3])
def test_bounds_of_tiny_chances_enclose_the_value(chances: tuple[float, ...], reward: float) -> None:
    graph = lottery(chances, reward)
    value = some(chances) * Fraction(reward)
    ways = tuple((e.id,) for e in graph.exploits)
    proof = proved(graph, [Part(("in",), (), ("in",))], [Group(("all",), ways)])
    found = verify_guarded(proof)
    assert found.holds, found.faults
    bounds = [(found.lower, found.upper), (proof.lower, proof.upper)]
    if some(chances) > LEAST:  # what is less counts as nothing in a game that is listed
        listed = ncirl.solve(graph.game(), ncirl.Certified())
        bounds.append((listed.lower, listed.upper))
    for low, high in bounds:
        assert Fraction(low) <= value <= Fraction(high)
        assert high - low <= 2e-11 * float(value) + 1e-77


def test_what_is_hardly_ever_had_is_charged_no_more_than_it_costs() -> None:
    """A slow condition by two ways of next to no chance: the price per chance overflows, what is charged does not."""
    net = Net(lottery((1e-320, 1e-310), 1e12))
    for costs in ((1.0, 1.0), (0.0, 1.0)):
        net.attack_costs[:] = costs
        part = Part(("in",), (), ("in",))
        relaxed = Relaxed(net, part, terms(Net(net.graph), [part])[0])
        relaxed.terms.charge[:, 0] = costs
        (option,) = relaxed.choices(relaxed.start).options
        assert 0 <= option.charge[0] <= sum(costs)


def test_what_nearly_cancels_is_right_to_the_last_digits() -> None:
    rng = np.random.default_rng(2)
    prices = np.array([1e11, 0.1, 1e11 + 1.0, 3e-7, 0.3])
    for _ in range(200):
        blocks, attempts = (rng.integers(0, 3, (4, len(prices))) for _ in range(2))
        found = paid((blocks, prices), (attempts, np.stack([prices, prices / 3], axis=1)))
        for a, d, theta in product(range(4), range(4), range(2)):
            own = prices / (1, 3)[theta]
            exact = sum((int(n) * Fraction(p) for n, p in zip(blocks[d], prices.tolist(), strict=True)), Fraction(0))
            exact -= sum((int(n) * Fraction(p) for n, p in zip(attempts[a], own.tolist(), strict=True)), Fraction(0))
            off = abs(exact) * Fraction(1, 2**52) + Fraction(1e12) * Fraction(1, 2**100)
            assert abs(Fraction(float(found[a, d, theta])) - exact) <= off
    gained = rng.integers(0, 2, (50, 4)).astype(np.bool_)
    rewards = np.array([[1e12, 1.0], [-1e12, 1e-9], [0.3, 2.0], [1e-300, 3.0]])
    for row, of in zip(gained, rewarded(gained, rewards), strict=True):
        for theta in range(2):
            exact = sum(map(Fraction, rewards[row, theta].tolist()), Fraction(0))
            assert abs(Fraction(float(of[theta])) - exact) <= abs(exact) * Fraction(1, 2**50)


def test_bounds_enclose_a_value_that_is_left_where_large_costs_cancel() -> None:
    """Two attempts that cost 1e11 and 0.1 against a control of 1e11 and something that stops them both."""
    goals = (Condition("a"), Condition("b"))
    steps = (Exploit("to a", ("out",), "a", 1.0, 1e11), Exploit("to b", ("out",), "b", 1.0, 0.1))
    graph = AttackGraph(
        (Condition("out", True), *goals),
        steps,
        (Intent("all", 1.0, {"a": 1e11 + 3.0, "b": 0.5}),),
        discount=1.0,
        horizon=1,
        controls=(Control("both", ("to a", "to b"), 1e11 + 0.5),),
    )
    proof = proved(graph, [Part(("a", "b"), ("both",))], [Group(("all",), (("to a",), ("to b",)))])
    found = verify_guarded(proof)
    value = matrix_value(
        [
            [Fraction(0), Fraction(1e11 + 0.5)],
            [Fraction(3.0), Fraction(0.5)],
            [3 + Fraction(0.5) - Fraction(0.1), Fraction(0.5) - Fraction(0.1)],
        ]
    )
    assert found.holds, found.faults
    assert Fraction(found.lower) <= value <= Fraction(found.upper)


def matrix_value(rows: list[list[Fraction]]) -> Fraction:
    """Return the value of a game of two columns: the least of the largest line, at a crossing or an end."""
    ends = {Fraction(0), Fraction(1)}
    for (p, q), (r, s) in combinations(rows, 2):
        if (p - q) != (r - s):
            ends.add((s - q) / ((p - q) - (r - s)))
    return min(max(y * p + (1 - y) * q for p, q in rows) for y in ends if 0 <= y <= 1)
