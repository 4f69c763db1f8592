"""Exact arithmetic with the doubles of a file: each is the rational number it stands for.

Sums are taken over a common denominator at once instead of term by term: most denominators in a file are powers of two
times the few sums that something was divided by, so the common one stays short.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

__all__ = ["TOLERANCE", "ZERO", "distribution", "dot", "exact"]

TOLERANCE = Fraction(1, 10**9)  # how far a sum may be from what it should be
ZERO = Fraction(0)


def exact(numbers: Sequence[float]) -> tuple[Fraction, ...] | None:
    """Return doubles as rational numbers; None where one is not finite."""
    return tuple(map(Fraction, numbers)) if all(map(math.isfinite, numbers)) else None


def dot(pairs: Iterable[tuple[Fraction, Fraction]]) -> Fraction:
    """Return Σ x y."""
    products = [(x.numerator * y.numerator, x.denominator * y.denominator) for x, y in pairs]
    common = math.lcm(*(below for _, below in products))
    return Fraction(sum(above * (common // below) for above, below in products), common)


def distribution(numbers: Sequence[float]) -> tuple[Fraction, ...] | None:
    """Return numbers divided by their sum; None unless they are finite, not negative, and almost sum to one."""
    given = exact(numbers)
    if given is None or any(number < 0 for number in given):
        return None
    common = math.lcm(*(number.denominator for number in given))
    above = [number.numerator * (common // number.denominator) for number in given]
    total = sum(above)
    if abs(Fraction(total, common) - 1) > TOLERANCE:
        return None
    return tuple(Fraction(number, total) for number in above)
