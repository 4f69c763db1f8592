"""The steps of a mal-toolbox attack graph as its file has them, in three dialects, with their parents."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ncirl.importers.draft import Draft
from ncirl.importers.values import chance, identifiers, mappings, text, truth

__all__ = ["FACTS", "Step", "sources_of", "steps_of"]

FACTS = ("defense", "exist", "notExist")
TYPES = {name.lower(): name for name in ("or", "and", *FACTS)} | {"defence": "defense"}
NOBODY = ("", "[]", "{}", "none", "null")
ENTRY = "firststeps"


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
    asset: str = ""
    tags: frozenset[str] = frozenset()
    references: tuple[str, ...] = ()
    parents: dict[str, None] = field(default_factory=dict)


def sources_of(data: Any) -> list[tuple[str, Mapping[str, Any]]] | None:
    """Return the entries of a file with their keys, whatever its dialect; None where there are none."""
    steps = data.get("attack_steps") if isinstance(data, dict) else data
    if isinstance(data, dict) and steps is None and data and all(_looks_like_step(value) for value in data.values()):
        steps = data
    if isinstance(steps, dict):
        return [(text(key), value) for key, value in steps.items() if isinstance(value, Mapping)]
    if isinstance(steps, list) and any(_looks_like_step(value) for value in steps):
        return [(text(value.get("full_name")) or text(value.get("id")), value) for value in mappings(steps)]
    return None


def _looks_like_step(value: Any) -> bool:
    return isinstance(value, Mapping) and "type" in value and ("children" in value or "links" in value)


def steps_of(
    draft: Draft, sources: Iterable[tuple[str, Mapping[str, Any]]], attackers: Iterable[Mapping[str, Any]]
) -> dict[str, Step]:
    """Return the steps by key, with their parents and where the attackers begin."""
    steps: dict[str, Step] = {}
    kept: dict[str, Mapping[str, Any]] = {}
    by_id: dict[str, str] = {}
    for key, source in sources:
        type_ = TYPES.get(text(source.get("type")).lower())
        if type_ is None or not key:
            told = "entries that are no step: no id, or a type that is not known"
            draft.note("dropped", told, key or "without an id")
        elif key in steps:
            draft.note("dropped", "steps whose id is there already", key)
        else:
            steps[key] = _step(key, type_, source)
            kept[key] = source
            by_id.setdefault(text(source.get("id")), key)

    def referred(given: Any, where: str) -> Iterator[str]:
        """Yield the keys of the steps that a list, or a map of ids to names, refers to."""
        pairs: Iterable[tuple[Any, Any]] = given.items() if isinstance(given, Mapping) else ()
        if isinstance(given, list):
            pairs = zip(given, given, strict=True)
        for number, name in pairs:
            found = text(name) if text(name) in steps else by_id.get(text(number)) or by_id.get(text(name))
            if found is None:
                draft.note("dropped", "references to steps that are not in the file", f"{text(name)} (in {where})")
            else:
                yield found

    for key, source in kept.items():
        for child in referred(source.get("children", source.get("links")), key):
            steps[child].parents[key] = None
    for key, source in kept.items():
        steps[key].parents |= dict.fromkeys(referred(source.get("parents"), key))
    for attacker in attackers:
        for begun in ("entry_points", "reached_attack_steps"):
            for key in referred(attacker.get(begun), "attackers"):
                steps[key].entry = True
    return steps


def _step(key: str, type_: str, source: Mapping[str, Any]) -> Step:
    last = key.rpartition(":")[2]
    name = text(source.get("name") or source.get("atkname")) or last
    by, status = source.get("compromised_by"), source.get("defense_status")
    known, on = chance(status), truth(status)
    return Step(
        key=key,
        type=type_,
        name=name,
        ttc=source.get("ttc"),
        status=float(on) if known is None and on is not None else known,
        exists=truth(source.get("existence_status")),
        viable=truth(source.get("is_viable")),
        entry=(text(by).lower() not in NOBODY if isinstance(by, str) else bool(by))
        or ENTRY in (name.lower(), last.lower()),
        asset=key.rpartition(":")[0] or text(source.get("asset")),
        tags=frozenset(re.findall(r"[a-z]+", re.sub("[ _-]", "", _words(source.get("tags")).lower()))),
        references=_references(source),
    )


def _words(tags: Any) -> str:
    """Return tags as text: a list, or what somebody printed of one."""
    return ",".join(str(tag) for tag in tags if isinstance(tag, str)) if isinstance(tags, list) else text(tags)


def _references(source: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what a step refers to: public names, and what the language calls it."""
    named = identifiers(*(source.get(name) for name in ("mitre_info", "extras", "extra", "tags", "name", "info")))
    return (*named, *filter(None, [text(source.get("lang_graph_attack_step"))]))
