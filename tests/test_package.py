"""The package as its users get it: built, installed without a network, and run outside the checkout.

The wheel is built from the unpacked sdist, so that the sdist is seen to hold all that a build needs.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "ncirl"
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]

# What the installed package says of itself, and that it finds its data: a game, the schemas, the page.
SELF = """
import json, sys
from importlib.resources import files
import ncirl, ncirl.cli, ncirl.web.app
print(json.dumps({
    "modules": [module.__file__ for name, module in sys.modules.items() if name.split(".")[0] == "ncirl"],
    "version": ncirl.__version__,
    "intents": len(ncirl.games.office().intents),
    "schema": json.loads((files("ncirl.formats") / "schemas" / "game.json").read_text())["title"],
    "page": (files("ncirl.web") / "static" / "index.html").is_file(),
}))
"""


def run(*command: str | Path, cwd: Path) -> str:
    """Run a command that sees neither the checkout nor what the tests were told of it; give what it prints."""
    unaware = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(command, cwd=cwd, env=unaware, capture_output=True, text=True)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout.strip()


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sdist")
    run(sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", folder, cwd=ROOT)
    return folder / f"ncirl-{VERSION}.tar.gz"


@pytest.fixture(scope="module")
def wheel(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    unpacked = folder / f"ncirl-{VERSION}"
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=unpacked)
    return folder / f"ncirl-{VERSION}-py3-none-any.whl"


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the wheel into a fresh environment that borrows its dependencies from this one; give its programs.

    Borrowed is what a path file names: it comes after the environment's own packages, and path files in there, such as
    that of an editable install, are not heeded. It is written last, lest pip should take this one's ncirl for its own.
    """
    home = tmp_path_factory.mktemp("fresh") / "venv"
    venv.create(home, symlinks=True)
    programs = home / "bin"
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", programs / "python")
    run(*pip, "install", "--no-deps", "--no-index", wheel, cwd=home)
    own = run(programs / "python", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=home)
    borrowed = sorted({sysconfig.get_path("purelib"), sysconfig.get_path("platlib")})
    Path(own, "borrowed.pth").write_text("\n".join(borrowed) + "\n")
    return programs


@pytest.mark.parametrize("data", ["py.typed", "formats/schemas/*.json", "games/data/*.yaml", "web/static/**/*.*"])
def test_wheel_holds_the_data(wheel: Path, data: str) -> None:
    wanted = [path for path in PACKAGE.glob(data) if path.is_file()]
    assert wanted
    with zipfile.ZipFile(wheel) as archive:
        held = set(archive.namelist())
        for path in wanted:
            name = path.relative_to(PACKAGE.parent).as_posix()
            assert name in held
            assert archive.read(name) == path.read_bytes()


def test_wheel_holds_the_package_and_its_licence_alone(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        held = archive.namelist()
    assert {name.split("/")[0] for name in held} == {"ncirl", f"ncirl-{VERSION}.dist-info"}
    assert f"ncirl-{VERSION}.dist-info/licenses/LICENSE" in held


def test_sdist_holds_what_testing_and_citing_need(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        held = set(archive.getnames())
    tests = [path.relative_to(ROOT).as_posix() for path in (ROOT / "tests").rglob("*.py")]
    for name in ("CITATION.cff", "CHANGELOG.md", "Makefile", "constraints.txt", *tests):
        assert f"ncirl-{VERSION}/{name}" in held
    assert not any(name.startswith(f"ncirl-{VERSION}/.venv") for name in held)


def test_installed_command_says_its_version(installed: Path, tmp_path: Path) -> None:
    assert run(installed / "ncirl", "--version", cwd=tmp_path) == VERSION


def test_installed_package_is_the_wheels_and_finds_its_data(installed: Path, tmp_path: Path) -> None:
    said = json.loads(run(installed / "python", "-c", SELF, cwd=tmp_path))
    assert all(Path(module).is_relative_to(installed.parent) for module in said.pop("modules"))
    assert said == {"version": VERSION, "intents": 4, "schema": "ncirl-game/1", "page": True}


def test_citation_names_this_version() -> None:
    assert f"version: {VERSION}" in (ROOT / "CITATION.cff").read_text().splitlines()
