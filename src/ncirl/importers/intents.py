"""What attackers may want: from a file, from goals that a person names, from the source, or guessed and said so."""

from collections.abc import Mapping
from typing import Any, TypeVar

from ncirl.attack_graphs.graph import Intent
from ncirl.errors import InputError
from ncirl.formats.untrusted import read_data
from ncirl.importers.draft import Draft
from ncirl.importers.names import ConditionNames, unique_ids
from ncirl.importers.options import ImportOptions
from ncirl.importers.report import Notes, shortened

__all__ = ["choose_intents"]

T = TypeVar("T")
MOST_GUESSED = 5  # goals; more make a game harder without being better guesses
MOST_INTENTS = 1000  # far beyond what can be solved
MOST_LISTED = 20
DECIDE = "--goal or --intents decides"


def choose_intents(
    draft: Draft,
    options: ImportOptions,
    names: ConditionNames,
    depth: Mapping[str, int],
    needed: set[str],
    notes: Notes,
) -> tuple[tuple[Intent, ...], str]:
    """Return the intents and where they come from, in words; guesses are told in the notes.

    `depth` has the least rounds of steps to each condition that can be reached, 0 for those of the start; `needed` are
    the conditions that some step needs.

    Raises `InputError` when a condition is unknown or can never be gained, or no goal can be guessed.
    """
    if options.intents is not None:
        return _from_file(options, names, depth), f"from {options.intents}"
    if options.goals:
        goals = [_gained(name, "goal", names, depth) for name in options.goals]
        paid = {key: draft.goals.get(key) for key in goals}
        return _one_each(paid, options, names), "one per goal given, equally likely"
    told = "rewards of the source for what cannot be gained"
    rewards = {intent: _gainable(paid, told, depth, notes) for intent, paid in draft.rewards.items()}
    paying = [(intent, paid) for intent, paid in rewards.items() if any(value > 0 for value in paid.values())]
    if paying:
        ids = unique_ids(intent for intent, _ in paying)
        by_id = [{names.id(key): value for key, value in paid.items()} for _, paid in paying]
        intents = tuple(Intent(id_, 1 / len(ids), paid) for id_, paid in zip(ids, by_id, strict=True))
        return intents, "those of the source, equally likely"
    stated = _gainable(draft.goals, "goals of the source that cannot be gained", depth, notes)
    if stated:
        return _one_each(stated, options, names), "one per goal of the source, equally likely"
    guessed = _guessed(draft, depth, needed)
    for key, why in guessed.items():
        notes.add("assumed", f"guessed as a goal, as {why}", names.id(key))
    return _one_each(dict.fromkeys(guessed), options, names), f"one per guessed goal, equally likely; {DECIDE}"


def _gainable(found: Mapping[str, T], told: str, depth: Mapping[str, int], notes: Notes) -> dict[str, T]:
    for key in found:
        if depth.get(key, 0) == 0:
            notes.add("dropped", told, key)
    return {key: value for key, value in found.items() if depth.get(key, 0) > 0}


def _one_each(goals: Mapping[str, float | None], options: ImportOptions, names: ConditionNames) -> tuple[Intent, ...]:
    return tuple(
        Intent(names.id(key), 1 / len(goals), {names.id(key): options.goal_reward if paid is None else paid})
        for key, paid in goals.items()
    )


def _guessed(draft: Draft, depth: Mapping[str, int], needed: set[str]) -> dict[str, str]:
    gained = sorted((key for key, rounds in depth.items() if rounds), key=lambda key: -depth[key])
    sinks = [key for key in gained if key not in needed]
    many = len(sinks) > MOST_GUESSED
    told = f"it is among the deepest of {len(sinks)} that no step needs" if many else "no step needs it"
    guesses = dict.fromkeys(sinks[:MOST_GUESSED], told)
    offered = [key for key in draft.guesses if depth.get(key, 0) and key not in guesses]
    guesses |= {key: draft.guesses[key] for key in offered[:MOST_GUESSED]}
    if not guesses:
        candidates = [draft.conditions[key].label or key for key in gained]
        raise InputError(
            "every condition leads on to others, so no goal can be guessed; name what attackers may want with --goal "
            f"(once for each) or --intents: {shortened(candidates, MOST_LISTED)}"
        )
    return guesses


def _from_file(options: ImportOptions, names: ConditionNames, depth: Mapping[str, int]) -> tuple[Intent, ...]:
    from ncirl.formats.shapes import Name, Strict, shaped

    class GivenIntent(Strict):
        id: Name
        prior: float | None = None
        rewards: dict[Name, float]

    where = str(options.intents)
    data: Any = read_data(where, options.size_limit)
    listed = data.get("intents") if isinstance(data, dict) else data
    if not isinstance(listed, list) or not listed:
        raise InputError(
            "must be a list of intents, each with id, rewards and prior, as in an attack-graph file", where
        )
    if len(listed) > MOST_INTENTS:
        raise InputError(f"has {len(listed)} intents, more than {MOST_INTENTS}", where)
    given = shaped(list[GivenIntent], listed, where)
    priors = [intent.prior for intent in given]
    if any(prior is None for prior in priors):
        if any(prior is not None for prior in priors):
            raise InputError("give every intent a prior, or none to make them equally likely", where)
        priors = [1 / len(given)] * len(given)
    at = f"{where}: condition"
    return tuple(
        Intent(i.id, prior or 0.0, {names.id(_gained(c, at, names, depth)): paid for c, paid in i.rewards.items()})
        for i, prior in zip(given, priors, strict=True)
    )


def _gained(name: str, where: str, names: ConditionNames, depth: Mapping[str, int]) -> str:
    key, place = names.find(name, where), f"{where} '{name}'"
    if key not in depth:
        raise InputError("cannot be reached from the start by any steps; the report says what was dropped", place)
    if depth[key] == 0:
        raise InputError("holds from the start, so that nobody can gain it", place)
    return key
