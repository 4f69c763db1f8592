"""``ncirl defend`` as a person meets it: line by line, and at a terminal."""

from __future__ import annotations

import io
import os
import pty
import select
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from defence.policies import alarmed, match, office
from ncirl.cli import main
from ncirl.cli.defend import Dialogue
from ncirl.cli.defend_screen import show_options
from ncirl.defence import DefenceSession, Question
from ncirl.defence.choices import plain_choice
from ncirl.formats.graph_source import extra_of
from ncirl.games.office import office_graph

DONE, BAD_INPUT = 0, 2
PATIENCE = 60

Typed = Callable[..., str]


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("policy") / "office.ncirl"
    office().save(path, extra_of(office_graph()))
    return path


@pytest.fixture
def typed(policy: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Typed:
    """Give a function that types lines into the dialogue and returns what is shown."""

    def run(*lines: str, options: tuple[str, ...] = ("--seed", "4")) -> str:
        monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
        assert main(["defend", str(policy), *options]) == DONE
        return " ".join(capsys.readouterr().out.split())

    return run


def test_a_whole_intrusion(typed: Typed) -> None:
    shown = typed(
        *("none", "1 2", "web-server, mail"),
        *("none", "mail an attachment + reuse", "1 2"),
        *("none", "inject, steal", "2 1"),
        *("none", "reach backups", "backups"),
        "history",
        "quit",
    )
    assert "Block now: " in shown
    assert "Enabled so far: web-server, mail. web-server: the web server runs the intruder's code" in shown
    assert "Stage 4: you blocked nothing; the attacker attempted reach backups; newly enabled: backups." in shown
    assert "Play has ended" in shown
    assert shown.endswith("Bye. This session was not saved.")


def test_an_empty_answer_means_what_was_drawn(typed: Typed) -> None:
    drawn = DefenceSession(office(), rng=4).drawn
    assert f"you blocked {drawn}; the attacker attempted nothing" in typed("", "none")


def test_a_wrong_entry_is_explained_and_nothing_is_lost(typed: Typed) -> None:
    shown = typed("exploit", "phihs a password", "phish", "gold", "mail")
    assert "attempted: there is no 'phihs a password' here; did you mean 'phish a password'?" in shown
    assert "newly enabled: there is no 'gold' here; possible are mail" in shown
    assert "you blocked exploit web app; the attacker attempted phish a password; newly enabled: mail." in shown


def test_undo_takes_back_this_stage_then_the_last(typed: Typed) -> None:
    shown = typed("none", "undo", "none", "none", "undo", "undo", "quit")
    assert "Forgotten what was told of this stage." in shown
    assert shown.count("stage 1 ---") == 2
    assert "there is nothing to undo" in shown


def test_saved_and_resumed(typed: Typed, tmp_path: Path) -> None:
    path = tmp_path / "my day.json"
    shown = typed("none", "phish", "mail", f"save '{path}'", "save", "undo", f"load '{path}'")
    assert "Saved." in shown
    assert "save: one file name is needed" in shown
    assert shown.count("Enabled so far: mail.") == 2
    assert shown.endswith("Bye.")
    assert "stage 2 ---" in typed("quit", options=("--resume", str(path)))


def test_why_and_help(typed: Typed) -> None:
    shown = typed("help", "why", "none", "phish", "mail", "why", ":dance")
    assert shown.count("what each could get if it knew today's choice") >= 1
    assert "how likely the certified attacker of each intent makes what was seen" in shown
    assert "save FILE" in shown
    assert "there is no command 'dance'" in shown


def test_where_outcomes_are_seen_only_they_are_asked(capsys: pytest.CaptureFixture[str]) -> None:
    dialogue = Dialogue(DefenceSession(alarmed()))
    for line in ("none", '"mail, inbox"', "phish"):
        assert dialogue.take(line)
    shown = capsys.readouterr().out
    assert "Stage 1: you blocked nothing; newly enabled: mail, inbox; alert: phish." in " ".join(shown.split())


def test_a_game_that_is_no_graph(capsys: pytest.CaptureFixture[str]) -> None:
    dialogue = Dialogue(DefenceSession(match()))
    for line in ("Right", "Top", "anything"):
        assert dialogue.take(line)
    shown = " ".join(capsys.readouterr().out.split())
    assert "Stage 1: you did Right; the attacker did Top; then lost." in shown
    assert "Play has ended; undo" in shown


def test_a_long_list_is_not_printed(capsys: pytest.CaptureFixture[str]) -> None:
    names = [f"door {k}" for k in range(100)]
    show_options(Question("defender", "What did you do?", plain_choice("defender", names)))
    shown = " ".join(capsys.readouterr().out.split())
    assert shown == "100 names are possible, such as door 0, door 1, door 2 and 97 more; Tab completes them."


def test_completion_offers_names_then_commands() -> None:
    dialogue = Dialogue(DefenceSession(office()))
    assert dialogue.words("ph") == ["phish a password"]
    assert dialogue.words("s") == ["show", "save"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--seed", "-1"], "--seed: must not be negative"),
        (["--start", "moon"], "'moon' is no start state"),
        (["--resume", "/nowhere/s.json"], "/nowhere/s.json: cannot be read"),
    ],
)
def test_bad_words_give_one_message(
    options: list[str], said: str, policy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["defend", str(policy), *options]) == BAD_INPUT
    printed = capsys.readouterr()
    assert printed.out == ""
    assert said in printed.err


