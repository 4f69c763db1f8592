"""What an import did: what became what, what was assumed for lack of better, what was left out and why."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from ncirl.attack_graphs.found import Findings
from ncirl.attack_graphs.origins import From, Numbers
from ncirl.errors import InputError

__all__ = [
    "QUANTITIES",
    "SOURCE",
    "Candidate",
    "Candidates",
    "Defaulted",
    "ImportReport",
    "Note",
    "NoteKind",
    "Notes",
    "Origin",
    "Undecided",
    "shortened",
]

NoteKind = Literal["defaulted", "dropped", "merged", "assumed"]
KINDS: tuple[NoteKind, ...] = ("assumed", "defaulted", "merged", "dropped")
MOST_NAMES = 20  # of the source that the graph lacks, in one line; `names_lost` has all
MOST_SHOWN = 5  # examples of a note, and names in a list


@dataclass(frozen=True)
class Note:
    """One thing that a person should know, how often it happened and the first few examples of perhaps more."""

    kind: NoteKind
    text: str
    count: int
    examples: tuple[str, ...] = ()
    more: bool = False

    def __str__(self) -> str:
        times = f" ({self.count} times)" if self.count > 1 and not self.examples else ""
        more = ", …" if self.more else ""
        shown = f": {', '.join(self.examples)}{more}" if self.examples else ""
        many = f"{self.count} x " if self.count > 1 and self.examples else ""
        return f"{many}{self.text}{times}{shown}"


class Notes:
    """Notes as they are taken: equal ones are counted."""

    def __init__(self) -> None:
        self._taken: dict[tuple[NoteKind, str], tuple[int, tuple[str, ...]]] = {}
        self._dropped: dict[str, dict[str, None]] = {}

    def add(self, kind: NoteKind, text: str, item: str = "", times: int = 1) -> None:
        """Take a note, or as many as `times`; `item` is what it is about, kept as an example."""
        count, examples = self._taken.get((kind, text), (0, ()))
        if item and len(examples) <= MOST_SHOWN and item not in examples:
            examples = (*examples, item)
        self._taken[kind, text] = (count + times, examples)
        if item and kind == "dropped":
            self._dropped.setdefault(text, {})[item] = None

    def dropped(self) -> dict[str, tuple[str, ...]]:
        """Return everything that was dropped, by the reason: a person who misses something looks here."""
        return {why: tuple(items) for why, items in self._dropped.items()}

    def all(self) -> tuple[Note, ...]:
        """Return what was noted, what was assumed first."""
        found = [
            Note(kind, text, count, examples[:MOST_SHOWN], len(examples) > MOST_SHOWN)
            for (kind, text), (count, examples) in self._taken.items()
        ]
        return tuple(sorted(found, key=lambda note: KINDS.index(note.kind)))


@dataclass(frozen=True)
class Origin:
    """Where a number comes from, in words that follow "from"; a default is nobody's measurement.

    A default yields to what a person has `asked` for by an option; what a source says does not.
    """

    words: str
    default: bool = False
    asked: bool = field(default=False, repr=False)

    @property
    def said(self) -> tuple[From, str]:
        """Who says the number, and why."""
        return From.DEFAULT if self.default else From.OPTION if self.asked else From.SOURCE, self.words


SOURCE = Origin("the source")
QUANTITIES = ("success", "attack_cost", "block_cost")


@dataclass(frozen=True)
class Defaulted:
    """A quantity that neither the source nor a table of the format says of `count` exploits."""

    count: int
    value: float

    def __str__(self) -> str:
        return f"{self.value:g} ({_plural(self.count, 'exploit')})"


@dataclass(frozen=True)
class Candidate:
    """A condition to choose, what people call it, why, and whether it is chosen already."""

    id: str
    label: str
    why: str
    chosen: bool

    @classmethod
    def edges(cls, kind: str, count: int, more: str = "", *, chosen: bool = False) -> "Candidate":
        """Return a kind of edge, of which there are so many."""
        return cls(kind, kind, _plural(count, "edge") + more, chosen)


@dataclass(frozen=True)
class Candidates:
    """Where attackers may begin, what they may want, and which kinds of edges may be steps."""

    start: tuple[Candidate, ...] = ()
    goals: tuple[Candidate, ...] = ()
    steps: tuple[Candidate, ...] = ()


class Undecided(InputError):
    """An import that a person must decide something about, or has decided otherwise than the file allows.

    Attributes
    ----------
    candidates : Candidates
        What may be chosen; the message names the first of it.
    """

    def __init__(self, faults: str | Iterable[str], where: str = "", candidates: Candidates | None = None) -> None:
        super().__init__(faults, where)
        self.candidates = candidates or Candidates()

    @classmethod
    def over(cls, error: InputError, candidates: Candidates) -> "Undecided":
        """Return an error that says the same and offers candidates."""
        made = cls(str(error), candidates=candidates)
        made.faults, made.notes = error.faults, error.notes
        return made


@dataclass(frozen=True)
class ImportReport:
    """What an import did.

    Attributes
    ----------
    format, files : str, tuple of str
        The importer and what it read.
    conditions, exploits : int
        Sizes of the graph.
    and_steps : int
        Exploits that need more than one condition.
    cycles : int
        Groups of conditions each of which can lead to every other; no harm, as a condition once enabled stays so.
    initial : tuple of str
        Conditions that hold from the start.
    facts : int
        Facts of the source that always hold and were folded into the start.
    goals : tuple of str
        Conditions that an intent rewards.
    intents : tuple of str
        The intents.
    intents_from : str
        Where the intents come from, in words.
    defaulted : mapping
        How many exploits have the default success, attack cost and block cost, and what it is.
    numbers : tuple of Numbers
        Where every number of the graph comes from, and how many rest on what; the graph keeps it as its `origins`.
    left_out : mapping
        The names of all that the source has and the graph has not, by the reason.
    names_lost : mapping
        The vulnerabilities, techniques and assets of the source that the graph names nowhere, by the reason.
    notes : tuple of Note
        Everything else that a person should know.
    meanings : tuple of str
        What a stage, an attempt, a block and a lasting fix stand for, with the reason for each default.
    found : Findings
        What of all this the graph keeps: `held`, which goals of the source attackers hold from the start, and by what
        (the graph is about others); which goals and starts are guesses; what else an answer depends on.
    """

    format: str
    files: tuple[str, ...]
    conditions: int
    exploits: int
    and_steps: int
    cycles: int
    initial: tuple[str, ...]
    facts: int
    goals: tuple[str, ...]
    intents: tuple[str, ...]
    intents_from: str
    defaulted: Mapping[str, Defaulted] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()
    numbers: tuple[Numbers, ...] = ()
    left_out: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    names_lost: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    meanings: tuple[str, ...] = ()
    found: Findings = field(default_factory=Findings)

    @property
    def held(self) -> tuple[str, ...]:
        """Which goals of the source attackers hold from the start, and by what."""
        return self.found.held

    def lines(self) -> Iterator[str]:
        """Yield the report for people, a line each; what attackers have already comes first, then guesses."""
        yield from self.found.held
        for sentence in self.found.guessed:
            yield f"GUESSED: {sentence}"
        for sentence in self.found.assumed:
            yield f"ASSUMED: {sentence}"
        yield f"{self.format}: {', '.join(self.files)}"
        yield f"  conditions  {self.conditions}"
        needing = f", {self.and_steps} of them need several conditions at once" if self.and_steps else ""
        yield f"  exploits    {self.exploits}{needing}"
        folded = f" and {_plural(self.facts, 'fact')} folded into the start" if self.facts else ""
        yield f"  initial     {shortened(self.initial) or 'no condition'}{folded}"
        yield f"  goals       {shortened(self.goals)}"
        yield f"  intents     {len(self.intents)}, {self.intents_from}"
        if self.cycles:
            yield f"  cycles      {_plural(self.cycles, 'group')} of conditions that lead to each other"
        if self.defaulted:
            yield "  defaulted   " + ", ".join(f"{quantity} {found}" for quantity, found in self.defaulted.items())
        for numbers in self.numbers:
            yield f"  numbers     {numbers}"
        for meaning in self.meanings:
            yield f"  means       {meaning}"
        for note in self.notes:
            yield f"  {note.kind:<11} {note}"
        for why, names in self.names_lost.items():
            more = " (--json lists all)" if len(names) > MOST_NAMES else ""
            yield f"  not named   {shortened(names, MOST_NAMES)}{more}: {why}"

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def to_data(self) -> dict[str, Any]:
        """Return the report as plain data: its fields, `format` as ``source``."""
        data = asdict(self, dict_factory=_plain)
        data["numbers"] = [numbers.to_data() for numbers in self.numbers]
        source: dict[str, Any] = {"source": data.pop("format")}
        found: dict[str, Any] = data.pop("found")
        return source | found | data


def _plain(fields: list[tuple[str, Any]]) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in fields if name != "more"}


def shortened(names: Sequence[str], most: int = MOST_SHOWN) -> str:
    """List names, the first few by name.

    Examples
    --------
    >>> shortened(["a", "b", "c"], most=2)
    'a, b and 1 more'
    """
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest} more" if rest > 0 else "")


def _plural(count: int, word: str) -> str:
    return f"{count} {word}" + ("" if count == 1 else "s")
