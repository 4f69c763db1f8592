"""What NC-PBVI returns, whichever variant."""

from abc import ABC
from dataclasses import dataclass

from ncirl.solution import PlayableSolution

__all__ = ["NCPBVISolution"]


@dataclass(frozen=True, kw_only=True)
class NCPBVISolution(PlayableSolution, ABC):
    """Two values, two strategies, and how the values came about.

    Attributes
    ----------
    trace : tuple of (float, float)
        The attacker's and the defender's value before the first and after each expansion.
    """

    trace: tuple[tuple[float, float], ...]
