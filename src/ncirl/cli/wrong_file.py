"""Name a file that was given in place of another: a graph, a policy, the output of a scanner."""

import zipfile
from pathlib import Path

from ncirl.errors import InputError, NcirlError, WrongFile
from ncirl.formats.attack_graph_file import ATTACK_GRAPH_FORMATS
from ncirl.formats.game_file import GAME_FORMAT
from ncirl.formats.plain import read_source
from ncirl.importers.recognise import OWN, recognise

__all__ = ["named_for_what_it_is"]

WANTED = {"contest": "a game or an attack graph", "graph": "an attack graph", "policy": "a policy"}
OURS = dict.fromkeys(ATTACK_GRAPH_FORMATS, "an attack graph") | {GAME_FORMAT: "a game"}
POLICY, HEADER = ".ncirl", "header.npy"  # the name and an entry that policy files have


def named_for_what_it_is(error: WrongFile) -> str:
    """Say what the file is, and which command takes it; what was said already where that is not known."""
    path = Path(error.path)
    try:
        what, advice = _told(path, error.wanted)
    except (NcirlError, OSError, zipfile.BadZipFile):
        return str(error)
    return f"{path}: is {what}, not {WANTED[error.wanted]}; {advice}" if what else str(error)


def _told(path: Path, wanted: str) -> tuple[str, str]:
    """Return what a file is and what to do with it; empty where that is not known, or it is what was wanted."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            is_policy = HEADER in archive.namelist()
        if is_policy:
            return ("", "") if wanted == "policy" else ("a policy", "give the graph or game that it was made from")
    if path.suffix == POLICY:  # a damaged one
        return "", ""
    try:
        data = read_source(path)
    except InputError:
        data = None
    kind = OURS.get(data.get("format", "")) if isinstance(data, dict) else None
    if kind and wanted == "policy":
        return kind, f"solve it first: `ncirl solve {path} -o policy.ncirl`"
    if kind:
        return (kind, "it has no exploits") if kind == "a game" and wanted == "graph" else ("", "")
    found = recognise(path)
    if found in (None, OWN) or not (found.format or found.advice):
        return "", ""
    return found.words, f"import it first: `ncirl import {path} -o graph.yaml`" if found.format else found.advice
