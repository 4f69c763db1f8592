"""Where the numbers of an attack graph come from: a source, what a person asked for, or a default of an import.

An answer is no better than the numbers that it rests on, and most numbers of an imported graph are nobody's
measurement. A graph keeps, for each kind of number, the origin that holds of all and the ids of those it does not hold
of, so that tens of thousands of exploits cost a line. What no entry names is of unknown origin.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ncirl.attack_graphs.controls import Control
    from ncirl.attack_graphs.graph import AttackGraph, Exploit, Intent

__all__ = [
    "KINDS",
    "From",
    "NumberOrigin",
    "Numbers",
    "asked_for",
    "assumed_numbers",
    "gathered",
    "ids_of",
    "numbers_by_origin",
    "origin_faults",
    "origins_over",
    "said_of",
    "weaker",
]

THINGS = {
    "success": "exploit",
    "attack_cost": "exploit",
    "block_cost": "exploit",
    "cost": "control",
    "reward": "intent",
    "prior": "intent",
    "discount": "",
}
KINDS = tuple(THINGS)
"""The kinds of numbers, as `what_if` names them."""


class From(StrEnum):
    """Who says a number."""

    SOURCE = "source"  # the file that the graph was imported from, or a table given with it
    OPTION = "option"  # the person, by an option
    DEFAULT = "default"  # nobody


WEAKEST_FIRST = (From.DEFAULT, From.OPTION, From.SOURCE)
Said = tuple[From, str]  # who says a number, and why


@dataclass(frozen=True)
class NumberOrigin:
    """Where the numbers of one kind come from, all of them or those of some ids.

    Parameters
    ----------
    of : str
        The kind of number: one of `KINDS`.
    origin : From or str
        ``source``, ``option`` or ``default``.
    why : str
        One line for people: which table, which option, what the default stands for.
    ids : tuple of str, optional
        The exploits, controls or intents; None for all that no other entry of the kind names.

    Examples
    --------
    >>> NumberOrigin("success", "default", "nobody has measured it").ids is None
    True
    """

    of: str
    origin: From | str
    why: str = ""
    ids: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Numbers:
    """How many of the numbers of one kind have one origin, and within which bounds they lie.

    `origin` says where they come from in words, `kind` who says them; they are `count` of `total`.
    """

    quantity: str
    origin: str
    kind: From
    count: int
    total: int
    least: float
    most: float

    @property
    def default(self) -> bool:
        """Whether nobody says them."""
        return self.kind is From.DEFAULT

    @property
    def share(self) -> float:
        """Which share of the numbers of their kind they are."""
        return self.count / self.total

    @property
    def told(self) -> str:
        """Which numbers they are, without where they come from."""
        value = f"{self.least:g}" if self.least == self.most else f"{self.least:g} to {self.most:g}"
        thing = "goal" if self.quantity == "reward" else THINGS[self.quantity]
        if not thing:
            return f"{self.quantity} {value}"
        return f"{self.quantity} {value} of {self.count} {thing}{'' if self.count == 1 else 's'} ({self.share:.0%})"

    def __str__(self) -> str:
        return f"{self.told}: {f'a default, {self.origin}' if self.default else f'from {self.origin}'}"

    def to_data(self) -> dict[str, Any]:
        """Return the numbers as plain data."""
        return {
            "quantity": self.quantity,
            "origin": self.origin,
            "kind": str(self.kind),
            "default": self.default,
            "count": self.count,
            "share": self.share,
            "least": self.least,
            "most": self.most,
        }


def numbers_by_origin(graph: "AttackGraph") -> tuple[Numbers, ...]:
    """Return where the numbers of a graph come from, kind by kind: what is said first, the largest share first.

    Numbers that play no part are left out: what blocking one exploit costs where there are controls, priors that are
    unknown, the prior of an only intent.
    """
    return tuple(_counted(graph))


def _counted(graph: "AttackGraph") -> Iterator[Numbers]:
    for of, values in _values(graph).items():
        said = said_of(graph, of)
        found: dict[Said, list[float]] = defaultdict(list)
        for id_, numbers in values:
            one = said[id_]
            if one is not None and numbers:
                found[one] += numbers
        total = sum(len(numbers) for _, numbers in values)
        for (kind, why), numbers in sorted(found.items(), key=lambda one: (one[0][0] is From.DEFAULT, -len(one[1]))):
            yield Numbers(of, why, kind, len(numbers), total, min(numbers), max(numbers))


def _values(graph: "AttackGraph") -> dict[str, list[tuple[str, list[float]]]]:
    """Return the numbers that play a part, by kind, each with the id of what it is of."""
    found = {
        "success": [(e.id, [e.success]) for e in graph.exploits],
        "attack_cost": [(e.id, [e.attack_cost]) for e in graph.exploits],
    }
    if graph.controls is None:
        found["block_cost"] = [(e.id, [e.block_cost]) for e in graph.exploits]
    else:
        found["cost"] = [(c.id, [c.cost]) for c in graph.controls]
    found["reward"] = [(i.id, [paid for paid in i.rewards.values() if paid]) for i in graph.intents]
    if len(graph.intents) > 1 and not graph.unknown_prior:
        found["prior"] = [(i.id, [i.prior]) for i in graph.intents]
    return found | {"discount": [("", [graph.discount])]}


def assumed_numbers(graph: "AttackGraph") -> tuple[Numbers, ...]:
    """Return the numbers of a graph that are defaults: nobody has said them. Each is a sentence as text.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from ncirl.games.office import office_graph
    >>> graph = replace(office_graph(), origins=(NumberOrigin("success", "default", "nobody has measured it"),))
    >>> [str(numbers) for numbers in assumed_numbers(graph)]
    ['success 0.8 to 0.9 of 9 exploits (100%): a default, nobody has measured it']
    """
    return tuple(numbers for numbers in numbers_by_origin(graph) if numbers.default)


def gathered(of: str, said: Mapping[str, Said | None]) -> tuple[NumberOrigin, ...]:
    """Return the entries for the numbers of one kind from what is said of each, by id; None where nothing is.

    Examples
    --------
    >>> nobody = From.DEFAULT, "nobody has measured it"
    >>> [(e.why, e.ids) for e in gathered("success", {"a": (From.SOURCE, "the file"), "b": nobody, "c": nobody})]
    [('nobody has measured it', None), ('the file', ('a',))]
    """
    found: dict[Said, list[str]] = defaultdict(list)
    for id_, one in said.items():
        if one is not None:
            found[one].append(id_)
    is_whole = None not in said.values()
    largest_first = sorted(found.items(), key=lambda one: -len(one[1]))
    return tuple(
        NumberOrigin(of, *one, None if is_whole and not k else tuple(ids)) for k, (one, ids) in enumerate(largest_first)
    )


def said_of(graph: "AttackGraph", of: str) -> dict[str, Said | None]:
    """Return what is said of the numbers of one kind, by the id of what each is of; of the discount that is empty."""
    rest: Said | None = None
    found: dict[str, Said | None] = {}
    for entry in graph.origins:
        if entry.of == of and entry.ids is None:
            rest = From(entry.origin), entry.why
        elif entry.of == of:
            found |= dict.fromkeys(entry.ids or (), (From(entry.origin), entry.why))
    return {id_: found.get(id_, rest) for id_ in ids_of(graph, of)}


def ids_of(graph: "AttackGraph", of: str) -> list[str]:
    """Return the ids of what numbers of a kind are of."""
    things: Mapping[str, Iterable[Exploit | Control | Intent]] = {
        "exploit": graph.exploits,
        "control": graph.controls or (),
        "intent": graph.intents,
    }
    return [thing.id for thing in things[THINGS[of]]] if THINGS[of] else [""]


def asked_for(graph: "AttackGraph", of: str, ids: Iterable[str], why: str) -> "AttackGraph":
    """Return the graph with numbers, by their kind and what they are of, as what a person asked for.

    A graph that says nothing of where its numbers come from goes on saying nothing.
    """
    if not graph.origins:
        return graph
    changed = gathered(of, said_of(graph, of) | dict.fromkeys(ids, (From.OPTION, why)))
    return replace(graph, origins=(*(entry for entry in graph.origins if entry.of != of), *changed))


def origins_over(graph: "AttackGraph", become: Mapping[str, str]) -> tuple[NumberOrigin, ...]:
    """Return the origins where exploits become others, by id: the weakest of what each new one is made of."""
    others = [entry for entry in graph.origins if THINGS[entry.of] != "exploit"]
    for of in dict.fromkeys(entry.of for entry in graph.origins if THINGS[entry.of] == "exploit"):
        made: dict[str, Said | None] = {}
        for id_, one in said_of(graph, of).items():
            new = become.get(id_)
            if new is not None:
                made[new] = weaker(made[new], one) if new in made else one
        others += gathered(of, made)
    return tuple(others)


def weaker(one: Said | None, other: Said | None) -> Said | None:
    """Return what to say of a number made of two: nothing where nothing is said of one, else a default if one is."""
    if one is None or other is None:
        return None
    return min(one, other, key=lambda said: WEAKEST_FIRST.index(said[0]))


def origin_faults(origins: Iterable[NumberOrigin]) -> Iterator[str]:
    """Tell what is wrong with entries, each fault with its place."""
    whole: set[str] = set()
    for i, entry in enumerate(origins):
        if entry.of not in THINGS:
            yield f"origins[{i}].of: must be one of {', '.join(KINDS)}, got '{entry.of}'"
        if entry.origin not in tuple(From):
            yield f"origins[{i}].origin: must be one of {', '.join(From)}, got '{entry.origin}'"
        if entry.ids is None and entry.of in whole:
            yield f"origins[{i}]: a second entry holds of all that no other names; give its ids"
        whole |= {entry.of} if entry.ids is None else set()
