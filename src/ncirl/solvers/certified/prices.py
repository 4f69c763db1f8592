"""Trials from below, led by prices: to where a point would help the attacker's plan as it is.

At an optimum of P_A over points the multipliers say what mass is worth after each observation, a plane over the beliefs
at the successor. A point above that plane improves the plan, one below does not, whatever the bounds there are. The
belief where the successor's own program rises above the plane most is again a linear program, with the belief as a
choice (the dual game of the lower bound); its optimum is the point to add, and its multipliers lead on.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ncirl._typing import FloatArray
from ncirl.solvers.certified.lower_book import LowerStep
from ncirl.solvers.certified.program import ACTIVE
from ncirl.solvers.certified.search import Search, Visit

__all__ = ["add_wanted_point", "priced_trial"]

DEEPEST = 6  # places a trial goes
TRIED = 4  # observations tried before going on where no point helps
WORTHWHILE = 0.3  # of the gap at the start: smaller ones are left
STAYING = 0.3  # what a gap here counts, where the same place is met again, against one elsewhere


def priced_trial(search: Search, late: Callable[[], bool]) -> None:
    """Follow the prices from the start whose gap weighs most, then come home."""
    start = search.worst_start()
    enough = WORTHWHILE * search.gap(start)
    place, step = start.place, search.replan(start)
    path: list[tuple[int, FloatArray]] = []
    while len(path) < DEEPEST and not late():
        wanted = _wanted(search, place, step, enough)
        if not wanted:
            break
        tried: list[tuple[int, FloatArray, LowerStep]] = []
        for place, prices in wanted[:TRIED]:
            tried.append((place, prices, _point_above(search, place, prices)))
            if _excess(tried[-1]) > search.accuracy.missed:
                break
        place, prices, step = max(tried, key=_excess)
        path.append((place, prices))
    for place, prices in reversed(path[:-1]):
        if late():
            return
        _point_above(search, place, prices)
    search.replan(start)


def add_wanted_point(search: Search, visit: Visit) -> None:
    """Improve a plan and the point it wants most, then the plan again."""
    wanted = _wanted(search, visit.place, search.replan(visit), 0.0)
    if wanted:
        _point_above(search, *wanted[0])
        search.replan(visit)


def _point_above(search: Search, place: int, prices: FloatArray) -> LowerStep:
    """Add the point that exceeds some prices most."""
    anywhere = Visit(place, np.full(len(prices), 1.0 / len(prices)))
    step = search.programs(anywhere)[1].exceed(prices)
    search.keep_point(place, step)
    return step


def _excess(tried: tuple[int, FloatArray, LowerStep]) -> float:
    _, prices, step = tried
    return step.value - float(prices @ step.belief)


def _wanted(search: Search, number: int, step: LowerStep, enough: float) -> list[tuple[int, FloatArray]]:
    """List the places after a plan where points may be missing, with the prices there, those that matter most first."""
    place = search.places[number]
    reach = place.discount * place.reach(step.defences, step.mix)
    active = step.actions[step.plan.sum(axis=1) > ACTIVE]
    candidates = np.flatnonzero(place.possible(active) & (reach > ACTIVE))
    beta = place.posteriors(candidates, step.actions, step.plan)
    found: list[tuple[float, int, int]] = []  # score, place, observation
    for t, here in place.grouped(candidates):
        seen, masses = candidates[here], beta[here]
        above = (masses @ search.upper.stores[t].alphas.T).min(axis=1)
        missing = above - (masses * step.prices[seen]).sum(axis=1)
        score = reach[seen] * missing * (STAYING if t == number else 1.0)
        wide = np.flatnonzero(missing > enough * masses.sum(axis=1))
        found += [(float(score[k]), t, int(seen[k])) for k in wide.tolist()]
    return [(t, step.prices[i]) for _, t, i in sorted(found, key=lambda each: -each[0])]
