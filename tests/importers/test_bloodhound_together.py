"""Rights that mean something only in one hand: each control is about who has the right, and stops what it cuts off."""

from __future__ import annotations

import json
import random
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

import pytest

from ncirl.attack_graphs.graph import AttackGraph
from ncirl.errors import InputError
from ncirl.importers import import_graph

Ties = frozenset[tuple[str, str, str]]  # kind, start, end
SID = "S-1-5-21-1-2-3"
ALL, AUTHENTICATED = f"{SID}-513", "LAB-S-1-5-11"
TRUST = {("RootCAFor", "root", "lab"), ("NTAuthStoreFor", "store", "lab"), ("TrustedForNTAuth", "ca", "store")}
TRUST |= {("EnterpriseCAFor", "ca", "root")}
SEEDS = 400


@dataclass(frozen=True)
class Lab:
    """A domain with an authority: who is in what and may do what, and the templates whose flag is set."""

    ties: Ties
    flagged: frozenset[str] = frozenset({"t0", "t1"})


def lab(rng: random.Random) -> Lab:
    """Return a domain in which authority, templates and replication have enrollers of their own, groups in groups."""
    users, groups = ["u0", "u1", "u2"], ["g0", "g1", "g2"]
    anybody = [*users, *groups, ALL, AUTHENTICATED]
    ties = {("MemberOf", user, ALL) for user in users}
    ties |= {("MemberOf", rng.choice(users + groups), rng.choice(groups)) for _ in range(6)}
    ties |= {("Enroll", rng.choice(anybody), "ca") for _ in range(rng.randrange(1, 3))}
    ties |= {("Enroll", rng.choice(anybody[:-1]), rng.choice(("t0", "t1"))) for _ in range(rng.randrange(4))}
    ties |= {("PublishedTo", template, "ca") for template in ("t0", "t1")}
    if rng.random() < 0.5:
        rights = ("GetChanges", "GetChangesAll")
        ties |= {(rng.choice(rights), rng.choice(users + groups), "lab") for _ in range(3)}
    if rng.random() < 0.3:
        rights = ("WriteDacl", "GenericWrite")
        ties |= {(rng.choice(rights), rng.choice(users + groups), rng.choice(("t0", "t1"))) for _ in range(3)}
    ties |= {("AddMember", rng.choice(users), rng.choice(users + groups)) for _ in range(rng.randrange(3))}
    return Lab(frozenset(tie for tie in ties | TRUST if tie[1] != tie[2]))


def read(found: Lab, path: Path) -> AttackGraph | None:
    """Return what is imported; None where nothing leads to the domain."""
    kinds = {"lab": "Domain", "ca": "EnterpriseCA", "other": "EnterpriseCA", "root": "RootCA", "store": "NTAuthStore"}
    kinds |= dict.fromkeys(("t0", "t1"), "CertTemplate")
    nodes = []
    for id_ in sorted({"u0", "lab", AUTHENTICATED, *(end for _, *ends in found.ties for end in ends)}):
        marks = {"name": id_, "owned": id_ == "u0", "authenticationenabled": True, "schemaversion": 1}
        nodes.append({"id": id_, "kinds": [kinds.get(id_, "Base")], "properties": marks})
        nodes[-1]["properties"] |= {"enrolleesuppliessubject": id_ in found.flagged, "domainsid": SID}
    edges = [{"kind": kind, "start": {"value": a}, "end": {"value": b}} for kind, a, b in sorted(found.ties)]
    path.write_text(json.dumps({"graph": {"nodes": nodes, "edges": edges}}))
    try:
        return import_graph("bloodhound", path, goals=["lab"]).graph
    except InputError:
        return None


def over(ties: Iterable[tuple[str, str, str]], *starts: str) -> set[str]:
    """Return some things and all that ties lead to from them."""
    pairs = {(a, b) for _, a, b in ties}
    found, rest = set(starts), list(starts)
    while rest:
        here = rest.pop()
        for end in (b for a, b in pairs if a == here and b not in found):
            found.add(end)
            rest.append(end)
    return found


def falls(found: Lab) -> bool:
    """Tell whether attackers come to have all rights that a template or replication takes, in one hand."""
    ties = found.ties
    hands = over([tie for tie in ties if tie[0] in ("MemberOf", "AddMember")], "u0")
    hands |= {AUTHENTICATED} if ALL in hands else set()
    for who in hands:
        groups = over([tie for tie in ties if tie[0] == "MemberOf"], who) | {AUTHENTICATED}
        has = {(kind, what) for kind, holder, what in ties if holder in groups}
        if {("GetChanges", "lab"), ("GetChangesAll", "lab")} <= has:
            return True
        serving = {template for template in ("t0", "t1") if ("Enroll", template) in has}
        changed = {template for kind, template in has if kind == "WriteDacl"}
        changed |= {template for kind, template in has if kind == "GenericWrite"} & serving
        if ("Enroll", "ca") in has and (changed or serving & found.flagged):
            return True
    return False


def without(found: Lab, label: str) -> Lab:
    """Return a domain after what a control tells people to do; a right that nobody has cannot be taken away."""
    told = {f"remove {a} from {b}": (kind, a, b) for kind, a, b in found.ties if kind == "MemberOf"}
    told |= {f"remove {kind} of {a} over {b}": (kind, a, b) for kind, a, b in found.ties}
    told |= {
        f"remove the right to enroll at the template {b} from {a}": (kind, a, b)
        for kind, a, b in found.ties
        if kind == "Enroll"
    }
    if label.startswith("remove the right to change the template "):
        ends = tuple(label.removeprefix("remove the right to change the template ").split(" from "))
        gone = {tie for tie in found.ties if tie[0] in ("WriteDacl", "GenericWrite") and tie[:0:-1] == ends}
        assert gone, (label, sorted(found.ties))
        return replace(found, ties=found.ties - gone)
    if label.startswith("clear "):
        return replace(found, flagged=found.flagged - {label.rpartition(" ")[2]})
    assert label in told, (label, sorted(found.ties))
    return replace(found, ties=found.ties - {told[label]})


