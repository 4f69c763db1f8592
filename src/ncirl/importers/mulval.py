"""MulVAL attack graphs: the CSV pair, AttackGraph.xml, AttackGraph.dot.

A graph of derivations: OR vertices are derived facts, AND vertices are rules, LEAF vertices are facts of the input. An
arc leads from a conclusion to a premise. Derived facts become conditions, rules become exploits that need all their
derived premises, and the facts of the input, which always hold, are folded into the start.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import prod
from pathlib import Path
from xml.etree.ElementTree import Element

from ncirl.errors import InputError
from ncirl.formats.untrusted import is_xml, parse_xml, read_csv, read_text, read_xml
from ncirl.importers.draft import Draft
from ncirl.importers.mulval_dot import OPENING, ArcRow, VertexRow, read_dot
from ncirl.importers.options import ImportOptions
from ncirl.importers.recognise import not_of_format, recognise
from ncirl.importers.values import chance

__all__ = ["read"]

WANTED = "a MulVAL attack graph (VERTICES.CSV with ARCS.CSV, AttackGraph.xml or AttackGraph.dot)"
OR, AND, LEAF = "OR", "AND", "LEAF"
PAIR = ("vertices.csv", "arcs.csv")
NAMED_CHANCES = {  # what MulVAL's rules may say instead of a number
    "certain": 1.0,
    "likely": 0.8,
    "possible": 0.5,
    "unlikely": 0.2,
    "cvss_ac_l": 0.9,
    "cvss_ac_m": 0.6,
    "cvss_ac_h": 0.2,
    "cap_l": 0.4,
    "cap_m": 0.2,
    "cap_h": 0.1,
}
MOST_FAULTS = 20  # told at once
WHOLE = re.compile(r"(-?\d+)(\.0+)?")


@dataclass(frozen=True)
class Vertex:
    """A vertex of the derivation."""

    fact: str
    kind: str
    metric: float | None


def read(paths: Sequence[Path], options: ImportOptions) -> Draft:
    """Read a MulVAL graph from its directory, its CSV files in any order, its XML or its DOT file.

    Raises `InputError` when the files are no MulVAL graph, or contradict themselves.
    """
    files = list(_files(paths))
    draft = Draft("mulval", name=files[0].resolve().parent.name)
    vertex_rows: list[VertexRow] = []
    arc_rows: list[ArcRow] = []
    for file in files:
        vertices, arcs = _rows(file, options.size_limit)
        vertex_rows += vertices
        arc_rows += arcs
    where = ", ".join(str(file) for file in files)
    for rows, told, own in ((vertex_rows, "vertices", "VERTICES.CSV"), (arc_rows, "arcs", "ARCS.CSV")):
        if not rows:
            raise InputError(f"no {told} are given; where they have a file of their own, {own}, name it too", where)
    _fill(draft, _vertices(vertex_rows, arc_rows, draft, where), arc_rows)
    return draft


def _files(paths: Sequence[Path]) -> Iterator[Path]:
    """Yield the files that belong to what is given: those of a folder, the other one of the CSV pair."""
    for path in paths:
        if path.is_dir():
            yield from _of_directory(path)
            continue
        yield path
        if len(paths) == 1 and path.name.lower() in PAIR:
            other = PAIR[1 - PAIR.index(path.name.lower())]
            beside = {child.name.lower(): child for child in path.resolve().parent.iterdir()}
            yield from [beside[other]] if other in beside else []


def _of_directory(path: Path) -> list[Path]:
    inside = {child.name.lower(): child for child in sorted(path.iterdir())}
    for names in (PAIR, ("attackgraph.xml",), ("attackgraph.dot",), ("attackgraph.txt",)):
        if all(name in inside for name in names):
            return [inside[name] for name in names]
    raise InputError("has no VERTICES.CSV with ARCS.CSV, AttackGraph.xml, .dot or .txt; name the files", str(path))


def _rows(path: Path, limit: int) -> tuple[list[VertexRow], list[ArcRow]]:
    if is_xml(path):
        return _xml_rows(path, limit)
    source = read_text(path, limit)
    if OPENING.match(source):
        return read_dot(source, str(path), limit)
    kind = recognise(path, limit)
    if (kind is None and path.suffix.lower() not in (".csv", ".txt")) or (kind is not None and kind.format != "mulval"):
        raise not_of_format(path, WANTED, "mulval", limit, kind)
    return _csv_rows(path, limit)


def _csv_rows(path: Path, limit: int) -> tuple[list[VertexRow], list[ArcRow]]:
    """Tell vertices from arcs row by row: MulVAL writes both into one file before it splits them."""
    vertices: list[VertexRow] = []
    arcs: list[ArcRow] = []
    for line, row in read_csv(path, limit):
        kind = next((k for k in (len(row) - 2, len(row) - 1) if k >= 2 and row[k].upper() in (OR, AND, LEAF)), None)
        if kind is not None:
            metric = row[kind + 1] if kind + 1 < len(row) else ""
            vertices.append((f"line {line}", _id(row[0]), ",".join(row[1:kind]), row[kind].upper(), metric))
        elif len(row) >= 2 and all(WHOLE.fullmatch(cell) for cell in row[:2]):
            arcs.append((f"line {line}", _id(row[0]), _id(row[1])))
        elif vertices or arcs or line > 1:  # else a header
            raise InputError(
                f"line {line}: is neither a vertex (id, fact, AND, OR or LEAF, metric) nor an arc (id, id, weight): "
                f"{','.join(row)!a:.60}",
                str(path),
            )
    return vertices, arcs


def _xml_rows(path: Path, limit: int) -> tuple[list[VertexRow], list[ArcRow]]:
    try:
        root = read_xml(path, limit)
    except InputError:  # MulVAL writes facts as they are, with their < and &
        source = read_text(path, limit)
        repaired = _escaped(source)
        if repaired == source:
            raise
        root = parse_xml(repaired, str(path), limit)
    if root.tag.lower() != "attack_graph":
        raise not_of_format(path, WANTED, "mulval", limit)
    vertices: list[VertexRow] = [
        (place, _id(found["id"]), found["fact"], found["type"].upper(), found.get("metric", ""))
        for place, found in _elements(root, "vertex", ("id", "fact", "type"), str(path))
    ]
    arcs = _elements(root, "arc", ("src", "dst"), str(path))
    return vertices, [(place, _id(found["src"]), _id(found["dst"])) for place, found in arcs]


def _elements(root: Element, tag: str, needed: Iterable[str], where: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the elements of one kind with their place, as the texts of their parts."""
    for number, element in enumerate(root.iter(tag), start=1):
        texts = {part.tag.lower(): (part.text or "").strip() for part in element}
        for name in needed:
            if not texts.get(name):
                raise InputError(f"{tag} {number} has no <{name}>", where)
        yield f"{tag} {number}", texts


