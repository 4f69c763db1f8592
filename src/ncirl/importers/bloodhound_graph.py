"""BloodHound's nodes and edges, and the files that hold them as they are: OpenGraph, and what its interface exports.

An edge says that whoever controls its start can come to control its end. The ends are given by id, by name and kind,
or by properties; what is not in the file becomes a node of its own, since another file may have it or a person may
name it.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from ncirl.importers.bloodhound_kinds import kind_of_node, plain, spelled
from ncirl.importers.values import chance, mapping, mappings, text, truth

__all__ = [
    "EVERYBODY",
    "MEMBERSHIPS",
    "TIER_ZERO",
    "Edge",
    "Node",
    "OpenGraph",
    "Right",
    "graph_of",
    "is_owned",
    "is_prized",
    "lowered",
]

GENERAL = ("Base", "AZBase", "Compromised", "Owned")
OWNED = frozenset({"owned", "isowned", "tagowned", "compromised", "iscompromised", "pwned"})  # as `plain` has them
PRIZED = frozenset({"highvalue", "ishighvalue", "istierzero", "tierzero", "admintier0", "tagtierzero"})
EVERYBODY = ("S-1-5-11", "S-1-1-0")  # Authenticated Users, Everyone
MEMBERSHIPS = ("MemberOf", "MemberOfLocalGroup")
SUCCESS = ("success_prob", "success", "probability")
TIER_ZERO = re.compile(r"(.*-)?(S-1-5-21-\d+-\d+-\d+-(512|516|518|519)|S-1-5-32-544)")
"""Domain Admins, Domain Controllers, Schema Admins, Enterprise Admins; Administrators of a domain."""


@dataclass(frozen=True)
class Node:
    """A principal or a thing: to hold its condition is to control it."""

    id: str
    name: str = ""
    kinds: tuple[str, ...] = ()
    owned: bool = False
    prized: bool = False
    properties: Mapping[str, Any] = field(default_factory=dict)  # as `lowered` names them

    @property
    def kind(self) -> str:
        """What sort of thing it is; BloodHound's general kinds and its tags say nothing of that."""
        telling = [kind for kind in self.kinds if kind and kind not in GENERAL and not kind.startswith("Tag_")]
        return telling[0] if telling else ""


@dataclass(frozen=True)
class Right:
    """A right over a thing, and who has it without being in a group; `kind` is empty where nobody takes it away."""

    kind: str
    over: str
    holders: tuple[str, ...]

    @property
    def own(self) -> tuple[str, ...]:
        """Who has it without having it as everybody has."""
        return tuple(holder for holder in self.holders if not holder.endswith(EVERYBODY))


@dataclass(frozen=True)
class Edge:
    """One way to control `end` from `start`; `walkable` is what the file says of it, None where it says nothing.

    `by` are the nodes that an edge that follows from others goes by: a certificate template or two, an authority. It
    `takes` rights that the start has all of, by itself or through its groups; of several such sets one is enough.
    """

    kind: str
    start: str
    end: str
    walkable: bool | None = None
    success: float | None = None
    by: tuple[str, ...] = ()
    takes: tuple[tuple[Right, ...], ...] = ()


def is_owned(kinds: Iterable[str], properties: Mapping[str, Any]) -> bool:
    """Tell whether a node is marked as already in the attacker's hands."""
    return _marked(kinds, properties, OWNED)


def is_prized(id: str, kinds: Iterable[str], properties: Mapping[str, Any]) -> bool:
    """Tell whether a node is marked as tier zero or of high value, or is one of the groups that always are."""
    if _marked(kinds, properties, PRIZED):
        return True
    return "Domain" in kinds or TIER_ZERO.fullmatch(id) is not None


def _marked(kinds: Iterable[str], properties: Mapping[str, Any], marks: frozenset[str]) -> bool:
    """Tell whether a property, a tag or a kind is one of some marks, however it is spelled."""
    known = lowered(properties)
    if any(truth(known.get(mark)) for mark in marks):
        return True
    tags = known.get("systemtags")
    words = tags if isinstance(tags, list) else re.split(r"[\s,;]+", text(tags))
    return any(plain(text(word)) in marks for word in (*words, *kinds))