class Terminal:
    """A process at a terminal of its own."""

    def __init__(self, *words: str) -> None:
        self.ahead = b""  # what has been read beyond what was waited for
        self.pid, self.screen = pty.fork()
        if self.pid == 0:
            os.environ["TERM"] = "xterm"
            os.execv(sys.executable, [sys.executable, "-m", "ncirl", *words])

    def until(self, text: str) -> str:
        """Read until `text` is shown."""
        shown, wanted, end = self.ahead, text.encode(), time.monotonic() + PATIENCE
        while wanted not in shown:
            assert select.select([self.screen], [], [], max(0.0, end - time.monotonic()))[0], shown
            shown += os.read(self.screen, 65536)
        upto = shown.index(wanted) + len(wanted)
        self.ahead = shown[upto:]
        return shown[:upto].decode()

    def interrupt_until(self, text: str) -> None:
        """Press Ctrl-C, as people do, until it is heeded: one just before the line is read waits for a key."""
        end = time.monotonic() + PATIENCE
        while text.encode() not in self.ahead:
            assert time.monotonic() < end, self.ahead
            self.type("\x03")
            while select.select([self.screen], [], [], 1.0)[0]:
                self.ahead += os.read(self.screen, 65536)
        self.until(text)

    def type(self, keys: str) -> None:
        """Press keys."""
        os.write(self.screen, keys.encode())

    def ended(self) -> int:
        """Wait for the end and return the exit code."""
        code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        os.close(self.screen)
        return code


@pytest.mark.filterwarnings("ignore:This process.*fork:DeprecationWarning")  # other tests may have started threads
def test_at_a_terminal_tab_completes_and_control_d_leaves(policy: Path) -> None:
    terminal = Terminal("defend", str(policy), "--seed", "4")
    terminal.until("What did you block? ")
    terminal.type("exp\t\r")
    terminal.until("What did the attacker attempt? ")
    terminal.interrupt_until("Nothing is lost")
    terminal.type("phi\t, ex\t\r")
    terminal.until("What is newly enabled? ")
    terminal.type("mail\r")
    shown = terminal.until("Enabled so far: mail.")
    assert "you blocked exploit web app; the attacker attempted exploit web app + phish a password" in " ".join(
        shown.split()
    )
    terminal.until("What did you block? ")
    terminal.type("\x04")  # Ctrl-D
    terminal.until("Bye.")
    assert terminal.ended() == DONE
