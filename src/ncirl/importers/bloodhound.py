"""BloodHound: OpenGraph files and what the collectors write, one or several of a kind together.

To control a node is a condition, to walk an edge a step. Edges that say whether they are traversable are believed;
of the others those are steps that BloodHound's own path finding walks, unless the kinds are named. The attacker
begins at what is marked as owned, and wants what is marked as tier zero or of high value.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from ncirl.errors import InputError
from ncirl.formats.untrusted import read_json
from ncirl.importers.bloodhound_collector import KINDS, kind_of, nodes_and_edges
from ncirl.importers.bloodhound_graph import Edge, Node, OpenGraph, graph_of
from ncirl.importers.draft import Draft
from ncirl.importers.options import ImportOptions
from ncirl.importers.recognise import not_of_format, recognise_data
from ncirl.importers.report import shortened

__all__ = ["read"]

WANTED = "a BloodHound file (OpenGraph, or of a collector)"
ACTIVE_DIRECTORY = """
    AbuseTGTDelegation ADCSESC1 ADCSESC3 ADCSESC4 ADCSESC5 ADCSESC6a ADCSESC6b ADCSESC7 ADCSESC9a ADCSESC9b ADCSESC10a
    ADCSESC10b ADCSESC13 AddAllowedToAct AddKeyCredentialLink AddMember AddSelf AdminTo AllExtendedRights AllowedToAct
    AllowedToDelegate CanApplyGPO CanPSRemote CanRDP ClaimSpecialIdentity CoerceAndRelayNTLMToADCS
    CoerceAndRelayNTLMToLDAP CoerceAndRelayNTLMToLDAPS CoerceAndRelayNTLMToSMB CoerceToTGT Contains ContainsIdentity
    DCFor DCSync DumpSMSAPassword ExecuteDCOM ForceChangePassword GenericAll GenericWrite GoldenCert GPLink GPOAppliesTo
    HasSession HasSIDHistory HasTrustKeys ManageCA ManageCertificates MemberOf Owns OwnsLimitedRights PropagatesACEsTo
    ReadGMSAPassword ReadLAPSPassword SameForestTrust SpoofSIDHistory SQLAdmin SyncedToEntraUser SyncLAPSPassword
    TrustedBy WriteAccountRestrictions WriteDacl WriteGPLink WriteOwner WriteOwnerLimitedRights WriteSPN
"""
AZURE = """
    AZAddMembers AZAddOwner AZAddSecret AZAKSContributor AZAppAdmin AZAutomationContributor AZAvereContributor
    AZCloudAppAdmin AZContains AZContributor AZExecuteCommand AZGetCertificates AZGetKeys AZGetSecrets AZGlobalAdmin
    AZHasRole AZKeyVaultContributor AZLogicAppContributor AZManagedIdentity AZMemberOf AZMGAddMember AZMGAddOwner
    AZMGAddSecret AZMGGrantAppRoles AZMGGrantRole AZNodeResourceGroup AZOwner AZOwns AZPrivilegedAuthAdmin
    AZPrivilegedRoleAdmin AZResetPassword AZRoleApprover AZRoleEligible AZRunsAs AZUserAccessAdministrator
    AZVMAdminLogin AZVMContributor AZWebsiteContributor SyncedToADUser
"""
TRAVERSABLE = frozenset(kind.lower() for kind in (ACTIVE_DIRECTORY + AZURE).split())
"""Kinds that BloodHound's own path finding walks, in lower case."""

ANYBODY = ("-513", "S-1-1-0", "S-1-5-11", "-515")  # Domain Users, Everyone, Authenticated Users, Domain Computers


def read(paths: Sequence[Path], options: ImportOptions) -> Draft:
    """Read BloodHound files that belong together."""
    files = [found for path in paths for found in _files(path)]
    where = shortened([str(path) for path in paths], 2)
    graphs, collections = [], []
    for file in files:
        data = read_json(file, options.size_limit)
        graph, kind = graph_of(data), kind_of(data)
        if graph is not None:
            graphs.append(graph)
        elif kind is not None:
            _check_kind(kind, file)
            collections.append(data)
        else:
            raise not_of_format(file, WANTED, "bloodhound", options.size_limit, recognise_data(data))
    draft = Draft("bloodhound")
    opened = OpenGraph(graphs)
    for (told, item), count in opened.notes.items():
        for _ in range(min(count, 1000)):
            draft.note("assumed" if "of their own" in told else "dropped", told, item)
    nodes, edges = nodes_and_edges(collections)
    _fill(draft, opened.nodes | nodes, [*opened.edges, *edges], options, where)
    return draft


