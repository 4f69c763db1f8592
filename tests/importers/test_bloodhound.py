"""BloodHound: OpenGraph with its loose ends, what follows from collectors' objects, starts, goals, refusals."""

from __future__ import annotations

import json
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ncirl.attack_graphs.graph import AttackGraph
from ncirl.attack_graphs.origins import assumed_numbers, said_of
from ncirl.errors import InputError
from ncirl.importers import Imported, import_graph
from ncirl.importers.bloodhound_collector import nodes_and_edges
from ncirl.importers.report import Undecided

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
    assert steps(found) == {("u", "g")}  # who is in a group has what the group has
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
    assert steps(found) == {("u", "ANN_Robot"), ("ANN_Robot", "b"), ("b", "g")}
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
    found = imported(tmp_path, opengraph(nodes, odd), merge=True, controls=False)
    assert steps(found) == {("u", "g")}
    for told in (
        "need their own result",
        "Owns_u_g or AdminTo_u_g",
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
        ("ous", thing("x", ChildObjects=[ref("c")]), ("Contains", "x", "c")),
        ("users", thing("x", ContainedBy=ref("ou")), ("Contains", "ou", "x")),
        ("ous", thing("x", Links=[{"GUID": "gpo", "IsEnforced": False}]), ("GPLink", "gpo", "x")),
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
    assert steps(found) == {("ANN@LAB", "ADMINS")}  # ANN is in the group: that takes no step
    assert found.report.goals == ("ADMINS",)
    with pytest.raises(InputError, match=r"no node is marked as owned.*--initial, such as DOMAIN USERS@LAB"):
        imported(tmp_path, users, groups)
    plain = thing(
        f"{DOMAIN}-513", "DOMAIN USERS@LAB", Aces=[{"PrincipalSID": f"{DOMAIN}-1106", "RightName": "AddSelf"}]
    )
    with pytest.raises(InputError, match=r"marked as tier zero.*--goal, such as DOMAIN USERS@LAB"):
        imported(tmp_path, users, collected("groups", plain), initial=("ANN@LAB",))


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


def test_empty_directories_and_spoilt_archives_are_refused(tmp_path: Path) -> None:
    (tmp_path / "all.zip").write_bytes(b"PK\x03\x04 and nothing more")
    with pytest.raises(InputError, match="is no zip archive that can be read"):
        import_graph("bloodhound", tmp_path / "all.zip")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="without JSON files"):
        import_graph("bloodhound", tmp_path / "empty")


LINES = [
    {"type": "node", "id": "0", "labels": ["Base", "User"], "properties": {"name": "ANN@LAB", "objectid": "S-1"}},
    {"type": "node", "id": "1", "labels": ["Base", "Group"], "properties": {"name": "HELP@LAB", "objectid": "S-2"}},
    {
        "type": "node",
        "id": "2",
        "labels": ["Base", "Computer"],
        "properties": {"name": "SRV@LAB", "highvalue": True, "owned": False, "objectid": "S-3"},
    },
    {"type": "relationship", "id": "r0", "label": "MemberOf", "start": {"id": "0"}, "end": {"id": "1"}},
    {
        "type": "relationship",
        "id": "r1",
        "label": "AdminTo",
        "start": {"id": "1"},
        "end": {"id": "2"},
        "properties": {},
    },
]


