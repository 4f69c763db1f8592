"""Strategies of one's own, from a few lines of Python: rules by what was seen, or by a memory of any kind.

The protocol itself (`AttackerStrategy`, `DefenderStrategy`) speaks in numbers and arrays, so that solvers can. Here the
same is said in words: actions by name, what was seen as a `Seen`, mixed actions as ``{"go": 0.5, "wait": 0.5}`` or an
array. A rule may also name a single action.

    Behavioural…    a rule of all that was seen so far, which is what a behavioural strategy is
    Remembering…    a rule of a memory, with what is remembered first and what next; memories may be drawn at random

Where play is long a behavioural strategy has as many memories as there are histories; remember less if less is enough.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ncirl._typing import FloatArray, State
from ncirl.errors import InputError
from ncirl.model.game import Game
from ncirl.strategies.seen import Seen, seen_of
from ncirl.strategies.strategy import Memory

__all__ = ["BehaviouralAttacker", "BehaviouralDefender", "RememberingAttacker", "RememberingDefender"]

Mixed = str | Mapping[str, float] | Sequence[float] | FloatArray  # an action, its probability by name, or in order
History = tuple[Seen, ...]


class _Own:
    """What is common: the game, a name, and mixed actions in words."""

    def __init__(self, game: Game, name: str) -> None:
        self.game, self.name = game.timed(), name

    def _mix(self, state: State, given: Any, actions: tuple[str, ...]) -> Any:
        """Return probabilities in the order of `actions`; what is in no words is left for the check."""
        if isinstance(given, str):
            given = {given: 1.0}
        if not isinstance(given, Mapping):
            return given
        unknown = [name for name in given if name not in actions]
        if unknown:
            raise InputError(
                f"strategy '{self.name}', state '{self.game.describe(state)}': there is no action '{unknown[0]}' here; "
                f"there are {', '.join(actions)}"
            )
        return np.array([given.get(action, 0.0) for action in actions], dtype=np.float64)

    def _policy(self, state: State, rule: Callable[[str], Mixed]) -> Any:
        stage = self.game.stage(state)
        columns = [self._mix(state, rule(intent), stage.attacker) for intent in self.game.intents]
        return np.stack(columns, axis=1) if len({np.shape(column) for column in columns}) == 1 else columns


class RememberingAttacker(_Own):
    """An attacker who remembers.

    Parameters
    ----------
    game : Game
        With or without a horizon; public states are those of ``game.timed()``.
    mix : callable
        ``mix(state, memory, intent)``: what it does, an action's name, probabilities by name, or an array [a].
    begin : callable, optional
        ``begin(state, intent)``: what it remembers first, None by default.
    after : callable, optional
        ``after(memory, seen, action, intent)``: what it remembers next, having done `action`; by default the same.
    draws : bool
        Whether `begin` and `after` give a mapping of memories to probabilities instead of a memory.
    name : str
        Of the strategy, for messages and tables.

    Examples
    --------
    >>> import ncirl
    >>> game = ncirl.games.aumann_maschler_1(horizon=3, discount=1.0)
    >>> bluff = RememberingAttacker(  # honest, but for the first stage
    ...     game,
    ...     mix=lambda state, stages, intent: "Top" if (intent == "t1") == (stages > 0) else "Bottom",
    ...     begin=lambda state, intent: 0,
    ...     after=lambda stages, seen, action, intent: stages + 1,
    ...     name="bluff",
    ... )
    >>> round(ncirl.best_response_to_attacker(game, bluff).value, 6)
    0.0
    """

    def __init__(
        self,
        game: Game,
        mix: Callable[[Any, Any, str], Mixed],
        begin: Callable[[Any, str], Any] | None = None,
        after: Callable[[Any, Seen, str, str], Any] | None = None,
        *,
        draws: bool = False,
        name: str = "own",
    ) -> None:
        super().__init__(game, name)
        self._rule, self._first, self._next, self._draws = mix, begin, after, draws

    def begin(self, state: State) -> Sequence[tuple[Memory, FloatArray]]:
        """Return the memories to start with, and their probabilities per intent, [θ]."""
        first = self._first
        return self._by_intent([None if first is None else first(state, t) for t in self.game.intents], first is None)

    def policy(self, state: State, memory: Memory) -> FloatArray:
        """Return π[a, θ]."""
        found: FloatArray = self._policy(state, lambda intent: self._rule(state, memory, intent))
        return found

    def after(self, state: State, memory: Memory, a: int, d: int, i: int) -> Sequence[tuple[Memory, FloatArray]]:
        """Return the next memories and their probabilities per intent, [θ]."""
        if self._next is None:
            return self._by_intent([memory] * len(self.game.intents), True)
        seen, action = seen_of(self.game, state, d, i), self.game.stage(state).attacker[a]
        return self._by_intent([self._next(memory, seen, action, t) for t in self.game.intents], False)

    def _by_intent(self, given: list[Any], certain: bool) -> Sequence[tuple[Memory, FloatArray]]:
        laws = [law if self._draws and not certain else {law: 1.0} for law in given]
        memories = list(dict.fromkeys(memory for law in laws for memory in law))
        return [(memory, np.array([law.get(memory, 0.0) for law in laws])) for memory in memories]


class RememberingDefender(_Own):
    """A defender who remembers.

    Parameters
    ----------
    game, draws, name
        As for `RememberingAttacker`.
    mix : callable
        ``mix(state, memory)``: what it does, an action's name, probabilities by name, or an array [d].
    begin : callable, optional
        ``begin(state)``: what it remembers first, None by default.
    after : callable, optional
        ``after(memory, seen)``: what it remembers next; by default the same.

    Examples
    --------
    >>> import ncirl
    >>> game = ncirl.games.patrol(horizon=2, discount=1.0)
    >>> follower = RememberingDefender(  # tosses a coin, then goes where it saw the thief
    ...     game,
    ...     mix=lambda state, thief: {"stay": 0.5, "switch": 0.5} if thief is None
    ...     else "stay" if state[1][1] == thief else "switch",
    ...     after=lambda thief, seen: seen.next_state[1][0],
    ...     name="follower",
    ... )
    >>> round(ncirl.best_response_to_defender(game, follower).value, 4)  # 11/12
    0.9167
    """

    def __init__(
        self,
        game: Game,
        mix: Callable[[Any, Any], Mixed],
        begin: Callable[[Any], Any] | None = None,
        after: Callable[[Any, Seen], Any] | None = None,
        *,
        draws: bool = False,
        name: str = "own",
    ) -> None:
        super().__init__(game, name)
        self._rule, self._first, self._next, self._draws = mix, begin, after, draws

    def begin(self, state: State) -> Sequence[tuple[Memory, float]]:
        """Return the memories to start with, and their probabilities."""
        return [(None, 1.0)] if self._first is None else self._drawn(self._first(state))

    def mix(self, state: State, memory: Memory) -> FloatArray:
        """Return D[d]."""
        found: FloatArray = self._mix(state, self._rule(state, memory), self.game.stage(state).defender)
        return found

    def after(self, state: State, memory: Memory, d: int, i: int) -> Sequence[tuple[Memory, float]]:
        """Return the next memories and their probabilities."""
        return (
            [(memory, 1.0)] if self._next is None else self._drawn(self._next(memory, seen_of(self.game, state, d, i)))
        )

    def _drawn(self, given: Any) -> Sequence[tuple[Memory, float]]:
        return list(given.items()) if self._draws else [(given, 1.0)]


class BehaviouralAttacker(RememberingAttacker):
    """An attacker who acts by all that was seen, its own intent included.

    Parameters
    ----------
    game, name
        As for `RememberingAttacker`.
    rule : callable
        ``rule(state, history, intent)``: what it does after what was seen, a tuple of `Seen`.

    Examples
    --------
    >>> import ncirl
    >>> game = ncirl.games.aumann_maschler_1(horizon=2, discount=1.0)
    >>> late = BehaviouralAttacker(  # shows what it wants in the last stage only
    ...     game, lambda state, history, intent: "Top" if history and intent == "t1" else "Bottom", name="late"
    ... )
    >>> round(ncirl.best_response_to_attacker(game, late).value, 6)
    0.5
    """

    def __init__(self, game: Game, rule: Callable[[Any, History, str], Mixed], *, name: str = "own") -> None:
        super().__init__(game, rule, _nothing, _all_of_it, name=name)


class BehaviouralDefender(RememberingDefender):
    """A defender who acts by all that it saw.

    Parameters
    ----------
    game, name
        As for `RememberingAttacker`.
    rule : callable
        ``rule(state, history)``: what it does after what was seen, a tuple of `Seen`.

    Examples
    --------
    >>> import ncirl
    >>> game = ncirl.games.aumann_maschler_1(horizon=2, discount=1.0)
    >>> def rule(state, history):
    ...     tops = sum(seen.attacker_action == "Top" for seen in history)
    ...     return "Right" if tops else {"Left": 0.5, "Right": 0.5}
    >>> defender = BehaviouralDefender(game, rule)
    >>> round(ncirl.best_response_to_defender(game, defender).value, 6)  # the value: it is optimal
    0.75
    """

    def __init__(self, game: Game, rule: Callable[[Any, History], Mixed], *, name: str = "own") -> None:
        super().__init__(game, rule, _nothing, _all_of_it, name=name)


def _nothing(*_: object) -> History:
    return ()


def _all_of_it(history: History, seen: Seen, *_: object) -> History:
    return (*history, seen)
