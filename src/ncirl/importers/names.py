"""Ids made from the names of a source, and conditions found again by whatever a person calls them."""

import difflib
import re
from collections import Counter, defaultdict
from collections.abc import Iterable

from ncirl.errors import InputError
from ncirl.importers.draft import DraftCondition
from ncirl.importers.report import shortened

__all__ = ["ConditionNames", "unique_ids"]

UNUSABLE = re.compile(r"[^\w.:@/=-]+")  # what would need quotes in a shell or in the name of a state
LONGEST_ID = 80
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


class ConditionNames:
    """The ids of the conditions of a draft, and the way back from a key, an id, a label or ``kind:label``."""

    def __init__(self, conditions: Iterable[DraftCondition]) -> None:
        conditions = list(conditions)
        shown = [condition for condition in conditions if not condition.folded]
        times = Counter(condition.name for condition in shown)
        wished = [f"{c.name}_{c.kind}" if c.kind and times[c.name] > 1 else c.name for c in shown]
        self._ids = dict(zip([c.key for c in shown], unique_ids(wished), strict=True))
        self._keys = {id_: key for key, id_ in self._ids.items()}
        self._conditions = {condition.key: condition for condition in conditions}
        self._called: dict[str, list[str]] = defaultdict(list)  # keys by what people call them
        self._lower: dict[str, list[str]] = defaultdict(list)  # and in lower case
        for condition in conditions:
            for called in self._names_of(condition):
                self._called[called].append(condition.key)
                self._lower[called.lower()].append(condition.key)

    def _names_of(self, condition: DraftCondition) -> Iterable[str]:
        plain = dict.fromkeys(name for name in (condition.label, condition.name) if name)
        told = [*plain, *(f"{condition.kind}:{name}" for name in plain if condition.kind)]
        return dict.fromkeys([*told, *([self._ids[condition.key]] if condition.key in self._ids else [])])

    def id(self, key: str) -> str:
        """Return the id of a condition that is not folded away."""
        return self._ids[key]

    def knows(self, key: str) -> bool:
        """Tell whether a condition has this key."""
        return key in self._conditions

    def key(self, id: str) -> str:
        """Return the key of the condition with an id."""
        return self._keys[id]

    def called(self, key: str) -> str:
        """Return the label of a condition, or its name where it has none."""
        return self._conditions[key].label or self._conditions[key].name

    def told(self, key: str) -> str:
        """Return what people call a condition, with its kind where it has one."""
        kind = self._conditions[key].kind
        return f"{kind}:{self.called(key)}" if kind else self.called(key)

    def find(self, given: str, where: str) -> str:
        """Return the key of the condition that a person calls `given`.

        Raises `InputError` when there is none or several; the message lists those that come near.
        """
        if given in self._conditions:
            return given
        keys, place = self._called.get(given) or self._lower.get(given.lower(), []), f"{where} '{given}'"
        if len(keys) == 1:
            return keys[0]
        if keys:
            kinds = {self._conditions[key].kind for key in keys}
            listed = [f"{self.told(key)} ({key})" for key in keys] if len(kinds) > 1 else keys
            raise InputError(f"{len(keys)} conditions are called so; give an id: {shortened(listed)}", place)
        known = [*self._ids.values()]
        near = difflib.get_close_matches(given, [*known, *self._called][:MOST_COMPARED], n=3, cutoff=0.5)
        said = (
            f"do you mean {' or '.join(dict.fromkeys(near))}?" if near else f"there are {shortened(known, MOST_LISTED)}"
        )
        raise InputError(f"no condition is called so; {said}", place)
