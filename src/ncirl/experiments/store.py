"""Finished runs on disk, found again by what they depend on.

A run is a pure function of its settings and of the code, so its name is a hash of both: of the settings, of the sources
that decide results (`DECIDING`), and of the versions of the libraries under them. Each finished run is one small JSON
file, written whole or not at all; a campaign that was killed goes on with what is there, and after a change of the
code nothing old is mistaken for new.
"""

import ast
import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import TypeAdapter

import ncirl
from ncirl.experiments.settings import RunSettings
from ncirl.formats.files import write_atomically
from ncirl.formats.policy_file import versions_used

__all__ = ["Store", "code_version"]

ASIDE = ("cli", "web", "adapters", "experiments")  # rooms that decide no result ...
DECIDING = ("settings.py", "paper.py", "measure.py")  # ... but for these experiments
DIGITS = 32  # of a file name

R = TypeVar("R")


@cache
def code_version() -> str:
    """Return a hash of the sources and library versions that decide what a run finds."""
    root = Path(ncirl.__file__).parent
    sources = [path for path in root.rglob("*.py") if path.relative_to(root).parts[0] not in ASIDE]
    sources += [root / "experiments" / name for name in DECIDING]
    found = hashlib.sha256(json.dumps(versions_used(), sort_keys=True).encode())
    for path in sorted(sources):
        found.update(path.relative_to(root).as_posix().encode() + b"\0" + _meaning(path.read_text()) + b"\0")
    return found.hexdigest()


def _meaning(source: str) -> bytes:
    """Return what a module does: its syntax tree without comments and docstrings, which decide nothing."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node, clean=False):
            node.body = node.body[1:] or [ast.Pass()]
    return ast.dump(tree).encode()


class Store(Generic[R]):
    """A directory of finished runs of one kind, made when the first is kept.

    The name of what is run, `work`, tells kinds of runs apart; what it returns, a `row`, is a dataclass of plain data.
    """

    def __init__(self, directory: Path, work: Callable[[RunSettings], R], row: type[R]) -> None:
        self._directory = directory
        self._name = work.__name__
        self._adapter: TypeAdapter[R] = TypeAdapter(row)

    def get(self, settings: RunSettings) -> R | None:
        """Return what was found, if it was kept; a file that cannot be read is as good as none."""
        try:
            kept = json.loads(self._path(settings).read_bytes())
            return self._adapter.validate_python(kept["row"])
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def put(self, settings: RunSettings, row: R) -> None:
        """Keep what was found."""
        self._directory.mkdir(parents=True, exist_ok=True)
        kept = {**self._named(settings), "row": self._adapter.dump_python(row)}
        write_atomically(self._path(settings), json.dumps(kept, indent=1, allow_nan=False) + "\n")

    def _named(self, settings: RunSettings) -> dict[str, Any]:
        return {"run": self._name, "settings": asdict(settings), "code": code_version()}

    def _path(self, settings: RunSettings) -> Path:
        name = json.dumps(self._named(settings), sort_keys=True)
        return self._directory / f"{hashlib.sha256(name.encode()).hexdigest()[:DIGITS]}.json"
