"""Limits that hold in every phase: a deadline that is asked often, and sizes known before anything is built."""

import time
from collections.abc import Collection
from dataclasses import dataclass, field
from math import inf
from typing import Protocol

__all__ = ["Countable", "Deadline", "Size", "counted", "explored"]


MOST_PAIRS = 2**14  # of actions at one state


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


class Countable(Protocol):
    """A game whose states can be counted without building its stages."""

    start: int

    def size(self, state: int) -> tuple[int, int]:
        """Return how many actions the two sides have at a state."""
        ...

    def successors(self, state: int) -> list[int]:
        """List the states that may follow."""
        ...


def counted(game: Countable, size: Size, deadline: Deadline, most: int = MOST_PAIRS) -> Size | None:
    """Count states and pairs of actions; None where there are more than allowed, or time is up."""
    found = explored(game, size, deadline, most)
    return None if found is None else Size(len(found[0]), found[1])


def explored(
    game: Countable, size: Size, deadline: Deadline, most: int = MOST_PAIRS
) -> tuple[Collection[int], int] | None:
    """List the states and count the pairs of actions; None where there are more than allowed, or time is up."""
    met, level, pairs = {game.start}, [game.start], 0
    while level:
        following = []
        for state in level:
            n_a, n_d = game.size(state)
            pairs += n_a * n_d
            if pairs > size.pairs or n_a * n_d > most or deadline.passed:
                return None
            for after in game.successors(state):
                if after not in met:
                    met.add(after)
                    following.append(after)
            if len(met) > size.states:
                return None
        level = following
    return met, pairs
