"""``ncirl demo``: the embedded example, start to finish."""

from __future__ import annotations

__all__ = ["demo"]


def demo() -> None:
    """Solve a small example: a thief who prefers one of two rooms, and a guard who does not know which.

    Example: `ncirl demo`
    """
    from ncirl.cli.example import patrol

    patrol()