class OpenGraph:
    """Nodes and edges of some files; `notes` counts what was odd, as (what, about which)."""

    def __init__(self, graphs: Sequence[Mapping[str, Any]]) -> None:
        self.nodes: dict[str, Node] = {}
        self.edges: list[Edge] = []
        self.notes: Counter[tuple[str, str]] = Counter()
        self._properties: dict[str, Mapping[str, Any]] = {}
        self._answers: dict[tuple[tuple[tuple[str | None, str], ...], str], list[str]] = {}
        self._by_property: dict[str, dict[str, frozenset[str]]] = {}
        self._called: dict[str, list[str]] = defaultdict(list)  # ids by name, in lower case
        for graph in graphs:
            self._add_nodes(graph)
        for graph in graphs:  # when the nodes of all files are known
            self._add_edges(graph)

    def _add_nodes(self, graph: Mapping[str, Any]) -> None:
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

    def _add_edges(self, graph: Mapping[str, Any]) -> None:
        for _, source in _items(graph.get("edges")):
            kind = spelled(text(source.get("kind")) or text(source.get("label")))
            start = self._end(source.get("start", source.get("source")))
            end = self._end(source.get("end", source.get("target")))
            if not (kind and start and end):
                self.notes["edges without a kind or an end", kind] += 1
                continue
            properties = mapping(source.get("properties"))
            walkable = truth(source.get("traversable", properties.get("traversable")))
            success = next((found for key in SUCCESS if (found := chance(properties.get(key))) is not None), None)
            self.edges.append(Edge(kind, start, end, walkable, success))

    def _add_node(self, id_: str, source: Mapping[str, Any]) -> None:
        properties = mapping(source.get("properties"))
        given = source.get("kinds")
        kinds = [kind_of_node(text(kind)) for kind in (given if isinstance(given, list) else [source.get("kind")])]
        known = lowered(properties)
        name = text(known.get("name")) or text(source.get("label"))
        prized = is_prized(id_, kinds, properties) or bool(truth(source.get("isTierZero")))
        self.nodes[id_] = Node(id_, name, tuple(kinds), is_owned(kinds, properties), prized, known)
        self._properties[id_] = properties
        self._called[name.lower()].append(id_)

    def _end(self, given: Any) -> str:
        """Return the id of the node that one end of an edge is; empty where it cannot be told."""
        if not isinstance(given, Mapping):
            return self._known(text(given))
        how, value, kind = (text(given.get(key)) for key in ("match_by", "value", "kind"))
        matchers = given.get("property_matchers")
        if how.lower() == "property" and isinstance(matchers, list):
            wanted = tuple((text(mapping(each).get("key")), text(mapping(each).get("value"))) for each in matchers)
            found, said = self._fitting(wanted, kind), ", ".join(f"{key}={value}" for key, value in wanted)
        elif how.lower() == "name":
            found, said = self._fitting(((None, value.lower()),), kind) or [self._known(value)], value
        else:
            return self._known(value)
        if len(found) == 1:
            return found[0]
        self.notes["edges with an end that fits no node or several", said] += 1
        return ""

    def _fitting(self, wanted: tuple[tuple[str | None, str], ...], kind: str) -> list[str]:
        """Return the nodes of a kind with some properties, or a name, two at most; a question is answered once."""
        if (wanted, kind) not in self._answers:
            sets = sorted((self._having(key, value) for key, value in wanted), key=len)
            fitting = frozenset.intersection(*sets) if sets else ()
            of_kind = (id_ for id_ in fitting if not kind or kind in self.nodes[id_].kinds)
            self._answers[wanted, kind] = list(islice(of_kind, 2))
        return self._answers[wanted, kind]

    def _having(self, key: str | None, value: str) -> frozenset[str]:
        """Return the ids of the nodes with one value of a property, or with a name where there is no key."""
        if key is None:
            return frozenset(self._called.get(value, ()))
        if key not in self._by_property:
            found: dict[str, set[str]] = defaultdict(set)
            for id_, had in self._properties.items():
                if key in had:
                    found[text(had[key])].add(id_)
            self._by_property[key] = {value: frozenset(ids) for value, ids in found.items()}
        return self._by_property[key].get(value, frozenset())

    def _known(self, id_: str) -> str:
        """Return the id as a node's, making the node where there is none."""
        for tried in (id_, *self._called.get(f"#{id_}", []), id_.upper()):
            if tried in self.nodes:
                return tried
        if id_:
            self.notes["ends of edges that are not in the file are nodes of their own", id_] += 1
            self.nodes[id_] = Node(id_, prized=is_prized(id_, (), {}))
        return id_


def graph_of(data: Any) -> Mapping[str, Any] | None:
    """Return the part of plain data that has nodes and edges as BloodHound writes them; None where there is none."""
    inside = (mapping(mapping(data).get(key)) for key in ("graph", "data"))
    return next((graph for graph in inside if "nodes" in graph or "edges" in graph), None)


def lowered(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return properties by their names in lower case without underscores, as sources differ in how they spell them."""
    return {plain(str(key)): value for key, value in properties.items()}


def _items(given: Any) -> list[tuple[str, Mapping[str, Any]]]:
    if isinstance(given, Mapping):
        return [(text(key), value) for key, value in given.items() if isinstance(value, Mapping)]
    return [("", value) for value in mappings(given)]
