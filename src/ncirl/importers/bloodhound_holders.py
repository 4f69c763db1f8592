"""Who holds which right over what, by itself or through its groups: what rights are together in one hand."""

from collections import defaultdict
from collections.abc import Collection, Iterable

from ncirl.importers.bloodhound_graph import Edge

__all__ = ["Holders"]


class Holders:
    """Who has a right over what, and who is in which group."""

    def __init__(self, edges: Iterable[Edge]) -> None:
        self._over: dict[tuple[str, str], list[str]] = defaultdict(list)  # (kind, end): starts
        self.from_: dict[tuple[str, str], list[str]] = defaultdict(list)  # (kind, start): ends
        self._members: dict[str, list[str]] = defaultdict(list)
        self._groups: dict[str, list[str]] = defaultdict(list)
        for edge in edges:
            self._over[edge.kind, edge.end].append(edge.start)
            self.from_[edge.kind, edge.start].append(edge.end)
            if edge.kind in ("MemberOf", "MemberOfLocalGroup"):
                self._members[edge.end].append(edge.start)
                self._groups[edge.start].append(edge.end)
        self._expanded: dict[str, frozenset[str]] = {}

    def of(self, end: str, *kinds: str) -> list[str]:
        """Return who has one of some rights over a thing, itself."""
        return list(dict.fromkeys(start for kind in kinds for start in self._over.get((kind, end), ())))

    def together(self, *holders: Collection[str]) -> list[str]:
        """Return who is in all of some sets of principals, by itself or through its groups; the largest groups only."""
        if not all(holders):
            return []
        every = [frozenset().union(*(self._in(principal) for principal in some)) for some in holders]
        both = frozenset.intersection(*every)
        return sorted(who for who in both if not any(group in both for group in self._groups.get(who, ())))

    def _in(self, principal: str) -> frozenset[str]:
        """Return a principal with all its members, and theirs."""
        if principal not in self._expanded:
            found, rest = {principal}, [principal]
            while rest:
                for member in self._members.get(rest.pop(), ()):
                    if member not in found:
                        found.add(member)
                        rest.append(member)
            self._expanded[principal] = frozenset(found)
        return self._expanded[principal]
