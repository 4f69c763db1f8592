"""Attack Flow: STIX 2.1 bundles that tell how an intrusion went, action by action.

- An action is a step; that it was done is a condition. Its `confidence`, about the report and in percent, stands for
  its success where it is given: nothing else in the format comes near.
- A condition is a condition, and holds as soon as something that leads to it was done; one without predecessors holds
  from the start.
- An AND operator needs all its inputs, an OR operator one. Several edges into an action without an operator are an OR.
- What follows `on_false_refs` can be done once the condition is up for decision, whether it holds or not: conditions
  are never lost here, so "does not hold" cannot be needed.
- Flows begin at what has no predecessors. `start_refs` may be empty, incomplete or name inner nodes; it is believed
  only where nothing else leads.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ncirl.errors import InputError
from ncirl.formats.untrusted import read_data
from ncirl.importers.attack_flow_nodes import Flow, Way, flow_of
from ncirl.importers.draft import Draft
from ncirl.importers.one_file import one_file
from ncirl.importers.options import ImportOptions
from ncirl.importers.recognise import not_of_format, recognise_data
from ncirl.importers.values import number, text

__all__ = ["read"]

WANTED = "an Attack Flow (a STIX 2.1 bundle)"
OUTSIDE = "outside"


def read(paths: Sequence[Path], options: ImportOptions) -> Draft:
    """Read one Attack Flow."""
    path = one_file(paths, WANTED)
    data = read_data(path, options.size_limit)
    if not (isinstance(data, Mapping) and isinstance(data.get("objects"), list) and "schema" not in data):
        raise not_of_format(path, WANTED, "attack-flow", options.size_limit, recognise_data(data))
    flow = flow_of(data["objects"])
    if not flow.nodes:
        types = sorted({text(item.get("type")) for item in data["objects"] if isinstance(item, Mapping)} - {""})
        held = f"its objects are of the types {', '.join(types[:10])}" if types else "it has no objects"
        raise InputError(f"is a STIX bundle without an attack flow: {held}", str(path))
    draft = Draft("attack-flow", flow.name)
    _fill(draft, flow, use_confidence=options.setting("confidence", "success") != "ignore")
    for told, item in flow.notes:
        draft.note("dropped", told, item)
    return draft


def _fill(draft: Draft, flow: Flow, use_confidence: bool) -> None:
    for start in flow.start_refs:
        if start in flow.nodes and start not in flow.starts:
            told = "start_refs that other nodes lead to are not starts"
            draft.note("assumed", told, _label(flow.nodes[start]))
    for key, node in flow.nodes.items():
        if key in flow.starts and flow.inputs[key]:
            draft.note("assumed", "nothing outside leads into a cycle, so it is begun here", _label(node))
    draft.condition(OUTSIDE, label="the attacker, before the first action", initial=True)
    for key, node in flow.nodes.items():
        if node["type"] != "attack-operator":
            holds = node["type"] == "attack-condition" and key in flow.starts
            draft.condition(key, label=_label(node), name=_label(node), initial=holds)
            if holds:
                draft.note("assumed", "conditions that nothing leads to hold from the start", _label(node))
    for key, node in flow.nodes.items():
        if node["type"] == "attack-operator":
            if len(flow.inputs[key]) < 2:
                draft.note("assumed", "operators with fewer than two inputs only pass on", _label(node))
            continue
        ways = flow.ways_to(key)
        if len(flow.inputs[key]) > 1:
            draft.note("assumed", "several edges into a node without an operator: any one suffices", _label(node))
        if node["type"] == "attack-action":
            if key in flow.starts:
                ways = [Way(frozenset({OUTSIDE})), *ways]
            success = _success(draft, node) if use_confidence else None
            _add(draft, key, node, ways, success)
        else:
            _add(draft, key, node, ways, success=1.0, attack_cost=0.0)
        if any(way.on_false for way in ways):
            told = "what follows a false condition can be done once the condition is up for decision"
            draft.note("assumed", told, _label(node))


def _add(
    draft: Draft,
    key: str,
    node: Mapping[str, Any],
    ways: Iterable[Way],
    success: float | None,
    attack_cost: float | None = None,
) -> None:
    for way in ways:
        needs = sorted(way.needs) or [OUTSIDE]
        draft.exploit(key, needs=needs, gives=key, success=success, attack_cost=attack_cost, name=_label(node))


def _success(draft: Draft, node: Mapping[str, Any]) -> float | None:
    confidence = number(node.get("confidence"))
    if not confidence:  # 0 is STIX's "no confidence is given"
        return None
    draft.note(
        "assumed", "the confidence of an action, in percent, is taken for its success (see --set confidence=ignore)"
    )
    return confidence / 100


def _label(node: Mapping[str, Any]) -> str:
    """Return what people call a node: the technique and the name, or the description."""
    if node["type"] == "attack-operator":
        return f"{text(node.get('operator')).upper() or 'operator'} {text(node['id'])[-12:]}"
    named = " ".join(filter(None, (text(node.get("technique_id")), text(node.get("name")))))
    return named or text(node.get("description")) or text(node["id"])
