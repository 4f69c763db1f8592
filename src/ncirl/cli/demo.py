"""``ncirl demo``: the embedded example, start to finish."""

from __future__ import annotations

from fractions import Fraction

from ncirl.cli.output import print_facts, print_table

__all__ = ["demo"]


def demo() -> None:
    """Solve a small example: a thief who prefers one of two rooms, and a guard who does not know which.

    Example: `ncirl demo`
    """
    from ncirl.games import patrol
    from ncirl.games.patrol_story import patrol_story
    from ncirl.solution import solve
    from ncirl.solvers.history_lp import HistoryLP

    story = patrol_story()
    print_facts(
        {
            "the contest": "a thief and a guard, a museum and a gallery; only the thief knows which it prefers",
            "two stages": "the thief values the museum at 2/3 (its old log said 1/3); what it takes in all:",
        }
    )
    rows = [
        ("the guard learned the old intent and trusts it (MA-IRL)", story.learned, "as the paper says"),
        ("the guard tosses a coin, then follows an honest thief", story.honest, "as the paper says"),
        ("the same guard, deceived as well as possible", story.deceived, "the paper's pair is no equilibrium"),
        ("equilibrium: the value of the game", story.value, "what this guard can hold, whatever the thief does"),
    ]
    print_table(
        "",
        ["who plays", "takes", "", ""],
        [(who, _fraction(value), f"{value:.6f}", remark) for who, value, remark in rows],
    )
    values = [(n, solve(patrol(discount=1.0, horizon=n), HistoryLP())) for n in range(1, 9)]
    print_table(
        "longer plays, exactly",
        ["stages", "value", "seconds"],
        [(n, found.lower, f"{found.stats.seconds:.3f}") for n, found in values],
    )


def _fraction(value: float) -> str:
    return str(Fraction(value).limit_denominator(100))
