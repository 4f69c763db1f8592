"""Edges that BloodHound computes after reading: rights that mean something only together, and certificates."""

from __future__ import annotations

from typing import Any

import pytest

from ncirl.importers.bloodhound_collector import nodes_and_edges
from ncirl.importers.bloodhound_derived import derived_edges, not_derived
from ncirl.importers.bloodhound_graph import Edge, Node, lowered

Data = dict[str, Any]
REQUEST_AGENT = "1.3.6.1.4.1.311.20.2.1"


def node(id: str, kind: str, **properties: Any) -> Node:
    return Node(id, id.upper(), (kind,), properties=lowered(properties))


def derived(nodes: list[Node], edges: list[tuple[str, str, str]]) -> set[tuple[str, str, str]]:
    known = {one.id: one for one in nodes}
    for _, *ends in edges:
        for end in ends:
            known.setdefault(end, Node(end))
    found = derived_edges(known, [Edge(*edge) for edge in edges])
    return {(edge.kind, edge.start, edge.end) for edge in found}


DOMAIN = node("d", "Domain")


@pytest.mark.parametrize(
    ("edges", "expected"),
    [
        ([("GetChanges", "a", "d"), ("GetChangesAll", "a", "d")], {"a"}),
        # v has both rights without the group: to take it out of the group takes nothing away
        (
            [(right, who, "d") for right in ("GetChanges", "GetChangesAll") for who in ("g1", "v")]
            + [("MemberOf", "v", "g1"), ("MemberOf", "w", "g1")],
            {"g1", "v"},
        ),
        ([("GetChanges", "a", "d"), ("GetChangesAll", "b", "d")], set()),
        # u is in both groups, w in one only; v has one right itself and the other through its group
        (
            [
                *[("GetChanges", "g1", "d"), ("GetChangesAll", "g2", "d"), ("GetChangesAll", "v", "d")],
                *[("MemberOf", who, group) for who, group in (("u", "g1"), ("u", "g2"), ("w", "g1"), ("v", "g1"))],
            ],
            {"u", "v"},
        ),
        # the group has both: its members need not be named
        ([("GetChanges", "g", "d"), ("GetChangesAll", "g", "d"), ("MemberOf", "u", "g")], {"g"}),
    ],
)
def test_replicating_secrets_takes_both_rights_in_the_same_hands(
    edges: list[tuple[str, str, str]], expected: set[str]
) -> None:
    assert {start for kind, start, _ in derived([DOMAIN], edges) if kind == "DCSync"} == expected


def test_replicating_the_filtered_set_reads_the_passwords_of_laps() -> None:
    with_laps = node("c1", "Computer", haslaps=True, domainsid="d")
    without = node("c2", "Computer", haslaps=False, domainsid="d")
    elsewhere = node("c3", "Computer", haslaps=True, domainsid="e")
    rights = [("GetChanges", "a", "d"), ("GetChangesInFilteredSet", "a", "d")]
    assert derived([DOMAIN, with_laps, without, elsewhere], rights) == {("SyncLAPSPassword", "a", "c1")}


@pytest.mark.parametrize(
    ("number", "kind"), [("544", "AdminTo"), ("562", "ExecuteDCOM"), ("580", "CanPSRemote"), ("555", "CanRDP")]
)
def test_members_of_local_groups_can_log_on(number: str, kind: str) -> None:
    group = f"c-{number}"
    edges = [("LocalToComputer", group, "c"), ("MemberOfLocalGroup", "a", group), ("MemberOfLocalGroup", "b", group)]
    assert derived([], edges) == {(kind, "a", "c"), (kind, "b", "c")}
    allowed = derived([], [*edges, ("RemoteInteractiveLogonRight", "b", "c")])
    assert allowed == ({(kind, "b", "c")} if kind == "CanRDP" else {(kind, "a", "c"), (kind, "b", "c")})


def test_local_groups_are_told_by_collectors_and_by_policies() -> None:
    def told(thing: Data, type_: str) -> set[tuple[str, str, str]]:
        _, edges = nodes_and_edges([{"meta": {"type": type_}, "data": [thing]}])
        return {(edge.kind, edge.start, edge.end) for edge in edges}

    member = {"ObjectIdentifier": "a"}
    expected = {("LocalToComputer", "c-544", "c"), ("MemberOfLocalGroup", "a", "c-544")}
    group = {"ObjectIdentifier": "c-544", "Name": "ADMINISTRATORS@C", "Results": [member]}
    assert told({"ObjectIdentifier": "c", "LocalGroups": [group]}, "computers") == expected
    changes = {"LocalAdmins": [member], "AffectedComputers": [{"ObjectIdentifier": "c"}]}
    assert told({"ObjectIdentifier": "o", "GPOChanges": changes}, "ous") == expected
    right = {"Privilege": "SeRemoteInteractiveLogonRight", "Results": [member]}
    assert told({"ObjectIdentifier": "c", "UserRights": [right]}, "computers") == {
        ("RemoteInteractiveLogonRight", "a", "c")
    }


