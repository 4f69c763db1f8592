"""What attackers may want: from a file, from goals that a person names, from the source, or guessed and said so."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from ncirl.attack_graphs.graph import Intent
from ncirl.errors import InputError
from ncirl.formats.untrusted import read_data
from ncirl.importers.already import held_by
from ncirl.importers.defaults import Usual
from ncirl.importers.draft import Draft
from ncirl.importers.follows import Follows
from ncirl.importers.names import ConditionNames, unique_ids
from ncirl.importers.options import ImportOptions
from ncirl.importers.report import SOURCE, Notes, Origin, shortened

__all__ = ["Chosen", "choose_intents", "refuse_held"]

T = TypeVar("T")
MOST_GUESSED = 5  # goals; more make a game harder without being better guesses
MOST_INTENTS = 1000  # far beyond what can be solved
MOST_LISTED = 20
FEW_STEPS = 3  # in so small a graph one step may be all there is
HELD = "goals that the intruder has from the start"
DECIDE = "--goal or --intents decides"
EQUALLY = Origin("equally likely, as nothing says which is likelier; --intents sets it", default=True)


@dataclass(frozen=True)
class Chosen:
    """The intents, where they come from in words, and of goals that are one the key that stands for each.

    `worth` and `likely` say where the rewards of each intent and its prior come from, by its id; `guessed` are the keys
    of goals that nobody named.
    """

    intents: tuple[Intent, ...]
    words: str
    standing: Mapping[str, str] = field(default_factory=dict)
    worth: Mapping[str, Origin] = field(default_factory=dict)
    likely: Origin = EQUALLY
    guessed: tuple[str, ...] = ()


def choose_intents(
    draft: Draft,
    options: ImportOptions,
    names: ConditionNames,
    depth: Mapping[str, int],
    steps: Sequence[tuple[Sequence[str], str]],
    notes: Notes,
    follows: Follows,
) -> Chosen:
    """Return the intents and where they come from, in words; guesses are told in the notes.

    `depth` has the least rounds of steps to each condition that can be reached, 0 for those of the start; `steps` are
    what each step needs and gives; `follows` tells by what something is held from the start.

    Raises `InputError` when a condition is unknown or can never be gained, or no goal can be guessed.
    """
    if options.intents is not None:
        return _from_file(options, names, depth, follows)
    if options.goals:
        goals = [_gained(name, "goal", names, depth, follows) for name in options.goals]
        paid = {key: draft.goals.get(key) for key in goals}
        return _one_each(paid, draft, options, names, "one per goal given, equally likely")
    told = "rewards of the source for what cannot be gained"
    rewards = {intent: _gainable(paid, told, depth, names, notes) for intent, paid in draft.rewards.items()}
    paying = [(intent, paid) for intent, paid in rewards.items() if any(value > 0 for value in paid.values())]
    if paying:
        ids = unique_ids(intent for intent, _ in paying)
        by_id = [{names.id(key): value for key, value in paid.items()} for _, paid in paying]
        intents = tuple(Intent(id_, 1 / len(ids), paid) for id_, paid in zip(ids, by_id, strict=True))
        worth = dict.fromkeys(ids, SOURCE)
        return Chosen(intents, "those of the source, equally likely", worth=worth)
    wanted = {key: paid for key, paid in draft.goals.items() if paid is None or paid > 0}
    for key in draft.goals.keys() - wanted.keys():
        notes.add("dropped", "goals of the source that are worth nothing", names.told(key))
    held = {draft.groups[key] for key in wanted if key in draft.groups and depth.get(key) == 0}
    for key in [key for key in wanted if draft.groups.get(key) in held]:
        notes.add("dropped", "goals of the source that are one with what holds from the start", names.told(key))
        del wanted[key]
    stated = _gainable(wanted, "goals of the source that cannot be gained", depth, names, notes)
    if stated:
        return _stated(stated, draft, options, names, notes)
    guessed = _guessed(draft, names, depth, steps)
    for key, why in guessed.items():
        notes.add("assumed", f"guessed as a goal, as {why}", names.id(key))
    named = wanted or any(value > 0 for paid in draft.rewards.values() for value in paid.values())
    instead = ", as none that the source names can be gained" if named else ""
    words = f"one per guessed goal{instead}, equally likely"
    chosen = _one_each(dict.fromkeys(guessed), draft, options, names, words, f"; {DECIDE}")
    return replace(chosen, guessed=tuple(guessed))


def _stated(
    stated: Mapping[str, float | None], draft: Draft, options: ImportOptions, names: ConditionNames, notes: Notes
) -> Chosen:
    """Make an intent of each goal of the source, or group of goals that are one, the first ones where they are many."""
    first: dict[str, str] = {}
    standing = {key: first.setdefault(draft.groups.get(key, key), key) for key in stated}
    most = len(stated) if draft.most_goals is None else draft.most_goals
    taken = list(dict.fromkeys(standing.values()))[:most]
    for key, one in standing.items():
        if one not in taken:
            told = f"goals of the source beyond the first {most}, which are the likeliest; --goal names others"
            notes.add("dropped", told, names.told(key))
        elif key != one:
            notes.add("merged", "goals of the source that are one, since either gives the other", names.told(key))
    words = "one per goal of the source, equally likely"
    chosen = _one_each({key: stated[key] for key in taken}, draft, options, names, words)
    return replace(chosen, standing={key: one for key, one in standing.items() if one in taken})


def _gainable(
    found: Mapping[str, T], told: str, depth: Mapping[str, int], names: ConditionNames, notes: Notes
) -> dict[str, T]:
    for key in found:
        if depth.get(key, 0) == 0:
            notes.add("dropped", HELD if key in depth else told, names.told(key) if names.knows(key) else key)
    return {key: value for key, value in found.items() if depth.get(key, 0) > 0}


def _one_each(
    goals: Mapping[str, float | None],
    draft: Draft,
    options: ImportOptions,
    names: ConditionNames,
    words: str,
    more: str = "",
) -> Chosen:
    """Make an intent of each goal; what it pays is what the source says, or its share of what is worth most."""
    reward, usual = Usual(options).number("goal_reward")
    shared = replace(usual, words=f"{draft.worth_from}, what is worth most being worth {reward:g}: {usual.words}")
    intents, worth = [], {}
    for key, said in goals.items():
        share = draft.worth.get(key)
        paid = reward * (share or 1.0) if said is None else said
        intents.append(Intent(names.id(key), 1 / len(goals), {names.id(key): paid}))
        worth[names.id(key)] = usual if said is None and share is None else shared if said is None else SOURCE
    told = f", worth {draft.worth_from}" if draft.worth else ""
    return Chosen(tuple(intents), f"{words}{told}{more}", worth=worth)


def _guessed(
    draft: Draft, names: ConditionNames, depth: Mapping[str, int], steps: Sequence[tuple[Sequence[str], str]]
) -> dict[str, str]:
    """Return goals to guess, the deepest first, with why; `InputError` with candidates where every guess is trivial."""
    needed = {key for needs, gives in steps if gives not in draft.pointless for key in needs}
    needed.update(start for start, _ in draft.follows)
    gained = sorted((key for key, rounds in depth.items() if rounds), key=lambda key: -depth[key])
    trivial = _trivial(draft, depth, steps)
    likely = [key for key in gained if key in draft.likely and key not in trivial]
    if likely:
        return {key: draft.guesses[key] for key in likely[:MOST_GUESSED]}
    sinks = [key for key in gained if key not in needed and key not in trivial]
    many = len(sinks) > MOST_GUESSED
    told = f"it is among the deepest of {len(sinks)} that no step needs" if many else "no step needs it"
    guesses = dict.fromkeys(sinks[:MOST_GUESSED], told)
    offered = [key for key in draft.guesses if depth.get(key, 0) and key not in guesses and key not in trivial]
    guesses |= {key: draft.guesses[key] for key in offered[:MOST_GUESSED]}
    if guesses:
        return guesses
    refused = [
        f"{names.told(key)} ({why})" for key, why in trivial.items() if key not in needed or key in draft.guesses
    ]
    why = f"what could be guessed is no goal: {shortened(refused)}" if refused else "every condition leads on to others"
    ranked = [
        f"{names.told(key)} ({depth[key]} steps away)" if depth[key] > 1 else names.told(key)
        for key in gained
        if key not in trivial
    ]
    raise InputError(
        f"{why}, so no goal can be guessed; name what attackers may want with --goal (once for each) or --intents: "
        f"{shortened(ranked or [names.told(key) for key in gained], MOST_LISTED)}"
    )


def _trivial(draft: Draft, depth: Mapping[str, int], steps: Sequence[tuple[Sequence[str], str]]) -> dict[str, str]:
    """Return the conditions that nobody would be after, with why: a guess would make a game of nothing.

    These are those about what the attacker has already, and those that one step alone leads to in a larger graph.
    """
    held = [key for key, rounds in depth.items() if not rounds and key in draft.conditions and draft.owned]
    own = {draft.conditions[key].asset for key in held} - {""}
    makers: dict[str, list[Sequence[str]]] = {}
    for needs, gives in steps:
        makers.setdefault(gives, []).append(needs)
    found = {}
    for key, rounds in depth.items():
        if rounds and key in draft.pointless:
            found[key] = "nobody gains by it"
        elif rounds and draft.conditions[key].asset in own:
            found[key] = "the attacker's own"
        elif rounds and draft.worth.get(key) == 0:
            found[key] = "worth nothing, says the source"
        elif rounds == 1 and len(steps) > FEW_STEPS and len(makers.get(key, ())) == 1:
            found[key] = "one step from the start, and nothing else leads there"
    return found


def _from_file(options: ImportOptions, names: ConditionNames, depth: Mapping[str, int], follows: Follows) -> Chosen:
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
    at, asked = f"{where}: condition", Origin(where, asked=True)
    wanted = {c: names.id(_gained(c, at, names, depth, follows)) for intent in given for c in intent.rewards}
    intents = tuple(
        Intent(i.id, prior or 0.0, {wanted[c]: paid for c, paid in i.rewards.items()})
        for i, prior in zip(given, priors, strict=True)
    )
    likely = EQUALLY if given[0].prior is None else asked
    return Chosen(intents, f"from {where}", worth={i.id: asked for i in intents}, likely=likely)


def refuse_held(options: ImportOptions, names: ConditionNames, depth: Mapping[str, int], follows: Follows) -> None:
    """Raise `InputError` where a person has named a goal that is held from the start."""
    for name in options.goals:
        if depth.get(names.find(name, "goal")) == 0:
            _gained(name, "goal", names, depth, follows)


def _gained(name: str, where: str, names: ConditionNames, depth: Mapping[str, int], follows: Follows) -> str:
    key, place = names.find(name, where), f"{where} '{name}'"
    if key not in depth:
        raise InputError("cannot be reached from the start by any steps; the report says what was dropped", place)
    if depth[key] == 0:
        raise InputError(
            f"the intruder has it from the start ({held_by(key, names, follows)}); there is nothing left to defend "
            "there: name another goal or other starts",
            place,
        )
    return key
