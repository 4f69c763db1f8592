"""Who holds which right over what, by itself or through its groups: what rights are together in one hand."""

from collections import defaultdict
from collections.abc import Iterable

from ncirl.importers.bloodhound_graph import MEMBERSHIPS, Edge, Right

__all__ = ["Holders"]


class Holders:
    """Who has a right over what, and who is in which group."""

    def __init__(self, edges: Iterable[Edge]) -> None:
        self._over: dict[tuple[str, str], list[str]] = defaultdict(list)  # (kind, end): starts
        self.from_: dict[tuple[str, str], list[str]] = defaultdict(list)  # (kind, start): ends
        self._members: dict[str, list[str]] = defaultdict(list)
        self._groups: dict[str, set[str]] = defaultdict(set)
        for edge in edges:
            self._over[edge.kind, edge.end].append(edge.start)
            self.from_[edge.kind, edge.start].append(edge.end)
            if edge.kind in MEMBERSHIPS:
                self._members[edge.end].append(edge.start)
                self._groups[edge.start].add(edge.end)
        self._expanded: dict[str, frozenset[str]] = {}

    def of(self, end: str, *kinds: str) -> list[str]:
        """Return who has one of some rights over a thing, itself."""
        return list(dict.fromkeys(start for kind in kinds for start in self._over.get((kind, end), ())))

    def right(self, kind: str, end: str, *kinds: str) -> Right:
        """Return what some rights over a thing let do, with who has one of them, itself."""
        return Right(kind, end, tuple(self.of(end, *kinds)))

    def together(self, *rights: Right) -> list[str]:
        """Return who has all of some rights, by itself or through its groups.

        Whoever is in one group only that bears on them has what the group has, and is not named. Everybody has what
        everybody has, without being in a group.
        """
        if not all(right.holders for right in rights):
            return []
        told = {holder for right in rights for holder in right.holders}
        each = [frozenset().union(*map(self._in, right.own)) for right in rights]
        there = frozenset().union(told, *each)
        wide = [len(right.own) < len(right.holders) for right in rights]
        both = [who for who in there if all(all_ or who in some for all_, some in zip(wide, each, strict=True))]
        return sorted(who for who in both if who in told or len(there & self._groups[who]) > 1)

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
