r"""Sets of exploits and the coins they toss, as arrays: what the stages of attack graphs are made from.

Sets a (attempted) and d (blocked) leave the live set a \ d, and independent coins decide what follows:

    P(c enabled | a, d)  = 1 − Π_{e ∈ a \ d, e → c} (1 − success(e)),
    P(alert e rings | a) = attempted(e) if e ∈ a else idle(e).

Chances are right to their last digits, however small, for what is small may be worth much: that of one exploit is its
own, that of several comes of logarithms, and what is lost of it can be made up for on the side that is safe. The chance
that none succeeds, which may be as small, is the product itself and never 1 less the other. Playbooks have no
probabilities below `LEAST`: what is as small counts as that or as 0, whichever is safe, and as 0 where nothing is
rounded.
"""

from collections.abc import Iterable
from itertools import combinations
from math import comb, fsum

import numpy as np
import scipy.sparse as sp

from ncirl._typing import BoolArray, FloatArray, IntArray
from ncirl.playbook.faults import LEAST

__all__ = [
    "any_of",
    "coin_law",
    "count_sets",
    "distinct_rows",
    "enabled",
    "paid",
    "rewarded",
    "subsets",
    "tally",
    "unions",
    "with_tallies",
]

EPSILON = float(np.finfo(np.float64).eps)
SAFE = 8  # roundings, more than those of two logarithms and their likes


def count_sets(n: int, budget: int | None) -> int:
    """Count the sets of at most `budget` of `n` things."""
    return sum(comb(n, size) for size in range(_most(n, budget) + 1))


def subsets(n: int, budget: int | None) -> BoolArray:
    """List the sets of at most `budget` of `n` things, smallest first, indexed [set, thing]."""
    sets = [chosen for size in range(_most(n, budget) + 1) for chosen in combinations(range(n), size)]
    members = np.zeros((len(sets), n), dtype=np.bool_)
    members[np.repeat(np.arange(len(sets)), [len(s) for s in sets]), [k for s in sets for k in s]] = True
    return members


def unions(places: Iterable[int], budget: int | None) -> list[int]:
    """List the sets of at most `budget` of some places, as masks."""
    found = [0]
    for place in dict.fromkeys(places):
        found += [mask | 1 << place for mask in found if budget is None or mask.bit_count() < budget]
    return found


def _most(n: int, budget: int | None) -> int:
    return n if budget is None else min(n, budget)


def any_of(chances: FloatArray, rounded: int = 0) -> FloatArray:
    """Return how likely some of independent coins show heads, along the last axis.

    With `rounded` 1 or -1 it is no less, or no more, than the true chance; else it is near.
    """
    count = (chances > 0).sum(axis=-1)
    with np.errstate(divide="ignore"):  # of what is sure
        several = -np.expm1(np.log1p(-chances).sum(axis=-1))
    several = np.clip(several * (1.0 + rounded * EPSILON * (SAFE + 2 * count)), 0.0, 1.0)
    found: FloatArray = np.where(count > 1, several, chances.max(axis=-1, initial=0.0))
    return found


def enabled(
    success: FloatArray, failing: FloatArray, results: IntArray, live: BoolArray, rounded: int = 0
) -> tuple[FloatArray, FloatArray]:
    """Probability that each result is enabled, indexed [kind, result], from ``live[kind, e]``, and that it is not.

    `success` and `failing` are the chances of each exploit, [e] or [kind, e]; `rounded` is as for `any_of`.
    """
    heads, tails = np.where(live, success, 0.0), np.where(live, failing, 1.0)
    each = [results == c for c in range(results.max() + 1)]
    won = np.column_stack([any_of(heads[:, its], rounded) for its in each])
    lost = np.column_stack([tails[:, its].prod(axis=1) for its in each])
    hardly, surely = (won > 0) & (won < LEAST), lost < LEAST
    won[hardly] = LEAST if rounded > 0 else 0.0
    if rounded > 0:
        won[surely] = 1.0
    lost[surely & (lost > 0)] = LEAST if rounded < 0 else 0.0
    return won, lost


