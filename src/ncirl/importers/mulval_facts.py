"""What MulVAL's facts and rules mean: who is where, what takes an attempt, what a defender can change.

A fact is a term such as ``vulExists(web,'CVE-2002-0392',httpd,remoteExploit,privEscalation)``; a rule concludes one
fact from others. Facts that follow from the configuration alone ("same vlan") are facts, and no steps. Of the rules
about the attacker, those that only say what is reachable from where it already is take no attempt; those that use a
vulnerability, an account or a victim do.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from ncirl.importers.values import identifiers

__all__ = [
    "STRONGEST",
    "Remedy",
    "Term",
    "described",
    "hosts_in",
    "is_certain",
    "is_own_machine",
    "is_reach",
    "remedies",
    "term_of",
]

RULE = re.compile(r"\s*(RULE\s+\S+?)\s*\((.*)\)\s*", re.DOTALL)
TERM = re.compile(r"\s*([^\s(]+)\s*\((.*)\)\s*", re.DOTALL)
ARGUMENT = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\([^()]*\)|\[[^\[\]]*\]|[^,'"(\[]+|.""", re.DOTALL)
HELD = frozenset({"execcode", "principalcompromised", "accessfile", "accessmaliciousinput", "dos", "datamodified"})
REACHED = frozenset(
    {"netaccess", "lanaccess", "canaccesshost", "localaccess", "physicalaccess", "reachable", "reaches"}
)
LOCATED = frozenset({"attackerlocated", "attacker", "malicious", "located"})
VULNERABLE = frozenset({"vulexists", "vulhost", "vulproperty", "vulprimitive"})
STRONGEST = frozenset({"root", "administrator", "admin", "system", "localsystem", "nt authority\\system"})
DENIALS = frozenset({"dos", "denialofservice", "availabilityloss"})
FLOWS = frozenset({"hacl", "haclprimit", "firewallrule", "vlantovlan", "iptovlan", "vlantoip", "iptoip", "aclnw"})
SERVICES = frozenset({"networkserviceinfo", "networkservice"})
HOSTED = HELD | REACHED | LOCATED | VULNERABLE | SERVICES | {"clientprograminfo", "setuidprograminfo", "installed"}
FIREWALL_RULE = 6  # arguments: two hosts with their networks, protocol, port
CERTAIN = ("implies", "nfs semantics", "through executing code", "log-in service", "attacker is root", "lan access")
CHANGEABLE = {  # facts that a defender can undo beside vulnerabilities and flows, and in which words
    "nfsexportinfo": "stop exporting {1} of {0}",
    "nfsmounted": "unmount {1} on {0}",
    "hasaccount": "disable the account of {0} on {1}",
    "vpnservice": "switch off the VPN service on {0}",
    "trustrelation": "end the trust of {0} in {1}",
}


@dataclass(frozen=True)
class Term:
    """A fact: its predicate, in lower case, and its arguments, without quotes."""

    predicate: str
    arguments: tuple[str, ...]

    @property
    def is_held(self) -> bool:
        """Whether it is something that an attacker gains, whatever it is concluded from."""
        return self.predicate in HELD or self.predicate in REACHED

    @property
    def is_located(self) -> bool:
        """Whether it says where an attacker begins."""
        return self.predicate in LOCATED

    @property
    def is_execution(self) -> bool:
        """Whether it says that an attacker can run code on a host."""
        return self.predicate == "execcode"

    @property
    def user(self) -> str:
        """As whom code is run, in lower case; empty where the fact does not say."""
        return self.arguments[1].lower() if self.is_execution and len(self.arguments) > 1 else ""

    @property
    def is_vulnerability(self) -> bool:
        """Whether it says that a host has a vulnerability."""
        return self.predicate in VULNERABLE

    @property
    def is_denial(self) -> bool:
        """Whether it says that a vulnerability does no more than deny service, and so gives control to nobody."""
        return self.is_vulnerability and bool(DENIALS.intersection(word.lower() for word in self.arguments[2:]))

    @property
    def is_open(self) -> bool:
        """Whether it says that a way is open or a service runs: that is so or not, whatever anybody attempts."""
        return self.predicate in FLOWS or self.predicate in SERVICES

    @property
    def port(self) -> str:
        """The protocol and port by which something is reached, ``tcp/80``; empty where the fact does not say."""
        at = {"netaccess": 1, "networkserviceinfo": 2, "networkservice": 2}.get(self.predicate)
        return "" if at is None else _service(self.arguments[at : at + 2], "")

    @property
    def host(self) -> str:
        """The host or zone that it is about; empty where it is about none."""
        return self.arguments[0] if self.arguments and (self.is_held or self.predicate in HOSTED) else ""

    @property
    def vulnerabilities(self) -> tuple[str, ...]:
        """The ids of the vulnerabilities it tells of: as the source calls them, even where that is no CVE id."""
        if not self.is_vulnerability:
            return ()
        known = identifiers(*self.arguments)
        second = self.arguments[1:2] if self.predicate == "vulexists" else ()
        return known or tuple(name for name in second if name not in ("", "_"))

    @property
    def program(self) -> str:
        """The program that is vulnerable; empty where the fact does not say."""
        return next((name for name in self.arguments[2:] if name not in ("", "_") and not name.isdigit()), "")


