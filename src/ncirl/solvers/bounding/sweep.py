"""Backward induction where nothing has been revealed: every place at the belief with which the game begins.

An attacker with time hides what it wants, so far down the game the belief is often still, or nearly, the first one.
Trials come to those places late and one by one, each for some posterior of an optimistic plan. One sweep from the last
places to the first gives every plan a secure way on that reveals nothing, and every vector the defence against it.
"""

from __future__ import annotations

from collections.abc import Callable

from ncirl.solvers.bounding.search import Search, Visit

__all__ = ["Sweep"]


class Sweep:
    """Backs up every place at the beliefs of the starts that lead to it, those with least before them first."""

    def __init__(self, search: Search) -> None:
        self.search = search
        leads = [_reachable(search, k) for k in range(len(search.places))]
        visits = [Visit(t, root.belief) for _, root in search.roots for t in leads[root.place]]
        self.visits = sorted(visits, key=lambda visit: len(leads[visit.place]))

    def run(self, late: Callable[[], bool]) -> None:
        """Sweep once."""
        for visit in self.visits:
            if late():
                return
            self.search.back_up(visit)


def _reachable(search: Search, place: int) -> list[int]:
    """List the places that a place leads to, itself among them."""
    met = [place]
    known = set(met)
    for k in met:  # grows as it goes
        new = [t for t in search.places[k].successors if t not in known]
        known.update(new)
        met += new
    return met
