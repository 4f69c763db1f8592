"""The runner of documentation pages notices what is wrong with a page."""

from __future__ import annotations

from pathlib import Path

import pytest

from page_run import Block, blocks_of, follow

SHOWN = "$ ncirl show builtin:patrol\n"


@pytest.fixture(autouse=True)
def somewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run(text: str, language: str = "console", *, slow: bool = False) -> None:
    follow([Block(language, "", text, slow)], slow=False)


@pytest.mark.parametrize(
    "shown", ["discount 0.9", "discount   0.91", "public … 4, …", "defender … in all\n…\nsignals …"]
)
def test_what_is_printed_may_be_shown_loosely(shown: str) -> None:
    run(SHOWN + shown)


@pytest.mark.parametrize("shown", ["discount 0.8", "discount", "signals …\ndefender sees …", "weather fine"])
def test_what_is_not_printed_is_noticed(shown: str) -> None:
    with pytest.raises(pytest.fail.Exception, match="does not say"):
        run(SHOWN + shown)


@pytest.mark.parametrize("command", ["ncirl show builtin:nothing", "ncirl show builtin:nothing | cat", "false"])
def test_a_command_that_fails_is_noticed(command: str) -> None:
    with pytest.raises(AssertionError, match="exit code"):
        run(f"$ {command}\n")


def test_python_that_prints_something_else_is_noticed() -> None:
    run("print(1 + 1)  # 2\n", "python")
    with pytest.raises(AssertionError):
        run("print(1 + 1)  # 3\n", "python")


def test_slow_blocks_wait_for_the_long_tests() -> None:
    run("$ false\n", slow=True)


def test_blocks_are_found_with_their_files(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text('```yaml title="a.yaml"\nx: 1\n```\n\n<!-- slow -->\n```console\n$ cat a.yaml\nx: 1\n```\n')
    written, typed = blocks_of(page)
    assert (written.language, written.file, written.slow) == ("yaml", "a.yaml", False)
    assert (typed.language, typed.file, typed.slow) == ("console", "", True)
    follow([written, typed], slow=True)
