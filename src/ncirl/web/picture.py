"""An attack graph as plain data for a picture: everything in it, with the level at which it is drawn."""

from __future__ import annotations

from typing import Any

from ncirl.attack_graphs.graph import AttackGraph
from ncirl.reports.pictures.layers import levels_of

__all__ = ["picture_of"]


def picture_of(graph: AttackGraph) -> dict[str, Any]:
    """Return an attack graph with the level of everything in it."""
    level = levels_of(graph)
    return {
        "conditions": [
            {
                "id": c.id,
                "label": c.label or c.id,
                "initial": c.initial,
                "layer": level["condition", c.id],
                "rewards": {i.id: float(i.rewards[c.id]) for i in graph.intents if i.rewards.get(c.id)},
            }
            for c in graph.conditions
        ],
        "exploits": [
            {
                "id": e.id,
                "label": e.id,
                "from": list(e.premises),
                "to": e.result,
                "layer": level["exploit", e.id],
                "success": float(e.success),
                "attack_cost": float(e.attack_cost),
                "block_cost": float(e.block_cost),
            }
            for e in graph.exploits
        ],
    }
