"""Steps with what ends them; those that take several rights in one hand, once for each way to have these.

Who has a right by a group has it until the group loses the right or it leaves the group. A way is a right for each that
a step takes, with the memberships up to it. The step is there once for each way, as in `follows`, and any part of it
ends it. A way that a group of the start's has as well is the group's.
"""

from collections import defaultdict
from collections.abc import Iterator
from itertools import chain, product

from ncirl.importers.bloodhound_controls import NO_CONTROLS, added, endings
from ncirl.importers.bloodhound_graph import EVERYBODY, MEMBERSHIPS, Edge, Right
from ncirl.importers.bloodhound_reading import Reading, is_tier_zero
from ncirl.importers.draft import Draft
from ncirl.importers.follows import Follows, Ways, fewest

__all__ = ["steps_with_controls"]


def steps_with_controls(draft: Draft, reading: Reading, wanted: str) -> Iterator[tuple[Edge, list[str]]]:
    """Yield the steps, each with the keys of the controls that stop it, which are added to a draft."""
    known = _Rights(draft, reading, wanted)
    together: dict[tuple[str, str, tuple[str, ...]], dict[str, Edge]] = defaultdict(dict)
    for edge in reading.steps:
        if edge.takes:
            together[edge.kind, edge.end, edge.by][edge.start] = edge
    for edge in reading.steps:
        if not edge.takes:
            yield edge, endings(draft, edge, reading, wanted)
    for edges in together.values():
        for who, ways in known.apart(edges).items():
            common = endings(draft, edges[who], reading, wanted)
            yield from ((edges[who], [*common, *way]) for way in ways)


class _Rights:
    """Who has a right in which ways."""

    def __init__(self, draft: Draft, reading: Reading, wanted: str) -> None:
        self.draft, self.reading, self.wanted = draft, reading, wanted
        pairs = {edge: (edge.start, edge.end) for edge in reading.memberships}
        ties = {pair: next(iter(endings(draft, edge, reading, wanted)), "") for edge, pair in pairs.items()}
        free = {(edge.start, edge.end) for edge in reading.free}
        self.groups = Follows(pairs.values(), ties)
        self.at_once = Follows((pair for pair in pairs.values() if pair in free), ties)

    def apart(self, edges: dict[str, Edge]) -> dict[str, Ways]:
        """Return the ways of each start of edges that are the same but for it, without those that its groups have."""
        ways = {who: self._ways(edge) for who, edge in edges.items()}
        for who, own in ways.items():
            groups = [group for group in self.at_once.in_order([who]) if group in ways and group != who]
            beyond = [
                {*first, *then} for group in groups for first in self.at_once.ways([who], group) for then in ways[group]
            ]
            ways[who] = tuple(way for way in own if not any(other <= set(way) for other in beyond))
        return ways

    def _ways(self, edge: Edge) -> Ways:
        if is_tier_zero(self.reading.nodes[edge.start]):
            return ((),)
        each = (product(*(self._to(edge, right) for right in rights)) for rights in edge.takes)
        return fewest([tuple(dict.fromkeys(chain.from_iterable(parts))) for parts in chain.from_iterable(each)])

    def _to(self, edge: Edge, right: Right) -> Ways:
        """Return the ways in which the start of an edge has a right."""
        found = []
        for holder in right.holders:
            ended = self._ended(edge, right, holder)
            ways = ((),) if holder.endswith(EVERYBODY) else self.groups.ways([edge.start], holder)
            found += [(*way, *ended) for way in ways]
        return fewest(found)

    def _ended(self, edge: Edge, right: Right, holder: str) -> list[str]:
        """Return the key of the control that takes a right away from who has it; none where nothing does."""
        reading = self.reading
        if right.kind in MEMBERSHIPS:
            return endings(self.draft, Edge(right.kind, holder, right.over), reading, self.wanted)
        if not right.kind or self.wanted == NO_CONTROLS or is_tier_zero(reading.nodes[holder]):
            return []
        over, name = reading.name(right.over), reading.name(holder)
        label = f"remove {right.kind} of {name} over {over}"
        if right.kind in ("enroll", "change"):
            what = "enroll at" if right.kind == "enroll" else "change"
            label = f"remove the right to {what} the template {over} from {name}"
        return added(self.draft, edge, {f"{right.kind} {holder} {right.over}": label}, reading, self.wanted)
