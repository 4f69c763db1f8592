"""Whole graphs told and drawn: what matters stays, what is folded is counted, what is said was recomputed."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from guarded_instances import random_graph
from ncirl.attack_graphs.graph import AttackGraph, Condition, Exploit, Intent
from ncirl.attack_graphs.guarded.guarded import Guarded
from ncirl.attack_graphs.guarded.net import Net, bits
from ncirl.attack_graphs.guarded.solution import GuardedSolution
from ncirl.errors import LimitError
from ncirl.games.office import office_graph
from ncirl.limits import Limits
from ncirl.numbers import at_most
from ncirl.reports import guarded_overview_page, guarded_report_page
from ncirl.reports.pictures import matters_figure, svg_text
from ncirl.reports.pictures.folding import FAR, folded, guard_depths
from ncirl.reports.what_matters import Matters, Way, matters_of, matters_of_net

NASTY = "<script>alert(1)</script>"
HOSTS = 400


@cache
def office() -> GuardedSolution:
    graph = replace(office_graph(), name=NASTY)
    return Guarded(relative_gap=0.4, time_limit=30).run(graph)


def crowd() -> AttackGraph:
    """Hundreds of hosts behind one door, and a vault behind another that any of them opens."""
    hosts = [f"h{k}" for k in range(HOSTS)]
    exploits = [Exploit("door", ("out",), "hall", 0.5, 0.0, 0.1)]
    exploits += [Exploit(f"to {name}", ("hall",), name, 0.9) for name in hosts]
    exploits += [Exploit(f"from {name}", (name,), "stairs", 0.9) for name in hosts]
    exploits += [Exploit(f"back {name}", (name,), "hall", 0.9) for name in hosts[:9]]
    exploits += [Exploit("vault", ("stairs",), "gold", 0.5, 0.0, 0.1), Exploit("never", ("nowhere",), "gold", 0.5)]
    conditions = [
        Condition("out", initial=True),
        *(Condition(c) for c in ("hall", "stairs", "gold", "nowhere", *hosts)),
    ]
    return AttackGraph(tuple(conditions), tuple(exploits), (Intent("thief", 1.0, {"gold": 1.0}),), discount=0.9)


def crowded(**guards: float) -> Matters:
    return replace(matters_of_net(Net(crowd())), guards=guards)


def test_what_does_not_matter_is_folded_by_the_guards_before_it() -> None:
    found = folded(crowded(door=0.3, vault=0.0))
    assert {found.label(zone) for zone in found.conditions} == {f"{HOSTS - 1} conditions, behind 1 guard"}
    zone = next(iter(found.conditions))
    links = {(e.premises, e.result): found.exploits[e.id] for e in found.graph.exploits if e.id in found.exploits}
    assert links == {(("hall",), zone): HOSTS - 1, ((zone,), "stairs"): HOSTS - 1, ((zone,), "hall"): 9}
    drawn = [e.id for e in found.graph.exploits if e.id not in found.exploits]
    assert {"door", "vault"} < set(drawn)
    assert "never" not in drawn
    assert len(drawn) == 4  # and the way in between
    assert found.left_out == 0


def test_the_start_stays_where_nothing_is_watched_and_no_way_is_known() -> None:
    found = folded(Matters(Net(crowd()), {}, ()), 5)
    assert {c.id for c in found.graph.conditions if c.initial and c.id not in found.conditions} == {"out"}


@pytest.mark.parametrize("seed", range(12))
def test_everything_that_can_be_reached_is_drawn_or_counted_once(seed: int) -> None:
    rng = np.random.default_rng(seed)
    net = Net(random_graph(rng))
    names = [e.id for e in net.exploits]
    guards = {name: 0.0 for name in names if rng.random() < 0.3}
    found = folded(Matters(net, guards, ()))
    kept = {c.id for c in found.graph.conditions} - found.conditions.keys()
    reached = {net.conditions[c] for c in bits(net.met)}
    assert len(kept & reached) + sum(found.conditions.values()) == len(reached)
    assert {e.id for e in found.graph.exploits} - found.exploits.keys() <= set(names)


@pytest.mark.parametrize("seed", range(12))
def test_depths_count_the_guards_that_must_be_passed(seed: int) -> None:
    rng = np.random.default_rng(100 + seed)
    net = Net(random_graph(rng))
    watched = {k for k in range(len(net.exploits)) if rng.random() < 0.4}
    depth = guard_depths(net, watched)
    again = [0 if net.start >> c & 1 else FAR for c in range(len(net.conditions))]
    for _ in net.conditions:  # relaxed until nothing changes
        for k in range(len(net.exploits)):
            before = max((again[c] for c in bits(net.needs[k])), default=0)
            again[net.result[k]] = (
                min(again[net.result[k]], before + (k in watched)) if before < FAR else again[net.result[k]]
            )
    assert depth == again


def test_ways_are_in_an_order_in_which_they_can_be_gone() -> None:
    for matters in (matters_of(office()), matters_of_net(Net(office_graph()))):
        assert matters.ways
        for way in matters.ways:
            held = matters.net.start
            for name in way.exploits:
                k = matters.net.place[name]
                assert not matters.net.needs[k] & ~held
                held |= 1 << matters.net.result[k]
            assert held >> matters.net.number[way.goal] & 1


def test_the_guards_are_those_of_the_policy() -> None:
    matters = matters_of(office())
    assert matters.guards == office().guards
    assert list(matters.guards.values()) == sorted(matters.guards.values(), reverse=True)


def test_the_picture_says_how_much_is_folded() -> None:
    svg = svg_text(matters_figure(crowded(door=0.3, vault=0.0)))
    for words in (f"{HOSTS - 1}", "blocked 30%", "watched", "exploits"):
        assert words in svg
    plain = matters_figure(Matters(Net(crowd()), {}, (Way("thief", "gold", ("door",)),)))
    assert "not watched" in svg_text(plain).replace("\n", " ")


def test_the_report_tells_what_was_recomputed_and_keeps_names_text() -> None:
    solution = office()
    written, found = guarded_report_page(solution, quick=True, time_limit=600)
    assert found.holds
    assert "<script>" not in written
    most = at_most(found.upper, short=True)
    for words in ("What to watch", "The part that matters", "What is conceded", most, "(--quick)"):
        assert words in written
    assert all(f"<b>{name}</b>" in written for name in solution.guards)
    assert "What to watch" in guarded_overview_page(solution)


def test_attackers_are_tried_in_the_time_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ncirl.reports.guarded_report.EPISODES", 3)
    written, _ = guarded_report_page(office(), time_limit=600)
    assert "the best answer" in written
    assert "plays its proved strategy" in written
    clock = iter(range(100_000))
    late = Limits(400.0, clock=lambda: float(next(clock)))
    assert "was left out" in guarded_report_page(office(), limits=late)[0]
    with pytest.raises(LimitError, match=r"verifying|tolls"):
        guarded_report_page(office(), limits=Limits(0.0))


def test_a_false_policy_is_not_reported_on() -> None:
    solution = office()
    false = replace(solution, proof=replace(solution.proof, upper=solution.lower / 2))
    written, found = guarded_report_page(false, quick=True)
    assert not found.holds
    assert "Do not rely on this policy" in written
    assert "What to watch" not in written
