"""Graphs of nodes and edges with attributes, as steps: what GraphML and node-link files have in common.

A node is a condition and an edge a step from one to the other, unless the node is a step itself (an exploit, an AND):
then it needs all its predecessors. Which attributes mean what is found by their usual names and said in the report,
or set by the person.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, TypedDict

from ncirl.errors import InputError
from ncirl.importers.draft import MOST_PARTS, Draft
from ncirl.importers.node_marks import Attributes, attribute_named, mark, present
from ncirl.importers.options import ImportOptions
from ncirl.importers.report import shortened
from ncirl.importers.values import number, text

__all__ = ["Edge", "NodeGraph", "check_size", "fill"]

EDGE_TYPE = ("edge_type", "type", "kind", "relation", "relationship", "rel_type", "label")
NODE_TYPE = ("kind", "type", "node_type", "logic", "gate")
LABEL = ("label", "name", "title", "info", "fact")
SUCCESS = ("success_prob", "success", "success_probability", "probability", "prob", "likelihood", "p")
ATTACK_COST = ("attack_cost", "cost", "exploit_cost")
BLOCK_COST = ("block_cost", "defense_cost", "defence_cost", "mitigation_cost")
STEP_KINDS = frozenset({"and", "exploit", "rule", "action", "step", "attack_step", "attackstep", "technique"})
FACT_KINDS = frozenset({"leaf", "fact"})
NOT_STEPS = frozenset({"contains", "fixed_by", "has_vulnerability", "affects", "affected_by", "documents", "mitigates"})
ANY = "*"


@dataclass
class Edge:
    """An edge from one node to another."""

    source: str
    target: str
    attributes: Attributes


@dataclass
class NodeGraph:
    """Nodes by key, and edges."""

    directed: bool = True
    nodes: dict[str, dict[str, Any]] = field(default_factory=dict)
    edges: list[Edge] = field(default_factory=list)


def fill(draft: Draft, graph: NodeGraph, options: ImportOptions) -> None:
    """Fill a draft from a graph.

    Raises
    ------
    InputError
        When a setting names an attribute or a type that the graph does not have.
    """
    kinds = _kinds(graph, options)
    facts = {key for key, kind in kinds.items() if kind in FACT_KINDS}
    edges = _forward(draft, _steps(draft, graph, options), facts)
    following: dict[str, list[Edge]] = defaultdict(list)
    entering: dict[str, list[Edge]] = defaultdict(list)
    for edge in edges:
        following[edge.source].append(edge)
        entering[edge.target].append(edge)
    joins = {key for key, kind in kinds.items() if kind in STEP_KINDS}
    # a step between conditions is one exploit; a step that leads to another is a condition too
    exploits = {key for key in joins if following[key] and not any(edge.target in joins for edge in following[key])}
    reading = _Reading(graph, options)
    for key, attributes in graph.nodes.items():
        if key in exploits:
            for edge in following[key]:
                needs = [before.source for before in entering[key]]
                name = reading.label(attributes) or key
                draft.exploit(
                    key, needs=needs, gives=edge.target, name=name, **reading.numbers(attributes, edge.attributes)
                )
        elif key in facts:
            draft.fact(key, label=reading.label(attributes))
        else:
            draft.condition(key, label=reading.label(attributes))
            if key in joins and entering[key]:
                needs = [edge.source for edge in entering[key]]
                draft.exploit(key, needs=needs, gives=key, **reading.numbers(attributes))
    for edge in edges:
        if edge.source not in exploits and edge.target not in joins:
            name = text(edge.attributes.get("id")) or _edge_name(edge, reading.type_of(edge))
            draft.exploit(name, needs=[edge.source], gives=edge.target, **reading.numbers(edge.attributes))
    mark(draft, {key: node for key, node in graph.nodes.items() if key not in exploits}, options)


def check_size(parts: int, where: str) -> None:
    """Refuse a graph of too many nodes and edges before more is made of them."""
    if parts > MOST_PARTS:
        raise InputError(
            f"has {parts} nodes and edges, more than {MOST_PARTS}; cut it down before it is imported", where
        )


def _edge_name(edge: Edge, kind: str) -> str:
    return f"{kind} {edge.source} to {edge.target}".strip()


class _Numbers(TypedDict):
    success: float | None
    attack_cost: float | None
    block_cost: float | None


class _Reading:
    """Which attributes say what in one graph."""

    def __init__(self, graph: NodeGraph, options: ImportOptions) -> None:
        nodes, edges = graph.nodes.values(), [edge.attributes for edge in graph.edges]
        every = [*nodes, *edges]
        telling = [{name: v for name, v in node.items() if text(v) != key} for key, node in graph.nodes.items()]
        self._label = attribute_named("label", LABEL, telling, options)
        self._type = attribute_named("edge-type", EDGE_TYPE, edges, options)
        self._numbers = {
            "success": attribute_named("success", SUCCESS, every, options),
            "attack_cost": attribute_named("attack-cost", ATTACK_COST, every, options),
            "block_cost": attribute_named("block-cost", BLOCK_COST, every, options),
        }

    def label(self, attributes: Attributes) -> str:
        return text(attributes.get(self._label))

    def type_of(self, edge: Edge) -> str:
        return text(edge.attributes.get(self._type))

    def numbers(self, *holders: Attributes) -> _Numbers:
        """Return what the first of the holders says that says anything."""
        return _Numbers(
            success=self._first("success", holders),
            attack_cost=self._first("attack_cost", holders),
            block_cost=self._first("block_cost", holders),
        )

    def _first(self, quantity: str, holders: Iterable[Attributes]) -> float | None:
        said = (number(attributes.get(self._numbers[quantity])) for attributes in holders)
        return next((value for value in said if value is not None), None)


def _steps(draft: Draft, graph: NodeGraph, options: ImportOptions) -> list[Edge]:
    """Return the edges that are attack steps, in the direction of the attack."""
    name = attribute_named("edge-type", EDGE_TYPE, [edge.attributes for edge in graph.edges], options)
    types = [text(edge.attributes.get(name)) for edge in graph.edges]
    chosen, turned = options.settings_list("steps"), options.settings_list("reverse")
    for setting, words in (("steps", chosen), ("reverse", turned)):
        for word in words:
            if word not in (*types, ANY):
                known = shortened(sorted(set(types) - {""}), 20) or "none"
                raise InputError(f"no edge has this type; there are {known}", f"setting {setting}={word}")
    found = []
    for edge, kind in zip(graph.edges, types, strict=True):
        if kind not in chosen and ANY not in chosen:
            if chosen:
                draft.note("dropped", "edges of types that are not among the steps set", kind)
                continue
            if kind.lower() in NOT_STEPS:
                draft.note("dropped", "edges of types that seem no attack steps (--set steps=… decides)", kind)
                continue
        found.append(Edge(*_swapped(edge)) if kind in turned or ANY in turned else edge)
        if not graph.directed:
            found.append(found[-1] if edge.source == edge.target else Edge(*_swapped(found[-1])))
    if not graph.directed:
        draft.note("assumed", "edges have no direction, so that each is a step both ways")
    return found


def _forward(draft: Draft, edges: list[Edge], facts: set[str]) -> list[Edge]:
    """Return the edges from premises to conclusions; facts conclude from nothing, which tells a reversed graph."""
    if sum(edge.target in facts for edge in edges) <= sum(edge.source in facts for edge in edges):
        return edges
    draft.note("assumed", "edges lead from conclusions to premises in this file, as steps give no facts")
    return [Edge(*_swapped(edge)) for edge in edges]


def _swapped(edge: Edge) -> tuple[str, str, Attributes]:
    return edge.target, edge.source, edge.attributes


def _kinds(graph: NodeGraph, options: ImportOptions) -> dict[str, str]:
    """Return what each node is, in lower case; an attribute that never speaks of steps or facts says nothing."""
    name, _, value = options.setting("and").partition("=")
    if name:
        if not any(text(node.get(name)) == value for node in graph.nodes.values()):
            raise InputError(f"no node has {name}={value}", "setting and")
        return {key: "and" for key, node in graph.nodes.items() if text(node.get(name)) == value}
    for usual in present(NODE_TYPE, graph.nodes):
        kinds = {key: text(node.get(usual)).lower() for key, node in graph.nodes.items()}
        if STEP_KINDS.intersection(kinds.values()):
            return kinds
    return {}
