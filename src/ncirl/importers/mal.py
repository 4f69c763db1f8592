"""Attack graphs of the Meta Attack Language, as mal-toolbox writes them: JSON or YAML, and two older lists.

An `or` step can be taken from any of its parents, an `and` step needs them all. Defences, `exist` and `notExist` steps
are facts about the system: they hold or not from the start, and are no conditions here.

- A defence that is on never holds, and what needs it off is stopped already. One that is off holds, so that an `or`
  step below it can be taken at once (that is how the language says "no password required"), until it is switched on: it
  is a control that lasts, unless it is tagged ``suppress``. A status between 0 and 1 scales the success of what
  depends on it.
- A defence that is a property is no control: nobody applies it. In coreLang, ``notPresent`` says that a part of the
  model may not exist at all, and those of a vulnerability, such as ``networkAccessRequired`` and
  ``integrityImpactLimitations``, say how it is made. They hold or not, as the file has it, and stay so. To patch is a
  defence of its own (``remove``, ``patched``).
- A step without a time to compromise succeeds at once, as the language has it; where no defence can stop it either, it
  takes no attempt (see `immediate`). See `mal_ttc` for the others. In a file without times and defences each takes one.
- The attacker begins where the file says: entry points, steps that are compromised, steps called ``firstSteps``; where
  it says nothing of these, at the steps tagged as entry points.
- Children are followed and parents derived from them, because `parents` may be null or lack the attacker's edges.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ncirl.formats.untrusted import read_data
from ncirl.importers.draft import Draft
from ncirl.importers.mal_steps import FACTS, Step, sources_of, steps_of
from ncirl.importers.mal_ttc import success_of, time_of
from ncirl.importers.options import ImportOptions
from ncirl.importers.recognise import not_of_format, one_file, recognise_data
from ncirl.importers.report import Origin
from ncirl.importers.values import mapping, mappings

__all__ = ["read"]

WANTED = "a mal-toolbox attack graph"
PROPERTIES = frozenset(
    {"notpresent", "networkaccessrequired", "localaccessrequired", "physicalaccessrequired"}
    | {"lowprivilegesrequired", "highprivilegesrequired", "userinteractionrequired", "highcomplexityexploitrequired"}
)
DEEDS = {"remove": "remove", "disabled": "disable", "patched": "patch", "restricted": "restrict"}
LIMITS, EFFORT = "impactlimitations", "effortrequired"
TAGGED, UNAVAILABLE = "entrypoint", "suppress"
AT_ONCE = Origin("the language, in which steps without a time succeed at once")
TIMES = Origin("times to compromise, a stage being a day")


def read(paths: Sequence[Path], options: ImportOptions) -> Draft:
    """Read one mal-toolbox attack graph."""
    path = one_file(paths, WANTED)
    data = read_data(path, options.size_limit)
    sources = sources_of(data)
    if sources is None:
        raise not_of_format(path, WANTED, "mal", options.size_limit, recognise_data(data))
    draft = Draft("mal", owned=False)  # one step on an asset is not yet the next
    attackers = mapping(data).get("attackers")
    steps = steps_of(draft, sources, mappings([*attackers.values()] if isinstance(attackers, dict) else attackers))
    # mal-toolbox writes maps, made from a language, in whose way silence is to be read; the older lists are not
    _fill(draft, steps, options, is_language=isinstance(data, dict))
    return draft


def _fill(draft: Draft, steps: Mapping[str, Step], options: ImportOptions, is_language: bool) -> None:
    defences = {step.name for step in steps.values() if step.type == "defense" and step.name}
    holds = {step.key: _holds(draft, step) for step in steps.values() if _is_fact(draft, step, defences)}
    controls = {key for key, value in holds.items() if _is_control(draft, steps[key], value)}
    attacks = [step for step in steps.values() if step.key not in holds]
    entries = _entries(draft, attacks, options)
    timed = bool(controls) or any(step.ttc is not None for step in attacks)
    if not timed:
        draft.note("assumed", "the file has neither times to compromise nor defences, so each step takes an attempt")
    for step in attacks:
        draft.condition(
            step.key, label=_label(step), initial=step.key in entries, asset=step.asset, references=step.references
        )
    for step in attacks:
        if step.viable is False and step.key not in entries:
            draft.note("dropped", "steps that the file calls not viable", step.key)
        elif step.key not in entries:
            _attack(draft, step, _Facts(holds, controls, is_language, timed))
    needed = {parent for step in attacks if step.type == "and" for parent in step.parents}
    for step in attacks:
        if not step.parents and step.key not in entries and step.key in needed:
            told = "steps without parents are no entry points, so what needs them cannot be reached (see --initial)"
            draft.note("assumed", told, step.key)


def _entries(draft: Draft, attacks: Sequence[Step], options: ImportOptions) -> dict[str, None]:
    """Return where attackers begin: where the file says so, else where tags do, else at what has no parents."""
    entries = dict.fromkeys(step.key for step in attacks if step.entry)
    if entries or options.initial:
        return entries
    tagged = dict.fromkeys(step.key for step in attacks if TAGGED in step.tags)
    for key in tagged:
        draft.note("assumed", "attackers begin at the steps tagged as entry points (see --initial)", key)
    if tagged:
        return tagged
    entries = dict.fromkeys(step.key for step in attacks if not step.parents)
    for key in entries:
        draft.note("assumed", "no entry point is given, so steps without parents are (see --initial)", key)
    draft.begun = entries
    return entries


def _label(step: Step) -> str:
    return f"{step.name} on {step.asset}" if step.asset else step.name


def _is_control(draft: Draft, step: Step, holds: float | None) -> bool:
    """Tell whether a fact is a defence that can be switched on, and make it a control."""
    if step.type in ("exist", "notExist") or holds == 0:
        return False
    if UNAVAILABLE in step.tags:
        draft.note("dropped", "defences tagged as not to be used, which stay as they are", step.key)
        return False
    if _is_property(step):
        draft.note(
            "assumed", "defences that are properties of the model, which nobody applies, stay as they are", step.key
        )
        return False
    draft.control(step.key, _deed(step), lasting=True, references=step.references)
    return True


def _deed(step: Step) -> str:
    """Say what a defender does; the languages name a defence by what is then so, or by a verb."""
    verb = DEEDS.get(step.name.rpartition(":")[2].lower())
    return f"{verb} {step.asset}" if verb and step.asset else f"switch on {_label(step)}"


def _is_property(step: Step) -> bool:
    """Tell whether a defence says how a part of the model is made, so that no defender can apply it."""
    name = step.name.rpartition(":")[2].lower()
    if name in PROPERTIES or name.endswith(LIMITS) or name.startswith(EFFORT):
        return True
    kinds = f"{step.asset} {' '.join(step.references)}".lower()
    return name.endswith("required") and "vulnerability" in kinds


@dataclass(frozen=True)
class _Facts:
    """How likely each fact holds, which are controls, and how silence is to be read."""

    holds: Mapping[str, float | None]
    controls: Collection[str]
    is_language: bool
    timed: bool


def _is_fact(draft: Draft, step: Step, defences: set[str]) -> bool:
    if step.type in FACTS:
        return True
    if step.parents or step.entry or step.name not in defences:
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
    time = time_of(step.ttc)
    if step.status is not None:
        on = step.status
    elif time is not None and time.mean is None:
        on = time.possible
    elif step.viable is False:
        on = 1.0
    else:
        if time is not None:
            draft.note("dropped", "times to compromise of defences, which have none", step.key)
        draft.note("assumed", "defences without a status are off", step.key)
        return None
    if on >= 1:
        draft.note("assumed", "defences that are on stay on: what needs them off cannot be reached", step.key)
    elif on > 0:
        draft.note("assumed", "defences that are on with a chance scale each attempt by it", step.key)
    return max(1.0 - on, 0.0)


def _attack(draft: Draft, step: Step, known: _Facts) -> None:
    """Add the ways to take one attack step."""
    success, origin = _success(draft, step)
    facts = {parent: known.holds[parent] for parent in step.parents if parent in known.holds}
    before = [parent for parent in step.parents if parent not in known.holds]
    stopped = [parent for parent in facts if parent in known.controls]
    ways: list[tuple[list[str], str, float, list[str]]] = []  # needs, by what name, what scales the success, controls
    if step.type == "and":
        scale = math.prod(1.0 if value is None else value for value in facts.values())
        if scale == 0:
            draft.note("dropped", "and-steps that a fact makes impossible", step.key)
        elif step.parents:
            ways = [(before, step.key, scale, stopped)]
    else:
        barred = [p for p in stopped if facts[p] is None and before and not known.is_language]
        ways = [([parent], parent, 1.0, barred) for parent in before]
        for parent, value in facts.items():
            if parent in barred:
                draft.note("assumed", "a defence that is off by assumption is no way into an or-step", step.key)
            elif value != 0:
                draft.note("assumed", "or-steps below a fact that holds can be taken at once", step.key)
                ways.append(([], parent, 1.0 if value is None else value, [parent] if parent in stopped else []))
    for needs, parent, scale, controls in ways:
        scaled = None if success is None else success * scale
        at_once = known.timed and scaled == 1 and not controls and origin is AT_ONCE
        told = f"{_label(step)} from {parent}" if len(ways) > 1 else _label(step)
        draft.exploit(
            step.key,
            needs=needs,
            gives=step.key,
            success=scaled,
            name=step.key if len(ways) == 1 else f"{step.key} from {parent}",
            label="" if at_once else told,
            asset=step.asset,
            references=() if at_once else step.references,
            origins={} if origin is None else {"success": origin},
            immediate=at_once,
            controls=controls,
        )


def _success(draft: Draft, step: Step) -> tuple[float | None, Origin | None]:
    """Return how likely a step succeeds in one stage and where that comes from; neither where it is not understood."""
    if step.ttc is None:
        draft.note("assumed", "steps without a time to compromise succeed at once, as the language has it")
        return 1.0, AT_ONCE
    success = success_of(step.ttc)
    if success is None:
        draft.note("defaulted", "times to compromise that are not understood", step.key)
        return None, None
    draft.note("assumed", "times to compromise become the chance to succeed in one stage, a stage being a day")
    return success, TIMES
