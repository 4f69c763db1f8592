"""A plan that reveals nothing until the state is left: a scalar fixed point.

The attacker mixes by x, whatever its intent, so the belief b stays; staying is worth v again, leaving for t what is
known from below there:

    v = min_d  [ Σ_a x(a) ( r(a,d,·)·b + γ Σ_{t≠s} T(t | a,d) L(t,b) ) ] / [ 1 − γ Σ_a x(a) T(s | a,d) ].
"""

import numpy as np

from ncirl._typing import FloatArray, IntArray
from ncirl.lp.backups import Plan
from ncirl.lp.state_arrays import StateArrays
from ncirl.solvers.certified.belief_points import BeliefPoints
from ncirl.solvers.matrix_game import matrix_game

__all__ = ["nonrevealing"]

ROUNDS = 6


def nonrevealing(
    here: StateArrays,
    points: BeliefPoints,
    belief: FloatArray,
    actions: IntArray,
    known: float,
    enough: float,
    first: FloatArray | None = None,
) -> Plan | None:
    """Find such a plan over `actions` that secures `enough` more than `known`; `first` is a mix to begin with."""
    allowed = here.attacker[actions][:, belief > 0].all(axis=1)
    actions = actions[allowed]
    if not len(actions):
        return None
    me = points.number_of(here, belief)
    n = len(here.successors)
    secured, node, share = np.zeros(n), np.full(n, me), np.zeros(n)  # per successor: its value, and the point behind it
    for k, t in enumerate(here.successors):
        if t == here.number:
            share[k] = 1.0
            continue
        store = points.stores[t]
        best = store.best(belief)
        if best is None:
            secured[k] = store.corners @ belief
        else:
            j, share[k], secured[k] = best
            node[k] = store.nodes[j]
    worth = secured[here.toward]
    away = here.reward[actions] @ belief + here.discount * here.expected(actions, worth)  # [a, d]
    stay = here.staying[actions]

    def secures(x: FloatArray) -> float:
        return float(((x @ away) / (1.0 - x @ stay)).min())

    value, mix = known, None
    if first is not None and allowed.all() and (secured_now := secures(first)) > value + enough:
        value, mix = secured_now, first
    for _ in range(ROUNDS):
        x = matrix_game(away + stay * value).row_strategy
        secured_now = secures(x)
        if secured_now <= value + enough:
            break
        value, mix = secured_now, x
    if mix is None:
        return None
    payoff = mix @ away + (mix @ stay) * value
    taken = here.posteriors(np.arange(len(here.seen)), actions, mix[:, None])[:, 0]
    shares = taken * share[here.toward]
    observation = np.flatnonzero(shares > 0)
    following = node[here.toward[observation]]
    worth = np.full(len(following), value)
    worth[following != me] = points.values[following[following != me]]
    return Plan(
        actions=actions,
        plan=np.outer(mix, belief),
        observation=observation,
        following=following,
        share=shares[observation],
        worth=worth,
        payoff=payoff,
    )
