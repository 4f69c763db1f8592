"""Exploits that are alike by number, and menus: closed forms, every set listed, random graphs listed whole, lies."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest

import ncirl
from guarded_checks import bounds_are_secured
from guarded_instances import Instance, proved, random_graph, solved, with_controls
from ncirl.attack_graphs.graph import AttackGraph, Condition, Control, Exploit, Intent
from ncirl.attack_graphs.guarded import hideout
from ncirl.attack_graphs.guarded.alike import Kind, amounts, count_amounts, kinds
from ncirl.attack_graphs.guarded.apart import components
from ncirl.attack_graphs.guarded.attacker import attackers
from ncirl.attack_graphs.guarded.bundles import Bundled, Group, group_faults
from ncirl.attack_graphs.guarded.check import verify_guarded
from ncirl.attack_graphs.guarded.gather import Pool
from ncirl.attack_graphs.guarded.hidden import Hidden
from ncirl.attack_graphs.guarded.hideout import Hideout
from ncirl.attack_graphs.guarded.hiding import HiddenAttacker
from ncirl.attack_graphs.guarded.net import Net
from ncirl.attack_graphs.guarded.parts import Part
from ncirl.attack_graphs.guarded.seen import Seen
from ncirl.attack_graphs.guarded.teams import Team
from ncirl.errors import SizeError
from ncirl.limits import Limits

CLOSE = 1e-4
EXACT = ncirl.Certified(gap=1e-6, time_limit=20)


def doubled(*rewards: dict[str, float], copies: int = 2, **changes: object) -> AttackGraph:
    """Return a graph with so many exploits to each of two conditions, and one that needs both."""
    ways = [Exploit(f"x{c}{k}", ("start",), f"c{c}", 0.7, 0.02, 0.03) for c in range(2) for k in range(copies)]
    graph = AttackGraph(
        conditions=(Condition("start", initial=True), *(Condition(name) for name in ("c0", "c1", "d"))),
        exploits=(*ways, Exploit("y", ("c0", "c1"), "d", 0.6, 0.01, 0.02)),
        intents=tuple(Intent(f"t{k}", 1 / len(rewards), wanted) for k, wanted in enumerate(rewards)),
        discount=0.9,
    )
    return replace(graph, **changes)  # type: ignore[arg-type]


WANTED = {"c0": 0.5}, {"c1": 0.3, "d": 0.2}, {"d": 0.6}


def names(graph: AttackGraph) -> tuple[str, ...]:
    return tuple(intent.id for intent in graph.intents)


def apart(graph: AttackGraph) -> Team:
    every = names(graph)
    return Team(every, (Team(every[:1]), Team(every[1:])), shows=0.8)


def in_teams(graph: AttackGraph, team: Team, menus: tuple[()] | None = ()) -> list[Group]:
    net = Net(graph)
    parts = components(net, range(len(net.exploits)))
    return [Group(team.intents, tuple((net.exploits[k].id,) for k in part), hiding=team, menus=menus) for part in parts]


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_only_how_many_are_blocked_matters(n: int) -> None:
    """Against every set of b that are blocked, every set of a that are attempted being equally likely."""
    some, failed = Kind(tuple(Exploit(f"x{k}", (), "c", 0.7, 0.0, 0.1) for k in range(n)), 0).outcomes()
    assert some + failed == pytest.approx(np.ones((n + 1, n + 1)))
    for a, b in product(range(n + 1), repeat=2):
        for blocked in combinations(range(n), b):
            chances = [0.3 ** len(set(tried) - set(blocked)) for tried in combinations(range(n), a)]
            assert failed[a, b] == pytest.approx(np.mean(chances), abs=1e-12)


@pytest.mark.parametrize("budget", [None, 0, 2, 9])
def test_amounts_are_listed_and_counted(budget: int | None) -> None:
    for sizes in ([], [1, 1, 1], [2, 1], [3, 3, 2]):
        found = amounts(sizes, budget)
        assert len({tuple(row) for row in found.tolist()}) == len(found) == count_amounts(sizes, budget)
        assert (found.sum(axis=1) <= (sum(sizes) if budget is None else budget)).all()


def test_what_is_alike_has_the_same_numbers_and_a_control_of_its_own() -> None:
    ways = [Exploit(f"x{k}", (), "c", 0.7, 0.02, 0.1) for k in range(6)]
    usable = [(e, 1) for e in (*ways[:4], replace(ways[4], success=0.6))] + [(ways[5], 2)]
    own = [(Control(e.id, (e.id,), e.block_cost), frozenset({e.id})) for e, _ in usable]
    found, watches = kinds(usable, own, by_number=True)
    assert [[e.id for e in kind.exploits] for kind in found] == [["x0", "x1", "x2", "x3"], ["x4"], ["x5"]]
    assert [watch.controls for watch in watches] == [("x0", "x1", "x2", "x3"), ("x4",), ("x5",)]
    assert [kind.size for kind in kinds(usable, own, by_number=False)[0]] == [1] * 6
    both = (Control("both", ("x0", "x1"), 0.1), frozenset({"x0", "x1"}))
    found, watches = kinds(usable, [*own, both], by_number=True)
    assert [[e.id for e in kind.exploits] for kind in found][:3] == [["x0"], ["x1"], ["x2", "x3"]]
    assert watches[-1].stops == (0, 1)


@pytest.mark.parametrize("team", [lambda graph: Team(names(graph)), apart])
def test_by_number_nothing_is_lost(team) -> None:  # type: ignore[no-untyped-def]
    """What is alike can be attempted alike, and few actions are as good as all of them."""
    graph = doubled(*WANTED)
    listed = solved(Bundled(Net(graph), in_teams(graph, team(graph), None)[0]).game(), EXACT)
    search = Hideout(Net(graph), Pool(Net(graph)), range(3))
    search.improved(Limits(None), enough=1e-9)
    search.team = team(graph)
    value = search._total(search.team)
    assert value >= listed.lower - CLOSE  # the plans of each mode are free, where listing all of them would be too much
    (group,) = search.groups()
    found = solved(Bundled(Net(graph), group).game(), EXACT)
    assert found.lower == pytest.approx(value, abs=CLOSE)
    if not search.team.teams:
        assert value == pytest.approx(listed.lower, abs=CLOSE)


def random_menus(group: Group, net: Net, rng: np.random.Generator) -> Group:
    """Draw what is on offer at some states, and things there that do not fit."""
    rules = Bundled(net, group).rules
    assert isinstance(rules, Hidden)
    found, level = {}, [rules.start]
    while level:
        state = level.pop()
        here = rules.here(state)
        if state not in found and here.kinds:
            plans = amounts(here.sizes).tolist()
            rows = [
                tuple(tuple(plans[rng.integers(len(plans))]) for _ in here.modes) for _ in range(rng.integers(1, 5))
            ]
            found[state] = tuple(dict.fromkeys(rows)) if rng.random() < 0.8 else (((9,),),)
            level += rules.successors(state)
    return replace(group, menus=tuple(found.items()))


def with_copies(graph: AttackGraph, rng: np.random.Generator) -> AttackGraph:
    """Return a graph with some exploits twice or three times."""
    ways = [
        replace(e, id=f"{e.id}.{k}" if k else e.id, alert=None)
        for e in graph.exploits
        for k in range(int(rng.choice([1, 1, 2, 3])))
    ]
    return replace(graph, exploits=tuple(ways), attacker_budget=None)


def check(seeds: Iterable[int]) -> Counter[str]:
    """Check random graphs and menus; count what was met."""
    met = Counter[str]()
    for seed in seeds:
        rng = np.random.default_rng(seed)
        graph = with_copies(random_graph(rng), rng)
        graph = with_controls(graph, rng) if seed % 4 == 0 else graph
        try:
            sizes = [len(graph.game().stage(state).attacker) for state in graph.game().explore(40)]
        except SizeError:
            continue
        every = names(graph)
        split = Team(every, tuple(Team((name,)) for name in every), float(rng.choice([0.6, 1.0])))
        team = split if len(every) > 1 and rng.random() < 0.6 else Team(every)
        groups, net = in_teams(graph, team), Net(graph)
        if max(sizes, default=0) > 64 or not groups or group_faults(net, groups):
            continue
        groups = [random_menus(group, net, rng) if rng.random() < 0.6 else group for group in groups]
        goals = tuple(net.conditions[c] for c in (*net.goals(), *net.burdens()))
        part = Part(goals, defender_budget=graph.defender_budget)
        instance = Instance(graph, proved(graph, [part], groups))
        assert verify_guarded(instance.proof).holds, seed
        try:
            bounds_are_secured(instance)
        except Exception as error:
            raise AssertionError(f"seed {seed}") from error
        rules = [Bundled(net, group).rules for group in groups]
        sizes = [size for its in rules if isinstance(its, Hidden) for size in its.here(its.start).sizes]
        met.update({"met", str(graph.observes), "alike" if max(sizes, default=1) > 1 else "not alike"})
        met.update({"shown" if team.teams else "nothing shown", "horizon" if graph.horizon else "no horizon"})
        met.update({"menus"} if any(group.menus for group in groups) else {"no menus"})
    return met


def test_the_value_is_above_what_a_menu_secures() -> None:
    met = check(range(14))
    assert met["alike"] >= 3
    assert len(met) == 11, met


@pytest.mark.slow
@pytest.mark.parametrize("batch", range(6))
def test_the_value_is_above_what_a_menu_secures_on_many_graphs(batch: int) -> None:
    assert check(range(14 + 40 * batch, 54 + 40 * batch))["alike"] >= 5


@pytest.fixture(scope="module")
def instance() -> Instance:
    graph = doubled(*WANTED)
    search = Hideout(Net(graph), Pool(Net(graph)), range(3))
    search.improved(Limits(None))
    return Instance(graph, proved(graph, [Part(("c0", "c1", "d"))], search.groups()))


def test_what_the_search_finds_is_secured_and_lies_are_refused(instance: Instance) -> None:
    proof = instance.proof
    assert proof.groups[0].group.menus
    assert verify_guarded(proof).holds
    bounds_are_secured(instance)
    assert not verify_guarded(replace(proof, lower=proof.lower + 1e-3)).holds
    first = proof.groups[0]
    (state, menu), *others = first.group.menus
    lies = (
        ((state, tuple(tuple(tuple(n + 1 for n in plan) for plan in action) for action in menu)), *others),  # too many
        ((state, menu[:1]), *others),  # nothing, where the playbook has a choice
        ((state, ((),)), *others),
        (),
    )
    for menus in lies:
        told = replace(first, group=replace(first.group, menus=menus))
        found = verify_guarded(replace(proof, groups=(told, *proof.groups[1:])))
        assert not found.holds or found.lower < proof.lower - 1e-4


def test_menus_that_were_let_go_of_are_found_again(instance: Instance, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hideout, "MOST_KNOWN", 0)
    net = Net(instance.graph)
    search = Hideout(net, Pool(net), range(3))
    search.improved(Limits(None))
    assert [group.menus for group in search.groups()] == [proof.group.menus for proof in instance.proof.groups]


def test_who_draws_does_what_the_strategy_says(instance: Instance) -> None:
    net = Net(instance.graph)
    found = attackers((Bundled(net, proof.group), proof.attacker_playbook) for proof in instance.proof.groups)
    (group,) = found
    assert isinstance(group, HiddenAttacker)
    rng, n = np.random.default_rng(1), 3000
    place = group.start(rng, 0)
    met = Counter(group.act(rng, place, 0, 1, frozenset()) for _ in range(n))
    law = group.policy(place, 1)
    assert sum(chances[0] for _, chances in law) == pytest.approx(1.0)
    for ids, chances in law:
        assert met[ids] / n == pytest.approx(chances[0], abs=4 / np.sqrt(n))
    either = [sum(chances[0] for ids, chances in law if name in ids) for name in ("x00", "x01")]
    assert either[0] == pytest.approx(either[1])
    tried = max(law, key=lambda each: each[1][0])[0]
    assert group.after(place, Seen(1, 1, tried, frozenset({"x00"}), frozenset()))


def test_menus_are_written_and_read(instance: Instance, tmp_path: Path) -> None:
    solution = replace(ncirl.solve(instance.graph, ncirl.Guarded(relative_gap=1.0)), proof=instance.proof)
    solution.save(tmp_path / "menus.ncirl")
    read = ncirl.load_solution(tmp_path / "menus.ncirl")
    assert isinstance(read, ncirl.GuardedSolution)
    assert [proof.group for proof in read.proof.groups] == [proof.group for proof in instance.proof.groups]
    assert read.verify().holds
