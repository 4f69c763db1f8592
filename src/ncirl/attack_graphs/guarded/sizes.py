"""How large a small game is, known before anything of it is built."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Protocol

from ncirl.limits import Limits

__all__ = ["Countable", "Size", "counted", "explored"]


MOST_PAIRS = 2**14  # of actions at one state


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


def counted(game: Countable, size: Size, deadline: Limits, most: int = MOST_PAIRS) -> Size | None:
    """Count states and pairs of actions; None where there are more than allowed, or time is up."""
    found = explored(game, size, deadline, most)
    return None if found is None else Size(len(found[0]), found[1])


def explored(
    game: Countable, size: Size, deadline: Limits, most: int = MOST_PAIRS
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
