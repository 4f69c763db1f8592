r"""Times to compromise of the Meta Attack Language, as the chance that a step succeeds in one stage.

A time to compromise is a random time T, infinite where the step is impossible. With p the chance that T is finite and
m its mean where it is,

    success = p (1 − exp(−1 / m)),    p where m = 0.

For an exponential T this is P(T ≤ 1), a stage being one unit of time (a day in the language's own tables); for the
other distributions it is the exponential with the same mean. p is drawn once in the language and at every attempt
here, which is kinder to a patient attacker. Where a mean is infinite the median stands for it.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ncirl.importers.values import number, text

__all__ = ["Time", "success_of", "time_of"]


@dataclass(frozen=True)
class Time:
    """A time to compromise: how likely it is finite, and its mean where it is; no mean takes no time."""

    possible: float
    mean: float | None = None


INSTANT, NEVER = Time(1.0), Time(0.0)
NAMED: dict[str, Time] = {
    "easyandcertain": Time(1.0, 1.0),
    "easyanduncertain": Time(0.5),
    "hardandcertain": Time(1.0, 10.0),
    "hardanduncertain": Time(0.5, 10.0),
    "veryhardandcertain": Time(1.0, 100.0),
    "veryhardanduncertain": Time(0.5, 100.0),
    "enabled": INSTANT,
    "instant": INSTANT,
    "zero": INSTANT,
    "disabled": NEVER,
    "infinity": NEVER,
}


def success_of(ttc: Any) -> float | None:
    """Return the chance of success in one stage; None where the time is absent or not understood.

    Examples
    --------
    >>> success_of({"type": "function", "name": "Bernoulli", "arguments": [0.25]})
    0.25
    >>> round(success_of({"type": "function", "name": "HardAndUncertain", "arguments": []}), 6)
    0.047581
    """
    time = time_of(ttc)
    if time is None or not time.mean:
        return None if time is None else time.possible
    return time.possible * -math.expm1(-1 / time.mean)


def time_of(ttc: Any) -> Time | None:
    """Return a time to compromise written as a name, a number, a function or a sum, product and so on of these."""
    if isinstance(ttc, str):
        return NAMED.get(ttc.strip().lower())
    if not isinstance(ttc, Mapping):
        given = number(ttc)
        return _lasting(given) if given is not None and given >= 0 else None
    if "lhs" in ttc and "rhs" in ttc:
        return _combined(text(ttc.get("type")).lower(), time_of(ttc["lhs"]), time_of(ttc["rhs"]))
    if "value" in ttc:
        return time_of(ttc["value"])
    name = text(ttc.get("name")).lower()
    arguments = ttc.get("arguments") or []
    values = [number(argument) for argument in arguments] if isinstance(arguments, list) else [None]
    if name in NAMED:
        return NAMED[name]
    if name not in DISTRIBUTIONS or None in values:
        return None
    try:
        return DISTRIBUTIONS[name](*values)
    except (TypeError, ValueError, OverflowError, ZeroDivisionError):  # as many arguments as it takes, in their range
        return None


def _lasting(mean: float, possible: float = 1.0) -> Time:
    if not (mean >= 0 and 0 <= possible <= 1):
        raise ValueError("no time is negative")
    return Time(possible, mean) if math.isfinite(mean) else NEVER


def _pareto(smallest: float, shape: float) -> Time:
    return _lasting(smallest * shape / (shape - 1) if shape > 1 else smallest * 2 ** (1 / shape))


DISTRIBUTIONS: dict[str, Callable[..., Time]] = {
    "bernoulli": lambda chance: Time(_lasting(0.0, chance).possible),
    "binomial": lambda trials, chance: _lasting(trials * chance),
    "constant": _lasting,
    "exponential": lambda rate: _lasting(1 / rate) if rate else NEVER,
    "gamma": lambda shape, scale: _lasting(shape * scale),
    "lognormal": lambda mu, sigma: _lasting(math.exp(mu + sigma**2 / 2)),
    "pareto": _pareto,
    "truncatednormal": lambda mean, _: _lasting(max(mean, 0.0)),
    "uniform": lambda low, high: _lasting((low + high) / 2),
}


def _combined(operation: str, left: Time | None, right: Time | None) -> Time | None:
    """Combine two times; one without a mean, a Bernoulli, is a factor that only says whether the step is possible."""
    if left is None or right is None:
        return None
    possible = left.possible * right.possible
    if left.mean is None or right.mean is None:
        return Time(possible, right.mean if left.mean is None else left.mean)
    try:
        mean = MEANS[operation](left.mean, right.mean)
        return _lasting(mean, possible) if isinstance(mean, float) else None
    except (KeyError, ValueError, OverflowError, ZeroDivisionError):
        return None


MEANS: dict[str, Callable[[float, float], Any]] = {
    "addition": lambda left, right: left + right,
    "subtraction": lambda left, right: max(left - right, 0.0),
    "multiplication": lambda left, right: left * right,
    "division": lambda left, right: left / right,
    "exponentiation": lambda left, right: left**right,
}
