"""Processes that work for the server: each has a pipe to it and ends with it, however the server ends.

Its temporary files lie in a folder of its own, which is gone when it has ended, whichever of the two ends first. Ctrl-C
is for the server alone, from the first moment on.

What comes out of a child is bytes, never objects: a child reads what strangers wrote, and unpickling is running.
"""

import multiprocessing
import os
import shutil
import signal
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from multiprocessing.resource_tracker import ensure_running
from typing import Any

from ncirl.limits import address_space

__all__ = ["ChildProcess", "limit_memory", "lower_priority"]

NICE = 10
UNFINISHED = 20.0  # seconds that the rest of a message may take once it has begun; who takes longer hangs
TRIES = 100  # to remove a folder in which the child may still write


class ChildProcess:
    """A process and the pipe to it; `body` runs there, given its end of the pipe and then `args`."""

    def __init__(self, body: Callable[..., None], *args: Any) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self._folder = tempfile.mkdtemp(prefix="ncirl-")
        self._clear = weakref.finalize(self, _remove, self._folder)  # also where this process ends without `end`
        self.process = context.Process(target=_run, args=(body, self._folder, theirs, *args), daemon=True)
        try:
            with _no_interrupts():
                self.process.start()
        except OSError:  # there is no room for another
            self._clear()
            raise
        theirs.close()

    def receive(self, seconds: float, most: int) -> bytes | None:
        """Return its next message, None if there is none within so many seconds.

        One that has hung up is an `EOFError` or `OSError`, and so is a message of more than `most` bytes. A process
        that stops in the middle of a message is ended, or whoever reads it would wait for ever.
        """
        if not self.pipe.poll(seconds):
            return None
        late = threading.Timer(UNFINISHED, self.process.kill)
        late.daemon = True
        late.start()
        try:
            return self.pipe.recv_bytes(most)
        finally:
            late.cancel()

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
        self.pipe.close()
        self._clear()


@contextmanager
def _no_interrupts() -> Iterator[None]:
    """Let whoever is started here never hear Ctrl-C, which may come before it can say so; any thread may ask."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    ensure_running()  # which lets interrupts through when it starts its own process
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _run(body: Callable[..., None], folder: str, pipe: Connection, *args: Any) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which then ends its children
    threading.Thread(target=_end_with_parent, args=(folder,), daemon=True).start()
    tempfile.tempdir = folder
    try:
        body(pipe, *args)
    finally:
        _remove(folder)


def _end_with_parent(folder: str) -> None:
    """Wait for the server to end, by a pipe that the system closes even if it is killed, and end at once."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        _remove(folder)
        os._exit(1)


def _remove(folder: str) -> None:
    for _ in range(TRIES):
        if os.path.exists(folder):
            shutil.rmtree(folder, ignore_errors=True)


def lower_priority() -> None:
    """Let the server and whoever plays go first."""
    if hasattr(os, "nice"):
        os.nice(NICE)


def limit_memory(limit: int, *, further: bool = False) -> None:
    """Let this process have no more than so many bytes of address space, where the system can do that.

    The limit is in all, or `further` to what the process has already. One that is there already is never raised.
    """
    try:
        import resource
    except ImportError:
        return
    used = address_space()
    if used or not further:
        known = [each for each in resource.getrlimit(resource.RLIMIT_AS) if each != resource.RLIM_INFINITY]
        most = min([limit + used * further, *known])
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
