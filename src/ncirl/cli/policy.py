"""Policy files where a game is expected, and what is said about them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ncirl.playbook.solution import CertifiedSolution
    from ncirl.strategies.players import Defender

__all__ = ["first_moves", "policy_at", "strongest"]

SUFFIX, ZIP = ".ncirl", b"PK"
LEAST = 5e-4  # a chance below is not worth a line


def policy_at(text: str) -> CertifiedSolution | None:
    """Open and verify the policy file that `text` names, if it is one; anything else may be a game."""
    path = Path(text)
    if not path.is_file() or not (path.suffix == SUFFIX or _opens_with_zip(path)):
        return None
    from ncirl.formats.policy_file import open_policy

    return open_policy(path)


def first_moves(policy: CertifiedSolution) -> list[dict[str, Any]]:
    """List what the defender does first, by start state: every action it may choose, the likeliest first."""
    starts = [start.state for start in policy.game.starts if not policy.game.is_terminal(start.state)]
    return [
        {"state": policy.game.describe(state), "actions": dict(strongest(policy.defender(state=state)))}
        for state in starts
    ]


def strongest(defender: Defender) -> list[tuple[str, float]]:
    """List the actions a defender at play may choose now with their chances, the likeliest first."""
    mix = defender.mix
    order = np.argsort(-mix, kind="stable").tolist()
    return [(defender.actions[d], float(mix[d])) for d in order if mix[d] >= LEAST]


def _opens_with_zip(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(ZIP)) == ZIP
