"""Tables of runs, always the same rows in the same order, whatever order they were done in; CSV, parquet, Markdown."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path

from ncirl.experiments.campaign import Found, R
from ncirl.experiments.paper import RunRow, TimingRow
from ncirl.experiments.pool import Failure
from ncirl.experiments.settings import RunSettings
from ncirl.experiments.summary import reduction
from ncirl.formats.files import write_atomically

__all__ = ["Row", "markdown_table", "results", "timings", "write_csv", "write_parquet"]

Row = dict[str, int | float | str | bool | None]

TIMES = ("solve_seconds", "seconds")


def results(found: Found[RunRow]) -> list[Row]:
    """Return a row a run, without what a clock said: settings, numbers, whether they agree, why there are none."""
    return [_given(settings) | _result(row) for settings, row in _in_order(found)]


def timings(found: Found[RunRow], nc_pbvi: Found[TimingRow]) -> list[Row]:
    """Return what the clock said, a row a solve: of the runs, then of NC-PBVI on some of the same games."""
    return [
        _given(settings)
        | {
            "solver": settings.solver if isinstance(row, RunRow) else "nc-pbvi",
            "lower": row.lower,
            "upper": row.upper,
            "solve_seconds": row.solve_seconds if isinstance(row, RunRow) else row.seconds,
            "seconds": row.seconds,
        }
        for settings, row in (*_in_order(found), *_in_order(nc_pbvi))
        if not isinstance(row, Failure)
    ]


def write_csv(path: Path, rows: Sequence[Mapping[str, object]]) -> None:
    """Write a table, whole or not at all; numbers in full, nothing where there is nothing."""
    text = io.StringIO()
    writer = csv.DictWriter(text, _columns(rows), restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_atomically(path, text.getvalue())


def write_parquet(path: Path, rows: Sequence[Mapping[str, object]]) -> bool:
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


def markdown_table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table, without a line break at its end."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def _in_order(found: Found[R]) -> list[tuple[RunSettings, R | Failure]]:
    return sorted(found.items(), key=lambda run: [(value is not None, value) for value in asdict(run[0]).values()])


def _columns(rows: Sequence[Mapping[str, object]]) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row))


def _given(settings: RunSettings) -> Row:
    """Return the settings of a run, with what they leave to defaults."""
    return asdict(settings) | {"discount": settings.game_discount, "horizon": settings.stages}


def _result(found: RunRow | Failure) -> Row:
    if isinstance(found, Failure):
        return {"failed": found.reason}
    return {
        "failed": None,
        **{name: value for name, value in found.flat().items() if name not in TIMES},
        "width": found.upper - found.lower,
        "reduction": reduction(found),
        "reduction_best": reduction(found, "best-response"),
        "agrees": found.agrees,
    }
