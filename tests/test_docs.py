"""Documentation that runs: every page as a person follows it, the notebook, and every doctest of the package."""

from __future__ import annotations

import doctest
import importlib
import os
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

import ncirl
from page_run import blocks_of, follow
from test_api import PACKAGES

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
LONG = [page for page in PAGES if any(block.slow for block in blocks_of(page))]
NOTEBOOKS = sorted(DOCS.rglob("*.ipynb"))
MODULES = ["ncirl", *(module.name for module in pkgutil.walk_packages(ncirl.__path__, "ncirl."))]
LOADED = re.compile(r'(?:src|<link[^>]+href)="?(https?://[^">]+)')
NOT_RUN = re.compile(r"^```(?:sh|bash|shell|text)?\n(?:(?!```).*\n)*?\s*\$? ?ncirl ", re.MULTILINE)


def named(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_a_page_does_what_it_says(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)  # modules of one's own are found where one is
    follow(blocks_of(page), slow=False)


@pytest.mark.slow
@pytest.mark.parametrize("page", LONG, ids=named)
def test_a_page_does_what_takes_long(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    follow(blocks_of(page), slow=True)


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_commands_are_shown_where_they_are_run(page: Path) -> None:
    assert not NOT_RUN.search(page.read_text()), "write commands in a console block, after $"


def test_the_readme_has_an_example_that_says_what_it_prints() -> None:
    assert any(block.promised for block in blocks_of(PAGES[0]))


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=named)
def test_a_notebook_runs(notebook: Path, tmp_path: Path) -> None:
    NotebookClient(nbformat.read(notebook, as_version=4), resources={"metadata": {"path": str(tmp_path)}}).execute()


def test_the_site_builds_without_warnings_and_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)]
    env = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    pages = [page.read_text() for page in tmp_path.rglob("*.html")]
    assert not [link for page in pages for link in LOADED.findall(page)]
    assert not [page for page in pages if 'class="arithmatex"' in page], "a formula that is not typeset"
    assert "<math" in (tmp_path / "theory.html").read_text()
    assert "Blackwell" in (tmp_path / "search" / "search_index.js").read_text()  # pages from disk can be searched
    documented = {name for page in pages for name in re.findall(r'id="(ncirl[\w.]*)"', page)}
    for package in PACKAGES:
        module = importlib.import_module(package)
        for name in filter(lambda name: callable(getattr(module, name)), module.__all__):
            home = getattr(module, name).__module__  # a function that has a module's name is told there
            assert documented & {f"{package}.{name}", f"{home}.{name}"}, f"{package}.{name} is not in the reference"


@pytest.mark.parametrize("name", [name for name in MODULES if not name.endswith("__main__")])
def test_doctests(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0
