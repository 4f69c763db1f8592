"""Intents that are mixtures of others, from a state on: what is known of few intents is known of all.

    r(·, θ) = Σ_e W[θ, e] r(·, e)  at s and ever after,  W ≥ 0        ⇒        α(θ) ≤ Σ_e W[θ, e] α(e),   v̂(s, b) ≤ v̂(s, bW)

Against a fixed defence the best that θ can get is a maximum over strategies, so it is convex in the rewards: a vector
made for the extreme intents e alone holds the others down by itself. The fewer goals are left, the fewer the extreme
intents: with one goal left to take, all intents lie between those that want it most and least. Beliefs over them have
few dimensions, so few vectors go far. Nothing rests on W being exact: it says where to look, never what is proved.
"""

from functools import cached_property
from itertools import chain

import numpy as np
from scipy.optimize import nnls

from ncirl._typing import FloatArray, IntArray
from ncirl.lp.state_arrays import StateArrays
from ncirl.model.order import components
from ncirl.solvers.certified.search import InformationState, Search

__all__ = ["Extremes"]

SAME = 1e-8  # relative; rewards that differ by less are taken for equal


class Extremes:
    """The extreme intents of every state, found where they are asked for."""

    def __init__(self, search: Search) -> None:
        self.search = search
        self._known: dict[int, tuple[IntArray, FloatArray]] = {}

    def at(self, state: int) -> tuple[IntArray, FloatArray]:
        """Return the extreme intents e of a state and W[θ, e]."""
        if state not in self._known:
            self._known[state] = _extreme(self._to_come[state])
        return self._known[state]

    def spread(self, at: InformationState) -> InformationState:
        """Return the belief over extreme intents with which as much is to be had at least."""
        intents, weights = self.at(at.state)
        mass = at.belief @ weights
        if not mass.sum() > 0:  # nobody gets anything any more
            return at
        belief = np.zeros_like(at.belief)
        belief[intents] = mass / mass.sum()
        return InformationState(at.state, belief)

    @cached_property
    def _to_come(self) -> dict[int, FloatArray]:
        """By state, [k, θ]: rewards there and after, up to a rotation, in at most as many rows as there are intents."""
        search, found = self.search, dict[int, FloatArray]()
        for component in components(search.game):
            here = [search.arrays[search.number[state]] for state in component if state in search.number]
            inside = {each.number for each in here}
            after = set(chain.from_iterable(each.successors for each in here)) - inside
            rows = np.vstack([*map(_rewards, here), *(found[t] for t in sorted(after))]) if here else np.zeros((0, 0))
            largest = np.abs(rows).max(initial=0.0)
            found |= dict.fromkeys(inside, np.linalg.qr(rows / (largest or 1.0), mode="r"))
        return found


def _rewards(here: StateArrays) -> FloatArray:
    """Return a state's rewards, [k, θ], in at most as many rows as there are intents."""
    rows: FloatArray = np.linalg.qr(here.reward.reshape(-1, here.n_t), mode="r")
    return rows


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
