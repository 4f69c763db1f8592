"""Kinds of BloodHound's edges: which take no effort, which are steps, and by default how likely and dear these are.

A kind is known in every spelling: GenericAll, GENERIC_ALL and "generic all" are one.

Nobody has measured how often a right is abused with success, so the numbers are defaults by the sort of work, the same
for every edge of the sort; a table of one's own replaces them, by kind:

    kind,success,attack_cost,block_cost,effort
    HasSession,0.4,0.05,0.02,
    AdminTo,,,0.2,
    CanRDP,,,,none

`effort` is ``step``, ``none`` (whoever has the start has the end, at once) or ``ignore``. What is empty stays as it is.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ncirl.errors import InputError
from ncirl.formats.untrusted import read_csv, read_data
from ncirl.importers.report import QUANTITIES, Origin
from ncirl.importers.values import mapping, number, text
from ncirl.model.stage import LARGEST_REWARD

__all__ = [
    "EFFORTS",
    "KINDS",
    "UNKNOWN",
    "KindOfEdge",
    "is_known",
    "kind_of_node",
    "known_kind",
    "plain",
    "read_table",
    "spelled",
]

EFFORTS = ("step", "none", "ignore")
DEFAULT = Origin("the table of BloodHound's kinds of edges, by sort of work; --table FILE replaces it", default=True)


@dataclass(frozen=True)
class KindOfEdge:
    """What an edge of a kind means: `words` for people, `control` what stops it for good, `technique` of ATT&CK.

    `origins` says where each of its numbers comes from.
    """

    effort: str
    success: float | None = None
    attack_cost: float | None = None
    block_cost: float | None = None
    words: str = ""
    control: str = ""
    technique: str = ""
    origins: Mapping[str, Origin] = field(default_factory=lambda: dict.fromkeys(QUANTITIES, DEFAULT))


UNKNOWN = KindOfEdge("step", control="remove what the edge stands for")


@dataclass(frozen=True)
class _Sort:
    """A sort of work, with how likely it succeeds in a stage, what it costs and what stopping it costs, and why."""

    success: float
    attack_cost: float
    block_cost: float
    words: str
    control: str
    technique: str
    kinds: str


# Success: what needs nothing but the directory works nearly always (0.95); a log-on may be refused or watched (0.85);
# a session may have ended before its secrets are read (0.7); what must wait for a policy, a ticket or a machine that
# somebody makes call back fails more often (0.8, 0.6). Costs in the unit of a goal's reward: quiet 0.02, noticed 0.05.
SORTS = (
    _Sort(0.95, 0.02, 0.05, "use the right", "remove the right", "T1098", """
        GenericAll GenericWrite WriteDacl WriteOwner Owns AllExtendedRights AddMember AddSelf AddKeyCredentialLink
        AddAllowedToAct WriteSPN WriteAccountRestrictions OwnsLimitedRights WriteOwnerLimitedRights
        WriteAltSecurityIdentities WritePublicInformation ManageCA ManageCertificates"""),
    _Sort(0.95, 0.05, 0.05, "set the password", "remove the right", "T1098", "ForceChangePassword AZResetPassword"),
    _Sort(0.95, 0.02, 0.05, "read the password", "remove the right", "T1555", """
        ReadLAPSPassword ReadGMSAPassword SyncLAPSPassword DumpSMSAPassword"""),
    _Sort(0.85, 0.02, 0.05, "log on", "remove from the local group", "T1021", """
        AdminTo CanPSRemote CanRDP ExecuteDCOM SQLAdmin"""),
    _Sort(0.7, 0.02, 0.05, "take over the session", "keep such accounts off this machine", "T1003", "HasSession"),
    _Sort(0.95, 0.05, 0.1, "copy all secrets", "remove the replication right", "T1003.006", "DCSync DCFor"),
    _Sort(0.8, 0.02, 0.05, "act for others", "remove the delegation", "T1550.003", """
        AllowedToDelegate AllowedToAct"""),
    _Sort(0.6, 0.05, 0.05, "make machines call, and relay", "require signing, forbid delegation", "T1187", """
        CoerceToTGT CoerceAndRelayNTLMToSMB CoerceAndRelayNTLMToLDAP CoerceAndRelayNTLMToLDAPS
        CoerceAndRelayNTLMToADCS"""),
    _Sort(0.9, 0.02, 0.1, "get a certificate for anybody", "take the right over certificates away", "T1649", """
        ADCSESC1 ADCSESC3 ADCSESC4 ADCSESC5 ADCSESC6a ADCSESC6b ADCSESC7 ADCSESC9a ADCSESC9b ADCSESC10a ADCSESC10b
        ADCSESC13 ADCSESC16 GoldenCert"""),
    _Sort(0.8, 0.02, 0.05, "change the policy", "remove the right", "T1484.001", "WriteGPLink"),
    _Sort(0.8, 0.05, 0.1, "cross the trust", "filter the trust", "T1134.005", """
        SameForestTrust SpoofSIDHistory AbuseTGTDelegation HasTrustKeys TrustedBy"""),
    _Sort(0.85, 0.02, 0.05, "use the cloud right", "remove the cloud right", "T1098.003", """
        AZAddMembers AZAddOwner AZAddSecret AZAKSContributor AZAppAdmin AZAutomationContributor AZAvereContributor
        AZCloudAppAdmin AZContributor AZExecuteCommand AZGetCertificates AZGetKeys AZGetSecrets AZGlobalAdmin
        AZKeyVaultContributor AZLogicAppContributor AZManagedIdentity AZMGAddMember AZMGAddOwner AZMGAddSecret
        AZMGGrantAppRoles AZMGGrantRole AZNodeResourceGroup AZOwner AZOwns AZPrivilegedAuthAdmin AZPrivilegedRoleAdmin
        AZRoleApprover AZRoleEligible AZUserAccessAdministrator AZVMAdminLogin AZVMContributor AZWebsiteContributor
        SyncedToADUser SyncedToEntraUser"""),
)  # fmt: skip
FREE = """
    MemberOf MemberOfLocalGroup Contains GPLink GPOAppliesTo CanApplyGPO PropagatesACEsTo HasSIDHistory ContainsIdentity
    ClaimSpecialIdentity AZMemberOf AZContains AZHasRole AZRunsAs