def coin_law(heads: FloatArray, tails: FloatArray) -> tuple[sp.csr_array, BoolArray]:
    """Work out what independent coins show: the law, indexed [row, outcome], and the outcomes as [outcome, coin].

    `heads` and `tails` are how likely each coin shows which, [row, coin].
    """
    rows = np.arange(len(heads))
    chances = np.ones(len(heads))
    faces = np.zeros(heads.shape, dtype=np.bool_)
    for c in range(heads.shape[1]):
        up_chance, down_chance = heads[rows, c], tails[rows, c]
        down, up = np.flatnonzero(down_chance > 0), np.flatnonzero(up_chance > 0)
        chances = np.concatenate([chances[down] * down_chance[down], chances[up] * up_chance[up]])
        both = np.concatenate([down, up])
        rows, faces = rows[both], faces[both]
        faces[len(down) :, c] = True
    possible = chances >= LEAST  # a product may be smaller, or underflow
    rows, chances, faces = rows[possible], chances[possible], faces[possible]
    first, outcome = distinct_rows(faces)
    return sp.csr_array((chances, (rows, outcome)), shape=(len(heads), len(first))), faces[first]


def paid(
    blocks: tuple[IntArray | BoolArray, FloatArray], attempts: tuple[IntArray | BoolArray, FloatArray]
) -> FloatArray:
    """Return what blocks cost less what attempts cost, [a, d] or [a, d, θ]: how many of what, [row, thing], and prices.

    What nearly cancels is right all the same: what rounding takes from a sum is kept beside it.
    """
    (cost, rest), (charge, its_rest) = _exact_sums(*blocks), _exact_sums(*attempts)
    if charge.ndim > cost.ndim:
        cost, rest = cost[:, None], rest[:, None]
    total, off = _added(cost[None, :], -charge[:, None])
    found: FloatArray = total + (off + (rest[None, :] - its_rest[:, None]))
    return found


def _exact_sums(chosen: IntArray | BoolArray, prices: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return what is chosen costs, [row] or [row, θ]: the sum as it is rounded, and what that has left."""
    total = np.zeros((len(chosen), *prices.shape[1:]))
    rest = np.zeros_like(total)
    for thing, price in enumerate(prices):
        for n in range(int(chosen[:, thing].max(initial=0))):
            total, off = _added(total, np.multiply.outer(chosen[:, thing] > n, price))
            rest = rest + off
    return total, rest


def _added(one: FloatArray, other: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return a sum and what rounding has left of it, exactly (Knuth)."""
    total = one + other
    part = total - one
    return total, (one - (total - part)) + (other - part)


def rewarded(gained: BoolArray, rewards: FloatArray) -> FloatArray:
    """Return what is gained of some rewards, [row, θ], right to the last digits where they nearly cancel, too."""
    total, size = gained @ rewards, gained @ np.abs(rewards)
    for row, theta in np.argwhere(np.abs(total) < size).tolist():
        total[row, theta] = fsum(rewards[gained[row], theta].tolist())
    return np.asarray(total, dtype=np.float64)


def tally(coins: Iterable[float]) -> FloatArray:
    """Return how likely so many of some independent coins show heads, [count]."""
    law: FloatArray = np.ones(1)
    for heads in coins:
        law = np.convolve(law, [1.0 - heads, heads])
    return law


def with_tallies(law: sp.csr_array, faces: BoolArray, tallies: Iterable[FloatArray]) -> tuple[sp.csr_array, BoolArray]:
    """Add to what coins show independent numbers, each given by its law, [row, count].

    A number n up to m is m more faces of an outcome, of which the first n are up.
    """
    for chances in tallies:
        n_counts = chances.shape[1]
        whole = sp.csr_array(sp.hstack([law.multiply(chances[:, [n]]) for n in range(n_counts)], format="csr"))
        whole.eliminate_zeros()
        counts = np.repeat(np.arange(n_counts), len(faces))
        met = np.flatnonzero(np.diff(whole.tocsc().indptr))
        ups = (counts[:, None] > np.arange(n_counts - 1))[met]
        law, faces = sp.csr_array(whole[:, met]), np.hstack([np.tile(faces, (n_counts, 1))[met], ups])
    return law, faces


def distinct_rows(table: BoolArray) -> tuple[IntArray, IntArray]:
    """Return one place of each distinct row and, for every row, which of those it equals."""
    octets = np.packbits(table, axis=1, bitorder="little")
    words = np.pad(octets, ((0, 0), (0, -octets.shape[1] % 8))).view("<u8")
    if not words.shape[1]:
        return np.zeros(1, dtype=np.intp), np.zeros(len(table), dtype=np.intp)
    _, first, number = np.unique(words[:, 0], return_index=True, return_inverse=True)
    for word in words.T[1:]:
        _, rank = np.unique(word, return_inverse=True)
        _, first, number = np.unique(number * (rank.max() + 1) + rank, return_index=True, return_inverse=True)
    return first, number
