"""GraphML as networkx, yEd and Gephi write it.

Types of keys are not needed: values are read as what they are used for, so that two keys of one name and different
types do no harm.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

from ncirl.errors import InputError
from ncirl.formats.untrusted import is_xml, read_xml
from ncirl.importers.draft import Draft
from ncirl.importers.node_graph import Edge, NodeGraph, check_size, fill
from ncirl.importers.options import ImportOptions
from ncirl.importers.recognise import not_of_format, one_file
from ncirl.importers.values import truth

__all__ = ["read"]

DRAWN_LABELS = ("NodeLabel", "EdgeLabel")  # where yEd keeps what people see


def read(paths: Sequence[Path], options: ImportOptions) -> Draft:
    """Read one GraphML file; `InputError` when it is no GraphML file, or a node or an edge lacks its ends."""
    path = one_file(paths, "a GraphML graph")
    if path.is_dir() or not is_xml(path):
        raise not_of_format(path, "a GraphML file", "graphml", options.size_limit)
    root = read_xml(path, options.size_limit)
    if root.tag.lower() != "graphml":
        raise not_of_format(path, "a GraphML file", "graphml", options.size_limit)
    draft = Draft("graphml", name=path.stem)
    fill(draft, _graph(root, draft, str(path)), options)
    return draft


def _graph(root: Element, draft: Draft, where: str) -> NodeGraph:
    keys = {key.get("id", ""): key for key in root.iter("key")}
    names = {key_id: key.get("attr.name") or key.get("yfiles.type") or key_id for key_id, key in keys.items()}
    defaults: dict[str, dict[str, Any]] = {"node": {}, "edge": {}}
    for key_id, key in keys.items():
        default = key.find("default")
        if default is not None:
            for kind in defaults:
                if key.get("for", "all") in (kind, "all"):
                    defaults[kind][names[key_id]] = default.text or ""
    graphs = list(root.iter("graph"))
    if not graphs:
        raise InputError("has no <graph>", where)
    graph = NodeGraph(directed=graphs[0].get("edgedefault", "directed").lower() != "undirected")
    check_size(sum(1 for tag in ("node", "edge") for _ in root.iter(tag)), where)
    for number, node in enumerate(root.iter("node"), start=1):
        name = node.get("id")
        if not name:
            raise InputError(f"node {number} has no id", where)
        if name in graph.nodes:
            draft.note("merged", "nodes that are in the file twice", name)
        graph.nodes.setdefault(name, dict(defaults["node"])).update(_data(node, names))
    for number, edge in enumerate(root.iter("edge"), start=1):
        source, target = edge.get("source"), edge.get("target")
        if not source or not target:
            raise InputError(f"edge {number} has no {'target' if source else 'source'}", where)
        found = Edge(source, target, defaults["edge"] | _data(edge, names))
        graph.edges.append(found)
        if graph.directed and truth(edge.get("directed")) is False:
            graph.edges.append(found.turned())
    for _ in root.iter("hyperedge"):
        draft.note("dropped", "hyperedges, which are not read")
    return graph


def _data(element: Element, names: Mapping[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for datum in element.findall("data"):
        key = datum.get("key", "")
        if len(datum):
            drawn = next((part.text for part in datum.iter() if part.tag in DRAWN_LABELS and part.text), None)
            if drawn:
                found["label"] = drawn
        elif datum.text is not None:
            found[names.get(key, key)] = datum.text
    return found
