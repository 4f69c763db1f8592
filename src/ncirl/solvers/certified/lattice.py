"""Rounds over a game that ends and has few intents: home through a lattice of beliefs, a finer one each time.

    Λ_m = { b : m b(θ) whole numbers },        B_t = the b ∈ Λ_m within a step of Λ_m' of a belief met,   m' the last m
    home   back up every belief of B_T-1, …, B_0, those of a state together

Between beliefs at a distance h both bounds lose h² or so at every stage, and what all stages lose adds up at the start.
A long game thus wants many beliefs a stage, evenly spread over wherever play may be: optimistic play always finds the
place where the upper bound is worst, and a round that follows it mends that place only. What the beliefs of a stage
take is little where they are dealt with together (`lp.at_beliefs`). How many are needed is known after the first round,
since the gap is in proportion to 1/m²; play as both controllers have it tells where.
"""

from collections.abc import Callable
from itertools import combinations_with_replacement

import numpy as np

from ncirl._typing import FloatArray
from ncirl.lp.at_beliefs import is_small, points_at, vectors_at
from ncirl.solvers.certified.controller import depths
from ncirl.solvers.certified.search import FINEST, InformationState, Search

__all__ = ["Lattice", "serves"]

FEW = 3  # intents
FIRST = {1: 1, 2: 16, 3: 6}  # m of the first round, by number of intents
FINER = 4.0  # times as many beliefs, at the most, as in the round before
LEAST, SURE = 1.3, 1.2  # m grows by this at the least; and times what it should take
STORING = 3000  # work for a vector or a point


def serves(search: Search) -> bool:
    """Tell whether there are few intents, and all states are small."""
    return bool(search.arrays) and search.arrays[0].n_t <= FEW and all(is_small(here) for here in search.arrays)


class Lattice:
    """Solves a game that ends from its last states to its first, again and again, at more beliefs each time."""

    def __init__(self, search: Search, backwards: list[int]) -> None:
        self.search, self._backwards = search, backwards
        self._n_t = search.arrays[0].n_t
        self._m, self._last = FIRST[self._n_t], 0

    def round(self, target: float, late: Callable[[], bool]) -> None:
        """Go home once."""
        search, every, met = self.search, lattice(self._n_t, self._m), self._met()
        search.accuracy.missed = FINEST  # it is missed at every stage
        for k in self._backwards:
            if late():
                return
            here = met.get(k, np.zeros((0, self._n_t)))
            near = every if not self._last else every[_within(every, here, 1.0 / self._last)]
            starts = [root.belief for _, root in search.roots if root.state == k]
            self._back_up(k, np.array([*near, *starts]).reshape(-1, self._n_t))
        wanted = SURE * float(np.sqrt(search.gap_at_start() / max(target, FINEST)))
        self._last = self._m
        self._m = int(self._m * np.clip(wanted, LEAST, FINER ** (1 / max(1, self._n_t - 1)))) + 1

    def _met(self) -> dict[int, FloatArray]:
        """Return, by state, the beliefs at which the nodes were made that play from the starts leads to."""
        search, met = self.search, dict[int, list[FloatArray]]()
        for _, root in search.roots:
            above, below = search.upper.stores[root.state], search.lower.stores[root.state]
            best = below.best(root.belief)
            points = [] if best is None else depths(search.lower.nodes, [int(below.nodes[best[0]])])
            vectors = depths(search.upper.nodes, [int(above.nodes[above.best(root.belief)])])
            for node in [*(search.upper.nodes[n] for n in vectors), *(search.lower.nodes[n] for n in points)]:
                if node.belief is not None:
                    met.setdefault(node.state, []).append(node.belief)
        return {k: np.unique(beliefs, axis=0) for k, beliefs in met.items()}

    def _back_up(self, state: int, beliefs: FloatArray) -> None:
        """Improve both bounds at some beliefs."""
        search, here = self.search, self.search.arrays[state]
        if not len(beliefs):
            return
        search.meter.work += 2 * STORING * len(beliefs)
        for belief, vector in zip(beliefs, vectors_at(here, search.upper, beliefs, search.meter), strict=True):
            search.keep_vector(InformationState(state, belief), vector)
        for belief, plan in zip(beliefs, points_at(here, search.lower, beliefs, search.meter), strict=True):
            if plan.value > search.lower.stores[state].value(belief) + search.accuracy.missed:
                search.lower.add(here, belief, plan)


def lattice(n_intents: int, m: int) -> FloatArray:
    """Return the beliefs [k, θ] whose entries are multiples of 1/m, without the corners."""
    splits = combinations_with_replacement(range(m + 1), n_intents - 1)
    beliefs = np.diff(np.array([(0, *split, m) for split in splits], dtype=np.float64), axis=1) / m
    return np.asarray(beliefs[beliefs.max(axis=1) < 1])


def _within(beliefs: FloatArray, others: FloatArray, distance: float) -> np.ndarray:
    """Tell which beliefs are near some others, as a mask."""
    near = np.zeros(len(beliefs), dtype=np.bool_)
    for other in others:
        near |= (np.abs(beliefs - other) <= distance + 1e-9).all(axis=1)
    return near
