"""Steps that take no attempt: what follows for sure, at once and at no cost from what is held already.

Whoever can run code on a host can also reach what that host reaches; whoever is in a group has the group's rights.
Such a step says that its result c holds as soon as all its needs do, so it is taken out of the graph:

- What follows from the start holds at the start.
- Wherever another step needs c, it needs what c follows from, one step for each way to c: the step is tried from one
  place or from another. Whoever holds several places may try it from each in one stage, and each is blocked on its
  own, unless a control stops them all: the attacker gets no less than before. The report counts such steps. A control
  over a way, such as a firewall, stops the steps that go that way.
- A condition that somebody wants and that follows from one other alone is that other; what nobody wants and nothing
  needs is left out.

What remains is left as a step that is certain and free but takes a stage: a condition somebody wants that follows from
several others, and conditions with so many ways and uses that a step for each pair would be more than the graph can do
with. The report counts them.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from heapq import heapify, heappop, heappush

from ncirl.attack_graphs.reductions.prune import rounds_to
from ncirl.importers.draft import MOST_PARTS, DraftExploit
from ncirl.importers.findings import COPIES
from ncirl.importers.report import Notes

__all__ = ["follows_from", "without_immediate"]

Place = tuple[int, int]
MOST_COMPARED = 200  # ways, each with each other
SPARE, TIMES = 64, 4  # steps that one condition may become: SPARE more, or so many times those that there were


def follows_from(start: Iterable[str], steps: Iterable[DraftExploit]) -> set[str]:
    """Return what holds from the start: what is given, and what follows from it at once and cannot be stopped."""
    return set(rounds_to(set(start), [(s.needs, s.gives) for s in steps if s.immediate and not s.controls]))


def without_immediate(steps: Sequence[DraftExploit], kept: Collection[str], notes: Notes) -> list[DraftExploit]:
    """Return the steps without those that are immediate, as far as these can be taken out; `kept` are wanted."""
    work = _Steps(steps)
    waiting = [(work.growth(c), c) for c in work.immediate_results()]
    heapify(waiting)  # those that make fewest steps first: what is done with one changes what others make
    while waiting:
        growth, c = heappop(waiting)
        if work.growth(c) != growth and work.giving[c]:
            heappush(waiting, (work.growth(c), c))
        elif c in kept:
            work.rename_source(c, kept)
        elif not work.using[c]:
            work.drop(c)
        elif growth <= 0 and len(work.steps) < MOST_PARTS:
            work.take_out(c)
    one: dict[tuple[int, str], list[DraftExploit]] = defaultdict(list)  # attempt, whatever ways lead to what it needs
    for i in sorted(work.steps):
        one[i[0], work.steps[i].gives].append(work.steps[i])
    ways = {attempt: _least(steps) for attempt, steps in one.items()}
    left = [step for several in ways.values() for step in several]
    times = Counter(place for (place, _), several in ways.items() for _ in several)
    for place in sorted(place for place, count in times.items() if count > 1):
        notes.add("assumed", COPIES, steps[place].name)
    for step in left:
        if step.immediate:
            notes.add("assumed", "steps that are certain and free are left as steps, which take a stage", step.name)
    return [replace(s, immediate=False, label=f"{s.name} {s.label}".strip()) if s.immediate else s for s in left]


class _Steps:
    """Steps by their place and a number, with those that give and use each condition."""

    def __init__(self, steps: Iterable[DraftExploit]) -> None:
        self.steps: dict[Place, DraftExploit] = {}
        self.giving: dict[str, dict[Place, None]] = defaultdict(dict)
        self.using: dict[str, dict[Place, None]] = defaultdict(dict)
        self._last = 0
        for place, step in enumerate(steps):
            self._add(step, place)

    def immediate_results(self) -> list[str]:
        """Return the conditions that some immediate step gives, in order."""
        return list(dict.fromkeys(step.gives for step in self.steps.values() if step.immediate))

    def growth(self, c: str) -> int:
        """Return by how much more steps there would be without c than may be; at most 0 where c can be taken out."""
        ways, uses = sum(self.steps[i].immediate for i in self.giving[c]), len(self.using[c])
        return ways * uses - max(TIMES * (ways + uses), ways + uses + SPARE)

    def take_out(self, c: str) -> None:
        """Put what c follows from in the place of c; where attempts give c too, c may still be used as it is."""
        ways = _least(
            [self.steps[i] for i in self.giving[c] if self.steps[i].immediate and c not in self.steps[i].needs]
        )
        attempted = any(not self.steps[i].immediate for i in self.giving[c])
        several = len(ways) + attempted > 1
        for i in list(self.using[c]):
            step = self.steps[i]
            for way in ways:
                made = _by(step, c, way, several)
                if made.gives not in made.needs:
                    self._add(made, i[0])
            if not attempted:
                self._remove(i)
        self.drop(c)

    def drop(self, c: str) -> None:
        """Leave out that c follows from anything."""
        for i in [i for i in self.giving[c] if self.steps[i].immediate]:
            self._remove(i)

    def rename_source(self, c: str, kept: Collection[str]) -> None:
        """Where c follows from one condition alone and from nothing else, let that condition be called c."""
        makers = list(self.giving[c])
        step = self.steps[makers[0]] if makers else None
        if step is None or len(makers) > 1 or len(step.needs) != 1 or step.controls or step.needs[0] in kept:
            return
        (source,) = step.needs
        if not self.giving[source]:  # it holds from the start or never
            return
        self._remove(makers[0])
        for i in [*self.giving[source], *(i for i in self.using[source] if i not in self.giving[source])]:
            old = self.steps[i]
            self._remove(i)
            renamed = tuple(dict.fromkeys(c if need == source else need for need in old.needs))
            gives = c if old.gives == source else old.gives
            if gives not in renamed:
                self._add(replace(old, needs=renamed, gives=gives), i[0])

    def _add(self, step: DraftExploit, place: int) -> None:
        self._last += 1
        i = (place, self._last)
        self.steps[i] = step
        self.giving[step.gives][i] = None
        for need in step.needs:
            self.using[need][i] = None

    def _remove(self, i: Place) -> None:
        step = self.steps.pop(i)
        del self.giving[step.gives][i]
        for need in step.needs:
            del self.using[need][i]


def _least(ways: Sequence[DraftExploit]) -> list[DraftExploit]:
    """Return the ways that no other makes needless by asking and being stopped by less."""
    asked = [(frozenset(way.needs), frozenset(way.controls)) for way in ways]
    if len(ways) > MOST_COMPARED:
        return list(dict(zip(asked, ways, strict=True)).values())
    kept: list[int] = []
    for i, (needs, controls) in enumerate(asked):
        others = (asked[j] for j in (*kept, *range(i + 1, len(asked))))
        if not any(n <= needs and c <= controls for n, c in others):
            kept.append(i)
    return [ways[i] for i in kept]


def _by(step: DraftExploit, c: str, way: DraftExploit, several: bool) -> DraftExploit:
    """Return a step that needed c as one that goes a way to c; its label says which where it matters."""
    needs = [part for need in step.needs for part in (way.needs if need == c else (need,))]
    told = way.label or (f"via {way.name}" if several and " via " not in step.name else "")
    added = told if f" {told} " not in f"{step.label} " else ""
    return replace(
        step,
        name=f"{step.name} {told}" if told and several else step.name,
        needs=tuple(dict.fromkeys(needs)),
        label=f"{step.label} {added}".strip() if step.label else step.label,
        references=tuple(dict.fromkeys((*step.references, *way.references))),
        controls=tuple(dict.fromkeys((*step.controls, *way.controls))),
    )
