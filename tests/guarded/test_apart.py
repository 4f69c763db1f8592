"""Graphs that come apart: which do, and that their parts add up to a bound."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import ncirl
from guarded_checks import OFF
from guarded_instances import random_graph, solved
from ncirl.attack_graphs.graph import AttackGraph, Condition, Control, Exploit, Intent
from ncirl.attack_graphs.guarded.above import Above
from ncirl.attack_graphs.guarded.apart import comes_apart, goals_apart
from ncirl.attack_graphs.guarded.check import sum_up
from ncirl.attack_graphs.guarded.cuts import Flow
from ncirl.attack_graphs.guarded.jobs import solved_job
from ncirl.attack_graphs.guarded.net import Net
from ncirl.attack_graphs.guarded.parts import Part, part_faults, terms
from ncirl.attack_graphs.guarded.relaxed import Relaxed
from ncirl.attack_graphs.guarded.sizes import Size
from ncirl.limits import Limits


def two_halves(*more: Exploit, **changes: object) -> AttackGraph:
    """Two goals, each by a way of its own from the start; one intent wants both."""
    exploits = [
        Exploit("to-a", ("start",), "a", 0.8, 0.01, 0.01),
        Exploit("a-x", ("a",), "x", 0.9, 0.02, 0.01),
        Exploit("to-y", ("start",), "y", 0.8, 0.01, 0.01),
        Exploit("idle", ("a", "y"), "nowhere", 0.5),
    ]
    return AttackGraph(
        conditions=(Condition("start", initial=True), *map(Condition, ("a", "x", "y", "nowhere"))),
        exploits=(*exploits, *more),
        intents=(
            Intent("one", 0.5, {"x": 1.0}),
            Intent("other", 0.3, {"y": 1.0}),
            Intent("both", 0.2, {"x": 1, "y": 1}),
        ),
        discount=0.9,
        **changes,  # type: ignore[arg-type]
    )


def groups(graph: AttackGraph) -> list[list[str]]:
    net = Net(graph)
    return [[net.conditions[c] for c in goals] for goals in goals_apart(net)]


def test_goals_with_nothing_in_common_come_apart() -> None:
    assert groups(two_halves()) == [["x"], ["y"]]
    assert comes_apart(two_halves())


@pytest.mark.parametrize(
    "tied",
    [
        two_halves(Exploit("a-y", ("a",), "y", 0.5)),  # a way that both go
        two_halves(Exploit("y-x", ("y",), "x", 0.5)),  # one goal on the way to the other
        two_halves(controls=(Control("c", ("a-x", "to-y"), 0.1), Control("d", ("to-a",), 0.1))),  # one control for both
        two_halves(defender_budget=1),  # who blocks here cannot block there
    ],
)
def test_goals_that_are_tied_do_not(tied: AttackGraph) -> None:
    assert groups(tied) == [["x", "y"]]
    assert not comes_apart(tied)


def test_what_holds_from_the_start_ties_nothing() -> None:
    graph = two_halves()
    held = replace(graph, conditions=tuple(replace(c, initial=c.id in ("start", "a")) for c in graph.conditions))
    assert groups(replace(held, exploits=(*held.exploits, Exploit("a-y", ("a",), "y", 0.5)))) == [["x"], ["y"]]


def side_by_side(left: AttackGraph, right: AttackGraph) -> AttackGraph:
    """Two graphs as one: whoever wants something in one of them wants something in the other."""
    conditions = [replace(c, id=f"{side}{c.id}") for side, g in (("l", left), ("r", right)) for c in g.conditions]
    exploits = [
        replace(e, id=f"{side}{e.id}", result=f"{side}{e.result}", premises=tuple(f"{side}{p}" for p in e.premises))
        for side, graph in (("l", left), ("r", right))
        for e in graph.exploits
    ]
    intents = []
    for k, intent in enumerate(left.intents):
        other = right.intents[k % len(right.intents)]
        rewards = {f"l{c}": r for c, r in intent.rewards.items()} | {f"r{c}": r for c, r in other.rewards.items()}
        intents.append(replace(intent, rewards=rewards))
    return replace(left, conditions=tuple(conditions), exploits=tuple(exploits), intents=tuple(intents))


def adds_up(seed: int) -> bool:
    """The parts that a graph comes apart into, everything guarded, are worth no less than the graph."""
    rng = np.random.default_rng(seed)
    left, right = (random_graph(rng) for _ in range(2))
    left, right = (replace(each, exploits=each.exploits[:3], defender_budget=None) for each in (left, right))
    graph = side_by_side(left, right)
    net = Net(graph)
    apart = goals_apart(net)
    if len(apart) < 2:
        return False
    parts = [
        Part(tuple(net.conditions[c] for c in goals), tuple(sorted(net.watching(net.leading(goals)))), width=16)
        for goals in apart
    ]
    precise = ncirl.Certified(gap=2e-3, time_limit=5)
    found = [
        solved(Relaxed(net, part, its).game(), precise) for part, its in zip(parts, terms(net, parts), strict=True)
    ]
    exact = solved(graph.game(), precise)
    assert sum_up([part.upper for part in found]) >= exact.lower - OFF, seed
    return True


def test_parts_add_up_to_a_bound() -> None:
    assert sum(adds_up(seed) for seed in range(8)) >= 3


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_parts_of_many_graphs_add_up_to_a_bound() -> None:
    assert sum(adds_up(seed) for seed in range(100, 300)) >= 60


def test_parts_charge_attempts_in_full() -> None:
    """Nobody else asks for them: not even whoever has something to gain elsewhere pays only a share."""
    net = Net(two_halves())
    parts = [Part(("x",), ("to-a", "a-x")), Part(("y",), ("to-y",))]
    for part, its_terms in zip(parts, terms(net, parts), strict=True):
        for k in net.stopped(part.guards):
            assert its_terms.charge[k] == pytest.approx(np.full(3, net.attack_costs[k]), rel=1e-6)
            assert (its_terms.charge[k] <= net.attack_costs[k]).all()


def test_a_graph_that_comes_apart_is_divided_there_even_if_it_fits_as_a_whole() -> None:
    net = Net(two_halves())
    jobs = Above(net, Flow(net)).climb(Size(1_000, 100_000), 6, 0.01, Limits(None), Limits(None))
    parts = [job.what for job in jobs if isinstance(job.what, Part)]
    assert [(part.goals, sorted(part.guards)) for part in parts] == [
        (("x", "y"), ["a-x", "idle", "to-a", "to-y"]),
        (("x",), ["a-x", "to-a"]),
        (("y",), ["to-y"]),
    ]


def test_what_its_parts_may_come_to_is_known_once_they_are_solved() -> None:
    """Where nothing is conceded any more, and only there: with less room for states something is."""
    net = Net(two_halves())
    above = Above(net, Flow(net))
    for size in (Size(0, 0), Size(1_000, 100_000)):
        assert above.hope == np.inf
        for job in above.climb(size, 6, 0.01, Limits(None), Limits(None)):
            found = solved_job(net, replace(job, seconds=5.0))
            assert found is not None
            above.take(found)
    assert above.hope == min(sum(part.lower for part in trial.values() if part) for trial in above.trials[1:])
    assert above.hope <= above.bound < above.totals[0]


def test_a_part_to_which_more_width_is_of_no_use_is_not_solved_again() -> None:
    """Two chains: there are never more than two exploits to play for, and both do not fit as a whole."""
    chains = [["start", *(f"{side}{k}" for k in range(5)), "goal"] for side in "ab"]
    names = dict.fromkeys(name for chain in chains for name in chain)
    graph = AttackGraph(
        conditions=tuple(Condition(name, initial=name == "start") for name in names),
        exploits=tuple(Exploit(f"{a}-{b}", (a,), b, 0.8, 0.01, 0.05) for chain in chains for a, b in pairwise(chain)),
        intents=(Intent("much", 0.5, {"goal": 1.0}), Intent("less", 0.5, {"goal": 0.5})),
        discount=0.9,
    )
    net = Net(graph)
    above = Above(net, Flow(net))

    def climb(width: int) -> int:
        jobs = above.climb(Size(12, 10_000), width, 0.01, Limits(None), Limits(None))
        for job in jobs:
            found = solved_job(net, replace(job, seconds=5.0))
            assert found is not None
            above.take(found)
        return len(jobs)

    assert climb(2) == 2
    begun, known = len(above.trials), above.bound
    assert climb(3) == 0
    assert len(above.trials) > begun
    assert above.totals[-1] == known == above.bound
    parts = [solved.job.what for solved in above.best() if isinstance(solved.job.what, Part)]
    assert parts
    assert not part_faults(net, parts)
