r"""Priors that are known roughly: all distributions over intents within bounds, and the worst of them.

    P = { b : Σ_θ b(θ) = 1, low(θ) ≤ b(θ) ≤ high(θ) },        max_{b ∈ P} Σ_θ b(θ) ζ(θ)

is reached by giving every intent its least, and what is left to the intents with the largest ζ first. With ζ what a
defence concedes to each intent, that is what it concedes at most, whichever prior of P is the true one. Nothing known
is the case low = 0, high = 1, and the maximum is that of ζ.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import fsum, inf, nextafter

import numpy as np

from ncirl._typing import FloatArray
from ncirl.errors import InputError
from ncirl.model.stage import SUM_TOLERANCE

__all__ = ["ANY", "OUTSIDE", "ROUNDING", "Priors", "prior_faults"]

ANY = "worst"  # what files say where nothing is known
OUTSIDE = "prior: that of the attack is not within the bounds that the defence is said to be made for"
ROUNDING = 1e-9  # by which a prior may be outside


@dataclass(frozen=True)
class Priors:
    """All priors between two numbers, intent by intent.

    Examples
    --------
    >>> rough = Priors((0.1, 0.0, 0.5), (0.4, 1.0, 0.5))
    >>> rough.worst([3.0, 1.0, 2.0])
    array([0.4, 0.1, 0.5])
    >>> Priors.all_of(2).most([3.0, 1.0])
    3.0
    """

    low: tuple[float, ...]
    high: tuple[float, ...]

    def __post_init__(self) -> None:
        faults = [said for _, said in prior_faults(self.low, self.high)]
        if faults:
            raise InputError(faults, "priors")

    @staticmethod
    def all_of(intents: int) -> "Priors":
        """Return all priors there are."""
        return Priors((0.0,) * intents, (1.0,) * intents)

    @staticmethod
    def within(bounds: Mapping[str, tuple[float, float]], intents: Sequence[str]) -> "Priors":
        """Return the priors between bounds given by intent; of an intent that is not named nothing is known.

        Raises `InputError` when an intent is unknown, or no prior is within the bounds.
        """
        strange = [f"unknown intent '{name}'" for name in bounds if name not in intents]
        if strange:
            raise InputError(strange, "priors")
        ends = [bounds.get(name, (0.0, 1.0)) for name in intents]
        return Priors(tuple(float(low) for low, _ in ends), tuple(float(high) for _, high in ends))

    @property
    def are_all(self) -> bool:
        """Whether nothing at all is known."""
        return not any(self.low) and all(high == 1.0 for high in self.high)

    def worst(self, conceded: Sequence[float] | FloatArray) -> FloatArray:
        """Return the prior at which a vector, what is conceded to each intent, is worth most, [θ]."""
        return np.array([float(p) for p in self._worst(conceded)])

    def most(self, conceded: Sequence[float] | FloatArray) -> float:
        """Return what a vector is worth at most, rounded up: the arithmetic is exact."""
        worth = [float(each) for each in conceded]
        if inf in worth:
            return inf
        exact = sum((p * Fraction(each) for p, each in zip(self._worst(worth), worth, strict=True)), Fraction(0))
        return float(exact) if Fraction(float(exact)) >= exact else nextafter(float(exact), inf)

    def nearest(self, prior: FloatArray) -> FloatArray:
        """Return a prior within the bounds near one that may be outside, if only by what a linear program is off."""
        low, high = np.array(self.low), np.array(self.high)
        found: FloatArray = np.clip(prior, low, high)
        missing = 1.0 - found.sum()
        room = high - found if missing > 0 else found - low
        if room.sum() > 0:
            found = found + missing * room / room.sum()
        nearest: FloatArray = found / found.sum()
        return nearest

    @property
    def middle(self) -> FloatArray:
        """A prior within the bounds: every intent as far above its least as every other."""
        least, most = fsum(self.low), fsum(self.high)
        share = (1.0 - least) / (most - least) if most > least else 0.0
        found = np.array([low + share * (high - low) for low, high in zip(self.low, self.high, strict=True)])
        middle: FloatArray = found / found.sum()
        return middle

    def to_data(self, intents: Sequence[str]) -> str | dict[str, list[float]]:
        """Return it as plain data: a word where nothing is known, else bounds by intent."""
        ends = zip(intents, self.low, self.high, strict=True)
        return ANY if self.are_all else {name: [low, high] for name, low, high in ends}

    @staticmethod
    def from_data(data: object, intents: Sequence[str]) -> "Priors":
        """Read it back; raises `InputError` where it is neither the word nor bounds."""
        if data == ANY:
            return Priors.all_of(len(intents))
        if not isinstance(data, Mapping) or not all(_is_pair(ends) for ends in data.values()):
            raise InputError(f"must be '{ANY}' or two numbers by intent", "prior")
        return Priors.within({name: (float(low), float(high)) for name, (low, high) in data.items()}, intents)

    def contains(self, prior: FloatArray) -> bool:
        """Tell whether a prior is within the bounds, up to rounding."""
        low, high = np.array(self.low) - ROUNDING, np.array(self.high) + ROUNDING
        return prior.shape == low.shape and bool(((low <= prior) & (prior <= high)).all())

    def _worst(self, conceded: Sequence[float] | FloatArray) -> list[Fraction]:
        low, high = [Fraction(each) for each in self.low], [Fraction(each) for each in self.high]
        if sum(low) >= 1 or sum(high) <= 1:  # one prior only, and its sum rounded
            only = low if sum(low) >= 1 else high
            return [each / sum(only) for each in only]
        found, left = low, 1 - sum(low)
        for k in sorted(range(len(low)), key=lambda k: -conceded[k]):
            more = min(high[k] - low[k], left)
            found[k], left = found[k] + more, left - more
        return found


def prior_faults(low: Sequence[float], high: Sequence[float]) -> Iterator[tuple[int | None, str]]:
    """Tell why no prior is within bounds, each fault with the number of the intent that it is about."""
    crossed = [k for k, ends in enumerate(zip(low, high, strict=True)) if not 0 <= ends[0] <= ends[1] <= 1]
    for k in crossed:
        yield k, f"must be two numbers in [0, 1], the smaller first, got [{low[k]:g}, {high[k]:g}]"
    if crossed or not low:
        return
    least, most = fsum(low), fsum(high)
    if least > 1 + SUM_TOLERANCE:
        yield None, f"the least that priors may be sum to {least:g}, more than 1; lower one of them"
    if most < 1 - SUM_TOLERANCE:
        yield None, f"the most that priors may be sum to {most:g}, less than 1; raise one of them"


def _is_pair(ends: object) -> bool:
    if not isinstance(ends, list | tuple) or len(ends) != 2:
        return False
    return all(isinstance(end, int | float) and not isinstance(end, bool) for end in ends)
