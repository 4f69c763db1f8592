"""The answer of `ncirl solve` to an attack graph: what other studies of the graph begin from.

States are listed where that is soon done, and a graph is guarded as a whole elsewhere. One that comes apart is tried as
a whole game first, and its parts get the time that is left; so does one whose states turn out to take too long.
"""

from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING

from ncirl.attack_graphs.graph import AttackGraph
from ncirl.attack_graphs.guarded.apart import comes_apart
from ncirl.attack_graphs.reductions.size import Size, listable, set_up_seconds
from ncirl.errors import LimitError
from ncirl.limits import Limits, default_memory
from ncirl.solution import ProgressCallback, Status

if TYPE_CHECKING:
    from ncirl.attack_graphs.guarded.solution import GuardedSolution
    from ncirl.playbook.solution import CertifiedSolution

__all__ = ["LATE", "LONGEST", "READY", "TRIED", "answer", "listed_in"]

READY = 0.5  # of the time limit: what listing the states of an attack graph may take before there are bounds
LATE = 0.05  # of the time limit, once it is up: what bounds get where there are none yet
TRIED = 0.15  # of the time: what listing the states of a graph that comes apart gets, enough where games are easy
LONGEST = 5.0  # seconds that it gets at the most


def listed_in(graph: AttackGraph, seconds: float = inf) -> tuple[bool, Size]:
    """Tell whether the states of a graph are listed in so many seconds, or else the graph guarded; and its size."""
    fits, size = listable(graph)
    return fits and (seconds == inf or set_up_seconds(graph, size.states, size.pairs) <= READY * seconds), size


def answer(
    graph: AttackGraph,
    gap: float,
    relative_gap: float,
    seconds: float,
    progress: ProgressCallback | None = None,
) -> "CertifiedSolution | GuardedSolution":
    """Solve a graph as `ncirl solve` does; `LimitError` where there is not the time or the memory for any bounds."""
    from ncirl.attack_graphs.guarded.guarded import Guarded  # solvers are slow to load
    from ncirl.solvers.certified.certified import Certified

    limits = Limits(seconds)
    guarding = Guarded(relative_gap=relative_gap, gap=gap, time_limit=seconds)
    if not listed_in(graph, seconds)[0]:
        return guarding.run(graph, progress=progress)
    apart = comes_apart(graph)
    within = min(TRIED * seconds, LONGEST) if apart else seconds
    listing = Certified(gap=gap, relative_gap=relative_gap, time_limit=within)
    try:
        listed = listing.run(graph.game(), progress=progress, limits=Limits(None, default_memory()))
    except LimitError as error:
        if error.kind != "time":
            raise
        return replace(guarding, time_limit=max(limits.left, LATE * seconds)).run(graph, progress=progress)
    if not apart or listed.status is not Status.TIME_LIMIT:
        return listed
    guarded = replace(guarding, time_limit=max(limits.left, LATE * seconds)).run(graph, progress=progress)
    if guarded.status is Status.INTERRUPTED:
        return replace(listed, status=Status.INTERRUPTED)
    return guarded if guarded.gap < listed.gap else listed
