"""How far a solver is, on stderr: one live line on a terminal, now and then a plain line elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console

from ncirl.solution import Progress, ProgressCallback

__all__ = ["reported"]

BETWEEN = 1.0  # seconds of the solver's clock between plain lines


@contextmanager
def reported() -> Iterator[ProgressCallback]:
    """Give a callback for `solve` that shows progress while the block runs."""
    console = Console(stderr=True)
    if console.is_terminal:
        with console.status("solving") as status:
            yield lambda progress: status.update(_line(progress))
    else:
        yield _PlainLines()


class _PlainLines:
    def __init__(self) -> None:
        self._next = 0.0

    def __call__(self, progress: Progress) -> None:
        if progress.seconds >= self._next:
            self._next = progress.seconds + BETWEEN
            print(_line(progress), file=sys.stderr, flush=True)


def _line(progress: Progress) -> str:
    bounds = f"lower {progress.lower:.6g}  upper {progress.upper:.6g}  gap {progress.gap:.3g}"
    sizes = f"{progress.points} points  {progress.vectors} vectors  {progress.lp_solves} LPs"
    return f"{progress.seconds:8.1f} s  {bounds}  {sizes}"
