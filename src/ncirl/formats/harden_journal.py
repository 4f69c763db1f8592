"""The journal of ``ncirl harden``: the policies found, in a folder, so that a killed study goes on.

Nothing in it is believed. A policy carries the graph that it is for and the playbooks that prove its bounds: it counts
where that is the very graph in question and its certificate, computed again, holds. Any other is passed over, and what
it was to prove is solved again. `about.json` says which graph the folder is about, to tell people who mix them up.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from ncirl.attack_graphs.graph import AttackGraph
from ncirl.attack_graphs.guarded.solution import GuardedSolution
from ncirl.errors import InputError, LimitError
from ncirl.formats.array_file import LARGEST_FILE
from ncirl.formats.attack_graph_file import attack_graph_to_data
from ncirl.formats.files import read_bytes, write_atomically
from ncirl.formats.graph_source import extra_of, own_graph
from ncirl.formats.guarded_file import guarded_bytes, open_solution
from ncirl.formats.plain import as_map, parse_json, text_of
from ncirl.formats.policy_file import policy_bytes
from ncirl.playbook.solution import CertifiedSolution

__all__ = ["JOURNAL_FORMAT", "HardenJournal", "Proofs"]

JOURNAL_FORMAT = "ncirl-harden-journal/2"
ABOUT = "about.json"
OLD = "is a file, perhaps a journal of an older version, which has bounds without their proofs; name a new folder"


class Proofs:
    """Packs the policy of a graph, and opens it again where it is proved to be one."""

    def packed(self, solution: CertifiedSolution | GuardedSolution, graph: AttackGraph) -> bytes:
        """Return a policy with its graph as the bytes of a policy file."""
        if isinstance(solution, GuardedSolution):
            return guarded_bytes(solution)
        return policy_bytes(replace(solution, extra=extra_of(graph)))

    def opened(self, raw: bytes, graph: AttackGraph) -> CertifiedSolution | GuardedSolution | None:
        """Verify a policy and return it with what was recomputed; None where it proves nothing of this graph."""
        try:
            found = open_solution(raw, "journal")
            its = own_graph(found, close=0.0)  # its bounds are taken as they are
            same = its is not None and attack_graph_to_data(its) == attack_graph_to_data(graph)
            return found if same and found.priors is None else None
        except (InputError, LimitError):
            return None


class HardenJournal:
    """The policies found in a study of one graph, kept in a folder.

    Parameters
    ----------
    path : str or Path
        The folder; made where there is none.
    graph : AttackGraph
        What it is about.

    Raises
    ------
    InputError
        When it cannot be read or written, is no journal, or is one of another graph.
    """

    proofs = Proofs()

    def __init__(self, path: str | Path, graph: AttackGraph) -> None:
        self.path = Path(path)
        if self.path.is_file():
            raise InputError(OLD, str(path))
        said = json.dumps(attack_graph_to_data(graph), sort_keys=True)
        about = {"format": JOURNAL_FORMAT, "graph": hashlib.sha256(said.encode()).hexdigest()}
        try:
            self.path.mkdir(exist_ok=True)
            empty = not any(self.path.iterdir())
        except OSError as error:
            raise InputError(f"cannot be written: {error.strerror}", str(path)) from None
        if empty:
            write_atomically(self.path / ABOUT, json.dumps(about) + "\n")
        else:
            self._check(about)

    def read(self, task: str) -> Mapping[str, bytes]:
        """Return what was kept of a task, by name; nothing where nothing was."""
        found = sorted(self.path.glob(f"{task}-*.ncirl"))
        return {path.stem.removeprefix(f"{task}-"): read_bytes(path, str(path), LARGEST_FILE) for path in found}

    def write(self, task: str, policies: Mapping[str, bytes]) -> None:
        """Keep what was found, on the disk when this returns."""
        for name, raw in policies.items():
            write_atomically(self.path / f"{task}-{name}.ncirl", raw)

    def _check(self, about: Mapping[str, str]) -> None:
        file = self.path / ABOUT
        try:
            known = parse_json(text_of(file.read_bytes(), str(file)), str(file), as_map)
        except OSError:
            raise InputError("is no journal of `ncirl harden`; name another folder", str(self.path)) from None
        if not isinstance(known, dict) or known.get("format") != JOURNAL_FORMAT:
            raise InputError("is no journal of `ncirl harden`; name another folder", str(self.path))
        if known.get("graph") != about["graph"]:
            raise InputError("is the journal of another graph; name another folder", str(self.path))