def lines(path: Path, rows: list[Any] | None = None) -> Path:
    path.write_text("\n".join(json.dumps(row) for row in rows or LINES) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("format", ["bloodhound", "auto"])
@pytest.mark.parametrize("name", ["export.jsonl", "export.json"])
def test_a_graph_database_exports_one_node_or_relationship_a_line(tmp_path: Path, format: str, name: str) -> None:
    found = import_graph(format, lines(tmp_path / name), initial=("ANN@LAB",))
    assert steps(found) == {("ANN@LAB", "SRV@LAB")}
    assert found.graph.name == "export"


def test_a_folder_may_hold_an_export_only(tmp_path: Path) -> None:
    lines(tmp_path / "export.jsonl")
    assert steps(import_graph("auto", tmp_path, initial=("ANN@LAB",))) == {("ANN@LAB", "SRV@LAB")}


@pytest.mark.parametrize("shape", ["list", "map"])
def test_the_same_export_may_be_one_list_or_one_map(tmp_path: Path, shape: str) -> None:
    nodes, edges = ([row for row in LINES if row["type"] == kind] for kind in ("node", "relationship"))
    data = LINES if shape == "list" else {"nodes": nodes, "rels": edges}
    (tmp_path / "export.json").write_text(json.dumps(data), encoding="utf-8")
    found = import_graph("bloodhound", tmp_path / "export.json", initial=("ANN@LAB",))
    assert steps(found) == {("ANN@LAB", "SRV@LAB")}


@pytest.mark.parametrize("format", ["bloodhound", "auto"])
def test_a_line_that_is_cut_off_is_named(tmp_path: Path, format: str) -> None:
    path = lines(tmp_path / "export.jsonl")
    path.write_text(path.read_text(encoding="utf-8")[:-20], encoding="utf-8")
    with pytest.raises(InputError, match=r"export.jsonl: line 5, column \d+: not JSON"):
        import_graph(format, path, initial=("ANN@LAB",))


@pytest.mark.parametrize("format", ["bloodhound", "auto"])
def test_the_archive_of_a_collector_is_read_as_it_is(tmp_path: Path, format: str) -> None:
    ace = {"PrincipalSID": f"{DOMAIN}-513", "RightName": "GenericAll"}
    with zipfile.ZipFile(tmp_path / "20260101_BloodHound.zip", "w") as archive:
        archive.writestr(
            "a_users.json", json.dumps(collected("users", thing("S-7", "ANN", PrimaryGroupSID=ace["PrincipalSID"])))
        )
        archive.writestr(
            "a_groups.json", "\ufeff" + json.dumps(collected("groups", thing(f"{DOMAIN}-512", "DA", Aces=[ace])))
        )
        archive.writestr("log.txt", "not read")
    found = import_graph(format, tmp_path / "20260101_BloodHound.zip", initial=("ANN",))
    assert [exploit.result for exploit in found.graph.exploits] == ["DA"]
    with pytest.raises(InputError, match=r"groups.json: is larger than 9 bytes; --size-limit"):
        import_graph("bloodhound", tmp_path / "20260101_BloodHound.zip", size_limit=9)


def test_an_archive_without_json_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("notes.txt", "nothing")
    with pytest.raises(InputError, match="is an archive without JSON files"):
        import_graph("bloodhound", tmp_path / "all.zip")


def test_a_graph_and_collected_objects_of_different_domains_are_refused(tmp_path: Path) -> None:
    graph, users = (
        opengraph([START, GOAL], [edge("Owns", "u", "g")]),
        collected("users", thing("S-9", PrimaryGroupSID="S-8")),
    )
    with pytest.raises(InputError, match="have no node in common; import them one by one"):
        imported(tmp_path, graph, users)


def test_what_takes_no_effort_is_no_step_and_takes_no_stage(tmp_path: Path) -> None:
    nodes = [START, GOAL, *(node(id_, "Group") for id_ in "abc"), node("v", "User")]
    free = [
        edge("MemberOf", "u", "a"),
        edge("MemberOf", "a", "b"),
        edge("Contains", "c", "v"),
        edge("MemberOf", "v", "g"),
    ]
    found = imported(tmp_path, opengraph(nodes, [*free, edge("GenericAll", "b", "c")]))
    assert steps(found) == {("u", "g")}  # u is in a, a in b; who has c has v, and v is in g
    assert found.report.initial == ("u",)
    without = imported(tmp_path, opengraph(nodes, [*free, edge("GenericAll", "b", "c")]), controls=False)
    assert without.report.initial == ("u",)
    assert "4 x edges that take no effort are certain and immediate: MemberOf, Contains" in str(found.report)


def test_rights_that_mean_something_together_are_derived_from_a_graph_too(tmp_path: Path) -> None:
    nodes = [START, node("d", "Domain", name="LAB")]
    rights = [edge("GetChanges", "u", "d"), edge("GetChangesAll", "u", "d"), edge("MemberOf", "x", "y")]
    found = imported(tmp_path, opengraph(nodes, rights))
    (exploit,) = found.graph.exploits
    assert (exploit.label, exploit.asset) == ("DCSync LAB as u (copy all secrets)", "LAB")
    assert exploit.references == ("DCSync", "T1003.006")
    assert "edges derived from others, as BloodHound does after reading: DCSync" in str(found.report)
    assert found.report.left_out["edges of kinds that are no steps"] == ("GetChanges", "GetChangesAll")


def test_an_account_is_not_a_certificate_template(tmp_path: Path) -> None:
    nodes = [node("S-1", "User", name="WEB@LAB"), node("T-1", "CertTemplate", name="WEB@LAB"), GOAL]
    graph = opengraph(nodes, [edge("GenericAll", "T-1", "g"), edge("AddSelf", "S-1", "g")])
    said = (
        r"initial 'WEB@LAB': 2 conditions are called so; give an id: User:WEB@LAB \(S-1\), CertTemplate:WEB@LAB \(T-1\)"
    )
    with pytest.raises(InputError, match=said):
        imported(tmp_path, graph, initial=("WEB@LAB",))
    for name in ("S-1", "User:WEB@LAB", "user:web@lab", "WEB@LAB_User"):
        assert steps(imported(tmp_path, graph, initial=(name,))) == {("WEB@LAB_User", "g")}


def test_an_account_that_no_step_touches_is_still_no_template(tmp_path: Path) -> None:
    nodes = [node("S-1", "User", name="WEB@LAB"), node("T-1", "CertTemplate", name="WEB@LAB"), GOAL]
    with pytest.raises(InputError, match="2 conditions are called so"):
        imported(tmp_path, opengraph(nodes, [edge("GenericAll", "T-1", "g")]), initial=("WEB@LAB",))


def test_where_attackers_may_begin_is_ranked_with_reasons(tmp_path: Path) -> None:
    nodes = [
        node("u", "User", name="ANN"),
        node("v", "User", name="BOB"),
        node(f"{DOMAIN}-513", "Group", name="ALL"),
        node("x", "User", name="EVE"),
        node("a", "User", name="ADMIN"),
        node("h", "User", name="HIGH", highvalue=True),
        GOAL,
    ]
    edges = [edge("AddSelf", "u", "g"), edge("GenericAll", "v", "u"), edge("GenericAll", f"{DOMAIN}-513", "v")]
    edges += [edge("MemberOf", "a", "g"), edge("Owns", "h", "g"), edge("Owns", "a", "u")]
    said = r"such as ALL \(Group, everybody, 3 steps.*\), ANN \(User, 1 step from.*\), BOB \(User, 2 "
    with pytest.raises(InputError, match=said) as raised:
        imported(tmp_path, opengraph(nodes, edges))
    for name in ("EVE", "ADMIN", "HIGH"):  # who gets nowhere, and who has what attackers want
        assert name not in str(raised.value)


def test_what_is_told_of_a_start_takes_as_long_as_the_file_is(tmp_path: Path) -> None:
    def work(many: int) -> int:
        users = [node(f"u{k}", "User", name=f"U{k}") for k in range(many)]
        calls = 0

        def count(*_: Any) -> None:
            nonlocal calls
            calls += 1

        sys.setprofile(count)
        try:
            with pytest.raises(InputError, match=rf"U\d+ \(User, 1 step.* and {many - 10} more"):
                imported(tmp_path, opengraph([*users, GOAL], [edge("AddSelf", user["id"], "g") for user in users]))
        finally:
            sys.setprofile(None)
        return calls

    assert work(800) < 2.5 * work(400)


UPPER = {"MemberOf": "MEMBER_OF", "GenericAll": "GENERIC_ALL", "AdminTo": "ADMIN_TO", "GPLink": "GP_LINK"}
UPPER |= {"HasSession": "HAS_SESSION", "GetChanges": "GET_CHANGES", "GetChangesAll": "GET_CHANGES_ALL"}


@pytest.mark.parametrize(
    "spell",
    [lambda kind: UPPER[kind], str.upper, str.lower, lambda kind: UPPER[kind].replace("_", " ").capitalize()],
    ids=["UPPER_CASE", "UPPERCASE", "lowercase", "With spaces"],
)
def test_kinds_are_known_in_every_spelling(tmp_path: Path, spell: Callable[[str], str]) -> None:
    ends = [("MemberOf", "u", "a"), ("GenericAll", "a", "c"), ("HasSession", "c", "v"), ("AdminTo", "v", "p")]
    ends += [("GPLink", "p", "o"), ("GetChanges", "v", "d"), ("GetChangesAll", "v", "d")]

    def graph(spell: Callable[[str], str]) -> AttackGraph:
        nodes = [node("u", spell_node("User", spell), owned=True), node("d", spell_node("Domain", spell))]
        nodes += [node(id_) for id_ in "acvpo"]
        edges = [edge(spell(kind), start, end) for kind, start, end in ends]
        return imported(tmp_path, opengraph(nodes, edges), name="lab").graph

    def spell_node(kind: str, spell: Callable[[str], str]) -> str:
        return kind if spell is str else kind.upper()

    assert len(graph(str).exploits) == 3
    assert graph(spell) == graph(str)


def test_a_file_of_which_a_large_share_is_not_known_is_refused(tmp_path: Path) -> None:
    edges = [
        edge("AddSelf", "u", "g"),
        edge("Owns", "u", "g"),
        *(edge(f"ODD_{k % 30}", "u", f"x{k}") for k in range(60)),
    ]
    graph = opengraph([START, GOAL], edges)
    said = r"60 of the 62 edges are of kinds that are not known: ODD_0 \(2\), .* and 10 more; say what .* --table"
    with pytest.raises(Undecided, match=said) as refused:
        imported(tmp_path, graph)
    kinds = {one.id: (one.why, one.chosen) for one in refused.value.candidates.steps}
    assert kinds["ODD_7"] == ("2 edges, not known", False)
    assert {kind for kind, (_, chosen) in kinds.items() if chosen} == {"AddSelf", "Owns"}
    table = tmp_path / "kinds.csv"
    table.write_text("kind,effort\n" + "".join(f"odd {k},ignore\n" for k in range(30)))
    assert steps(imported(tmp_path, graph, settings={"table": str(table)})) == {("u", "g")}
    assert steps(imported(tmp_path, graph, settings={"steps": "ADD_SELF"})) == {("u", "g")}


@pytest.mark.parametrize(
    ("kinds", "mark"),
    [
        (["User", "Compromised"], {}),
        (["USER", "COMPROMISED"], {}),
        (["User", "OWNED"], {}),
        (["User"], {"Owned": "True"}),
        (["User"], {"is_owned": 1}),
        (["User"], {"system_tags": "Owned"}),
        (["User"], {"SystemTags": "admin,OWNED"}),
        (["User", "TAG_OWNED"], {}),
    ],
)
def test_marks_of_what_is_owned_are_known_in_every_spelling(tmp_path: Path, kinds: list[str], mark: Data) -> None:
    graph = opengraph([node("u", *kinds, **mark), GOAL], [edge("Owns", "u", "g")])
    assert imported(tmp_path, graph).report.initial == ("u",)


@pytest.mark.parametrize("suffix", ["csv", "yaml"])
def test_a_table_of_kinds_replaces_the_defaults(tmp_path: Path, suffix: str) -> None:
    table = tmp_path / f"kinds.{suffix}"
    told = {
        "csv": "kind,success,attack_cost,block_cost,effort\nGenericAll,0.5,,0.25,\nmemberof,,,,step\nOwns,,,,ignore\n",
        "yaml": "GenericAll: {success: 0.5, block_cost: 0.25}\nMemberOf: {effort: step}\nOwns: {effort: ignore}\n",
    }
    table.write_text(told[suffix])
    edges = [edge("MemberOf", "u", "a"), edge("GenericAll", "a", "g"), edge("Owns", "u", "g")]
    graph = opengraph([START, GOAL, node("a")], edges)
    found = imported(tmp_path, graph, settings={"table": str(table)})
    assert steps(found) == {("u", "a"), ("a", "g")}
    right = next(exploit for exploit in found.graph.exploits if exploit.result == "g")
    assert (right.success, right.attack_cost, right.block_cost) == (0.5, 0.02, 0.25)
    assert f"from the table kinds.{suffix}" in str(found.report)
    assert steps(imported(tmp_path, graph)) == {("u", "g")}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("AdminTo: {success: 2}", r"AdminTo.success: must be a number in \[0, 1\], got 2"),
        ("AdminTo: {effort: some}", "AdminTo.effort: must be one of step, none, ignore"),
        ("AdminTo: {speed: 1}", "AdminTo.speed: is not known"),
        ("- AdminTo", "must be a map of kinds"),
    ],
)
def test_a_table_that_says_nonsense_is_refused(tmp_path: Path, content: str, said: str) -> None:
    (tmp_path / "kinds.yaml").write_text(content)
    with pytest.raises(InputError, match=said):
        imported(
            tmp_path,
            opengraph([START, GOAL], [edge("Owns", "u", "g")]),
            settings={"table": str(tmp_path / "kinds.yaml")},
        )


