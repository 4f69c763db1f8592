"""``ncirl demo``: the embedded example, start to finish."""

from __future__ import annotations

from ncirl.cli.output import print_facts

__all__ = ["demo"]


def demo() -> None:
    """Solve a small example: a thief who prefers one of two rooms, and a guard who does not know which.

    Example: `ncirl demo`
    """
    from ncirl.games import patrol
    from ncirl.solution import solve
    from ncirl.solvers.history_lp import HistoryLP

    game = patrol(horizon=2, discount=1.0)
    solution = solve(game, HistoryLP())
    print_facts({"game": f"{game.name}, two stages", "value": solution.lower})
