"""What BloodHound's collectors write: objects of a domain, from which the edges have to be derived.

Files of the versions 4 to 6 (users, computers, groups, domains, OUs, GPOs, containers, certificate objects, sessions)
are read together, because an edge often has its ends in two of them. `meta.count` is often wrong and never used. These
are the edges that BloodHound has once it has read the files; what it makes of them afterwards is `bloodhound_derived`.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ncirl.importers.bloodhound_graph import Edge, Node, is_owned, is_prized, lowered
from ncirl.importers.values import mapping, mappings, text, truth

__all__ = ["KINDS", "kind_of", "nodes_and_edges"]

KINDS = {
    "users": "User",
    "computers": "Computer",
    "groups": "Group",
    "domains": "Domain",
    "ous": "OU",
    "gpos": "GPO",
    "containers": "Container",
    "sessions": "Session",
    "aiacas": "AIACA",
    "rootcas": "RootCA",
    "enterprisecas": "EnterpriseCA",
    "ntauthstores": "NTAuthStore",
    "certtemplates": "CertTemplate",
    "issuancepolicies": "IssuancePolicy",
}
LOG_ON_RIGHTS = ("SeRemoteInteractiveLogonRight", "SeRemoteInteractiveLogonPrivilege")
LOCAL_NUMBERS = {"LocalAdmins": "544", "RemoteDesktopUsers": "555", "DcomUsers": "562", "PSRemoteUsers": "580"}
LOCAL_LISTS = {
    "LocalAdmins": "AdminTo",
    "RemoteDesktopUsers": "CanRDP",
    "DcomUsers": "ExecuteDCOM",
    "PSRemoteUsers": "CanPSRemote",
}
OUTWARD = {
    "AllowedToDelegate": "AllowedToDelegate",
    "ChildObjects": "Contains",
    "DumpSMSAPassword": "DumpSMSAPassword",
    "HasSIDHistory": "HasSIDHistory",
}
INWARD = {"Members": "MemberOf", "AllowedToAct": "AllowedToAct"}
SAME_FOREST = {"ParentChild", "TreeRoot", "CrossLink", "0", "1"}
TRUST_IN, TRUST_OUT = {"Inbound", "Bidirectional", "1", "3"}, {"Outbound", "Bidirectional", "2", "3"}
OWNER_RIGHTS = "S-1-3-4"  # stands for whoever the owner is; controls nothing itself
OWNERS_USE = {"GenericAll", "GenericWrite", "WriteDacl", "WriteOwner", "AllExtendedRights", "AddMember"}
WELL_KNOWN = {
    "S-1-1-0": "EVERYONE",
    "S-1-5-11": "AUTHENTICATED USERS",
    "S-1-5-9": "ENTERPRISE DOMAIN CONTROLLERS",
    "S-1-5-32-544": "ADMINISTRATORS",
    "S-1-5-32-545": "USERS",
    "S-1-5-32-548": "ACCOUNT OPERATORS",
    "S-1-5-32-549": "SERVER OPERATORS",
    "S-1-5-32-550": "PRINT OPERATORS",
    "S-1-5-32-551": "BACKUP OPERATORS",
}
FOR_A_DOMAIN = {"rootcas": "RootCAFor", "ntauthstores": "NTAuthStoreFor"}


def kind_of(data: Any) -> str | None:
    """Return which objects a collector's file holds, in the words of its `meta`; None where it is no such file."""
    if not (isinstance(data, dict) and isinstance(data.get("meta"), dict)):
        return None
    kind = text(data["meta"].get("type")).lower()
    return kind if kind or "data" in data else None


