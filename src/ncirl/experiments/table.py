"""Tables of runs: always the same rows in the same order, whatever order the runs were done in."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path

from ncirl.experiments.campaign import Found
from ncirl.experiments.paper import RunRow
from ncirl.experiments.pool import Failure
from ncirl.experiments.runtime import TimingRow
from ncirl.experiments.settings import RunSettings
from ncirl.formats.files import write_atomically

__all__ = ["Cell", "reduction", "results", "timings", "write_csv", "write_parquet"]

Cell = int | float | str | bool | None
Row = Mapping[str, Cell]

TIMES = ("solve_seconds", "seconds")


def results(found: Found[RunRow]) -> list[Row]:
    """Return a row a run, without what a clock said: settings, numbers, whether they agree, why there are none."""
    return [_result(settings, found[settings]) for settings in _in_order(found)]


def timings(found: Found[RunRow], nc_pbvi: Found[TimingRow]) -> list[Row]:
    """Return what the clock said, a row a solve: of the runs, then of NC-PBVI on some of the same games."""
    rows: list[Row] = []
    for settings in _in_order(found):
        row = found[settings]
        if not isinstance(row, Failure):
            rows.append(_timing(settings, settings.solver, row.lower, row.upper, row.solve_seconds, row.seconds))
    for settings in _in_order(nc_pbvi):
        timed = nc_pbvi[settings]
        if not isinstance(timed, Failure):
            rows.append(_timing(settings, "nc-pbvi", timed.lower, timed.upper, timed.seconds, timed.seconds))
    return rows


def reduction(row: RunRow, baseline: float) -> float | None:
    """Return 1 − N-CIRL / MA-IRL of what the attacker expects, if the latter is positive."""
    return 1 - row.ncirl.expected / baseline if baseline > 0 else None


def write_csv(path: Path, rows: Sequence[Row]) -> None:
    """Write a table, whole or not at all; numbers in full, nothing where there is nothing."""
    text = io.StringIO()
    writer = csv.DictWriter(text, _columns(rows), restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_atomically(path, text.getvalue())


def write_parquet(path: Path, rows: Sequence[Row]) -> bool:
    """Write the same table as parquet if the extra ``tables`` is installed; say whether it was."""
    if find_spec("pyarrow") is None:
        return False
    import pyarrow
    from pyarrow import parquet

    columns = {name: [row.get(name) for row in rows] for name in _columns(rows)}
    sink = io.BytesIO()
    parquet.write_table(pyarrow.table(columns), sink)
    write_atomically(path, sink.getvalue())
    return True


def _in_order(settings: Found[RunRow] | Found[TimingRow]) -> list[RunSettings]:
    return sorted(settings, key=lambda given: [(value is not None, value) for value in asdict(given).values()])


def _columns(rows: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row))


def _given(settings: RunSettings) -> dict[str, Cell]:
    """Return the settings of a run, with what they leave to defaults."""
    return asdict(settings) | {"discount": settings.game_discount, "horizon": settings.stages}


def _result(settings: RunSettings, found: RunRow | Failure) -> Row:
    head = _given(settings)
    if isinstance(found, Failure):
        return head | {"failed": found.reason}
    numbers = {name: value for name, value in found.flat().items() if name not in TIMES}
    return head | {
        "failed": None,
        **numbers,
        "width": found.upper - found.lower,
        "reduction": reduction(found, found.ma_irl.expected),
        "reduction_best": reduction(found, found.ma_irl_best.expected),
        "agrees": found.agrees,
    }


def _timing(
    settings: RunSettings, solver: str, lower: float, upper: float, solve_seconds: float, seconds: float
) -> Row:
    return _given(settings) | {
        "solver": solver,
        "lower": lower,
        "upper": upper,
        "solve_seconds": solve_seconds,
        "seconds": seconds,
    }
