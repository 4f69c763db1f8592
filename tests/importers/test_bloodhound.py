"""BloodHound: OpenGraph with its loose ends, what follows from collectors' objects, starts, goals, refusals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ncirl.errors import InputError
from ncirl.importers import Imported, import_graph
from ncirl.importers.bloodhound_collector import nodes_and_edges

Data = dict[str, Any]
DOMAIN = "S-1-5-21-1-2-3"


def node(id: str, *kinds: str, **properties: Any) -> Data:
    return {"id": id, "kinds": list(kinds or ("Base",)), "properties": properties}


def edge(kind: str, start: Any, end: Any, **properties: Any) -> Data:
    start, end = ({"value": x} if isinstance(x, str) else x for x in (start, end))
    return {"kind": kind, "start": start, "end": end} | ({"properties": properties} if properties else {})


def opengraph(nodes: list[Data], edges: list[Data], **more: Any) -> Data:
    return {"graph": {"nodes": nodes, "edges": edges}} | more


def imported(tmp_path: Path, *files: Data, **changes: Any) -> Imported:
    paths = []
    for number, data in enumerate(files):
        paths.append(tmp_path / f"{number}.json")
        paths[-1].write_text("\ufeff" + json.dumps(data), encoding="utf-8")
    return import_graph("bloodhound", paths, **changes)


def steps(found: Imported) -> set[tuple[str, str]]:
    return {(exploit.premises[0], exploit.result) for exploit in found.graph.exploits}


START, GOAL = node("u", "User", owned=True), node("g", "Group", system_tags="admin_tier_0")


def test_nodes_are_conditions_and_edges_steps(tmp_path: Path) -> None:
    found = imported(tmp_path, opengraph([START, GOAL], [edge("AdminTo", "u", "g", success_prob=0.25)], metadata={}))
    assert [(e.id, e.premises, e.result, e.success) for e in found.graph.exploits] == [
        ("AdminTo_u_g", ("u",), "g", 0.25)
    ]
    assert (found.report.initial, found.report.goals) == (("u",), ("g",))


@pytest.mark.parametrize(
    "mark", [{"owned": True}, {"owned": "true"}, {"system_tags": "owned admin_tier_0"}, {"system_tags": ["owned"]}]
)
def test_owned_nodes_are_where_attackers_begin(tmp_path: Path, mark: Data) -> None:
    graph = opengraph([node("u", **mark), GOAL], [edge("Owns", "u", "g")])
    assert imported(tmp_path, graph).report.initial == ("u",)


def test_tags_may_be_kinds(tmp_path: Path) -> None:
    found = imported(
        tmp_path, opengraph([node("u", "Tag_Owned"), node("g", "Tag_Tier_Zero")], [edge("Owns", "u", "g")])
    )
    assert (found.report.initial, found.report.goals) == (("u",), ("g",))


@pytest.mark.parametrize(
    ("mark", "is_goal"), [({"highvalue": True}, True), ({"isTierZero": "True"}, True), ({"highvalue": False}, False)]
)
def test_nodes_of_high_value_are_goals(tmp_path: Path, mark: Data, is_goal: bool) -> None:
    graph = opengraph([START, GOAL, node("x", **mark)], [edge("Owns", "u", "g"), edge("Owns", "u", "x")])
    assert ("x" in imported(tmp_path, graph).report.goals) == is_goal


def test_only_traversable_edges_are_steps(tmp_path: Path) -> None:
    edges = [
        edge("MemberOf", "u", "a"),
        edge("MemberOf", "a", "b", traversable=False),
        edge("Custom", "a", "g", traversable=True),
        edge("Custom", "u", "c"),
    ]
    found = imported(tmp_path, opengraph([START, GOAL, node("a"), node("b"), node("c")], edges))
    assert steps(found) == {("a", "g")}
    assert found.report.initial == ("a",)  # who is in a group has what the group has
    assert "edges said not to be traversable: MemberOf" in str(found.report)
    assert "edges of kinds that are no steps: Custom" in str(found.report)


def test_the_kinds_that_are_steps_can_be_named(tmp_path: Path) -> None:
    edges = [edge("Knows", "u", "a"), edge("Hears", "a", "g", traversable=False), edge("MemberOf", "u", "g")]
    graph = opengraph([START, GOAL, node("a")], edges)
    assert steps(imported(tmp_path, graph, settings={"steps": "knows, Hears"})) == {("u", "a"), ("a", "g")}
    assert len(steps(imported(tmp_path, graph, settings={"steps": "all"}))) == len(edges)


def test_ends_are_found_by_name_and_kind_and_by_properties(tmp_path: Path) -> None:
    nodes = [
        START,
        GOAL,
        node("a1", "User", name="ANN"),
        node("a2", "Robot", name="ANN"),
        node("b", mail="b@x", site=2),
    ]
    by_properties = {
        "match_by": "property",
        "property_matchers": [{"key": "mail", "value": "b@x"}, {"key": "site", "value": 2}],
    }
    edges = [
        edge("Owns", "u", {"match_by": "name", "value": "ann", "kind": "Robot"}),
        edge("Owns", "a2", by_properties),
        edge("Owns", by_properties, "g"),
        edge("Owns", "u", {"match_by": "name", "value": "ANN"}),
        edge("Owns", "u", {"match_by": "property", "property_matchers": [{"key": "mail", "value": "?"}]}),
    ]
    found = imported(tmp_path, opengraph(nodes, edges))
    assert steps(found) == {("u", "ANN"), ("ANN", "b"), ("b", "g")}
    assert "fits no node or several: ANN, mail=?" in str(found.report)


def test_ends_outside_the_file_are_nodes_of_their_own(tmp_path: Path) -> None:
    edges = [edge("Owns", "u", "=far="), edge("Owns", {"match_by": "name", "value": "Bob", "kind": "Okta_User"}, "g")]
    found = imported(tmp_path, opengraph([START, GOAL], [*edges, edge("Owns", "=far=", "g")]))
    assert ("=far=", "g") in steps(found)
    assert "not in the file are nodes of their own: =far=, Bob" in str(found.report)


def test_loops_parallel_edges_and_broken_entries_do_no_harm(tmp_path: Path) -> None:
    odd: list[Any] = [
        edge("Owns", "u", "u"),
        edge("Owns", "u", "g"),
        edge("AdminTo", "u", "g"),
        {"kind": "Owns"},
        7,
        None,
    ]
    nodes: list[Any] = [START, GOAL, node("g"), {"kinds": ["User"]}, "x"]
    found = imported(tmp_path, opengraph(nodes, odd))
    assert steps(found) == {("u", "g")}
    for told in (
        "need their own result",
        "(one of 2)",
        "without a kind or an end",
        "there already: g",
        "without an id",
    ):
        assert told in str(found.report)


def test_several_files_are_one_graph(tmp_path: Path) -> None:
    first, second = opengraph([START], [edge("Owns", "u", "a")]), opengraph([GOAL, node("a")], [edge("Owns", "a", "g")])
    assert steps(imported(tmp_path, first, second)) == {("u", "a"), ("a", "g")}


@pytest.mark.parametrize("format", ["bloodhound", "auto"])
def test_a_directory_is_all_its_files(tmp_path: Path, format: str) -> None:
    (tmp_path / "a.json").write_text(json.dumps(opengraph([START, GOAL], [edge("Owns", "u", "g")])), encoding="utf-8")
    (tmp_path / "notes.txt").write_text("not read", encoding="utf-8")
    assert steps(import_graph(format, tmp_path)) == {("u", "g")}


def test_a_graph_as_the_interface_exports_it_is_read(tmp_path: Path) -> None:
    nodes = {
        "1": {"label": "ANN", "kind": "User", "objectId": "S-1", "properties": {"owned": True}},
        "2": {"label": "ADMINS", "kind": "Group", "objectId": "S-2", "isTierZero": True},
    }
    data = {"data": {"nodes": nodes, "edges": [{"source": "1", "target": "2", "kind": "AddSelf"}]}}
    assert steps(imported(tmp_path, data)) == {("ANN", "ADMINS")}


def collected(kind: str, *things: Data, **meta: Any) -> Data:
    return {"meta": {"type": kind, "count": 0} | meta, "data": list(things)}


def thing(id: str, name: str = "", **more: Any) -> Data:
    return {"ObjectIdentifier": id, "Properties": {"name": name} if name else {}} | more


def ref(id: str) -> Data:
    return {"ObjectIdentifier": id, "ObjectType": "User"}


@pytest.mark.parametrize(
    ("kind", "object_", "expected"),
    [
        ("users", thing("x", PrimaryGroupSID="g"), ("MemberOf", "x", "g")),
        ("groups", thing("x", Members=[ref("m")]), ("MemberOf", "m", "x")),
        ("gpos", thing("x", Aces=[{"PrincipalSID": "p", "RightName": "WriteDacl"}]), ("WriteDacl", "p", "x")),
        ("users", thing("x", AllowedToDelegate=[ref("c")]), ("AllowedToDelegate", "x", "c")),
        ("computers", thing("x", AllowedToAct=[ref("a")]), ("AllowedToAct", "a", "x")),
        ("users", thing("x", HasSIDHistory=[ref("old")]), ("HasSIDHistory", "x", "old")),
        ("computers", thing("x", DumpSMSAPassword=[ref("s")]), ("DumpSMSAPassword", "x", "s")),
        ("users", thing("x", SpnTargets=[{"ComputerSID": "c", "Service": "SQLAdmin"}]), ("SQLAdmin", "x", "c")),
        (
            "computers",
            thing("x", Sessions={"Results": [{"UserSID": "u", "ComputerSID": "x"}]}),
            ("HasSession", "x", "u"),
        ),
        ("computers", thing("x", RegistrySessions={"Results": [{"UserSID": "u"}]}), ("HasSession", "x", "u")),
        ("sessions", {"ComputerSID": "c", "UserSID": "u", "LogonType": 2}, ("HasSession", "c", "u")),
        ("computers", thing("x", LocalAdmins={"Results": [ref("a")]}), ("AdminTo", "a", "x")),
        ("computers", thing("x", LocalAdmins=[{"MemberId": "a"}]), ("AdminTo", "a", "x")),
        ("computers", thing("x", LocalGroups=[ref("x-544") | {"Results": [ref("a")]}]), ("AdminTo", "a", "x")),
        ("computers", thing("x", LocalGroups=[ref("x-580") | {"Results": [ref("a")]}]), ("CanPSRemote", "a", "x")),
        ("ous", thing("x", ChildObjects=[ref("c")]), ("Contains", "x", "c")),
        ("users", thing("x", ContainedBy=ref("ou")), ("Contains", "ou", "x")),
        ("ous", thing("x", Links=[{"GUID": "gpo", "IsEnforced": False}]), ("GPLink", "gpo", "x")),
        (
            "ous",
            thing("x", GPOChanges={"LocalAdmins": [ref("a")], "AffectedComputers": [ref("c")]}),
            ("AdminTo", "a", "c"),
        ),
        ("computers", thing("x", IsDC=True, DomainSID="d"), ("DCFor", "x", "d")),
        ("computers", thing("x", UnconstrainedDelegation=True, DomainSID="d"), ("CoerceToTGT", "x", "d")),
    ],
)
def test_edges_follow_from_collected_objects(kind: str, object_: Data, expected: tuple[str, str, str]) -> None:
    nodes, edges = nodes_and_edges([collected(kind, object_)])
    assert [(edge.kind, edge.start, edge.end) for edge in edges] == [expected]
    assert {expected[1], expected[2]} <= set(nodes)


@pytest.mark.parametrize(
    ("trust", "expected"),
    [
        (("ParentChild", "Bidirectional"), {("SameForestTrust", "o", "x"), ("SameForestTrust", "x", "o")}),
        (("Forest", "Outbound"), {("CrossForestTrust", "x", "o"), ("SpoofSIDHistory", "o", "x")}),
        (("External", "Inbound"), {("CrossForestTrust", "o", "x"), ("AbuseTGTDelegation", "o", "x")}),
        ((0, 1), {("SameForestTrust", "o", "x")}),
    ],
)
def test_trusts_lead_from_domain_to_domain(trust: tuple[Any, Any], expected: set[tuple[str, str, str]]) -> None:
    told = {"TrustType": trust[0], "TrustDirection": trust[1], "TargetDomainSid": "o"}
    told |= {"SidFilteringEnabled": False, "TGTDelegationEnabled": True}
    _, edges = nodes_and_edges([collected("domains", thing("x", Trusts=[told]))])
    assert {(edge.kind, edge.start, edge.end) for edge in edges} == expected


def test_replicating_secrets_takes_both_rights_in_the_same_hands() -> None:
    rights = [("a", "GetChanges"), ("a", "GetChangesAll"), ("b", "GetChanges"), ("c", "GetChangesAll")]
    aces = [{"PrincipalSID": who, "RightName": right} for who, right in rights]
    _, edges = nodes_and_edges([collected("domains", thing("d", Aces=aces))])
    assert [edge.start for edge in edges if edge.kind == "DCSync"] == ["a"]


def test_whoever_the_owner_is_controls_nothing() -> None:
    aces = [{"PrincipalSID": "LAB-S-1-3-4", "RightName": "GenericAll"}, {"PrincipalSID": "x", "RightName": "Owns"}]
    assert nodes_and_edges([collected("groups", thing("x", Aces=aces))])[1] == []


def test_collectors_files_become_one_graph(tmp_path: Path) -> None:
    users = collected("users", thing(f"{DOMAIN}-1105", "ANN@LAB", PrimaryGroupSID=f"{DOMAIN}-513"))
    ace = {"PrincipalSID": f"{DOMAIN}-513", "RightName": "GenericAll"}
    groups = collected(
        "groups", thing(f"{DOMAIN}-513", "DOMAIN USERS@LAB"), thing(f"{DOMAIN}-512", "ADMINS", Aces=[ace])
    )
    found = imported(tmp_path, users, groups, initial=("ANN@LAB",))
    assert steps(found) == {("ANN@LAB", "DOMAIN_USERS@LAB"), ("DOMAIN_USERS@LAB", "ADMINS")}
    assert found.report.goals == ("ADMINS",)
    with pytest.raises(InputError, match=r"no node .* is marked as owned.*--initial, such as DOMAIN USERS@LAB"):
        imported(tmp_path, users, groups)
    with pytest.raises(InputError, match=r"marked as tier zero.*--goal, such as DOMAIN USERS@LAB"):
        imported(tmp_path, users, collected("groups", groups["data"][0]), initial=("ANN@LAB",))


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (opengraph([], []), "has 0 nodes and no edge"),
        (collected("sessions"), "has 0 nodes and no edge"),
        (opengraph([START, GOAL], [edge("Knows", "u", "g")]), r"none of the 1 edges.*--set steps=.*Knows \(1\)"),
        (collected("azure", {"kind": "AZUser"}), "AzureHound"),
        (collected("spoons"), "meta.type: 'spoons' is not known"),
        ({"subnets": [], "topology": []}, "NASim scenario.*import nasim"),
        ({"nodes": [], "links": []}, "node-link"),
        ({}, "is not a BloodHound file"),
        ([], "is not a BloodHound file"),
    ],
)
def test_files_without_a_graph_are_refused_in_words(tmp_path: Path, data: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        imported(tmp_path, data)


def test_archives_and_empty_directories_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="unpack it"):
        import_graph("bloodhound", tmp_path / "all.zip")
    with pytest.raises(InputError, match="without JSON files"):
        import_graph("bloodhound", tmp_path)