def test_owners_have_what_owners_have_unless_the_domain_blocks_it_for_computers() -> None:
    heuristics = "0" * 28 + "1"
    blocking = node("d", "Domain", dsheuristics=heuristics)
    computer, user = node("c", "Computer", domainsid="d"), node("u", "User", domainsid="d")
    edges = [("OwnsRaw", "a", "c"), ("OwnsRaw", "a", "u"), ("WriteOwnerRaw", "a", "c")]
    everything = {("Owns", "a", "c"), ("Owns", "a", "u"), ("WriteOwner", "a", "c")}
    assert derived([DOMAIN, computer, user], edges) == everything
    assert derived([blocking, computer, user], edges) == {("Owns", "a", "u")}


@pytest.mark.parametrize(("right", "expected"), [("WriteDacl", ["OwnsLimitedRights"]), ("ReadProperty", [])])
def test_where_owners_are_limited_they_have_what_they_are_left(right: str, expected: list[str]) -> None:
    aces = [{"PrincipalSID": "LAB-S-1-3-4", "RightName": right}, {"PrincipalSID": "a", "RightName": "Owns"}]
    _, edges = nodes_and_edges([{"meta": {"type": "groups"}, "data": [{"ObjectIdentifier": "g", "Aces": aces}]}])
    assert [edge.kind for edge in edges] == expected


def test_every_account_is_authenticated_and_everybody_is_somebody() -> None:
    domain = Node("S-1-5-21-1-2-3", "LAB", ("Domain",))
    groups = [Node(id_) for id_ in ("S-1-5-21-1-2-3-513", "LAB-S-1-5-11", "LAB-S-1-1-0", "OTHER-S-1-1-0")]
    assert derived([domain, *groups], [("AdminTo", "x", "y")]) == {
        ("MemberOf", "S-1-5-21-1-2-3-513", "LAB-S-1-5-11"),
        ("MemberOf", "LAB-S-1-5-11", "LAB-S-1-1-0"),
    }


CA = node("ca", "EnterpriseCA", certthumbprint="F00", certchain=["F00", "BA4"])
ROOT = node("root", "RootCA", certthumbprint="BA4")
STORE = node("store", "NTAuthStore", certthumbprints=["F00"])
TRUSTED = [("RootCAFor", "root", "d"), ("NTAuthStoreFor", "store", "d")]
ENROLL = [("Enroll", "u", "ca"), ("PublishedTo", "t", "ca")]


def template(id: str = "t", **changes: Any) -> Node:
    serving = {"authenticationenabled": True, "enrolleesuppliessubject": True, "requiresmanagerapproval": False}
    return node(id, "CertTemplate", **(serving | {"schemaversion": 2, "authorizedsignatures": 0} | changes))


def certified(*templates: Node, edges: list[tuple[str, str, str]], store: Node = STORE) -> set[tuple[str, str]]:
    found = derived([DOMAIN, CA, ROOT, store, *templates], [*TRUSTED, *ENROLL, *edges])
    return {(kind, start) for kind, start, end in found if end == "d"}


@pytest.mark.parametrize(
    ("changes", "serves"),
    [
        ({}, True),
        ({"schemaversion": 1, "authorizedsignatures": 3}, True),
        ({"authorizedsignatures": 1}, False),
        ({"requiresmanagerapproval": True}, False),
        ({"enrolleesuppliessubject": False}, False),
        ({"authenticationenabled": False}, False),
    ],
)
def test_who_may_name_the_subject_is_anybody(changes: Data, serves: bool) -> None:
    assert certified(template(**changes), edges=[("Enroll", "u", "t")]) == ({("ADCSESC1", "u")} if serves else set())


def test_an_authority_counts_where_its_root_and_itself_are_trusted() -> None:
    elsewhere = node("store", "NTAuthStore", certthumbprints=["ABC"])
    assert certified(template(), edges=[("Enroll", "u", "t")], store=elsewhere) == set()
    assert certified(template(), edges=[("HostsCAService", "host", "ca")]) == {("GoldenCert", "host")}
    said = [("TrustedForNTAuth", "ca", "store"), ("EnterpriseCAFor", "ca", "root"), ("Enroll", "u", "t")]
    bare = node("ca", "EnterpriseCA")
    found = derived([DOMAIN, bare, ROOT, elsewhere, template()], [*TRUSTED, *ENROLL, *said])
    assert ("ADCSESC1", "u", "d") in found


