"""What comes with what, without effort, and which controls untie it: a ⊢ b, as a membership, unless it is ended.

A control unties an edge. A way from a to n is told by the controls of its edges: it is there while none of them is in
place. Of two ways, one with all the controls of the other and more adds nothing, so those with the fewest are kept, and
n comes with a while one of these is there, whichever controls are in place. Where they are too many, the controls that
all of them have stand for them: n is then said to come with a when it may not, never the other way round.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

__all__ = ["Follows", "Ways", "fewest"]

MOST_WAYS = 4  # from one condition to another
Ways = tuple[tuple[str, ...], ...]


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
    >>> Follows([("ann", "staff"), ("staff", "vpn")], {("ann", "staff"): "dismiss ann"}).ways(["ann"], "vpn")
    (('dismiss ann',),)
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
        self._ways: dict[tuple[str, ...], dict[str, Ways]] = {}

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

    def ways(self, held: Sequence[str], need: str) -> Ways:
        """Return the ways from some conditions to what is needed, each as the controls that end it; none if none is."""
        sources = tuple(held)
        if sources not in self._ways:
            among = None if held is self.given else self._among
            self._ways[sources] = self._all_ways(self.in_order(sources, among), len(sources))
        return self._ways[sources].get(need, ())

    def is_sure(self, held: Sequence[str], need: str) -> bool:
        """Tell whether what is needed comes with some conditions whatever controls are in place."""
        return () in self.ways(held, need)

    def look_at(self, useful: Collection[str]) -> None:
        """Let the ways from gains be about some conditions only, such that what leads to one of them is one, too."""
        self._among = useful

    def _all_ways(self, held: Sequence[str], sources: int) -> dict[str, Ways]:
        """Return the ways to all that is held, of which the first so many are its sources."""
        there = set(held)
        found: dict[str, Ways] = dict.fromkeys(held[:sources], ((),))
        if not self._ties:
            return dict.fromkeys(held, ((),))
        waiting = list(held[:sources])
        for key in waiting:
            for after in self.next.get(key, ()):
                if after in there:
                    tie = self._ties.get((key, after))
                    more = [way if tie is None or tie in way else (*way, tie) for way in found[key]]
                    known = found.get(after, ())
                    found[after] = fewest((*known, *more))
                    if found[after] != known:
                        waiting.append(after)
        return found


def fewest(ways: Sequence[tuple[str, ...]], most: int = MOST_WAYS) -> Ways:
    """Return the ways that have not all the controls of another; where they are many, what they have in common.

    Examples
    --------
    >>> fewest([("a", "b"), ("b",), ("c", "d"), ("b",)])
    (('b',), ('c', 'd'))
    """
    kept: list[tuple[str, ...]] = []
    for way in sorted(dict.fromkeys(ways), key=len):
        if not any(set(other) <= set(way) for other in kept):
            kept.append(way)
    if len(kept) > most:
        return (tuple(control for control in kept[0] if all(control in way for way in kept)),)
    return tuple(kept)