def test_what_lasts_ends_a_right_a_membership_or_a_log_on_and_a_session_ends_for_a_stage(tmp_path: Path) -> None:
    nodes = [START, GOAL, node("a", "Group"), node("c", "Computer"), node("v", "User")]
    edges = [
        edge("MemberOf", "u", "a"),
        edge("AdminTo", "a", "c"),
        edge("HasSession", "c", "v"),
        edge("AddSelf", "v", "g"),
    ]
    found = imported(tmp_path, opengraph(nodes, edges)).graph
    stops = {control.label: (control.kind, control.blocks) for control in found.controls or ()}
    assert stops == {
        "remove u from a": ("lasting", ("AdminTo_a_c_via_u",)),
        "remove from the local group: AdminTo of a over c": ("lasting", ("AdminTo_a_c_via_u",)),
        "let v log on to c no more": ("lasting", ("HasSession_c_v",)),
        "log v off from c for a stage": ("momentary", ("HasSession_c_v",)),
        "remove AddSelf of v over g": ("lasting", ("AddSelf_v_g",)),
    }
    for_a_stage = imported(tmp_path, opengraph(nodes, edges), settings={"controls": "momentary"}).graph
    assert {control.kind for control in for_a_stage.controls or ()} == {"momentary"}
    assert imported(tmp_path, opengraph(nodes, edges), settings={"controls": "none"}).graph.controls is None
    assert imported(tmp_path, opengraph(nodes, edges), controls=False).graph.controls is None
    with pytest.raises(InputError, match="setting controls=some: must be one of none, momentary, lasting"):
        imported(tmp_path, opengraph(nodes, edges), settings={"controls": "some"})


