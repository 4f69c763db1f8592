"""What the attributes of nodes say about where attackers begin and what they may want."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ncirl.errors import InputError
from ncirl.importers.draft import Draft
from ncirl.importers.options import ImportOptions
from ncirl.importers.report import shortened
from ncirl.importers.values import number, truth

__all__ = ["Attributes", "attribute_named", "mark", "present"]

Attributes = Mapping[str, Any]
INITIAL = ("initial", "is_initial", "entry", "entry_point", "is_entry", "compromised", "owned", "attacker")
EXPOSED = ("internet_facing", "internet_accessible", "has_public_port", "exposed", "public")
GOAL = ("goal", "is_goal", "target", "is_target", "crown_jewel", "objective")
WORTH = ("criticality_score", "criticality", "asset_value", "importance", "value")
REWARD = "reward_"  # and the name of an intent
OUTSIDE = "outside"


def attribute_named(setting: str, usual: Iterable[str], holders: Iterable[Attributes], options: ImportOptions) -> str:
    """Return the attribute that was set, or the first usual one that is there; empty where there is none."""
    counts = Counter(name for attributes in holders for name in attributes)
    chosen = options.setting(setting)
    if chosen and chosen not in counts:
        known = f"there are {shortened(sorted(counts), 20)}" if counts else "there are none"
        raise InputError(f"no attribute is called so; {known}", f"setting {setting}={chosen}")
    by_lower = {name.lower(): name for name in reversed(counts)}
    return chosen or next((by_lower[name] for name in usual if name in by_lower), "")


def mark(draft: Draft, nodes: Mapping[str, Attributes], options: ImportOptions) -> None:
    """Find where attackers begin and what they may want."""
    initial = _true(draft, nodes, "initial", INITIAL, options)
    for key in initial:
        draft.condition(key, initial=True)
    if not initial and not options.initial:
        _enter_from_outside(draft, nodes)
    for key in _true(draft, nodes, "goal", GOAL, options):
        draft.goal(key)
    for key, attributes in nodes.items():
        for name, value in attributes.items():
            paid = number(value)
            if name.startswith(REWARD) and paid:
                draft.reward(name.removeprefix(REWARD), key, paid)
    for name, worth in _worths(nodes):
        most = max(worth.values())
        best = [key for key, value in worth.items() if value == most]
        if most > 0 and len(best) < len(nodes):
            for key in best:
                draft.guess_goal(key, f"its {name} is the highest")
            return


def _enter_from_outside(draft: Draft, nodes: Mapping[str, Attributes]) -> None:
    """Let attackers begin outside where the graph does not say where they are but what they can reach."""
    for name in present(EXPOSED, nodes):
        exposed = [key for key, attributes in nodes.items() if truth(attributes.get(name))]
        if exposed:
            outside = OUTSIDE if OUTSIDE not in nodes else f"{OUTSIDE} (added)"
            draft.condition(outside, label="where attackers begin", initial=True)
            for key in exposed:
                draft.note("assumed", f"attackers begin outside and can enter where '{name}' is true", key)
                draft.exploit(f"enter {key}", needs=[outside], gives=key)
            return


def present(names: Iterable[str], nodes: Mapping[str, Attributes]) -> list[str]:
    """Return those of the names that some node has as an attribute."""
    there = {name for attributes in nodes.values() for name in attributes}
    return [name for name in names if name in there]


def _worths(nodes: Mapping[str, Attributes]) -> Iterator[tuple[str, dict[str, float]]]:
    for name in present(WORTH, nodes):
        worth = {key: number(attributes.get(name)) for key, attributes in nodes.items()}
        known = {key: value for key, value in worth.items() if value is not None}
        if known:
            yield name, known


def _true(
    draft: Draft, nodes: Mapping[str, Attributes], setting: str, usual: Sequence[str], options: ImportOptions
) -> list[str]:
    """Return the nodes at which the attribute that was set, or the first usual one that is true anywhere, is true."""
    if options.setting(setting):
        usual = [attribute_named(setting, usual, nodes.values(), options)]
    for name in present(usual, nodes):
        found = [key for key, attributes in nodes.items() if truth(attributes.get(name))]
        if found:
            draft.note("assumed", f"'{name}' marks what is {setting}")
            return found
    return []
