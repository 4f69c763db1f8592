"""Exact arithmetic with the doubles of a file: each is the rational number it stands for.

Sums are taken over a common denominator at once instead of term by term: most denominators in a file are powers of two
times the few sums that something was divided by, so the common one stays short.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

from ncirl.exact.work import digits, spend

__all__ = [
    "LEAST",
    "TERM",
    "TOLERANCE",
    "ZERO",
    "are_weights",
    "common_multiple",
    "dot",
    "has_small",
    "is_distribution",
    "normalised",
    "ratio",
]

TOLERANCE = Fraction(1, 10**9)  # how far a sum may be from what it should be
LEAST = 1e-90  # a probability that is not 0 must not be less
ZERO = Fraction(0)
CALL, TERM = 6000, 2000  # steps that a sum takes, and each of its terms, beside those for their digits


def are_weights(numbers: Iterable[float]) -> bool:
    """Tell whether numbers are finite and not negative."""
    return all(0 <= number < math.inf for number in numbers)


def has_small(numbers: Iterable[float]) -> bool:
    """Tell whether a number lies between 0 and `LEAST`."""
    return any(0 < number < LEAST for number in numbers)


def is_distribution(numbers: Sequence[float]) -> bool:
    """Tell whether numbers are finite, not negative, and sum to one up to `TOLERANCE`."""
    if not numbers or not are_weights(numbers):
        return False
    above, common = _over_one_denominator(numbers)
    return abs(Fraction(sum(above), common) - 1) <= TOLERANCE


def normalised(numbers: Sequence[float]) -> tuple[Fraction, ...]:
    """Return the numbers of a distribution divided by their sum."""
    above, _ = _over_one_denominator(numbers)
    total = sum(above)
    return tuple(Fraction(number, total) for number in above)


def _over_one_denominator(numbers: Sequence[float]) -> tuple[list[int], int]:
    spend(TERM * len(numbers))
    ratios = [number.as_integer_ratio() for number in numbers]
    common = max(below for _, below in ratios)  # they are powers of two
    return [above * (common // below) for above, below in ratios], common


def common_multiple(numbers: Iterable[int]) -> int:
    """Return the least common multiple of positive numbers."""
    common = 1
    for number in numbers:
        spend(2 * digits(common) * digits(number))
        if common % number:
            spend(6 * digits(common) * digits(number))
            common = math.lcm(common, number)
    return common


def ratio(x: Fraction, y: Fraction) -> Fraction:
    """Return x / y."""
    spend(CALL + 2 * (digits(x.denominator) + digits(y.denominator)) ** 2)
    return x / y


def dot(pairs: Iterable[tuple[Fraction, Fraction]]) -> Fraction:
    """Return Σ x y."""
    products = [(x.numerator * y.numerator, x.denominator * y.denominator) for x, y in pairs]
    spend(CALL + TERM * len(products))
    common = common_multiple(below for _, below in products)
    lengths = digits(common) + sum(digits(above) + digits(below) for above, below in products)
    spend(2 * digits(common) * lengths)
    return Fraction(sum(above * (common // below) for above, below in products), common)
