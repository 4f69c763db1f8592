"""Strategies that anybody wrote, checked at every use.

Whatever asks a strategy for a mixed action or for what it remembers goes through here. What comes back is a
probability, up to `SUM_TOLERANCE`, in an array of the right shape, or an `InputError` that names the strategy, the
state and what is wrong. What is off by rounding is put right: entries above −`SUM_TOLERANCE` are clipped at zero and
sums brought to one, so that nothing is counted twice by an evaluator that states its error.

A memory may be one that only some intents ever have. Of the others `after` may say nothing, all zeros, and that is kept
in mind: should one of them come to have that memory after all, it is a fault.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn, TypeVar

import numpy as np

from ncirl._typing import BoolArray, FloatArray, State
from ncirl.errors import InputError, NcirlError
from ncirl.model.game import Game
from ncirl.model.stage import EPSILON, SUM_TOLERANCE
from ncirl.strategies.strategy import AttackerStrategy, DefenderStrategy, Memory

__all__ = ["CheckedAttacker", "CheckedDefender", "checked_attacker", "checked_defender", "name_of"]

P = TypeVar("P", float, FloatArray)


def checked_attacker(game: Game, strategy: AttackerStrategy) -> "CheckedAttacker":
    """Return a strategy of `game` whose every answer is checked; one that is checked already is returned as it is."""
    return strategy if isinstance(strategy, CheckedAttacker) else CheckedAttacker(game, strategy)


def checked_defender(game: Game, strategy: DefenderStrategy) -> "CheckedDefender":
    """Return a strategy of `game` whose every answer is checked; one that is checked already is returned as it is."""
    return strategy if isinstance(strategy, CheckedDefender) else CheckedDefender(game, strategy)


def name_of(strategy: object) -> str:
    """Return the name of a strategy: its own, or that of its class."""
    given = getattr(strategy, "name", None)
    return given if isinstance(given, str) and given else type(strategy).__name__


class _Checked:
    """What is common to both sides: the strategy, its name, and how faults are told."""

    def __init__(self, game: Game, strategy: Any, side: str, methods: Sequence[str]) -> None:
        self._timed, self.strategy = game.timed(), strategy
        self.name = name_of(strategy)
        self._who = f"{side} strategy '{self.name}'"
        if isinstance(strategy, type):
            raise InputError(f"{side} strategy '{strategy.__name__}': is a class; give an object made from it")
        missing = [f"`{method}`" for method in methods if not callable(getattr(strategy, method, None))]
        if missing:
            raise InputError(f"{self._who}: has no method {', '.join(missing)}; see `ncirl.strategies`")

    def _fault(self, state: State, method: str, said: str) -> NoReturn:
        raise InputError(f"{self._who}, state '{self._timed.describe(state)}': {method} {said}")

    @contextmanager
    def _asked(self, state: State, method: str) -> Any:
        """Say whose answer it was that failed, where the strategy's own code does."""
        try:
            yield
        except NcirlError:
            raise
        except Exception as error:
            error.add_note(f"in {method} of {self._who} at state '{self._timed.describe(state)}'")
            raise

    def _options(
        self, state: State, method: str, given: Any, probability: Callable[[State, str, Any], P]
    ) -> list[tuple[Memory, P]]:
        """Return memories with their probabilities, which need not sum to one."""
        if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
            self._fault(state, method, f"must give a list of memories with their probabilities, got {given!r:.60}")
        found: list[tuple[Memory, P]] = []
        for option in given:
            if not isinstance(option, Sequence) or isinstance(option, (str, bytes)) or len(option) != 2:
                self._fault(state, method, f"must give pairs of a memory and its probability, got {option!r:.60}")
            memory, p = option
            if not _hashes(memory):
                self._fault(state, method, f"gives a memory that cannot be hashed: {memory!r:.60}")
            found.append((memory, probability(state, method, p)))
        if not found:
            self._fault(state, method, "gives no memory; give at least one, such as [(None, 1.0)]")
        return found

    def _whole(self, state: State, method: str, options: list[tuple[Memory, P]]) -> list[tuple[Memory, P]]:
        """Return the same with sums of one; what is further from it than rounding is a fault."""
        total = sum(p for _, p in options)
        off = float(np.max(np.abs(np.asarray(total) - 1)))
        if off > SUM_TOLERANCE:
            self._fault(state, method, f"gives memories whose probabilities sum to {_number(total)}, not 1")
        return options if off <= len(options) * EPSILON else [(memory, p / total) for memory, p in options]

    def _numbers(self, state: State, method: str, given: Any, shape: tuple[int, ...], axes: str) -> FloatArray:
        try:
            numbers = np.asarray(given, dtype=np.float64)
        except (TypeError, ValueError):
            self._fault(state, method, f"must give numbers {axes}, got {given!r:.60}")
        if numbers.shape != shape:
            self._fault(state, method, f"gives an array of shape {numbers.shape}, not {shape} {axes}")
        if not np.isfinite(numbers).all():
            self._fault(state, method, "gives a probability that is not finite")
        if numbers.min(initial=0.0) < -SUM_TOLERANCE:
            self._fault(state, method, f"gives a negative probability, {numbers.min():g}")
        return numbers if numbers.min(initial=0.0) >= 0 else np.maximum(numbers, 0.0)

    def _mixed(self, state: State, method: str, given: Any, shape: tuple[int, ...], axes: str) -> FloatArray:
        numbers = self._numbers(state, method, given, shape, axes)
        sums = numbers.sum(axis=0)
        off = float(np.max(np.abs(sums - 1), initial=0.0))
        if off > SUM_TOLERANCE:
            self._fault(state, method, f"gives probabilities that sum to {_number(sums)}, not 1")
        return numbers if off <= shape[0] * EPSILON else numbers / sums


