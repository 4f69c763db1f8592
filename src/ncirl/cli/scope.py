"""Of which graph a number holds, told to people: rows and notes for whatever prints bounds."""

from collections.abc import Mapping
from typing import Any

from ncirl.attack_graphs.reductions.scope import CUT_ONLY, Scope
from ncirl.numbers import at_least, at_most

__all__ = ["bound_cell", "bound_facts", "drawn_data", "promise_note", "scope_data", "scope_facts"]

UNPROVED = "All that is said here is about the cut graph only."
DRAWN = "The plays and the best answers are about the cut graph only."


def scope_data(scope: Scope | None, *, bounds: bool = True) -> dict[str, Any]:
    """Return what JSON says of the original; nothing where the graph was not reduced.

    Without `bounds` what was found proves nothing of the value, so nothing of it is said of the original.
    """
    if scope is None:
        return {}
    return {"original": scope.to_dict() | ({} if bounds else {"lower": None, "upper": None, "says": UNPROVED})}


def drawn_data(scope: Scope | None) -> dict[str, Any]:
    """Return what JSON says of the original beside plays on a reduced graph: only a promise can carry over."""
    if scope is None:
        return {}
    promise = "on the cut graph only" if scope.upper is None else "on the original, too"
    return {"original": scope.to_dict() | {"lower": None, "says": f"{DRAWN} The promise holds {promise}."}}


def scope_facts(data: Mapping[str, Any]) -> dict[str, str]:
    """Return the rows that say of which graph the bounds hold."""
    original = data.get("original")
    return {} if original is None else {"cut from": original["cut_from"], "holds for": original["says"]}


def bound_cell(data: Mapping[str, Any], side: str, value: float, means: str = "") -> str:
    """Write a bound, lower or upper, what it means, and that it is of the cut graph only where it is."""
    note, written = _note(data, side), at_least(value) if side == "lower" else at_most(value)
    return f"{written}{means} ({note})" if note else written + means


def bound_facts(data: Mapping[str, Any]) -> dict[str, str]:
    """Return the rows of two proved bounds, each with what it means."""
    return {
        "lower": bound_cell(data, "lower", data["lower"], "; no defence promises less"),
        "upper": bound_cell(data, "upper", data["upper"], "; against this defence no attacker gets more on average"),
    }


def promise_note(data: Mapping[str, Any]) -> str:
    """Return what to add to the title of promises, empty where they hold for the original."""
    note = _note(data, "upper")
    return f", {note}" if note else ""


def _note(data: Mapping[str, Any], side: str) -> str:
    original = data.get("original")
    return CUT_ONLY if original is not None and original[side] is None else ""
