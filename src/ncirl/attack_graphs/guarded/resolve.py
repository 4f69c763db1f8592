r"""Solve again from where an intrusion stands, and change to the new defence only where no intent gains by it.

At the real state s a new run of `Guarded`, on the graph with s held from the start and the stages that are left,
promises w(θ) from here on. It may be taken over if, intent by intent,

    w(θ) ≤ kept(θ)        for all θ,

kept(θ) being what the present defence leaves intent θ (`promises`).

*Claim.* Whatever the attacker does, and whatever rule decides when to try this, no intent gets more in all than it was
promised at the start. *Proof.* Let the present defence be followed up to stage t. What intent θ has really got, P_t,
and kept_t satisfy E[P_t + γ^t kept_t(θ)] ≤ promise(θ): kept adds to the promises α of the nodes at most what relaxed
play is ahead of real play, and relaxed rewards so far plus γ^t α have the promise of the start as an upper bound
of their mean, whichever stage t is, since each node's promise bounds what the stage pays plus γ times the promises of
the nodes that follow, for every attack. After a change at t the rest is worth at most w(θ) ≤ kept_t(θ) whatever was
done before, so P_t + γ^t w(θ) ≤ P_t + γ^t kept_t(θ) on every such path; paths without a change are as they were. The
new defence begins with no slack and w for a promise, so the same holds of the next change. ∎

It is not enough that the new defence is better on average at some belief: an intent that it favours would, from the
start, play to get there. Several priors are tried for the vector w instead: those that weigh more what exceeds.
"""

from dataclasses import dataclass, replace

import numpy as np

from ncirl._typing import FloatArray
from ncirl.attack_graphs.graph import AttackGraph, Intent
from ncirl.attack_graphs.guarded.guarded import Guarded
from ncirl.attack_graphs.guarded.opened import graph_at
from ncirl.attack_graphs.guarded.solution import GuardedSolution
from ncirl.errors import InputError

__all__ = ["Resolved", "graph_at", "resolved"]

ROUNDS = 4  # priors that are tried, at the most
PULL = 4.0  # how strongly what exceeds is weighed more


@dataclass(frozen=True, eq=False)
class Resolved:
    """What solving again came to.

    Attributes
    ----------
    solution : GuardedSolution or None
        What may be taken over; None where nothing found promises every intent at most what it is promised now.
    kept, found : ndarray of shape (Θ,)
        What each intent may still get now, and by the last that was found.
    """

    solution: GuardedSolution | None
    kept: FloatArray
    found: FloatArray


def resolved(graph: AttackGraph, kept: FloatArray, seconds: float, relative_gap: float = 0.02) -> Resolved:
    """Look for a defence of `graph` that promises every intent at most `kept`.

    Parameters
    ----------
    graph : AttackGraph
        As it is now.
    kept : ndarray of shape (Θ,)
        What each intent may still get.
    seconds : float
        For all of it.
    relative_gap : float
        How close the bounds of each run shall come.
    """
    if not seconds > 0:
        raise InputError(f"seconds: must be a positive number, got {seconds:g}")
    weights = np.array([intent.prior for intent in graph.intents])
    left, found = seconds, np.full(len(kept), np.inf)
    for rounds_left in range(ROUNDS, 0, -1):
        solution = Guarded(relative_gap=relative_gap, time_limit=left if rounds_left == 1 else left / 2).run(
            _with_prior(graph, weights)
        )
        found = solution.per_intent
        if (found <= kept).all():
            return Resolved(solution if (found < kept).any() else None, kept, found)
        left -= solution.stats.seconds
        if left <= 0:
            break
        size = max(float(np.abs(found).max()), 1e-12)
        weights = (weights + 0.1 / len(weights)) * np.exp(PULL * np.clip((found - kept) / size, -1.0, 1.0))
        weights = weights / weights.sum()
    return Resolved(None, kept, found)


def _with_prior(graph: AttackGraph, prior: FloatArray) -> AttackGraph:
    intents = tuple(Intent(i.id, float(p), i.rewards) for i, p in zip(graph.intents, prior, strict=True))
    return replace(graph, intents=intents)
