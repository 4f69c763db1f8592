r"""Exploits with the same premises and the same result as one, to the attacker's advantage: the rule of every merger.

An attacker may attempt several of them in a stage, and who wants to stop them has to block each. One exploit in their
place is no worse for the attacker, whatever it wants, if

    success = 1 − Π_e (1 − success(e)),    attack_cost = success · min_e attack_cost(e) / success(e),
    block_cost = Σ_e block_cost(e),

the product over as many of the likeliest as its budget lets it attempt. With v the value before and w after, v ≤ w.

*Proof.* Hold the defender to blocking all of them or none, which w lets it do at the same cost: v does not fall. Let s
be the chance that what is attempted, T, succeeds unhindered; s ≤ success and s ≤ Σ_T success(e). The attacker of the
one attempts it with chance s / success instead, at a cost of at most Σ_T success(e) min κ/p ≤ Σ_T attack_cost(e) on
average: what follows has the same law. A defender that sees attempts could know more before than after, not less:
knowing T and what came of it, it draws whether the one was attempted (for sure if T succeeded, with chance
(s/success − s)/(1 − s) if T failed unhindered, with chance s/success if it was blocked). ∎

The larger of the chances is not enough: two coins of 0.5, tossed together, make 0.75. This holds where all are under
the same controls (which then stop all or none, at their own cost) or, without controls, under one each and no budget of
the defender counts them; and where no alert of theirs is seen, which would tell how many were attempted.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import inf, nextafter

__all__ = ["Numbers", "in_parallel", "round_down", "round_up"]


@dataclass(frozen=True)
class Numbers:
    """What an exploit is to the game: its chance of success, and what attempting and blocking it cost."""

    success: float
    attack_cost: float
    block_cost: float


def in_parallel(exploits: Iterable[Numbers], attacker_budget: int | None = None) -> Numbers:
    """Return the numbers of one exploit in place of several, rounded to the attacker's advantage; one is left alone.

    Parameters
    ----------
    exploits : iterable of Numbers
        What becomes one, in any order.
    attacker_budget : int, optional
        The most exploits that the attacker may attempt in a stage.

    Examples
    --------
    >>> in_parallel([Numbers(0.5, 0.25, 1.0), Numbers(0.5, 0.5, 2.0)])
    Numbers(success=0.75, attack_cost=0.375, block_cost=3.0)
    """
    group = list(exploits)
    if len(group) == 1:
        return group[0]
    likeliest = sorted((e.success for e in group), reverse=True)[:attacker_budget]
    success = 0.0
    for chance in likeliest:
        success = min(round_up(Fraction(success) + (1 - Fraction(success)) * Fraction(chance)), 1.0)
    prices = [Fraction(e.attack_cost) / Fraction(e.success) for e in group if e.success > 0]
    dearest = Fraction(success) * min(prices) if prices else Fraction(min(e.attack_cost for e in group))
    return Numbers(success, round_down(dearest), round_up(sum((Fraction(e.block_cost) for e in group), Fraction(0))))


def round_up(exact: Fraction) -> float:
    """Return the least float that is no less."""
    near = float(exact)
    return near if Fraction(near) >= exact else nextafter(near, inf)


def round_down(exact: Fraction) -> float:
    """Return the largest float that is no more.

    Examples
    --------
    >>> round_down(Fraction(0))
    0.0
    """
    return 0.0 - round_up(-exact)  # never -0.0
