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
        for edge in edges:
            self._over[edge.kind, edge.end].append(edge.start)
            self.from_[edge.kind, edge.start].append(edge.end)
            if edge.kind in ("MemberOf", "MemberOfLocalGroup"):
                self._members[edge.end].append(edge.start)
        self._expanded: dict[str, frozenset[str]] = {}

    def of(self, end: str, *kinds: str) -> list[str]:
        """Return who has one of some rights over a thing, itself."""
        return list(dict.fromkeys(start for kind in kinds for start in self._over.get((kind, end), ())))

    def together(self, *holders: Collection[str]) -> list[str]:
        """Return who is in all of some sets of principals, by itself or through its groups.

        Of those, the largest groups only, and who would be one of them without any: to take somebody out of a group
        takes nothing away that it has without the group.
        """
        if not all(holders):
            return []
        every = [frozenset().union(*(self._in(principal) for principal in some)) for some in holders]
        both = frozenset.intersection(*every)
        return sorted(frozenset.intersection(*(self._without(both, some) for some in holders)))

    def _in(self, principal: str) -> frozenset[str]:
        """Return a principal with all its members, and theirs."""
        if principal not in self._expanded:
            self._expanded[principal] = self._without(frozenset(), [principal])
        return self._expanded[principal]

    def _without(self, groups: Collection[str], principals: Iterable[str]) -> frozenset[str]:
        """Return some principals with all their members, and theirs, but for the members of some groups."""
        found, rest = set(principals), list(principals)
        while rest:
            here = rest.pop()
            for member in self._members.get(here, ()) if here not in groups else ():
                if member not in found:
                    found.add(member)
                    rest.append(member)
        return frozenset(found)
