"""Backups at many beliefs of a state: together where its programs are small, else one by one."""

from collections.abc import Callable

from ncirl._typing import FloatArray
from ncirl.lp.at_beliefs import is_small, points_at, vectors_at
from ncirl.lp.backups import VectorBackup
from ncirl.solvers.certified.search import InformationState, Search

__all__ = ["STORING", "back_up_at", "plans_at", "raise_points_at"]

TOGETHER = 4  # beliefs that are worth being dealt with together
STORING = 3000  # work for what becomes of a program solved together


def plans_at(search: Search, state: int, beliefs: FloatArray, late: Callable[[], bool]) -> list[VectorBackup]:
    """Improve the upper bound at beliefs [k, θ]; return what optimistic play does there, if late at some of them."""
    here = search.arrays[state]
    if not _is_worth_while(search, state, beliefs):
        return [search.update_upper(InformationState(state, belief)) for belief in beliefs if not late()]
    search.meter.work += STORING * len(beliefs)
    plans = vectors_at(here, search.upper, beliefs, search.meter)
    for belief, plan in zip(beliefs, plans, strict=True):
        search.keep_vector(InformationState(state, belief), plan)
    return plans


def back_up_at(search: Search, state: int, beliefs: FloatArray, late: Callable[[], bool]) -> None:
    """Improve both bounds at beliefs [k, θ], unless late; play must not stay at the state."""
    if not _is_worth_while(search, state, beliefs):
        for belief in beliefs:
            if late():
                return
            search.back_up(InformationState(state, belief))
        return
    plans_at(search, state, beliefs, late)
    raise_points_at(search, state, beliefs)


def raise_points_at(search: Search, state: int, beliefs: FloatArray) -> float:
    """Improve the lower bound at beliefs [k, θ] of a small state; return the most by which it rose."""
    here, rise = search.arrays[state], 0.0
    search.meter.work += STORING * len(beliefs)
    known = search.lower.stores[state].values(beliefs)
    for belief, low, plan in zip(beliefs, known, points_at(here, search.lower, beliefs, search.meter), strict=True):
        if plan.value > low + search.accuracy.missed:
            search.lower.add(here, belief, plan)
            rise = max(rise, float(plan.value - low))
    return rise


def _is_worth_while(search: Search, state: int, beliefs: FloatArray) -> bool:
    return len(beliefs) >= TOGETHER and is_small(search.arrays[state])
