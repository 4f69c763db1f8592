"""Graphs of nodes and edges with attributes, as steps: what GraphML and node-link files have in common.

A node is a condition and an edge a step from one to the other, unless the node is a step itself (an exploit, an AND):
then it needs all its predecessors. Which attributes mean what is found by their usual names and said in the report,
or set by the person.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from ncirl.errors import InputError
from ncirl.importers.draft import MOST_READ, Draft
from ncirl.importers.node_reading import DENIED, Attributes, Edge, NodeGraph, Reading, attribute
from ncirl.importers.options import ImportOptions
from ncirl.importers.values import identifiers, number, text, truth
from ncirl.importers.vulnerabilities import is_denial

__all__ = ["Edge", "NodeGraph", "check_size", "fill"]

NODE_TYPE = ("kind", "type", "node_type", "logic", "gate")
STEP_KINDS = frozenset({"and", "exploit", "rule", "action", "step", "attack_step", "attackstep", "technique"})
FACT_KINDS = frozenset({"leaf", "fact"})
INITIAL = ("initial", "is_initial", "entry", "entry_point", "is_entry", "compromised", "owned", "attacker")
EXPOSED = ("internet_facing", "internet_accessible", "has_public_port", "exposed", "public")
GOAL = ("goal", "is_goal", "target", "is_target", "crown_jewel", "objective")
WORTH = ("criticality_score", "criticality", "asset_value", "importance", "value")
RATED_WORTH = {"low": 1.0, "medium": 2.0, "moderate": 2.0, "high": 3.0, "critical": 4.0}
REWARD = "reward_"  # and the name of an intent
OUTSIDE = "outside"


def fill(draft: Draft, graph: NodeGraph, options: ImportOptions) -> None:
    """Fill a draft from a graph.

    Raises `InputError` when a setting names an attribute or a type that the graph does not have.
    """
    kinds = _kinds(graph, options)
    facts = {key for key, kind in kinds.items() if kind in FACT_KINDS}
    reading = Reading(draft, graph, options)
    edges = _forward(draft, reading.steps, facts)
    following: dict[str, list[Edge]] = defaultdict(list)
    needs: dict[str, list[str]] = defaultdict(list)
    for edge in edges:
        following[edge.source].append(edge)
        needs[edge.target].append(edge.source)
    joins = {key for key, kind in kinds.items() if kind in STEP_KINDS}
    # a step between conditions is one exploit; a step that leads to another is a condition too
    exploits = {key for key in joins if following[key] and not any(edge.target in joins for edge in following[key])}
    ends = {end for edge in edges for end in (edge.source, edge.target)}
    for key, attributes in graph.nodes.items():
        if key in joins and is_denial(attributes):
            draft.note("dropped", DENIED, reading.label(key) or key)
        elif key in exploits:
            told = reading.label(key)
            for edge in following[key]:
                draft.exploit(
                    key,
                    needs=needs[key],
                    gives=edge.target,
                    name=told,
                    label=told,
                    asset=reading.asset(edge.target),
                    references=identifiers(key, attributes, edge.attributes),
                    **reading.numbers(attributes, edge.attributes),
                )
        elif key in facts:
            draft.fact(key, label=reading.label(key))
        elif key in ends or key not in reading.flaws.parts:
            cited = identifiers(key, attributes)
            asset = reading.asset(key) if key in ends else ""
            draft.condition(key, label=reading.label(key), asset=asset, references=cited)
            if key in joins and needs[key]:
                draft.exploit(key, needs=needs[key], gives=key, references=cited, **reading.numbers(attributes))
    for edge in edges:
        if edge.source not in exploits and edge.target not in joins:
            described = f"{reading.type_of(edge)} {edge.source} to {edge.target}".strip()
            reading.add_step(text(edge.attributes.get("id")) or described, edge)
    conditions = {key: node for key, node in graph.nodes.items() if key in draft.conditions}
    _mark(reading, conditions, options)
    reading.tell_flaws()


def check_size(parts: int, where: str) -> None:
    """Refuse a graph of too many nodes and edges before more is made of them."""
    if parts > MOST_READ:
        raise InputError(
            f"has {parts} nodes and edges, more than {MOST_READ}; cut it down before it is imported", where
        )


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


def _mark(reading: Reading, nodes: Mapping[str, Attributes], options: ImportOptions) -> None:
    """Find where attackers begin and what they may want."""
    draft = reading.draft
    initial = _true(draft, nodes, "initial", INITIAL, options)
    for key in initial:
        draft.condition(key, initial=True)
    if not initial and not options.initial:
        _enter_from_outside(reading, nodes)
    for key in _true(draft, nodes, "goal", GOAL, options):
        draft.goal(key)
    for key, attributes in nodes.items():
        for name, value in attributes.items():
            paid = number(value)
            if name.startswith(REWARD) and paid:
                draft.reward(name.removeprefix(REWARD), key, paid)
    for name in _present(WORTH, nodes):
        worth = {key: value for key, node in nodes.items() if (value := _worth(node.get(name))) is not None}
        most = max(worth.values(), default=0.0)
        if most > 0 and len(worth) > 1 and min(worth.values()) < most:
            draft.worth = {key: max(value, 0.0) / most for key, value in worth.items()}
            draft.worth_from = f"'{name}' of the source beside the highest, {most:g}"
            for key in (key for key, value in worth.items() if value == most):
                draft.guess_goal(key, f"its {name} is the highest")
            return


def _worth(value: object) -> float | None:
    """Return what a thing is worth, as a number or as a rating, whose steps are taken for equal."""
    stated = number(value)
    return RATED_WORTH.get(text(value).lower()) if stated is None else stated


def _enter_from_outside(reading: Reading, nodes: Mapping[str, Attributes]) -> None:
    """Let attackers begin outside where the graph does not say where they are but what they can reach."""
    for name in _present(EXPOSED, nodes):
        exposed = [key for key, attributes in nodes.items() if truth(attributes.get(name))]
        if exposed:
            outside = OUTSIDE if OUTSIDE not in nodes else f"{OUTSIDE} (added)"
            reading.draft.condition(outside, label="where attackers begin", initial=True)
            for key in exposed:
                told = f"attackers begin outside and can enter where '{name}' is true"
                reading.draft.note("assumed", told, key)
                reading.add_step(f"enter {key}", Edge(outside, key, {}))
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
        usual = [attribute(setting, usual, nodes.values(), options)]
    for name in _present(usual, nodes):
        found = [key for key, attributes in nodes.items() if truth(attributes.get(name))]
        if found:
            draft.note("assumed", f"'{name}' marks what is {setting}")
            return found
    return []
