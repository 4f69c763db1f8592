"""A plan that reveals nothing until the place is left: a scalar fixed point.

The attacker mixes by x, whatever its intent, so the belief b stays; staying is worth v again, leaving for t what is
known from below there:

    v = min_d  [ Σ_a x(a) ( r(a,d,·)·b + γ Σ_{t≠s} T(t | a,d) L(t,b) ) ] / [ 1 − γ Σ_a x(a) T(s | a,d) ].
"""

from __future__ import annotations

import numpy as np

from ncirl._typing import FloatArray, IntArray
from ncirl.solvers.certified.lower_book import LowerBook, Plan
from ncirl.solvers.certified.place import Place
from ncirl.solvers.matrix_game import matrix_game

__all__ = ["unrevealing"]

ROUNDS = 6


def unrevealing(
    place: Place, book: LowerBook, belief: FloatArray, actions: IntArray, known: float, enough: float
) -> Plan | None:
    """Find such a plan over `actions` that secures `enough` more than `known`."""
    actions = actions[place.attacker[actions][:, belief > 0].all(axis=1)]
    if not len(actions):
        return None
    me = book.number_of(place, belief)
    n = len(place.successors)
    secured, node, share = np.zeros(n), np.full(n, me), np.zeros(n)  # per successor: its value, and the point behind it
    for k, t in enumerate(place.successors):
        if t == place.number:
            share[k] = 1.0
            continue
        store = book.stores[t]
        secured[k] = store.corners @ belief
        if len(store.gains):
            fit = store.shares(belief[None])[0]
            j = int((fit * store.gains).argmax())
            secured[k] += fit[j] * store.gains[j]
            node[k], share[k] = store.nodes[j], fit[j]
    worth = secured[place.toward]
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
    shares = taken * share[place.toward]
    observation = np.flatnonzero(shares > 0)
    following = node[place.toward[observation]]
    worth = np.full(len(following), value)
    worth[following != me] = book.values[following[following != me]]
    return Plan(actions, np.outer(mix, belief), observation, following, shares[observation], worth, payoff)