def test_a_policy_is_unlinked_unless_it_is_a_default_one(tmp_path: Path) -> None:
    nodes = [START, GOAL, node("p", "GPO", name="LOCK@LAB"), node("q", "GPO", name="DEFAULT DOMAIN POLICY@LAB")]
    nodes += [node("o", "OU"), node("v", "User")]
    edges = [edge("GenericAll", "u", "p"), edge("GPLink", "p", "o"), edge("Contains", "o", "v"), edge("Owns", "v", "g")]
    found = stops(imported(tmp_path, opengraph(nodes, edges)))
    assert found["unlink the policy LOCK@LAB from o"] == 1
    others = [edge("GenericAll", "u", "q"), edge("GPLink", "q", "o"), *edges[2:]]
    assert set(stops(imported(tmp_path, opengraph(nodes, others)))) == {
        "remove GenericAll of u over DEFAULT DOMAIN POLICY@LAB",
        "remove Owns of v over g",
    }


def test_nothing_ends_what_tier_zero_can_do_and_nobody_leaves_everybody(tmp_path: Path) -> None:
    zero, everybody = node(f"{DOMAIN}-512", "Group", name="DA"), node(f"{DOMAIN}-513", "Group", name="ALL")
    edges = [edge("MemberOf", "u", f"{DOMAIN}-513"), edge("GenericAll", f"{DOMAIN}-513", f"{DOMAIN}-512")]
    edges += [edge("GenericAll", f"{DOMAIN}-512", "g")]
    found = imported(tmp_path, opengraph([START, GOAL, zero, everybody], edges)).graph
    assert [control.label for control in found.controls or ()] == ["remove GenericAll of ALL over DA"]


