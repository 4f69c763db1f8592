"""Who plays: words that requests and the processes that answer them share."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Opponent", "Role"]


class Role(StrEnum):
    """Who the player is."""

    ATTACKER = "attacker"
    DEFENDER = "defender"
    WATCH = "watch"


class Opponent(StrEnum):
    """Whom compared defenders meet."""

    CERTIFIED = "certified"
    BEST_RESPONSE = "best-response"
