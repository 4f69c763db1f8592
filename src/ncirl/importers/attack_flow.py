"""Attack Flow: STIX 2.1 bundles that tell how an intrusion went, action by action.

- An action is a step; that it was done is a condition. Its `confidence` says how sure the report is that it was done
  (STIX 2.1, 3.2: "the confidence that the creator has in the correctness of their data"), so it is no chance that it
  works: it is not used unless a person says so (``--set confidence=success``).
- A condition is a condition, and holds as soon as something that leads to it was done, which takes no attempt; one
  without predecessors holds from the start.
- What an action is about is said by the objects it refers to or is related to: assets, vulnerabilities, tools.
- A course of action that is related to an action, to its technique or to what it is about is a control. Another action
  can be prevented all the same, once for all actions of its technique: ATT&CK knows mitigations for nearly each, and
  these are configuration, which lasts. What attackers do at home (reconnaissance, resource development) nobody can
  prevent: for these techniques ATT&CK itself says that preventive controls do not reach them.
- An AND operator needs all its inputs, an OR operator one. Several edges into an action without an operator are an OR.
- What follows `on_false_refs` can be done once the condition is up for decision, whether it holds or not: conditions
  are never lost here, so "does not hold" cannot be needed.
- Flows begin at what has no predecessors. `start_refs` may be empty, incomplete or name inner nodes; it is believed
  only where nothing else leads.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ncirl.errors import InputError
from ncirl.formats.untrusted import read_data
from ncirl.importers.attack_flow_graph import ACTION, CONDITION, OPERATOR, Flow, Way, flow_of
from ncirl.importers.draft import Draft
from ncirl.importers.options import ImportOptions
from ncirl.importers.recognise import not_of_format, one_file, recognise_data
from ncirl.importers.report import Origin
from ncirl.importers.values import identifiers, mappings, number, text

__all__ = ["read"]

WANTED = "an Attack Flow (a STIX 2.1 bundle)"
OUTSIDE = "outside"
ASSET, MITIGATION = "attack-asset", "course-of-action"
TOLD = frozenset(
    {"vulnerability", "tool", "malware", "infrastructure", "user-account", "ipv4-addr", "ipv4-address", "ipv6-addr"}
    | {"domain-name", "url", "email-addr"}
)
PREPARING = frozenset({"TA0042", "TA0043"})  # tactics
PREPARATIONS = frozenset(f"T{k}" for k in (*range(1583, 1589), *range(1589, 1598), 1608, 1650, 1681))
HARMING = frozenset({"TA0010", "TA0040"})  # exfiltration, impact
HARMS = frozenset(
    f"T{k}"
    for k in (
        *(1011, 1020, 1029, 1030, 1041, 1048, 1052, 1537, 1567),
        *(1485, 1486, 1489, 1490, 1491, 1495, 1496, 1498, 1499, 1529, 1531, 1561, 1565, 1657, 1667),
    )
)
LEAVING = re.compile(r"\b(?:left|leave[sd]?|leaving|exit(?:s|ed)?|withdr[ae]ws?|departed?)\b", re.IGNORECASE)
CONFIDENCE = Origin("the confidence of the report, in percent, as asked")


def read(paths: Sequence[Path], options: ImportOptions) -> Draft:
    """Read one Attack Flow."""
    path = one_file(paths, WANTED)
    data = read_data(path, options.size_limit)
    if not (isinstance(data, Mapping) and isinstance(data.get("objects"), list) and "schema" not in data):
        raise not_of_format(path, WANTED, "attack-flow", options.size_limit, recognise_data(data))
    objects = mappings(data["objects"])
    flow = flow_of(objects)
    if not flow.nodes:
        types = sorted({text(item.get("type")) for item in objects} - {""})
        held = f"its objects are of the types {', '.join(types[:10])}" if types else "it has no objects"
        raise InputError(f"is a STIX bundle without an attack flow: {held}", str(path))
    draft = Draft("attack-flow", flow.name)
    _fill(draft, flow, use_confidence=options.setting("confidence") == "success")
    for told, item in flow.dropped:
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
    controls = _controls(draft, flow)
    for item in flow.others.values():
        if text(item.get("type")) == ASSET:
            draft.mention([text(item.get("name"))], "assets that no action refers to")
    for key, node in flow.nodes.items():
        if node["type"] != OPERATOR:
            holds = node["type"] == CONDITION and key in flow.starts
            assets, references = _about(flow, key)
            draft.condition(
                key, label=_label(node), name=_label(node), initial=holds, asset=assets, references=references
            )
            if holds:
                draft.note("assumed", "conditions that nothing leads to hold from the start", _label(node))
    _guess(draft, flow)
    for key, node in flow.nodes.items():
        if node["type"] == OPERATOR:
            if len(flow.inputs[key]) < 2:
                draft.note("assumed", "operators with fewer than two inputs only pass on", _label(node))
            continue
        ways = flow.ways_to(key)
        if len(flow.inputs[key]) > 1:
            draft.note("assumed", "several edges into a node without an operator: any one suffices", _label(node))
        if node["type"] == ACTION and key in flow.starts:
            ways = [Way(frozenset({OUTSIDE})), *ways]
        assets, references = _about(flow, key)
        for way in ways:
            draft.exploit(
                key,
                needs=sorted(way.needs) or [OUTSIDE],
                gives=key,
                success=_success(draft, node, use_confidence),
                name=_label(node),
                label=_label(node) if node["type"] == ACTION else "",
                asset=assets,
                references=references if node["type"] == ACTION else (*references, *filter(None, assets.split(", "))),
                origins={"success": CONFIDENCE},
                immediate=node["type"] == CONDITION,
                controls=controls.get(key, ()),
            )
        if any(way.on_false for way in ways):
            told = "what follows a false condition can be done once the condition is up for decision"
            draft.note("assumed", told, _label(node))


def _guess(draft: Draft, flow: Flow) -> None:
    """Offer as goals what does harm, before what comes last; an end at which attackers only leave is none."""
    leads = {start for edges in flow.inputs.values() for start, _ in edges}
    for key, node in flow.nodes.items():
        technique = text(node.get("technique_id")).strip().partition(".")[0]
        if node["type"] == ACTION and (text(node.get("tactic_id")) in HARMING or technique in HARMS):
            draft.guess_goal(key, "it is of the tactic Impact or Exfiltration", likely=True)
        elif not technique and key not in leads and LEAVING.search(_label(node)):
            draft.pointless.add(key)


def _about(flow: Flow, key: str) -> tuple[str, tuple[str, ...]]:
    """Return the assets that a node is about, and what else: techniques, vulnerabilities, tools, addresses."""
    node = flow.nodes[key]
    found = [flow.others[other] for other in flow.related.get(key, ()) if other in flow.others]
    assets = [text(item.get("name")) for item in found if text(item.get("type")) == ASSET]
    told = [text(item.get("name")) or text(item.get("value")) for item in found if text(item.get("type")) in TOLD]
    stated = [text(node.get(name)) for name in ("technique_id", "tactic_id")]
    named = identifiers(node.get("name"), node.get("description"), *told, *(item.get("description") for item in found))
    return ", ".join(filter(None, assets)), tuple(filter(None, (*stated, *named, *told)))


def _controls(draft: Draft, flow: Flow) -> dict[str, list[str]]:
    """Return the controls over each action."""
    known = {key: item for key, item in flow.others.items() if text(item.get("type")) == MITIGATION}
    found: dict[str, list[str]] = {}
    for key, node in ((key, node) for key, node in flow.nodes.items() if node["type"] == ACTION):
        near = flow.related.get(key, {})
        about = dict.fromkeys([key, text(node.get("technique_ref")), *near])
        given = dict.fromkeys(other for one in about for other in (one, *flow.related.get(one, ())) if other in known)
        if given:
            found[key] = [_course(draft, one, known[one]) for one in given]
        elif _is_at_home(node):
            told = "actions at the attacker's own place (reconnaissance, resource development) cannot be prevented"
            draft.note("assumed", told, _label(node))
        else:
            technique = text(node.get("technique_id"))
            found[key] = [draft.control(f"prevent {technique or key}", f"prevent {_label(node)}")]
            draft.note("assumed", "actions without a mitigation in the file can be prevented for good", _label(node))
    return found


def _course(draft: Draft, key: str, course: Mapping[str, Any]) -> str:
    named = identifiers(course.get("name"), course.get("description"))
    return draft.control(key, text(course.get("name")) or "mitigation", references=named)


def _is_at_home(node: Mapping[str, Any]) -> bool:
    """Tell whether an action prepares an intrusion, where no defender is."""
    technique = text(node.get("technique_id")).partition(".")[0]
    return text(node.get("tactic_id")) in PREPARING or technique in PREPARATIONS


def _success(draft: Draft, node: Mapping[str, Any], use_confidence: bool) -> float | None:
    confidence = number(node.get("confidence"))
    if not confidence:  # 0 is STIX's "no confidence is given"
        return None
    if not use_confidence:
        told = "an action's confidence is about the report, no chance that it works (see --set confidence=success)"
        draft.note("defaulted", told, _label(node))
        return None
    draft.note("assumed", "the confidence of an action, in percent, is taken for its success, as asked")
    return confidence / 100


def _label(node: Mapping[str, Any]) -> str:
    """Return what people call a node: the technique and the name, or the description."""
    if node["type"] == OPERATOR:
        return f"{text(node.get('operator')).upper() or 'operator'} {text(node['id'])[-12:]}"
    named = " ".join(filter(None, (text(node.get("technique_id")), text(node.get("name")))))
    return named or text(node.get("description")) or text(node["id"])