@pytest.mark.parametrize("asked", [{}, {"success": 0.5, "attack_cost": 0.3, "block_cost": 0.25, "lasting_cost": 0.75}])
def test_numbers_that_a_person_asks_for_take_the_place_of_those_of_the_table(
    tmp_path: Path, asked: dict[str, float]
) -> None:
    nodes = [START, GOAL, node("c", "Computer"), node("v", "User")]
    edges = [edge("AdminTo", "u", "c"), edge("HasSession", "c", "v"), edge("AddSelf", "v", "g", success_prob=0.125)]
    found = imported(tmp_path, opengraph(nodes, edges), **asked).graph
    expected = {"AdminTo": (0.85, 0.02), "HasSession": (0.7, 0.02), "AddSelf": (0.125, 0.02)}
    if asked:
        expected = {"AdminTo": (0.5, 0.3), "HasSession": (0.5, 0.3), "AddSelf": (0.125, 0.3)}
    assert {e.references[0]: (e.success, e.attack_cost) for e in found.exploits} == expected
    assert {(c.kind, c.cost) for c in found.controls or ()} == (
        {("lasting", 0.75), ("momentary", 0.25)} if asked else {("lasting", 0.1), ("momentary", 0.05)}
    )
    assumed = {number.quantity for number in assumed_numbers(found)}
    assert {"success", "attack_cost", "cost"}.isdisjoint(assumed) if asked else {"success", "cost"} <= assumed


