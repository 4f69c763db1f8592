"""The process of whoever answers a strategy, solved; a private memory is inferred, or seen where that is too much."""

from collections.abc import Callable
from dataclasses import dataclass

from ncirl._typing import FloatArray
from ncirl.errors import LimitError, SizeError
from ncirl.evaluation.decisions import Decisions, Situation
from ncirl.evaluation.stages import Tail
from ncirl.limits import Limits
from ncirl.mdp import OpponentMDP, explored

__all__ = ["Answered", "answered"]

STEPS = 100_000  # what a private memory does next is asked so often before it is let be seen: about a second
HOPELESS = 10  # where play has no end laws seldom come back: a share of that


@dataclass(frozen=True, eq=False)
class Answered:
    """A process solved: what can be chosen, what every situation is worth, [k], and what was found at the starts."""

    decisions: Decisions
    process: OpponentMDP
    numbers: dict[Situation, int]
    values: FloatArray  # indexed [situation, k]
    starts: list[tuple[Situation, FloatArray]]
    error: float
    stages: int

    @property
    def sees_memory(self) -> bool:
        """Whether a memory was seen that is hidden."""
        return self.decisions.sees_memory and self.decisions.hides


def answered(
    decisions: Callable[[bool, int | None], Decisions], tail: Tail, limit: int, limits: Limits, *, sees_memory: bool
) -> Answered:
    """Solve for whoever answers: with the memory seen, and where that is more than can be seen, once more without.

    `decisions` makes the process, told whether memory is seen and how often it may ask what is remembered.
    """
    seen = _solved(decisions(True, None), tail, limit, limits)
    if sees_memory or not seen.decisions.hides:
        return seen
    try:
        return _solved(decisions(False, STEPS if tail.cut else STEPS // HOPELESS), tail, limit, limits)
    except LimitError:
        raise
    except SizeError:
        return seen


def _solved(decisions: Decisions, tail: Tail, limit: int, limits: Limits) -> Answered:
    starts = decisions.starts()
    process, numbers, closed = explored(
        [situation for situation, _ in starts],
        decisions.decide,
        discount=tail.discount,
        maximise=decisions.maximise,
        limit=limit,
        stages=tail.stages,
        limits=limits,
    )
    values, error, n = tail.values(process, closed=closed)
    ahead = sum(tail.discount**k for k in range(tail.stages))
    error += decisions.laws.moved * decisions.largest_reward * ahead**2
    return Answered(decisions, process, numbers, values, starts, error, n)