def reached(graph: AttackGraph, blocked: Collection[str]) -> bool:
    """Tell whether the domain can be gained in an imported graph without some exploits."""
    found = {condition.id for condition in graph.conditions if condition.initial}
    exploits = [exploit for exploit in graph.exploits if exploit.id not in blocked]
    for _ in exploits:
        found |= {exploit.result for exploit in exploits if found.issuperset(exploit.premises)}
    return "lab" in found


@pytest.fixture(scope="module")
def labs(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Lab, AttackGraph]]:
    path = tmp_path_factory.mktemp("labs") / "lab.json"
    drawn = [lab(random.Random(seed)) for seed in range(SEEDS)]
    both = [(found, read(found, path)) for found in drawn]
    assert [falls(found) for found, _ in both] == [graph is not None for _, graph in both]
    kept = [(found, graph) for found, graph in both if graph is not None]
    assert 100 <= len(kept) <= SEEDS - 50
    return kept


def test_a_control_takes_a_right_from_who_has_it_and_stops_what_that_cuts_off(
    labs: list[tuple[Lab, AttackGraph]],
) -> None:
    enrolling = members = useful = useless = replicating = changing = 0
    for found, graph in labs:
        for control in graph.controls or ():
            left = falls(without(found, control.label))
            assert reached(graph, control.blocks) == left, (sorted(found.ties), control)
            enrolling += "right to enroll" in control.label
            replicating += "GetChangesAll" in control.label
            changing += "right to change" in control.label
            members += " from g" in control.label
            useful += not left
            useless += left
    assert min(enrolling, members, useful, useless, replicating, changing) >= 30


def test_controls_together_stop_what_doing_all_of_them_cuts_off(labs: list[tuple[Lab, AttackGraph]]) -> None:
    pairs = only_together = 0
    for found, graph in labs:
        for some in combinations(graph.controls or (), 2):
            left = found
            for control in some:
                left = without(left, control.label)
            blocked = {exploit for control in some for exploit in control.blocks}
            assert reached(graph, blocked) == falls(left), (sorted(found.ties), some)
            pairs += 1
            only_together += not falls(left) and all(reached(graph, control.blocks) for control in some)
    assert pairs >= 500
    assert only_together >= 50


@pytest.mark.parametrize("everybody", [ALL, AUTHENTICATED])
def test_who_may_enroll_by_one_group_at_a_template_and_as_everybody_at_the_authority(
    tmp_path: Path, everybody: str
) -> None:
    ties = {("MemberOf", "u0", ALL), ("MemberOf", "u0", "vpn"), ("Enroll", "vpn", "t0"), ("Enroll", everybody, "ca")}
    graph = read(Lab(frozenset(ties | TRUST | {("PublishedTo", "t0", "ca")})), tmp_path / "lab.json")
    assert graph is not None
    assert {control.label for control in graph.controls or ()} == {
        "clear 'enrollee supplies subject' of the template t0",
        "remove the right to enroll at the template t0 from vpn",
        "remove u0 from vpn",
    }


def test_a_template_that_two_authorities_publish_is_one_step_that_either_serves(tmp_path: Path) -> None:
    ties = {("Enroll", "u0", "t0"), ("Enroll", "u0", "ca"), ("Enroll", "vpn", "other"), ("MemberOf", "u0", "vpn")}
    ties |= {("PublishedTo", "t0", "ca"), ("PublishedTo", "t0", "other")}
    ties |= {(kind, "other" if a == "ca" else a, b) for kind, a, b in TRUST}
    graph = read(Lab(frozenset(ties | TRUST)), tmp_path / "lab.json")
    assert graph is not None
    assert len(graph.exploits) == 1
    assert "remove u0 from vpn" not in {control.label for control in graph.controls or ()}


def test_a_step_that_is_there_once_for_each_way_says_so_and_what_ends_it(tmp_path: Path) -> None:
    ties = {("MemberOf", "u0", "g0"), ("MemberOf", "u0", "g1"), ("Enroll", "g0", "t0"), ("Enroll", "g1", "t0")}
    ties |= {("Enroll", AUTHENTICATED, "ca"), ("PublishedTo", "t0", "ca"), ("Enroll", "u0", "t1")}
    ties |= {("MemberOf", "u0", "g2"), ("Enroll", "g2", "other"), ("PublishedTo", "t1", "other")}
    ties |= {(kind, "other" if a == "ca" else a, b) for kind, a, b in TRUST}
    ties |= {("MemberOf", "u0", ALL), ("Enroll", ALL, "other"), ("PublishedTo", "t0", "other")}
    ties |= {("GetChanges", "u0", "lab"), ("GetChangesAll", "g0", "lab"), ("GetChangesAll", "g1", "lab")}
    graph = read(Lab(frozenset(ties | TRUST)), tmp_path / "lab.json")
    assert graph is not None
    labels = sorted(exploit.label for exploit in graph.exploits if exploit.references[0] == "DCSync")
    assert len(labels) == 2
    assert "way 1 of 2, which ends with: " in labels[0]
    assert "remove GetChangesAll of g0 over lab" in "".join(labels)
    assert any("there several times" in said for said in graph.found.assumed)
