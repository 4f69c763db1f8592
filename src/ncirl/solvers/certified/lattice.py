"""Rounds over a game that ends and has two or three intents: home through a lattice of beliefs, finer each time.

    Λ_m = { b : m b(θ) whole numbers },        B_t = what of Λ_m is a step of the last round, or less, from a belief met
    home   back up every belief of B_T-1, …, B_0, those of a state together

Between beliefs at a distance h both bounds lose h² or so at every stage, and what all stages lose adds up at the start.
A long game thus wants many beliefs a stage, evenly spread over wherever play may be: optimistic play finds the place
where the upper bound is worst, and rounds that follow it (`layers`) mend that place, only for play to find the next.
Where the beliefs of a state are dealt with together (`lp.at_beliefs`) there may be many. How many it takes is known
after a round, since the gap is in proportion to 1/m²; where, from the nodes that play leads to in both controllers.

What is lost at a stage is h² times how much the value bends, about in proportion to the stages to come; the same play
over more beliefs meets each of them less. The least number of beliefs for what is lost in all has

    1/h  in proportion to  (stages to come / how far the beliefs met are spread)^(1/3).
"""

from collections.abc import Callable
from itertools import combinations_with_replacement

import numpy as np

from ncirl._typing import BoolArray, FloatArray
from ncirl.lp.at_beliefs import is_small
from ncirl.solvers.certified.many import back_up_at
from ncirl.solvers.certified.search import FINEST, Search

__all__ = ["SCALES", "Lattice", "finer", "lattice", "serves"]

SCALES = {1: (1, 1), 2: (16, 1000), 3: (6, 42)}  # the first m and the last, by number of intents
FINER, LEAST = 5.0, 1.3  # times as many beliefs as before, at the most, and times as large an m, at the least
SURE = 1.35  # times the m that should do
EQUAL = 1e-9  # distances that differ by less are the same


def serves(search: Search) -> bool:
    """Tell whether there are few intents, for with more beliefs become too many, and all states are small."""
    return bool(search.arrays) and search.arrays[0].n_t in SCALES and all(is_small(here) for here in search.arrays)


class Lattice:
    """Solves a game that ends from its last states to its first, again and again, at more beliefs each time.

    `left` has, by state, how many stages are to come at the most, the last states first.
    """

    def __init__(self, search: Search, left: dict[int, int]) -> None:
        self.search, self._left, self._stages = search, left, max(left.values())
        self._n_t = search.arrays[0].n_t
        self._m, self._finest = SCALES[self._n_t]
        self._step: dict[int, float] = {}  # by state, the distance of beliefs in the last round

    def round(self, target: float, late: Callable[[], bool]) -> None:
        """Go home once."""
        search, met = self.search, self._met()
        search.accuracy.missed = FINEST  # what is missed is missed at every stage
        for state in self._left:
            if late():
                return
            starts = [root.belief for _, root in search.roots if root.state == state]
            beliefs = [*self._beliefs(state, met.get(state)), *starts]
            if beliefs:
                back_up_at(search, state, np.array(beliefs), late)
        self._m = min(self._finest, finer(self._m, self._n_t, search.gap_at_start(), target))

    def _met(self) -> dict[int, FloatArray]:
        """Return, by state, the beliefs at which the nodes were made that play leads to."""
        search, met = self.search, dict[int, list[FloatArray]]()
        vectors, points = search.played()
        for vector in (search.upper.nodes[n] for n in vectors):
            if vector.belief is not None:
                met.setdefault(vector.state, []).append(vector.belief)
        for point in (search.lower.nodes[n] for n in points):
            met.setdefault(point.state, []).append(point.belief)
        return {state: np.unique(beliefs, axis=0) for state, beliefs in met.items()}

    def _beliefs(self, state: int, met: FloatArray | None) -> FloatArray:
        """Return the lattice of a state, at first all of it, later near the beliefs met."""
        every, step = lattice(self._n_t, self._m), self._step.get(state)
        if step is None:
            self._step[state] = 1.0 / self._m
            return every
        if met is None:
            return every[:0]
        spread = float(_near(every, met, step).mean())
        if not spread:
            return every[:0]
        m = int(np.ceil(self._m * (self._left[state] / self._stages / spread) ** (1 / 3)))
        self._step[state], every = 1.0 / m, lattice(self._n_t, m)
        return np.asarray(every[_near(every, met, step)])


def lattice(n_intents: int, m: int) -> FloatArray:
    """Return the beliefs [k, θ] whose entries are multiples of 1/m, without the corners.

    Examples
    --------
    >>> lattice(2, 4)
    array([[0.25, 0.75],
           [0.5 , 0.5 ],
           [0.75, 0.25]])
    """
    splits = [(0, *split, m) for split in combinations_with_replacement(range(m + 1), n_intents - 1)]
    beliefs = np.diff(np.array(splits, dtype=np.float64), axis=1) / m
    return np.asarray(beliefs[beliefs.max(axis=1) < 1])


def finer(m: int, n_intents: int, gap: float, target: float) -> int:
    """Return the m that should do for a target after one has left a gap, not too many beliefs at once."""
    wanted = SURE * float(np.sqrt(max(gap, 0.0) / max(target, FINEST)))
    return int(np.ceil(m * np.clip(wanted, LEAST, FINER ** (1 / max(1, n_intents - 1)))))


def _near(beliefs: FloatArray, others: FloatArray, distance: float) -> BoolArray:
    """Tell which beliefs differ from one of the others by no more than a distance in each entry, as a mask."""
    near = np.zeros(len(beliefs), dtype=np.bool_)
    for other in others:
        near |= (np.abs(beliefs - other) <= distance + EQUAL).all(axis=1)
    return near
