"""What comes with what, without effort, and which controls untie it: a ⊢ b, as a membership, unless it is ended.

A control κ unties an edge. It cuts n from a when every way from a to n takes an edge of its own: these are the edges
that dominate n in the graph of all ways from a. With one control in place the attacker holds n with a exactly if the
control is none of `cuts(a, n)`; with several it may hold less than that, never more.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

__all__ = ["Follows"]

START = ""
"""In place of a gain: all that is given at the start."""


class Follows:
    """The edges a ⊢ b.

    Parameters
    ----------
    edges : iterable of pairs
        The edges.
    ties : mapping, optional
        The control that unties an edge, where there is one.
    given : iterable of str, optional
        What the attacker has from the start and nothing unties.

    Examples
    --------
    >>> sorted(Follows([("ann", "staff"), ("staff", "everyone")]).closed(["ann"]))
    ['ann', 'everyone', 'staff']
    >>> Follows([("ann", "staff"), ("staff", "vpn")], {("ann", "staff"): "dismiss ann"}).cuts("ann", "vpn")
    ('dismiss ann',)
    """

    def __init__(
        self,
        edges: Iterable[tuple[str, str]],
        ties: Mapping[tuple[str, str], str] | None = None,
        given: Iterable[str] = (),
    ) -> None:
        self.next: dict[str, list[str]] = defaultdict(list)
        self.before: dict[str, list[str]] = defaultdict(list)
        for start, end in dict.fromkeys(edges):
            self.next[start].append(end)
            self.before[end].append(start)
        self._ties = {edge: control for edge, control in (ties or {}).items() if control}
        self.given = list(dict.fromkeys(given))
        self._among: Collection[str] | None = None
        self._cuts: dict[tuple[str, ...], dict[str, tuple[str, ...]]] = {}

    def __bool__(self) -> bool:
        return bool(self.next)

    def closed(self, keys: Iterable[str], among: Collection[str] | None = None) -> set[str]:
        """Return some conditions and all that comes with them, or so much of it as lies `among` some."""
        return set(self.in_order(keys, among))

    def in_order(self, keys: Iterable[str], among: Collection[str] | None = None) -> list[str]:
        """Return the same as a list that is the same each time."""
        found = dict.fromkeys(keys)
        rest = list(found)
        for key in rest:
            for after in self.next.get(key, ()):
                if after not in found and (among is None or after in among):
                    found[after] = None
                    rest.append(after)
        return rest

    def way(self, end: str) -> list[str]:
        """Return a shortest way from what is given at the start to something, both included; empty where none is."""
        came = dict.fromkeys(self.given, "")
        rest = list(came)
        for key in rest:
            for after in self.next.get(key, ()):
                if after not in came:
                    came[after] = key
                    rest.append(after)
        way = [end] if end in came else []
        while way and came[way[-1]]:
            way.append(came[way[-1]])
        return way[::-1]

    def cuts(self, gain: str, need: str) -> tuple[str, ...]:
        """Return the controls each of which keeps a gain, or the start, from coming with what is needed."""
        return self.cuts_of(self.given if gain == START else [gain], need)

    def cuts_of(self, held: Sequence[str], need: str) -> tuple[str, ...]:
        """Return the controls each of which keeps what is needed from coming with any of some conditions."""
        sources = tuple(held)
        if self._ties and sources not in self._cuts:
            among = None if held is self.given else self._among
            self._cuts[sources] = self._all_cuts(self.in_order(sources, among), len(sources))
        return self._cuts[sources].get(need, ()) if self._ties else ()

    def cuts_all(self, gain: str, needs: Iterable[str]) -> tuple[str, ...]:
        """Return the controls each of which keeps a gain from all of some conditions that come with it."""
        first, *others = (self.cuts(gain, need) for need in needs)
        return tuple(control for control in first if all(control in other for other in others))

    def look_at(self, useful: Collection[str]) -> None:
        """Let the cuts of gains be about some conditions only, such that what leads to one of them is one, too."""
        self._among = useful

    def _all_cuts(self, held: Sequence[str], sources: int) -> dict[str, tuple[str, ...]]:
        """Return the cuts of what is held, the first so many of itself, as far as a control can cut it off."""
        there = set(held)
        edges = [(key, after) for key in held for after in self.next.get(key, ()) if after in there]
        if self._ties.keys().isdisjoint(edges):
            return {}
        import networkx as nx

        root = object()
        graph = nx.DiGraph((root, source) for source in held[:sources])
        for key, after in edges:
            edge = (key, after)
            graph.add_edges_from([(key, edge), (edge, after)] if edge in self._ties else [edge])
        above = nx.immediate_dominators(graph, root)
        found: dict[object, tuple[str, ...]] = {root: ()}
        for key in held:
            chain: list[object] = [key]
            while chain[-1] not in found:
                chain.append(above[chain[-1]])
            for node in reversed(chain[:-1]):
                own = (self._ties[node],) if isinstance(node, tuple) else ()
                found[node] = (*found[above[node]], *own)
        return {key: found[key] for key in held if found[key]}
