"""Plain data, and what no file of this package may hold whatever its format.

Plain data is made of maps with text keys, lists, text, booleans, None and finite numbers, not nested too deeply.
Places are written as people read them: ``states.alive.moves[2].next[0].state``.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from ncirl.errors import InputError

__all__ = ["DEEPEST", "as_map", "faults_of", "format_of", "place"]

DEEPEST = 100  # maps and lists inside each other


class _Repeating(dict[Any, Any]):
    """A map some of whose keys were written more than once."""

    def __init__(self, pairs: list[tuple[Any, Any]]) -> None:
        super().__init__(pairs)
        self.repeated = [key for key, times in Counter(key for key, _ in pairs).items() if times > 1]


def as_map(pairs: list[tuple[Any, Any]]) -> dict[Any, Any]:
    """Make a map that remembers which of its keys were written twice, for `faults_of` to tell."""
    found = dict(pairs)
    return found if len(found) == len(pairs) else _Repeating(pairs)


def place(steps: Sequence[str | int]) -> str:
    """Write the way to a datum for people.

    Examples
    --------
    >>> place(["states", "alive", "moves", 2])
    'states.alive.moves[2]'
    """
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps).removeprefix(".")


def faults_of(data: Any) -> Iterator[str]:
    """Tell, in the order of the file, what keeps `data` from being plain."""
    rest: list[tuple[tuple[str | int, ...], Any]] = [((), data)]
    while rest:
        steps, datum = rest.pop()
        at = f"{place(steps)}: " if steps else ""
        if isinstance(datum, float) and not math.isfinite(datum):
            yield f"{at}must be a finite number, got {datum}"
        elif isinstance(datum, str) and not _is_unicode(datum):
            yield f"{at}half a surrogate pair is no text, got {datum!a:.60}"
        elif isinstance(datum, dict | list) and len(steps) >= DEEPEST:
            yield f"is nested more than {DEEPEST} levels deep"
            return
        elif isinstance(datum, dict):
            if isinstance(datum, _Repeating):
                yield from (f"{at}key '{key}' appears twice" for key in datum.repeated)
            yield from (f"{at}key {key!a:.60} must be text; quote it" for key in datum if not _is_unicode(key))
            rest += [((*steps, str(key)), inner) for key, inner in reversed(datum.items())]
        elif isinstance(datum, list):
            rest += [((*steps, i), datum[i]) for i in reversed(range(len(datum)))]


def _is_unicode(datum: object) -> bool:
    try:
        return isinstance(datum, str) and datum.encode() is not None
    except UnicodeEncodeError:
        return False


def format_of(data: Any, known: Collection[str], where: str) -> str:
    """Return the format that a file's data declares, one of `known`.

    Raises
    ------
    InputError
        When there is none or it is not known; the message lists those that are.
    """
    remedy = "write " + " or ".join(f"'{name}'" for name in sorted(known))
    if not isinstance(data, dict):
        raise InputError(f"must be a map with a key 'format', got {type(data).__name__}; {remedy}", where)
    if "format" not in data:
        raise InputError(f"format: is missing; {remedy}", where)
    declared = data["format"]
    if not isinstance(declared, str) or declared not in known:
        raise InputError(f"format: {declared!r:.60} is not known; {remedy}", where)
    return declared
