r"""Climbing with an opening in place, for a share of the time.

An opening (`cut_off` chooses it) is tried if what it costs and what is conceded with nothing watched in the graph that
has it in place come to less than what is conceded with nothing watched in the graph itself.
"""

from collections.abc import Callable
from contextlib import suppress
from math import inf

from ncirl.attack_graphs.guarded.check import sum_up
from ncirl.attack_graphs.guarded.cut_off import chosen
from ncirl.attack_graphs.guarded.cuts import Flow
from ncirl.attack_graphs.guarded.opened import Opening
from ncirl.attack_graphs.guarded.running import Run, nothing_watched
from ncirl.errors import LimitError
from ncirl.solution import Status

__all__ = ["climbed_beside"]

CHOOSING, TRYING = 0.1, 0.35  # of the time that is left, to choose an opening, and to climb with it in place


def climbed_beside(run: Run, climbed: Callable[[Run], Status]) -> Status:
    """Climb with an opening in place for a share of the time, if there is one that may be of use, then without."""
    opening = _worth_trying(run)
    if opening is None:
        return climbed(run)
    beside = _climbed_in(run, opening, climbed, TRYING)
    status = climbed(run)
    if status is Status.FINISHED and beside is Status.TIME_LIMIT:  # all that is left of the time is for the opening
        status = _climbed_in(run, opening, climbed, 1.0)
    elif status is Status.FINISHED and beside is Status.MEMORY_LIMIT:
        status = beside
    return Status.GAP_REACHED if run.is_done() else status


def _worth_trying(run: Run) -> Opening | None:
    names = chosen(run.flow, run.share(CHOOSING))
    if not names:
        return None
    opening = Opening(run.net, names)
    least = nothing_watched(opening.net, Flow(opening.net), run.workers)
    most = nothing_watched(run.net, run.flow, run.workers)
    return opening if sum_up([*opening.costs.values(), least]) < most else None


def _climbed_in(run: Run, opening: Opening, climbed: Callable[[Run], Status], share: float) -> Status:
    """Climb with an opening in place, and keep what comes of it where it is better."""
    seconds = None if run.deadline.left == inf else share * run.deadline.left
    other = Run(opening.net.graph, run.gap, run.relative_gap, seconds, run.workers, run.beat)
    try:
        return climbed(other)
    except KeyboardInterrupt:
        with suppress(KeyboardInterrupt, MemoryError, LimitError):
            other.take_ready()
        raise
    finally:
        other.bound_at_all()
        run.take_opened(opening, other)
