"""Tolls, cuts and ways against brute force on random small graphs; the relaxed game against the game itself."""

from dataclasses import replace
from itertools import combinations
from math import inf

import numpy as np
import pytest

import ncirl
from guarded_instances import random_graph
from ncirl.attack_graphs.graph import AttackGraph, Condition, Exploit, Intent
from ncirl.attack_graphs.guarded.attacker import GroupAttacker, GuardedAttacker
from ncirl.attack_graphs.guarded.bundles import Bundled, Group
from ncirl.attack_graphs.guarded.cuts import Flow
from ncirl.attack_graphs.guarded.net import Net
from ncirl.attack_graphs.guarded.parts import Part, terms
from ncirl.attack_graphs.guarded.relaxed import Relaxed
from ncirl.attack_graphs.guarded.seen import Words
from ncirl.attack_graphs.guarded.sizes import Size, counted
from ncirl.attack_graphs.guarded.tolls import toll
from ncirl.attack_graphs.guarded.ways import best_way, weights
from ncirl.limits import Limits


def nets(count: int) -> list[tuple[int, Net]]:
    found = [(seed, Net(random_graph(np.random.default_rng(seed)))) for seed in range(count)]
    return [(seed, net) for seed, net in found if net.goals()]


def ways(net: Net, goal: int) -> list[tuple[int, ...]]:
    """List the sets of exploits that reach a goal."""
    every = range(len(net.exploits))
    sets = [some for size in range(len(net.exploits) + 1) for some in combinations(every, size)]
    return [some for some in sets if net.closure(net.start, some) >> goal & 1]


def test_a_toll_is_paid_on_every_way() -> None:
    for _, net in nets(60):
        for goal in net.goals():
            costs = net.attack_costs.tolist()
            least = min((sum(net.attack_costs[k] for k in way) for way in ways(net, goal)), default=inf)
            due = toll(net, goal, costs)
            assert 0 <= due <= least + 1e-12
            assert (np.array(costs) >= 0).all()


def test_a_cut_is_on_every_way() -> None:
    for _, net in nets(60):
        flow = Flow(net)
        for goal in net.goals():
            for near in (False, True):
                cut = flow.exploits([goal], lambda k: 1.0, Limits(None), near)
                assert cut
                assert all(set(cut) & set(way) for way in ways(net, goal))
                passed = flow.conditions([goal], lambda c: 1.0, Limits(None), near)
                assert passed
                assert all({net.result[k] for k in way} & set(passed) for way in ways(net, goal))


def test_the_best_way_is_a_way() -> None:
    for _, net in nets(60):
        for goal in net.goals():
            way = best_way(net, goal, 1.0, weights(net, 1.0), Limits(None))
            assert net.closure(net.start, way) >> goal & 1


def test_guarding_everything_is_the_game_itself() -> None:
    met = 0
    for seed, net in nets(25):
        graph = net.graph
        if graph.defender_budget is not None or any(r < 0 for i in graph.intents for r in i.rewards.values()):
            continue
        met += 1
        goals = tuple(net.conditions[c] for c in net.goals())
        part = Part(goals, tuple(e.id for e in net.exploits), width=20)
        relaxed = Relaxed(net, part, terms(net, [part])[0])
        mine = ncirl.solve(relaxed.game(), ncirl.Certified(gap=1e-3, time_limit=2))
        whole = ncirl.solve(graph.game(), ncirl.Certified(gap=1e-3, time_limit=2))
        assert mine.lower <= whole.upper + 1e-6, seed
        assert mine.upper >= whole.lower - 1e-6, seed
    assert met >= 5


def test_states_are_counted_as_they_are_met() -> None:
    for _, net in nets(60):
        part = Part(
            tuple(net.conditions[c] for c in net.goals()),
            tuple(e.id for e in net.exploits[::2]),
            tuple(net.conditions[::2]),
            defender_budget=net.graph.defender_budget,
        )
        relaxed = Relaxed(net, part, terms(net, [part])[0])
        size = counted(relaxed, Size(10**6, 10**9), Limits(None))
        met = relaxed.game().explore()
        assert size is not None
        assert len(met) <= size.states
        assert counted(relaxed, Size(size.states - 1, 10**9), Limits(None)) is None


def test_a_deadline_that_has_passed_ends_counting() -> None:
    _, net = nets(5)[0]
    part = Part(tuple(net.conditions[c] for c in net.goals()), defender_budget=net.graph.defender_budget)
    assert counted(Relaxed(net, part, terms(net, [part])[0]), Size(10**6, 10**9), Limits(0.0)) is None


def test_a_bundle_is_stopped_for_the_price_of_its_cheapest_member() -> None:
    graph = AttackGraph(
        conditions=(Condition("out", initial=True), Condition("badge"), Condition("code"), Condition("vault")),
        exploits=(
            Exploit("steal", ("out",), "badge", 1.0, 0.02, 0.01),
            Exploit("spy", ("out",), "code", 0.9, 0.03, 1.0),
            Exploit("enter", ("badge", "code"), "vault", 1.0, 0.0, 1.0),
        ),
        intents=(Intent("thief", 1.0, {"vault": 1.0, "code": 0.1, "badge": 0.2}),),
        discount=0.9,
    )
    group = Group(("thief",), (("steal", "spy"), ("enter",)))
    net, words = Net(graph), Words(graph)
    bundled = Bundled(net, group)
    bundle = bundled.graph.exploits[0]
    assert bundle.success == pytest.approx(0.9)
    assert (bundle.attack_cost, bundle.block_cost) == (pytest.approx(0.05), 0.01)
    assert bundled.graph.intents[0].rewards[bundle.result] == pytest.approx(0.3)
    solved = ncirl.solve(bundled.game(), ncirl.Certified(gap=1e-6))
    lifted = GuardedAttacker(net, [GroupAttacker(bundled, solved.attacker_playbook)], words)
    secured = ncirl.best_response_to_attacker(words.game, lifted)
    assert secured.value >= solved.lower - secured.error - 1e-9
    dearer = (
        bundled.graph.exploits[0].block_cost + 1.0
    )  # were both to be paid for, more would be claimed than is secured
    exploits = (replace(bundle, block_cost=dearer), *bundled.graph.exploits[1:])
    claimed = ncirl.solve(replace(bundled.graph, exploits=exploits).game(), ncirl.Certified(gap=1e-6))
    assert claimed.lower > secured.value + 1e-3
