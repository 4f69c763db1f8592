"""How far a solver or a campaign is, on stderr: live on a terminal, now and then a plain line elsewhere; and Ctrl-C."""

import logging
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, TypeVar

from rich.console import Console

from ncirl.cli.output import complain
from ncirl.errors import InputError
from ncirl.solution import Progress, ProgressCallback

if TYPE_CHECKING:
    from ncirl.experiments.campaign import Announce, CampaignProgress

__all__ = ["announced", "interruptible", "reported", "warned"]

T = TypeVar("T")

BETWEEN = 1.0  # seconds between plain lines
WINDOW = 3600.0  # seconds of the past that tell how fast runs go: they differ much
NOTED = "ncirl: ending with the bounds so far, once they are verified; Ctrl-C again to end at once"
NOTHING = "interrupted before there were any bounds"


@contextmanager
def reported(*, quiet: bool = False, verbose: bool = False) -> Iterator[ProgressCallback]:
    """Give a callback for `solve` that shows progress while the block runs; plain lines if verbose."""
    if quiet and verbose:
        raise InputError("--quiet and --verbose exclude each other; give one of them")
    console = Console(stderr=True)
    if quiet:
        yield lambda _: None
    elif console.is_terminal and not verbose:
        with console.status("solving") as status:
            yield lambda progress: status.update(_line(progress, verbose))
    else:
        yield _plain_lines(verbose)


def _plain_lines(verbose: bool) -> ProgressCallback:
    due, between = 0.0, 0.0 if verbose else BETWEEN

    def show(progress: Progress) -> None:
        nonlocal due
        if progress.seconds >= due:
            due = progress.seconds + between
            print(_line(progress, verbose), file=sys.stderr, flush=True)

    return show


def _line(progress: Progress, verbose: bool) -> str:
    """Write the bounds and, for those who ask, what was worked out for them."""
    bounds = f"lower {progress.lower:.6g}  upper {progress.upper:.6g}  gap {progress.gap:.3g}"
    if not verbose:
        return f"{progress.seconds:8.1f} s  {bounds}"
    kept = f"{progress.points} points  {progress.vectors} vectors  " if progress.points or progress.vectors else ""
    return f"{progress.seconds:8.1f} s  {bounds}  {kept}{progress.lp_solves} LPs"


@contextmanager
def interruptible(progress: Callable[[T], None]) -> Iterator[Callable[[T], None]]:
    """Give `progress` back as a callback that raises `KeyboardInterrupt` when Ctrl-C was pressed since.

    A solver that reports between two steps of its search is so never interrupted in the middle of one: the first
    Ctrl-C ends the search where its bounds are whole, the next one at once. Before the first report there is nothing
    to keep, so there the first one is obeyed at once.
    """
    pressed = begun = False

    def note(number: int, frame: FrameType | None) -> None:
        nonlocal pressed
        if pressed:
            raise KeyboardInterrupt
        if not begun:
            raise KeyboardInterrupt(NOTHING)
        pressed = True
        print(NOTED, file=sys.stderr, flush=True)

    def report(reached: T) -> None:
        nonlocal begun
        begun = True
        progress(reached)
        if pressed:
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, note)
    try:
        yield report
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def warned() -> Iterator[None]:
    """Complain of what the library has to warn of while the block runs."""
    handler, logger = logging.Handler(logging.WARNING), logging.getLogger("ncirl")
    handler.emit = lambda record: complain(record.getMessage())  # type: ignore[method-assign]
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


@contextmanager
def announced(quiet: bool) -> "Iterator[Announce]":
    """Give what shows the progress of a campaign while the block runs."""
    from rich import progress as rich

    from ncirl.experiments.campaign import silent

    console = Console(stderr=True)
    if quiet:
        yield silent
    elif console.is_terminal:
        text = rich.TextColumn
        done = (text("{task.description}"), rich.BarColumn(), rich.MofNCompleteColumn(), rich.TimeElapsedColumn())
        left = (text("left"), rich.TimeRemainingColumn(), text("{task.fields[note]}"))
        with rich.Progress(*done, *left, console=console, speed_estimate_period=WINDOW) as bars:

            def bar(name: str) -> "Callable[[CampaignProgress], None]":
                task = bars.add_task(name, total=None, note="")
                return lambda step: bars.update(
                    task, total=step.total - step.kept, completed=step.done, note=_note(step)
                )

            yield bar
    else:
        yield _plain_steps


def _plain_steps(name: str) -> "Callable[[CampaignProgress], None]":
    began, due = time.monotonic(), 0.0

    def show(step: "CampaignProgress") -> None:
        nonlocal due
        now, left = time.monotonic(), step.total - step.kept - step.done
        if now < due and left:
            return
        due = now + BETWEEN
        guess = f"  about {_span((now - began) / step.done * left)} left" if step.done and left else ""
        print(f"{name}: {step.kept + step.done} of {step.total}{guess}  {_note(step)}".rstrip(), file=sys.stderr)

    return show


def _note(step: "CampaignProgress") -> str:
    kept = [f"{step.kept} kept from before"] if step.kept else []
    failed = [f"{step.failed} failed"] if step.failed else []
    return ", ".join(kept + failed)


def _span(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
