"""Which goals share a part: components that the same intents link, and the cheapest parts of several divisions."""

from dataclasses import replace
from math import inf

import numpy as np
import pytest

import ncirl
from guarded_checks import is_inside, promises_hold
from guarded_instances import Instance, proved, solved
from ncirl.attack_graphs.graph import Alert, AttackGraph, Condition, Exploit, Intent
from ncirl.attack_graphs.guarded.above import Above
from ncirl.attack_graphs.guarded.apart import goals_apart
from ncirl.attack_graphs.guarded.blocks import cheapest, is_union, linked
from ncirl.attack_graphs.guarded.check import verify_guarded
from ncirl.attack_graphs.guarded.cuts import Flow
from ncirl.attack_graphs.guarded.jobs import solved_job
from ncirl.attack_graphs.guarded.net import Net
from ncirl.attack_graphs.guarded.parts import Part, part_faults, terms
from ncirl.attack_graphs.guarded.relaxed import Relaxed
from ncirl.attack_graphs.guarded.sizes import Size
from ncirl.limits import Limits

ROOM = Size(1_000, 100_000)


def star(*wants: dict[str, float], **changes: object) -> AttackGraph:
    """Return a graph in which each goal is one exploit away, with cheap defence, attempts not seen."""
    goals = sorted({goal for its in wants for goal in its})
    graph = AttackGraph(
        conditions=(Condition("start", initial=True), *map(Condition, goals)),
        exploits=tuple(Exploit(f"to-{goal}", ("start",), goal, 0.8, 0.01, 0.01) for goal in goals),
        intents=tuple(Intent(f"t{k}", 1 / len(wants), its) for k, its in enumerate(wants)),
        discount=0.95,
        observes="outcomes",
    )
    return replace(graph, **changes)  # type: ignore[arg-type]


def named(net: Net, division: list[list[int]]) -> list[str]:
    return ["".join(net.conditions[c] for c in goals) for goals in division]


def test_goals_that_the_same_intents_want_are_linked_most_wanted_first() -> None:
    wants = {"a": 0.5, "b": 0.5}, {"b": 0.4, "c": 0.6}, {"d": 0.9, "e": 0.1}, {"e": 0.5, "f": 0.5}, {"g": 1.0}
    net = Net(star(*wants))
    assert named(net, linked(net, goals_apart(net))) == ["abc", "def", "g"]
    more = Net(star(*wants, {"c": 0.3, "d": 0.7}))  # with d there would be four that are usable at the start
    assert max(map(len, named(more, linked(more, goals_apart(more))))) <= 3


def test_blocks_that_lead_to_no_other_goal_are_unions_of_components() -> None:
    groups = [[1, 4], [2], [3]]
    assert is_union([1, 2, 4], groups)
    assert is_union([3], groups)
    assert not is_union([1, 2], groups)


def test_the_cheapest_blocks_make_up_all_goals() -> None:
    costs = {(1,): 1.0, (2,): 1.0, (3,): 1.0, (1, 2): 1.5, (2, 3): 1.2, (1, 2, 3): inf}
    assert cheapest(costs, [1, 2, 3]) == (2.2, [(1,), (2, 3)])
    assert cheapest({(1,): 1.0}, [1, 2])[0] == inf
    assert cheapest({}, []) == (0.0, [])


def test_what_comes_of_one_goal_tells_of_the_other() -> None:
    """Linked parts concede less than goals apart, and what they promise holds in the graph listed whole."""
    graph = star({"a": 0.5, "b": 0.5}, {"c": 1.0}, {"c": 1.0}, {"d": 1.0}, {"d": 1.0})
    net, precise = Net(graph), ncirl.Certified(gap=1e-3, time_limit=10)

    def conceded(division: list[list[int]]) -> float:
        parts = [
            Part(tuple(net.conditions[c] for c in goals), tuple(f"to-{net.conditions[c]}" for c in goals), width=8)
            for goals in division
        ]
        found = [solved(Relaxed(net, p, its).game(), precise) for p, its in zip(parts, terms(net, parts), strict=True)]
        return sum(each.upper for each in found)

    apart = goals_apart(net)
    assert named(net, linked(net, apart)) == ["ab", "c", "d"]
    assert conceded(linked(net, apart)) < conceded(apart) - 2e-3


def climbed(net: Net, seconds: float = 0.3) -> Above:
    above = Above(net, Flow(net))
    for size in (Size(0, 0), ROOM):
        for turn in (above.climb, above.mix):
            for job in turn(size, 6, 0.01, Limits(None), Limits(None)):
                found = solved_job(net, replace(job, seconds=seconds))
                assert found is not None
                above.take(found)
    return above


def test_divisions_are_mixed_where_parts_of_several_are_cheapest(monkeypatch: pytest.MonkeyPatch) -> None:
    net = Net(star({"a": 0.5, "b": 0.5}, {"c": 0.5, "d": 0.5}, {"e": 1.0}))
    above = climbed(net)
    assert [named(net, division) for division in above.divisions] == [["abcde"], [*"abcde"], ["ab", "cd", "e"]]
    a, b, c, d, e = above.goals
    costs = {(a,): 0.1, (b,): 0.1, (a, b): 0.15, (c,): 0.1, (d,): 0.1, (c, d): 0.3, (e,): 0.1}
    monkeypatch.setattr(above, "_costs", lambda: costs)
    jobs = above.mix(ROOM, 6, 0.01, Limits(None), Limits(None))
    assert named(net, above.divisions[-1]) == ["ab", "c", "d", "e"]
    known = [solved.job.what for solved in above.trials[-1].values() if solved is not None]
    parts = [each for each in (*known, *(job.what for job in jobs)) if isinstance(each, Part)]
    assert len(parts) == 4
    assert part_faults(net, parts) == []
    assert above.mix(ROOM, 6, 0.01, Limits(None), Limits(None)) == []  # it is known


@pytest.mark.parametrize("alert", [None, Alert(0.9, 0.1)])
def test_linked_parts_keep_their_promise(alert: Alert | None) -> None:
    rng = np.random.default_rng(3)
    for _ in range(1 if alert else 2):
        one, other = rng.uniform(0.3, 0.7, size=2).tolist()
        graph = star({"a": one, "b": 1 - one}, {"c": other, "d": 1 - other}, discount=0.5)
        graph = replace(graph, exploits=tuple(replace(e, block_cost=0.1, alert=alert) for e in graph.exploits))
        net = Net(graph)
        parts = [
            Part(tuple(net.conditions[c] for c in goals), tuple(f"to-{net.conditions[c]}" for c in goals))
            for goals in linked(net, goals_apart(net))
        ]
        assert len(parts) == 2
        instance = Instance(graph, proved(graph, parts, []))
        assert verify_guarded(instance.proof).holds
        promises_hold(instance)
        is_inside(instance)
