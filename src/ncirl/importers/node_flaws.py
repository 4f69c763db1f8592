"""Vulnerabilities in a graph of assets: which of its nodes they are, whose they are, what they make of a step.

A scanner's graph has hosts that contain packages that have vulnerabilities. These edges are no attack steps, but what
they lead to is how a step onto the host is done: by the likeliest of its vulnerabilities, and with all of them gone by
an update, which is a control that lasts. A denial of service is no way onto a host.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ncirl.importers.defaults import SUCCESS
from ncirl.importers.values import identifiers, text
from ncirl.importers.vulnerabilities import Odds, is_denial, is_rated, odds_of, severity_of

__all__ = ["HELD", "HELD_BY", "Flaw", "Flaws"]

Attributes = Mapping[str, Any]
KINDS = frozenset({"vulnerability", "vuln", "cve", "weakness"})
KIND_NAMES = ("kind", "type", "node_type", "category", "label")
NAMES = ("cve_id", "cve", "vulnerability_id", "vuln_id", "id", "name", "label")
HELD = frozenset({"contains", "has_vulnerability", "vulnerable_to", "affected_by", "has_cve", "has_package"})
HELD_BY = frozenset({"affects"})
PREFIXES = ("CVE", "CAN", "GHS")


@dataclass(frozen=True)
class Flaw:
    """A vulnerability, what it is called, how likely an attempt succeeds, and what has it."""

    name: str
    odds: Odds | None
    holder: str
    severity: float = 0.0


class Flaws:
    """The vulnerabilities of the nodes of a graph.

    Parameters
    ----------
    nodes : mapping
        The attributes of the nodes.
    edges : iterable of (source, target, type)
        Those that are no attack steps.
    leading : collection of str
        Nodes from which an attack step leads on: a vulnerability among them is a condition of its own.
    """

    def __init__(
        self, nodes: Mapping[str, Attributes], edges: Iterable[tuple[str, str, str]], leading: Collection[str]
    ) -> None:
        self._nodes = nodes
        self.keys = {key for key, node in nodes.items() if key not in leading and _is_flaw(key, node)}
        self.denials = {key for key in self.keys if is_denial(nodes[key])}
        self._held: dict[str, dict[str, None]] = defaultdict(dict)
        for source, target, kind in edges:
            if kind.lower() in HELD or target in self.keys:
                self._held[source][target] = None
            elif kind.lower() in HELD_BY:
                self._held[target][source] = None
        self._known: dict[str, list[Flaw]] = {}
        if not self.keys:
            self._held.clear()

    def __bool__(self) -> bool:
        return bool(self.keys)

    @property
    def parts(self) -> set[str]:
        """The nodes that are vulnerabilities, or contained in another and no ends of steps themselves."""
        return self.keys.union(*self._held.values())

    def of(self, key: str) -> list[Flaw]:
        """Return the vulnerabilities of a node and of all that it contains that give control, the likeliest first."""
        if key not in self._known:
            found: dict[str, Flaw] = {}
            seen, rest = {key}, [key]
            while rest:
                holder = rest.pop()
                for part in self._held.get(holder, ()):
                    if part in self.denials:
                        continue
                    if part in self.keys:
                        found.setdefault(part, self._flaw(part, holder))
                    elif part not in seen:
                        seen.add(part)
                        rest.append(part)
            likeliest = sorted(found.values(), key=_order)
            self._known[key] = likeliest
        return self._known[key]

    def _flaw(self, key: str, holder: str) -> Flaw:
        node = self._nodes.get(key, {})
        named = identifiers(*(node.get(name) for name in NAMES), key)
        told = next((text(node.get(name)) for name in NAMES if text(node.get(name))), key)
        at = self._nodes.get(holder, {})
        called = text(at.get("name")) or text(at.get("label")) or holder
        return Flaw(named[0] if named else told, odds_of(node), called, severity_of(node) or 0.0)


def _order(flaw: Flaw) -> tuple[float, float]:
    return (-(flaw.odds.success if flaw.odds else SUCCESS), -flaw.severity)


def _is_flaw(key: str, node: Attributes) -> bool:
    if any(text(node.get(name)).lower() in KINDS for name in KIND_NAMES):
        return True
    return any(name[:3].upper() in PREFIXES for name in identifiers(key)) and (
        odds_of(node) is not None or is_rated(node)
    )
