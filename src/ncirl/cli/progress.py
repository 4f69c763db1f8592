"""How far a solver is, on stderr: one live line on a terminal, now and then a plain line elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console

from ncirl.errors import InputError
from ncirl.solution import Progress, ProgressCallback

__all__ = ["reported"]

BETWEEN = 1.0  # seconds of the solver's clock between plain lines


@contextmanager
def reported(*, quiet: bool = False, verbose: bool = False) -> Iterator[ProgressCallback]:
    """Give a callback for `solve` that shows progress while the block runs.

    Parameters
    ----------
    quiet : bool
        Show nothing.
    verbose : bool
        Show every report as a plain line, on a terminal too.

    Raises
    ------
    InputError
        When both are asked for.
    """
    if quiet and verbose:
        raise InputError("--quiet and --verbose exclude each other; give one of them")
    console = Console(stderr=True)
    if quiet:
        yield lambda _: None
    elif console.is_terminal and not verbose:
        with console.status("solving") as status:
            yield lambda progress: status.update(_line(progress))
    else:
        yield _PlainLines(0.0 if verbose else BETWEEN)


class _PlainLines:
    def __init__(self, between: float) -> None:
        self._next, self._between = 0.0, between

    def __call__(self, progress: Progress) -> None:
        if progress.seconds >= self._next:
            self._next = progress.seconds + self._between
            print(_line(progress), file=sys.stderr, flush=True)


def _line(progress: Progress) -> str:
    bounds = f"lower {progress.lower:.6g}  upper {progress.upper:.6g}  gap {progress.gap:.3g}"
    sizes = f"{progress.points} points  {progress.vectors} vectors  {progress.lp_solves} LPs"
    return f"{progress.seconds:8.1f} s  {bounds}  {sizes}"