@dataclass(frozen=True)
class Remedy:
    """What a defender can do about a fact, for good: its key, what it is called, what it is about."""

    key: str
    label: str
    references: tuple[str, ...] = ()


@lru_cache(maxsize=4096)
def term_of(fact: str) -> Term:
    """Return a fact as a term; one that is none has no arguments.

    Examples
    --------
    >>> term_of("vulExists('10.0.0.1','CVE-1','x,y')")
    Term(predicate='vulexists', arguments=('10.0.0.1', 'CVE-1', 'x,y'))
    """
    match = TERM.fullmatch(fact)
    if match is None:
        return Term(fact.strip().lower(), ())
    parts = [""]
    for piece in ARGUMENT.findall(match[2]):
        if piece == ",":
            parts.append("")
        else:
            parts[-1] += piece
    return Term(match[1].lower(), tuple(part.strip().strip("'\"").strip() for part in parts))


def described(fact: str) -> tuple[str, str]:
    """Return the number and the description of a rule, ``RULE 2 (remote exploit)``; what is there where it has none."""
    match = RULE.fullmatch(fact)
    return (" ".join(match[1].split()), " ".join(match[2].split())) if match else ("", fact)


def is_own_machine(conclusion: Term, premises: Iterable[Term]) -> bool:
    """Tell whether a rule only says that attackers own the machine at which they are located."""
    return conclusion.predicate in HELD and any(p.is_located and p.host == conclusion.host != "" for p in premises)


def is_certain(description: str, conclusion: Term, premises: Iterable[Term]) -> bool:
    """Tell whether a rule takes no attempt: what is reached from what is held, and what is held anyway."""
    premises = list(premises)
    if any(premise.is_vulnerability for premise in premises):
        return False
    told = description.lower()
    return is_reach(conclusion) or any(word in told for word in CERTAIN) or is_own_machine(conclusion, premises)


def is_reach(conclusion: Term) -> bool:
    """Tell whether something only says what can be reached, which no attempt makes more or less so."""
    return conclusion.predicate in REACHED or conclusion.is_open


def remedies(premise: Term, key: str) -> Iterator[Remedy]:
    """Yield what a defender can do about a fact that a rule needs: patch it, or close the way."""
    if premise.is_vulnerability and premise.predicate == "vulexists":
        names, what = premise.vulnerabilities, premise.program or ", ".join(premise.vulnerabilities)
        label = f"patch {what} on {premise.host}"
        yield Remedy(f"{label} {key if not what else ''}".strip(), label, names)
    elif premise.predicate in ("hacl", "haclprimit") and len(premise.arguments) >= 2:
        source, target, *service = premise.arguments
        yield Remedy(key, f"close {_service(service)} from {source} to {target}")
    elif premise.predicate == "firewallrule" and len(premise.arguments) == FIREWALL_RULE:
        source, _, target, _, *service = premise.arguments  # each host with its network
        yield Remedy(key, f"close {_service(service)} from {source} to {target}")
    elif premise.predicate in FLOWS:
        yield Remedy(key, f"close {premise.predicate}({', '.join(premise.arguments)})")
    elif premise.predicate in CHANGEABLE and len(premise.arguments) >= 2:
        yield Remedy(key, CHANGEABLE[premise.predicate].format(*premise.arguments))


def hosts_in(terms: Iterable[Term]) -> dict[str, str]:
    """Return the hosts by their addresses, as ``hasIP(host, address)`` says."""
    return {t.arguments[1]: t.arguments[0] for t in terms if t.predicate == "hasip" and len(t.arguments) == 2}


def _service(arguments: Iterable[str], everything: str = "everything") -> str:
    return "/".join(name for name in arguments if name not in ("", "_")) or everything
