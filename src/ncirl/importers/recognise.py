"""What a file seems to be, so that a wrong one is refused by name and the format need not be typed."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ncirl.errors import InputError
from ncirl.formats.untrusted import SIZE_LIMIT, is_archive, is_xml, read_data, read_text, read_xml
from ncirl.importers.mulval_dot import OPENING

__all__ = [
    "OWN",
    "Kind",
    "is_json_lines",
    "not_of_format",
    "one_file",
    "recognise",
    "recognise_data",
    "recognised_format",
]


@dataclass(frozen=True)
class Kind:
    """What a file is, in words; `format` is the importer that reads it, `advice` what to do where none does."""

    words: str
    format: str = ""
    advice: str = ""


CSV_KIND = Kind("a MulVAL CSV file (VERTICES.CSV or ARCS.CSV)", "mulval")
DOT_KIND = Kind("a MulVAL attack graph in DOT", "mulval")
OTHER_DOT_KIND = Kind("a DOT graph that is not MulVAL's", advice="convert it to GraphML or node-link JSON")
XML_KINDS = {
    "attack_graph": Kind("a MulVAL attack graph in XML", "mulval"),
    "graphml": Kind("a GraphML file", "graphml"),
    "gexf": Kind("a GEXF file", advice="save it as GraphML"),
}
JSON_LINES_KIND = Kind("an export of a graph database in JSON lines", "bloodhound")
ARCHIVE_KIND = Kind("a zip archive, as BloodHound's collectors write it", "bloodhound")
OPENS_JSON = ("{", "[")
VERTEX_OR_ARC = re.compile(r'\s*"?\d+"?\s*,\s*("?\d+"?\s*(,|$)|.*,\s*"?(AND|OR|LEAF)"?\s*(,|$))', re.I | re.M)
MULVAL_DOT = re.compile(r'label\s*=\s*"\d+\s*:|shape\s*=\s*"?(diamond|ellipse|box)\b')


def _has(*keys: str) -> Callable[[Any], bool]:
    return lambda data: isinstance(data, dict) and all(key in data for key in keys)


def _first_has(*keys: str) -> Callable[[Any], bool]:
    return lambda data: isinstance(data, list) and bool(data) and _has(*keys)(data[0])


def _says(key: str, opening: str) -> Callable[[Any], bool]:
    return lambda data: isinstance(data, dict) and str(data.get(key, "")).startswith(opening)


OWN = Kind("a file of this package already", advice="solve it as it is")
AFB = "open it in the Attack Flow Builder and export STIX JSON"
DATA_KINDS: list[tuple[Callable[[Any], bool], Kind]] = [  # the first that fits
    (_says("format", "ncirl-"), OWN),
    (_has("attack_steps"), Kind("a mal-toolbox attack graph", "mal")),
    (_first_has("links", "objid"), Kind("a mal-toolbox attack graph (legacy list)", "mal")),
    (_first_has("children", "ttc"), Kind("a mal-toolbox attack graph (legacy list)", "mal")),
    (_has("metadata", "assets"), Kind("a MAL model, not an attack graph", advice="generate its attack graph first")),
    (_says("schema", "attack_flow"), Kind("an Attack Flow builder file", advice=AFB)),
    (_has("flow", "actions"), Kind("an Attack Flow file of version 1", advice="convert it to STIX 2.1 first")),
    (_has("type", "objects"), Kind("a STIX bundle (Attack Flow)", "attack-flow")),
    (
        lambda data: _has("graph")(data) and _has("nodes")(data["graph"]),
        Kind("a BloodHound OpenGraph file", "bloodhound"),
    ),
    (_has("meta", "data"), Kind("a BloodHound collector file", "bloodhound")),
    (_has("subnets", "topology"), Kind("a NASim scenario", "nasim")),
    (_has("elements"), Kind("a Cytoscape graph", "node-link")),
    (_has("nodes", "links"), Kind("a node-link graph", "node-link")),
    (_has("nodes", "edges"), Kind("a node-link graph", "node-link")),
]


def recognise(path: Path, limit: int = SIZE_LIMIT) -> Kind | None:
    """Tell what a file seems to be; None where nothing is known that looks like it.

    Raises `InputError` when the file cannot be read as text, or is XML that does not parse.
    """
    if path.is_dir():
        return _recognise_folder(sorted(path.iterdir()), limit)
    if is_archive(path):
        return ARCHIVE_KIND
    if is_xml(path):
        return XML_KINDS.get(read_xml(path, limit).tag.lower())
    text = read_text(path, limit)
    if OPENING.match(text):
        return DOT_KIND if MULVAL_DOT.search(text) else OTHER_DOT_KIND
    if VERTEX_OR_ARC.match(text.lstrip()):
        return CSV_KIND
    if is_json_lines(text):
        return JSON_LINES_KIND
    try:
        return recognise_data(read_data(path, limit))
    except InputError:
        if text.lstrip()[:1] in OPENS_JSON:  # it is JSON and spoilt: where is worth more than what
            raise
        return None


def is_json_lines(text: str) -> bool:
    """Tell whether the first line of a text is a node or a relationship, as graph databases export them."""
    line = text.lstrip("\ufeff \t\r\n").partition("\n")[0].strip()
    if not (line.startswith("{") and line.endswith("}")):
        return False
    try:
        first = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(first, dict) and first.get("type") in ("node", "relationship")


def _recognise_folder(children: list[Path], limit: int) -> Kind | None:
    """MulVAL writes two files into one folder, BloodHound's collectors one file a kind of object."""
    if any(child.name.lower() in ("vertices.csv", "attackgraph.xml", "attackgraph.dot") for child in children):
        return CSV_KIND
    first = next((child for child in children if child.suffix.lower() in (".json", ".jsonl", ".zip")), None)
    kind = recognise(first, limit) if first is not None else None
    return kind if kind is not None and kind.format == "bloodhound" else None


def recognise_data(data: Any) -> Kind | None:
    """Tell what plain data seems to be."""
    return next((kind for fits, kind in DATA_KINDS if fits(data)), None)


def recognised_format(path: Path, limit: int = SIZE_LIMIT) -> str:
    """Return the importer that reads a file; `InputError` when none does, with what the file seems to be."""
    from ncirl.importers import IMPORTERS

    kind = recognise(path, limit)
    if kind is None:
        raise InputError(f"is no attack graph that is known here; name its format: {', '.join(IMPORTERS)}", str(path))
    if kind.format not in IMPORTERS:
        advice = f"; {kind.advice}" if kind.advice else ""
        raise InputError(f"is {kind.words}, which is not imported{advice}", str(path))
    return kind.format


def one_file(paths: Sequence[Path], wanted: str) -> Path:
    """Return the one file given, or say that `wanted` is one file where several are."""
    if len(paths) > 1:
        raise InputError(f"{len(paths)} files are given, but {wanted} is one file; import them one by one")
    return paths[0]


def not_of_format(path: Path, wanted: str, format: str, limit: int, kind: Kind | None = None) -> InputError:
    """Return the error for a file that is not what `format` wants, with the kind that it is or seems to be."""
    found = kind or recognise(path, limit)
    if found is None or found.format == format:
        return InputError(f"is not {wanted}", str(path))
    remedy = f"try `ncirl import {found.format}`" if found.format else found.advice
    return InputError(f"is not {wanted}; it seems to be {found.words}" + (f"; {remedy}" if remedy else ""), str(path))
