"""What a person may choose for the start and for goals, with why, the likeliest first.

A start is what steps need, and no step needs to give it; what comes with a goal is none. A goal is what can be gained.
What the source itself says to hold from the start is no choice.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from ncirl.attack_graphs.graph import Intent
from ncirl.errors import InputError
from ncirl.importers.draft import Draft
from ncirl.importers.follows import Follows
from ncirl.importers.names import ConditionNames
from ncirl.importers.report import Candidate, Candidates, Undecided

__all__ = ["candidates_of", "offering"]

MOST = 50  # of either; any other can be named


def candidates_of(
    draft: Draft,
    names: ConditionNames,
    begun: Iterable[str],
    depth: Mapping[str, int],
    intents: Sequence[Intent],
) -> Candidates:
    """Return what may be chosen, given where attackers begin now, the rounds to all they reach and what they want."""
    wanted = {names.key(id_) for intent in intents for id_, paid in intent.rewards.items() if paid > 0}
    starts, goals = _starts(draft, set(begun), depth), _goals(draft, wanted, depth)
    return Candidates(
        tuple(Candidate(names.id(key), names.told(key), why, key in set(begun)) for key, why in starts[:MOST]),
        tuple(Candidate(names.id(key), names.told(key), why, key in wanted) for key, why in goals[:MOST]),
    )


@contextmanager
def offering(candidates: Callable[[], Candidates]) -> Iterator[None]:
    """Let what is refused inside carry candidates, as what a person may choose instead."""
    try:
        yield
    except Undecided:
        raise
    except InputError as error:
        raise Undecided.over(error, candidates()) from None


def _starts(draft: Draft, begun: set[str], depth: Mapping[str, int]) -> list[tuple[str, str]]:
    leading = Counter(key for step in draft.exploits for key in dict.fromkeys(step.needs))
    leading.update(key for key, _ in draft.follows)
    given = {step.gives for step in draft.exploits} | {key for _, key in draft.follows}
    wanted = Follows((end, start) for start, end in draft.follows).closed(draft.goals)
    found = []
    for key, count in leading.most_common():
        condition = draft.conditions.get(key)
        if condition is None or condition.folded or condition.initial or (depth.get(key) == 0 and key not in begun):
            continue
        if key in wanted and key not in begun:
            continue  # whoever holds a goal already has nothing to gain it by
        why = f"{count} step{'s' if count > 1 else ''} from here"
        why += "" if key in given else ", none leads here"
        why += "" if key in depth else ", out of reach now"
        found.append((key, why))
    return sorted(found, key=lambda one: (one[0] not in begun, one[0] in given, one[0] in depth))


def _goals(draft: Draft, wanted: set[str], depth: Mapping[str, int]) -> list[tuple[str, str]]:
    needed = {key for step in draft.exploits for key in step.needs}.union(key for key, _ in draft.follows)
    rewarded = {key for paid in draft.rewards.values() for key, value in paid.items() if value > 0}
    found = []
    for key, rounds in depth.items():
        if not rounds or draft.conditions[key].folded:
            continue
        said = ["the source calls it a goal"] if key in draft.goals else []
        said += ["the source rewards it"] if key in rewarded else []
        said += [draft.guesses[key]] if key in draft.guesses else []
        said += [] if key in needed else ["no step needs it"]
        far = f"{rounds} step{'s' if rounds > 1 else ''} away"
        found.append(((key not in wanted, not said, -rounds), key, ", ".join([*said, far])))
    return [(key, why) for _, key, why in sorted(found, key=lambda one: one[0])]
