"""BloodHound's OpenGraph files, and the graphs its own interface exports: nodes and edges as they are.

The ends of an edge are given by id, by name and kind, or by properties; what is not in the file becomes a node of its
own, since another file may have it or a person may name it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

from ncirl.importers.bloodhound_edges import Edge, Node, is_owned, is_prized
from ncirl.importers.values import chance, text, truth

__all__ = ["OpenGraph", "graph_of"]

SUCCESS = ("success_prob", "success", "probability")


class OpenGraph:
    """Nodes and edges of some files; `notes` counts what was odd, as (kind of note, what, about which)."""

    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {}
        self.edges: list[Edge] = []
        self.notes: Counter[tuple[str, str]] = Counter()
        self._properties: dict[str, Mapping[str, Any]] = {}
        self._answers: dict[tuple[tuple[Any, ...], str], list[str]] = {}
        self._by_property: dict[str, dict[str, frozenset[str]]] = {}
        self._called: dict[str, list[str]] = defaultdict(list)  # ids by name, in lower case

    def add(self, graph: Mapping[str, Any]) -> None:
        """Add the nodes of a file; edges follow when the nodes of all files are known."""
        for key, source in _items(graph.get("nodes")):
            id_ = text(source.get("objectId")) or text(source.get("id")) or key
            if not id_:
                self.notes["nodes without an id", ""] += 1
            elif id_ in self.nodes:
                self.notes["nodes whose id is there already", id_] += 1
            else:
                self._add_node(id_, source)
            if key and key != id_:
                self._called[f"#{key}"] = [id_]

    def connect(self, graph: Mapping[str, Any]) -> None:
        """Add the edges of a file."""
        for _, source in _items(graph.get("edges")):
            kind = text(source.get("kind")) or text(source.get("label"))
            start = self._end(source.get("start", source.get("source")))
            end = self._end(source.get("end", source.get("target")))
            if not (kind and start and end):
                self.notes["edges without a kind or an end", kind] += 1
                continue
            properties = _map(source.get("properties"))
            walkable = truth(source.get("traversable", properties.get("traversable")))
            success = next((found for key in SUCCESS if (found := chance(properties.get(key))) is not None), None)
            self.edges.append(Edge(kind, start, end, walkable, success))

    def _add_node(self, id_: str, source: Mapping[str, Any]) -> None:
        properties = _map(source.get("properties"))
        given = source.get("kinds")
        kinds = [text(kind) for kind in given] if isinstance(given, list) else [text(source.get("kind"))]
        name = text(properties.get("name")) or text(source.get("label"))
        prized = is_prized(id_, kinds, properties) or bool(truth(source.get("isTierZero")))
        self.nodes[id_] = Node(id_, name, tuple(kinds), is_owned(kinds, properties), prized)
        self._properties[id_] = properties
        self._called[name.lower()].append(id_)

    def _end(self, given: Any) -> str:
        """Return the id of the node that one end of an edge is; empty where it cannot be told."""
        if not isinstance(given, Mapping):
            return self._known(text(given))
        how, value, kind = (text(given.get(key)) for key in ("match_by", "value", "kind"))
        matchers = given.get("property_matchers")
        if how.lower() == "property" and isinstance(matchers, list):
            wanted = tuple((text(_map(each).get("key")), text(_map(each).get("value"))) for each in matchers)
            found = self._once(("property", *wanted), kind)
            return found[0] if len(found) == 1 else self._unclear(", ".join(f"{key}={value}" for key, value in wanted))
        if how.lower() != "name":
            return self._known(value)
        found = self._once(("name", (value.lower(), "")), kind)
        if len(found) > 1:
            return self._unclear(value)
        return found[0] if found else self._known(value)

    def _unclear(self, said: str) -> str:
        self.notes["edges with an end that fits no node or several", said] += 1
        return ""

    def _once(self, asked: tuple[Any, ...], kind: str) -> list[str]:
        """Return the nodes of a kind that fit, at most two of them; the same question is answered once."""
        if (asked, kind) not in self._answers:
            how, *pairs = asked
            if how == "name":
                fitting: Iterable[str] = self._called.get(pairs[0][0], [])
            else:
                sets = sorted((self._having(key).get(value, frozenset()) for key, value in pairs), key=len)
                fitting = sorted(frozenset.intersection(*sets)) if sets else ()
            of_kind = (id_ for id_ in fitting if not kind or kind in self.nodes[id_].kinds)
            self._answers[asked, kind] = list(islice(of_kind, 2))
        return self._answers[asked, kind]

    def _known(self, id_: str) -> str:
        """Return the id as a node's, making the node where there is none."""
        for tried in (id_, *self._called.get(f"#{id_}", []), id_.upper()):
            if tried in self.nodes:
                return tried
        if id_:
            self.notes["ends of edges that are not in the file are nodes of their own", id_] += 1
            self.nodes[id_] = Node(id_, prized=is_prized(id_, (), {}))
        return id_

    def _having(self, key: str) -> dict[str, frozenset[str]]:
        """Return the ids of the nodes by the value of one property."""
        if key not in self._by_property:
            found: dict[str, set[str]] = defaultdict(set)
            for id_, had in self._properties.items():
                if key in had:
                    found[text(had[key])].add(id_)
            self._by_property[key] = {value: frozenset(ids) for value, ids in found.items()}
        return self._by_property[key]


def graph_of(data: Any) -> Mapping[str, Any] | None:
    """Return the part of plain data that has nodes and edges as BloodHound writes them; None where there is none."""
    if not isinstance(data, Mapping):
        return None
    for key in ("graph", "data"):
        inner = data.get(key)
        if isinstance(inner, Mapping) and ("nodes" in inner or "edges" in inner):
            return inner
    return None


def _items(given: Any) -> list[tuple[str, Mapping[str, Any]]]:
    if isinstance(given, Mapping):
        return [(text(key), value) for key, value in given.items() if isinstance(value, Mapping)]
    return [("", value) for value in given if isinstance(value, Mapping)] if isinstance(given, list) else []


def _map(given: Any) -> Mapping[str, Any]:
    return given if isinstance(given, Mapping) else {}
