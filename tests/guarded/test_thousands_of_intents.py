"""Very many intents: what is done once per intent is little, and nothing is gone through one by one without a limit."""

from __future__ import annotations

from itertools import combinations
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

from ncirl import AttackGraph
from ncirl.attack_graphs.graph import Condition, Exploit, Intent
from ncirl.attack_graphs.guarded import below as below_module
from ncirl.attack_graphs.guarded import gather
from ncirl.attack_graphs.guarded.below import Below, Intents
from ncirl.attack_graphs.guarded.bundles import Bundled, Group
from ncirl.attack_graphs.guarded.gather import Pool
from ncirl.attack_graphs.guarded.jobs import Solved
from ncirl.attack_graphs.guarded.net import Net
from ncirl.attack_graphs.guarded.sizes import Size
from ncirl.limits import Limits
from ncirl.lp.state_arrays import StateArrays
from ncirl.solvers.certified.clusters import compared

MANY = 1_200
WAYS = 3


def graph(intents: int, ways: int = WAYS) -> AttackGraph:
    return AttackGraph(
        conditions=tuple(Condition(f"c{k}") for k in range(ways)),
        exploits=tuple(
            Exploit(f"e{k}", (), f"c{k}", success=0.5, attack_cost=0.01, block_cost=0.1) for k in range(ways)
        ),
        intents=tuple(Intent(f"i{t}", 1 / intents, {f"c{t % ways}": 1.0 + t / intents}) for t in range(intents)),
        discount=0.9,
        name="many",
    )


class Counted(tuple[str, ...]):
    """Names, and how often somebody has looked whether one is among them."""

    looked = 0

    def __contains__(self, name: object) -> bool:
        Counted.looked += 1
        return super().__contains__(name)


def test_a_bundled_game_is_made_without_going_through_all_intents_for_each() -> None:
    net = Net(graph(MANY))
    Counted.looked = 0
    made = Bundled(net, Group(Counted(net.intents), (("e0",), ("e1",), ("e2",))))
    assert len(made.graph.intents) == MANY
    assert sum(intent.prior for intent in made.graph.intents) == pytest.approx(1.0)
    assert Counted.looked <= MANY


@pytest.mark.parametrize("most", [0, 1, 7, 600, MANY])
def test_how_many_ways_fit_is_found_in_few_tries(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    net, tried = Net(graph(3)), list[int]()
    size = Size(1, 1)

    def fits(net: Net, group: Group, size: Size, deadline: Limits) -> Size | None:
        tried.append(group.kept)
        return size if group.kept <= most else None

    monkeypatch.setattr(gather, "_fits", fits)
    group = Group(net.intents, (("e0",),), kept=MANY)
    found = gather._freest(net, group, size, Limits(0.0))
    assert (0 if found is None else found[0].kept) == most
    assert 0 < len(tried) <= 13


def solved(values: dict[Intents, float], n: int) -> Below:
    """Return groups that were solved, with what they get."""
    below = Below(Net(graph(n)))
    below.solved = {group: (1.0, cast(Solved, SimpleNamespace(lower=value))) for group, value in values.items()}
    return below


def best_value(values: dict[Intents, float]) -> float:
    """Go through all choices of disjoint groups."""
    groups = list(values)
    return max(
        sum(values[group] for group in some)
        for k in range(len(groups) + 1)
        for some in combinations(groups, k)
        if len(set().union(*some)) == sum(map(len, some))
    )


@pytest.mark.parametrize("seed", range(20))
def test_the_best_choice_of_disjoint_groups_is_found(seed: int) -> None:
    rng = np.random.default_rng([seed, 35])
    n = int(rng.integers(2, 7))
    values: dict[Intents, float] = {}
    for _ in range(int(rng.integers(1, 10))):
        group = tuple(sorted(rng.choice(n, size=int(rng.integers(1, n + 1)), replace=False).tolist()))
        values[group] = float(rng.random()) * len(group)
    plan = solved(values, n)._matched()
    assert len(set().union(*plan)) == sum(map(len, plan))
    assert sum(values[group] for group in plan) == pytest.approx(best_value(values))


def test_very_many_groups_are_chosen_from() -> None:
    alone = {(t,): 1.0 for t in range(MANY)}
    pairs = {(t, t + 1): 2.5 for t in range(0, MANY, 2)}
    plan = solved({**alone, **pairs}, MANY)._matched()
    assert sorted(plan) == sorted(pairs)


def test_where_choices_are_too_many_the_plan_is_no_worse_than_before(monkeypatch: pytest.MonkeyPatch) -> None:
    values = {(0, 1): 1.0, (0, 2): 0.9, (1, 3): 0.9, (2, 3): 0.1}
    below = solved(values, 4)
    assert sorted(below._matched()) == [(0, 2), (1, 3)]
    below.plan = below._matched()
    monkeypatch.setattr(below_module, "MOST_CHOICES", 1)
    assert sorted(below._matched()) == [(0, 2), (1, 3)]
    below.plan = []
    assert sorted(below._matched()) == [(0, 1), (2, 3)]


def test_the_ways_of_very_many_intents_are_gathered() -> None:
    net = Net(graph(MANY))
    found = gather.gathered(Pool(net), list(range(MANY)), Size(64, 4_096), Limits(), private=MANY)
    assert found is not None
    assert len(found[0].intents) == MANY


@pytest.mark.parametrize("copies", [1, 4])
def test_intents_are_as_far_apart_as_their_rewards(copies: int) -> None:
    """Where there are more rewards than intents, rows of their own stand for them."""
    rng = np.random.default_rng(copies)
    arrays = [
        cast(StateArrays, SimpleNamespace(reward=rng.random((2, 2, 8)), attacker=np.ones((2, 8), dtype=np.bool_)))
        for _ in range(copies)
    ]
    known = compared(arrays, [np.full(8, 1 / 8)])
    assert known is not None
    assert len(known[0]) <= 8
    every = np.concatenate([each.reward.reshape(-1, 8) for each in arrays])
    for one, other in combinations(range(8), 2):
        apart = np.linalg.norm(every[:, one] - every[:, other])
        assert np.linalg.norm(known[0][:, one] - known[0][:, other]) == pytest.approx(apart)
