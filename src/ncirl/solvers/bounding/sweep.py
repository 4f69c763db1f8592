"""Backward induction where nothing has been revealed: places of the game at the belief with which it begins.

An attacker with time hides what it wants, so far down the game the belief is often still, or nearly, the first one.
Trials come to those places late and one by one, each for some posterior of an optimistic plan. One sweep from the last
places to the first gives every plan a secure way on that reveals nothing, and every vector the defence against it.
"""

from __future__ import annotations

from collections.abc import Callable

from ncirl.solvers.bounding.search import Search, Visit

__all__ = ["backwards", "sweep"]


def sweep(search: Search, late: Callable[[], bool]) -> None:
    """Back up the places met so far, and those right after them, at the belief of the start whose gap weighs most."""
    start = search.worst_start()
    near = search.met.union(*(search.places[k].successors for k in search.met))
    for place in backwards(search, start.place):
        if late():
            return
        if place in near:
            search.back_up(Visit(place, start.belief))


def backwards(search: Search, start: int) -> list[int]:
    """List the places that a place leads to, each after what follows it, as far as they do not lead to each other."""
    order: list[int] = []
    seen = {start}
    path = [(start, iter(search.places[start].successors))]
    while path:
        place, following = path[-1]
        t = next((t for t in following if t not in seen), None)
        if t is None:
            order.append(place)
            path.pop()
        else:
            seen.add(t)
            path.append((t, iter(search.places[t].successors)))
    return order
