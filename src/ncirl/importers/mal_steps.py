"""The steps of a mal-toolbox file, whatever its dialect: a map `attack_steps`, or one of two older lists.

Children are followed and parents derived from them, because `parents` may be null or lack the attacker's edges.
Booleans and numbers may be text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ncirl.importers.values import chance, text, truth

__all__ = ["FACTS", "MalGraph", "Step", "steps_of"]

ATTACKS, FACTS = ("or", "and"), ("defense", "exist", "notExist")
TYPES = {name.lower(): name for name in (*ATTACKS, *FACTS)} | {"defence": "defense"}
ENTRY = "firststeps"
NOBODY = ("", "[]", "{}", "none", "null")


@dataclass
class Step:
    """One step of the file; None where it says nothing."""

    key: str
    type: str
    name: str
    ttc: Any = None
    status: float | None = None  # of a defence, 1 on
    exists: bool | None = None
    viable: bool | None = None
    entry: bool = False
    parents: dict[str, None] = field(default_factory=dict)


@dataclass
class MalGraph:
    """Steps by key; `is_language` where mal-toolbox made them from a language, in whose way silence is to be read."""

    steps: dict[str, Step]
    is_language: bool
    notes: list[tuple[str, str]]

    @property
    def defence_names(self) -> frozenset[str]:
        """Names that some defence has."""
        return frozenset(step.name for step in self.steps.values() if step.type == "defense" and step.name)


def steps_of(data: Any) -> MalGraph | None:
    """Return the attack graph in plain data; None where there is none."""
    pairs = _pairs(data)
    if pairs is None:
        return None
    graph = MalGraph({}, isinstance(data, dict), [])
    sources: dict[str, Mapping[str, Any]] = {}
    by_id: dict[str, str] = {}
    for key, source in pairs:
        type_ = TYPES.get(text(source.get("type")).lower())
        if type_ is None or not key:
            graph.notes.append(("entries that are no step: no id, or a type that is not known", key or "without an id"))
        elif key in graph.steps:
            graph.notes.append(("steps whose id is there already", key))
        else:
            graph.steps[key] = _step(key, type_, source)
            sources[key] = source
            by_id.setdefault(text(source.get("id")), key)
    for key, source in sources.items():
        for child in _references(source.get("children", source.get("links")), graph, by_id, key):
            graph.steps[child].parents[key] = None
    for key, source in sources.items():
        for parent in _references(source.get("parents"), graph, by_id, key):
            graph.steps[key].parents[parent] = None
    for entry in _entries(data):
        for key in _references(entry, graph, by_id, "attackers"):
            graph.steps[key].entry = True
    return graph


def _pairs(data: Any) -> list[tuple[str, Mapping[str, Any]]] | None:
    """Return the entries of a file with their keys."""
    steps = data.get("attack_steps") if isinstance(data, dict) else data
    if isinstance(data, dict) and steps is None and data and all(_looks_like_step(value) for value in data.values()):
        steps = data
    if isinstance(steps, dict):
        return [(text(key), value) for key, value in steps.items() if isinstance(value, Mapping)]
    if isinstance(steps, list) and any(_looks_like_step(value) for value in steps):
        return [(_key(value), value) for value in steps if isinstance(value, Mapping)]
    return None


def _looks_like_step(value: Any) -> bool:
    return isinstance(value, Mapping) and "type" in value and ("children" in value or "links" in value)


def _key(source: Mapping[str, Any]) -> str:
    return text(source.get("full_name")) or text(source.get("id"))


def _step(key: str, type_: str, source: Mapping[str, Any]) -> Step:
    name = text(source.get("name") or source.get("atkname")) or key.rpartition(":")[2]
    by = source.get("compromised_by")
    status = source.get("defense_status")
    known = chance(status)
    return Step(
        key=key,
        type=type_,
        name=name,
        ttc=source.get("ttc"),
        status=known if known is not None else _as_number(truth(status)),
        exists=truth(source.get("existence_status")),
        viable=truth(source.get("is_viable")),
        entry=(text(by).lower() not in NOBODY if isinstance(by, str) else bool(by))
        or ENTRY in (name.lower(), key.rpartition(":")[2].lower()),
    )


def _as_number(value: bool | None) -> float | None:
    return None if value is None else float(value)


def _references(given: Any, graph: MalGraph, by_id: Mapping[str, str], where: str) -> Iterator[str]:
    """Yield the keys of the steps that a list, or a map of ids to names, refers to."""
    pairs: Iterable[tuple[Any, Any]] = ()
    if isinstance(given, Mapping):
        pairs = given.items()
    elif isinstance(given, list):
        pairs = ((item, item) for item in given)
    for number, name in pairs:
        found = text(name) if text(name) in graph.steps else by_id.get(text(number)) or by_id.get(text(name))
        if found is None:
            graph.notes.append(("references to steps that are not in the file", f"{text(name)} (in {where})"))
        else:
            yield found


def _entries(data: Any) -> Iterator[Any]:
    attackers = data.get("attackers") if isinstance(data, dict) else None
    listed = attackers.values() if isinstance(attackers, Mapping) else attackers if isinstance(attackers, list) else ()
    for attacker in listed:
        if isinstance(attacker, Mapping):
            yield from (attacker.get("entry_points"), attacker.get("reached_attack_steps"))
