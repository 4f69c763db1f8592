"""A sandbox seen from the server: questions go in one after the other, bytes come out or a refusal does.

The process is started with the first question. One that takes too long over an answer is ended, one that has grown ends
itself, one that died is dead: the next question starts another.
"""

from __future__ import annotations

import json
import time
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from ncirl.web.children import Child
from ncirl.web.limits import Limits
from ncirl.web.refusals import Refused
from ncirl.web.sandbox import GOES, PLAY, REFUSED, VIEW, WANTED, answer_all
from ncirl.web.source import Source, shown

__all__ = ["Room"]

START = 60.0  # seconds the process may take to be there
HEAD = 2  # bytes before the JSON


class Room:
    """Opens and plays contests in a process of its own; safe to use from several threads."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._child: Child | None = None
        self._turns = ThreadPoolExecutor(1, thread_name_prefix="room")

    def view(self, source: Source) -> Future[bytes]:
        """Ask for everything that is told of a contest, as JSON.

        Raises
        ------
        Refused
            Later: when it is malformed, or takes too much time or memory.
        """
        return self._turns.submit(self._asked, VIEW, source, {})

    def play(self, source: Source, asked: dict[str, Any]) -> Future[bytes]:
        """Ask for a play of a policy, as JSON; refused like `view`, and where there is no such play."""
        return self._turns.submit(self._asked, PLAY, source, asked)

    @property
    def pid(self) -> int | None:
        """Of the process, if there is one."""
        return None if self._child is None else self._child.pid

    def close(self) -> None:
        """End the process; what waits is not answered."""
        self._turns.shutdown(wait=False, cancel_futures=True)
        if self._child is not None:
            self._child.process.kill()  # whoever waits for it sees that
        self._turns.shutdown()
        self._end()

    def _asked(self, kind: str, source: Source, asked: dict[str, Any]) -> bytes:
        child = self._there()
        late = time.monotonic() + self._limits.opening
        try:
            told = self._answer(child, (kind, source.key, source if kind == VIEW else None, asked), late)
            if told[:1] == WANTED:
                told = self._answer(child, (kind, source.key, source, asked), late)
        except TimeoutError:
            self._end()
            said = f"takes more than {self._limits.opening:g} s to open or to play"
            raise Refused(422, f"{shown(source.name)}: {said}") from None
        except (EOFError, OSError):
            self._end()
            raise Refused(422, f"{shown(source.name)}: the process that opened it was ended; try again") from None
        if told[1:HEAD] == GOES:
            self._end()
        if told[:1] == REFUSED:
            raise Refused(422, json.loads(told[HEAD:]))
        return told[HEAD:]

    def _answer(self, child: Child, question: tuple[Any, ...], late: float) -> bytes:
        child.line.send(question)
        if not child.line.poll(late - time.monotonic()):
            raise TimeoutError
        return child.line.recv_bytes(self._limits.answer + HEAD)

    def _there(self) -> Child:
        if self._child is not None and self._child.is_alive():
            return self._child
        self._end()
        child = self._child = Child(answer_all, self._limits)
        try:
            if child.line.poll(START):
                child.line.recv_bytes()
                return child
        except (EOFError, OSError):
            pass
        self._end()
        raise Refused(429, "no file can be opened at the moment; try again in a minute")

    def _end(self) -> None:
        if self._child is not None:
            self._child.end()
        self._child = None
