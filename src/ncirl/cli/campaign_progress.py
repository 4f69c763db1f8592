"""How far a campaign is, on stderr: a live bar with the time left on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from ncirl.experiments.campaign import Announce, silent
from ncirl.experiments.campaign import CampaignProgress as Step

__all__ = ["announced"]

BETWEEN = 1.0  # seconds between plain lines
WINDOW = 3600.0  # seconds of the past that tell how fast runs go: they differ much


@contextmanager
def announced(quiet: bool) -> Iterator[Announce]:
    """Give what shows progress while the block runs."""
    console = Console(stderr=True)
    if quiet:
        yield silent
    elif console.is_terminal:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        left = (TimeRemainingColumn(), TextColumn("{task.fields[note]}"))
        with Progress(*columns, TextColumn("left"), *left, console=console, speed_estimate_period=WINDOW) as bars:
            yield lambda name: _bar(bars, name)
    else:
        yield _PlainLines


def _bar(bars: Progress, name: str) -> Callable[[Step], None]:
    bar = bars.add_task(name, total=None, note="")

    def show(step: Step) -> None:
        bars.update(bar, total=step.total - step.kept, completed=step.done, note=_note(step))

    return show


class _PlainLines:
    def __init__(self, name: str) -> None:
        self._name = name
        self._began = time.monotonic()
        self._next = 0.0

    def __call__(self, step: Step) -> None:
        now, left = time.monotonic(), step.total - step.kept - step.done
        if now < self._next and left:
            return
        self._next = now + BETWEEN
        guess = f"  about {_span((now - self._began) / step.done * left)} left" if step.done and left else ""
        print(f"{self._name}: {step.kept + step.done} of {step.total}{guess}  {_note(step)}".rstrip(), file=sys.stderr)


def _note(step: Step) -> str:
    kept = [f"{step.kept} kept from before"] if step.kept else []
    failed = [f"{step.failed} failed"] if step.failed else []
    return ", ".join(kept + failed)


def _span(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
