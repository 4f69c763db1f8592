"""Guards over exploits that are alike, set by number: the defence keeps its promise on random graphs listed whole."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import ncirl
from guarded_checks import is_inside, promises_hold
from guarded_instances import Instance, proved, random_graph, random_parts, solved, with_controls
from ncirl.attack_graphs.graph import Alert, AttackGraph, Condition, Exploit, Intent
from ncirl.attack_graphs.guarded.check import verify_guarded
from ncirl.attack_graphs.guarded.defender import PartDefender
from ncirl.attack_graphs.guarded.net import Net
from ncirl.attack_graphs.guarded.parts import Part, terms
from ncirl.attack_graphs.guarded.relaxed import Relaxed
from ncirl.attack_graphs.names import members
from ncirl.errors import SizeError

EXACT = ncirl.Certified(gap=2e-3, time_limit=5)


def doubled(copies: int = 3, **changes: object) -> AttackGraph:
    """Return a graph with so many exploits to one condition, and one that goes on from there."""
    ways = [Exploit(f"x{k}", ("start",), "c", 0.7, 0.02, 0.03) for k in range(copies)]
    graph = AttackGraph(
        conditions=(Condition("start", initial=True), Condition("c"), Condition("d")),
        exploits=(*ways, Exploit("y", ("c",), "d", 0.6, 0.01, 0.02)),
        intents=(Intent("t0", 0.5, {"c": 0.5}), Intent("t1", 0.5, {"d": 0.6})),
        discount=0.9,
    )
    return replace(graph, **changes)  # type: ignore[arg-type]


def everything(graph: AttackGraph, *, by_number: bool) -> Relaxed:
    net = Net(graph)
    goals = tuple(net.conditions[c] for c in net.goals())
    part = Part(goals, tuple(net.guards), width=8, defender_budget=graph.defender_budget, by_number=by_number)
    return Relaxed(net, part, terms(net, [part])[0])


@pytest.mark.parametrize(("seen", "budget"), [("actions", None), ("outcomes", 2)])
def test_by_number_nothing_is_lost(seen: str, budget: int | None) -> None:
    """What is alike can be guarded alike: the game is the same, with fewer actions."""
    graph = doubled(observes=seen, defender_budget=budget, attacker_budget=budget)
    apart, together = everything(graph, by_number=False), everything(graph, by_number=True)
    assert together.size(together.start) == ((3, 3) if budget else (4, 4))
    assert apart.size(apart.start) == ((7, 7) if budget else (8, 8))
    one, other = (solved(relaxed.game(), EXACT) for relaxed in (apart, together))
    assert max(one.lower, other.lower) <= min(one.upper, other.upper) + 1e-6
    assert other.upper == pytest.approx(one.upper, abs=5e-3)


def loud(graph: AttackGraph, alerts: Sequence[Alert]) -> AttackGraph:
    """Return a graph whose exploits ring these alerts, in turn, where attempts are not seen."""
    exploits = (replace(e, alert=alerts[k % len(alerts)]) for k, e in enumerate(graph.exploits))
    return replace(graph, exploits=tuple(exploits), observes="outcomes")


def test_what_rings_other_alerts_is_told_apart_where_they_are_heard() -> None:
    two = Alert(0.9, 0.1), Alert(0.8, 0.1)
    for alerts, seen, most in ((two, "outcomes", 2), (two, "actions", 3), (two[:1], "outcomes", 3)):
        relaxed = everything(replace(loud(doubled(), alerts), observes=seen), by_number=True)
        assert max(option.most for option in relaxed.choices(relaxed.start).options) == most


def test_how_many_ring_is_all_that_is_lost_of_alerts() -> None:
    """At every pair of numbers the law is that of the game apart, alerts counted, averaged over what is drawn."""
    alert = Alert(0.7, 0.05)
    graph = loud(doubled(), [alert])
    relaxed = everything(graph, by_number=True)
    stage, whole = relaxed.stage(relaxed.start), everything(graph, by_number=False).stage(relaxed.start)
    law, table = (made.law.toarray().reshape(len(made.attacker), len(made.defender), -1) for made in (stage, whole))
    for a, d in product(range(4), range(4)):
        counted = Counter[tuple[object, int]]()
        blocks = [d2 for d2, name in enumerate(whole.defender) if len(members(name)) == d]
        tried = next(a2 for a2, name in enumerate(whole.attacker) if len(members(name)) == a)
        for o, outcome in enumerate(whole.outcomes):
            counted[outcome.state, len(members(str(outcome.signal)))] += table[tried, blocks, o].mean()
        for o, outcome in enumerate(stage.outcomes):
            assert law[a, d, o] == pytest.approx(counted.pop((outcome.state, len(members(str(outcome.signal))))))
        assert sum(counted.values()) == pytest.approx(0.0)


def test_alerts_are_of_use_by_number() -> None:
    ways = doubled(intents=(Intent("t0", 0.3, {"c": 0.5}), Intent("t1", 0.3, {"d": 0.6}), Intent("t2", 0.4, {})))
    ways = replace(ways, exploits=tuple(replace(e, block_cost=0.01) for e in ways.exploits), observes="outcomes")
    rough = ncirl.Certified(gap=1e-2, time_limit=20)
    heard = solved(everything(loud(ways, [Alert(0.95, 0.05)]), by_number=True).game(), rough)
    silent = solved(everything(ways, by_number=True).game(), rough)
    assert heard.upper < silent.lower


def with_copies(graph: AttackGraph, rng: np.random.Generator) -> AttackGraph:
    """Return a graph with some exploits twice or three times, now and then after something else."""
    ways = []
    for e in graph.exploits:
        for k in range(int(rng.choice([1, 2, 2, 3]))):
            after = (*e.premises, *(rng.choice([c.id for c in graph.conditions if c.id != e.result], 1)))
            premises = e.premises if rng.random() < 0.8 else tuple(dict.fromkeys(after))
            ways.append(replace(e, id=f"{e.id}.{k}" if k else e.id, premises=premises))
    return replace(graph, exploits=tuple(ways))


def check(seeds: Iterable[int], *, alerts: bool = False) -> Counter[str]:
    """Check random graphs, parts and budgets, with alerts all alike or not; count what was met."""
    met = Counter[str]()
    for seed in seeds:
        rng = np.random.default_rng(seed)
        graph = with_copies(random_graph(rng), rng)
        graph = with_controls(graph, rng) if seed % 5 == 0 else graph
        graph = loud(graph, [Alert(0.9, float(rng.choice([0.0, 0.3])))]) if alerts else graph
        try:
            sizes = [len(graph.game().stage(state).attacker) for state in graph.game().explore(40)]
        except SizeError:
            continue
        net = Net(graph)
        if max(sizes, default=0) > 64 or not net.goals():
            continue
        parts = random_parts(net, rng)
        if rng.random() < 0.5:  # all there is, in one part
            goals = tuple(net.conditions[c] for c in (*net.goals(), *net.burdens()))
            parts = [Part(goals, tuple(net.guards), parts[0].slow, defender_budget=graph.defender_budget)]
        parts = [replace(part, by_number=True, width=int(rng.integers(2, 7))) for part in parts]
        instance = Instance(graph, proved(graph, parts, []))
        assert verify_guarded(instance.proof).holds, seed
        try:
            promises_hold(instance)
            is_inside(instance)
        except Exception as error:
            raise AssertionError(f"seed {seed}") from error
        games = [Relaxed(net, part, its) for part, its in zip(parts, terms(net, parts), strict=True)]
        here = [game.choices(state) for game in games for state in game.game().explore(200)]
        counted = any(game.counted_alerts(each) for game in games for each in here)
        kinds = {"by number" if any(option.most > 1 for each in here for option in each.options) else "apart"}
        kinds |= {str(graph.observes), "controls" if graph.controls is not None else "exploits"}
        kinds |= {"several" if len(parts) > 1 else "one", "budget" if graph.defender_budget is not None else "none"}
        met.update(kinds | {"met"} | ({"alerts by number"} if counted else set()))
    return met


def test_the_defence_keeps_its_promise() -> None:
    met = check(range(19))
    assert met["by number"] >= 3, met
    assert len(met) == 11, met


def test_the_defence_that_counts_alerts_keeps_its_promise() -> None:
    met = check(range(611, 620), alerts=True)
    assert met["alerts by number"] >= 3, met


@pytest.mark.parametrize("idle", [0.0, 0.2])
def test_two_parts_that_count_alerts_keep_their_promise(idle: float) -> None:
    """What the part before holds, or the other part stops, rings as if nobody had attempted it."""
    more = [replace(e, id=f"{e.id}'", result="d") for e in doubled().exploits[:2]]
    graph = loud(doubled(2, exploits=(*doubled(2).exploits, *more)), [Alert(0.9, idle)])
    parts = [Part(("c",), ("x0", "x1"), by_number=True), Part(("d",), ("x0'", "x1'", "y"), by_number=True)]
    instance = Instance(graph, proved(graph, parts, []))
    assert verify_guarded(instance.proof).holds
    promises_hold(instance)
    is_inside(instance)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("batch", range(4))
def test_the_defence_that_counts_alerts_keeps_its_promise_on_many_graphs(batch: int) -> None:
    met = check(range(620 + 50 * batch, 670 + 50 * batch), alerts=True)
    assert met["alerts by number"] >= 6, met


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("batch", range(8))
def test_the_defence_keeps_its_promise_on_many_graphs(batch: int) -> None:
    assert check(range(19 + 60 * batch, 79 + 60 * batch))["by number"] >= 5


def test_lies_are_refused_and_parts_are_written(tmp_path: Path) -> None:
    graph = doubled()
    solution = ncirl.solve(graph, ncirl.Guarded(relative_gap=0.2))
    assert all(proof.part.by_number for proof in solution.proof.parts)
    solution.save(tmp_path / "alike.ncirl")
    read = ncirl.load_solution(tmp_path / "alike.ncirl")
    assert isinstance(read, ncirl.GuardedSolution)
    assert [proof.part for proof in read.proof.parts] == [proof.part for proof in solution.proof.parts]
    assert read.verify().holds
    proof = solution.proof
    assert not verify_guarded(replace(proof, upper=proof.upper - 1e-3)).holds
    other = tuple(replace(each, part=replace(each.part, by_number=False)) for each in proof.parts)
    assert not verify_guarded(replace(proof, parts=other)).holds  # it has other actions


def test_which_guards_are_set_is_drawn() -> None:
    ways = tuple(replace(e, block_cost=0.01) for e in doubled().exploits)
    relaxed = everything(doubled(exploits=ways), by_number=True)
    part = PartDefender(relaxed, solved(relaxed.game(), EXACT).defender_playbook)
    ((place, _),) = part.begin()
    law = part.blocks(place, relaxed.net.start)
    assert sum(chance for _, chance in law) == pytest.approx(1.0)
    alone = [sum(chance for ids, chance in law if f"x{k}" in ids) for k in range(3)]
    assert alone == pytest.approx([alone[0]] * 3)
    assert 0 < alone[0] < 1
