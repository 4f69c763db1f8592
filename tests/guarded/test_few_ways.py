"""What few ways leave out without loss: keeping to all of them is the game itself, with fewer states and controls."""

from dataclasses import replace

import pytest

import ncirl
from control_graphs import random_controlled
from ncirl.attack_graphs.graph import AttackGraph, Condition, Control, Exploit, Intent
from ncirl.attack_graphs.guarded.bundles import Bundled, Group
from ncirl.attack_graphs.guarded.few_ways import FewWays
from ncirl.attack_graphs.guarded.net import Net
from ncirl.attack_graphs.guarded.parts import Part, terms
from ncirl.attack_graphs.guarded.relaxed import Relaxed
from ncirl.attack_graphs.guarded.sizes import Size, counted
from ncirl.limits import Limits
from ncirl.playbook.verify import verify

OFF = 1e-7
ANY = Size(10**6, 10**9)


def everything(graph: AttackGraph) -> Bundled:
    net = Net(graph)
    return Bundled(net, Group(net.intents, tuple((e.id,) for e in net.exploits)))


def all_guarded(graph: AttackGraph) -> Relaxed:
    net = Net(graph)
    goals = tuple(net.conditions[c] for c in (*net.goals(), *net.burdens()))
    slow = tuple(dict.fromkeys(e.result for e, its in zip(net.exploits, net.watchers, strict=True) if not its))
    part = Part(goals, tuple(net.guards), slow, width=16, defender_budget=graph.defender_budget)
    return Relaxed(net, part, terms(net, [part])[0])


def check_all_ways(seed: int, observes: str) -> bool:
    """Hold the game of all ways, and the one of all guards, to the exact value of the graph."""
    graph = random_controlled(seed, observes=observes)
    if not Net(graph).goals():
        return False
    exact = ncirl.solve(graph.game(), ncirl.HistoryLP()).lower
    below = ncirl.solve(everything(graph).game(), ncirl.Certified(gap=1e-4, time_limit=30))
    assert verify(below).holds
    assert below.lower <= exact + OFF, seed
    assert below.upper >= exact - OFF, seed  # nothing is lost, either
    above = ncirl.solve(all_guarded(graph).game(), ncirl.Certified(gap=1e-4, time_limit=30))
    assert above.upper >= exact - OFF, seed
    return True


def test_all_ways_are_the_game() -> None:
    assert sum(check_all_ways(seed, "actions") for seed in range(16)) > 10
    assert sum(check_all_ways(seed, "outcomes") for seed in range(6)) > 3


@pytest.mark.slow
@pytest.mark.parametrize("observes", ["actions", "outcomes"])
@pytest.mark.parametrize("first", range(16, 416, 40))
def test_all_ways_are_the_game_on_many_graphs(first: int, observes: str) -> None:
    assert sum(check_all_ways(seed, observes) for seed in range(first, first + 40)) > 20


def two_chains(*controls: Control) -> AttackGraph:
    """Two chains of three steps, each with its goal at the end."""
    steps = [(f"{chain}{k}", f"{chain}{k + 1}") for chain in "ab" for k in range(3)]
    return AttackGraph(
        conditions=tuple(Condition(f"{chain}{k}", k == 0) for chain in "ab" for k in range(4)),
        exploits=tuple(Exploit(f"{was}-{then}", (was,), then, 1.0, 0.02, 0.05) for was, then in steps),
        intents=(Intent("a", 0.5, {"a3": 1.0}), Intent("b", 0.5, {"b3": 1.0})),
        controls=controls,
        discount=0.9,
    )


WALL = Control("wall", ("a0-a1", "a1-a2", "a2-a3"), 0.5, "lasting")
DOOR = Control("door", ("a1-a2",), 0.5, "lasting")
GATE = Control("gate", ("b0-b1", "b1-b2", "b2-b3"), 0.5, "lasting")


def one_step_on(rules: FewWays) -> int:
    """Return the state with `a1` held."""
    return rules.start | 1 << [condition.id for condition in rules.graph.conditions].index("a1")


