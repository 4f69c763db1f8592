"""What comes with what, without effort: a ⊢ b says that whoever holds a holds b at once (a member, a group).

Such edges are no steps: nobody attempts them, they take no stage and cannot fail. They are folded away:

- what comes with the start holds from the start, and a step that needs it needs what is given instead;
- a step that needs n is there once for each gain x (a condition that a step gives) with x ⊢* n, and needs x instead;
- a step whose gain comes with one goal only, and is of no further use for the other goals, gives that goal itself.

Who can reach what, and in how many stages, stays the same, but for what the report counts:

- One right that comes with several gains is a step for each: whoever holds several may try each, and each is blocked on
  its own, unless a control stops them all.
- A gain that comes with several goals, or with one but leads on to others too, stays a condition of its own, since a
  step gives one condition. Its goals follow by a certain step, free and not worth blocking, one stage later.
- Goals that are one (tier zero) are held together: what comes with one of them comes with all.

Controls may untie edges, such as to end a membership. A folded step is there once for each way by which its need comes
with what stands for it, and its gain with the goal that stands for this; the controls of the way stop it:

- A step from a goal that comes with several gains is not stopped by what unties one of them: to remove one of fifteen
  members takes nothing from the other fourteen. Whoever is a member in two ways has to be removed from both.
- Where a gain can be untied from the goal that stands for it and is left something of use, the step is there twice: to
  the goal, which the controls stop, and to the gain, which they do not.
- What the attacker holds from the start by an edge that can be untied may be gained again, and by others.

Steps that lead to no goal are left out, and so are those from a goal that lead to no other.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from ncirl.attack_graphs.reductions.prune import rounds_to
from ncirl.errors import InputError
from ncirl.importers.draft import MOST_MADE, DraftExploit
from ncirl.importers.follows import Follows, Ways, fewest
from ncirl.importers.report import Origin

__all__ = ["CERTAIN", "Folded", "Follows", "fold"]

MOST_LOOKED_AT = 20_000_000  # conditions, over all gains: some seconds
CERTAIN = Origin("what takes no effort: it is certain and free")
NOT_WORTH_IT = Origin("what comes without effort is not worth blocking: the goal's reward", default=True)


@dataclass(frozen=True)
class Folded:
    """Steps between what is left, those that are of no use, and how many of the first are late goals."""

    steps: list[DraftExploit]
    useless: list[DraftExploit]
    late: int = 0


def fold(
    steps: Sequence[DraftExploit],
    follows: Follows,
    sure: set[str],
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
    sure : collection of str
        What holds from the start and no control unties from it, closed under `follows`.
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
    follows.look_at(useful)
    coming = _coming(kept, follows, useful)
    beyond = {goal: _beyond(goal, follows.closed(keys), kept, serving) for goal, keys in members.items()}
    needed = {need for step in kept for need in step.needs} - sure
    given = {gain: _given(gain, held, goals, beyond) for gain, held in coming.items()}
    for gain, goal in given.items():
        keys = members.get(goal, [])
        if goal != gain and not _is_stood_for(gain, keys, coming[gain] & needed & follows.closed(keys), follows):
            given[gain] = gain
    places = _Places(follows, coming, given, members, needed, sure)
    folded = [step for step in places.between(kept) if _leads_on(step, serving)]
    late = [
        DraftExploit(
            f"{gain} gives {goal}",
            (gain,),
            goal,
            success=1.0,
            attack_cost=0.0,
            block_cost=rewards[goal],
            origins={"success": CERTAIN, "attack_cost": CERTAIN, "block_cost": NOT_WORTH_IT},
            controls=way,
        )
        for gain, held in coming.items()
        if given[gain] == gain
        for goal in sorted({goals[key] for key in held if key in goals} - {gain})
        for way in places.to_goal(gain, goal)
    ]
    reach = rounds_to(sure.union(follows.given), [(step.needs, step.gives) for step in (*folded, *late)])
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


def _is_stood_for(gain: str, goal: Sequence[str], held: Iterable[str], follows: Follows) -> bool:
    """Tell whether whatever comes with a gain comes with the goal that would stand for it, whatever is untied."""
    return all(
        any(set(other) <= set(way) for other in follows.ways(goal, need))
        for need in held
        for way in follows.ways([gain], need)
    )


@dataclass(frozen=True)
class _Way:
    """What a step can need in place of a condition, whether this comes with it, and the controls that untie the two."""

    key: str
    comes: bool = False
    ended: tuple[str, ...] = ()


class _Places:
    """The conditions that stand for what steps need and give."""

    def __init__(
        self,
        follows: Follows,
        coming: Mapping[str, set[str]],
        given: Mapping[str, str],
        members: Mapping[str, list[str]],
        needed: set[str],
        sure: Collection[str],
    ) -> None:
        self.follows, self.coming, self.given, self.members, self.sure = follows, coming, given, members, sure
        self.makers: dict[str, list[str]] = defaultdict(list)  # the gains that a condition comes with
        self.of_goal: dict[str, list[str]] = defaultdict(list)  # the gains that a goal comes with
        for gain, held in coming.items():
            for key in held:
                self.makers[key].append(gain)
        for goal, keys in members.items():
            self.of_goal[goal] = list(dict.fromkeys(gain for key in keys for gain in self.makers.get(key, ())))
        self.with_goal = {goal: follows.closed(members[goal]) for goal, gains in self.of_goal.items() if gains}
        self.split = {
            gain
            for gain, held in coming.items()
            if any(self._is_left(gain, way) for need in held & needed for way in follows.ways([gain], need))
        }
        self.source: dict[str, str] = {}  # what is given at the start, by what comes with it
        for key in follows.given:
            for after in follows.closed([key]):
                self.source.setdefault(after, key)

    def to_goal(self, gain: str, goal: str) -> Ways:
        """Return the ways by which a gain is a goal."""
        return fewest([way for key in self.members[goal] for way in self.follows.ways([gain], key)])

    def between(self, steps: Sequence[DraftExploit]) -> Iterator[DraftExploit]:
        """Yield the steps with what gives their needs in place of these, and what stands for their results."""
        made = looked_at = 0
        for step in steps:
            given = self.given[step.gives]
            results = [(given, way) for way in (self.to_goal(step.gives, given) if given != step.gives else ((),))]
            results += [(step.gives, ())] if step.gives in self.split else []
            ways = [list(self._ways(need, step.gives)) for need in step.needs]
            found: dict[tuple[tuple[str, ...], str], list[tuple[str, ...]]] = defaultdict(list)
            through: dict[tuple[str, ...], tuple[str, ...]] = {}
            for way, (result, ended) in product(product(*ways), results):
                looked_at += 1
                if looked_at > MOST_LOOKED_AT or made > MOST_MADE:
                    raise InputError(
                        f"more than {made} steps once what comes without effort is folded; name fewer goals or starts, "
                        "leave the controls out with --no-controls, or import a part of the graph"
                    )
                needs = tuple(dict.fromkeys(one.key for one in way))
                if result not in needs:
                    through.setdefault(needs, tuple(one.key for one in way if one.comes))
                    found[needs, result].append(tuple(dict.fromkeys((*(c for one in way for c in one.ended), *ended))))
            for (needs, result), each in found.items():
                for untied in fewest(each, len(each)):
                    made += 1
                    controls = tuple(dict.fromkeys((*step.controls, *untied)))
                    yield replace(step, needs=needs, gives=result, through=through[needs], controls=controls)

    def _ways(self, need: str, result: str) -> Iterator[_Way]:
        """Yield what a need comes with, unless the result comes with it as well, whatever is untied."""
        follows = self.follows
        source = self.source.get(need)
        for way in ((),) if source is None and need in self.sure else follows.ways(follows.given, need):
            yield _Way(source or need, source not in (None, need), way)
        if need in self.sure:
            return
        for goal, held in self.with_goal.items():
            if need in held and not follows.is_sure(self.members[goal], result):
                ways = follows.ways(self.members[goal], need)
                if any(self._adds(gain, goal, need, ways) for gain in self.of_goal[goal]):
                    yield from (_Way(goal, goal != need, way) for way in ways)
        for gain in self.makers.get(need, ()):
            if not follows.is_sure([gain], result):
                yield from (_Way(gain, gain != need, way) for way in self._own(gain, need))

    def _own(self, gain: str, need: str) -> Ways:
        """Return the ways from a gain as a condition of its own; where a goal stands for it, what that leaves it."""
        ways = self.follows.ways([gain], need)
        if self._is_own(gain):
            return ways
        return tuple(way for way in ways if self._is_left(gain, way)) if gain in self.split else ()

    def _is_own(self, gain: str) -> bool:
        return self.given[gain] == gain and gain not in self.with_goal

    def _adds(self, gain: str, goal: str, need: str, ways: Ways) -> bool:
        """Tell whether a need comes with a goal that a gain makes, where it does not come with the gain itself."""
        own = [set(way) for way in self.follows.ways([gain], need)]
        both = [{*first, *then} for first in self.to_goal(gain, goal) for then in ways]
        return not self._is_own(gain) or not all(any(one <= way for one in own) for way in both)

    def _is_left(self, gain: str, way: Collection[str]) -> bool:
        """Tell whether a way can be there while a gain is not the goal that stands for it."""
        goal = self.given[gain]
        return goal != gain and not any(set(other) <= set(way) for other in self.to_goal(gain, goal))
