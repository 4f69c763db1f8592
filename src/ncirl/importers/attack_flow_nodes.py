"""The nodes of an Attack Flow and the ways between them, operators followed through."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ncirl.formats.plain import DEEPEST
from ncirl.importers.values import text

__all__ = ["Flow", "Way", "flow_of"]

NODES = ("attack-action", "attack-condition", "attack-operator")
EDGES = ("effect_refs", "on_true_refs", "on_false_refs")
MOST_WAYS = 200  # through nested operators, to one node


@dataclass(frozen=True)
class Way:
    """What must be done or hold before a node; `on_false` where a condition on the way need not hold."""

    needs: frozenset[str]
    on_false: bool = False


@dataclass
class Flow:
    """Nodes by id with the edges into them, as (from, kind of edge), and where the flow begins."""

    name: str = ""
    nodes: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    inputs: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    start_refs: list[str] = field(default_factory=list)
    starts: set[str] = field(default_factory=set)
    notes: Counter[tuple[str, str]] = field(default_factory=Counter)
    _known: dict[tuple[str, bool], list[Way]] = field(default_factory=dict)

    def ways_to(self, key: str) -> list[Way]:
        """Return the ways to an action or condition: the needs of each are actions and conditions, all of them."""
        return self._some((self._through(start, edge, 0) for start, edge in self.inputs[key]), key)

    def _through(self, start: str, edge: str, depth: int) -> list[Way]:
        """Return what must be done for an edge to be taken; a loop of operators alone never is."""
        on_false = edge == "on_false_refs"
        if self.nodes[start]["type"] != "attack-operator" and not on_false:
            return [Way(frozenset({start}))]
        if (start, on_false) not in self._known:
            self._known[start, on_false] = []
            self._known[start, on_false] = self._before(start, on_false, depth)
        return self._known[start, on_false]

    def _before(self, key: str, on_false: bool, depth: int) -> list[Way]:
        """Return what must be done before an operator lets through, or a condition is up for decision."""
        if depth > DEEPEST:
            self.notes["operators nested too deeply to be followed", key] += 1
            return []
        inputs = [self._through(before, edge, depth + 1) for before, edge in self.inputs[key]]
        if text(self.nodes[key].get("operator")).upper() == "AND" and inputs:
            inputs = [[_all(some) for some in itertools.islice(itertools.product(*inputs), MOST_WAYS + 1)]]
        if key in self.starts:
            inputs.append([Way(frozenset())])
        return [Way(way.needs, way.on_false or on_false) for way in self._some(inputs, key)]

    def _some(self, ways: Iterable[Iterable[Way]], key: str) -> list[Way]:
        found = list(dict.fromkeys(itertools.chain.from_iterable(ways)))
        if len(found) > MOST_WAYS:
            self.notes[f"ways to a node beyond {MOST_WAYS}", key] += 1
        return found[:MOST_WAYS]


def flow_of(objects: Sequence[Any]) -> Flow:
    """Return the flow among the objects of a STIX bundle; it has no nodes where there is none."""
    flow = Flow()
    for item in objects:
        if not isinstance(item, Mapping) or not text(item.get("id")):
            continue
        key, type_ = text(item["id"]), text(item.get("type"))
        if type_ == "attack-flow":
            flow.name = flow.name or text(item.get("name"))
            flow.start_refs += _refs(item.get("start_refs"))
        elif type_ in NODES:
            if key in flow.nodes:
                flow.notes["objects whose id is there already", key] += 1
            else:
                flow.nodes[key] = item
    flow.inputs = {key: [] for key in flow.nodes}
    for key, item in flow.nodes.items():
        for edge in EDGES:
            for end in _refs(item.get(edge)):
                if end in flow.nodes and (key, edge) not in flow.inputs[end]:
                    flow.inputs[end].append((key, edge))
                elif end not in flow.nodes:
                    flow.notes["references to objects that are no node of the flow", f"{end} ({edge} of {key})"] += 1
    flow.starts = _starts(flow)
    return flow


def _starts(flow: Flow) -> set[str]:
    """Return the nodes without predecessors, and of the start_refs those that no other start leads to."""
    leads: dict[str, list[str]] = {key: [] for key in flow.nodes}
    for key, edges in flow.inputs.items():
        for start, _ in edges:
            leads[start].append(key)
    starts = {key for key in flow.nodes if not flow.inputs[key]}
    seen = _reached(starts, leads)
    for key in (*flow.start_refs, *flow.nodes):
        if key in flow.nodes and key not in seen:
            starts.add(key)
            seen |= _reached({key}, leads)
    return starts


def _refs(given: Any) -> list[str]:
    if isinstance(given, str):
        return [text(given)]
    return [text(ref) for ref in given if text(ref)] if isinstance(given, list) else []


def _all(ways: Iterable[Way]) -> Way:
    given = list(ways)
    return Way(frozenset().union(*(way.needs for way in given)), any(way.on_false for way in given))


def _reached(starts: set[str], leads: Mapping[str, Sequence[str]]) -> set[str]:
    seen, rest = set(starts), list(starts)
    while rest:
        for key in leads[rest.pop()]:
            if key not in seen:
                seen.add(key)
                rest.append(key)
    return seen