def nodes_and_edges(files: Iterable[Mapping[str, Any]]) -> tuple[dict[str, Node], list[Edge]]:
    """Return every object of some collector's files, and the edges between them, each once.

    Objects that are only referred to become nodes too, without a name.
    """
    nodes: dict[str, Node] = {}
    referred: dict[str, Node] = {}
    edges: dict[tuple[str, str, str], None] = {}
    for data in files:
        type_ = kind_of(data) or ""
        for thing in mappings(data.get("data", data.get(type_))):
            own = _id(thing)
            if own and type_ != "sessions":
                nodes[own] = _node(own, KINDS.get(type_, type_), thing)
                others = [*_local_groups(thing, nodes[own]), *_trusted(thing)]
                referred |= {node.id: node for node in others}
            told = [*_edges(thing, own), *_certificates(thing, own, type_)]
            edges |= dict.fromkeys((kind, start, end) for kind, start, end in told if start and end and start != end)
    for _, *ends in edges:
        for end in ends:
            if end not in nodes and end in referred:
                nodes[end] = referred[end]
            elif end not in nodes:
                nodes[end] = Node(end, *_well_known(end), prized=is_prized(end, (), {}))
    return nodes, [Edge(*edge) for edge in edges]


def _well_known(id: str) -> tuple[str, tuple[str, ...]]:
    """Return the name and the kinds of a group that is the same everywhere and that files only refer to."""
    for ending, name in WELL_KNOWN.items():
        if id.endswith(f"-{ending}"):
            return f"{name}@{id.removesuffix(ending).rstrip('-')}", ("Group",)
    return "", ()


def _node(own: str, kind: str, thing: Mapping[str, Any]) -> Node:
    known = mapping(thing.get("Properties"))
    name = text(known.get("name")) or text(known.get("displayname"))
    restrictions = mapping(mapping(thing.get("CARegistryData")).get("EnrollmentAgentRestrictions"))
    more: dict[str, Any] = (
        {"hasenrollmentagentrestrictions": bool(restrictions.get("Restrictions"))} if restrictions else {}
    )
    more |= {"domainsid": text(thing.get("DomainSID"))} if text(thing.get("DomainSID")) else {}
    prized = is_prized(own, (kind,), known)
    return Node(own, name, (kind,), is_owned((), known), prized, more | lowered(known))


def _local_groups(thing: Mapping[str, Any], computer: Node) -> Iterator[Node]:
    for group in mappings(thing.get("LocalGroups")):
        if _id(group):
            name = text(group.get("Name"))
            yield Node(_id(group), name or f"{computer.name} {_id(group).rpartition('-')[2]}", ("ADLocalGroup",))


def _trusted(thing: Mapping[str, Any]) -> Iterator[Node]:
    for trust in mappings(thing.get("Trusts")):
        id_, name = text(trust.get("TargetDomainSid")), text(trust.get("TargetDomainName"))
        yield Node(id_, name.upper(), ("Domain",), prized=is_prized(id_, ("Domain",), {}))


def _edges(thing: Mapping[str, Any], own: str) -> Iterator[tuple[str, str, str]]:
    """Yield the (kind, start, end) that one object tells of."""
    if "UserSID" in thing and "ComputerSID" in thing:
        yield "HasSession", text(thing["ComputerSID"]), text(thing["UserSID"])
        return
    yield from _rights(mappings(thing.get("Aces")), own)
    for field, kind in OUTWARD.items():
        yield from ((kind, own, target) for target in _ids(thing.get(field)))
    for field, kind in INWARD.items():
        yield from ((kind, actor, own) for actor in _ids(thing.get(field)))
    yield "MemberOf", own, text(thing.get("PrimaryGroupSID") or thing.get("PrimaryGroupSid"))
    yield "Contains", _id(thing.get("ContainedBy")), own
    for target in mappings(thing.get("SpnTargets") or thing.get("SPNTargets")):
        yield text(target.get("Service")) or "SPNTarget", own, text(target.get("ComputerSID"))
    for link in mappings(thing.get("Links")):
        yield "GPLink", text(link.get("GUID") or link.get("Guid")), own
    yield from _on_a_computer(thing, own)
    for trust in mappings(thing.get("Trusts")):
        yield from _trust(trust, own)


