"""Divisions of intents into kinds: who is taken for whom by an attacker that tells some of them apart.

    m_c(θ) = b0(θ) · copies of θ in c / copies of θ,        o_c(θ) = m_c(θ) / Σ_θ' m_c(θ')

Intents that are likely have several copies, which may be of different kinds: who wants θ draws which copy it is. What a
division shows is how far apart the mean rewards r_c of its kinds are,

    Φ = Σ_c m_c (r_c − r)(r_c − r)ᵀ,        in units in which that of all intents told apart is 1.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ncirl._typing import FloatArray, IntArray

__all__ = ["Copies", "Division", "Groups"]

SMALLEST = 1 / 16  # of all, what a copy weighs at the least
FLAT, WIDEST = 1e-9, 8  # of how far apart rewards are: directions in which they are not; and how many are looked at

Groups = tuple[int, ...]  # the kind of each copy


@dataclass(frozen=True, eq=False)
class Division:
    """Kinds of intents: mass[c, θ] is how likely one wants θ and is of kind c."""

    mass: FloatArray

    @property
    def n(self) -> int:
        """How many kinds there are."""
        return len(self.mass)

    @cached_property
    def _odds(self) -> FloatArray:
        return np.asarray(self.mass / self.mass.sum(axis=1, keepdims=True))

    @property
    def mean(self) -> FloatArray:
        """[θ, c]: what is known per intent, on average within each kind, is ``known @ mean``."""
        return self._odds.T

    @property
    def one_of_each(self) -> IntArray:
        """An intent of each kind."""
        return np.asarray(self.mass.argmax(axis=1), dtype=np.intp)

    def pooled(self, mass: FloatArray) -> FloatArray:
        """Return the mass of each kind, where that of the intents is in proportion to the prior."""
        return np.asarray(mass.sum() * self.mass.sum(axis=1) / self.mass.sum())

    def spread(self, masses: FloatArray) -> FloatArray:
        """Return masses of kinds [..., c] as masses of intents [..., θ]."""
        return np.asarray(masses @ self._odds)


class Copies:
    """Copies of intents with rewards [k, θ]; those with different numbers `apart` are never of one kind."""

    def __init__(self, rewards: FloatArray, prior: FloatArray, apart: IntArray) -> None:
        share = prior / prior.sum()
        unit = max(float(share[share > 0].min()), SMALLEST)
        each = np.where(share > 0, np.maximum(1, np.rint(share / unit)), 0).astype(np.intp)
        self.intent = np.repeat(np.arange(len(prior)), each)
        self.mass = (share / np.maximum(each, 1))[self.intent]
        self._n_t = len(prior)
        self._classes = np.unique(apart[self.intent], return_inverse=True)[1]
        away = (rewards - (rewards @ share)[:, None]).T
        _, size, along = np.linalg.svd(np.sqrt(share)[:, None] * away, full_matrices=False)
        wide = np.flatnonzero(size > FLAT * max(size.max(initial=0.0), FLAT))[:WIDEST]
        self._away = (away @ along[wide].T / size[wide])[self.intent]  # [copy, direction]

    def division(self, groups: Groups) -> Division:
        """Return the kinds of a division."""
        mass = np.zeros((max(groups) + 1, self._n_t))
        np.add.at(mass, (np.array(groups), self.intent), self.mass)
        return Division(mass)

    @property
    def possible(self) -> int:
        """How many intents are possible."""
        return len(np.unique(self.intent))

    def shown(self, groups: Groups) -> FloatArray:
        """Return what a division shows, as one row of numbers."""
        kinds = np.eye(max(groups) + 1)[:, list(groups)] * self.mass  # [c, copy]
        means = kinds @ self._away
        return np.asarray((means.T / kinds.sum(axis=1)) @ means).ravel()

    def drawn(self, n: int, rng: np.random.Generator) -> Groups | None:
        """Draw a division into so many kinds; none where those who must be apart are more, or copies too few."""
        kinds = [[c] for c in range(self._classes.max() + 1)]
        room = np.bincount(self._classes) - 1.0  # kinds that there may be more of each
        weight = np.bincount(self._classes, weights=self.mass)
        for c in range(len(kinds), n):
            chance = weight * (room > 0)
            if not chance.any():
                return None
            one = int(rng.choice(len(kinds), p=chance / chance.sum()))
            kinds[one].append(c)
            room[one] -= 1
        groups = np.empty(len(self.intent), dtype=np.intp)
        for one, its in enumerate(kinds):
            members = rng.permutation(np.flatnonzero(self._classes == one))
            groups[members] = [*its, *rng.choice(its, len(members) - len(its))]
        return tuple(groups.tolist()) if len(kinds) <= n else None

    def beside(self, groups: Groups) -> Iterator[Groups]:
        """Yield the divisions into as many kinds that differ by one copy."""
        met = set()
        for copy, c in enumerate(groups):
            intent = int(self.intent[copy])
            if (intent, c) in met or groups.count(c) == 1:
                continue
            met.add((intent, c))
            for other in range(max(groups) + 1):
                if other != c and self._classes[groups.index(other)] == self._classes[copy]:
                    yield (*groups[:copy], other, *groups[copy + 1 :])

    def known_as(self, groups: Groups) -> tuple[bytes, ...]:
        """Return what is the same for divisions that are the same game: the odds of their kinds, each once."""
        counts = np.zeros((max(groups) + 1, self._n_t), dtype=np.intp)
        np.add.at(counts, (np.array(groups), self.intent), 1)
        return tuple(sorted({kind.tobytes() for kind in counts // np.gcd.reduce(counts, axis=1)[:, None]}))
