"""A control of a domain stops exactly the steps that its removal from the domain cuts off, and nothing else."""

from __future__ import annotations

import json
import random
from collections.abc import Collection, Iterable
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from ncirl.attack_graphs.graph import AttackGraph
from ncirl.errors import InputError
from ncirl.importers import import_graph

Ties = list[tuple[str, str, str]]  # kind, start, end
DOMAIN = "S-1-5-21-1-2-3"
ADMINS, ENTERPRISE, VALUED = f"{DOMAIN}-512", f"{DOMAIN}-519", "valued"
FREE = ("MemberOf", "Contains")
SEEDS = 150


def domain(rng: random.Random) -> Ties:
    """Return a small domain at random: nested groups, rights over anything, sessions; attackers begin at u0.

    The two groups of tier zero come with each other, as the importer takes it.
    """
    users, groups, computers = ["u0", "u1", "u2", "u3"], ["g0", "g1", "g2", ADMINS, ENTERPRISE, VALUED], ["c0", "c1"]
    ties = {("MemberOf", rng.choice(users + groups), rng.choice(groups)) for _ in range(9)}
    ties |= {("Contains", rng.choice(groups), rng.choice(users + groups)) for _ in range(rng.randrange(2))}
    rights = ("GenericAll", "AddMember", "Owns")
    ties |= {(rng.choice(rights), rng.choice(users + groups), rng.choice(users + groups)) for _ in range(8)}
    ties |= {("AdminTo", rng.choice(users + groups), rng.choice(computers)) for _ in range(3)}
    ties |= {("HasSession", rng.choice(computers), rng.choice(users)) for _ in range(2)}
    ties |= {("Contains", ADMINS, ENTERPRISE), ("Contains", ENTERPRISE, ADMINS)}
    return sorted(tie for tie in ties if tie[1] != tie[2])


def read(ties: Ties, path: Path) -> AttackGraph | None:
    """Return what is imported; None where no goal is left to gain."""
    ids = dict.fromkeys(["u0", ADMINS, ENTERPRISE, VALUED, *(end for _, *ends in ties for end in ends)])
    marks: dict[str, Any] = {"u0": {"owned": True}, VALUED: {"highvalue": True}}
    nodes = [{"id": id_, "kinds": ["Base"], "properties": {"name": id_} | marks.get(id_, {})} for id_ in ids]
    edges = [{"kind": kind, "start": {"value": start}, "end": {"value": end}} for kind, start, end in ties]
    path.write_text(json.dumps({"graph": {"nodes": nodes, "edges": edges}}))
    try:
        return import_graph("bloodhound", path, goals=()).graph
    except InputError:  # `held` of the same domain has no goal then, which the tests check
        return None


def held(ties: Iterable[tuple[str, str, str]]) -> set[str]:
    """Return all that attackers come to hold, by whatever the domain has."""
    pairs = {(start, end) for _, start, end in ties}
    found, rest = {"u0"}, ["u0"]
    while rest:
        here = rest.pop()
        for end in (end for start, end in pairs if start == here and end not in found):
            found.add(end)
            rest.append(end)
    return found


def at_once(ties: Ties) -> set[str]:
    return held(tie for tie in ties if tie[0] in FREE)


def gained(graph: AttackGraph, without: Collection[str]) -> set[str]:
    """Return the goals that can be gained in an imported graph without some exploits."""
    found = {condition.id for condition in graph.conditions if condition.initial}
    exploits = [exploit for exploit in graph.exploits if exploit.id not in without]
    grown = True
    while grown:
        more = {exploit.result for exploit in exploits if found.issuperset(exploit.premises)} - found
        found |= more
        grown = bool(more)
    return {ADMINS, VALUED} & found  # what is guessed to be a goal where these cannot be gained does not count


def ended_by(label: str, ties: Ties) -> Ties:
    """Return what a control takes away from a domain, by what it tells people."""
    ways = {f"remove {start} from {end}": (kind, start, end) for kind, start, end in ties if kind == "MemberOf"}
    ways |= {f"let {end} log on to {start} no more": (kind, start, end) for kind, start, end in ties}
    ways |= {f"log {end} off from {start} for a stage": (kind, start, end) for kind, start, end in ties}
    ways |= {f"remove {kind} of {start} over {end}": (kind, start, end) for kind, start, end in ties}
    ways |= {
        f"remove from the local group: {kind} of {start} over {end}": (kind, start, end) for kind, start, end in ties
    }
    return [ways[label]]


