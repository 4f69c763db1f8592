"""How large a contest is, found quickly, and which ones are too large to be solved here."""

from __future__ import annotations

from typing import Any

from ncirl.errors import SizeError
from ncirl.game import Game
from ncirl.games.attack_graph import AttackGraph
from ncirl.reductions import estimate_size
from ncirl.reductions.size import MANY_STATES
from ncirl.web.refusals import Refused

__all__ = ["check_size", "sizes_of"]


def sizes_of(game: Game, graph: AttackGraph | None) -> dict[str, Any]:
    """Count public states and actions; `counted` tells whether there may be more."""
    if graph is not None:
        size = estimate_size(graph, MANY_STATES)
        actions = {"attacker_actions": size.attacker_actions, "defender_actions": size.defender_actions}
        return {"states": int(size.states), **actions, "counted": size.kind == "counted"}
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
    }


def check_size(game: Game, graph: AttackGraph | None) -> None:
    """Refuse to start on what would take a worker all its time and memory before it has a first bound."""
    if graph is not None:
        size = estimate_size(graph, MANY_STATES)
        if size.too_large:
            raise Refused(422, f"'{game.name}' is too large to be solved here: {size}; `ncirl reduce` makes it smaller")
    elif not sizes_of(game, graph)["counted"]:
        raise Refused(422, f"'{game.name}' is too large to be solved here: more than {MANY_STATES} public states")
