"""Limit how many exploits a side may attempt or block in one stage: fewer actions, and another game."""

from __future__ import annotations

from dataclasses import replace

from ncirl.attack_graphs.graph import AttackGraph
from ncirl.attack_graphs.reductions.step import Preserves, Reduction
from ncirl.errors import InputError

__all__ = ["set_budgets"]


def set_budgets(
    graph: AttackGraph, *, attacker: int | None = None, defender: int | None = None
) -> tuple[AttackGraph, Reduction]:
    """Set the most exploits attempted or blocked in a stage; None leaves a budget as it is.

    A lower attacker's budget can only lower the value, a lower defender's only raise it.

    Raises
    ------
    InputError
        When a budget is negative, or above the one that the graph has.
    """
    asked = {"attacker": attacker, "defender": defender}
    had = {"attacker": graph.attacker_budget, "defender": graph.defender_budget}
    faults, done, lowered = [], [], set()
    for side, budget in asked.items():
        before = had[side]
        if budget is None or budget == before:
            continue
        if before is not None and budget > before:
            faults.append(f"{side}_budget: {budget} is more than the graph's own {before}; that is no reduction")
        verb = "attempts" if side == "attacker" else "blocks"
        done.append(f"the {side} {verb} at most {budget} a stage, not {'any number' if before is None else before}")
        lowered.add(side)
    if faults:
        raise InputError(faults, f"attack graph '{graph.name}'")
    limited = replace(
        graph,
        attacker_budget=graph.attacker_budget if attacker is None else attacker,
        defender_budget=graph.defender_budget if defender is None else defender,
    )
    kept = {
        frozenset[str](): Preserves.VALUE,
        frozenset({"attacker"}): Preserves.FROM_BELOW,
        frozenset({"defender"}): Preserves.FROM_ABOVE,
    }.get(frozenset(lowered), Preserves.NOTHING)
    why = "the moves are restricted, which is another game: fewer attempts help the defender, fewer blocks the attacker"
    return limited, Reduction("budgets", kept, why, tuple(done))
