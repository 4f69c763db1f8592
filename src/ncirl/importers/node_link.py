"""Node-link JSON as networkx writes it, with ``links`` (older) or ``edges``, and its Cytoscape form."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ncirl.errors import InputError
from ncirl.formats.untrusted import is_xml, read_json, read_text
from ncirl.importers.draft import Draft
from ncirl.importers.node_graph import Edge, NodeGraph, check_size, fill
from ncirl.importers.options import ImportOptions
from ncirl.importers.recognise import not_of_format, one_file, recognise_data
from ncirl.importers.values import mapping, text, truth

__all__ = ["read"]

WANTED = "a node-link graph (JSON with nodes, and links or edges)"
SOURCE, TARGET = ("source", "from", "src"), ("target", "to", "dst")
ID = ("id", "key", "name")


def read(paths: Sequence[Path], options: ImportOptions) -> Draft:
    """Read one node-link file; `InputError` when it is no node-link file, or a node or an edge lacks its ends."""
    path = one_file(paths, "a node-link graph")
    if path.is_dir() or is_xml(path) or read_text(path, options.size_limit).lstrip()[:1] not in "{[":
        raise not_of_format(path, WANTED, "node-link", options.size_limit)
    data = read_json(path, options.size_limit)
    kind = recognise_data(data)
    if kind is None or kind.format != "node-link":
        raise not_of_format(path, WANTED, "node-link", options.size_limit, kind)
    draft = Draft("node-link", name=text(mapping(data.get("graph")).get("name")) or path.stem)
    fill(draft, _graph(data, draft, str(path)), options)
    return draft


def _graph(data: Mapping[str, Any], draft: Draft, where: str) -> NodeGraph:
    if "elements" in data:
        elements = mapping(data["elements"])
        nodes, edges = _unwrapped(elements.get("nodes")), _unwrapped(elements.get("edges"))
    else:
        nodes, edges = data["nodes"], data["links"] if "links" in data else data["edges"]
    for name, listed in (("nodes", nodes), ("links or edges", edges)):
        if not isinstance(listed, list):
            raise InputError(f"{name}: must be a list", where)
    check_size(len(nodes) + len(edges), where)
    directed = truth(data.get("directed"))
    if directed is None:
        draft.note("assumed", "the file does not say whether edges have a direction; they do")
    graph = NodeGraph(directed=directed is not False)
    for number, node in enumerate(nodes):
        attributes = node if isinstance(node, dict) else {"id": node}
        key = _end(attributes, ID)
        if key is None and isinstance(node, dict):
            key = str(number)  # edges then name nodes by their place
        if key is None:
            raise InputError(f"nodes[{number}]: must be a map with an id", where)
        if key in graph.nodes:
            draft.note("merged", "nodes that are in the file twice", key)
        graph.nodes.setdefault(key, {}).update(attributes)
    for number, edge in enumerate(edges):
        said = mapping(dict(zip(("source", "target"), edge, strict=False)) if isinstance(edge, list) else edge)
        source, target = _end(said, SOURCE), _end(said, TARGET)
        if source is None or target is None:
            raise InputError(f"edge {number}: must be a map with source and target", where)
        ends = (*SOURCE, *TARGET, "key")
        graph.edges.append(Edge(source, target, {key: v for key, v in said.items() if key not in ends}))
    return graph


def _unwrapped(listed: Any) -> Any:
    if not isinstance(listed, list):
        return listed
    return [item["data"] if isinstance(item, dict) and isinstance(item.get("data"), dict) else item for item in listed]


def _end(attributes: Mapping[str, Any], names: Sequence[str]) -> str | None:
    """Return a node's id as text; networkx writes tuples as lists."""
    for name in names:
        value = attributes.get(name)
        if isinstance(value, list) and value and all(isinstance(part, str | int | float) for part in value):
            return ",".join(str(part) for part in value)
        if isinstance(value, dict):  # d3 puts the node itself here
            return _end(value, ID)
        if isinstance(value, str | int | float) and text(value):
            return str(value)
    return None
