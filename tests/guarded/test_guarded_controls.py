"""Graphs with controls: the value is inside, promises hold and bounds are secured, on small graphs listed whole."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import ncirl
from control_graphs import small_shop
from guarded_checks import check_seeds, promises_hold
from guarded_instances import Instance, proved, random_graph, with_controls
from ncirl.attack_graphs.graph import AttackGraph, Condition, Control, Exploit, Intent
from ncirl.attack_graphs.guarded.answers import narrowed
from ncirl.attack_graphs.guarded.bundles import Group
from ncirl.attack_graphs.guarded.check import verify_guarded
from ncirl.attack_graphs.guarded.parts import Part
from ncirl.attack_graphs.guarded.plays import play
from ncirl.attack_graphs.guarded.proof import GuardedProof
from ncirl.attack_graphs.guarded.solution import GuardedSolution
from ncirl.defence.guarded_session import GuardedSession

FEW = 10  # in a batch


def kinds(graph: AttackGraph) -> set[str]:
    """Say which of what controls can be a graph has."""
    assert graph.controls is not None
    over = Counter(name for control in graph.controls for name in control.blocks)
    found = {
        "momentary": any(not control.lasts for control in graph.controls),
        "lasting": any(control.lasts for control in graph.controls),
        "shared": any(len(control.blocks) > 1 for control in graph.controls),
        "several over one": max(over.values(), default=0) > 1,
        "under none": any(e.id not in over for e in graph.exploits),
        "lasting, budgeted": graph.defender_budget is not None and any(control.lasts for control in graph.controls),
    }
    return {name for name, has in found.items() if has}


def test_random_controls_are_of_every_kind() -> None:
    met: Counter[str] = Counter()
    for seed in range(200):
        rng = np.random.default_rng(seed)
        met.update(kinds(with_controls(random_graph(rng), rng)))
    assert len(met) == 6
    assert min(met.values()) >= 20, met


def test_small_graphs() -> None:
    check_seeds(range(FEW), controlled=True)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("first", range(FEW, 1_010, FEW))
def test_many_small_graphs(first: int) -> None:
    check_seeds(range(first, first + FEW), controlled=True)


@pytest.mark.parametrize("horizon", [None, 4])
def test_what_the_game_forgets_is_applied_when_it_is_needed(horizon: int | None) -> None:
    """The game thinks `inside` is enabled, patches, and is over; the attacker comes there only later."""
    graph = AttackGraph(
        conditions=(Condition("out", True), Condition("inside"), Condition("data")),
        exploits=(Exploit("enter", ("out",), "inside", 0.5), Exploit("dump", ("inside",), "data", 1.0)),
        intents=(Intent("thief", 1.0, {"data": 1.0}),),
        controls=(Control("patch", ("dump",), 0.1, "lasting"),),
        discount=0.9,
        horizon=horizon,
    )
    proof = proved(graph, [Part(("data",), ("patch",))], [])
    assert proof.per_intent[0] < 0.1
    promises_hold(Instance(graph, proof))


@pytest.fixture(scope="module")
def proof() -> GuardedProof:
    parts = [Part(("mail",), ("mfa",)), Part(("database",), ("patch", "cut off"))]
    groups = [Group(("spy",), (("phish",),)), Group(("thief",), (("sqli",), ("phish",), ("reuse",), ("dump",)))]
    return proved(small_shop(), parts, groups)


def with_control(proof: GuardedProof, name: str, **changes: object) -> GuardedProof:
    controls = tuple(replace(c, **changes) if c.id == name else c for c in proof.graph.defences)  # type: ignore[arg-type]
    return replace(proof, graph=replace(proof.graph, controls=controls))


def with_guards(proof: GuardedProof, *guards: str) -> GuardedProof:
    first = replace(proof.parts[0], part=replace(proof.parts[0].part, guards=guards))
    return replace(proof, parts=(first, *proof.parts[1:]))


@pytest.mark.parametrize(
    ("lie", "fault"),
    [
        (lambda p: with_control(p, "mfa", cost=0.1), "group 1"),
        (lambda p: with_control(p, "patch", cost=3.0), "group 2"),
        (lambda p: with_control(p, "patch", kind="momentary"), "part 2"),
        (lambda p: with_control(p, "cut off", kind="lasting"), "group 2"),
        (lambda p: with_control(p, "cut off", blocks=("sqli",)), "part 2"),
        (lambda p: with_control(p, "patch", blocks=("sqli", "phish")), "group 1"),
        (lambda p: replace(p, graph=replace(p.graph, controls=None)), "unknown guard"),
        (lambda p: replace(p, graph=replace(p.graph, controls=p.graph.defences[1:])), "unknown guard"),
        (lambda p: with_guards(p, "phish"), "unknown guard 'phish'"),
        (lambda p: with_guards(p, "mfa", "patch"), "guarded twice"),
    ],
)
def test_a_lie_about_controls_is_named(
    proof: GuardedProof, lie: Callable[[GuardedProof], GuardedProof], fault: str
) -> None:
    assert verify_guarded(proof).holds
    found = verify_guarded(lie(proof))
    assert not found.holds
    assert fault in " | ".join(found.faults)


@pytest.fixture(scope="module")
def solution() -> GuardedSolution:
    return ncirl.Guarded(relative_gap=0.05, time_limit=10).run(small_shop())


def test_a_small_graph_is_bounded_as_if_listed(solution: GuardedSolution) -> None:
    exact = ncirl.solve(small_shop().game(), ncirl.Certified(gap=1e-3))
    assert solution.relative_gap <= 0.05
    assert solution.lower <= exact.upper + 1e-9
    assert solution.upper >= exact.lower - 1e-9


def test_nobody_gets_more_than_is_promised(solution: GuardedSolution) -> None:
    met = narrowed(solution)
    best = ncirl.best_response_to_defender(met.game, met.defender, tolerance=1e-6)
    assert met.is_whole
    assert (best.per_intent <= solution.per_intent + best.error + 1e-6).all()
    for attacker in ("lifted", "informed", "random"):
        plays = play(solution, attacker, episodes=15, rng=1, confidence=0.9999)
        assert (plays.intervals[:, 0] <= solution.per_intent).all()


def test_a_file_keeps_controls(solution: GuardedSolution, tmp_path: Path) -> None:
    solution.save(tmp_path / "shop.ncirl")
    found = ncirl.load_solution(tmp_path / "shop.ncirl")
    assert found.graph.controls == small_shop().controls
    assert found.verify().holds


def test_a_session_applies_controls_and_remembers_what_lasts(solution: GuardedSolution, tmp_path: Path) -> None:
    session = GuardedSession(solution, rng=1)
    assert session.has_controls
    assert set(session.advice().blocked) <= {"patch", "mfa", '"cut off"', "cut off"}
    session.observe(attacker=["phish"], defender=["patch"], new=["mail"])
    assert session.state == "mail | in place: patch"
    assert session.advice().in_place == ("patch",)
    assert "sqli" not in session.usable  # it is stopped for good
    assert "patch" not in session.offered
    with pytest.raises(ncirl.InputError, match="'patch' is in place already"):
        session.observe(attacker="nothing", defender=["patch"], new=[])
    session.observe(attacker=["reuse"], defender=["mfa"], new=[])
    assert session.state == "mail | in place: patch + mfa"
    session.save(tmp_path / "kept.json")
    again = GuardedSession.load(tmp_path / "kept.json", solution)
    assert (again.state, again.drawn, again.placed) == (session.state, session.drawn, session.placed)
    session.undo()
    assert session.advice().in_place == ("patch",)


def test_solving_again_begins_with_what_is_in_place(solution: GuardedSolution) -> None:
    session = GuardedSession(solution, rng=1)
    session.observe(attacker=["phish"], defender=["mfa"], new=[])
    found = session.resolve(2.0)
    if found.solution is not None:
        assert (found.found <= found.kept).all()
        assert "mfa" not in {control.id for control in found.solution.graph.defences}
    session.observe(attacker="nothing", new=[])
    assert "mfa" in session.advice().in_place


def test_what_nothing_stops_is_conceded() -> None:
    graph = replace(small_shop(), controls=(Control("audit", ("phish",), 0.1),))
    found = ncirl.Guarded(relative_gap=0.2, time_limit=5).run(graph)
    assert set(found.guards) <= {"audit"}
    assert found.verify().holds
    none = ncirl.Guarded(relative_gap=0.2, time_limit=5).run(replace(graph, controls=()))
    assert none.guards == {}
    assert none.lower >= found.lower - 1e-9