@pytest.fixture(scope="module")
def domains(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Ties, AttackGraph]]:
    """Some domains with what they are imported as: those in which attackers can gain something."""
    path = tmp_path_factory.mktemp("domains") / "domain.json"
    drawn = (domain(random.Random(seed)) for seed in range(SEEDS))
    read_ = [(ties, read(ties, path)) for ties in drawn if not at_once(ties) & {ADMINS, ENTERPRISE, VALUED}]
    found = [(ties, graph) for ties, graph in read_ if graph is not None and gained(graph, ())]
    assert len(found) >= 30
    return found


def test_a_control_stops_exactly_what_its_removal_from_the_domain_cuts_off(
    domains: list[tuple[Ties, AttackGraph]], tmp_path: Path
) -> None:
    memberships = rights = useful = again = 0
    for ties, graph in domains:
        goals = gained(graph, ())
        assert goals == held(ties) & {ADMINS, VALUED}
        for control in graph.controls or ():
            rest = [tie for tie in ties if tie not in ended_by(control.label, ties)]
            left = held(rest) & {ADMINS, VALUED}
            assert gained(graph, control.blocks) == left, (ties, control)
            imported = read(rest, tmp_path / "rest.json")
            reached = set() if imported is None else gained(imported, ())
            assert reached == left, (ties, control)
            memberships += " from " in control.label
            rights += " over " in control.label
            useful += left != goals
            again += left == goals
    assert min(memberships, rights, useful, again) >= 30


def test_controls_together_stop_what_their_removal_cuts_off(domains: list[tuple[Ties, AttackGraph]]) -> None:
    pairs = useful = only_together = 0
    for ties, graph in domains:
        goals = gained(graph, ())
        for some in combinations((graph.controls or ())[:12], 2):
            ended = [tie for control in some for tie in ended_by(control.label, ties)]
            left = held(tie for tie in ties if tie not in ended) & {ADMINS, VALUED}
            assert gained(graph, {exploit for control in some for exploit in control.blocks}) == left, (ties, some)
            pairs += 1
            useful += left != goals
            only_together += all(gained(graph, control.blocks) - left for control in some)
    assert pairs >= 500
    assert min(useful, only_together) >= 50


def test_nothing_ends_what_tier_zero_can_do_where_attackers_begin_in_it(tmp_path: Path) -> None:
    imported = stopped = left_open = 0
    for ties in (domain(random.Random(seed)) for seed in range(4 * SEEDS)):
        zero = at_once([*ties, ("Contains", "u0", ADMINS)])
        graph = read(ties, tmp_path / "domain.json") if at_once(ties) & {ADMINS, ENTERPRISE} else None
        everything = {("Contains", "u0", one) for one in zero}
        if graph is None or VALUED in zero or VALUED not in held({*ties, *everything}):
            continue
        imported += 1
        assert gained(graph, ()) == {VALUED}
        assert graph.controls is not None
        for control in graph.controls:
            rest = [tie for tie in ties if tie not in ended_by(control.label, ties) or tie[1] in zero]
            left = held({*rest, *everything}) & {VALUED}
            assert gained(graph, control.blocks) == left, (ties, control)
            stopped += not left
            left_open += bool(left)
    assert min(imported, stopped, left_open) >= 10


def test_where_attackers_begin_in_tier_zero_that_is_said_first_and_nothing_can_be_blocked(tmp_path: Path) -> None:
    ties = [("MemberOf", "u0", "g0"), ("MemberOf", "g0", ADMINS), ("MemberOf", "u0", "g1")]
    ties += [("GenericAll", ADMINS, VALUED), ("Owns", "g1", VALUED), ("GenericWrite", ENTERPRISE, VALUED)]
    path = tmp_path / "domain.json"
    graph = read(ties, path)
    assert graph is not None
    assert len(graph.exploits) == 3
    assert graph.controls == ()
    assert next(import_graph("bloodhound", path).report.lines()) == (
        f"THE DOMAIN IS LOST: u0, marked as owned, holds {ADMINS} (u0 > g0 > {ADMINS}). What follows is about other "
        "goals, and helps only once that is undone."
    )
