"""Ctrl-C while solving: the first one ends the search where its bounds are whole, the next one at once."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from ncirl.solution import Progress, ProgressCallback

__all__ = ["interruptible"]

NOTED = "ncirl: ending with the bounds so far when this trial is done; Ctrl-C again to end it at once"


@contextmanager
def interruptible(progress: ProgressCallback) -> Iterator[ProgressCallback]:
    """Give `progress` back as a callback that raises `KeyboardInterrupt` when Ctrl-C was pressed since.

    A solver that reports between two steps of its search is so never interrupted in the middle of one.
    """
    pressed = False

    def note(number: int, frame: FrameType | None) -> None:
        nonlocal pressed
        if pressed:
            raise KeyboardInterrupt
        pressed = True
        print(NOTED, file=sys.stderr, flush=True)

    def report(reached: Progress) -> None:
        progress(reached)
        if pressed:
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, note)
    try:
        yield report
    finally:
        signal.signal(signal.SIGINT, before)