def _escaped(source: str) -> str:
    """Return XML with what stands inside its <fact> elements made text."""
    before, *parts = source.split("<fact>")
    facts = [part.partition("</fact>") for part in parts]
    return before + "".join(f"<fact>{escape(fact, quote=False)}{end}{rest}" for fact, end, rest in facts)


def _id(given: str) -> str:
    whole = WHOLE.fullmatch(given)
    return whole[1] if whole else given


def _vertices(rows: Sequence[VertexRow], arcs: Sequence[ArcRow], draft: Draft, where: str) -> dict[str, Vertex]:
    concluded = {src for _, src, _ in arcs}
    found: dict[str, Vertex] = {}
    faults = []
    for place, key, fact, stated, metric in rows:
        kind = stated or (OR if key in concluded else LEAF)  # DOT without shapes
        vertex = Vertex(fact, kind, NAMED_CHANCES.get(metric.lower(), chance(metric)))
        if kind not in (OR, AND, LEAF):
            faults.append(f"{place}: type must be AND, OR or LEAF, got {kind!a:.30}")
        elif found.setdefault(key, vertex) != vertex:
            faults.append(f"{place}: vertex {key} is there already, as {found[key].fact!a:.60}")
        elif found[key] is not vertex:
            draft.note("merged", "vertices that are in the file twice", key)
        if len(faults) >= MOST_FAULTS:
            break
    if faults:
        raise InputError(faults, where)
    return found


