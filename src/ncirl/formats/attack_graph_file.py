"""Attack-graph files, `ncirl-attack-graph/1` to `/3`: `AttackGraph` as JSON or YAML, read back exactly.

The shape is checked first (`attack_graph_schema`); if it holds, `AttackGraph` tells everything that is wrong with
the meaning, so that a file's faults come in one message. A graph is written in the first format that can say all it
has, so that whatever reads older formats reads all it can: where its numbers come from, and what an import found, take
format 3. A graph that was reduced has the original with it, and the steps from there, under `reduced_from`; they are
taken again when it is read, so a file cannot lie about them.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ncirl.attack_graphs.between import Between, between
from ncirl.attack_graphs.found import Findings
from ncirl.attack_graphs.graph import Alert, AttackGraph, Condition, Control, Exploit, Intent
from ncirl.attack_graphs.origins import NumberOrigin, ids_of
from ncirl.attack_graphs.reductions.record import Origin, Step, origin_of, record_faults
from ncirl.errors import InputError
from ncirl.formats.plain import format_of, read_source, write_document
from ncirl.limits import UNLIMITED, Limits
from ncirl.model.priors import Priors, prior_faults

if TYPE_CHECKING:
    from ncirl.formats.shapes import (
        AlertModel,
        AttackGraphModel,
        ControlModel,
        ExploitModel,
        IntentModel,
        ReducedFromModel,
    )

__all__ = [
    "ATTACK_GRAPH_FORMATS",
    "attack_graph_from_data",
    "attack_graph_to_data",
    "between_from_data",
    "digest_of",
    "load_attack_graph",
    "save_attack_graph",
]

ATTACK_GRAPH_FORMATS = FIRST, SECOND, THIRD = "ncirl-attack-graph/1", "ncirl-attack-graph/2", "ncirl-attack-graph/3"


def load_attack_graph(path: str | Path) -> AttackGraph:
    """Read an attack-graph file; `InputError` tells every fault with its place."""
    return attack_graph_from_data(read_source(path), str(path))


def save_attack_graph(graph: AttackGraph, path: str | Path) -> None:
    """Write an attack-graph file: YAML where the name ends in .yaml or .yml, JSON otherwise."""
    write_document(attack_graph_to_data(graph), path)


def attack_graph_from_data(data: Any, where: str = "attack graph", limits: Limits = UNLIMITED) -> AttackGraph:
    """Build an attack graph from a file's data, as `read_source` gives it; `where` is what messages call it.

    Raises `InputError` with every fault, each with its place, and `LimitError` when there is no time to take the steps
    again by which it was reduced.
    """
    graph, intervals = _read(data, where, limits)
    for i, exploit in enumerate(graph.exploits):
        if exploit.id in intervals:
            said = "an interval is for `ncirl solve` alone; give one number"
            raise InputError(f"exploits[{i}].success: {said}", where)
    return graph


def between_from_data(data: Any, where: str = "attack graph") -> AttackGraph | Between:
    """Build an attack graph, or all those between two where some success is an interval; faults as always."""
    graph, intervals = _read(data, where, UNLIMITED)
    try:
        return between(graph, intervals) if intervals else graph
    except InputError as error:
        raise InputError(error.faults, where) from None


def _read(data: Any, where: str, limits: Limits) -> tuple[AttackGraph, dict[str, tuple[float, float]]]:
    """Return the graph, with the larger success where there is an interval, and the intervals by exploit."""
    from ncirl.formats.shapes import AttackGraphModel, shaped

    written = format_of(data, ATTACK_GRAPH_FORMATS, where)
    model = shaped(AttackGraphModel, data, where)
    missing = [f"intents[{k}].prior: is missing" for k, intent in enumerate(model.intents) if intent.prior is None]
    rough = [k for k, intent in enumerate(model.intents) if isinstance(intent.prior, list)]
    if missing and (written == FIRST or (len(missing) < len(model.intents) and not rough)):
        raise InputError(missing, where)
    try:
        graph = _graph(model)
    except InputError as error:
        raise InputError(error.faults, where) from None
    intervals = {e.id: (e.success[0], e.success[1]) for e in model.exploits if isinstance(e.success, list)}
    ranged = (f"exploits[{i}].success: an interval" for i, e in enumerate(graph.exploits) if e.id in intervals)
    later = next(chain(ranged, (f"intents[{k}].prior: an interval" for k in rough), _second_only(graph)), None)
    if written == FIRST and later is not None:
        raise InputError(f"{later}: is not known in '{FIRST}'; write 'format: {SECOND}'", where)
    third = [key for key, given in (("origins", model.origins), ("found", model.found)) if given]
    if written != THIRD and third:
        raise InputError(f"{third[0]}: is not known in '{written}'; write 'format: {THIRD}'", where)
    strange = list(_strange_ids(graph))
    if strange:
        raise InputError(strange, where)
    if model.reduced_from is not None:
        graph = _with_origin(graph, model.reduced_from, f"{where}: reduced_from", limits)
    return graph, intervals


def _strange_ids(graph: AttackGraph) -> Iterator[str]:
    """Tell the ids that origins of numbers name and the graph has not."""
    known = {of: frozenset(ids_of(graph, of)) for of in {entry.of for entry in graph.origins}}
    for i, entry in enumerate(graph.origins):
        for j, id_ in enumerate(entry.ids or ()):
            if id_ not in known[entry.of]:
                yield f"origins[{i}].ids[{j}]: the graph has no '{id_}'"


def _with_origin(graph: AttackGraph, given: "ReducedFromModel", where: str, limits: Limits) -> AttackGraph:
    """Return a graph with where it comes from, if that is true."""
    if given.graph.get("reduced_from") is not None:
        raise InputError("the original is said to be reduced itself", where)
    original = attack_graph_from_data(given.graph, f"{where}.graph")
    try:
        steps = tuple(step.step() for step in given.steps)
    except InputError as error:
        raise InputError(error.faults, f"{where}.steps") from None
    faults = list(_origin_faults(given.digest, original, steps, graph, limits))
    if faults:
        raise InputError(faults, where)
    return replace(graph, origin=Origin(original, steps, graph))


def _origin_faults(
    digest: str, original: AttackGraph, steps: tuple[Step, ...], graph: AttackGraph, limits: Limits
) -> Iterator[str]:
    if digest != digest_of(original):
        yield "digest: is not the one of the original"
    yield from record_faults(original, steps, graph, limits)


def digest_of(graph: AttackGraph) -> str:
    """Return the SHA-256 of what a graph is, whatever it is called and wherever it and its numbers come from."""
    data = {
        key: value for key, value in _own_data(replace(graph, origins=(), found=Findings())).items() if key != "name"
    }
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()


def _graph(model: "AttackGraphModel") -> AttackGraph:
    return AttackGraph(
        conditions=tuple(Condition(c.id, c.initial, c.label, c.asset, tuple(c.references)) for c in model.conditions),
        exploits=tuple(_exploit(e) for e in model.exploits),
        intents=_intents(model.intents),
        unknown_prior=any(intent.prior is None for intent in model.intents),
        discount=model.discount,
        horizon=model.horizon,
        observes=model.observes,
        attacker_budget=model.attacker_budget,
        defender_budget=model.defender_budget,
        name=model.name,
        controls=None if model.controls is None else tuple(_control(c) for c in model.controls),
        origins=tuple(
            NumberOrigin(o.of, o.origin, o.why, None if o.ids is None else tuple(o.ids)) for o in model.origins
        ),
        found=Findings() if model.found is None else Findings(*(tuple(said) for _, said in model.found)),
    )


def _intents(given: "Sequence[IntentModel]") -> tuple[Intent, ...]:
    """Return the intents; where priors are within bounds, with one for pictures that is."""
    if not any(isinstance(i.prior, list) for i in given):
        return tuple(Intent(i.id, 1 / len(given) if i.prior is None else _high(i.prior), i.rewards) for i in given)
    ends = [(0.0, 1.0) if i.prior is None else (_low(i.prior), _high(i.prior)) for i in given]
    low, high = [low for low, _ in ends], [high for _, high in ends]
    middle = low if any(prior_faults(low, high)) else Priors(tuple(low), tuple(high)).middle.tolist()
    return tuple(
        Intent(i.id, i.prior, i.rewards) if isinstance(i.prior, float) else Intent(i.id, p, i.rewards, between)
        for i, p, between in zip(given, middle, ends, strict=True)
    )


def _low(given: float | list[float]) -> float:
    return given[0] if isinstance(given, list) else given


def _high(given: float | list[float]) -> float:
    return given[1] if isinstance(given, list) else given


def _exploit(e: "ExploitModel") -> Exploit:
    numbers = _high(e.success), e.attack_cost, e.block_cost
    told = e.label, e.asset, tuple(e.references)
    return Exploit(e.id, tuple(e.premises), e.result, *numbers, _alert(e.alert), *told)


def _control(c: "ControlModel") -> Control:
    return Control(c.id, tuple(c.blocks), c.cost, c.kind, c.label, tuple(c.references))


def _alert(given: "float | AlertModel | None") -> Alert | None:
    if given is None:
        return None
    return Alert(given) if isinstance(given, float) else Alert(given.attempted, given.idle)


def attack_graph_to_data(graph: AttackGraph) -> dict[str, Any]:
    """Write an attack graph as the data of a file; what has its default value and is seldom set is left out."""
    origin = origin_of(graph)
    return _own_data(graph) | ({} if origin is None else {"reduced_from": _origin_to_data(origin)})


def _origin_to_data(origin: Origin) -> dict[str, Any]:
    return {
        "digest": digest_of(origin.graph),
        "steps": [{"do": step.do, **step.given, "preserves": step.preserves.label} for step in origin.steps],
        "graph": _own_data(origin.graph),
    }


def _own_data(graph: AttackGraph) -> dict[str, Any]:
    limits = {
        "horizon": graph.horizon,
        "attacker_budget": graph.attacker_budget,
        "defender_budget": graph.defender_budget,
    }
    origins = list(_origins_to_data(graph))
    found = {kind: list(said) for kind, said in asdict(graph.found).items() if said}
    return {
        "format": THIRD if origins or found else FIRST if next(_second_only(graph), None) is None else SECOND,
        "name": graph.name,
        "discount": float(graph.discount),
        "observes": str(graph.observes),
        **{key: int(limit) for key, limit in limits.items() if limit is not None},
        "conditions": [{"id": c.id, "initial": c.initial} | _for_people(c) for c in graph.conditions],
        "exploits": [_exploit_to_data(exploit) for exploit in graph.exploits],
        **({} if graph.controls is None else {"controls": [_control_to_data(c) for c in graph.controls]}),
        "intents": [
            {"id": i.id} | _prior_to_data(graph, i) | {"rewards": {c: float(reward) for c, reward in i.rewards.items()}}
            for i in graph.intents
        ],
        **({"origins": origins} if origins else {}),
        **({"found": found} if found else {}),
    }


def _origins_to_data(graph: AttackGraph) -> Iterator[dict[str, Any]]:
    """Yield where numbers come from, as far as they are of something that the graph has still."""
    known = {of: frozenset(ids_of(graph, of)) for of in {entry.of for entry in graph.origins}}
    for entry in graph.origins:
        ids = None if entry.ids is None else [id_ for id_ in entry.ids if id_ in known[entry.of]]
        if known[entry.of] and (ids is None or ids):
            data = {"of": entry.of, "origin": str(entry.origin), "why": entry.why}
            yield data if ids is None else data | {"ids": ids}


def _prior_to_data(graph: AttackGraph, intent: Intent) -> dict[str, Any]:
    """Write what is known of a prior; nothing where nothing is."""
    if intent.between is not None:
        return {"prior": [float(end) for end in intent.between]}
    is_known = not graph.unknown_prior or any(i.between is not None for i in graph.intents)
    return {"prior": float(intent.prior)} if is_known else {}


def _exploit_to_data(exploit: Exploit) -> dict[str, Any]:
    data: dict[str, Any] = {
        "id": exploit.id,
        "from": list(exploit.premises),
        "to": exploit.result,
        "success": float(exploit.success),
        "attack_cost": float(exploit.attack_cost),
        "block_cost": float(exploit.block_cost),
    }
    if exploit.alert is not None:
        attempted, idle = float(exploit.alert.attempted), float(exploit.alert.idle)
        data["alert"] = {"attempted": attempted, "idle": idle} if idle else attempted
    return data | _for_people(exploit)


def _control_to_data(control: Control) -> dict[str, Any]:
    data = {"id": control.id, "blocks": list(control.blocks), "cost": float(control.cost), "kind": str(control.kind)}
    return data | _for_people(control)


def _for_people(thing: Condition | Exploit | Control) -> dict[str, Any]:
    """Write what a part of a graph says to people, as far as it says anything."""
    said = {
        "label": thing.label,
        "asset": "" if isinstance(thing, Control) else thing.asset,
        "references": list(thing.references),
    }
    return {key: value for key, value in said.items() if value}


def _second_only(graph: AttackGraph) -> Iterator[str]:
    """Name the places of what format 1 cannot say."""
    for i, condition in enumerate(graph.conditions):
        yield from (f"conditions[{i}].{key}" for key in _for_people(condition) if key != "label")
    for i, exploit in enumerate(graph.exploits):
        yield from (f"exploits[{i}].{key}" for key in _for_people(exploit))
    if graph.controls is not None:
        yield "controls"
    if graph.unknown_prior:
        yield "intents"
