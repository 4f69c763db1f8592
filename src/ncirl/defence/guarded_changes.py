"""What a session of a whole graph changed to on the way, kept with it: each a policy file of the graph as it was then.

A kept session is no more believed than a policy: what was changed to is verified again, must be of the graph as it
was, and must leave no intent more than the defence before it left that intent then.
"""

from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ncirl._typing import FloatArray
from ncirl.attack_graphs.graph import AttackGraph, Intent
from ncirl.attack_graphs.reductions.record import same_graph
from ncirl.errors import InputError
from ncirl.formats.guarded_file import guarded_bytes, load_guarded
from ncirl.formats.policy_file import held

if TYPE_CHECKING:
    from ncirl.attack_graphs.guarded.solution import GuardedSolution

__all__ = ["changes_to_data", "check_change", "kept_change"]

ROUNDED = 1e-12  # what recomputing changes in a promise, relative to it


def changes_to_data(changes: "Mapping[int, GuardedSolution]") -> dict[str, Any]:
    """Return what was changed to after how many stages, as plain data; nothing where nothing was."""
    kept = [{"after": k, "policy": b64encode(guarded_bytes(found)).decode()} for k, found in sorted(changes.items())]
    return {"changes": kept} if kept else {}


def kept_change(data: Mapping[str, Any], stages: int) -> "GuardedSolution | None":
    """Return what a kept session changed to after some stages, verified; None where it went on as before."""
    changes = data.get("changes", [])
    if not isinstance(changes, list) or not all(map(_is_change, changes)):
        raise InputError("changes must be a list of maps with 'after', a whole number, and 'policy', a text")
    for k, change in enumerate(changes):
        if change["after"] == stages:
            try:
                raw = b64decode(change["policy"], validate=True)
            except ValueError:
                raise InputError(f"changes[{k}]: is damaged") from None
            found = load_guarded(raw, f"changes[{k}]")
            held(found.verify(), f"changes[{k}]")
            return found
    return None


def check_change(found: "GuardedSolution", now: AttackGraph, kept: FloatArray | None) -> None:
    """Refuse what is not of the graph as it is now, but for the prior, or leaves an intent more than is kept."""
    its = found.graph.intents
    known = [i.id for i in its] == [i.id for i in now.intents]  # a defence for some of them only is none
    if not known or not same_graph(replace(now, intents=_with_priors_of(now, its)), found.graph):
        raise InputError("changes: what was changed to is not of the graph as it was then")
    if kept is not None and not (found.per_intent <= kept + ROUNDED * (1 + np.abs(kept))).all():
        raise InputError("changes: what was changed to lets an intent gain; the session cannot have done that")


def _with_priors_of(graph: AttackGraph, others: tuple[Intent, ...]) -> tuple[Intent, ...]:
    return tuple(replace(intent, prior=other.prior) for intent, other in zip(graph.intents, others, strict=True))


def _is_change(change: Any) -> bool:
    return (
        isinstance(change, Mapping) and isinstance(change.get("after"), int) and isinstance(change.get("policy"), str)
    )
