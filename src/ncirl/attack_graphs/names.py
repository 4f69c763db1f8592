"""Names of sets in the game of an attack graph: of exploits (an action), conditions (a state), alerts (a signal).

A name is text, and different sets never read alike: ``phish + inject SQL``, ``alert: phish``, ``nothing``. The names
that a graph gives carry the ids along as data. A file keeps the text only; there it is read back.
"""

import json
import re
from collections.abc import Iterable, Sequence

from ncirl._typing import BoolArray

__all__ = ["ALERT", "SetName", "listed", "members", "parts", "set_name", "set_names", "signals"]

ALERT = "alert: "
EMPTY = ("nothing", "start", "quiet")  # actions, states and signals of no ids
PART = re.compile(r'"(?:[^"\\]|\\.)*"|[^+,"]+')


class SetName(str):
    """A name that knows the ids it stands for."""

    __slots__ = ("ids",)
    ids: tuple[str, ...]


def set_name(ids: Iterable[str], empty: str, mark: str = "", separator: str = " + ") -> SetName:
    """Name a set; `empty` is the name of the one without ids, `mark` what any other begins with.

    Examples
    --------
    >>> set_name(["e1", "e2"], "quiet", ALERT, ", "), set_name([], "nothing").ids
    ('alert: e1, e2', ())
    """
    held = tuple(ids)
    name = SetName(mark + listed(held, separator) if held else empty)
    name.ids = held
    return name


def set_names(ids: Sequence[str], sets: BoolArray) -> tuple[SetName, ...]:
    """Name sets of exploits, indexed [set, exploit]."""
    return tuple(
        set_name((name for name, chosen in zip(ids, row, strict=True) if chosen), "nothing") for row in sets.tolist()
    )


def signals(ids: Sequence[str], rung: BoolArray) -> list[SetName] | list[None]:
    """Name what is heard, indexed [outcome, alert]; None where nothing could be."""
    if not ids:
        return [None] * len(rung)
    heard = [[name for name, on in zip(ids, row, strict=True) if on] for row in rung.tolist()]
    return [set_name(names, "quiet", ALERT, ", ") for names in heard]


def members(name: str) -> tuple[str, ...]:
    """Return the ids that a name stands for: those it carries or, where it comes from a file, those it says.

    Examples
    --------
    >>> members('e1 + "a + b"'), members("alert: e1, e2"), members("nothing")
    (('e1', 'a + b'), ('e1', 'e2'), ())
    """
    if isinstance(name, SetName):
        return name.ids
    return () if name in EMPTY else parts(name.removeprefix(ALERT))


def listed(ids: Iterable[str], separator: str = " + ") -> str:
    """Join ids so that different lists never read alike: those that would mislead are put in quotes.

    Examples
    --------
    >>> listed(["e1", "a + b", "start"])
    'e1 + "a + b" + "start"'
    """
    return separator.join(name if _is_plain(name) else json.dumps(name, ensure_ascii=False) for name in ids)


def _is_plain(name: str) -> bool:
    taken = name in ("", *EMPTY) or name.startswith(ALERT) or name != name.strip()
    return not (taken or any(mark in name for mark in '+,"'))


def parts(text: str) -> tuple[str, ...]:
    """Take a list apart at ``+`` and ``,``, as `listed` or a person wrote it."""
    found = (part.strip() for part in PART.findall(text))
    return tuple(_unquoted(part) for part in found if part)


def _unquoted(part: str) -> str:
    if not part.startswith('"'):
        return part
    try:
        return str(json.loads(part))
    except ValueError:
        return part
