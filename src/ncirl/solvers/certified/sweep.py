"""Backward induction where nothing has been revealed: places of the game at the belief with which it begins.

An attacker with time hides what it wants, so far down the game the belief is often still, or nearly, the first one.
Trials come to those places late and one by one, each for some posterior of an optimistic plan. One sweep from the last
places to the first gives every plan a secure way on that reveals nothing, and every vector the defence against it.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain

from ncirl.model.order import components
from ncirl.solvers.certified.search import Search, Visit

__all__ = ["sweep"]


def sweep(search: Search, late: Callable[[], bool]) -> None:
    """Back up the places met so far, and those right after them, at the belief of the start whose gap weighs most."""
    start = search.worst_start()
    near = search.met.union(*(search.places[k].successors for k in search.met))
    for state in chain.from_iterable(components(search.game)):  # what follows a place comes before it
        if late():
            return
        if search.number.get(state) in near:
            search.back_up(Visit(search.number[state], start.belief))
