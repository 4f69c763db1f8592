"""The layers of the package: a lower one never imports a higher one, not even inside a function or for a type."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import ncirl

ROOT = Path(ncirl.__file__).parent
LAYERS = (
    {"errors", "_typing", "numbers"},
    {"limits", "workers"},
    {"model"},
    {"lp"},
    {"mdp"},
    {"strategies"},
    {"solution"},
    {"notebook"},
    {"playbook"},
    {"solvers"},
    {"evaluation"},
    {"baselines"},
    {"attack_graphs"},
    {"games"},
    {"formats"},
    {"importers", "adapters", "exact"},
    {"defence"},
    {"experiments"},
    {"reports"},
    {"web"},
    {"cli"},
    {"__init__", "__main__"},
)
WAY_UP = "_files"  # the one exception: what people load and save themselves finds its file format there
RANK = {room: rank for rank, rooms in enumerate(LAYERS) for room in rooms}


def imported(source: str) -> Iterator[tuple[int, str]]:
    """Tell the rooms that a module imports from, with the line."""
    for node in ast.walk(ast.parse(source)):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module is not None:
            names = [f"ncirl.{alias.name}" for alias in node.names] if node.module == "ncirl" else [node.module]
        for name in names:
            parts = name.split(".")
            if parts[0] == "ncirl" and len(parts) > 1 and parts[1] in RANK | {WAY_UP: 0}:
                yield node.lineno, parts[1]


def upward(room: str, source: str) -> list[str]:
    """Name the imports of a module that lead up, or to another room of the same layer."""
    if room == WAY_UP:
        return []
    return [
        f"line {line}: '{room}' imports '{other}'"
        for line, other in imported(source)
        if other not in (room, WAY_UP) and RANK[other] >= RANK[room]
    ]


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.py")), ids=lambda path: str(path.relative_to(ROOT)))
def test_no_module_imports_from_above(path: Path) -> None:
    room = path.relative_to(ROOT).parts[0].removesuffix(".py")
    assert room in RANK or room == WAY_UP, f"{room} has no layer"
    assert upward(room, path.read_text()) == []


@pytest.mark.parametrize(
    "source",
    [
        "import ncirl.cli",
        "from ncirl.formats import load_game",
        "from ncirl import web",
        "def f():\n    from ncirl.solvers.shapley import Shapley",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from ncirl.playbook.verify import Certificate",
    ],
)
def test_an_import_from_above_is_named(source: str) -> None:
    (said,) = upward("model", source)
    assert "'model' imports" in said


def test_rooms_of_one_layer_do_not_know_each_other() -> None:
    assert upward("adapters", "from ncirl.importers import report") == ["line 1: 'adapters' imports 'importers'"]
    assert upward("adapters", "from ncirl.formats import load_game\nfrom ncirl.adapters import efg") == []


def test_nobody_leads_up_but_the_one() -> None:
    text = (ROOT / f"{WAY_UP}.py").read_text()
    assert {room for _, room in imported(text)} == {"attack_graphs", "formats", "playbook", "solvers"}
