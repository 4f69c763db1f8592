"""Intents that are mixtures of others, from a state on: what is known of few intents is known of all.

    r(·, θ) = Σ_e W[θ, e] r(·, e)  at s and ever after,  W ≥ 0    ⇒    α(θ) ≤ Σ_e W[θ, e] α(e),   v̂(s, b) ≤ v̂(s, bW)

Against a fixed defence the best that θ can get is a maximum over strategies, so it is convex in the rewards: a vector
made for the extreme intents e alone holds the others down by itself. The fewer goals are left, the fewer the extreme
intents: with one goal left to take, all intents lie between those that want it most and least. Beliefs over them have
few dimensions, so few vectors go far. Nothing rests on W being exact: it says where to look, never what is proved.
"""

from collections.abc import Callable
from itertools import chain

import numpy as np
from scipy.optimize import nnls

from ncirl._typing import FloatArray, IntArray
from ncirl.model.order import components
from ncirl.solvers.certified.search import InformationState, Search

__all__ = ["Extremes"]

SAME = 1e-8  # relative; rewards that differ by less are taken for equal
MOST = 32  # intents among which mixtures are looked for, which takes their number to the fourth


class Extremes:
    """The extreme intents of every state, found where they are asked for once all states have been prepared."""

    def __init__(self, search: Search) -> None:
        self.search = search
        self._known: dict[int, tuple[IntArray, FloatArray]] = {}
        self._to_come: dict[int, FloatArray] = {}  # by state, [k, θ]: rewards there and after, up to a rotation
        self._left = iter(components(search.game) if len(search.game.intents) <= MOST else [])

    def prepare(self, late: Callable[[], bool]) -> bool:
        """Collect what each state and those after it reward, last ones first; tell whether that is done."""
        while not late():
            component = next(self._left, None)
            if component is None:
                return True
            self._collect({self.search.number[state] for state in component if state in self.search.number})
        return False

    def _collect(self, states: set[int]) -> None:
        """Keep of all rewards to come as many rows as there are intents, in which mixtures are the same."""
        here = [self.search.arrays[k] for k in sorted(states)]
        after = sorted(set(chain.from_iterable(each.successors for each in here)) - states)
        rewards = [_rotated(each.reward.reshape(-1, each.n_t)) for each in here]
        if here:
            rows = _rotated(np.vstack([*rewards, *(self._to_come[t] for t in after)]))
            self._to_come |= dict.fromkeys(states, rows / (np.abs(rows).max() or 1.0))

    def at(self, state: int) -> tuple[IntArray, FloatArray]:
        """Return the extreme intents e of a state and W[θ, e]."""
        if state not in self._known:
            every = len(self.search.game.intents)
            rewards = self._to_come.get(state)
            self._known[state] = (np.arange(every), np.eye(every)) if rewards is None else _extreme(rewards)
        return self._known[state]

    def spread(self, at: InformationState) -> InformationState:
        """Return the belief over extreme intents that goes with one, bW up to its size."""
        intents, weights = self.at(at.state)
        mass = at.belief @ weights
        if not mass.sum() > 0:  # nobody gets anything any more
            return at
        belief = np.zeros_like(at.belief)
        belief[intents] = mass / mass.sum()
        return InformationState(at.state, belief)


def _rotated(rows: FloatArray) -> FloatArray:
    """Return a matrix [k, θ] with as few rows as will do, whose columns have the same mixtures."""
    found: FloatArray = np.asarray(np.linalg.qr(rows, mode="r"))
    return found


def _extreme(rewards: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return the intents of which all others are mixtures, and how; of equal ones the last."""
    every = list(range(rewards.shape[1]))
    kept = list(every)
    for theta in every:
        others = [k for k in kept if k != theta]
        if others and _mixture(rewards[:, others], rewards[:, theta]) is not None:
            kept = others
    weights = np.zeros((len(every), len(kept)))
    for theta in every:
        if theta in kept:
            weights[theta, kept.index(theta)] = 1.0
        else:
            found = _mixture(rewards[:, kept], rewards[:, theta], SAME * len(every))
            weights[theta] = 1.0 / len(kept) if found is None else found
    return np.array(kept, dtype=np.intp), weights


def _mixture(of: FloatArray, wanted: FloatArray, near: float = SAME) -> FloatArray | None:
    """Return weights ≥ 0 with which `of` [k, e] add up to `wanted` [k], if there are any."""
    try:
        weights, off = nnls(of, wanted)
    except RuntimeError:  # too many steps
        return None
    return np.asarray(weights) if off <= near else None
