"""Whether the two verifiers say the same, and how exact bounds are written down.

The floating-point verifier gives away what rounding may have cost and says how much that was. With `f` its bounds and
`e` the exact ones, known up to `error`, they agree where on both sides

    f.lower ≤ e.lower ≤ f.lower + f.lower_allowance,        f.upper − f.upper_allowance ≤ e.upper ≤ f.upper.

A bound that the one does not have for a fault, the other must not have either. A first verifier that is at a loss
without a fault says so by an infinite allowance, which rules nothing out.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Protocol

from ncirl.exact.certificate import ExactCertificate

__all__ = ["Rounded", "agrees", "decimal_above", "decimal_below"]

DIGITS = 30


class Rounded(Protocol):
    """What the floating-point verifier found."""

    @property
    def lower(self) -> float:
        """What the attacker secures; -inf where faults leave nothing to compute."""
        ...

    @property
    def upper(self) -> float:
        """What the defender concedes; inf where faults leave nothing to compute."""
        ...

    @property
    def lower_allowance(self) -> float:
        """How far the exact lower bound is above it at most."""
        ...

    @property
    def upper_allowance(self) -> float:
        """How far the exact upper bound is below it at most."""
        ...


def agrees(found: Rounded, exact: ExactCertificate) -> bool:
    """Tell whether rounded bounds are as good as they say, by the exact ones."""
    return _within(found.lower, found.lower_allowance, exact.lower, exact.error) and _within(
        -found.upper, found.upper_allowance, None if exact.upper is None else -exact.upper, exact.error
    )


def _within(bound: float, allowance: float, exact: Fraction | None, error: Fraction) -> bool:
    if exact is None:
        return bound == -math.inf
    if math.isinf(allowance):
        return bound == -math.inf
    if not (math.isfinite(bound) and math.isfinite(allowance)):
        return False
    return -error <= exact - Fraction(bound) <= Fraction(allowance) + error


def decimal_below(number: Fraction) -> str:
    """Write a number with 30 digits, rounded down.

    Examples
    --------
    >>> decimal_below(Fraction(2, 3)), decimal_above(Fraction(-2, 3))
    ('0.666666666666666666666666666666', '-0.666666666666666666666666666666')
    """
    return _decimal(number, ROUND_FLOOR)


def decimal_above(number: Fraction) -> str:
    """Write a number with 30 digits, rounded up."""
    return _decimal(number, ROUND_CEILING)


def _decimal(number: Fraction, rounding: str) -> str:
    context = Context(prec=DIGITS, rounding=rounding)
    return str(context.divide(Decimal(number.numerator), Decimal(number.denominator)))
