"""How large a contest is, found quickly, and which ones are too large to be solved here."""

from __future__ import annotations

from typing import Any

from ncirl.attack_graphs.graph import AttackGraph
from ncirl.attack_graphs.reductions import estimate_size
from ncirl.attack_graphs.reductions.size import MANY_STATES
from ncirl.errors import SizeError
from ncirl.model.game import Game

__all__ = ["sizes_of"]


def sizes_of(game: Game, graph: AttackGraph | None) -> dict[str, Any]:
    """Count public states and actions.

    `counted` tells whether there may be more, `too_large` why a solve would take all its time and memory before it has
    a first bound, None where it would not.
    """
    if graph is not None:
        size = estimate_size(graph, MANY_STATES)
        return {
            "states": int(size.states),
            "attacker_actions": size.attacker_actions,
            "defender_actions": size.defender_actions,
            "counted": size.kind == "counted",
            "too_large": _said(game, f"{size}; `ncirl reduce` makes it smaller") if size.too_large else None,
        }
    try:
        states, counted = game.explore(MANY_STATES), True
    except SizeError:
        states, counted = [start.state for start in game.starts], False
    shapes = [game.stage(state).shape for state in states]
    return {
        "states": len(states) if counted else MANY_STATES,
        "attacker_actions": max(a for a, _ in shapes),
        "defender_actions": max(d for _, d in shapes),
        "counted": counted,
        "too_large": None if counted else _said(game, f"more than {MANY_STATES} public states"),
    }


def _said(game: Game, why: str) -> str:
    return f"'{game.name:.80}' is too large to be solved here: {why}"
