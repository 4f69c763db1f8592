"""Steps that take no attempt: folded into the start, into what needs them, or into what they follow from."""

from __future__ import annotations

import itertools
import random

import pytest

from importers.ways import way, ways
from ncirl.importers import Draft, ImportOptions


def network() -> Draft:
    """The internet and a web server reach a data base, each through a port of its own."""
    draft = Draft("sketch")
    for key in ("internet", "web", "web-reached", "db-reached", "db"):
        draft.condition(key, initial=key == "internet")
    draft.control("close 80", "close port 80")
    draft.control("close 5432", "close port 5432")
    draft.exploit("reach web", needs=["internet"], gives="web-reached", immediate=True, controls=["close 80"])
    draft.exploit("hack web", needs=["web-reached"], gives="web", label="exploit of httpd on web", controls=["patch"])
    draft.exploit("internet to db", needs=["internet"], gives="db-reached", immediate=True, label="from internet")
    draft.exploit(
        "web to db", needs=["web"], gives="db-reached", immediate=True, label="from web", controls=["close 5432"]
    )
    draft.exploit("hack db", needs=["db-reached"], gives="db", label="exploit of sql on db", references=["CVE-2020-1"])
    return draft


def test_what_follows_from_the_start_holds_at_the_start() -> None:
    imported = network().finish(ImportOptions(goals=("db",)))
    assert way("db-reached", to="db") in ways(imported.graph)
    assert set(imported.report.initial) == {"internet", "db-reached"}


def test_a_step_is_tried_from_each_place_that_its_need_follows_from() -> None:
    draft = network()
    draft.exploits[2] = draft.exploits[3]  # the internet does not reach the data base
    draft.condition("vpn", initial=True)
    draft.exploit("vpn to db", needs=["vpn"], gives="db-reached", immediate=True, label="from vpn", controls=["vpn"])
    imported = draft.finish(ImportOptions(goals=("db",)))
    assert "steps of the source are there several times, once for each way to reach them: hack db" in str(
        imported.report
    )
    graph = imported.graph
    assert ways(graph) == {way("internet", to="web"), way("web", to="db"), way("vpn", to="db")}
    labels = {e.premises[0]: e.label for e in graph.exploits}
    assert (labels["web"], labels["vpn"]) == ("exploit of sql on db from web", "exploit of sql on db from vpn")
    assert all(e.references == ("CVE-2020-1",) for e in graph.exploits if e.result == "db")


def test_a_control_over_a_way_stops_the_steps_that_go_that_way() -> None:
    draft = network()
    draft.exploits.pop(2)  # the internet does not reach the data base
    draft.condition("vpn", initial=True)
    draft.control("end vpn", "switch off the VPN", lasting=True)
    draft.exploit("vpn to db", needs=["vpn"], gives="db-reached", immediate=True, controls=["end vpn"])
    graph = draft.finish(ImportOptions(goals=("db",))).graph
    by_id = {exploit.id: exploit for exploit in graph.exploits}
    stopped = {c.label: {(by_id[id_].premises, by_id[id_].result) for id_ in c.blocks} for c in graph.controls or ()}
    assert stopped == {
        "close port 80": {(("internet",), "web")},
        "close port 5432": {(("web",), "db")},
        "switch off the VPN": {(("vpn",), "db")},
    }


def test_a_wanted_condition_that_follows_from_one_other_is_that_condition() -> None:
    draft = Draft("sketch")
    for key in ("out", "root", "files"):
        draft.condition(key, initial=key == "out")
    draft.exploit("hack", needs=["out"], gives="root", success=0.5)
    draft.exploit("read", needs=["root"], gives="files", immediate=True)
    assert ways(draft.finish(ImportOptions(goals=("files",))).graph) == {way("out", to="files")}


def test_a_wanted_condition_that_follows_from_several_keeps_its_step_and_that_is_told() -> None:
    draft = Draft("sketch")
    for key in ("out", "key", "door", "vault"):
        draft.condition(key, initial=key == "out")
    draft.exploit("steal", needs=["out"], gives="key", success=0.5)
    draft.exploit("force", needs=["out"], gives="door", success=0.5)
    draft.exploit("open", needs=["key", "door"], gives="vault", immediate=True)
    imported = draft.finish(ImportOptions(goals=("vault",)))
    (kept,) = [e for e in imported.graph.exploits if e.result == "vault"]
    assert (kept.success, kept.attack_cost) == (1.0, 0.0)
    assert "certain and free are left as steps, which take a stage: open" in str(imported.report)


def test_a_condition_of_very_many_ways_and_uses_keeps_its_steps() -> None:
    draft = Draft("sketch")
    draft.condition("out", initial=True)
    draft.condition("group")
    for i in range(40):
        draft.condition(f"user {i}")
        draft.condition(f"host {i}")
        draft.exploit(f"phish {i}", needs=["out"], gives=f"user {i}")
        draft.exploit(f"member {i}", needs=[f"user {i}"], gives="group", immediate=True)
        draft.exploit(f"log in {i}", needs=["group"], gives=f"host {i}")
    imported = draft.finish(ImportOptions(goals=("host 0",)))
    assert len(imported.graph.exploits) == 120
    assert "40 x steps that are certain and free" in str(imported.report)


def reached(steps: list[tuple[frozenset[str], str]], held: set[str]) -> set[str]:
    """Return what can be had from what is held, the slow way."""
    while fresh := {to for needs, to in steps if needs <= held} - held:
        held = held | fresh
    return held


def drawn(rng: random.Random) -> tuple[Draft, list[tuple[frozenset[str], str]], list[str]]:
    """Draw a draft half of whose steps are immediate; returns its steps and what takes an attempt to gain."""
    keys = [f"c{i}" for i in range(8)]
    draft = Draft("random")
    for key in ("start", *keys):
        draft.condition(key, initial=key == "start")
    for i in range(16):
        immediate = i % 2 == 0
        needs, gives = rng.sample(keys if immediate else ["start", *keys], rng.randint(1, 2)), rng.choice(keys)
        if gives not in needs:
            draft.exploit(f"s{i}", needs=needs, gives=gives, immediate=immediate, success=0.5)
    whole = [(frozenset(s.needs), s.gives) for s in draft.exploits]
    return draft, whole, sorted(reached(whole, {"start"}) - {"start"})


@pytest.mark.parametrize("seed", range(30))
def test_what_can_be_reached_from_what_is_held_stays_the_same(seed: int) -> None:
    """Whatever subset of the rest is held, folding changes nothing about what one attempt after another reaches."""
    rng = random.Random(seed)
    gained: list[str] = []
    while not gained:
        draft, whole, gained = drawn(rng)
    goal = rng.choice(gained)
    graph = draft.finish(ImportOptions(goals=(goal,))).graph
    folded = [(frozenset(e.premises), e.result) for e in graph.exploits]
    shown = {c.id for c in graph.conditions}
    initial = {c.id for c in graph.conditions if c.initial}
    for held in itertools.chain.from_iterable(itertools.combinations(sorted(shown - initial), n) for n in range(3)):
        assert (goal in reached(folded, initial | set(held))) == (goal in reached(whole, {"start", *held}))
