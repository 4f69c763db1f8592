"""Attack graphs of other tools: files in, an `AttackGraph` and a report on how it came about.

An importer is a module with ``read(paths, options) -> Draft``; it is loaded when it is used first.
"""

import importlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from ncirl.errors import InputError
from ncirl.importers.draft import Draft, Imported
from ncirl.importers.options import ImportOptions
from ncirl.importers.report import ImportReport

__all__ = ["AUTO", "IMPORTERS", "Draft", "ImportOptions", "ImportReport", "Imported", "Importer", "import_graph"]

AUTO = "auto"
"""The name of no format: go by what the file looks like."""


@dataclass(frozen=True)
class Importer:
    """One format: how to call it, what it reads, and what can be set for it only."""

    module: str
    about: str
    settings: Mapping[str, str] = field(default_factory=dict)  # name: what it means

    def read(self, paths: Sequence[Path], options: ImportOptions) -> Draft:
        """Read files into a draft."""
        return cast("Draft", importlib.import_module(self.module).read(paths, options))


GRAPH_SETTINGS = {
    "edge-type": "edge attribute with the type of an edge (found by itself: edge_type, type, kind, label, …)",
    "steps": "types of edges that are attack steps, with commas between (all by default)",
    "reverse": "types of edges that lead against their direction, with commas between",
    "success": "edge attribute with the success probability",
    "attack-cost": "edge attribute with the cost of an attempt",
    "block-cost": "edge attribute with the cost of blocking",
    "initial": "node attribute that is true where a condition holds from the start",
    "goal": "node attribute that is true where a condition is a goal",
    "and": "node attribute and value, as in kind=and, of steps that need all their predecessors",
    "label": "node attribute with the name for people",
}
MULVAL_SETTINGS = {"attacker": "where attackers begin, of the places that the file has, with commas between (all)"}
FLOW_SETTINGS = {"confidence": "success to take an action's confidence for its success, or ignore (the default)"}
BLOODHOUND_SETTINGS = {
    "steps": "kinds of edges that are attack steps, with commas between, or all (by default what is traversable)",
    "controls": "what ends a right, a membership, a session: for good (lasting, the default) or for one stage "
    "(momentary); or none, so that each step can be blocked for one stage",
    "table": "a file with success, attack_cost, block_cost and effort by kind of edge; --table says the same",
}
IMPORTERS: dict[str, Importer] = {
    "mulval": Importer(
        "ncirl.importers.mulval", "MulVAL: VERTICES.CSV with ARCS.CSV, AttackGraph.xml or .dot", MULVAL_SETTINGS
    ),
    "mal": Importer("ncirl.importers.mal", "mal-toolbox attack graphs, JSON or YAML, and the older lists"),
    "attack-flow": Importer("ncirl.importers.attack_flow", "Attack Flow: STIX 2.1 bundles", FLOW_SETTINGS),
    "bloodhound": Importer(
        "ncirl.importers.bloodhound",
        "BloodHound: OpenGraph, collectors' JSON or zip, JSON lines of a graph database, several at once",
        BLOODHOUND_SETTINGS,
    ),
    "nasim": Importer("ncirl.importers.nasim", "NASim scenarios, YAML"),
    "graphml": Importer("ncirl.importers.graphml", "GraphML as networkx, yEd and Gephi write it", GRAPH_SETTINGS),
    "node-link": Importer("ncirl.importers.node_link", "node-link JSON as networkx writes it", GRAPH_SETTINGS),
}
"""The formats that can be read, by name."""


def import_graph(
    format: str, paths: str | Path | Iterable[str | Path], options: ImportOptions | None = None, **changes: Any
) -> Imported:
    """Read a file of another tool as an attack graph.

    Parameters
    ----------
    format : str
        One of `IMPORTERS`, or ``"auto"`` to go by what the file looks like.
    paths : path or several
        The file, the files that make up one graph, or their directory.
    options : ImportOptions, optional
        What a person decides.
    **changes
        Fields of `ImportOptions`, instead of `options`.

    Returns
    -------
    Imported
        The graph and the report.

    Raises
    ------
    InputError
        When the file is not of the format, or leaves nothing to play on; the message says what to do.
    """
    chosen = ImportOptions(**changes) if options is None else options
    given = [Path(paths)] if isinstance(paths, str | Path) else [Path(path) for path in paths]
    if not given:
        raise InputError("no file is given to import")
    if format == AUTO:
        from ncirl.importers.recognise import recognised_format

        format = recognised_format(given[0], chosen.size_limit)
    if format not in IMPORTERS:
        raise InputError(f"format '{format}' is not known; choose from {', '.join(IMPORTERS)} or {AUTO}")
    importer = IMPORTERS[format]
    unknown = [name for name in chosen.settings if name not in importer.settings]
    if unknown:
        known = "".join(f"\n  {name}: {meaning}" for name, meaning in importer.settings.items())
        raise InputError(f"setting '{unknown[0]}' is not known to the format {format}; there are{known or ' none'}")
    return importer.read(given, chosen).finish(chosen, given)
