"""BloodHound's files, wherever they lie: single ones, a folder, the archive that a collector writes, JSON lines.

Each is one of three things: a graph (OpenGraph, or what the interface exports), the objects of a collector, or the
nodes and relationships that a graph database exports one a line, which are a graph too.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ncirl.errors import InputError
from ncirl.formats.untrusted import (
    is_archive,
    parse_json_lines,
    parse_plain_json,
    read_json_archive,
    read_text,
)
from ncirl.importers.bloodhound_collector import KINDS, kind_of
from ncirl.importers.bloodhound_graph import graph_of, lowered
from ncirl.importers.options import ImportOptions
from ncirl.importers.recognise import is_json_lines, not_of_format, recognise_data
from ncirl.importers.values import mapping, mappings, text

__all__ = ["Files", "read_files"]

WANTED = "a BloodHound file (OpenGraph, of a collector, or JSON lines of a graph database)"


@dataclass
class Files:
    """What some files hold: graphs, and the objects of collectors."""

    graphs: list[Mapping[str, Any]] = field(default_factory=list)
    collections: list[Mapping[str, Any]] = field(default_factory=list)


def read_files(paths: Sequence[Path], options: ImportOptions) -> Files:
    """Read files that belong together; `InputError` when one is nothing of BloodHound's."""
    found = Files()
    for where, content in _texts(paths, options.size_limit):
        if is_json_lines(content):
            found.graphs.append(_database(parse_json_lines(content, where)))
            continue
        data = parse_plain_json(content, where)
        graph, kind = graph_of(data), kind_of(data)
        exported = _exported(data)
        if graph is not None:
            found.graphs.append(graph)
        elif exported is not None:
            found.graphs.append(_database(exported))
        elif kind is not None:
            _check_kind(kind, where)
            found.collections.append(data)
        else:
            seems = recognise_data(data)
            if seems is None:  # a file inside an archive cannot be opened by what it is called
                raise InputError(f"is not {WANTED}", where)
            raise not_of_format(Path(where), WANTED, "bloodhound", options.size_limit, seems)
    return found


def _texts(paths: Iterable[Path], limit: int) -> Iterator[tuple[str, str]]:
    for path in paths:
        files = sorted(child for child in path.iterdir() if _is_ours(child)) if path.is_dir() else [path]
        if not files:
            raise InputError("is a directory without JSON files", str(path))
        for file in files:
            if is_archive(file):
                yield from ((f"{file}: {name}", content) for name, content in read_json_archive(file, limit))
            else:
                yield str(file), read_text(file, limit)


def _is_ours(file: Path) -> bool:
    return file.suffix.lower() in (".json", ".jsonl", ".zip") and file.is_file()


def _check_kind(kind: str, where: str) -> None:
    if kind == "azure":
        said = "is an AzureHound file, which is not imported; import it into BloodHound and export the graph from there"
        raise InputError(said, where)
    if kind not in KINDS:
        raise InputError(f"meta.type: '{kind}' is not known; it is one of {', '.join(KINDS)}", where)


def _exported(data: Any) -> list[Mapping[str, Any]] | None:
    """Return the nodes and relationships of an export that is one list or one map; None where it is neither."""
    if isinstance(data, list) and data and mapping(data[0]).get("type") in ("node", "relationship"):
        return mappings(data)
    if isinstance(data, Mapping) and isinstance(data.get("rels"), list) and isinstance(data.get("nodes"), list):
        nodes, edges = mappings(data["nodes"]), mappings(data["rels"])
        return [
            *({"type": "node"} | dict(node) for node in nodes),
            *({"type": "relationship"} | dict(e) for e in edges),
        ]
    return None


def _database(rows: Iterable[Any]) -> Mapping[str, Any]:
    """Return an export of a graph database as a graph: nodes go by their `objectid`, where it is theirs alone."""
    told = mappings(list(rows))
    nodes = [row for row in told if row.get("type") == "node"]
    shared: dict[str, int] = {}
    for node in nodes:
        own = text(lowered(mapping(node.get("properties"))).get("objectid"))
        shared[own] = shared.get(own, 0) + 1
    ids = {}
    for node in nodes:
        own = text(lowered(mapping(node.get("properties"))).get("objectid"))
        ids[text(node.get("id"))] = own if own and shared[own] == 1 else text(node.get("id"))
    return {
        "nodes": [
            {"id": ids[text(node.get("id"))], "kinds": node.get("labels"), "properties": node.get("properties")}
            for node in nodes
        ],
        "edges": [
            {
                "kind": row.get("label"),
                "start": {"value": ids.get(_end(row.get("start")), _end(row.get("start")))},
                "end": {"value": ids.get(_end(row.get("end")), _end(row.get("end")))},
                "properties": row.get("properties"),
            }
            for row in told
            if row.get("type") == "relationship"
        ],
    }


def _end(given: Any) -> str:
    return text(mapping(given).get("id")) or text(given)
