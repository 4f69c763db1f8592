"""A plan that reveals nothing until the place is left: a scalar fixed point.

The attacker mixes by x, whatever its intent, so the belief b stays; staying is worth v again, leaving for t what is
known from below there:

    v = min_d  [ Σ_a x(a) ( r(a,d,·)·b + γ Σ_{t≠s} T(t | a,d) L(t,b) ) ] / [ 1 − γ Σ_a x(a) T(s | a,d) ].
"""

from __future__ import annotations

import numpy as np

from ncirl._typing import FloatArray, IntArray
from ncirl.solvers.bounding.lower_book import LowerBook, shares
from ncirl.solvers.bounding.place import Place
from ncirl.solvers.matrix_game import matrix_game

__all__ = ["unrevealing"]

ROUNDS = 6

Point = tuple[IntArray, FloatArray, IntArray, IntArray, FloatArray, FloatArray, float]


def unrevealing(
    place: Place, book: LowerBook, belief: FloatArray, actions: IntArray, known: float, enough: float
) -> Point | None:
    """Find such a plan over `actions` that secures `enough` more than `known`, as what `LowerBook.add` takes."""
    worth = np.zeros(len(place.seen))
    best: dict[int, tuple[int, float]] = {}
    for t in place.successors:
        if t == place.number:
            continue
        store = book.stores[t]
        value = float(store.corners @ belief)
        if len(store.gains):
            fit = shares(belief[None], store.beliefs)[0]
            j = int((fit * store.gains).argmax())
            value += float(fit[j] * store.gains[j])
            best[t] = int(store.nodes[j]), float(fit[j])
        worth[place.successor == t] = value
    away = place.reward[actions] @ belief + place.discount * place.expected(actions, worth)  # [a, d]
    stay = place.discount * place.expected(actions, place.loop.astype(float))
    value, mix = known, None
    for _ in range(ROUNDS):
        x = matrix_game(away + stay * value).row_strategy
        now = float(((x @ away) / (1.0 - x @ stay)).min())
        if now <= value + enough:
            break
        value, mix = now, x
    if mix is None:
        return None
    payoff = mix @ away + (mix @ stay) * value
    taken = place.posteriors(np.arange(len(place.seen)), actions, mix[:, None])[:, 0]
    me = len(book.nodes)
    entries = [
        (i, me, taken[i]) if place.loop[i] else (i, best[t][0], taken[i] * best[t][1])
        for i, t in enumerate(place.successor.tolist())
        if taken[i] > 0 and (place.loop[i] or t in best)
    ]
    observation = np.array([e[0] for e in entries], dtype=np.intp)
    following = np.array([e[1] for e in entries], dtype=np.intp)
    share = np.array([e[2] for e in entries], dtype=float)
    return actions, np.outer(mix, belief), observation, following, share, payoff, value
