"""The files of a MulVAL graph: the CSV pair, AttackGraph.xml, AttackGraph.dot, and whether they belong together."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from xml.etree.ElementTree import Element

from ncirl.errors import InputError
from ncirl.formats.untrusted import is_xml, parse_xml, read_csv, read_text, read_xml
from ncirl.importers.draft import Draft
from ncirl.importers.mulval_dot import OPENING, ArcRow, VertexRow, read_dot
from ncirl.importers.recognise import not_of_format, recognise

__all__ = ["AND", "LEAF", "OR", "Rows", "read_rows"]

WANTED = "a MulVAL attack graph (VERTICES.CSV with ARCS.CSV, AttackGraph.xml or AttackGraph.dot)"
OR, AND, LEAF = "OR", "AND", "LEAF"
PAIR = ("vertices.csv", "arcs.csv")
FORMS = (PAIR, ("attackgraph.xml",), ("attackgraph.dot",), ("attackgraph.txt",))
WHOLE = re.compile(r"(-?\d+)(\.0+)?")


@dataclass
class Rows:
    """The rows of a graph as its files have them; `apart` where vertices and arcs are in files of their own."""

    files: list[Path] = field(default_factory=list)
    vertices: list[VertexRow] = field(default_factory=list)
    arcs: list[ArcRow] = field(default_factory=list)
    apart: bool = False

    @property
    def where(self) -> str:
        """The files, for messages."""
        return ", ".join(str(file) for file in self.files)


def read_rows(paths: Sequence[Path], draft: Draft, limit: int) -> Rows:
    """Read a graph from its directory, its CSV files in any order, its XML or its DOT file.

    Raises `InputError` when the files are no MulVAL graph, or a folder has two that differ.
    """
    if len(paths) == 1 and paths[0].is_dir():
        return _of_directory(paths[0], draft, limit)
    return _of_files(list(_files(paths)), limit)


def _of_files(files: Sequence[Path], limit: int) -> Rows:
    found = Rows(list(files))
    for file in files:
        vertices, arcs = _rows(file, limit)
        found.vertices += vertices
        found.arcs += arcs
        found.apart |= bool(vertices) != bool(arcs)
    for rows, told, own in ((found.vertices, "vertices", "VERTICES.CSV"), (found.arcs, "arcs", "ARCS.CSV")):
        if not rows:
            raise InputError(
                f"no {told} are given; where they have a file of their own, {own}, name it too", found.where
            )
    return found


def _files(paths: Sequence[Path]) -> Iterator[Path]:
    """Yield the files that belong to what is given: those of a folder, the other one of the CSV pair."""
    for path in paths:
        if path.is_dir():
            yield from _forms_in(path)[0]
            continue
        yield path
        if len(paths) == 1 and path.name.lower() in PAIR:
            other = PAIR[1 - PAIR.index(path.name.lower())]
            beside = {child.name.lower(): child for child in path.resolve().parent.iterdir()}
            yield from [beside[other]] if other in beside else []


def _forms_in(path: Path) -> list[list[Path]]:
    """Return the files of each form of a graph that a folder has, the best form first."""
    inside = {child.name.lower(): child for child in sorted(path.iterdir())}
    found = [[inside[name] for name in names] for names in FORMS if all(name in inside for name in names)]
    if not found:
        raise InputError("has no VERTICES.CSV with ARCS.CSV, AttackGraph.xml, .dot or .txt; name the files", str(path))
    return found


def _of_directory(path: Path, draft: Draft, limit: int) -> Rows:
    """Read the best form of a folder's graph, and hold the others against it."""
    first, *others = _forms_in(path)
    found = _of_files(first, limit)
    for files in others:
        try:
            other = _of_files(files, limit)
        except InputError as error:
            draft.note("dropped", f"a second form of the graph that cannot be read: {error}")
            continue
        difference = _difference(found, other)
        if difference:
            raise InputError(
                f"is another graph than {found.where}: {difference}; name the files of the one that is meant",
                other.where,
            )
        draft.note("merged", "forms of the graph in the folder that say the same", ", ".join(f.name for f in files))
    return found


def _difference(one: Rows, other: Rows) -> str:
    """Say in what two forms of a graph differ; empty where they agree. DOT spoils facts, so their words may differ."""
    kinds = [{key: kind for _, key, _, kind, _ in rows.vertices if kind} for rows in (one, other)]
    arcs = [{(src, dst) for _, src, dst in rows.arcs} for rows in (one, other)]
    for told, (mine, theirs) in (("vertices", tuple(map(len, kinds))), ("arcs", tuple(map(len, arcs)))):
        if mine != theirs:
            return f"{theirs} {told}, not {mine}"
    unlike = next((key for key, kind in kinds[0].items() if kinds[1].get(key, kind) != kind or key not in kinds[1]), "")
    if unlike:
        return f"vertex {unlike} is {kinds[1].get(unlike, 'not there')}, not {kinds[0][unlike]}"
    if arcs[0] != arcs[1]:
        return f"arc {','.join(min(arcs[1] - arcs[0]))} is in this one only"
    facts = [{key: "".join(fact.split()) for _, key, fact, _, _ in rows.vertices} for rows in (one, other)]
    changed = [key for key, fact in facts[0].items() if facts[1][key] != fact]
    is_dot = any(file.suffix.lower() == ".dot" for file in (*one.files, *other.files))
    if changed and (not is_dot or len(changed) > len(facts[0]) / 2):
        return f"vertex {changed[0]} says {facts[1][changed[0]]!a:.60}, not {facts[0][changed[0]]!a:.60}"
    return ""


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
