"""Limits that hold in every phase: a deadline that is asked often, and sizes that are known before anything is built."""

import time
from dataclasses import dataclass, field
from math import inf

__all__ = ["Deadline", "Size"]


@dataclass(frozen=True)
class Deadline:
    """A point in time.

    Parameters
    ----------
    seconds : float, optional
        From now; None sets no limit.

    Examples
    --------
    >>> Deadline(None).passed, Deadline(0.0).passed
    (False, True)
    """

    seconds: float | None
    began: float = field(default_factory=time.perf_counter)

    @property
    def left(self) -> float:
        """Seconds left, infinite without a limit."""
        return inf if self.seconds is None else self.began + self.seconds - time.perf_counter()

    @property
    def spent(self) -> float:
        """Seconds since it was set."""
        return time.perf_counter() - self.began

    @property
    def passed(self) -> bool:
        """Whether it is over."""
        return self.left <= 0

    def within(self, seconds: float) -> "Deadline":
        """Return a deadline at most that many seconds from now, and no later than this one."""
        return Deadline(max(min(seconds, self.left), 0.0))


@dataclass(frozen=True)
class Size:
    """How large a small game may be.

    Attributes
    ----------
    states : int
        The most public states.
    pairs : int
        The most pairs of actions, over all states.
    """

    states: int
    pairs: int
