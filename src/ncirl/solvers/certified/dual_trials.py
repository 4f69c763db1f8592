"""Trials in the dual game of the lower bound, led by prices: to where a point would help the attacker's plan as it is.

    b' = argmax_b  L(s', b) − ζ·b,        ζ the multipliers of the rows Σ_j φ_ij b_j ≤ β_i

At an optimum of P_A over points the multipliers say what mass is worth after each observation, a plane over the beliefs
at the successor. A point above that plane improves the plan, one below does not, whatever the bounds there are. The
belief where the successor's own program rises above the plane most is again a linear program, with the belief as a
choice; its optimum is the point to add, and its multipliers lead on.
"""

from collections.abc import Callable

import numpy as np

from ncirl._typing import FloatArray
from ncirl.lp.backups import PointBackup
from ncirl.lp.program import ACTIVE
from ncirl.solvers.certified.search import InformationState, Search

__all__ = ["add_wanted_point", "dual_trial"]

STATES = 6  # that a trial goes
TRIED = 4  # observations tried before going on where no point helps
WORTHWHILE = 0.3  # of the gap at the start: smaller ones are left
STAYING = 0.3  # what a gap here counts, where the same state is met again, against one elsewhere


def dual_trial(search: Search, late: Callable[[], bool]) -> None:
    """Follow the prices from the start whose gap weighs most, then come home."""
    start = search.worst_start()
    enough = WORTHWHILE * search.gap(start)
    state, found = start.state, search.update_lower(start)
    path: list[tuple[int, FloatArray]] = []
    while len(path) < STATES and not late():
        wanted = _wanted(search, state, found, enough)
        if not wanted:
            break
        tried: list[tuple[int, FloatArray, PointBackup]] = []
        for state, prices in wanted[:TRIED]:
            tried.append((state, prices, _point_above(search, state, prices)))
            if _excess(tried[-1]) > search.accuracy.missed:
                break
        state, prices, found = max(tried, key=_excess)
        path.append((state, prices))
    for state, prices in reversed(path[:-1]):
        if late():
            return
        _point_above(search, state, prices)
    search.update_lower(start)


def add_wanted_point(search: Search, at: InformationState) -> None:
    """Improve a plan and the point it wants most, then the plan again."""
    wanted = _wanted(search, at.state, search.update_lower(at), 0.0)
    if wanted:
        _point_above(search, *wanted[0])
        search.update_lower(at)


def _point_above(search: Search, state: int, prices: FloatArray) -> PointBackup:
    """Add the point that exceeds some prices most."""
    anywhere = InformationState(state, np.full(len(prices), 1.0 / len(prices)))
    found = search.programs(anywhere)[1].exceed(prices)
    search.keep_point(state, found)
    return found


def _excess(tried: tuple[int, FloatArray, PointBackup]) -> float:
    _, prices, found = tried
    return found.value - float(prices @ found.belief)


def _wanted(search: Search, state: int, plan: PointBackup, enough: float) -> list[tuple[int, FloatArray]]:
    """List the states after a plan where points may be missing, with the prices there, those that matter most first."""
    here = search.arrays[state]
    reach = here.discount * here.reach(plan.defences, plan.mix)
    active = plan.actions[plan.plan.sum(axis=1) > ACTIVE]
    candidates = np.flatnonzero(here.possible(active) & (reach > ACTIVE))
    beta = here.posteriors(candidates, plan.actions, plan.plan)
    found: list[tuple[float, int, int]] = []  # score, state, observation
    for t, those in here.grouped(candidates):
        seen, masses = candidates[those], beta[those]
        missing = search.upper.stores[t].values(masses) - (masses * plan.prices[seen]).sum(axis=1)
        score = reach[seen] * missing * (STAYING if t == state else 1.0)
        wide = np.flatnonzero(missing > enough * masses.sum(axis=1))
        found += [(float(score[k]), t, int(seen[k])) for k in wide.tolist()]
    return [(t, plan.prices[i]) for _, t, i in sorted(found, key=lambda each: -each[0])]
