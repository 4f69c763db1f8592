"""A table of EPSS scores, as FIRST publishes it: CSV with the columns cve and epss, or the JSON of its interface.

The success of a step that names vulnerabilities becomes the largest score among those that the table has: whoever is
there takes the likeliest of them.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ncirl.errors import InputError
from ncirl.formats.untrusted import read_csv, read_json, read_text
from ncirl.importers.values import chance, mapping, mappings, text

__all__ = ["epss_of", "read_epss"]

CVE, SCORE = "cve", "epss"


def read_epss(path: str | Path, limit: int) -> dict[str, float]:
    """Return the scores by CVE id, in capitals.

    Raises `InputError` when the file has no scores, or one that is no probability.
    """
    is_json = read_text(path, limit).lstrip()[:1] in ("{", "[")
    rows = list(_json_rows(read_json(path, limit)) if is_json else _csv_rows(path, limit))
    found: dict[str, float] = {}
    for place, name, given in rows:
        score = chance(given)
        if score is None:
            raise InputError(f"{place}: the score of {name} must lie in [0, 1], got {given!a:.30}", str(path))
        found[name.upper()] = score
    if not found:
        raise InputError("has no EPSS scores; a table has the columns cve and epss, as FIRST publishes it", str(path))
    return found


def epss_of(references: Iterable[str], table: Mapping[str, float]) -> float | None:
    """Return the largest score of what is referred to; None where the table has none of it.

    Examples
    --------
    >>> epss_of(["CVE-2021-44228", "T1190"], {"CVE-2021-44228": 0.97})
    0.97
    """
    return max((table[name.upper()] for name in references if name.upper() in table), default=None)


def _json_rows(data: Any) -> Iterable[tuple[str, str, Any]]:
    listed = mappings(data if isinstance(data, list) else mapping(data).get("data"))
    for number, row in enumerate(listed):
        if text(row.get(CVE)):
            yield f"entry {number}", text(row[CVE]), row.get(SCORE)
    if not listed and isinstance(data, Mapping):
        yield from ((f"entry {name}", name, value) for name, value in data.items() if name.upper().startswith("CVE-"))


def _csv_rows(path: str | Path, limit: int) -> Iterable[tuple[str, str, Any]]:
    columns: list[str] = []
    for line, row in read_csv(path, limit):
        if row[0].startswith("#"):
            continue
        if not columns:
            columns = [cell.strip().lower() for cell in row]
            if CVE not in columns or SCORE not in columns:
                raise InputError(
                    f"line {line}: must name the columns {CVE} and {SCORE}, as FIRST publishes it", str(path)
                )
        elif len(row) >= len(columns):
            yield f"line {line}", row[columns.index(CVE)].strip(), row[columns.index(SCORE)].strip()
