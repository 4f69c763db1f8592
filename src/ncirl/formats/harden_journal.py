"""The journal of ``ncirl harden``: a line of JSON for every graph that was bounded, so that a killed study goes on.

The first line says what it is about: the format and a hash of the graph. Lines are added as they come and reach the
disk at once; a last line that was cut off in the middle is passed over, and what it said is worked out again.
"""

import hashlib
import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ncirl.attack_graphs.graph import AttackGraph
from ncirl.errors import InputError
from ncirl.formats.attack_graph_file import attack_graph_to_data
from ncirl.formats.plain import read_lines

__all__ = ["JOURNAL_FORMAT", "HardenJournal"]

JOURNAL_FORMAT = "ncirl-harden-journal/1"


class HardenJournal:
    """What was found about one graph, kept in a file.

    Parameters
    ----------
    path : str or Path
        The file; begun where there is none.
    graph : AttackGraph
        What it is about.

    Raises
    ------
    InputError
        When the file cannot be read or written, is no journal, or is one of another graph.
    """

    def __init__(self, path: str | Path, graph: AttackGraph) -> None:
        self.path = Path(path)
        self._known: dict[str, dict[str, Any]] = {}
        about = json.dumps(attack_graph_to_data(graph), sort_keys=True)
        head = {"format": JOURNAL_FORMAT, "graph": hashlib.sha256(about.encode()).hexdigest()}
        if self.path.exists() and self.path.stat().st_size:
            self._read(head)
        else:
            self._append(head)

    def get(self, key: str) -> Mapping[str, object] | None:
        """Return what was found, None where the task is not known."""
        return self._known.get(key)

    def put(self, key: str, found: Mapping[str, object]) -> None:
        """Remember what was found, on the disk when this returns."""
        self._append({"task": key, **found})
        self._known[key] = dict(found)

    def _read(self, head: Mapping[str, str]) -> None:
        lines, whole = read_lines(self.path)
        if not lines or lines[0].get("format") != JOURNAL_FORMAT:
            raise InputError("is no journal of `ncirl harden`; name another file", str(self.path))
        if lines[0].get("graph") != head["graph"]:
            raise InputError("is the journal of another graph; name another file", str(self.path))
        for n, line in enumerate(lines[1:], 2):
            if not _is_entry(line):
                raise InputError(f"line {n}: is no entry of a journal; name another file", str(self.path))
            self._known[line["task"]] = {"upper": line["upper"], "records": line["records"]}
        if whole < self.path.stat().st_size:
            os.truncate(self.path, whole)  # a line that was cut off

    def _append(self, line: Mapping[str, object]) -> None:
        try:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise InputError(f"cannot be written: {error.strerror}", str(self.path)) from None


def _is_entry(line: Mapping[str, Any]) -> bool:
    """Tell whether a line has the shape of an entry."""
    records = line.get("records")
    return (
        isinstance(line.get("task"), str)
        and "upper" in line
        and (line["upper"] is None or _is_number(line["upper"]))
        and isinstance(records, list)
        and all(isinstance(attacks, list) and all(map(_is_attack, attacks)) for attacks in records)
    )


def _is_attack(attack: Any) -> bool:
    """Tell whether this is an attack: names of intents, names of exploits, and what they secure."""
    if not isinstance(attack, list) or len(attack) != 3 or not _is_number(attack[2]):
        return False
    return all(isinstance(names, list) and all(isinstance(name, str) for name in names) for names in attack[:2])


def _is_number(value: object) -> bool:
    return isinstance(value, float | int) and not isinstance(value, bool) and math.isfinite(value)
