"""``ncirl defend``: what to do now, step by step, from a policy file alone."""

import io
import json as json_format
import shlex
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from ncirl.cli import defend_screen as screen
from ncirl.cli.output import Holding, PlainConsole, Seeded, check_seed, finite, printable, say
from ncirl.defence import GuardedSession, Question, Questions, Service, Session, session_class
from ncirl.errors import InputError, NcirlError
from ncirl.formats.guarded_file import open_solution

__all__ = ["defend"]

SECONDS = 10.0  # for solving again


def defend(
    policy: Annotated[Path, Parameter(help="A policy file (.ncirl).")],
    /,
    *,
    seed: Seeded = None,
    start: Annotated[str | None, Parameter(help="Start state, where there are several.")] = None,
    holding: Holding = None,
    resume: Annotated[Path | None, Parameter(help="Go on with a session that was saved.")] = None,
    json: Annotated[
        bool,
        Parameter(
            name="--json", negative="", help="For programs: a JSON request a line in, a JSON response a line out."
        ),
    ] = False,
) -> None:
    """Say what to block now, take what happened next, and show what is promised and how the belief moves.

    Needs no solver. Type `help` for what can be said; Ctrl-D leaves. For programs there is --json, see docs/defend.md.

    Example: `ncirl defend office.ncirl --seed 1`, `echo '{"do": "advise"}' | ncirl defend office.ncirl --json`
    """
    drawn_with = check_seed(seed)
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="backslashreplace")  # what is not text is a wrong entry like any other
    loaded = open_solution(policy)
    kind = session_class(loaded)
    if resume and holding:
        raise InputError("--holding: a session that was saved knows where it began; leave it out")
    if resume and seed is not None:
        raise InputError("--seed: a session that was saved has its own; leave it out")
    session = kind.load(resume, loaded) if resume else kind(loaded, rng=drawn_with, state=start, holding=holding or ())
    if json:
        _serve(session)
    else:
        Dialogue(session).run()


def _serve(session: Session) -> None:
    service = Service(session)
    for line in sys.stdin:
        if line.strip():
            print(json_format.dumps(finite(service.answer_line(line)), allow_nan=False), flush=True)
        if not service.open:
            break


