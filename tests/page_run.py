"""A documentation page as a person follows it: files are written, commands typed, Python run, from top to bottom.

- ```` ```yaml title="shop.yaml" ````, whatever the language: the block is written to that file.
- ```` ```console ````: lines after ``$`` are typed; what follows, if anything, must be found in what is printed. There
  ``…`` stands for anything, and numbers may be off by `CLOSE`.
- ```` ```python ````: run by itself; what stands after ``print(…)  #`` must be printed.
- ``<!-- slow -->`` before a block: only in the long tests.
"""

from __future__ import annotations

import ast
import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import pytest

from ncirl.cli import main

__all__ = ["SHELL", "Block", "blocks_of", "follow"]

FENCE = re.compile(r"^(<!-- slow -->\n+)?```(\w+)(?: title=\"([^\"]+)\")?[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PRINTED = re.compile(r"^print\(.*\)  # (.*)$", re.MULTILINE)
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")
SHELL = re.compile(r"[|<>;&]")  # what a shell is needed for
CLOSE = 0.05  # of the number shown
ANYTHING = "…"
PARTS = re.compile(rf"({ANYTHING}|\s+|{NUMBER.pattern})")
TYPED = "$ "
PATIENCE = 250


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, the file it is, and whether it takes long."""

    language: str
    file: str
    text: str
    slow: bool

    @property
    def promised(self) -> list[str]:
        """What a Python block says that it prints."""
        return PRINTED.findall(self.text)


def blocks_of(page: Path) -> list[Block]:
    """Read the fenced blocks of a page."""
    return [Block(lang, file, text, bool(slow)) for slow, lang, file, text in FENCE.findall(page.read_text())]


def follow(blocks: list[Block], *, slow: bool) -> None:
    """Do what a page says, in the current directory."""
    for block in blocks:
        if block.slow and not slow:
            continue
        if block.file:
            Path(block.file).write_text(block.text)
        elif block.language == "console":
            for command, shown in _commands(block.text):
                _type(command, shown)
        elif block.language == "python":
            _run(block)


def _run(block: Block) -> None:
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(compile(ast.parse(block.text), "block", "exec"), {"__name__": "block"})
    if block.promised:
        assert printed.getvalue().splitlines() == block.promised, printed.getvalue()


def _commands(text: str) -> Iterator[tuple[str, list[str]]]:
    command, shown = "", list[str]()
    for line in text.splitlines():
        if not line.startswith(TYPED):
            shown.append(line)
            continue
        if command:
            yield command, shown
        command, shown = line.removeprefix(TYPED).partition("  #")[0], []
    if command:
        yield command, shown


def _type(command: str, shown: list[str]) -> None:
    words = shlex.split(command)
    inside = words[0] == "ncirl" and not SHELL.search(command)
    code, printed = _command_inside(words[1:]) if inside else _command_outside(command)
    assert code == 0, f"{command}: exit code {code}\n{printed}"
    rest = iter(printed.splitlines())
    for line in filter(None, map(str.strip, shown)):
        if not any(_says(line, found) for found in rest):
            pytest.fail(f"{command}: does not say, or not in this order: {line}\n{printed}")


def _command_inside(words: list[str]) -> tuple[int, str]:
    printed = io.StringIO()
    with redirect_stdout(printed), redirect_stderr(printed):
        return main(words), printed.getvalue()


def _command_outside(command: str) -> tuple[int, str]:
    folders = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        env=os.environ | {"PATH": folders},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    return done.returncode, done.stdout


def _says(shown: str, found: str) -> bool:
    """Tell whether a printed line is the one shown: the same words, nearly the same numbers."""
    match = re.fullmatch("".join(map(_pattern, PARTS.split(shown))), found.strip())
    wanted = [float(number) for number in NUMBER.findall(shown)]
    return match is not None and [float(got) for got in match.groups()] == pytest.approx(wanted, rel=CLOSE)


def _pattern(part: str) -> str:
    if part == ANYTHING:
        return ".*?"
    if part.isspace():
        return r"\s+"
    return f"({NUMBER.pattern})" if NUMBER.fullmatch(part) else re.escape(part)