def test_enrollment_takes_the_authority_and_the_template() -> None:
    assert certified(template(), edges=[("Enroll", "w", "t")]) == set()
    through = [("Enroll", "g", "t"), ("MemberOf", "u", "g")]
    assert certified(template(), edges=through) == {("ADCSESC1", "u")}


@pytest.mark.parametrize(
    ("rights", "changes", "can"),
    [
        (["WriteDacl"], {"authenticationenabled": False}, True),
        (["Owns"], {}, True),
        (["GenericWrite"], {}, False),
        (["GenericWrite", "Enroll"], {"authenticationenabled": False}, True),
        (["WritePKINameFlag", "Enroll"], {"enrolleesuppliessubject": False}, True),
        (["WritePKINameFlag", "Enroll"], {"enrolleesuppliessubject": False, "requiresmanagerapproval": True}, False),
        (["WritePKIEnrollmentFlag", "Enroll"], {"requiresmanagerapproval": True}, True),
    ],
)
def test_who_may_change_a_template_makes_it_serve(rights: list[str], changes: Data, can: bool) -> None:
    found = certified(template(**changes), edges=[(right, "u", "t") for right in rights])
    assert (("ADCSESC4", "u") in found) == can


@pytest.mark.parametrize(
    ("agent", "target", "can"),
    [
        ({}, {}, True),
        ({"effectiveekus": ["1.2.3"]}, {}, False),
        ({}, {"authorizedsignatures": 0}, False),
        ({}, {"applicationpolicies": []}, False),
        ({}, {"requiresmanagerapproval": True}, False),
        ({"requiresmanagerapproval": True}, {}, False),
        ({"effectiveekus": []}, {"schemaversion": 1}, True),
    ],
)
def test_enrollment_agents_enroll_for_others(agent: Data, target: Data, can: bool) -> None:
    plain = {"enrolleesuppliessubject": False}
    first = template("agent", **({"effectiveekus": [REQUEST_AGENT], "authenticationenabled": False} | plain | agent))
    second = template("t", **({"authorizedsignatures": 1, "applicationpolicies": [REQUEST_AGENT]} | plain | target))
    rights = [("PublishedTo", "agent", "ca"), ("Enroll", "u", "agent"), ("Enroll", "u", "t")]
    assert (("ADCSESC3", "u") in certified(first, second, edges=rights)) == can


def test_certificate_objects_of_collectors_are_read() -> None:
    files = [
        {
            "meta": {"type": "enterprisecas"},
            "data": [
                {
                    "ObjectIdentifier": "ca",
                    "HostingComputer": "host",
                    "EnabledCertTemplates": [{"ObjectIdentifier": "t"}],
                    "CARegistryData": {"CASecurity": {"Data": [{"PrincipalSID": "u", "RightName": "Enroll"}]}},
                    "Properties": {"name": "CA", "certthumbprint": "F00", "certchain": ["F00", "BA4"]},
                }
            ],
        },
        {
            "meta": {"type": "rootcas"},
            "data": [{"ObjectIdentifier": "root", "DomainSID": "d", "Properties": {"certthumbprint": "BA4"}}],
        },
        {
            "meta": {"type": "ntauthstores"},
            "data": [{"ObjectIdentifier": "store", "DomainSID": "d", "Properties": {"certthumbprints": ["F00"]}}],
        },
        {
            "meta": {"type": "certtemplates"},
            "data": [
                {
                    "ObjectIdentifier": "t",
                    "Aces": [{"PrincipalSID": "u", "RightName": "Enroll"}],
                    "Properties": dict(template().properties),
                }
            ],
        },
        {"meta": {"type": "domains"}, "data": [{"ObjectIdentifier": "d"}]},
    ]
    nodes, edges = nodes_and_edges(files)
    found = {(edge.kind, edge.start, edge.end) for edge in derived_edges(nodes, edges)}
    assert found == {("ADCSESC1", "u", "d"), ("GoldenCert", "host", "d")}


def test_what_is_not_derived_is_told_unless_it_is_there() -> None:
    nodes = {one.id: one for one in (CA, node("c", "Computer"))}
    assert {"ADCSESC6a", "CoerceAndRelayNTLMToSMB"} <= set(not_derived(nodes, []))
    assert "ADCSESC6a" not in not_derived(nodes, [Edge("ADCSESC6a", "a", "d")])
    assert not_derived({}, []) == []