class CheckedAttacker(_Checked):
    """An attacker's strategy, every answer of which is checked."""

    def __init__(self, game: Game, strategy: AttackerStrategy) -> None:
        super().__init__(game, strategy, "attacker", ("begin", "policy", "after"))
        self._n_t = len(game.intents)
        self._had: dict[Memory, BoolArray] = {}  # by which intents
        self._silent: dict[Memory, tuple[State, BoolArray]] = {}  # where `after` said nothing of some intents

    def begin(self, state: State) -> Sequence[tuple[Memory, FloatArray]]:
        """Return the memories to start with and their probabilities per intent, [θ]."""
        with self._asked(state, "begin"):
            given = self.strategy.begin(state)
        found = self._whole(state, "begin", self._options(state, "begin", given, self._per_intent))
        self._note(found, np.ones(self._n_t, dtype=bool))
        return found

    def policy(self, state: State, memory: Memory) -> FloatArray:
        """Return π[a, θ]."""
        with self._asked(state, "policy"):
            given = self.strategy.policy(state, memory)
        return self._mixed(state, "policy", given, (self._timed.stage(state).shape[0], self._n_t), "[a, θ]")

    def after(self, state: State, memory: Memory, a: int, d: int, i: int) -> Sequence[tuple[Memory, FloatArray]]:
        """Return the next memories and their probabilities per intent, [θ]."""
        with self._asked(state, "after"):
            given = self.strategy.after(state, memory, a, d, i)
        options = self._options(state, "after", given, self._per_intent)
        had = self._had.get(memory, np.ones(self._n_t, dtype=bool))
        silent = ~had & (sum(p for _, p in options) == 0)
        if silent.any():
            self._silent[memory] = state, silent | self._silent.get(memory, (state, silent))[1]
            options = [(then, np.where(silent, 1 / len(options), p)) for then, p in options]
        found = self._whole(state, "after", options)
        self._note(found, had)
        return found

    def _note(self, options: Sequence[tuple[Memory, FloatArray]], had: BoolArray) -> None:
        for memory, p in options:
            has = self._had.get(memory, np.zeros(self._n_t, dtype=bool)) | (had & (p > 0))
            self._had[memory] = has
            state, silent = self._silent.get(memory, (None, ~has))
            if (silent & has).any():
                self._fault(state, "after", f"depends on which intents came to the memory {memory!r:.60} before")

    def _per_intent(self, state: State, method: str, p: Any) -> FloatArray:
        return self._numbers(state, method, p, (self._n_t,), "[θ] with each memory")


class CheckedDefender(_Checked):
    """A defender's strategy, every answer of which is checked."""

    def __init__(self, game: Game, strategy: DefenderStrategy) -> None:
        super().__init__(game, strategy, "defender", ("begin", "mix", "after"))

    def begin(self, state: State) -> Sequence[tuple[Memory, float]]:
        """Return the memories to start with and their probabilities."""
        with self._asked(state, "begin"):
            given = self.strategy.begin(state)
        return self._whole(state, "begin", self._options(state, "begin", given, self._single))

    def mix(self, state: State, memory: Memory) -> FloatArray:
        """Return D[d]."""
        with self._asked(state, "mix"):
            given = self.strategy.mix(state, memory)
        return self._mixed(state, "mix", given, (self._timed.stage(state).shape[1],), "[d]")

    def after(self, state: State, memory: Memory, d: int, i: int) -> Sequence[tuple[Memory, float]]:
        """Return the next memories and their probabilities."""
        with self._asked(state, "after"):
            given = self.strategy.after(state, memory, d, i)
        return self._whole(state, "after", self._options(state, "after", given, self._single))

    def _single(self, state: State, method: str, p: Any) -> float:
        return float(self._numbers(state, method, p, (), "with each memory"))


def _hashes(memory: object) -> bool:
    try:
        hash(memory)
    except TypeError:
        return False
    return True


def _number(sums: Any) -> str:
    return ", ".join(f"{x:g}" for x in np.atleast_1d(sums))
