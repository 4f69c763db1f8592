"""Look through a strategy before it is used, in the manner of an environment checker.

From every start, with every action of either side that can be met, until nothing new comes up or `limit` is reached:
are mixed actions and memories probabilities of the right shape, can memories be hashed, and is the same question
answered the same way twice? A strategy is a law; whoever draws does so from what it says.
"""

import pickle
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ncirl._typing import FloatArray, State
from ncirl.errors import InputError
from ncirl.model.belief import start_laws
from ncirl.model.game import Game
from ncirl.strategies.checked import CheckedAttacker, CheckedDefender, checked_attacker, checked_defender
from ncirl.strategies.strategy import AttackerStrategy, DefenderStrategy, Memory

__all__ = ["StrategyCheck", "check_attacker", "check_defender"]

MOST_FAULTS = 20  # told at once


@dataclass(frozen=True)
class StrategyCheck:
    """What was found of a strategy that has no faults.

    Attributes
    ----------
    situations : int
        Pairs of a public state and a memory that were looked at.
    memories : int
        Different memories among them.
    complete : bool
        Whether these are all that can be met.
    public_memory : bool
        Whether the memory is a function of what is seen, so that answering the strategy needs no inference.
    picklable : bool
        Whether the strategy can be sent to another process.

    Examples
    --------
    >>> import ncirl
    >>> from ncirl.strategies import check_defender, uniform_defender
    >>> game = ncirl.games.patrol(horizon=2)
    >>> check_defender(game, uniform_defender(game))
    StrategyCheck(situations=8, memories=1, complete=True, public_memory=True, picklable=True)
    """

    situations: int
    memories: int
    complete: bool
    public_memory: bool
    picklable: bool


def check_attacker(game: Game, strategy: AttackerStrategy, *, limit: int = 10_000) -> StrategyCheck:
    """Look through an attacker's strategy.

    Parameters
    ----------
    game : Game
        What it is for, with or without a horizon.
    strategy : AttackerStrategy
        What to check.
    limit : int
        The most situations to look at.

    Raises
    ------
    InputError
        With every fault found, each with its place.

    Examples
    --------
    >>> import ncirl
    >>> from ncirl.strategies import RememberingAttacker, check_attacker
    >>> game = ncirl.games.patrol(horizon=2)
    >>> check_attacker(game, RememberingAttacker(game, mix=lambda *_: "leap", name="leaper"))
    Traceback (most recent call last):
    ...
    ncirl.errors.InputError: 4 faults
      - strategy 'leaper', state 'thief m, guard m at stage 1': there is no action 'leap' here; there are stay, switch
      - strategy 'leaper', state 'thief m, guard g at stage 1': there is no action 'leap' here; there are stay, switch
      - strategy 'leaper', state 'thief g, guard m at stage 1': there is no action 'leap' here; there are stay, switch
      - strategy 'leaper', state 'thief g, guard g at stage 1': there is no action 'leap' here; there are stay, switch
    """
    return _Look(game, checked_attacker(game, strategy), limit).found()


def check_defender(game: Game, strategy: DefenderStrategy, *, limit: int = 10_000) -> StrategyCheck:
    """Look through a defender's strategy; arguments as for `check_attacker`.

    Raises
    ------
    InputError
        With every fault found, each with its place.

    Examples
    --------
    >>> import ncirl
    >>> from ncirl.strategies import RememberingDefender, check_defender
    >>> game = ncirl.games.patrol(horizon=2)
    >>> lazy = RememberingDefender(game, mix=lambda state, memory: "stay", name="lazy")
    >>> check_defender(game, lazy).public_memory
    True
    """
    return _Look(game, checked_defender(game, strategy), limit).found()


class _Look:
    """A walk through everything that can be met."""

    def __init__(self, game: Game, strategy: CheckedAttacker | CheckedDefender, limit: int) -> None:
        self.game, self.timed, self.strategy, self.limit = game, game.timed(), strategy, limit
        self.faults: list[str] = []
        self.met: dict[tuple[State, Memory], None] = {}
        self.queue: deque[tuple[State, Memory]] = deque()
        self.public = self.complete = True

    def found(self) -> StrategyCheck:
        for state, _ in start_laws(self.game):
            self._lead(state, [self._twice(state, "begin", partial(self.strategy.begin, state))])
        while self.queue and len(self.faults) < MOST_FAULTS:
            state, memory = self.queue.popleft()
            likely = self._twice(state, "mixed action", partial(self._likely, state, memory))
            if likely is not None:
                self._follow(state, memory, likely)
        if self.faults:
            raise InputError(self.faults)
        memories = len({memory for _, memory in self.met})
        return StrategyCheck(len(self.met), memories, self.complete, self.public, _pickles(self.strategy.strategy))

    def _likely(self, state: State, memory: Memory) -> FloatArray:
        """Return how likely each own action is, summed over intents."""
        if isinstance(self.strategy, CheckedAttacker):
            return np.asarray(self.strategy.policy(state, memory).sum(axis=1))
        return self.strategy.mix(state, memory)

    def _after(self, state: State, memory: Memory, own: int, d: int, i: int) -> Sequence[tuple[Memory, Any]]:
        if isinstance(self.strategy, CheckedAttacker):
            return self.strategy.after(state, memory, own, d, i)
        return self.strategy.after(state, memory, d, i)

    def _follow(self, state: State, memory: Memory, likely: FloatArray) -> None:
        """Go on with all that the strategy does itself and the opponent may do."""
        seen, attacks = self.timed.observations(state), isinstance(self.strategy, CheckedAttacker)
        asked: dict[tuple[int, int], set[int]] = {}  # by what is seen: the own actions that may have led to it
        for a, d, i in zip(*(axis.tolist() for axis in seen.entries[:3]), strict=True):
            own = a if attacks else d
            if likely[own] > 0 and not self.timed.is_terminal(seen.successors[i]):
                asked.setdefault((d, i), set()).add(own)
        for (d, i), actions in sorted(asked.items()):
            questions = [partial(self._after, state, memory, own, d, i) for own in sorted(actions)]
            self._lead(seen.successors[i], [self._twice(state, "after", question) for question in questions])

    def _lead(self, state: State, answers: Sequence[Sequence[tuple[Memory, Any]] | None]) -> None:
        memories = {m: None for options in answers for m, p in options or () if np.any(np.asarray(p) > 0)}
        self.public = self.public and len(memories) <= 1
        for memory in memories:
            if (state, memory) not in self.met:
                if len(self.met) >= self.limit:
                    self.complete = False
                    return
                self.met[state, memory] = None
                self.queue.append((state, memory))

    def _twice(self, state: State, what: str, ask: Callable[[], Any]) -> Any:
        """Ask, and ask again; None where the answer is a fault, which is kept."""
        try:
            first, second = ask(), ask()
        except InputError as error:
            self.faults += error.faults
            return None
        if not _same(first, second):
            place = f"'{self.strategy.name}', state '{self.timed.describe(state)}'"
            self.faults.append(f"strategy {place}: {what} differs when asked twice; return probabilities, do not draw")
            return None
        return first


def _same(first: Any, second: Any) -> bool:
    if isinstance(first, np.ndarray):
        return np.array_equal(first, second)
    return len(first) == len(second) and all(
        m == n and np.array_equal(p, q) for (m, p), (n, q) in zip(first, second, strict=True)
    )


def _pickles(strategy: object) -> bool:
    try:
        pickle.dumps(strategy)
    except Exception:  # whatever its parts raise
        return False
    return True
