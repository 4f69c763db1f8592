r"""Actions that are alike, made one.

For classes A of the attacker's actions and D of the defender's such that

    Σ_{a ∈ A} x(a, d) is the same for all d ∈ D,    Σ_{d ∈ D} x(a, d) is the same for all a ∈ A,

with x the chance of each successor and the reward of each intent, the game in which the sides name classes, with
x(A, D) the mean of x over both, has the same value. *Proof.* Who draws an action of its class, each as likely as any
other, gets against every action of a class what that game says: the first line for the attacker, the second for the
defender. An action seen tells no more than its class, since all intents draw alike. ∎ Where outcomes are seen, an
outcome has to have the same chance for all of a class, so what is drawn tells nothing there either.

Colours are refined until every two rows of a colour hold the same entries, with the same colours of columns, as often,
and likewise the columns (`canonical`): an equitable partition, the coarsest. Exploits that lead to the same condition
with the same numbers are found by it, whatever the actions are called, and so are copies of one action. That takes few
rounds; where it takes many, or there is no time for it, nothing is merged.
"""

import numpy as np

from ncirl._typing import FloatArray, IntArray
from ncirl.errors import LimitError
from ncirl.limits import UNLIMITED, Limits
from ncirl.model.canonical import numbered, refined

__all__ = ["alike", "averaged"]

COMPARING = "looking for actions that are alike"
ROUNDS = 12  # of refinement: exploits that count by number take three or four
PART = 0.1  # of the time that is left, for it


def alike(entries: FloatArray, limits: Limits = UNLIMITED) -> tuple[IntArray, IntArray]:
    """Return the class of each row and column of ``entries[row, column, :]``, numbered as they are met.

    Examples
    --------
    >>> import numpy as np
    >>> entries = np.array([[[0.0], [0.0], [0.0]], [[2.0], [1.0], [2.0]], [[2.0], [2.0], [1.0]]])
    >>> [classes.tolist() for classes in alike(entries)]
    [[0, 1, 1], [0, 1, 1]]
    """
    n_rows, n_columns, _ = entries.shape
    apart = np.arange(n_rows), np.arange(n_columns)
    if not _some_are_alike(entries):
        return apart
    begun = np.zeros(n_rows, dtype=np.intp), np.zeros(n_columns, dtype=np.intp)
    limits.check(COMPARING)
    try:
        found = refined(numbered(entries), *begun, limits.within(PART * limits.left), ROUNDS)
    except LimitError:
        limits.check(COMPARING)  # of what is left some is
        return apart
    return apart if found is None else (_as_met(found[0]), _as_met(found[1]))


def averaged(entries: FloatArray, rows: IntArray, columns: IntArray) -> FloatArray:
    """Return the mean of entries over classes, the same to the last bit in whatever order their members come."""
    first = np.unique(rows, return_index=True)[1]
    if len(first) == len(rows) and columns.max(initial=-1) + 1 == len(columns):
        return entries
    means = [np.sort(entries[first][:, columns == c], axis=1).mean(axis=1) for c in range(int(columns.max()) + 1)]
    found: FloatArray = np.stack(means, axis=1)
    return found


def _some_are_alike(entries: FloatArray) -> bool:
    """Tell whether two rows, or two columns, hold the same sums: all that are alike do, so most games are done here."""
    total = entries.sum(axis=2)
    lines = np.sort(total, axis=1), np.sort(total.T, axis=1)
    return any(len(np.unique(line, axis=0)) < len(line) for line in lines)


def _as_met(colours: IntArray) -> IntArray:
    _, first, number = np.unique(colours, return_index=True, return_inverse=True)
    found: IntArray = np.argsort(np.argsort(first))[number.ravel()]
    return found