def _files(path: Path) -> Iterator[Path]:
    if path.suffix.lower() == ".zip":
        raise InputError("is an archive; unpack it and import its JSON files together", str(path))
    if not path.is_dir():
        yield path
        return
    found = sorted(child for child in path.iterdir() if child.suffix.lower() == ".json")
    if not found:
        raise InputError("is a directory without JSON files", str(path))
    yield from found


def _check_kind(kind: str, file: Path) -> None:
    if kind == "azure":
        said = "is an AzureHound file, which is not imported; import it into BloodHound and export the graph from there"
        raise InputError(said, str(file))
    if kind not in KINDS:
        raise InputError(f"meta.type: '{kind}' is not known; it is one of {', '.join(KINDS)}", str(file))


def _fill(draft: Draft, nodes: dict[str, Node], edges: list[Edge], options: ImportOptions, where: str) -> None:
    if not edges:
        raise InputError(f"has {len(nodes)} nodes and no edge, so there is no attack step", where)
    chosen = {kind.lower() for kind in options.settings_list("steps")}
    steps = []
    for edge in edges:
        if _is_step(edge, chosen):
            steps.append(edge)
        else:
            told = "of kinds that are no steps" if edge.walkable is None or chosen else "said not to be traversable"
            draft.note("dropped", f"edges {told}", edge.kind)
    if not steps:
        counted = [f"{kind} ({count})" for kind, count in Counter(edge.kind for edge in edges).most_common()]
        raise InputError(
            f"none of the {len(edges)} edges is known to be an attack step; name the kinds that are with "
            f"--set steps=KIND,…: {shortened(counted, 20)}",
            where,
        )
    ends = dict.fromkeys(id_ for edge in steps for id_ in (edge.start, edge.end))
    faults = list(_missing(nodes, steps, ends, options))
    if faults:
        raise InputError(faults, where)
    for id_ in ends:
        node = nodes[id_]
        draft.condition(id_, label=node.name, name=node.name, initial=node.owned)
        if node.prized:
            draft.goal(id_)
    for edge in steps:
        start, end = (nodes[id_].name or id_ for id_ in (edge.start, edge.end))
        draft.exploit(f"{edge.kind} {start} > {end}", needs=[edge.start], gives=edge.end, success=edge.success)
    if len(nodes) > len(ends):
        draft.note("dropped", f"{len(nodes) - len(ends)} nodes that no step touches")


def _missing(
    nodes: Mapping[str, Node], steps: Sequence[Edge], ends: Iterable[str], options: ImportOptions
) -> Iterator[str]:
    """Tell what neither the files nor the person say, with candidates."""
    if not (options.initial or any(nodes[id_].owned for id_ in ends)):
        leaving = sorted(dict.fromkeys(edge.start for edge in steps), key=lambda id_: _likely(nodes[id_]))
        shown = shortened([nodes[id_].name or id_ for id_ in leaving], 10)
        yield f"no node with a step is marked as owned; name where attackers begin with --initial, such as {shown}"
    if not (options.goals or options.intents or any(nodes[id_].prized for id_ in ends)):
        entered = Counter(edge.end for edge in steps)
        shown = shortened([nodes[id_].name or id_ for id_, _ in entered.most_common()], 10)
        yield (
            "no node that a step leads to is marked as tier zero or of high value; name what attackers may want with "
            f"--goal, such as {shown}"
        )


def _is_step(edge: Edge, chosen: set[str]) -> bool:
    if chosen:
        return edge.kind.lower() in chosen or "all" in chosen
    return edge.kind.lower() in TRAVERSABLE if edge.walkable is None else edge.walkable


def _likely(node: Node) -> tuple[bool, bool, bool, bool, str]:
    """Order nodes to begin at, the most likely first: what anybody has, then users, then the rest."""
    return not node.id.endswith(ANYBODY), node.prized, not node.name, "User" not in node.kinds, node.name
