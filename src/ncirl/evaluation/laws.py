"""What an opponent knows of a strategy's private memory: laws of it, numbered.

A law gives each memory a mass: a number, or one per intent where the intent is not known either. Only proportions
matter to whoever answers, so masses are brought to a sum of one, and laws equal to `DIGITS` digits count as one; the
largest distance between two that were taken for one is kept, for it is part of the error of whatever rests on them.
"""

from collections.abc import Mapping

import numpy as np

from ncirl._typing import FloatArray
from ncirl.strategies.strategy import Memory

__all__ = ["DIGITS", "Law", "Laws"]

DIGITS = 12  # laws are told apart up to here

Law = tuple[tuple[Memory, FloatArray], ...]  # memories with their masses, [] or [θ], which sum to one over all of it


class Laws:
    """The laws met so far, by number."""

    def __init__(self) -> None:
        self._memories: dict[Memory, int] = {}
        self._numbers: dict[tuple[tuple[int, bytes], ...], int] = {}
        self._laws: list[Law] = []
        self.moved = 0.0  # the largest ℓ1 distance between laws taken for one

    def __getitem__(self, number: int) -> Law:
        return self._laws[number]

    def number(self, masses: Mapping[Memory, FloatArray]) -> int:
        """Return the number of a law given by masses that need not sum to one."""
        total = sum(float(mass.sum()) for mass in masses.values())
        law = [
            (self._memories.setdefault(memory, len(self._memories)), memory, mass / total)
            for memory, mass in masses.items()
            if mass.any()
        ]
        law.sort(key=lambda part: part[0])
        key = tuple((place, (np.round(mass, DIGITS) + 0.0).tobytes()) for place, _, mass in law)  # no negative zeros
        found = self._numbers.setdefault(key, len(self._laws))
        if found == len(self._laws):
            self._laws.append(tuple((memory, mass) for _, memory, mass in law))
        else:
            kept = self._laws[found]
            distance = sum(float(np.abs(mass - own).sum()) for (_, _, mass), (_, own) in zip(law, kept, strict=True))
            self.moved = max(self.moved, distance)
        return found
