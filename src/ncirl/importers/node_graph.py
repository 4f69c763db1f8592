"""Graphs of nodes and edges with attributes, as steps: what GraphML and node-link files have in common.

A node is a condition and an edge a step from one to the other, unless the node is a step itself (an exploit, an AND):
then it needs all its predecessors. Which attributes mean what is found by their usual names and said in the report,
or set by the person.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict

from ncirl.errors import InputError
from ncirl.importers.draft import MOST_PARTS, Draft
from ncirl.importers.options import ImportOptions
from ncirl.importers.report import shortened
from ncirl.importers.values import identifiers, number, text, truth

__all__ = ["Edge", "NodeGraph", "check_size", "fill"]

Attributes = Mapping[str, Any]
EDGE_TYPE = ("edge_type", "type", "kind", "relation", "relationship", "rel_type", "label")
NODE_TYPE = ("kind", "type", "node_type", "logic", "gate")
LABEL = ("label", "name", "title", "info", "fact")
SUCCESS = ("success_prob", "success", "success_probability", "probability", "prob", "likelihood", "p")
ATTACK_COST = ("attack_cost", "cost", "exploit_cost")
BLOCK_COST = ("block_cost", "defense_cost", "defence_cost", "mitigation_cost")
STEP_KINDS = frozenset({"and", "exploit", "rule", "action", "step", "attack_step", "attackstep", "technique"})
FACT_KINDS = frozenset({"leaf", "fact"})
NOT_STEPS = frozenset({"contains", "fixed_by", "has_vulnerability", "affects", "affected_by", "documents", "mitigates"})
INITIAL = ("initial", "is_initial", "entry", "entry_point", "is_entry", "compromised", "owned", "attacker")
EXPOSED = ("internet_facing", "internet_accessible", "has_public_port", "exposed", "public")
GOAL = ("goal", "is_goal", "target", "is_target", "crown_jewel", "objective")
WORTH = ("criticality_score", "criticality", "asset_value", "importance", "value")
REWARD = "reward_"  # and the name of an intent
OUTSIDE = "outside"
ANY = "*"


@dataclass
class Edge:
    """An edge from one node to another."""

    source: str
    target: str
    attributes: Attributes

    def turned(self) -> "Edge":
        """Return the edge the other way round."""
        return Edge(self.target, self.source, self.attributes)


@dataclass
class NodeGraph:
    """Nodes by key, and edges."""

    directed: bool = True
    nodes: dict[str, dict[str, Any]] = field(default_factory=dict)
    edges: list[Edge] = field(default_factory=list)


def fill(draft: Draft, graph: NodeGraph, options: ImportOptions) -> None:
    """Fill a draft from a graph.

    Raises `InputError` when a setting names an attribute or a type that the graph does not have.
    """
    kinds = _kinds(graph, options)
    facts = {key for key, kind in kinds.items() if kind in FACT_KINDS}
    edges = _forward(draft, _steps(draft, graph, options), facts)
    following: dict[str, list[Edge]] = defaultdict(list)
    needs: dict[str, list[str]] = defaultdict(list)
    for edge in edges:
        following[edge.source].append(edge)
        needs[edge.target].append(edge.source)
    joins = {key for key, kind in kinds.items() if kind in STEP_KINDS}
    # a step between conditions is one exploit; a step that leads to another is a condition too
    exploits = {key for key in joins if following[key] and not any(edge.target in joins for edge in following[key])}
    reading = _Reading(graph, options)
    for key, attributes in graph.nodes.items():
        if key in exploits:
            for edge in following[key]:
                numbers = reading.numbers(attributes, edge.attributes)
                told = reading.label(attributes)
                draft.exploit(
                    key,
                    needs=needs[key],
                    gives=edge.target,
                    name=told,
                    label=told,
                    asset=reading.label(graph.nodes.get(edge.target, {})) or edge.target,
                    references=identifiers(key, attributes, edge.attributes),
                    **numbers,
                )
        elif key in facts:
            draft.fact(key, label=reading.label(attributes))
        else:
            cited = identifiers(key, attributes)
            draft.condition(key, label=reading.label(attributes), references=cited)
            if key in joins and needs[key]:
                draft.exploit(key, needs=needs[key], gives=key, references=cited, **reading.numbers(attributes))
    for edge in edges:
        if edge.source not in exploits and edge.target not in joins:
            described = f"{reading.type_of(edge)} {edge.source} to {edge.target}".strip()
            name = text(edge.attributes.get("id")) or described
            start, end = (reading.label(graph.nodes.get(end, {})) or end for end in (edge.source, edge.target))
            draft.exploit(
                name,
                needs=[edge.source],
                gives=edge.target,
                label=f"{reading.type_of(edge) or 'step'} from {start} to {end}",
                asset=end,
                references=identifiers(edge.attributes),
                **reading.numbers(edge.attributes),
            )
    _mark(draft, {key: node for key, node in graph.nodes.items() if key not in exploits}, options)


def check_size(parts: int, where: str) -> None:
    """Refuse a graph of too many nodes and edges before more is made of them."""
    if parts > MOST_PARTS:
        raise InputError(
            f"has {parts} nodes and edges, more than {MOST_PARTS}; cut it down before it is imported", where
        )


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
        self._label = _attribute("label", LABEL, telling, options)
        self._type = _attribute("edge-type", EDGE_TYPE, edges, options)
        self._numbers = [
            _attribute(setting, usual, every, options)
            for setting, usual in (("success", SUCCESS), ("attack-cost", ATTACK_COST), ("block-cost", BLOCK_COST))
        ]

    def label(self, attributes: Attributes) -> str:
        return text(attributes.get(self._label))

    def type_of(self, edge: Edge) -> str:
        return text(edge.attributes.get(self._type))

    def numbers(self, *holders: Attributes) -> _Numbers:
        """Return what the first of the holders says that says anything."""
        success, attack_cost, block_cost = (
            next((value for holder in holders if (value := number(holder.get(name))) is not None), None)
            for name in self._numbers
        )
        return _Numbers(success=success, attack_cost=attack_cost, block_cost=block_cost)


def _attribute(setting: str, usual: Iterable[str], holders: Iterable[Attributes], options: ImportOptions) -> str:
    """Return the attribute that was set, or the first usual one that is there; empty where there is none."""
    counts = Counter(name for attributes in holders for name in attributes)
    chosen = options.setting(setting)
    if chosen and chosen not in counts:
        known = f"there are {shortened(sorted(counts), 20)}" if counts else "there are none"
        raise InputError(f"no attribute is called so; {known}", f"setting {setting}={chosen}")
    by_lower = {name.lower(): name for name in reversed(counts)}
    return chosen or next((by_lower[name] for name in usual if name in by_lower), "")


def _steps(draft: Draft, graph: NodeGraph, options: ImportOptions) -> list[Edge]:
    """Return the edges that are attack steps, in the direction of the attack."""
    name = _attribute("edge-type", EDGE_TYPE, [edge.attributes for edge in graph.edges], options)
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
        found.append(edge.turned() if kind in turned or ANY in turned else edge)
        if not graph.directed:
            found.append(found[-1] if edge.source == edge.target else found[-1].turned())
    if not graph.directed:
        draft.note("assumed", "edges have no direction, so that each is a step both ways")
    return found


def _forward(draft: Draft, edges: list[Edge], facts: set[str]) -> list[Edge]:
    """Return the edges from premises to conclusions; facts conclude from nothing, which tells a reversed graph."""
    if sum(edge.target in facts for edge in edges) <= sum(edge.source in facts for edge in edges):
        return edges
    draft.note("assumed", "edges lead from conclusions to premises in this file, as steps give no facts")
    return [edge.turned() for edge in edges]


def _kinds(graph: NodeGraph, options: ImportOptions) -> dict[str, str]:
    """Return what each node is, in lower case; an attribute that never speaks of steps or facts says nothing."""
    name, _, value = options.setting("and").partition("=")
    if name:
        if not any(text(node.get(name)) == value for node in graph.nodes.values()):
            raise InputError(f"no node has {name}={value}", "setting and")
        return {key: "and" for key, node in graph.nodes.items() if text(node.get(name)) == value}
    for usual in _present(NODE_TYPE, graph.nodes):
        kinds = {key: text(node.get(usual)).lower() for key, node in graph.nodes.items()}
        if STEP_KINDS.intersection(kinds.values()):
            return kinds
    return {}


def _mark(draft: Draft, nodes: Mapping[str, Attributes], options: ImportOptions) -> None:
    """Find where attackers begin and what they may want."""
    initial = _true(draft, nodes, "initial", INITIAL, options)
    for key in initial:
        draft.condition(key, initial=True)
    if not initial and not options.initial:
        _enter_from_outside(draft, nodes)
    for key in _true(draft, nodes, "goal", GOAL, options):
        draft.goal(key)
    for key, attributes in nodes.items():
        for name, value in attributes.items():
            paid = number(value)
            if name.startswith(REWARD) and paid:
                draft.reward(name.removeprefix(REWARD), key, paid)
    for name in _present(WORTH, nodes):
        worth = {key: value for key, node in nodes.items() if (value := number(node.get(name))) is not None}
        most = max(worth.values(), default=0.0)
        best = [key for key, value in worth.items() if value == most]
        if most > 0 and len(best) < len(nodes):
            for key in best:
                draft.guess_goal(key, f"its {name} is the highest")
            return


def _enter_from_outside(draft: Draft, nodes: Mapping[str, Attributes]) -> None:
    """Let attackers begin outside where the graph does not say where they are but what they can reach."""
    for name in _present(EXPOSED, nodes):
        exposed = [key for key, attributes in nodes.items() if truth(attributes.get(name))]
        if exposed:
            outside = OUTSIDE if OUTSIDE not in nodes else f"{OUTSIDE} (added)"
            draft.condition(outside, label="where attackers begin", initial=True)
            for key in exposed:
                draft.note("assumed", f"attackers begin outside and can enter where '{name}' is true", key)
                draft.exploit(f"enter {key}", needs=[outside], gives=key)
            return


def _present(names: Iterable[str], nodes: Mapping[str, Attributes]) -> list[str]:
    """Return those of the names that some node has as an attribute."""
    there = {name for attributes in nodes.values() for name in attributes}
    return [name for name in names if name in there]


def _true(
    draft: Draft, nodes: Mapping[str, Attributes], setting: str, usual: Sequence[str], options: ImportOptions
) -> list[str]:
    """Return the nodes at which the attribute that was set, or the first usual one that is true anywhere, is true."""
    if options.setting(setting):
        usual = [_attribute(setting, usual, nodes.values(), options)]
    for name in _present(usual, nodes):
        found = [key for key, attributes in nodes.items() if truth(attributes.get(name))]
        if found:
            draft.note("assumed", f"'{name}' marks what is {setting}")
            return found
    return []
