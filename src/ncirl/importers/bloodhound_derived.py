"""Edges that BloodHound computes after it has read its files: rights that mean something only together.

    DCSync            GetChanges and GetChangesAll over a domain
    SyncLAPSPassword  GetChanges and GetChangesInFilteredSet: the password of every computer with LAPS of the domain
    AdminTo, …        members of a computer's local groups; for CanRDP the log-on right too, where it was collected
    Owns, WriteOwner  of what older files call OwnsRaw and WriteOwnerRaw, unless the domain blocks owners of computers

and certificates (`bloodhound_certificates`). "Together" is in the hands of one principal, by itself or through its
groups; whoever has them by one group only is not named, since it has what the group has. The edge says which rights it
takes, so that its controls are about those who have them.
What is not derived is told by `not_derived`.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from ncirl.importers.bloodhound_certificates import certificate_edges
from ncirl.importers.bloodhound_graph import Edge, Node
from ncirl.importers.bloodhound_holders import Holders
from ncirl.importers.values import text, truth

__all__ = ["derived_edges", "not_derived"]

LOCAL_GROUPS = {"544": "AdminTo", "555": "CanRDP", "562": "ExecuteDCOM", "580": "CanPSRemote"}
REMOTE_DESKTOP = "555"
RAW = {"OwnsRaw": "Owns", "WriteOwnerRaw": "WriteOwner"}
BLOCKS_OWNERS = 28  # the character of dSHeuristics that says so
EVERYBODY = (("-513", "S-1-5-11"), ("-515", "S-1-5-11"), ("S-1-5-11", "S-1-1-0"))  # who is always in which group
NOT_DERIVED = {  # by the kind of node that they would come from
    "EnterpriseCA": (
        *("ADCSESC5", "ADCSESC6a", "ADCSESC6b", "ADCSESC7", "ADCSESC9a", "ADCSESC9b", "ADCSESC10a", "ADCSESC10b"),
        *("ADCSESC13", "ADCSESC16"),
    ),
    "Computer": (
        *("CoerceAndRelayNTLMToSMB", "CoerceAndRelayNTLMToLDAP", "CoerceAndRelayNTLMToLDAPS"),
        "CoerceAndRelayNTLMToADCS",
    ),
}


def derived_edges(nodes: Mapping[str, Node], edges: list[Edge]) -> list[Edge]:
    """Return the edges that follow from others and are not among them, or not with what they go by."""
    there = {(edge.kind, edge.start, edge.end) for edge in edges}
    everybody = [edge for edge in _everybody(nodes) if (edge.kind, edge.start, edge.end) not in there]
    owned = list(_owners(nodes, edges))
    known = Holders([*edges, *everybody, *owned])
    found = [*everybody, *owned, *_replication(nodes, known), *_local(edges, known), *certificate_edges(nodes, known)]
    once: dict[tuple[str, str, str, tuple[str, ...]], Edge] = {}
    for edge in found:
        if (edge.by or edge.takes or (edge.kind, edge.start, edge.end) not in there) and edge.start != edge.end:
            same = once.setdefault((edge.kind, edge.start, edge.end, edge.by), edge)
            if same is not edge:
                once[edge.kind, edge.start, edge.end, edge.by] = replace(same, takes=(*same.takes, *edge.takes))
    return list(once.values())


def not_derived(nodes: Mapping[str, Node], edges: Iterable[Edge]) -> list[str]:
    """Tell which of BloodHound's computed edges are missing, as far as the files have what they would come from."""
    there = {edge.kind for edge in edges}
    kinds = {kind for node in nodes.values() for kind in node.kinds}
    return [told for kind, missing in NOT_DERIVED.items() if kind in kinds for told in missing if told not in there]


def _everybody(nodes: Mapping[str, Node]) -> Iterator[Edge]:
    """Yield the memberships that nobody writes down: every account is authenticated, and everybody is somebody."""
    domains = {node.id: node.name.upper() for node in nodes.values() if "Domain" in node.kinds}
    for small, large in EVERYBODY:
        for id_ in nodes:
            if id_.endswith(small):
                start = (
                    domains.get(id_.removesuffix(small), "")
                    if small.startswith("-")
                    else id_.rpartition("-" + small)[0]
                )
                end = f"{start}-{large}"
                if start and end in nodes and end != id_:
                    yield Edge("MemberOf", id_, end)


def _owners(nodes: Mapping[str, Node], edges: Iterable[Edge]) -> Iterator[Edge]:
    """Yield what owners have; where the domain blocks it, owners of a computer have nothing but what they are given."""
    blocking = {
        node.id
        for node in nodes.values()
        if "Domain" in node.kinds and text(node.properties.get("dsheuristics"))[BLOCKS_OWNERS:][:1] == "1"
    }
    for edge in edges:
        if edge.kind in RAW:
            end = nodes.get(edge.end)
            known = end.properties if end is not None else {}
            machine = end is not None and (
                "Computer" in end.kinds or truth(known.get("gmsa")) or truth(known.get("msa"))
            )
            if not (machine and text(known.get("domainsid")) in blocking):
                yield Edge(RAW[edge.kind], edge.start, edge.end)


def _replication(nodes: Mapping[str, Node], known: Holders) -> Iterator[Edge]:
    machines: dict[str, list[str]] = defaultdict(list)
    for node in nodes.values():
        if "Computer" in node.kinds and truth(node.properties.get("haslaps")):
            machines[text(node.properties.get("domainsid")) or node.id.rpartition("-")[0]].append(node.id)
    for domain in (node for node in nodes.values() if "Domain" in node.kinds or not node.kinds):
        first = known.right("", domain.id, "GetChanges")
        secrets = (first, known.right("GetChangesAll", domain.id, "GetChangesAll"))
        for who in known.together(*secrets):
            yield Edge("DCSync", who, domain.id, takes=(secrets,))
        some = (first, known.right("GetChangesInFilteredSet", domain.id, "GetChangesInFilteredSet"))
        for who in known.together(*some):
            yield from (Edge("SyncLAPSPassword", who, machine, takes=(some,)) for machine in machines[domain.id])


def _local(edges: Iterable[Edge], known: Holders) -> Iterator[Edge]:
    for group, computer in ((edge.start, edge.end) for edge in edges if edge.kind == "LocalToComputer"):
        number = group.rpartition("-")[2]
        if number not in LOCAL_GROUPS:
            continue
        members = known.right("MemberOfLocalGroup", group, "MemberOfLocalGroup")
        allowed = known.right("", computer, "RemoteInteractiveLogonRight")
        if number == REMOTE_DESKTOP and allowed.holders and group not in allowed.holders:
            both = (members, allowed)
            yield from (Edge("CanRDP", member, computer, takes=(both,)) for member in known.together(*both))
        else:
            yield from (Edge(LOCAL_GROUPS[number], member, computer) for member in members.holders)
