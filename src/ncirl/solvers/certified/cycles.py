"""Rounds over a game that goes on and has two or three intents: the whole defence at once, at a lattice of beliefs.

    points   back up L at every belief b_j of the lattice until none rises much
    guess    α_j ← the plane that touches L at b_j:   Û = min_j α_j is no bound, but nearly the value
    cycle    α'_j ← the backup of Û at b_j;   Σ_k p_jk α'_k ≤ α_j + δ;   what leads to α_j leads to p_j instead
    again, with what the cycle concedes for Û, while that falls;   then m ← so many beliefs as the gap asks for

What a new vector leads to are vectors as old as the bound, so from above a backup gains no more than the discount lets
through. A cycle leads to nothing but itself: whoever guesses v needs no more stages than one. By induction it concedes

    α'_j + γ δ / (1 − γ)   at the most,        δ = max_b ( min_k α'_k·b − Û(b) )

so it is as good as the guess, up to the h² by which planes at beliefs at a distance h rise above what they touch. What
it does concede is found by evaluating it.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from ncirl._typing import FloatArray, IntArray
from ncirl.lp.at_beliefs import vectors_at
from ncirl.lp.backups import VectorBackup
from ncirl.lp.planes import stand_ins, touching
from ncirl.lp.stores import FixedVectors, KnownVectors
from ncirl.solvers.certified.alpha_vectors import AlphaVectors
from ncirl.solvers.certified.lattice import SCALES, finer, lattice
from ncirl.solvers.certified.many import STORING, raise_points_at
from ncirl.solvers.certified.search import FINEST, Search

__all__ = ["Cycles"]

RISES, ENOUGH = 20, 0.5  # rounds of points, at most; of a stage's part of the target: a rise worth another round
CYCLES, LITTLE = 5, 0.7  # made of one lattice, at most; of the gap: if more is left, another would gain little
USUAL = 4  # times that a belief is dealt with in a round
MOST = 4000  # nodes of a cycle
AT_ONCE = 60  # beliefs dealt with before looking at the clock

Beliefs = Mapping[int, FloatArray]  # [k, θ] by state


class Cycles:
    """Solves a discounted game for both sides, again and again, at more beliefs each time."""

    def __init__(self, search: Search) -> None:
        self.search, self._n_t = search, search.arrays[0].n_t
        self._m, self._finest = SCALES[self._n_t]
        most = MOST // len(search.arrays)
        while self._finest > self._m and len(lattice(self._n_t, self._finest)) > most:
            self._finest = max(self._m, int(0.9 * self._finest))

    @property
    def effort(self) -> float:
        """About the work of the first round."""
        return float(USUAL * STORING * sum(len(each) for each in self._beliefs().values()))

    def round(self, target: float, late: Callable[[], bool]) -> None:
        """Raise the points, then make cycles, the first of them from the points."""
        search, beliefs = self.search, self._beliefs()
        search.accuracy.missed = FINEST  # what is missed is missed at every stage
        self._raise_points(beliefs, target, late)
        low, high = search.bounds()
        best, known = None, self._guess(beliefs)
        for k in range(CYCLES):
            made = self._cycle(known, beliefs, late)
            if made is None:
                break
            before, now, known = high - low, self._conceded(made), made
            if now < high - FINEST:
                best, high = made, now
            if high - low <= target or (k and high - low > LITTLE * before):
                break
        if best is not None:
            search.upper.take(best)
        self._m = min(self._finest, finer(self._m, self._n_t, search.gap_at_start(), target))

    def _beliefs(self) -> Beliefs:
        """Return the lattice, its corners too, and the starts."""
        every = [*lattice(self._n_t, self._m), *np.eye(self._n_t)]
        starts = {here.number: list[FloatArray]() for here in self.search.arrays}
        for _, root in self.search.roots:
            starts[root.state].append(root.belief)
        return {state: np.unique([*every, *those], axis=0) for state, those in starts.items()}

    def _raise_points(self, beliefs: Beliefs, target: float, late: Callable[[], bool]) -> None:
        """Back up the lower bound until no point rises much; points rise in place, so cycles of them rise at once."""
        search, enough = self.search, ENOUGH * target * (1.0 - self.search.game.discount)
        for _ in range(RISES):
            risen = 0.0
            for state, each in _parts(beliefs):
                if late():
                    return
                risen = max(risen, raise_points_at(search, state, each))
            search.lower.evaluate(search.tuning.sweeps)
            if risen <= max(enough, FINEST):
                return

    def _guess(self, beliefs: Beliefs) -> KnownVectors:
        """Return the planes that touch the lower bound."""
        stores = self.search.lower.stores
        planes = {state: np.unique(touching(stores[state], each), axis=0) for state, each in beliefs.items()}
        return FixedVectors.of(planes, self._n_t)

    def _cycle(self, known: KnownVectors, beliefs: Beliefs, late: Callable[[], bool]) -> AlphaVectors | None:
        """Return the controller that plays the backups at all beliefs and leads to itself; None if late."""
        search, found = self.search, list[tuple[int, FloatArray, VectorBackup]]()
        for state, each in _parts(beliefs):
            if late():
                return None
            search.meter.work += STORING * len(each)
            backups = vectors_at(search.arrays[state], known, each, search.meter)
            found += [(state, belief, backup) for belief, backup in zip(each, backups, strict=True)]
        instead = self._instead(known, found)
        heaviest = np.asarray(instead.argmax(axis=1)).ravel()
        cycle = AlphaVectors(search.arrays, every_row=True)
        for state, belief, backup in found:
            cycle.add(search.arrays[state], belief, _led(backup, instead, heaviest))
        cycle.settle()
        return cycle

    def _instead(self, known: KnownVectors, found: list[tuple[int, FloatArray, VectorBackup]]) -> sp.csr_array:
        """Return p[j, k]: for every vector known the mixture of those found at its state that stands in for it."""
        states, vectors = np.array([state for state, _, _ in found]), np.array([each.vector for *_, each in found])
        row, column, share = list[IntArray](), list[IntArray](), list[FloatArray]()
        for state, store in known.stores.items():
            here = np.flatnonzero(states == state)
            mixtures = stand_ins(store.alphas, vectors[here])
            j, k = np.nonzero(mixtures)
            row.append(store.nodes[j])
            column.append(here[k])
            share.append(mixtures[j, k])
        entries = np.concatenate(share), (np.concatenate(row), np.concatenate(column))
        return sp.csr_array(entries, shape=(len(known.vectors), len(found)))

    def _conceded(self, cycle: AlphaVectors) -> float:
        """Return what a cycle concedes in the game."""
        return sum(share * cycle.stores[root.state].value(root.belief) for share, root in self.search.roots)


def _led(backup: VectorBackup, instead: sp.csr_array, heaviest: IntArray) -> VectorBackup:
    """Return a backup that leads to mixtures of what was found, or to their heaviest parts, not to what is known."""
    mixtures = instead[backup.following]
    lengths = np.diff(mixtures.indptr)
    return replace(
        backup,
        observation=np.repeat(backup.observation, lengths),
        following=mixtures.indices.astype(np.intp),
        chance=np.repeat(backup.chance, lengths) * mixtures.data,
        default=heaviest[backup.default],
    )


def _parts(beliefs: Beliefs) -> Iterator[tuple[int, FloatArray]]:
    """Go through beliefs, some of a state at a time."""
    for state, every in beliefs.items():
        for each in np.array_split(every, 1 + len(every) // AT_ONCE):
            yield state, each
