"""Names of sets in the game of an attack graph: of exploits or controls (an action), conditions (a state), alerts.

A name is text, and different sets never read alike: ``phish + inject SQL``, ``alert: phish``, ``nothing``. A state in
which lasting controls are in place names them, too: ``mail | in place: patch web app``. The names that a graph gives
carry the ids along as data. A file keeps the text only; there it is read back.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Protocol

from ncirl._typing import BoolArray

__all__ = [
    "ALERT",
    "SetName",
    "display_name",
    "display_names",
    "few",
    "few_ids",
    "in_place",
    "listed",
    "members",
    "one_label",
    "parts",
    "set_name",
    "set_names",
    "signals",
]

ALERT = "alert: "
IN_PLACE = " | in place: "
EMPTY = ("nothing", "start", "quiet")  # actions, states and signals of no ids
BRACKETS = re.compile(r"(.*?) \(([^()]*)\)(.*)", re.DOTALL)
MOST_LABELS = 3  # of things that are one, in the label of that one
PART = re.compile(r'"(?:[^"\\]|\\.)*"|[^+,"]+')
HELD = re.compile(r'((?:"(?:[^"\\]|\\.)*"|[^"])*?)' + re.escape(IN_PLACE), re.DOTALL)  # up to the mark, unless quoted


class Named(Protocol):
    """What has an id, and perhaps a label: a condition, an exploit, a control."""

    @property
    def id(self) -> str: ...
    @property
    def label(self) -> str: ...


def display_name(thing: Named) -> str:
    """Return what people call a condition, an exploit or a control: its label, or its id where it has none.

    Examples
    --------
    >>> from ncirl.attack_graphs.graph import Condition
    >>> display_name(Condition("c1", label="root on db")), display_name(Condition("c1"))
    ('root on db', 'c1')
    """
    return thing.label or thing.id


def display_names(things: Iterable[Named]) -> dict[str, str]:
    """Return what people call each of some things, by id; where several have one label, with the id.

    Examples
    --------
    >>> from ncirl.attack_graphs.graph import Condition
    >>> display_names([Condition("a", label="root"), Condition("b", label="root"), Condition("c")])
    {'a': 'root (a)', 'b': 'root (b)', 'c': 'c'}
    """
    called = {thing.id: display_name(thing) for thing in things}
    met = Counter(called.values())
    return {name: label if met[label] == 1 else f"{label} ({name})" for name, label in called.items()}


class SetName(str):
    """A name that knows the ids it stands for and, of a state, the lasting controls in place."""

    __slots__ = ("ids", "placed")
    ids: tuple[str, ...]
    placed: tuple[str, ...]


def set_name(
    ids: Iterable[str], empty: str, mark: str = "", separator: str = " + ", placed: Iterable[str] = ()
) -> SetName:
    """Name a set; `empty` is the name of the one without ids, `mark` what any other begins with.

    `placed` are the lasting controls in place, where a state is named.

    Examples
    --------
    >>> set_name(["e1", "e2"], "quiet", ALERT, ", "), set_name([], "nothing").ids
    ('alert: e1, e2', ())
    >>> set_name(["mail"], "start", placed=["mfa"])
    'mail | in place: mfa'
    """
    held, lasting = tuple(ids), tuple(placed)
    name = SetName(
        (mark + listed(held, separator) if held else empty) + (IN_PLACE + listed(lasting) if lasting else "")
    )
    name.ids, name.placed = held, lasting
    return name


def set_names(ids: Sequence[str], sets: BoolArray) -> tuple[SetName, ...]:
    """Name sets of exploits or controls, indexed [set, exploit]."""
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

    Of a state these are the conditions; `in_place` tells the controls.

    Examples
    --------
    >>> members('e1 + "a + b"'), members("alert: e1, e2"), members("nothing")
    (('e1', 'a + b'), ('e1', 'e2'), ())
    """
    if isinstance(name, SetName):
        return name.ids
    held = found[1] if (found := HELD.match(name)) else name
    return () if held in EMPTY else parts(held.removeprefix(ALERT))


def in_place(state: str) -> tuple[str, ...]:
    """Return the lasting controls that are in place at a state, by its name.

    Examples
    --------
    >>> in_place("mail | in place: mfa + patch"), in_place("mail")
    (('mfa', 'patch'), ())
    """
    if isinstance(state, SetName):
        return state.placed
    found = HELD.match(state)
    return () if found is None else parts(state[found.end() :])


def listed(ids: Iterable[str], separator: str = " + ") -> str:
    """Join ids so that different lists never read alike: those that would mislead are put in quotes.

    Examples
    --------
    >>> listed(["e1", "a + b", "start"])
    'e1 + "a + b" + "start"'
    """
    return separator.join(map(_said, ids))


def one_label(labels: Iterable[str]) -> str:
    """Say what several things that are one are called; those that differ in brackets only are said together.

    Examples
    --------
    >>> one_label(["exploit of httpd (CVE-1)", "exploit of httpd (CVE-2)", "phishing"])
    'exploit of httpd (CVE-1, CVE-2) or phishing'
    """
    alike: dict[tuple[str, str], dict[str, None]] = defaultdict(dict)
    for label in filter(None, labels):
        match = BRACKETS.fullmatch(label)
        before, inside, after = match.groups() if match else (label, "", "")
        alike[before, after].update(dict.fromkeys(filter(None, inside.split(", "))))
    told = [
        f"{before} ({few(inside, ', ', ' and ')}){after}" if inside else f"{before}{after}"
        for (before, after), inside in alike.items()
    ]
    return few(told, " or ", " or ")


def few_ids(ids: Sequence[str]) -> str:
    """Return a name for several exploits that are one: by all their ids, or by the first where these are many.

    Examples
    --------
    >>> few_ids(["a", "b"]), few_ids(["a", "b", "c", "d"])
    ('a or b', 'a or 3 more')
    """
    return listed(ids, " or ") if len(ids) <= MOST_LABELS else f"{listed(ids[:1])} or {len(ids) - 1} more"


def few(words: Iterable[str], separator: str, last: str) -> str:
    """Join words, the first few by name, then how many more there are."""
    given = list(words)
    more = f"{last}{len(given) - MOST_LABELS} more" if len(given) > MOST_LABELS else ""
    return separator.join(given[:MOST_LABELS]) + more


@lru_cache(maxsize=1000)
def _said(name: str) -> str:
    return name if _is_plain(name) else json.dumps(name, ensure_ascii=False)


def _is_plain(name: str) -> bool:
    taken = name in ("", *EMPTY) or name.startswith(ALERT) or name != name.strip()
    return not (taken or IN_PLACE.strip() in name or any(mark in name for mark in '+,"'))


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