def test_a_table_is_where_those_numbers_come_from_that_it_says_and_no_others(tmp_path: Path) -> None:
    table = tmp_path / "kinds.csv"
    table.write_text("kind,success,attack_cost,block_cost,effort\nHasSession,0.4,,0.01,\n")
    nodes = [START, GOAL, node("c", "Computer"), node("v", "User")]
    edges = [edge("AdminTo", "u", "c"), edge("HasSession", "c", "v"), edge("AddSelf", "v", "g")]
    found = imported(tmp_path, opengraph(nodes, edges), settings={"table": str(table)}, attack_cost=0.25).graph
    session = next(e for e in found.exploits if "HasSession" in e.references)
    assert (session.success, session.attack_cost) == (0.4, 0.25)
    told = {of: said_of(found, of)[session.id] for of in ("success", "attack_cost")}
    assert {of: one and str(one[0]) for of, one in told.items()} == {"success": "source", "attack_cost": "option"}
    costs = {c.label: (c.cost, str((said_of(found, "cost")[c.id] or "?")[0])) for c in found.controls or ()}
    assert costs["log v off from c for a stage"] == (0.01, "source")
    assert costs["let v log on to c no more"] == (0.02, "default")


def test_two_ways_into_a_group_are_not_ended_by_one_membership(tmp_path: Path) -> None:
    nodes = [START, GOAL, *(node(id_, "Group") for id_ in "abc")]
    edges = [edge("MemberOf", start, end) for start, end in (("u", "a"), ("u", "b"), ("a", "c"), ("b", "c"))]
    graph = opengraph(nodes, [*edges, edge("AddSelf", "c", "g")])
    found = imported(tmp_path, graph).graph
    way = {control.label: set(control.blocks) for control in found.controls or ()}
    assert way.pop("remove AddSelf of c over g") == {exploit.id for exploit in found.exploits}
    assert way == {"remove u from a": way["remove a from c"], "remove a from c": way["remove a from c"]} | {
        "remove u from b": way["remove b from c"],
        "remove b from c": way["remove b from c"],
    }
    assert way["remove u from a"].isdisjoint(way["remove u from b"])


