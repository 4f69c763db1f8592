"""Processes that work for the server: each has a pipe to it and ends with it, however the server ends.

What comes out of a child is bytes, never objects: a child reads what strangers wrote, and unpickling is running.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

__all__ = ["Child", "bound_memory", "resident", "stand_back"]

NICE = 10
STATM = "/proc/self/statm"  # pages: of the address space, and of those in memory


class Child:
    """A process and the pipe to it.

    Parameters
    ----------
    body : callable
        What runs there; it is given its end of the pipe first.
    *args
        What else it is given.
    """

    def __init__(self, body: Callable[..., None], *args: Any) -> None:
        context = multiprocessing.get_context("spawn")
        self.line, theirs = context.Pipe()
        self.process = context.Process(target=_begun, args=(body, theirs, *args), daemon=True)
        self.process.start()
        theirs.close()

    @property
    def pid(self) -> int | None:
        """Of the process."""
        return self.process.pid

    def is_alive(self) -> bool:
        """Tell whether it runs."""
        return self.process.is_alive()

    def fate(self, wait: float) -> str:
        """Say how it ended, once it has hung up."""
        self.process.join(wait)
        code = self.process.exitcode
        if code is not None and code < 0:
            return f"the worker was ended by signal {signal.Signals(-code).name}"
        return f"the worker ended unexpectedly with exit code {code}"

    def end(self) -> None:
        """End it at once."""
        self.process.kill()
        self.process.join()
        self.line.close()


def _begun(body: Callable[..., None], line: Connection, *args: Any) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which then ends its children
    threading.Thread(target=_end_with_parent, daemon=True).start()
    body(line, *args)


def _end_with_parent() -> None:
    """Wait for the server to end, by a pipe that the system closes even if it is killed, and end at once."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def stand_back() -> None:
    """Let the server and whoever plays go first."""
    if hasattr(os, "nice"):
        os.nice(NICE)


def bound_memory(limit: int, *, further: bool = False) -> None:
    """Let this process have no more than so many bytes of address space, where the system can do that.

    Parameters
    ----------
    limit : int
        In all.
    further : bool
        Whether what the process has already does not count.
    """
    try:
        import resource
    except ImportError:
        return
    used = _pages(0)
    if used or not further:
        most = limit + used * further
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def resident() -> int:
    """Return how many bytes of memory this process uses, 0 where the system does not tell."""
    return _pages(1)


def _pages(field: int) -> int:
    try:
        with open(STATM, "rb") as file:
            return int(file.read().split()[field]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0
