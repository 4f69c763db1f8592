"""Exact arithmetic with the doubles of a file, and how much of it a file is given.

Each double is the rational number it stands for. Sums are taken over a common denominator at once instead of term by
term: most denominators in a file are powers of two times the few sums that something was divided by, so the common one
stays short.

Numbers of a hostile file may grow without end (denominators multiply), and so may the entries that elimination creates;
no size in the file tells how far. So every sum of products, every row of a process that is evaluated and every entry
that elimination makes is paid for beforehand, by its digits. A step is about a nanosecond. The count depends on
nothing but the file: one that is refused is refused everywhere.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from fractions import Fraction

from ncirl.errors import SizeError

__all__ = [
    "LEAST",
    "MOST_STEPS",
    "TERM",
    "TOLERANCE",
    "ZERO",
    "are_weights",
    "common_multiple",
    "digits",
    "dot",
    "has_small",
    "is_distribution",
    "limited",
    "normalised",
    "ratio",
    "spend",
    "too_large",
]

MOST_STEPS = 20_000_000_000
DIGIT = 30  # bits
TOLERANCE = Fraction(1, 10**9)  # how far a sum may be from what it should be
LEAST = 1e-90  # a probability that is not 0 must not be less
ZERO = Fraction(0)
CALL, TERM = 6000, 2000  # steps that a sum takes, and each of its terms, beside those for their digits


@dataclass
class _Account:
    where: str
    left: int


_account: ContextVar[_Account | None] = ContextVar("account", default=None)


@contextmanager
def limited(where: str) -> Iterator[None]:
    """Refuse what takes more than `MOST_STEPS` within; `where` is the file it is for."""
    token = _account.set(_Account(where, MOST_STEPS))
    try:
        yield
    finally:
        _account.reset(token)


def spend(steps: int) -> None:
    """Count steps that are about to be made; more than are left raise a SizeError."""
    account = _account.get()
    if account is not None:
        account.left -= steps
        if account.left < 0:
            raise too_large(account.where, f"takes more than the {MOST_STEPS:.0e} steps")


def digits(number: int) -> int:
    """Return how long a number is, in digits of 30 bits: products of digits are what multiplication is made of.

    Examples
    --------
    >>> digits(0), digits(2**30)
    (1, 2)
    """
    return 1 + number.bit_length() // DIGIT


def too_large(where: str, what: str) -> SizeError:
    """Return the error that says of a file how it is too large.

    Examples
    --------
    >>> print(too_large("p.ncirl", "holds more than the 32 MiB"))
    p.ncirl: holds more than the 32 MiB that exact arithmetic is given; `ncirl verify` without --exact has no such limit
    """
    return SizeError(
        f"{where}: {what} that exact arithmetic is given; `ncirl verify` without --exact has no such limit"
    )


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
