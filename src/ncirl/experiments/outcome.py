"""What every campaign of runs ends with."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ncirl.errors import NcirlError
from ncirl.experiments.campaign import Found
from ncirl.experiments.paper import RunRow
from ncirl.experiments.pool import Failure
from ncirl.experiments.settings import RunSettings
from ncirl.experiments.summary import Cell

__all__ = ["Outcome", "finished"]


@dataclass(frozen=True)
class Outcome:
    """Runs, averages and files.

    Attributes
    ----------
    found : mapping
        Every run.
    files : tuple of Path
        What was written, the report first.
    cells : tuple of Cell
        Averages over graphs.
    """

    found: Found[RunRow]
    files: tuple[Path, ...]
    cells: tuple[Cell, ...]

    @property
    def failed(self) -> int:
        """How many runs have no result."""
        return sum(isinstance(row, Failure) for row in self.found.values())

    @property
    def apart(self) -> int:
        """In how many runs what is expected does not lie in the interval of what was drawn."""
        return sum(not isinstance(row, Failure) and not row.agrees for row in self.found.values())


def finished(found: Found[RunRow]) -> dict[RunSettings, RunRow]:
    """Return the runs that have a result.

    Raises
    ------
    NcirlError
        When there is none.
    """
    rows = {settings: row for settings, row in found.items() if not isinstance(row, Failure)}
    if not rows:
        reasons = (row.reason for row in found.values() if isinstance(row, Failure))
        raise NcirlError(f"all {len(found)} runs failed, the first by: {next(reasons)}")
    return rows
