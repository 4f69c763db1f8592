"""Attack Flow: STIX 2.1 bundles that tell how an intrusion went, action by action.

- An action is a step; that it was done is a condition. Its `confidence`, about the report and in percent, stands for
  its success where it is given: nothing else in the format comes near.
- A condition is a condition, and holds as soon as something that leads to it was done, which takes no attempt; one
  without predecessors holds from the start.
- What an action is about is said by the objects it refers to or is related to: assets, vulnerabilities, tools.
- A course of action that is related to an action, to its technique or to what it is about is a control that lasts. In
  a flow that has some, the other actions can each be blocked for a stage.
- An AND operator needs all its inputs, an OR operator one. Several edges into an action without an operator are an OR.
- What follows `on_false_refs` can be done once the condition is up for decision, whether it holds or not: conditions
  are never lost here, so "does not hold" cannot be needed.
- Flows begin at what has no predecessors. `start_refs` may be empty, incomplete or name inner nodes; it is believed
  only where nothing else leads.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice, product
from pathlib import Path
from typing import Any

from ncirl.errors import InputError
from ncirl.formats.plain import DEEPEST
from ncirl.formats.untrusted import read_data
from ncirl.importers.draft import Draft
from ncirl.importers.options import ImportOptions
from ncirl.importers.recognise import not_of_format, one_file, recognise_data
from ncirl.importers.report import Origin
from ncirl.importers.values import identifiers, mappings, number, text, texts

__all__ = ["read"]

WANTED = "an Attack Flow (a STIX 2.1 bundle)"
OUTSIDE = "outside"
ACTION, CONDITION, OPERATOR = "attack-action", "attack-condition", "attack-operator"
ASSET, MITIGATION = "attack-asset", "course-of-action"
TOLD = frozenset(
    {"vulnerability", "tool", "malware", "infrastructure", "user-account", "ipv4-addr", "ipv4-address", "ipv6-addr"}
    | {"domain-name", "url", "email-addr"}
)
CONFIDENCE = Origin("the confidence of the report, in percent")
EDGES = ("effect_refs", "on_true_refs", "on_false_refs")
MOST_WAYS = 200  # through nested operators, to one node


@dataclass(frozen=True)
class _Way:
    """What must be done or hold before a node; `on_false` where a condition on the way need not hold."""

    needs: frozenset[str]
    on_false: bool = False


@dataclass
class _Flow:
    """Nodes by id with the edges into them, as (from, kind of edge), and where the flow begins."""

    name: str = ""
    nodes: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    inputs: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    start_refs: list[str] = field(default_factory=list)
    starts: set[str] = field(default_factory=set)
    others: dict[str, Mapping[str, Any]] = field(default_factory=dict)  # objects that are no nodes, by id
    related: dict[str, dict[str, None]] = field(default_factory=dict)  # objects by what refers or is related to them
    dropped: dict[tuple[str, str], None] = field(default_factory=dict)  # what and which, each once
    _known: dict[tuple[str, bool], list[_Way]] = field(default_factory=dict)

    def ways_to(self, key: str) -> list[_Way]:
        """Return the ways to an action or condition: the needs of each are actions and conditions, all of them."""
        return self._some((self._through(start, edge, 0) for start, edge in self.inputs[key]), key)

    def _through(self, start: str, edge: str, depth: int) -> list[_Way]:
        """Return what must be done for an edge to be taken; a loop of operators alone never is."""
        on_false = edge == "on_false_refs"
        if self.nodes[start]["type"] != OPERATOR and not on_false:
            return [_Way(frozenset({start}))]
        if (start, on_false) not in self._known:
            self._known[start, on_false] = []
            self._known[start, on_false] = self._before(start, on_false, depth)
        return self._known[start, on_false]

    def _before(self, key: str, on_false: bool, depth: int) -> list[_Way]:
        """Return what must be done before an operator lets through, or a condition is up for decision."""
        if depth > DEEPEST:
            self.dropped["operators nested too deeply to be followed", key] = None
            return []
        inputs = [self._through(before, edge, depth + 1) for before, edge in self.inputs[key]]
        if text(self.nodes[key].get("operator")).upper() == "AND" and inputs:
            inputs = [[_all(some) for some in islice(product(*inputs), MOST_WAYS + 1)]]
        if key in self.starts:
            inputs.append([_Way(frozenset())])
        return [_Way(way.needs, way.on_false or on_false) for way in self._some(inputs, key)]

    def _some(self, ways: Iterable[Iterable[_Way]], key: str) -> list[_Way]:
        found = list(dict.fromkeys(chain.from_iterable(ways)))
        if len(found) > MOST_WAYS:
            self.dropped[f"ways to a node beyond {MOST_WAYS}", key] = None
        return found[:MOST_WAYS]


def _all(ways: Sequence[_Way]) -> _Way:
    return _Way(frozenset().union(*(way.needs for way in ways)), any(way.on_false for way in ways))


def read(paths: Sequence[Path], options: ImportOptions) -> Draft:
    """Read one Attack Flow."""
    path = one_file(paths, WANTED)
    data = read_data(path, options.size_limit)
    if not (isinstance(data, Mapping) and isinstance(data.get("objects"), list) and "schema" not in data):
        raise not_of_format(path, WANTED, "attack-flow", options.size_limit, recognise_data(data))
    objects = mappings(data["objects"])
    flow = _flow_of(objects)
    if not flow.nodes:
        types = sorted({text(item.get("type")) for item in objects} - {""})
        held = f"its objects are of the types {', '.join(types[:10])}" if types else "it has no objects"
        raise InputError(f"is a STIX bundle without an attack flow: {held}", str(path))
    draft = Draft("attack-flow", flow.name)
    _fill(draft, flow, use_confidence=options.setting("confidence") != "ignore")
    for told, item in flow.dropped:
        draft.note("dropped", told, item)
    return draft


def _fill(draft: Draft, flow: _Flow, use_confidence: bool) -> None:
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
    for key, node in flow.nodes.items():
        if node["type"] == OPERATOR:
            if len(flow.inputs[key]) < 2:
                draft.note("assumed", "operators with fewer than two inputs only pass on", _label(node))
            continue
        ways = flow.ways_to(key)
        if len(flow.inputs[key]) > 1:
            draft.note("assumed", "several edges into a node without an operator: any one suffices", _label(node))
        if node["type"] == ACTION and key in flow.starts:
            ways = [_Way(frozenset({OUTSIDE})), *ways]
        assets, references = _about(flow, key)
        for way in ways:
            draft.exploit(
                key,
                needs=sorted(way.needs) or [OUTSIDE],
                gives=key,
                success=_success(draft, node) if use_confidence else None,
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


def _about(flow: _Flow, key: str) -> tuple[str, tuple[str, ...]]:
    """Return the assets that a node is about, and what else: techniques, vulnerabilities, tools, addresses."""
    node = flow.nodes[key]
    found = [flow.others[other] for other in flow.related.get(key, ()) if other in flow.others]
    assets = [text(item.get("name")) for item in found if text(item.get("type")) == ASSET]
    told = [text(item.get("name")) or text(item.get("value")) for item in found if text(item.get("type")) in TOLD]
    stated = [text(node.get(name)) for name in ("technique_id", "tactic_id")]
    named = identifiers(node.get("name"), node.get("description"), *told, *(item.get("description") for item in found))
    return ", ".join(filter(None, assets)), tuple(filter(None, (*stated, *named, *told)))


def _controls(draft: Draft, flow: _Flow) -> dict[str, list[str]]:
    """Return the controls over each action; where the flow has some, those without can be blocked for a stage."""
    known = {key: item for key, item in flow.others.items() if text(item.get("type")) == MITIGATION}
    found: dict[str, list[str]] = {}
    for key, node in flow.nodes.items():
        near = flow.related.get(key, {})
        about = dict.fromkeys([key, text(node.get("technique_ref")), *near])
        given = dict.fromkeys(other for one in about for other in (one, *flow.related.get(one, ())) if other in known)
        if node["type"] == ACTION and given:
            found[key] = [
                draft.control(
                    one,
                    text(known[one].get("name")) or "mitigation",
                    lasting=True,
                    references=identifiers(known[one].get("name"), known[one].get("description")),
                )
                for one in given
            ]
    if found:
        for key in (key for key, node in flow.nodes.items() if node["type"] == ACTION and key not in found):
            found[key] = [draft.control(key, f"block {_label(flow.nodes[key])}")]
            draft.note(
                "assumed", "actions without a mitigation can each be blocked for a stage", _label(flow.nodes[key])
            )
    return found


def _success(draft: Draft, node: Mapping[str, Any]) -> float | None:
    confidence = number(node.get("confidence"))
    if not confidence:  # 0 is STIX's "no confidence is given"
        return None
    told = "the confidence of an action, in percent, is taken for its success (see --set confidence=ignore)"
    draft.note("assumed", told)
    return confidence / 100


def _label(node: Mapping[str, Any]) -> str:
    """Return what people call a node: the technique and the name, or the description."""
    if node["type"] == OPERATOR:
        return f"{text(node.get('operator')).upper() or 'operator'} {text(node['id'])[-12:]}"
    named = " ".join(filter(None, (text(node.get("technique_id")), text(node.get("name")))))
    return named or text(node.get("description")) or text(node["id"])


def _flow_of(objects: Iterable[Mapping[str, Any]]) -> _Flow:
    """Return the flow among the objects of a STIX bundle; it has no nodes where there is none."""
    flow = _Flow()
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


def _starts(flow: _Flow, leads: Mapping[str, Sequence[str]]) -> set[str]:
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