def authority(*templates: str, users: str = "u", **changes: Any) -> tuple[list[Data], list[Data]]:
    """Return nodes and edges of a domain whose authority publishes templates that serve users for ESC1."""
    serving = {"authenticationenabled": True, "enrolleesuppliessubject": True, "schemaversion": 1}
    serving |= {"requiresmanagerapproval": False, "authorizedsignatures": 0} | changes
    nodes = [
        node("d", "Domain", name="LAB"),
        node("ca", "EnterpriseCA", name="CA", certthumbprint="F"),
        node("root", "RootCA", certthumbprint="F"),
        node("store", "NTAuthStore", certthumbprints=["F"]),
        *(node(id_, "CertTemplate", name=id_.upper(), **serving) for id_ in templates),
        *(node(id_, "User", owned=True) for id_ in users),
    ]
    edges = [edge("RootCAFor", "root", "d"), edge("NTAuthStoreFor", "store", "d")]
    edges += [edge("PublishedTo", template, "ca") for template in templates]
    return nodes, edges + [edge("Enroll", who, what) for who in users for what in ("ca", *templates)]


def stops(found: Imported) -> dict[str, int]:
    return {control.label: len(control.blocks) for control in found.graph.controls or ()}


def test_a_template_serves_all_that_may_enroll_until_its_flag_or_their_right_is_gone(tmp_path: Path) -> None:
    found = imported(tmp_path, opengraph(*authority("web", users="uv")))
    assert stops(found) == {
        "clear 'enrollee supplies subject' of the template WEB": 2,
        "remove the right to enroll at the template WEB from u": 1,
        "remove the right to enroll at the template WEB from v": 1,
    }
    assert "ADCSESC1 LAB by WEB as u (get a certificate for anybody)" in {e.label for e in found.graph.exploits}
    assert "NOT DERIVED, so that ways may be missing: ADCSESC5" in str(found.report)


@pytest.mark.parametrize("exported", [[], [edge("ADCSESC1", "u", "d")]], ids=["objects", "BloodHound's export"])
def test_two_templates_are_two_steps_and_neither_control_stops_both(tmp_path: Path, exported: list[Data]) -> None:
    nodes, edges = authority("web", "vpn")
    found = imported(tmp_path, opengraph(nodes, edges + exported))
    assert len(found.graph.exploits) == 2
    assert set(stops(found).values()) == {1}
    assert len(stops(found)) == 4