"""
ENDING = {  # where another thing than for its sort ends a kind
    "DCFor": "",
    "CoerceToTGT": "forbid unconstrained delegation",
    "ADCSESC1": "take the right to enroll at every template that serves for it away",
    "ADCSESC3": "take the right to enroll at every template that serves for it away",
    "ADCSESC4": "take the right to change certificate templates away",
    "ADCSESC5": "take the right over the objects of the authority away",
    "ADCSESC6a": "clear EDITF_ATTRIBUTESUBJECTALTNAME2 at the authority",
    "ADCSESC6b": "clear EDITF_ATTRIBUTESUBJECTALTNAME2 at the authority",
    "ADCSESC7": "take the right to manage the authority away",
    "ADCSESC9a": "clear NO_SECURITY_EXTENSION at the templates that have it",
    "ADCSESC9b": "clear NO_SECURITY_EXTENSION at the templates that have it",
    "ADCSESC10a": "enforce strong mapping of certificates at the domain controllers",
    "ADCSESC10b": "enforce strong mapping of certificates at the domain controllers",
    "ADCSESC13": "unlink the issuance policy from its group",
    "ADCSESC16": "switch the security extension on at the authority",
    "GoldenCert": "keep the key of the authority in hardware",
}
CUTTING = {
    "MemberOf": "remove the membership",
    "MemberOfLocalGroup": "remove from the local group",
    "GPLink": "remove the link of the policy",
    "HasSIDHistory": "clear the SID history",
    "AZMemberOf": "remove the membership",
}
NO_STEPS = """
    GetChanges GetChangesAll GetChangesInFilteredSet OwnsRaw WriteOwnerRaw LocalToComputer RemoteInteractiveLogonRight
    Enroll EnrollOnBehalfOf DelegatedEnrollmentAgent WritePKIEnrollmentFlag WritePKINameFlag PublishedTo
    HostsCAService TrustedForNTAuth NTAuthStoreFor RootCAFor EnterpriseCAFor IssuedSignedBy OIDGroupLink
    ExtendedByPolicy CrossForestTrust AZScopedTo AZMGApplication_ReadWrite_All AZMGAppRoleAssignment_ReadWrite_All
    AZMGDirectory_ReadWrite_All AZMGGroup_ReadWrite_All AZMGGroupMember_ReadWrite_All
    AZMGRoleManagement_ReadWrite_Directory AZMGServicePrincipalEndpoint_ReadWrite_All
"""
"""Kinds that BloodHound has and its path finding does not walk by themselves: some mean something together."""
NODES = """
    Base AZBase User Computer Group Domain OU GPO Container ADLocalGroup AIACA RootCA EnterpriseCA NTAuthStore
    CertTemplate IssuancePolicy Compromised
