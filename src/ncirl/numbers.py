"""How numbers are written for people and for programs: bounds to the safe side, none too small to be told.

An upper bound is rounded up and a lower bound down, so what is written bounds what was computed. A bound nearer to 0
than `TELLABLE` times the magnitude of its game cannot be told from 0: an upper one is then that much, a lower one 0.
"""

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal, localcontext

__all__ = ["TELLABLE", "at_least", "at_most", "interval", "number", "share_at_most", "tellable_lower", "tellable_upper"]

TELLABLE = 1e-9  # of the magnitude of a game: what is nearer to 0 cannot be told from it
LEAST = 1e-300  # whatever the magnitude: what is smaller has lost digits
ROUNDING = 1e-12  # of a number: what sums and their allowances add to a round one, and no reason to leave it
DIGITS = 9  # of a number in full
SHORT = 3  # decimals of a short number, and digits of a small one
FINEST = 0.001  # of a share in per cent
WIDEST = 400  # digits that any float has between its first and the last that is written
PLAIN = range(-4, DIGITS)  # places of the first digit; elsewhere powers of ten are easier to read


def tellable_upper(value: float, scale: float) -> float:
    """Return an upper bound as it is told: one that cannot be told from 0 is the least that can, or 0.

    Examples
    --------
    >>> tellable_upper(5e-324, 1.0), tellable_upper(-5e-324, 1.0), tellable_upper(0.25, 1.0)
    (1e-09, 0.0, 0.25)
    """
    least = max(TELLABLE * scale, LEAST)
    return (least if value > 0 else 0.0) if abs(value) < least else value


def tellable_lower(value: float, scale: float) -> float:
    """Return a lower bound as it is told."""
    return -tellable_upper(-value, scale) + 0.0


def at_most(value: float, scale: float = 0.0, *, short: bool = False) -> str:
    """Write an upper bound, never below it.

    Parameters
    ----------
    value : float
        The bound.
    scale : float
        The magnitude of its game, such as the largest reward; 0 for a number that is tellable already.
    short : bool
        Three decimals, or three digits of a small number, instead of nine digits.

    Examples
    --------
    >>> at_most(1.50730975), at_most(1.50730975, short=True), at_most(0.0012341, short=True), at_most(5e-324, 1.0)
    ('1.50730975', '1.508', '0.00124', '1e-9')
    """
    return _written(tellable_upper(value, scale), ROUND_CEILING, short)


def at_least(value: float, scale: float = 0.0, *, short: bool = False) -> str:
    """Write a lower bound, never above it; parameters as of `at_most`.

    Examples
    --------
    >>> at_least(1.50730975, short=True), at_least(0.99999, short=True), at_least(5e-324, 1.0)
    ('1.507', '0.999', '0')
    """
    return _written(tellable_lower(value, scale), ROUND_FLOOR, short)


def interval(lower: float, upper: float, scale: float = 0.0) -> str:
    """Write two bounds, short.

    Examples
    --------
    >>> interval(0.06491, 0.86099)
    '0.0649 to 0.861'
    """
    return f"{at_least(lower, scale, short=True)} to {at_most(upper, scale, short=True)}"


def share_at_most(value: float) -> str:
    """Write a share in per cent, never below it.

    Examples
    --------
    >>> share_at_most(0.0541), share_at_most(1e-12), share_at_most(0.0)
    ('5.5%', 'less than 0.1%', '0%')
    """
    if not 0 < value < math.inf:
        return f"{value:.0%}"
    if value < FINEST:
        return f"less than {FINEST:.1%}"
    return f"{math.ceil(value / FINEST * (1 - ROUNDING)) * FINEST:.1%}"


def number(value: float) -> str:
    """Write a number that is no bound."""
    return f"{value:.{DIGITS}g}"


def _written(value: float, rounding: str, short: bool) -> str:
    if value == 0 or not math.isfinite(value):
        return f"{value + 0.0:g}"
    with localcontext() as context:
        context.prec = WIDEST
        exact = Decimal(value)
        first = exact.adjusted()
        last = first - DIGITS + 1
        unit = Decimal(1).scaleb(max(last, min(-SHORT, first - SHORT + 1)) if short else last)
        written = exact.quantize(unit, ROUND_HALF_EVEN)
        if abs(written - exact) > Decimal(ROUNDING) * abs(exact):
            written = exact.quantize(unit, rounding)
        if short and written.adjusted() > first and first < -1:  # rounded to a power of ten: a digit less
            written = written.quantize(unit.scaleb(1))
        if written.adjusted() not in PLAIN:
            return f"{written.normalize():e}".replace("e-0", "e-")
        plain = f"{written:f}"
        return plain if short or "." not in plain else plain.rstrip("0").rstrip(".")
