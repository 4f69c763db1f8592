"""What a strategy remembers, drawn and inferred.

With p(m) the law of a strategy's memory given all that is seen of a play, π(a | m) what it does, and ℓ(a) how likely
its action a makes what is seen next, the law moves by

    p'(m') ∝ Σ_{m,a} p(m) π(a | m) ℓ(a) P(m' | m, a).

Whoever sees the action has for ℓ a unit vector, whoever sees observation i has ``mass[i]``. The masses p(m) are
numbers, or arrays [θ] where the intent is not known: then they are those of (m, θ). Where a strategy rules out what was
seen, the factor π(a | m) is left out: nothing is learned about θ, and memory goes on as if every action were as likely
as any other.
"""

from bisect import bisect_right
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from ncirl._typing import FloatArray

__all__ = ["averaged", "draw", "drawn", "filtered", "picked"]

M = TypeVar("M", bound=Hashable)  # a memory
Mass = Any  # a float, or an array [θ]


def drawn(sums: Sequence[float] | FloatArray, uniform: float) -> int:
    """Return the index that a number in [0, 1) falls on, by running sums of weights; never one of weight zero."""
    return bisect_right(sums, uniform * sums[-1])


def draw(rng: np.random.Generator, weights: FloatArray) -> int:
    """Draw an index with probability proportional to its weight."""
    return drawn(np.cumsum(weights), rng.random())


def picked(rng: np.random.Generator, options: Sequence[tuple[M, float]]) -> M:
    """Draw a memory out of some with their probabilities."""
    return options[draw(rng, np.array([p for _, p in options]))][0]


def averaged(law: Mapping[M, Mass], what: Callable[[M], FloatArray]) -> FloatArray:
    """Return Σ_m p(m) what(m)."""
    mean: FloatArray = np.sum([mass * what(memory) for memory, mass in law.items()], axis=0)
    return mean


def filtered(
    law: Mapping[M, Mass],
    likelihood: FloatArray,
    mix: Callable[[M], FloatArray],
    after: Callable[[M, int], Sequence[tuple[M, Mass]]],
) -> dict[M, Mass]:
    """Return the law of the next memory, p'(m'), normalised over all of it.

    Parameters
    ----------
    law : mapping
        p(m), or p(m, ·) as arrays [θ].
    likelihood : ndarray of shape (A,)
        ℓ(a).
    mix : callable
        π(· | m), indexed [a], or [a, θ].
    after : callable
        The memories m' that may follow (m, a), with P(m' | m, a), or P(m' | m, a, ·) as arrays [θ].
    """
    possible = np.flatnonzero(likelihood).tolist()
    for chances in (mix, lambda _: np.ones_like(likelihood)):
        following: dict[M, Mass] = {}
        for memory, mass in law.items():
            own = chances(memory)
            for a in possible:
                share = mass * (own[a] * likelihood[a])
                if np.any(share):
                    for then, p in after(memory, a):
                        following[then] = following.get(then, 0.0) + share * p
        total = sum(np.sum(mass) for mass in following.values())
        if total > 0:
            break
    return {memory: mass / total for memory, mass in following.items() if np.any(mass)}
