"""Several strategies, one of which is drawn when play begins and kept: what a mixed strategy over strategies is.

Which one was drawn is remembered privately, with what it remembers itself. Whoever answers a mixture has to infer it.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from ncirl._typing import FloatArray, State
from ncirl.errors import InputError
from ncirl.model.stage import SUM_TOLERANCE
from ncirl.strategies.strategy import AttackerStrategy, DefenderStrategy, Memory

__all__ = ["MixtureAttacker", "MixtureDefender"]


def _weights(given: ArrayLike, count: int) -> FloatArray:
    weights = np.asarray(given, dtype=np.float64)
    if weights.shape != (count,) or not (weights >= 0).all() or abs(weights.sum() - 1) > SUM_TOLERANCE:
        raise InputError(f"weights: a probability for each of the {count} strategies is needed, summing to 1")
    return np.asarray(weights / weights.sum(), dtype=np.float64)


def _parts(memory: Memory) -> tuple[int, Memory]:
    assert isinstance(memory, tuple)
    k, own = memory
    return k, own


class MixtureAttacker:
    """Plays one of several strategies, drawn when play begins, alike for all intents.

    Parameters
    ----------
    strategies : sequence of AttackerStrategy
        To draw from.
    weights : array_like of shape (n,)
        Their probabilities.
    name : str
        For messages and tables.

    Raises
    ------
    InputError
        When the weights are no probabilities of the strategies.

    Examples
    --------
    >>> import ncirl
    >>> from ncirl.strategies import MixtureAttacker, RememberingAttacker
    >>> game = ncirl.games.aumann_maschler_1(horizon=1, discount=1.0)
    >>> pure = [RememberingAttacker(game, lambda *_, name=name: name) for name in ("Top", "Bottom")]
    >>> ncirl.best_response_to_attacker(game, MixtureAttacker(pure, [0.5, 0.5])).value
    0.25
    """

    def __init__(self, strategies: Sequence[AttackerStrategy], weights: ArrayLike, *, name: str = "mixture") -> None:
        self.strategies, self.weights, self.name = tuple(strategies), _weights(weights, len(strategies)), name

    def begin(self, state: State) -> Sequence[tuple[Memory, FloatArray]]:
        """Draw a strategy, and what it remembers first."""
        drawn = [(k, float(w)) for k, w in enumerate(self.weights) if w > 0]
        return [((k, m), w * np.asarray(p)) for k, w in drawn for m, p in self.strategies[k].begin(state)]

    def policy(self, state: State, memory: Memory) -> FloatArray:
        """Return π[a, θ] of the strategy drawn."""
        k, own = _parts(memory)
        return self.strategies[k].policy(state, own)

    def after(self, state: State, memory: Memory, a: int, d: int, i: int) -> Sequence[tuple[Memory, FloatArray]]:
        """Remember what the strategy drawn does."""
        k, own = _parts(memory)
        return [((k, m), p) for m, p in self.strategies[k].after(state, own, a, d, i)]


class MixtureDefender:
    """Plays one of several strategies, drawn when play begins; arguments as for `MixtureAttacker`.

    Raises
    ------
    InputError
        When the weights are no probabilities of the strategies.

    Examples
    --------
    >>> import ncirl
    >>> from ncirl.strategies import MixtureDefender, RememberingDefender
    >>> game = ncirl.games.aumann_maschler_1(horizon=2, discount=1.0)
    >>> pure = [RememberingDefender(game, lambda *_, name=name: name) for name in ("Left", "Right")]
    >>> mixture = MixtureDefender(pure, [0.5, 0.5])
    >>> ncirl.best_response_to_defender(game, mixture).value  # ½, then the draw has shown: to one intent 1, to one 0
    1.0
    """

    def __init__(self, strategies: Sequence[DefenderStrategy], weights: ArrayLike, *, name: str = "mixture") -> None:
        self.strategies, self.weights, self.name = tuple(strategies), _weights(weights, len(strategies)), name

    def begin(self, state: State) -> Sequence[tuple[Memory, float]]:
        """Draw a strategy, and what it remembers first."""
        drawn = [(k, float(w)) for k, w in enumerate(self.weights) if w > 0]
        return [((k, n), w * p) for k, w in drawn for n, p in self.strategies[k].begin(state)]

    def mix(self, state: State, memory: Memory) -> FloatArray:
        """Return D[d] of the strategy drawn."""
        k, own = _parts(memory)
        return self.strategies[k].mix(state, own)

    def after(self, state: State, memory: Memory, d: int, i: int) -> Sequence[tuple[Memory, float]]:
        """Remember what the strategy drawn does."""
        k, own = _parts(memory)
        return [((k, n), p) for n, p in self.strategies[k].after(state, own, d, i)]
