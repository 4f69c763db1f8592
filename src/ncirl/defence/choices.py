"""What a person may answer: names that stand for sets of items, told by item, by number or by how they begin.

In an attack graph an action is a set of exploits (`nothing`, `phish + inject SQL`), a state a set of conditions and a
signal a set of alerts. A `Choice` holds the names that are possible and what each consists of, so that an answer may
list the items in any order. In other games every name is its own only item.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property

from ncirl.attack_graphs.names import ALERT, in_place, listed, members, parts
from ncirl.errors import InputError

__all__ = ["Choice", "OpenChoice", "members", "open_choice", "plain_choice", "set_choice", "some"]

NONE = ("none", "nothing", "quiet", "-")  # said by people for the empty set
FEW = 8  # names in a message


def some(names: Sequence[str], most: int = FEW) -> str:
    """List names for people, not too many of them."""
    left = len(names) - most
    return ", ".join(names[:most]) + (f" and {left:,} more" if left > 0 else "")


@dataclass(frozen=True)
class Choice:
    """The names that may be meant.

    Attributes
    ----------
    what : str
        What is chosen, for messages.
    sets : dict
        Each name that is possible by the set of its items.
    labels : mapping
        What items are called besides.
    """

    what: str
    sets: dict[frozenset[str], str]
    labels: Mapping[str, str] = field(default_factory=dict, kw_only=True)

    @cached_property
    def items(self) -> tuple[str, ...]:
        """What names are made of, written as in names, in the order of the names."""
        return tuple(listed([item]) for item in self._raw)

    @property
    def only(self) -> str | None:
        """The one name that is possible, where there is no choice."""
        return next(iter(self.sets.values())) if len(self.sets) == 1 else None

    @cached_property
    def numbered(self) -> bool:
        """Whether items may be told by number, which is so unless an item looks like one."""
        return not any(item.isdigit() for item in self._raw)

    def find(self, given: str | Iterable[str]) -> str:
        """Return the name that is meant.

        Parameters
        ----------
        given : str or iterable of str
            A name; or items, as a list or joined by ``,``, ``+`` or blanks, each by name, number or beginning.

        Raises
        ------
        InputError
            Which says what is possible.
        """
        if isinstance(given, str):
            text = given.strip()
            if text in self.sets.values():
                return text
            chosen = frozenset(self._told(text))
        else:
            chosen = frozenset(self._item(item) for item in given)
        return self._named(chosen)

    def _named(self, chosen: frozenset[str]) -> str:
        if chosen not in self.sets:
            said = listed(sorted(chosen)) or "nothing"
            raise InputError(f"{self.what}: {said} is not possible here; possible are {some(self._possible())}")
        return self.sets[chosen]

    @cached_property
    def _raw(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(item for items in self.sets for item in sorted(items)))

    def _possible(self) -> list[str]:
        return [listed(sorted(items)) or "nothing" for items in self.sets]

    def _told(self, text: str) -> Iterable[str]:
        if text in self._raw:
            return [text]
        if text.casefold() in NONE:
            return []
        if self._labelled(text):  # which may look like a list
            return [self._item(text)]
        return [item for part in parts(text) for item in self._spelled(part)]

    def _spelled(self, part: str) -> list[str]:
        """Read a part as one item, else word by word."""
        try:
            return [self._item(part)]
        except InputError:
            words = part.split()
            if len(words) < 2:
                raise
        try:
            return [self._item(word) for word in words]
        except InputError:
            return [self._item(part)]  # the words mean nothing: complain about the whole

    def _item(self, told: str) -> str:
        raw = self._raw
        if told in raw:
            return told
        if self.numbered and told.isdecimal() and 1 <= int(told) <= len(raw):
            return raw[int(told) - 1]
        said = told.casefold()
        meant = [item for item in raw if item.casefold() == said]
        if not meant and len(named := [item for item in self._labelled(told) if item in raw]) > 1:
            raise InputError(f"{self.what}: '{told}' is the label of {some(named)}; give the id")
        meant = meant or named or [item for item in raw if item.casefold().startswith(said)]
        meant = meant or [item for item in raw if self.labels.get(item, "").casefold().startswith(said)]
        if len(meant) == 1:
            return meant[0]
        if meant:
            raise InputError(f"{self.what}: '{told}' may be {some(meant)}; say more of it")
        near = get_close_matches(told, raw, n=1)
        hint = f" did you mean '{near[0]}'?" if near else f" possible are {some(raw) or 'nothing'}"
        raise InputError(f"{self.what}: there is no '{told}' here;{hint}")

    def _labelled(self, told: str) -> list[str]:
        """Return whatever is called so, possible here or not."""
        return [item for item, label in self.labels.items() if label.casefold() == told.casefold()]


def plain_choice(what: str, names: Iterable[str]) -> Choice:
    """Return the choice of one name."""
    return Choice(what, {frozenset([name] if name else []): name for name in names})


def set_choice(
    what: str, names: Iterable[str], but: str = "nothing", *, labels: Mapping[str, str] | None = None
) -> Choice:
    """Return the choice of a set, told by the items it has beyond those of the name `but`."""
    known = frozenset(members(but))
    return Choice(what, {frozenset(members(name)) - known: name for name in names}, labels=labels or {})


@dataclass(frozen=True)
class OpenChoice(Choice):
    """Any set of some items, too many to be listed: `sets` has the smallest, and those with one item more.

    Attributes
    ----------
    order : tuple of str
        The items, as they come in names.
    sure : frozenset of str
        Those that must be among what is told.
    most : int or None
        How many there are at the most.
    name : callable
        Names a set, given in order.
    elsewhere : callable
        Says why an item is not possible here, or returns None if there is no such item at all.
    known : frozenset of str
        What may be told as well and means nothing, as it is so already.
    """

    order: tuple[str, ...]
    sure: frozenset[str]
    most: int | None
    name: Callable[[Sequence[str]], str]
    elsewhere: Callable[[str], str | None]
    known: frozenset[str]

    def _named(self, chosen: frozenset[str]) -> str:
        missing = [item for item in self.order if item in self.sure - chosen]
        if missing:
            raise InputError(f"{self.what}: {some(missing)} is missing; it cannot have failed")
        if self.most is not None and len(chosen) > self.most:
            raise InputError(f"{self.what}: {len(chosen)} told, but there are at most {self.most} in a stage")
        return self.name([item for item in self.order if item in chosen])

    def _told(self, text: str) -> Iterable[str]:
        if text in self._raw or text.casefold() in NONE or self._labelled(text):
            return super()._told(text)
        said = listed(members(text)) if in_place(text) else text.removeprefix(ALERT)
        told = [part for part in parts(said) if part not in self.known]
        return [item for part in told for item in self._spelled(part)]

    def _item(self, told: str) -> str:
        if told in self.order:
            return told
        named = self._labelled(told)
        known = [told] if not named else [] if set(named) & set(self.order) else named
        reason = next(filter(None, map(self.elsewhere, known)), None)
        if reason is not None:
            raise InputError(f"{self.what}: {reason}")
        return super()._item(told)


def open_choice(
    what: str,
    items: Sequence[str],
    name: Callable[[Sequence[str]], str],
    *,
    sure: Iterable[str] = (),
    most: int | None = None,
    elsewhere: Callable[[str], str | None] = lambda _: None,
    known: Iterable[str] = (),
    labels: Mapping[str, str] | None = None,
) -> OpenChoice:
    """Return the choice of any set of the items."""
    least = frozenset(sure)
    sets = {least: name([item for item in items if item in least])}
    if most is None or most > len(least):
        sets |= {least | {item}: name([i for i in items if i in least or i == item]) for item in items}
    order = tuple(items)
    return OpenChoice(what, sets, order, least, most, name, elsewhere, frozenset(known), labels=labels or {})