def test_a_control_of_certificates_stops_exactly_what_doing_so_in_the_domain_stops(tmp_path: Path) -> None:
    nodes, edges = authority("web", "vpn", users="uv")
    before = imported(tmp_path, opengraph(nodes, edges)).graph
    kept = {control.label: len(before.exploits) - len(control.blocks) for control in before.controls or ()}
    done: dict[str, tuple[list[Data], list[Data]]] = {}
    for template in ("web", "vpn"):
        cleared = [one | {"properties": one["properties"] | {"enrolleesuppliessubject": False}} for one in nodes]
        changed = [new if new["id"] == template else old for old, new in zip(nodes, cleared, strict=True)]
        done[f"clear 'enrollee supplies subject' of the template {template.upper()}"] = (changed, edges)
        for who in "uv":
            rest = [one for one in edges if one != edge("Enroll", who, template)]
            done[f"remove the right to enroll at the template {template.upper()} from {who}"] = (nodes, rest)
    after = {label: imported(tmp_path, opengraph(*domain)).graph for label, domain in done.items()}
    assert {label: len(graph.exploits) for label, graph in after.items()} == kept
    assert sorted(kept.values()) == [2, 2, 3, 3, 3, 3]


def test_who_may_change_a_template_loses_that_right_and_who_enrolls_for_agents_needs_approval(tmp_path: Path) -> None:
    nodes, edges = authority("web", enrolleesuppliessubject=False)
    found = imported(tmp_path, opengraph(nodes, [*edges, edge("WriteDacl", "u", "web")]))
    assert stops(found)["remove the right to change the template WEB from u"] == 1
    assert {e.references[0] for e in found.graph.exploits if e.result == "LAB"} == {"ADCSESC4"}
    nodes, edges = authority("agent", "web", schemaversion=1, enrolleesuppliessubject=False, effectiveekus=[])
    found = imported(tmp_path, opengraph(nodes, edges))
    assert "require approval at the template AGENT" in stops(found)


def test_an_edge_of_an_export_says_that_all_its_templates_count(tmp_path: Path) -> None:
    graph = opengraph([START, node("d", "Domain", name="LAB")], [edge("ADCSESC1", "u", "d"), edge("DCFor", "c", "d")])
    said = "take the right to enroll at every template that serves for it away: ADCSESC1 of u over LAB"
    assert stops(imported(tmp_path, graph)) == {said: 1}


def test_tier_zero_is_one_goal_and_of_many_others_the_first_are_taken(tmp_path: Path) -> None:
    zero = [node(f"{DOMAIN}-{number}", "Group", name=name) for number, name in ((512, "DA"), (519, "EA"))]
    others = [node(f"s{k}", "Computer", name=f"S{k}", highvalue=True) for k in range(9)]
    edges = [edge("GenericAll", "u", thing["id"]) for thing in (*zero, *others)]
    found = imported(tmp_path, opengraph([START, *zero, *others], edges))
    assert found.report.goals == ("DA", "S0", "S1", "S2", "S3")
    assert "goals of the source that are one, since either gives the other: Group:EA" in str(found.report)
    assert "5 x goals of the source beyond the first 5, which are the likeliest; --goal names others" in str(
        found.report
    )
    assert {(exploit.premises, exploit.result) for exploit in found.graph.exploits} >= {(("u",), "DA")}


def test_everything_in_the_source_is_in_the_graph_or_said_to_be_left_out(tmp_path: Path) -> None:
    nodes = [START, GOAL, *(node(id_, "Group", name=f"N {id_}") for id_ in "abcdef")]
    edges = [
        *[
            edge("MemberOf", "u", "a"),
            edge("GenericAll", "a", "b"),
            edge("MemberOf", "b", "c"),
            edge("AddSelf", "c", "g"),
        ],
        *[edge("AddSelf", "c", "d"), edge("AddSelf", "e", "g")],
    ]
    found = imported(tmp_path, opengraph(nodes, edges))
    said = {c.label or c.id for c in found.graph.conditions}
    said |= {name.partition(":")[2] or name for names in found.report.left_out.values() for name in names}
    assert said >= {"u", "g", *(f"N {id_}" for id_ in "abcdef")}


def test_a_file_in_an_archive_that_is_nothing_known_is_refused_by_its_name(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("notes.json", '{"some": "thing"}')
    with pytest.raises(InputError, match=r"all\.zip: notes\.json: is not a BloodHound file"):
        import_graph("bloodhound", tmp_path / "all.zip")
