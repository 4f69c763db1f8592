"""Which edges of BloodHound an attacker can walk, and which nodes are worth walking to.

An edge says that whoever controls its start can come to control its end. BloodHound keeps many more edges than that:
they are read for what follows from them, or for the picture.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ncirl.importers.values import text, truth

__all__ = ["TRAVERSABLE", "Edge", "Node", "is_owned", "is_prized"]

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

TIER_ZERO = re.compile(r"(.*-)?(S-1-5-21-\d+-\d+-\d+-(512|516|518|519)|S-1-5-32-544)")
"""Domain Admins, Domain Controllers, Schema Admins, Enterprise Admins; Administrators of a domain."""


@dataclass(frozen=True)
class Node:
    """A principal or a thing: to hold its condition is to control it."""

    id: str
    name: str = ""
    kinds: tuple[str, ...] = ()
    owned: bool = False
    prized: bool = False


@dataclass(frozen=True)
class Edge:
    """One way to control `end` from `start`; `walkable` is what the file says of it, None where it says nothing."""

    kind: str
    start: str
    end: str
    walkable: bool | None = None
    success: float | None = None


def is_owned(kinds: Iterable[str], properties: Mapping[str, Any]) -> bool:
    """Tell whether a node is marked as already in the attacker's hands."""
    return _marked(kinds, properties, ("owned", "isowned"), ("owned", "tag_owned"))


def is_prized(id: str, kinds: Iterable[str], properties: Mapping[str, Any]) -> bool:
    """Tell whether a node is marked as tier zero or of high value, or is one of the groups that always are."""
    if _marked(kinds, properties, ("highvalue", "istierzero", "tierzero"), ("admin_tier_0", "tag_tier_zero")):
        return True
    return TIER_ZERO.fullmatch(id) is not None


def _marked(kinds: Iterable[str], properties: Mapping[str, Any], flags: tuple[str, ...], tags: tuple[str, ...]) -> bool:
    lower = {str(key).lower(): value for key, value in properties.items()}
    if any(truth(lower.get(flag)) for flag in flags):
        return True
    system = lower.get("system_tags")
    words = {text(word).lower() for word in system} if isinstance(system, list) else set(text(system).lower().split())
    return bool((words | {kind.lower() for kind in kinds}) & set(tags))
