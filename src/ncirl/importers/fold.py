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

Controls may untie edges, such as to end a membership. A control stops a folded step exactly if, without the edge, the
step does not lead from the gains that stand for its need to the goal that stands for its result (`Follows.cuts`):

- A step from a goal that comes with several gains is stopped only by what unties the need from all of them: to remove
  one of fifteen members takes nothing from the other fourteen.
- Where a control unties a gain from the goal that stands for it and leaves it something of use, the step is there
  twice: to the goal, which the control stops, and to the gain, which it does not.
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
from ncirl.importers.follows import START, Follows
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
    given |= {
        x: x for x, goal in given.items() if goal != x and not _cut_alike(x, members[goal], coming[x] & needed, follows)
    }
    places = _Places(follows, coming, given, members, needed)
    folded = [step for step in places.between(kept, sure) if _leads_on(step, serving)]
    late = [
        DraftExploit(
            f"{gain} gives {goal}",
            (gain,),
            goal,
            success=1.0,
            attack_cost=0.0,
            block_cost=rewards[goal],
            origins={"success": CERTAIN, "attack_cost": CERTAIN, "block_cost": NOT_WORTH_IT},
            controls=places.ended(gain, goal),
        )
        for gain, held in coming.items()
        if given[gain] == gain
        for goal in sorted({goals[key] for key in held if key in goals} - {gain})
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


def _cut_alike(gain: str, goal: Sequence[str], held: Iterable[str], follows: Follows) -> bool:
    """Tell whether what cuts needs from a goal cuts them from a gain that the goal would stand for."""
    return all(set(follows.cuts_of(goal, need)) <= set(follows.cuts(gain, need)) for need in held)


@dataclass(frozen=True)
class _Way:
    """What a step can need in place of a condition, whether this comes with it, and the controls that cut it off."""

    key: str
    comes: bool = False
    cuts: tuple[str, ...] = ()


class _Places:
    """The conditions that stand for what steps need and give."""

    def __init__(
        self,
        follows: Follows,
        coming: Mapping[str, set[str]],
        given: Mapping[str, str],
        members: Mapping[str, list[str]],
        needed: set[str],
    ) -> None:
        self.follows, self.coming, self.given, self.members = follows, coming, given, members
        self.makers: dict[str, list[str]] = defaultdict(list)  # the gains that a condition comes with
        self.of_goal: dict[str, list[str]] = defaultdict(list)  # the gains that a goal comes with
        for gain, held in coming.items():
            for key in held:
                self.makers[key].append(gain)
        for goal, keys in members.items():
            self.of_goal[goal] = list(dict.fromkeys(gain for key in keys for gain in self.makers.get(key, ())))
        self.with_goal = {goal: follows.closed(members[goal]) for goal, gains in self.of_goal.items() if gains}
        self.split = {gain for gain in coming if any(self._is_left(gain, need) for need in coming[gain] & needed)}
        self.source: dict[str, str] = {}  # what is given at the start, by what comes with it
        for key in follows.given:
            for after in follows.closed([key]):
                self.source.setdefault(after, key)

    def ended(self, gain: str, goal: str) -> tuple[str, ...]:
        """Return the controls each of which keeps a gain from being a goal."""
        return self.follows.cuts_all(gain, (key for key in self.members[goal] if key in self.coming[gain]))

    def between(self, steps: Sequence[DraftExploit], sure: Collection[str]) -> Iterator[DraftExploit]:
        """Yield the steps with what gives their needs in place of these, and what stands for their results."""
        made = looked_at = 0
        for step in steps:
            given = self.given[step.gives]
            results = [(given, self.ended(step.gives, given) if given != step.gives else ())]
            results += [(step.gives, ())] if step.gives in self.split else []
            ways = [
                self._from_start(need) if need in sure else list(self._ways(need, step.gives)) for need in step.needs
            ]
            seen: set[tuple[tuple[str, ...], str]] = set()
            for way, (result, ending) in product(product(*ways), results):
                looked_at += 1
                if looked_at > MOST_LOOKED_AT or made > MOST_MADE:
                    raise InputError(f"more than {made} steps once what comes without effort is folded; cut it down")
                needs = tuple(dict.fromkeys(one.key for one in way))
                if result in needs or (needs, result) in seen:
                    continue
                seen.add((needs, result))
                made += 1
                untied = (key for one in way for key in one.cuts)
                controls = tuple(dict.fromkeys((*step.controls, *untied, *ending)))
                through = tuple(one.key for one in way if one.comes)
                yield replace(step, needs=needs, gives=result, through=through, controls=controls)

    def _from_start(self, need: str) -> list[_Way]:
        source = self.source.get(need, need)
        return [_Way(source, source != need, self.follows.cuts(START, need))]

    def _ways(self, need: str, result: str) -> Iterator[_Way]:
        """Yield what a need comes with, unless the result comes with it as well, whatever is untied."""
        cuts = self.follows.cuts
        if need in self.source:
            yield from self._from_start(need)
        for goal, held in self.with_goal.items():
            if need in held and (result not in held or self.follows.cuts_of(self.members[goal], result)):
                controls = self.follows.cuts_of(self.members[goal], need)
                if any(self._adds(gain, goal, need, controls) for gain in self.of_goal[goal]):
                    yield _Way(goal, goal != need, controls)
        for gain in self.makers.get(need, ()):
            own = self.given[gain] == gain and gain not in self.with_goal
            held_already = result in self.coming[gain] and not cuts(gain, result)
            if not held_already and (own or (gain in self.split and self._is_left(gain, need))):
                yield _Way(gain, gain != need, cuts(gain, need))

    def _adds(self, gain: str, goal: str, need: str, controls: Collection[str]) -> bool:
        """Tell whether a need comes with a goal that a gain makes, where it does not come with the gain itself."""
        own = self.given[gain] == gain and gain not in self.with_goal
        return (
            not own
            or need not in self.coming[gain]
            or not set(self.follows.cuts(gain, need))
            <= {
                *controls,
                *self.ended(gain, goal),
            }
        )

    def _is_left(self, gain: str, need: str) -> bool:
        """Tell whether a control that keeps a gain from being the goal that stands for it leaves it what is needed."""
        goal = self.given[gain]
        return goal != gain and not set(self.ended(gain, goal)) <= set(self.follows.cuts(gain, need))
