"""Where a stranger's file is opened first: a process of its own, with bounded time and memory.

A file may be small and yet take for ever to make sense of. What the gate has opened in time can then be opened by the
server; what it has not is refused, and the process with it. It is started with the first file and serves all that
follow, one after the other.
"""

from __future__ import annotations

import multiprocessing
import signal
import threading
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess

from ncirl.errors import NcirlError
from ncirl.web.contests import contest_of
from ncirl.web.limits import Limits, bound_memory
from ncirl.web.opening import open_file, shown
from ncirl.web.refusals import Refused, in_a_sentence
from ncirl.web.view import contest_view

__all__ = ["Gate"]

START = 60.0  # seconds the process may take to be there


class Gate:
    """Opens files in a process of its own; safe to use from several threads."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._lock = threading.Lock()
        self._process: SpawnProcess | None = None
        self._line: Connection | None = None

    def check(self, name: str, raw: bytes) -> None:
        """Open a file and forget it.

        Raises
        ------
        Refused
            When it is malformed, or takes too much time or memory.
        """
        with self._lock:
            fault = self._answer(self._there() or self._begun(), name, raw)
        if fault is not None:
            raise Refused(422, fault)

    def close(self) -> None:
        """End the process."""
        with self._lock:
            self._end()

    def _there(self) -> Connection | None:
        return self._line if self._process is not None and self._process.is_alive() else None

    def _answer(self, line: Connection, name: str, raw: bytes) -> str | None:
        try:
            line.send((name, raw))
            if line.poll(self._limits.opening):
                fault: str | None = line.recv()
                return fault
            said = f"takes more than {self._limits.opening:g} s to open"
        except (EOFError, OSError):
            said = "cannot be opened: the process that tried was ended; it may take too much memory"
        self._end()
        return f"{shown(name)}: {said}"

    def _begun(self) -> Connection:
        self._end()
        context = multiprocessing.get_context("spawn")
        line, theirs = context.Pipe()
        self._process = context.Process(target=_opening, args=(theirs, self._limits), daemon=True)
        self._process.start()
        theirs.close()
        self._line = line
        with suppress(EOFError):
            if line.poll(START):
                line.recv()
                return line
        self._end()
        raise Refused(429, "no file can be opened at the moment; try again in a minute")

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()
        if self._line is not None:
            self._line.close()
        self._process = self._line = None


def _opening(line: Connection, limits: Limits) -> None:
    """Open one file after the other; the body of the process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which then ends the gate
    bound_memory(limits.memory)
    line.send("ready")
    with suppress(EOFError, BrokenPipeError):  # the server is gone
        while True:
            name, raw = line.recv()
            fault = None
            try:
                contest_view(contest_of(open_file(name, raw, limits)))
            except NcirlError as error:
                fault = in_a_sentence(error)
            except MemoryError:
                fault = f"{shown(name)}: takes too much memory to open"
            line.send(fault)
