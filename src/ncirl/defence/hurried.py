"""Whether the search for a defence was ended early, so that its first answer may still change: one sentence for all."""

from ncirl.attack_graphs.guarded.solution import GuardedSolution
from ncirl.numbers import at_most, interval
from ncirl.playbook.solution import CertifiedSolution
from ncirl.solution import Status

__all__ = ["RUSHED", "hurried", "is_hurried"]

CUT_SHORT = (Status.TIME_LIMIT, Status.MEMORY_LIMIT, Status.INTERRUPTED)
RUSHED = "The search was ended before its time: with more of it the first answer may be another."


def is_hurried(solution: CertifiedSolution | GuardedSolution) -> bool:
    """Tell whether the search ended before its bounds were as close as asked."""
    return solution.status in CUT_SHORT


def hurried(solution: CertifiedSolution | GuardedSolution, scale: float) -> str:
    """Say how far apart the bounds still are, and what follows; nothing where the search ended as it should.

    Examples
    --------
    >>> import ncirl
    >>> from dataclasses import replace
    >>> from ncirl.solution import Status
    >>> found = ncirl.solve(ncirl.games.office(), ncirl.Certified(relative_gap=0.1))
    >>> hurried(found, 1.0), hurried(replace(found, status=Status.TIME_LIMIT), 1.0).endswith("may be another.")
    ('', True)
    """
    if not is_hurried(solution):
        return ""
    bounds = interval(solution.lower, solution.upper, scale)
    apart = at_most(solution.upper - solution.lower, scale, short=True)
    return f"The bounds are still {apart} apart ({bounds}). {RUSHED}"
