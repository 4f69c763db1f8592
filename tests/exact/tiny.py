"""A game and playbooks of a node or a few, whose guarantees can be written down by hand.

Two actions a side at one state that never changes; intent 1 is paid where both choose first, intent 2 where both choose
second, and everyone `shift` on top. The defender always mixes (mix, 1 − mix), the attacker always (½, ½) at belief
(½, ½). With N = Σ γ^t the defender then concedes N (mix + shift) and N (1 − mix + shift), and the attacker secures
N (¼ + shift).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ncirl.formats.array_file import write_arrays

__all__ = ["write_tiny"]

EMPTY = np.zeros(0)


def write_tiny(
    path: Path,
    *,
    discount: float,
    horizon: int | None = None,
    mix: float = 0.25,
    shift: float = 0.0,
    prior: tuple[float, float] = (0.5, 0.5),
    lower: float = -1e30,
    upper: float = 1e30,
    scale: float = 1.0,
) -> Path:
    """Write the policy file; nodes claim nothing."""
    n = horizon or 1
    pair = scale * (np.array([[[1.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 1.0]]]) + shift)
    header = {
        "format": "ncirl-policy/1",
        "game": {
            "name": "tiny",
            "intents": ["1", "2"],
            "discount": discount,
            "horizon": horizon,
            "observes": "actions",
            "states": ["play"],
            "signals": [],
            "attacker": ["T", "B"],
            "defender": ["L", "R"],
        },
        "lower": lower,
        "upper": upper,
        "status": "finished",
        "settings": {},
        "seed": 0,
        "versions": {},
        "extra": {},
    }
    arrays: dict[str, np.ndarray[Any, Any]] = {
        "stages": np.array([[2, 2, 1, 4, 2, 2, 2, 0, 0]]),
        "outcome_state": np.zeros(1, dtype=np.int64),
        "outcome_signal": np.array([-1]),
        "law": np.ones(4),
        "law_outcome": np.zeros(4, dtype=np.int64),
        "law_row": np.ones(4, dtype=np.int64),
        "pair": pair.ravel(),
        "by_outcome": EMPTY,
        "by_branch": EMPTY,
        "start_state": np.zeros(1, dtype=np.int64),
        "start_mass": np.array([prior]),
        "attacker_beliefs": np.full((n, 2), 0.5),
        "attacker_policies": np.full(4 * n, 0.5),
        "attacker_claims": np.full(n, -np.inf),
        "defender_mixes": np.tile([mix, 1 - mix], n),
        "defender_claims": np.full((n, 2), np.inf),
    }
    rows = 2 * n if horizon is None else 2 * (n - 1)  # nothing follows the last stage
    for side, weight in (("attacker", 0.5), ("defender", 1.0)):
        arrays |= {
            f"{side}_places": np.array([[0, -1 if horizon is None else t] for t in range(n)]),
            f"{side}_state": np.arange(n),
            f"{side}_move_row": np.arange(rows),
            f"{side}_move_node": np.arange(rows) // 2 + (horizon is not None),
            f"{side}_move_weight": np.full(rows, weight),
            f"{side}_start_counts": np.ones(1, dtype=np.int64),
            f"{side}_start_nodes": np.zeros(1, dtype=np.int64),
            f"{side}_start_weights": np.ones(1),
        }
    write_arrays(path, header, arrays)
    return path
