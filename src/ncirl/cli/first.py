"""What to do now, told to people and programs alike for every kind of policy: what `solve` says last."""

from collections.abc import Mapping
from typing import Any

from ncirl.attack_graphs.graph import AttackGraph
from ncirl.attack_graphs.guarded.solution import GuardedSolution
from ncirl.cli.output import say
from ncirl.defence.first_moves import now_data, now_words
from ncirl.defence.hurried import RUSHED, is_hurried
from ncirl.playbook.solution import CertifiedSolution

__all__ = ["first_data", "print_first"]


def first_data(policy: CertifiedSolution | GuardedSolution, graph: AttackGraph | None) -> dict[str, Any]:
    """Return what to do now, as data and in sentences."""
    rushed = [RUSHED] if is_hurried(policy) else []
    return {"now": now_data(policy, graph), "do_now": [*now_words(policy, graph), *rushed]}


def print_first(data: Mapping[str, Any]) -> None:
    """Print what to do now, or why that is nothing; nothing for what is no policy."""
    said = [data["nothing"]["says"]] if "nothing" in data else data.get("do_now", [])
    if said:
        print()
    for sentence in said:
        say(sentence)
