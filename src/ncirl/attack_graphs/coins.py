r"""Sets of exploits and the coins they toss, as arrays: what the stages of attack graphs are made from.

Sets a (attempted) and d (blocked) leave the live set a \ d, and independent coins decide what follows:

    P(c enabled | a, d)  = 1 − Π_{e ∈ a \ d, e → c} (1 − success(e)),
    P(alert e rings | a) = attempted(e) if e ∈ a else idle(e).
"""

from collections.abc import Iterable
from itertools import combinations
from math import comb

import numpy as np
import scipy.sparse as sp

from ncirl._typing import BoolArray, FloatArray, IntArray

__all__ = ["coin_law", "count_sets", "distinct_rows", "enabled", "subsets", "tally", "unions", "with_tallies"]


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


def enabled(success: FloatArray, results: IntArray, live: BoolArray) -> FloatArray:
    """Probability that each result is enabled, indexed [kind, result], from ``live[kind, e]``."""
    failed = np.where(live, 1 - success, 1.0)
    return np.column_stack([1 - failed[:, results == c].prod(axis=1) for c in range(results.max() + 1)])


def coin_law(coins: FloatArray) -> tuple[sp.csr_array, BoolArray]:
    """Work out what independent coins show: the law, indexed [row, outcome], and the outcomes as [outcome, coin]."""
    rows = np.arange(len(coins))
    chances = np.ones(len(coins))
    faces = np.zeros(coins.shape, dtype=np.bool_)
    for c in range(coins.shape[1]):
        heads = coins[rows, c]
        down, up = np.flatnonzero(heads < 1), np.flatnonzero(heads > 0)
        chances = np.concatenate([chances[down] * (1 - heads[down]), chances[up] * heads[up]])
        both = np.concatenate([down, up])
        rows, faces = rows[both], faces[both]
        faces[len(down) :, c] = True
    possible = chances > 0  # a product may underflow
    rows, chances, faces = rows[possible], chances[possible], faces[possible]
    first, outcome = distinct_rows(faces)
    return sp.csr_array((chances, (rows, outcome)), shape=(len(coins), len(first))), faces[first]


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