class Dialogue:
    """The session at a terminal, or anywhere else that gives lines."""

    def __init__(self, session: Session) -> None:
        self._questions = Questions(session)
        self._saved = len(session.steps)
        self._noted: tuple[str, ...] = ()
        self._commands: dict[str, Callable[[str], None]] = {
            "help": lambda _: self._help(),
            "why": lambda _: screen.show_reasons(self.session),
            "show": lambda _: self._advise(),
            "history": lambda _: self._history(),
            "undo": lambda _: self._undo(),
            "save": self._save,
            "load": self._load,
        }
        if session.is_graph:
            self._commands["holds"] = self._holds
        if isinstance(session, GuardedSession):
            self._commands["resolve"] = self._resolve

    @property
    def session(self) -> Session:
        """The session that is told."""
        return self._questions.session

    def run(self) -> None:
        """Ask and answer until there is nobody to ask."""
        self._print(f"Defending {self.session.game.name}. Type help for what can be said, Ctrl-D to leave.")
        say(screen.LEGEND)
        screen.show_assumed(self.session)
        self._advise()
        with suppress(EOFError):
            while self.take(self._ask()):
                pass
        unsaved = len(self.session.steps) != self._saved
        self._print("\nBye." + (" This session was not saved." if unsaved else ""))

    def take(self, line: str) -> bool:
        """Take a line; return whether to go on. A line that is not understood is explained and changes nothing."""
        question = self._questions.pending
        word, _, rest = line.strip().partition(" ")
        is_name = question is not None and line.strip() in (*question.choice.items, *question.choice.sets.values())
        command = word.removeprefix(":")
        try:
            if word.startswith(":") or (not is_name and command in (*self._commands, "?", "quit", "exit")):
                if command in ("quit", "exit"):
                    return False
                self._command("help" if command == "?" else command, rest.strip())
            elif question is None:
                self._print("Play has ended; undo, save FILE, history or quit?")
            elif (line.strip() or question.default is not None) and self._questions.answer(line):
                screen.show_step(self.session, len(self.session.steps))
                self._advise()
        except (NcirlError, MemoryError) as error:
            self._print(str(error) or "there is not enough memory")
        return True

    def words(self, begun: str) -> list[str]:
        """Complete a word: names first, then commands."""
        question = self._questions.pending
        items = () if question is None else question.choice.items
        return [word for word in (*items, *self._commands, "quit") if word.casefold().startswith(begun.casefold())]

    def _ask(self) -> str:
        question = self._questions.pending
        if question is not None and question.default is None:
            screen.show_options(question)
        _completed(self.words)
        try:
            return input(_prompt(question))
        except KeyboardInterrupt:
            self._print("\nNothing is lost; quit leaves.")
            return input(_prompt(question))  # a second Ctrl-C ends it

    def _command(self, name: str, rest: str) -> None:
        if name not in self._commands:
            raise InputError(f"there is no command '{name}'; there are {', '.join(self._commands)}, quit")
        self._commands[name](rest)

    def _advise(self) -> None:
        advice = self.session.advice()
        new = [note for note in advice.notes if note not in self._noted]
        screen.show_advice(advice, new, has_controls=self.session.has_controls, scale=self.session.magnitude)
        self._noted = advice.notes

    def _help(self) -> None:
        self._print(
            screen.HELP
            + (screen.HELP_HOLDS if "holds" in self._commands else "")
            + (screen.HELP_RESOLVE if "resolve" in self._commands else "")
        )

    def _holds(self, rest: str) -> None:
        self.session.holds(rest, defender=self._questions.done)
        self._questions.withdraw()
        screen.show_step(self.session, len(self.session.steps))
        self._advise()

    def _resolve(self, rest: str) -> None:
        assert isinstance(self.session, GuardedSession)
        try:
            seconds = float(rest or SECONDS)
        except ValueError:
            raise InputError(f"resolve: a number of seconds is needed, such as resolve {SECONDS:g}") from None
        found = self.session.resolve(seconds)
        if found.solution is None:
            self._print("Nothing found by which no intent would gain: the defence stays as it is.")
        else:
            self._questions.withdraw()
            self._advise()

    def _history(self) -> None:
        if not self.session.steps:
            self._print("Nothing was told yet.")
        screen.show_history(self.session)

    def _undo(self) -> None:
        if self._questions.begun:
            self._questions.withdraw()
            self._print("Forgotten what was told of this stage.")
        else:
            self.session.undo()
            self._advise()

    def _save(self, rest: str) -> None:
        self.session.save(_file("save", rest))
        self._saved = len(self.session.steps)
        self._print("Saved.")

    def _load(self, rest: str) -> None:
        self._questions = Questions(type(self.session).load(_file("load", rest), self.session.solution))
        self._saved = len(self.session.steps)
        self._advise()

    def _print(self, text: str) -> None:
        PlainConsole().print("\n".join(map(printable, text.split("\n"))))


def _prompt(question: Question | None) -> str:
    if question is None:
        return "> "
    default = "" if question.default is None else f" [{question.default}]"
    return printable(f"{question.text}{default} > ")


def _file(command: str, rest: str) -> str:
    try:
        words = shlex.split(rest)
    except ValueError:
        words = [rest]
    if len(words) != 1:
        raise InputError(f"{command}: one file name is needed, such as {command} tuesday.json")
    return words[0]


def _completed(words: Callable[[str], list[str]]) -> None:
    """Let Tab complete the last of the names being typed, where there is a terminal that can."""
    if not sys.stdin.isatty():
        return
    try:
        import readline
    except ImportError:
        return

    def complete(text: str, k: int) -> str | None:
        begun = text.lstrip()
        found = words(begun)
        return text[: len(text) - len(begun)] + found[k] if k < len(found) else None

    readline.set_completer_delims(",+")
    readline.set_completer(complete)
    readline.parse_and_bind("tab: complete")
