"""One order of rows and columns for all tables that differ by a permutation of either.

Colours are refined as in the Weisfeiler–Lehman test: a row is known by the multiset of (entry, column colour) it
holds, a column likewise, until nothing changes. Rows that still look alike are told apart one at a time, and the
smallest table that results is the canonical one. The search is cut after a number of leaves: equal canonical tables
always are permutations of each other, but some permuted tables may then not be recognised.
"""

from math import inf

import numpy as np

from ncirl._typing import FloatArray, IntArray
from ncirl.limits import UNLIMITED, Limits

__all__ = ["canonical_order", "numbered", "refined"]

MAX_LEAVES = 16


def canonical_order(entries: FloatArray, limits: Limits = UNLIMITED) -> tuple[IntArray, IntArray]:
    """Return orders of the rows and columns of ``entries[row, column, :]``.

    Examples
    --------
    >>> import numpy as np
    >>> table = np.array([[[1.0], [2.0]], [[3.0], [4.0]]])
    >>> swapped = table[::-1, ::-1]
    >>> rows, columns = canonical_order(table)
    >>> other_rows, other_columns = canonical_order(swapped)
    >>> bool((table[np.ix_(rows, columns)] == swapped[np.ix_(other_rows, other_columns)]).all())
    True
    """
    n_rows, n_columns, _ = entries.shape
    table = numbered(entries)
    best: tuple[tuple[int, ...], IntArray, IntArray] | None = None
    leaves = 0
    pending = [(np.zeros(n_rows, dtype=np.intp), np.zeros(n_columns, dtype=np.intp))]
    while pending and leaves < MAX_LEAVES:
        colours = refined(table, *pending.pop(), limits)
        assert colours is not None  # since nothing cuts it
        rows, columns = colours
        tied = _first_tie(rows)
        if tied is not None:
            pending += [(_set_apart(rows, k), columns) for k in tied]
            continue
        tied = _first_tie(columns)
        if tied is not None:
            pending += [(rows, _set_apart(columns, k)) for k in tied]
            continue
        leaves += 1
        order = np.argsort(rows), np.argsort(columns)
        key = tuple(table[np.ix_(*order)].ravel().tolist())
        if best is None or key < best[0]:
            best = key, *order
    if best is None:  # cut before the first leaf
        return np.arange(n_rows), np.arange(n_columns)
    return best[1], best[2]


def numbered(entries: FloatArray) -> IntArray:
    """Return a number for each of ``entries[row, column, :]``, the same for those that are the same, without -0."""
    n_rows, n_columns, depth = entries.shape
    if not entries.size:
        return np.zeros((n_rows, n_columns), dtype=np.intp)
    octets = np.ascontiguousarray(entries).reshape(-1, depth).view(np.dtype((np.void, entries.itemsize * depth)))
    _, inverse = np.unique(octets.ravel(), return_inverse=True)
    found: IntArray = inverse.reshape(n_rows, n_columns)
    return found


def refined(
    table: IntArray, rows: IntArray, columns: IntArray, limits: Limits, rounds: float = inf
) -> tuple[IntArray, IntArray] | None:
    """Refine the colours of rows and columns until those of one colour hold the same, as often.

    None if that takes more than so many rounds.
    """
    done = 0
    while done < rounds:
        limits.check("looking for equivalent states")
        finer_rows = _recoloured(rows, table, columns)
        finer_columns = _recoloured(columns, table.T, finer_rows)
        if finer_rows.max() == rows.max() and finer_columns.max() == columns.max():
            return finer_rows, finer_columns
        rows, columns, done = finer_rows, finer_columns, done + 1
    return None


def _recoloured(own: IntArray, table: IntArray, other: IntArray) -> IntArray:
    """Colour each line by its colour so far, then by the sorted pairs (entry, crossing colour) it holds."""
    held = np.sort(table * (other.max() + 1) + other, axis=1)
    _, colours = np.unique(np.column_stack([own, held]), axis=0, return_inverse=True)
    return np.asarray(colours.ravel(), dtype=np.intp)


def _first_tie(colours: IntArray) -> IntArray | None:
    shared = np.flatnonzero(np.bincount(colours) > 1)
    return np.flatnonzero(colours == shared[0]) if len(shared) else None


def _set_apart(colours: IntArray, k: np.intp) -> IntArray:
    finer = 2 * colours + 1
    finer[k] -= 1
    return finer
