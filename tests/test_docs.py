"""Documentation that runs: Python blocks of the Markdown files, and every doctest of the package."""

from __future__ import annotations

import ast
import doctest
import importlib
import io
import pkgutil
import re
from contextlib import redirect_stdout
from pathlib import Path

import pytest

import ncirl

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
PRINTED = re.compile(r"^print\(.*\)  # (.*)$", re.MULTILINE)
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
MODULES = ["ncirl", *(module.name for module in pkgutil.walk_packages(ncirl.__path__, "ncirl."))]


def blocks() -> list[object]:
    found = []
    for page in PAGES:
        for i, block in enumerate(BLOCK.findall(page.read_text())):
            found.append(pytest.param(block, id=f"{page.name}-{i}"))
    return found


@pytest.mark.parametrize("block", blocks())
def test_python_block_prints_what_it_says(block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(compile(ast.parse(block), "block", "exec"), {"__name__": "block"})
    if promised := PRINTED.findall(block):
        assert printed.getvalue().splitlines() == promised


def test_the_readme_has_an_example_that_says_what_it_prints() -> None:
    assert any(PRINTED.search(block) for block in BLOCK.findall(PAGES[0].read_text()))


@pytest.mark.parametrize("name", [name for name in MODULES if not name.endswith("__main__")])
def test_doctests(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0