"""


def plain(name: str) -> str:
    """Return a name without what spellings differ in: the case of letters, underscores, spaces, hyphens."""
    return "".join(letter for letter in name.lower() if letter not in "_- ")


KINDS: Mapping[str, KindOfEdge] = {
    plain(kind): KindOfEdge(
        "step",
        sort.success,
        sort.attack_cost,
        sort.block_cost,
        sort.words,
        ENDING.get(kind, sort.control),
        sort.technique,
    )
    for sort in SORTS
    for kind in sort.kinds.split()
} | {plain(kind): KindOfEdge("none", control=CUTTING.get(kind, "")) for kind in FREE.split()}
"""What is known of the kinds that BloodHound's own path finding walks, by their names without spelling."""
SPELLINGS = {
    plain(kind): kind for kind in (*FREE.split(), *NO_STEPS.split(), *(k for sort in SORTS for k in sort.kinds.split()))
}
NODE_SPELLINGS = {plain(kind): kind for kind in NODES.split()}


def spelled(kind: str) -> str:
    """Return a kind of edge as BloodHound spells it; one that BloodHound does not have stays as it is.

    Examples
    --------
    >>> spelled("GENERIC_ALL"), spelled("admin to"), spelled("get_changes"), spelled("OWES_MONEY")
    ('GenericAll', 'AdminTo', 'GetChanges', 'OWES_MONEY')
    """
    return SPELLINGS.get(plain(kind), kind)


def kind_of_node(kind: str) -> str:
    """Return a kind of node as BloodHound spells it; one that BloodHound does not have stays as it is."""
    return NODE_SPELLINGS.get(plain(kind), kind)


def known_kind(kind: str, kinds: Mapping[str, KindOfEdge]) -> KindOfEdge | None:
    """Return what is known of a kind of edge, however it is spelled."""
    return kinds.get(plain(kind))


def is_known(kind: str, kinds: Mapping[str, KindOfEdge]) -> bool:
    """Tell whether a kind is BloodHound's, a step or not, or one that a table tells of."""
    return plain(kind) in SPELLINGS or plain(kind) in kinds


def read_table(path: str, limit: int) -> dict[str, KindOfEdge]:
    """Return the kinds with what a table says in place of the defaults.

    The table is CSV with a header, or YAML or JSON with a map of kinds. Raises `InputError` with every fault.
    """
    found = dict(KINDS)
    faults = []
    for kind, row in _rows(path, limit).items():
        known = found.get(plain(kind), KindOfEdge("step"))
        changes: dict[str, Any] = {}
        for quantity, most in (("success", 1.0), ("attack_cost", LARGEST_REWARD), ("block_cost", LARGEST_REWARD)):
            if row.get(quantity) not in (None, ""):
                value = number(row[quantity])
                if value is None or not 0 <= value <= most:
                    faults.append(f"{kind}.{quantity}: must be a number in [0, {most:g}], got {text(row[quantity])}")
                changes[quantity] = value
        effort = text(row.get("effort")).lower() or known.effort
        if effort not in EFFORTS:
            faults.append(f"{kind}.effort: must be one of {', '.join(EFFORTS)}, got {effort}")
        unknown = [
            column for column in row if column not in ("success", "attack_cost", "block_cost", "effort", "control")
        ]
        faults += [
            f"{kind}.{column}: is not known; a row has success, attack_cost, block_cost, effort" for column in unknown
        ]
        origins = {**known.origins, **dict.fromkeys(changes, Origin(f"the table {Path(path).name}"))}
        control = text(row.get("control")) or known.control
        found[plain(kind)] = replace(known, effort=effort, control=control, origins=origins, **changes)
    if faults:
        raise InputError(faults, path)
    return found


def _rows(path: str, limit: int) -> dict[str, Mapping[str, Any]]:
    if Path(path).suffix.lower() != ".csv":
        data = mapping(read_data(path, limit))
        if not data or not all(isinstance(row, Mapping) for row in data.values()):
            raise InputError("must be a map of kinds, each with success, attack_cost, block_cost or effort", path)
        return {text(kind): row for kind, row in data.items()}
    rows = list(read_csv(path, limit))
    header = [cell.lower() for cell in rows[0][1]] if rows else []
    if "kind" not in header:
        raise InputError("the first line must name the columns: kind, success, attack_cost, block_cost, effort", path)
    told = [dict(zip(header, row, strict=False)) for _, row in rows[1:]]
    return {row["kind"]: {key: value for key, value in row.items() if key != "kind"} for row in told if row.get("kind")}
