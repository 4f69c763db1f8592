"""What comes with what, without effort: a ⊢ b says that whoever holds a holds b at once (a member, a group).

Such edges are no steps: nobody attempts them, they take no stage and cannot fail. They are folded away:

- what comes with the start holds from the start;
- a step that needs n is there once for each gain x (a condition that a step gives) with x ⊢* n, and needs x instead;
- a step whose gain comes with one goal only, and is of no further use for the other goals, gives that goal itself.

Who can reach what, and in how many stages, stays the same, but for what the report counts:

- One right that comes with several gains is a step for each: whoever holds several may try each, and each is blocked on
  its own, unless a control stops them all.
- A gain that comes with several goals, or with one but leads on to others too, stays a condition of its own, since a
  step gives one condition. Its goals follow by a certain step, free and not worth blocking, one stage later.
- Goals that are one (tier zero) are held together: what comes with one of them comes with all.

Steps that lead to no goal are left out, and so are those from a goal that lead to no other.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from ncirl.attack_graphs.reductions.prune import rounds_to
from ncirl.errors import InputError
from ncirl.importers.draft import MOST_PARTS, DraftExploit
from ncirl.importers.report import Origin

__all__ = ["CERTAIN", "Folded", "Follows", "fold"]

MOST_LOOKED_AT = 20_000_000  # conditions, over all gains: some seconds
CERTAIN = Origin("what takes no effort: it is certain and free")
NOT_WORTH_IT = Origin("what comes without effort is not worth blocking: the goal's reward", default=True)


class Follows:
    """The edges a ⊢ b.

    Examples
    --------
    >>> sorted(Follows([("ann", "staff"), ("staff", "everyone")]).closed(["ann"]))
    ['ann', 'everyone', 'staff']
    """

    def __init__(self, edges: Iterable[tuple[str, str]]) -> None:
        self.next: dict[str, list[str]] = defaultdict(list)
        self.before: dict[str, list[str]] = defaultdict(list)
        for start, end in dict.fromkeys(edges):
            self.next[start].append(end)
            self.before[end].append(start)
        self._ties: Mapping[tuple[str, str], str] = {}
        self._given: frozenset[str] = frozenset()
        self._cuts: dict[tuple[str, str], tuple[str, ...]] = {}

    def control(self, ties: Mapping[tuple[str, str], str], given: Collection[str]) -> None:
        """Let controls untie some edges; `given` are the conditions that the attacker has and nothing else gives."""
        self._ties, self._given = ties, frozenset(given)

    def cuts(self, gain: str, need: str) -> tuple[str, ...]:
        """Return the controls each of which keeps a gain, or with "" the start, from coming with what is needed."""
        if not self._ties:
            return ()
        if (gain, need) not in self._cuts:
            sources = frozenset([gain]) if gain else self._given
            way = self._way(sources, need, None)
            on_all = (edge for edge in way or () if edge in self._ties and self._way(sources, need, edge) is None)
            self._cuts[gain, need] = tuple(self._ties[edge] for edge in on_all)
        return self._cuts[gain, need]

    def _way(self, sources: Collection[str], end: str, without: tuple[str, str] | None) -> list[tuple[str, str]] | None:
        """Return the edges of a shortest way, if there is one without some edge."""
        came: dict[str, str] = dict.fromkeys(sources, "")
        rest = list(sources)
        for key in rest:
            for after in self.next.get(key, ()):
                if after not in came and (key, after) != without:
                    came[after] = key
                    rest.append(after)
        if end not in came:
            return None
        way = []
        while came[end]:
            way.append((came[end], end))
            end = came[end]
        return way

    def __bool__(self) -> bool:
        return bool(self.next)

    def closed(self, keys: Iterable[str], among: Collection[str] | None = None) -> set[str]:
        """Return some conditions and all that comes with them, or so much of it as lies `among` some."""
        return set(self.in_order(keys, among))

    def in_order(self, keys: Iterable[str], among: Collection[str] | None = None) -> list[str]:
        """Return the same as a list that is the same each time."""
        found = dict.fromkeys(keys)
        rest = list(found)
        for key in rest:
            for after in self.next.get(key, ()):
                if after not in found and (among is None or after in among):
                    found[after] = None
                    rest.append(after)
        return rest


@dataclass(frozen=True)
class Folded:
    """Steps between what is left, those that are of no use, and how many of the first are late goals."""

    steps: list[DraftExploit]
    useless: list[DraftExploit]
    late: int = 0


def fold(
    steps: Sequence[DraftExploit],
    follows: Follows,
    start: Collection[str],
    goals: Mapping[str, str],
    rewards: Mapping[str, float],
) -> Folded:
    """Fold what comes without effort into the steps.

    Parameters
    ----------
    steps : sequence of DraftExploit
        Each can be taken some day, and gives what does not hold from the start.
    follows : Follows
        The edges.
    start : collection of str
        What holds from the start, closed under `follows`.
    goals : mapping
        The conditions that intents reward, each with the one that stands for it: goals that are one are told apart by
        nobody.
    rewards : mapping
        The most that any intent pays for what stands for a goal.

    Raises `InputError` when the steps become too many.
    """
    members: dict[str, list[str]] = defaultdict(list)
    for key, goal in goals.items():
        members[goal].append(key)
    serving = {goal: _useful(steps, follows, keys) for goal, keys in members.items()}
    useful = set().union(*serving.values())
    kept = [step for step in steps if step.gives in useful]
    coming = _coming(kept, follows, useful)
    beyond = {goal: _beyond(goal, follows.closed(keys), kept, serving) for goal, keys in members.items()}
    given = {gain: _given(gain, held, goals, beyond) for gain, held in coming.items()}
    makers: dict[str, list[str]] = defaultdict(list)
    for gain, held in coming.items():
        for key in held:
            makers[key].append(gain)
    between = _between_gains(kept, follows, start, makers, coming, given)
    folded = [step for step in between if _leads_on(step, serving)]
    late = [
        DraftExploit(
            f"{gain} gives {goal}",
            (gain,),
            goal,
            success=1.0,
            attack_cost=0.0,
            block_cost=rewards[goal],
            origins={"success": CERTAIN, "attack_cost": CERTAIN, "block_cost": NOT_WORTH_IT},
        )
        for gain, held in coming.items()
        if given[gain] == gain
        for goal in sorted({goals[key] for key in held if key in goals} - {gain})
    ]
    reach = rounds_to(start, [(step.needs, step.gives) for step in (*folded, *late)])
    left = [step for step in (*folded, *late) if reach.keys() >= set(step.needs)]
    late_left = sum(step.origins.get("success") == CERTAIN for step in left)
    named = {step.name for step in left}
    return Folded(left, [step for step in steps if step.name not in named], late_left)


def _useful(steps: Sequence[DraftExploit], follows: Follows, goals: Iterable[str]) -> set[str]:
    """Return the conditions from which a way leads to one of the goals, by steps or for nothing."""
    makers: dict[str, list[DraftExploit]] = defaultdict(list)
    for step in steps:
        makers[step.gives].append(step)
    found = set(goals)
    rest = list(found)
    while rest:
        key = rest.pop()
        for before in (*follows.before.get(key, ()), *(need for step in makers.get(key, ()) for need in step.needs)):
            if before not in found:
                found.add(before)
                rest.append(before)
    return found


def _coming(steps: Sequence[DraftExploit], follows: Follows, useful: set[str]) -> dict[str, set[str]]:
    """Return what is useful among all that comes with each gain, itself included."""
    coming: dict[str, set[str]] = {}
    looked_at = 0
    for gain in dict.fromkeys(step.gives for step in steps):
        coming[gain] = follows.closed([gain], useful)
        looked_at += len(coming[gain])
        if looked_at > MOST_LOOKED_AT:
            raise InputError("too much comes with too much else to be folded; import a part of the graph")
    return coming


def _leads_on(step: DraftExploit, serving: Mapping[str, set[str]]) -> bool:
    """Tell whether a step can serve a goal that is not held when it is taken."""
    return any(step.gives in useful for goal, useful in serving.items() if goal not in step.needs)


def _beyond(goal: str, held: set[str], steps: Sequence[DraftExploit], serving: Mapping[str, set[str]]) -> set[str]:
    """Return what does not come with a goal and is needed on a way to another."""
    others = set().union(*(useful for one, useful in serving.items() if one != goal))
    return {need for step in steps if step.gives in others for need in step.needs} - held


def _given(gain: str, held: set[str], goals: Mapping[str, str], beyond: Mapping[str, set[str]]) -> str:
    """Return what a step to a gain gives: the goal that comes with it if there is nothing more to it, or itself."""
    told = {goals[key] for key in held if key in goals}
    goal = told.pop() if len(told) == 1 else gain
    return gain if goal == gain or held & beyond[goal] else goal


def _between_gains(
    steps: Sequence[DraftExploit],
    follows: Follows,
    start: Collection[str],
    makers: Mapping[str, list[str]],
    coming: Mapping[str, set[str]],
    given: Mapping[str, str],
) -> Iterator[DraftExploit]:
    """Yield the steps with what gives their needs in place of these."""
    made = 0
    for step in steps:
        result = given[step.gives]
        ways = [
            [(need, need)] if need in start else [(need, gain) for gain in makers.get(need, ())] for need in step.needs
        ]
        seen: set[tuple[str, ...]] = set()
        for way in product(*ways):
            made += 1
            if made > MOST_PARTS:
                raise InputError(f"more than {MOST_PARTS} steps once what comes without effort is folded; cut it down")
            if any(step.gives in coming.get(gain, ()) for _, gain in way):
                continue  # it is held already
            needs = tuple(dict.fromkeys(given.get(gain, gain) for _, gain in way))
            if result in needs or needs in seen:
                continue
            seen.add(needs)
            through = tuple(gain for need, gain in way if gain != need)
            untied = (key for need, gain in way for key in follows.cuts("" if need in start else gain, need))
            controls = tuple(dict.fromkeys((*step.controls, *untied)))
            yield replace(step, needs=needs, gives=result, through=through, controls=controls)
