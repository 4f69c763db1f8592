"""The graph of an Attack Flow: its nodes, what leads to them through operators, what they are related to."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice, product
from typing import Any

from ncirl.formats.plain import DEEPEST
from ncirl.importers.values import text, texts

__all__ = ["ACTION", "CONDITION", "OPERATOR", "Flow", "Way", "flow_of"]

ACTION, CONDITION, OPERATOR = "attack-action", "attack-condition", "attack-operator"
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
    others: dict[str, Mapping[str, Any]] = field(default_factory=dict)  # objects that are no nodes, by id
    related: dict[str, dict[str, None]] = field(default_factory=dict)  # objects by what refers or is related to them
    dropped: dict[tuple[str, str], None] = field(default_factory=dict)  # what and which, each once
    _known: dict[tuple[str, bool], list[Way]] = field(default_factory=dict)

    def ways_to(self, key: str) -> list[Way]:
        """Return the ways to an action or condition: the needs of each are actions and conditions, all of them."""
        return self._some((self._through(start, edge, 0) for start, edge in self.inputs[key]), key)

    def _through(self, start: str, edge: str, depth: int) -> list[Way]:
        """Return what must be done for an edge to be taken; a loop of operators alone never is."""
        on_false = edge == "on_false_refs"
        if self.nodes[start]["type"] != OPERATOR and not on_false:
            return [Way(frozenset({start}))]
        if (start, on_false) not in self._known:
            self._known[start, on_false] = []
            self._known[start, on_false] = self._before(start, on_false, depth)
        return self._known[start, on_false]

    def _before(self, key: str, on_false: bool, depth: int) -> list[Way]:
        """Return what must be done before an operator lets through, or a condition is up for decision."""
        if depth > DEEPEST:
            self.dropped["operators nested too deeply to be followed", key] = None
            return []
        inputs = [self._through(before, edge, depth + 1) for before, edge in self.inputs[key]]
        if text(self.nodes[key].get("operator")).upper() == "AND" and inputs:
            inputs = [[_all(some) for some in islice(product(*inputs), MOST_WAYS + 1)]]
        if key in self.starts:
            inputs.append([Way(frozenset())])
        return [Way(way.needs, way.on_false or on_false) for way in self._some(inputs, key)]

    def _some(self, ways: Iterable[Iterable[Way]], key: str) -> list[Way]:
        found = list(dict.fromkeys(chain.from_iterable(ways)))
        if len(found) > MOST_WAYS:
            self.dropped[f"ways to a node beyond {MOST_WAYS}", key] = None
        return found[:MOST_WAYS]


def _all(ways: Sequence[Way]) -> Way:
    return Way(frozenset().union(*(way.needs for way in ways)), any(way.on_false for way in ways))


def flow_of(objects: Iterable[Mapping[str, Any]]) -> Flow:
    """Return the flow among the objects of a STIX bundle; it has no nodes where there is none."""
    flow = Flow()
    for item in objects:
        key, type_ = text(item.get("id")), text(item.get("type"))
        if not key:
            continue
        if type_ == "attack-flow":
            flow.name = flow.name or text(item.get("name"))
            flow.start_refs += _refs(item.get("start_refs"))
        elif type_ in (ACTION, CONDITION, OPERATOR):
            if key in flow.nodes:
                flow.dropped["objects whose id is there already", key] = None
            else:
                flow.nodes[key] = item
        elif type_ == "relationship":
            ends = text(item.get("source_ref")), text(item.get("target_ref"))
            for one, other in (ends, ends[::-1]):
                flow.related.setdefault(one, {})[other] = None
        else:
            flow.others.setdefault(key, item)
    for key, item in flow.nodes.items():
        for refs in ("asset_refs", "object_refs", "command_ref"):
            flow.related.setdefault(key, {}).update(dict.fromkeys(_refs(item.get(refs))))
    flow.inputs = {key: [] for key in flow.nodes}
    leads: dict[str, list[str]] = {key: [] for key in flow.nodes}
    for key, item in flow.nodes.items():
        for edge in EDGES:
            for end in _refs(item.get(edge)):
                if end not in flow.nodes:
                    said = f"{end} ({edge} of {key})"
                    flow.dropped["references to objects that are no node of the flow", said] = None
                elif (key, edge) not in flow.inputs[end]:
                    flow.inputs[end].append((key, edge))
                    leads[key].append(end)
    flow.starts = _starts(flow, leads)
    return flow


def _refs(given: Any) -> list[str]:
    return [text(given)] if isinstance(given, str) else texts(given)


def _starts(flow: Flow, leads: Mapping[str, Sequence[str]]) -> set[str]:
    """Return the nodes without predecessors, and of the start_refs those that no other start leads to."""
    starts = {key for key in flow.nodes if not flow.inputs[key]}
    seen = set[str]()
    for key in (*starts, *flow.start_refs, *flow.nodes):
        if key not in flow.nodes or key in seen:
            continue
        starts.add(key)
        seen.add(key)
        rest = [key]
        while rest:
            fresh = set(leads[rest.pop()]) - seen
            seen |= fresh
            rest += fresh
    return starts