def _fill(draft: Draft, vertices: Mapping[str, Vertex], rows: Sequence[ArcRow]) -> None:
    premises, conclusions = defaultdict(list), defaultdict(list)
    for src, dst in _directed(draft, vertices, rows):
        premises[src].append(dst)
        conclusions[dst].append(src)
    success = _successes(draft, vertices, premises)
    for key, vertex in vertices.items():
        if vertex.kind == LEAF:
            draft.fact(key, label=vertex.fact)
        elif vertex.kind == OR:
            draft.condition(key, label=vertex.fact, name=vertex.fact)
            for premise in premises[key]:
                if premise in vertices and vertices[premise].kind != AND:
                    draft.note("assumed", "facts derived from a fact without a rule between are steps", key)
                    draft.exploit(f"{premise}-{key}", needs=[premise], gives=key)
        else:
            rule = re.search(r"\((.*)\)", vertex.fact)
            if not conclusions[key]:
                draft.note("dropped", "rules that conclude nothing", key)
            for conclusion in dict.fromkeys(conclusions[key]):
                name = f"{rule[1] if rule else vertex.fact} {key}"
                draft.exploit(key, needs=premises[key], gives=conclusion, success=success[key], name=name)
    if "1" in vertices and vertices["1"].kind == OR:
        draft.guess_goal("1", "it is vertex 1, where MulVAL begins to write")


def _directed(draft: Draft, vertices: Mapping[str, Vertex], rows: Sequence[ArcRow]) -> Iterator[tuple[str, str]]:
    """Yield (conclusion, premise); facts of the input conclude nothing, which tells a reversed file."""
    arcs = list(dict.fromkeys((src, dst) for _, src, dst in rows))
    if len(arcs) < len(rows):
        draft.note("merged", f"{len(rows) - len(arcs)} arcs that are in the file twice")
    leaves = {key for key, vertex in vertices.items() if vertex.kind == LEAF}
    forward, backward = sum(dst in leaves for _, dst in arcs), sum(src in leaves for src, _ in arcs)
    if backward > forward:
        draft.note("assumed", "arcs lead from premises to conclusions in this file, against MulVAL's custom")
        arcs = [(dst, src) for src, dst in arcs]
    for src, dst in arcs:
        if src not in vertices:
            draft.note("dropped", "arcs from a vertex that is not in the file", f"{src},{dst}")
        elif src in leaves:
            draft.note("dropped", "arcs that would derive a fact of the input", f"{src},{dst}")
        else:  # a premise that is not in the file makes its rule unusable: the draft drops that
            yield src, dst


def _successes(
    draft: Draft, vertices: Mapping[str, Vertex], premises: Mapping[str, Sequence[str]]
) -> dict[str, float | None]:
    """Return each rule's probability: its metric times those of its facts, where these are more than 0 and 1."""

    def telling(kind: str) -> bool:
        return any(v.kind == kind and v.metric is not None and 0 < v.metric < 1 for v in vertices.values())

    rules, facts = telling(AND), telling(LEAF)
    if rules or facts:
        meant = " times ".join(["metrics of rules"] * rules + ["metrics of facts"] * facts)
        draft.note("assumed", f"{meant} are success probabilities")
    found: dict[str, float | None] = {}
    for key in (key for key, vertex in vertices.items() if vertex.kind == AND):
        leaves = [vertices[p] for p in premises.get(key, ()) if p in vertices and vertices[p].kind == LEAF]
        factors = [vertices[key].metric] * rules + [leaf.metric for leaf in leaves] * facts
        known = [factor for factor in factors if factor]  # 0 stands for none
        found[key] = prod(known) if known else None
    return found