def test_what_leads_nowhere_is_one_state() -> None:
    graph = two_chains(WALL, GATE)
    size = counted(everything(graph).rules, ANY, Limits(None))
    assert size is not None
    assert size.states == 16  # each chain at one of three places, or over: walled off or at its end
    plain = AttackGraph.game(graph).explore()
    assert len(plain) > 30


def test_a_control_that_another_outdoes_is_not_offered() -> None:
    rules = everything(two_chains(DOOR, WALL, GATE)).rules
    at = one_step_on(rules)
    usable = [exploit for exploit, _ in rules.usable(at)]
    assert [control.id for control, _ in rules.offered(at, usable)] == ["wall", "gate"]
    assert rules.counted_as(at, usable, ["door"]) == {"wall"}
    dearer = everything(two_chains(DOOR, replace(WALL, cost=0.6), GATE)).rules
    assert [control.id for control, _ in dearer.offered(at, usable)] == ["door", "wall", "gate"]


def test_a_momentary_control_does_not_outdo_a_lasting_one() -> None:
    rules = everything(two_chains(replace(WALL, kind="momentary", cost=0.4), DOOR, GATE)).rules
    at = one_step_on(rules)
    usable = [exploit for exploit, _ in rules.usable(at)]
    assert [control.id for control, _ in rules.offered(at, usable)] == ["wall", "door", "gate"]


def test_many_ways_at_once_cost_what_their_chance_does() -> None:
    chances, cost = (0.1, 0.2, 0.4), 0.05
    graph = AttackGraph(
        conditions=(Condition("out", True), Condition("in")),
        exploits=tuple(Exploit(f"e{k}", ("out",), "in", p, cost, 9.0) for k, p in enumerate(chances)),
        intents=(Intent("t", 1.0, {"in": 1.0}),),
        discount=0.9,
    )
    net = Net(graph)
    part = Part(("in",), slow=("in",))
    relaxed = Relaxed(net, part, terms(net, [part])[0])
    (option,) = relaxed.choices(relaxed.start).options
    assert option.success == pytest.approx(1 - 0.9 * 0.8 * 0.6)
    assert option.charge[0] == pytest.approx(option.success * cost / 0.4)
    exact = ncirl.solve(graph.game(), ncirl.Certified(gap=1e-6)).upper
    above = ncirl.solve(relaxed.game(), ncirl.Certified(gap=1e-6)).upper
    assert exact <= above + OFF
    assert above <= 1.15 * exact  # at the price of the cheapest alone it would be far above


def test_what_stops_less_may_tell_more_where_attempts_are_not_seen() -> None:
    """Whether `e` succeeded tells a defender that only stops `f` who attacks, before it matters."""
    ways = [("a0", "out", "a", 0.0), ("e", "out", "c1", 0.05), ("f", "out", "c2", 0.1), ("h1", "a", "g1", 0.0)]
    ways += [("h2", "a", "g2", 0.1), ("u1", "c2", "g1", 0.0), ("u2", "c2", "g2", 0.0)]
    over = {"both": ("e", "f"), "one": ("f",), "first": ("h1",), "second": ("h2",)}
    graph = AttackGraph(
        conditions=(Condition("out", True), *map(Condition, ("a", "c1", "c2", "g1", "g2"))),
        exploits=tuple(Exploit(name, (was,), then, 1.0, cost) for name, was, then, cost in ways),
        intents=(Intent("t1", 0.5, {"g1": 1.0, "c1": 0.4}), Intent("t2", 0.5, {"g2": 1.0})),
        controls=tuple(Control(name, stops, 0.3) for name, stops in over.items()),
        discount=0.95,
        horizon=2,
        observes="outcomes",
        defender_budget=1,
    )
    exact = ncirl.solve(graph.game(), ncirl.HistoryLP()).upper
    assert ncirl.solve(everything(graph).game(), ncirl.HistoryLP()).lower <= exact + OFF
    seen = ncirl.solve(everything(replace(graph, observes="actions")).game(), ncirl.HistoryLP()).lower
    assert seen <= ncirl.solve(replace(graph, observes="actions").game(), ncirl.HistoryLP()).upper + OFF
