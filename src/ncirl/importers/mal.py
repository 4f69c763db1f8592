"""Attack graphs of the Meta Attack Language, as mal-toolbox writes them: JSON or YAML, and two older lists.

An `or` step can be taken from any of its parents, an `and` step needs them all. Defences, `exist` and `notExist` steps
are facts about the system: they hold or not from the start, and are no conditions here.

- A defence that is on never holds; one that is off holds, so that an `or` step below it can be taken at once (that is
  how the language says "no password required"). A status between 0 and 1 scales the success of what depends on it.
- A step without a time to compromise succeeds at once, as the language has it; see `mal_ttc` for the others.
- The attacker begins where the file says: entry points, steps that are compromised, steps called ``firstSteps``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from ncirl.formats.untrusted import read_data
from ncirl.importers.draft import Draft
from ncirl.importers.mal_steps import FACTS, MalGraph, Step, steps_of
from ncirl.importers.mal_ttc import success_of, time_of
from ncirl.importers.one_file import one_file
from ncirl.importers.options import ImportOptions
from ncirl.importers.recognise import not_of_format, recognise_data

__all__ = ["read"]

WANTED = "a mal-toolbox attack graph"


def read(paths: Sequence[Path], options: ImportOptions) -> Draft:
    """Read one mal-toolbox attack graph."""
    path = one_file(paths, WANTED)
    data = read_data(path, options.size_limit)
    graph = steps_of(data)
    if graph is None:
        raise not_of_format(path, WANTED, "mal", options.size_limit, recognise_data(data))
    draft = Draft("mal")
    for told, item in graph.notes:
        draft.note("dropped", told, item)
    _fill(draft, graph, options)
    return draft


def _fill(draft: Draft, graph: MalGraph, options: ImportOptions) -> None:
    holds = {step.key: _holds(draft, step) for step in graph.steps.values() if _is_fact(draft, step, graph)}
    attacks = [step for step in graph.steps.values() if step.key not in holds]
    entries = dict.fromkeys(step.key for step in attacks if step.entry)
    if not entries and not options.initial:
        entries = dict.fromkeys(step.key for step in attacks if not step.parents)
        for key in entries:
            draft.note("assumed", "no entry point is given, so steps without parents are (see --initial)", key)
    for step in attacks:
        draft.condition(step.key, initial=step.key in entries)
    for step in attacks:
        if step.viable is False and step.key not in entries:
            draft.note("dropped", "steps that the file calls not viable", step.key)
        elif step.key not in entries:
            _attack(draft, step, holds, graph.is_language)
    needed = {parent for step in attacks if step.type == "and" for parent in step.parents}
    for step in attacks:
        if not step.parents and step.key not in entries and step.key in needed:
            told = "steps without parents are no entry points, so what needs them cannot be reached (see --initial)"
            draft.note("assumed", told, step.key)


def _is_fact(draft: Draft, step: Step, graph: MalGraph) -> bool:
    if step.type in FACTS:
        return True
    if step.parents or step.entry or step.name not in graph.defence_names:
        return False
    draft.note("assumed", f"typed {step.type}, but named like the defences and without parents: a defence", step.key)
    return True


def _holds(draft: Draft, step: Step) -> float | None:
    """Return how likely a fact holds; None where the file does not say."""
    if step.type in ("exist", "notExist"):
        if step.exists is None:
            draft.note("assumed", f"{step.type} steps without a status hold", step.key)
            return 1.0
        return float(step.exists == (step.type == "exist"))
    if step.status is not None:
        chance = step.status
    else:
        time = time_of(step.ttc)
        if time is not None and time.mean is None:
            chance = time.possible
        elif step.viable is False:
            chance = 1.0
        else:
            if time is not None:
                draft.note("dropped", "times to compromise of defences, which have none", step.key)
            draft.note("assumed", "defences without a status are off", step.key)
            return None
    if chance >= 1:
        draft.note("assumed", "defences that are on stay on: what needs them off cannot be reached", step.key)
    elif chance > 0:
        draft.note("assumed", "defences that are on with a chance scale each attempt by it", step.key)
    return max(1.0 - chance, 0.0)


def _attack(draft: Draft, step: Step, holds: Mapping[str, float | None], is_language: bool) -> None:
    """Add the ways to take one attack step."""
    success = _success(draft, step)
    facts = [parent for parent in step.parents if parent in holds]
    before = [parent for parent in step.parents if parent not in holds]
    certain = [holds[parent] for parent in facts]
    if step.type == "and":
        chance = math.prod(1.0 if value is None else value for value in certain)
        if chance == 0:
            draft.note("dropped", "and-steps that a fact makes impossible", step.key)
        elif step.parents:
            draft.exploit(step.key, needs=before, gives=step.key, success=_scaled(success, chance))
        return
    ways: list[tuple[list[str], str, float]] = [([parent], parent, 1.0) for parent in before]
    for parent, value in zip(facts, certain, strict=True):
        if value is None and before and not is_language:
            draft.note("assumed", "a defence that is off by assumption is no way into an or-step", step.key)
        elif value != 0:
            draft.note("assumed", "or-steps below a fact that holds can be taken at once", step.key)
            ways.append(([], parent, 1.0 if value is None else value))
    for needs, parent, chance in ways:
        name = step.key if len(ways) == 1 else f"{step.key} from {parent}"
        draft.exploit(step.key, needs=needs, gives=step.key, success=_scaled(success, chance), name=name)


def _success(draft: Draft, step: Step) -> float | None:
    if step.ttc is None:
        draft.note("assumed", "steps without a time to compromise succeed at once, as the language has it")
        return 1.0
    success = success_of(step.ttc)
    if success is None:
        draft.note("defaulted", "times to compromise that are not understood", step.key)
    else:
        draft.note("assumed", "times to compromise become the chance to succeed in one stage, a stage being a day")
    return success


def _scaled(success: float | None, chance: float) -> float | None:
    return None if success is None else success * chance
