"""Ids made from the names of a source, and conditions found again by whatever a person calls them."""

import difflib
import re
from collections import defaultdict
from collections.abc import Iterable

from ncirl.errors import InputError
from ncirl.importers.draft import DraftCondition
from ncirl.importers.report import shortened

__all__ = ["ConditionNames", "one_label", "unique_ids"]

UNUSABLE = re.compile(r"[^\w.:@/=-]+")  # what would need quotes in a shell or in the name of a state
BRACKETS = re.compile(r"(.*?) \(([^()]*)\)(.*)", re.DOTALL)
LONGEST_ID = 80
MOST_LABELS = 3  # of things that are one, in the label of that one
MOST_COMPARED = 5_000  # names in which a misspelt one is looked for
MOST_LISTED = 20


def unique_ids(names: Iterable[str]) -> list[str]:
    """Make ids that need no quotes and are all different.

    Examples
    --------
    >>> unique_ids(["execCode(web,root)", "execCode(web, root)", "#"])
    ['execCode_web_root', 'execCode_web_root_2', 'unnamed']
    """
    taken: set[str] = set()
    tried: dict[str, int] = {}
    ids = []
    for name in names:
        base = UNUSABLE.sub("_", name)[:LONGEST_ID].strip("_") or "unnamed"
        found, turn = base, tried.get(base, 1)
        while found in taken:
            turn += 1
            found = f"{base}_{turn}"
        tried[base] = turn
        taken.add(found)
        ids.append(found)
    return ids


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
        f"{before} ({shortened(list(inside), MOST_LABELS)}){after}" if inside else f"{before}{after}"
        for (before, after), inside in alike.items()
    ]
    more = f" or {len(told) - MOST_LABELS} more" if len(told) > MOST_LABELS else ""
    return " or ".join(told[:MOST_LABELS]) + more


class ConditionNames:
    """The ids of the conditions of a draft, and the way back from a key, an id or a label."""

    def __init__(self, conditions: Iterable[DraftCondition]) -> None:
        conditions = list(conditions)
        shown = [condition for condition in conditions if not condition.folded]
        self._ids = dict(zip([c.key for c in shown], unique_ids(c.name for c in shown), strict=True))
        self._called: dict[str, list[str]] = defaultdict(list)  # keys by label
        for condition in conditions:
            self._called[condition.label or condition.name].append(condition.key)
        self._keys = {condition.key for condition in conditions}
        self._key_of = {found: key for key, found in self._ids.items()}

    def id(self, key: str) -> str:
        """Return the id of a condition that is not folded away."""
        return self._ids[key]

    def find(self, given: str, where: str) -> str:
        """Return the key of the condition that a person calls `given`.

        Raises `InputError` when there is none or several; the message lists those that come near.
        """
        if given in self._keys:
            return given
        if given in self._key_of:
            return self._key_of[given]
        keys, place = self._called.get(given, []), f"{where} '{given}'"
        if len(keys) == 1:
            return keys[0]
        if keys:
            raise InputError(f"{len(keys)} conditions are called so; give an id: {shortened(keys)}", place)
        near = difflib.get_close_matches(given, [*self._key_of, *self._called][:MOST_COMPARED], n=3, cutoff=0.5)
        known = f"do you mean {' or '.join(near)}?" if near else f"there are {shortened([*self._key_of], MOST_LISTED)}"
        raise InputError(f"no condition is called so; {known}", place)
