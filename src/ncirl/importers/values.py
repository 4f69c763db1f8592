"""Values that other tools write as they please: numbers and booleans as text, absent as null, empty or another type."""

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["chance", "identifiers", "mapping", "mappings", "number", "text", "texts", "truth"]

TRUE, FALSE = frozenset({"true", "yes", "1", "1.0", "t", "y"}), frozenset({"false", "no", "0", "0.0", "f", "n"})
LONGEST = 200  # characters of a text kept for people
IDENTIFIER = re.compile(
    r"\b(?:C(?:VE|AN)-\d{1,4}(?:-\d{1,7})?|GHSA(?:-[0-9a-z]{4}){3}|CWE-\d{1,5}|CAPEC-\d{1,4}"
    r"|TA0\d{3}|T(?:08\d\d|1(?!000)\d{3})(?:\.\d{3})?)\b",  # T1000 is more likely a host
    re.IGNORECASE,
)
MOST_SEARCHED = 100_000  # characters of one value


def number(value: Any) -> float | None:
    """Return a finite number given as one or as text; None for anything else.

    Examples
    --------
    >>> number(" 0.5 "), number(True), number("nan"), number(10**400), number(None), number("1_000")
    (0.5, None, None, None, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if isinstance(value, str) and ("_" in value or not value.strip().isascii()):  # what only Python calls a number
        return None
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return None
    return found if math.isfinite(found) else None


def chance(value: Any) -> float | None:
    """Return a probability given as a number or as text; None where it is no number in [0, 1]."""
    found = number(value)
    return found if found is not None and 0 <= found <= 1 else None


def truth(value: Any) -> bool | None:
    """Return a boolean given as one, as a number or as text; None for anything else.

    Examples
    --------
    >>> truth("True"), truth(0), truth("perhaps")
    (True, False, None)
    """
    word = str(value).strip().lower() if isinstance(value, bool | int | float | str) else ""
    return True if word in TRUE else False if word in FALSE else None


def text(value: Any) -> str:
    r"""Return a scalar as one line of printable text, empty for what is no scalar.

    Examples
    --------
    >>> text(" two\n lines "), text(7), text(None), text([1])
    ('two lines', '7', '', '')
    """
    if not isinstance(value, str | int | float):
        return ""
    try:
        given = str(value)
    except ValueError:  # an integer of thousands of digits
        return ""
    if len(given) <= LONGEST and given.isascii() and given.isprintable():
        return " ".join(given.split())
    clean = given.encode("utf-8", "replace").decode()  # half a surrogate pair cannot be written
    line = " ".join("".join(c if c.isprintable() else " " for c in clean).split())
    return line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"


def texts(value: Any) -> list[str]:
    """Return the members of a list as text, without those that have none."""
    return [found for item in value if (found := text(item))] if isinstance(value, list) else []


def mapping(value: Any) -> Mapping[str, Any]:
    """Return a map as it is, an empty one for anything else."""
    return value if isinstance(value, Mapping) else {}


def mappings(value: Any) -> list[Mapping[str, Any]]:
    """Return the members of a list that are maps."""
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def identifiers(*values: Any) -> tuple[str, ...]:
    """Return the public names that values, or the members of lists and maps, hold: CVE, GHSA, CWE, CAPEC, ATT&CK.

    Examples
    --------
    >>> identifiers("vulExists(db,'cve-2021-44228')", ["T1078.002", 7], {"weakness": "CWE-89"})
    ('CVE-2021-44228', 'T1078.002', 'CWE-89')
    """
    found = (match for said in _said(values) for match in IDENTIFIER.findall(said))
    return tuple(dict.fromkeys(name if name[:4].upper() == "GHSA" else name.upper() for name in found))


def _said(values: Iterable[Any]) -> Iterable[str]:
    for value in values:
        if isinstance(value, str):
            yield value[:MOST_SEARCHED]
        elif isinstance(value, list | tuple):
            yield from (item[:MOST_SEARCHED] for item in value if isinstance(item, str))
        elif isinstance(value, Mapping):
            yield from (item[:MOST_SEARCHED] for item in value.values() if isinstance(item, str))
