"""What holds for every command, found from the application itself: a new command is held to it without being named.

Help with an example that runs; bad input ends with 2, one sentence and no traceback; ``--json`` prints one object on
stdout and nothing else; nothing is said on stderr when all is well and progress is not wanted.
"""

from __future__ import annotations

import inspect
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path

import pytest
from cyclopts import App

from defence.policies import office
from ncirl.cli import main
from ncirl.cli.app import app
from ncirl.formats.graph_source import extra_of
from ncirl.games.office import office_graph
from page_run import SHELL

DONE, BAD_INPUT = 0, 2
PATIENCE = 250
EXAMPLE = re.compile(r"`([^`]*\bncirl [^`]*)`")
FILES = Path(__file__).parents[1] / "data" / "examples"  # what examples read that cannot be made here
ENDLESS = {"serve"}  # goes on until it is stopped; tested by itself


def leaves(group: App, chain: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], App]]:
    """Find every command that does something, with the words that lead to it."""
    names = [name for name in group if not name.startswith("-")]
    if chain and not names:
        yield chain, group
    for name in names:
        yield from leaves(group[name], (*chain, name))


COMMANDS = dict(leaves(app))
NAMES = [" ".join(chain) for chain in COMMANDS]
ENDING = [name for name in NAMES if name not in ENDLESS]
LONG = ("demo", "harden", "report", "reproduce", "sensitivity")  # examples run in every test, JSON in the long one


def command_of(name: str) -> App:
    return COMMANDS[tuple(name.split())]


def examples(name: str) -> list[str]:
    """Read the examples in a command's help."""
    told = inspect.getdoc(command_of(name).default_command) or ""
    return EXAMPLE.findall(" ".join(told.partition("Example")[2].split()))


def accepts(name: str, option: str) -> bool:
    return option in inspect.signature(command_of(name).default_command).parameters


@pytest.fixture(scope="module")
def folder_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Give each command a folder with the files that examples are about; what it keeps there it may use again."""
    prepared = tmp_path_factory.mktemp("prepared")
    office().save(prepared / "office.ncirl", extra_of(office_graph()))
    shutil.copy(prepared / "office.ncirl", prepared / "policy.ncirl")
    office_graph().save(prepared / "graph.yaml")
    shutil.copytree(FILES, prepared, dirs_exist_ok=True)
    return cache(lambda name: Path(shutil.copytree(prepared, tmp_path_factory.mktemp("run") / name.replace(" ", "-"))))


def run(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a line as a newcomer would copy it: in a shell if it needs one, else here, which saves starting a process."""
    words = shlex.split(line)
    return run_in_shell(line, folder) if words[0] != "ncirl" or SHELL.search(line) else run_here(words[1:], folder)


def run_here(words: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patched, open(os.devnull) as nothing:
        patched.chdir(folder)
        patched.setattr(sys, "stdin", nothing)
        with redirect_stdout(out), redirect_stderr(err):
            code = main(words)
    return subprocess.CompletedProcess(words, code, out.getvalue(), err.getvalue())


def run_in_shell(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["sh", "-c", line],
        cwd=folder,
        env={**os.environ, "PATH": path},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def test_commands_are_found() -> None:
    assert {"solve", "verify", "defend", "simulate", "show", "generate attack-graph", "demo"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_help_describes_and_shows_an_example(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*name.split(), "--help"]) == DONE
    printed = capsys.readouterr()
    assert f"Usage: ncirl {name}" in printed.out
    assert re.search(r"Example[^:]*: ", printed.out)
    assert printed.err == ""
    found = examples(name)
    assert found
    assert all(f"ncirl {name}" in line for line in found)


@pytest.mark.parametrize("name", ENDING)
def test_every_example_runs(name: str, folder_of: Callable[[str], Path]) -> None:
    for line in examples(name):
        done = run(line, folder_of(name))
        assert done.returncode == DONE, done.stderr
        assert "Traceback" not in done.stderr


def test_an_example_runs_in_a_shell(folder_of: Callable[[str], Path]) -> None:
    done = run_in_shell(f"{examples('example patrol')[0]} --json", folder_of("example patrol"))
    assert done.returncode == DONE, done.stderr
    assert isinstance(json.loads(done.stdout), dict)
    assert done.stderr == ""


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.slow) if n in LONG else n for n in ENDING])
def test_json_is_one_object_and_nothing_else(name: str, folder_of: Callable[[str], Path]) -> None:
    assert accepts(name, "json")
    told = [line for line in examples(name) if "--json" in line]
    line = told[0] if told else f"{examples(name)[0]} --json"
    done = run(f"{line} --quiet" if accepts(name, "quiet") else line, folder_of(name))
    assert done.returncode == DONE, done.stderr
    assert isinstance(json.loads(done.stdout), dict)
    assert done.stderr == ""


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("wrong", ["/nowhere/missing.file", "--frobnicate"])
def test_bad_input_is_one_sentence(name: str, wrong: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*name.split(), wrong]) == BAD_INPUT
    printed = capsys.readouterr()
    assert printed.out == ""
    complaint, *rest = printed.err.splitlines()
    assert complaint.startswith("ncirl: ")
    assert len(complaint) > len("ncirl: ")
    assert rest in ([], [f"See `ncirl {name} --help`."])


@pytest.mark.parametrize("name", NAMES)
def test_a_file_that_is_something_else_is_one_sentence(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "holiday.jpg"
    path.write_bytes(bytes(range(256)) * 8)
    assert main([*name.split(), str(path)]) == BAD_INPUT
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("ncirl: ")
    assert "Traceback" not in printed.err


def test_quiet_and_verbose_exclude_each_other(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["solve", "builtin:big-match", "--gap", "0.1"]
    assert main([*words, "--quiet", "--verbose"]) == BAD_INPUT
    assert "exclude each other" in capsys.readouterr().err
    assert main([*words, "--verbose"]) == DONE
    told = len(capsys.readouterr().err.splitlines())
    assert main(words) == DONE
    assert told > len(capsys.readouterr().err.splitlines())


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
def test_bash_completes_commands_options_and_values(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "bash"]) == DONE
    script = tmp_path / "ncirl.bash"
    script.write_text(capsys.readouterr().out)
    cases = {"def": "defend", "solve --sol": "--solver", "solve --solver nc": "nc-pbvi", "generate att": "attack-graph"}
    for typed, expected in cases.items():
        words = ["ncirl", *typed.split()]
        asked = f"COMP_WORDS=({' '.join(words)}); COMP_CWORD={len(words) - 1}; _ncirl"
        line = f'source {script}; {asked}; echo "${{COMPREPLY[@]}}"'
        done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, timeout=PATIENCE, check=True)
        assert done.stdout.split() == [expected]


@pytest.mark.parametrize("shell", ["zsh", "fish", "powershell"])
def test_other_shells_have_a_script_too(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == DONE
    assert "attack-graph" in capsys.readouterr().out
