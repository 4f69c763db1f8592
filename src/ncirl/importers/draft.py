"""An attack graph under construction: what an importer fills, in the words of its source.

An importer names conditions by the keys of its source, in any order, and says only what the source says; `finish`
does what all formats have in common: defaults, dangling names, unreachable steps, parallel steps, ids, intents.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ncirl.attack_graphs.graph import AttackGraph
from ncirl.errors import InputError
from ncirl.importers.options import ImportOptions
from ncirl.importers.report import QUANTITIES, SOURCE, Candidates, ImportReport, NoteKind, Notes, Origin
from ncirl.importers.values import text
from ncirl.model.stage import LARGEST_REWARD

__all__ = [
    "MOST_MADE",
    "MOST_PARTS",
    "MOST_READ",
    "Draft",
    "DraftCondition",
    "DraftControl",
    "DraftExploit",
    "Imported",
]

OUT_OF_RANGE = "because the source's value is out of range"
FOLLOWS = Origin("what follows at once")
MOST_PARTS = 200_000  # conditions and steps that are left: far beyond what can be played on
MOST_MADE = 500_000  # steps while what comes without effort is folded, before useless ones are left out
MOST_READ = 1_000_000  # conditions and steps of a source, some kilobytes each: what no file within its limit has


@dataclass
class DraftCondition:
    """A condition by its key: `name` is what its id is made from, `label` what people read.

    `kind` is what sort of thing it is about (User, Computer, …): people may name it by ``kind:label`` where one label
    is two things.
    """

    key: str
    name: str
    label: str = ""
    initial: bool = False
    folded: bool = False  # a fact that always holds and is not shown
    asset: str = ""
    references: tuple[str, ...] = ()
    kind: str = ""


@dataclass(frozen=True)
class DraftExploit:
    """A step by the keys of the conditions it needs and gives; None where the source says nothing.

    `origins` says where its numbers come from, by their names; those that are not named there are the source's. An
    `immediate` step takes no attempt (see `immediate`); its label, where it has one, goes on from that of what it makes
    possible, as in "from web". `controls` are the keys of the controls that stop it.
    """

    name: str
    needs: tuple[str, ...]
    gives: str
    success: float | None = None
    attack_cost: float | None = None
    block_cost: float | None = None
    label: str = ""
    asset: str = ""
    references: tuple[str, ...] = ()
    origins: Mapping[str, Origin] = field(default_factory=dict)
    immediate: bool = False
    controls: tuple[str, ...] = ()
    through: tuple[str, ...] = ()  # keys that stand for needs which come with them
    unused: Mapping[str, str] = field(default_factory=dict)  # why the source's number is not used, by its name

    def origin(self, quantity: str) -> Origin | None:
        """Return where a number comes from; None where nobody has said it."""
        return None if getattr(self, quantity) is None else self.origins.get(quantity, SOURCE)

    @property
    def numbers(self) -> tuple[float, float, float]:
        """The success, attack cost and block cost, of a step of which all are known."""
        assert self.success is not None
        assert self.attack_cost is not None
        assert self.block_cost is not None
        return self.success, self.attack_cost, self.block_cost


@dataclass
class DraftControl:
    """Something a defender can do against the steps that name it; no cost where the source says none."""

    key: str
    label: str
    lasting: bool = True
    cost: float | None = None
    origin: Origin = SOURCE  # of the cost
    references: dict[str, None] = field(default_factory=dict)  # each once, in order


@dataclass(frozen=True)
class Imported:
    """An imported attack graph, the report on how it came about, and what else could have been chosen."""

    graph: AttackGraph
    report: ImportReport
    candidates: Candidates = field(default_factory=Candidates)


@dataclass
class Draft:
    """What an importer has understood so far.

    Parameters
    ----------
    format : str
        The importer's name.
    name : str
        The graph's name, where the source has one.

    Examples
    --------
    >>> draft = Draft("sketch")
    >>> draft.condition("inet", initial=True)
    >>> draft.condition("web", label="web server owned")
    >>> draft.condition("db")
    >>> draft.exploit("phish", needs=["inet"], gives="web", success=0.3)
    >>> draft.exploit("dump", needs=["web"], gives="db")
    >>> imported = draft.finish()
    >>> [(e.id, e.premises, e.result, e.success) for e in imported.graph.exploits]
    [('phish', ('inet',), 'web', 0.3), ('dump', ('web',), 'db', 0.8)]
    >>> imported.report.goals
    ('db',)
    """

    format: str
    name: str = ""
    conditions: dict[str, DraftCondition] = field(default_factory=dict)
    exploits: list[DraftExploit] = field(default_factory=list)
    follows: list[tuple[str, str]] = field(default_factory=list)  # what comes with what, without effort
    ties: dict[tuple[str, str], str] = field(default_factory=dict)  # the control that ends it, by both
    controls: dict[str, DraftControl] = field(default_factory=dict)
    owned: bool = True  # whether to hold something of an asset from the start is to own it
    goals: dict[str, float | None] = field(default_factory=dict)  # keys the source calls goals, and what they pay
    groups: dict[str, str] = field(default_factory=dict)  # goals that are one: a name for them
    most_goals: int | None = None  # of the source that are taken, the first first
    rewards: dict[str, dict[str, float]] = field(default_factory=dict)  # of the source's intents, by intent and key
    worth: dict[str, float] = field(default_factory=dict)  # of conditions, 1 for the most
    worth_from: str = ""  # in words
    guesses: dict[str, str] = field(default_factory=dict)  # keys that may be goals, and why
    likely: dict[str, None] = field(default_factory=dict)  # of the guesses those that come before all others
    pointless: set[str] = field(default_factory=set)  # keys that nobody wants, and that are no reason to want another
    suppositions: list[str] = field(default_factory=list)  # sentences that an answer depends on
    not_derived: tuple[str, ...] = ()  # kinds of edges that the source needs others for
    begun: dict[str, None] = field(default_factory=dict)  # keys that hold from the start by a guess
    mentions: dict[str, str] = field(default_factory=dict)  # names of the source, and why they may be in no graph
    lost: str = ""  # what is said first where attackers begin in a group of goals that are one
    only_controls: bool = False  # steps cannot be blocked one by one even where no control stops any
    notes: Notes = field(default_factory=Notes)

    def condition(
        self,
        key: str,
        *,
        label: str = "",
        name: str = "",
        initial: bool = False,
        asset: str = "",
        references: Iterable[str] = (),
        kind: str = "",
    ) -> None:
        """Add a condition; one that is there already gains what is new.

        Parameters
        ----------
        key : str
            What steps call it.
        label : str
            What people read.
        name : str
            What its id is made from; the key by default.
        initial : bool
            Whether it holds from the start.
        asset : str
            The host, account or component that it is about.
        references : iterable of str
            Where it is described: a CVE, a technique, a rule.
        kind : str
            What sort of thing it is about.
        """
        there = self.conditions.get(key)
        if there is None:
            self._check_size()
            there = self.conditions[key] = DraftCondition(key, text(name) or text(key))
        there.label = there.label or text(label)
        there.asset = there.asset or text(asset)
        there.kind = there.kind or text(kind)
        there.references = _distinct((*there.references, *references))
        there.initial |= initial

    def fact(self, key: str, *, label: str = "") -> None:
        """Add something that always holds; steps that need it need it no more, and it is not shown."""
        self.condition(key, label=label, initial=True)
        self.conditions[key].folded = True

    def exploit(
        self,
        key: str,
        *,
        needs: Iterable[str],
        gives: str,
        success: float | None = None,
        attack_cost: float | None = None,
        block_cost: float | None = None,
        name: str = "",
        label: str = "",
        asset: str = "",
        references: Iterable[str] = (),
        origins: Mapping[str, Origin] | None = None,
        immediate: bool = False,
        controls: Iterable[str] = (),
        unused: Mapping[str, str] | None = None,
    ) -> None:
        """Add a step that needs all of `needs`; the conditions may be added later.

        `label`, `asset` and `references` are for people, as of a condition. `origins` says where the numbers come from
        that are not read off the source as they are: a table, a rule, a default. A probability or cost that is out of
        range is noted and defaulted; `unused` says why others of the source are. An `immediate` step follows at once,
        for sure and free, and is folded away; `controls` are the keys of those that stop the step.
        """
        self._check_size()
        shown = text(name) or text(key)
        if immediate:
            success, attack_cost = 1.0, 0.0
            origins = {"success": FOLLOWS, "attack_cost": FOLLOWS}
        self.exploits.append(
            DraftExploit(
                shown,
                tuple(dict.fromkeys(needs)),
                gives,
                self._within("success", success, 1.0, shown),
                self._within("attack_cost", attack_cost, LARGEST_REWARD, shown),
                self._within("block_cost", block_cost, LARGEST_REWARD, shown),
                text(label),
                text(asset),
                _distinct(references),
                {quantity: origin for quantity, origin in (origins or {}).items() if quantity in QUANTITIES},
                immediate,
                tuple(dict.fromkeys(controls)),
                unused={**_beyond(success, attack_cost, block_cost), **(unused or {})},
            )
        )

    def control(
        self,
        key: str,
        label: str,
        *,
        lasting: bool = True,
        cost: float | None = None,
        origin: Origin = SOURCE,
        references: Iterable[str] = (),
    ) -> str:
        """Add something a defender can do, for steps to name by its key; one that is there gains references.

        Parameters
        ----------
        key : str
            What steps call it.
        label : str
            What people read.
        lasting : bool
            Whether it stops its steps from then on, for a cost paid once: what is removed, patched or configured. What
            ends by itself (to isolate a host, to log an account off, to block a port for now) is momentary.
        cost : float, optional
            Where the source says one; `defaults.Usual` has what it is otherwise.
        origin : Origin
            Where the cost comes from.
        references : iterable of str
            What it is about: a CVE, a rule.

        Returns
        -------
        str
            The key.
        """
        there = self.controls.get(key)
        if there is None:
            there = self.controls[key] = DraftControl(key, text(label), lasting, cost, origin)
        there.references.update(dict.fromkeys(_distinct(references)))
        return key

    def follow(self, start: str, end: str, control: str = "") -> None:
        """Note that whoever holds `start` holds `end` at once: no attempt, no stage; see `fold`.

        `control` is the key of what unties the two, such as to end a membership. Where the source ties them more than
        once, nothing does that unties them once only.
        """
        self._check_size()
        self.follows.append((start, end))
        self.ties[start, end] = control if self.ties.get((start, end), control) == control else ""

    def goal(self, key: str, reward: float | None = None, group: str = "") -> None:
        """Note that the source calls a condition a goal, and what it is worth where the source says so.

        Goals of one `group` are one: whoever wants one of them is content with any.
        """
        self.goals[key] = reward
        if group:
            self.groups[key] = group

    def reward(self, intent: str, key: str, value: float) -> None:
        """Note what an intent of the source is paid for a condition; intents of the source replace goals."""
        self.rewards.setdefault(text(intent), {})[key] = value

    def guess_goal(self, key: str, why: str, *, likely: bool = False) -> None:
        """Offer a condition as a goal, for when neither the person nor the source names any.

        Where some are `likely`, nothing else is guessed.
        """
        self.guesses[key] = why
        if likely:
            self.likely[key] = None

    def mention(self, names: Iterable[str], why: str = "nothing that the graph keeps is about them") -> None:
        """Note names of the source (hosts, vulnerabilities) that the report lists, with why, if the graph has not."""
        for name in _distinct(names):
            self.mentions.setdefault(name, why)

    def note(self, kind: NoteKind, text: str, item: str = "", times: int = 1) -> None:
        """Tell the person something; equal notes are counted, with the first few items as examples."""
        self.notes.add(kind, text, item, times)

    def finish(self, options: ImportOptions | None = None, files: Iterable[str | Path] = ()) -> Imported:
        """Turn the draft into an attack graph with a report.

        Raises
        ------
        InputError
            When no step is left, nothing holds at the start, or no goal is known; the message lists candidates.
        """
        from ncirl.importers.finish import finish

        return finish(self, options or ImportOptions(), tuple(str(file) for file in files))

    def _check_size(self) -> None:
        if len(self.conditions) + len(self.exploits) + len(self.follows) >= MOST_READ:
            raise InputError(f"more than {MOST_READ} conditions and steps; cut the graph down before it is imported")

    def _within(self, quantity: str, value: float | None, most: float, item: str) -> float | None:
        if value is None or 0 <= value <= most:
            return value
        self.note("defaulted", f"{quantity} outside [0, {most:g}] is not used", item)
        return None


def _beyond(*numbers: float | None) -> dict[str, str]:
    """Return which of the numbers of a step are out of range."""
    most = (1.0, LARGEST_REWARD, LARGEST_REWARD)
    each = zip(QUANTITIES, numbers, most, strict=True)
    return {quantity: OUT_OF_RANGE for quantity, value, m in each if value is not None and not 0 <= value <= m}


def _distinct(references: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(found for name in references if (found := text(name))))