def _on_a_computer(thing: Mapping[str, Any], own: str) -> Iterator[tuple[str, str, str]]:
    for field in ("Sessions", "PrivilegedSessions", "RegistrySessions"):
        for session in mappings(_results(thing.get(field))):
            user = text(session.get("UserSID") or session.get("UserId"))
            yield "HasSession", text(session.get("ComputerSID")) or own, user
    for group in mappings(thing.get("LocalGroups")):
        yield "LocalToComputer", _id(group), own
        yield from (("MemberOfLocalGroup", member, _id(group)) for member in _ids(_results(group)))
    for right in mappings(thing.get("UserRights")):
        if text(right.get("Privilege")) in LOG_ON_RIGHTS:
            yield from (("RemoteInteractiveLogonRight", holder, own) for holder in _ids(_results(right)))
    for field, kind in LOCAL_LISTS.items():
        yield from ((kind, member, own) for member in _ids(_results(thing.get(field))))
    changes = mapping(thing.get("GPOChanges"))
    for computer in _ids(changes.get("AffectedComputers")):
        for field, number in LOCAL_NUMBERS.items():
            local, members = f"{computer}-{number}", _ids(changes.get(field))
            yield from (("MemberOfLocalGroup", member, local) for member in members)
            yield from (("LocalToComputer", local, computer) for _ in members[:1])
    known = mapping(thing.get("Properties"))
    domain = text(thing.get("DomainSID") or known.get("domainsid"))
    if truth(thing.get("IsDC")):
        yield "DCFor", own, domain
    elif truth(known.get("unconstraineddelegation", thing.get("UnconstrainedDelegation"))):
        yield "CoerceToTGT", own, domain


def _trust(trust: Mapping[str, Any], own: str) -> Iterator[tuple[str, str, str]]:
    other, direction = text(trust.get("TargetDomainSid")), text(trust.get("TrustDirection"))
    kind = "SameForestTrust" if text(trust.get("TrustType")) in SAME_FOREST else "CrossForestTrust"
    if direction in TRUST_IN:
        yield kind, other, own
        if kind == "CrossForestTrust" and truth(trust.get("TGTDelegationEnabled")):
            yield "AbuseTGTDelegation", other, own
    if direction in TRUST_OUT:
        yield kind, own, other
        if kind == "CrossForestTrust" and truth(trust.get("SidFilteringEnabled")) is False:
            yield "SpoofSIDHistory", other, own


def _rights(aces: list[Mapping[str, Any]], own: str) -> Iterator[tuple[str, str, str]]:
    """Yield the rights over an object; where its owner's are limited to some, those and not all that owners have."""
    told = [(text(ace.get("RightName")), text(ace.get("PrincipalSID"))) for ace in aces]
    limits = {right for right, principal in told if principal.endswith(OWNER_RIGHTS)}
    for right, principal in told:
        if not right or principal.endswith(OWNER_RIGHTS):
            continue
        if right == "Owns" and limits:
            if limits & OWNERS_USE:
                yield "OwnsLimitedRights", principal, own
        else:
            yield right, principal, own


def _certificates(thing: Mapping[str, Any], own: str, type_: str) -> Iterator[tuple[str, str, str]]:
    """Yield what certificate objects tell: where an authority runs, what it publishes, whom it serves."""
    domain = text(thing.get("DomainSID") or mapping(thing.get("Properties")).get("domainsid"))
    if type_ in FOR_A_DOMAIN:
        yield FOR_A_DOMAIN[type_], own, domain
    if type_ == "enterprisecas":
        yield "HostsCAService", text(thing.get("HostingComputer")), own
        yield from (("PublishedTo", template, own) for template in _ids(thing.get("EnabledCertTemplates")))
        security = mapping(mapping(thing.get("CARegistryData")).get("CASecurity"))
        yield from _rights(mappings(security.get("Data")), own)
    if type_ == "issuancepolicies":
        yield "OIDGroupLink", own, _id(thing.get("GroupLink"))


def _results(value: Any) -> Any:
    return value.get("Results") if isinstance(value, Mapping) else value


def _ids(value: Any) -> list[str]:
    return [_id(item) for item in value] if isinstance(value, list) else []


def _id(value: Any) -> str:
    if isinstance(value, Mapping):
        return text(value.get("ObjectIdentifier") or value.get("MemberId"))
    return text(value)
