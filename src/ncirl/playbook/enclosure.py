"""What an opponent can get, enclosed: bounds on its decision process that hold whatever rounding did.

    (T V)(n) = max_{rows of n}  reward[row] + Σ_m moves[row, m] V(m)

is monotone, and a contraction where nodes recur (γ < 1), so any V with T V ≤ V is nowhere below the value. In
floating-point arithmetic a row's sum is off by at most

    e(row) = K ε ( extent[row] + Σ_m moves[row, m] |V(m)| ) + τ,

with ε = 2⁻⁵², K the number of operations behind a row, ``extent`` what the reward would be if all that was added up to
it were positive, and τ for what is too small to be told from 0. So V is proved by the comparison

    reward[row] + Σ_m moves[row, m] V(m) + e(row) ≤ V(n)        for every row of every node n          (`_is_proved`),

and by nothing else: how V was found is not trusted. It is found on a process in which every row gets 2 e(row) more,
which leaves each comparison room of e(row). An error belongs to its row: a huge number in a row that nobody would
choose changes no bound. From the other side, the value is at least that of any one policy, enclosed the same way.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ncirl._typing import BoolArray, FloatArray, IntArray
from ncirl.limits import UNLIMITED, Limits
from ncirl.mdp import OpponentMDP

__all__ = ["EPSILON", "TINY", "Enclosure", "enclosed", "recurring"]

EPSILON = float(np.finfo(np.float64).eps)
TINY = 1e-280  # far above what underflow can lose in a row, far below any number that matters
ROOM = 0.25  # of e(row): how closely V is looked for
NEAR = 0.01  # of the values: how far off a hint may be that tells how large they are
ATTEMPTS = 8  # to find a V that is proved, each with more room


@dataclass(frozen=True, eq=False)
class Enclosure:
    """Proved bounds on what an opponent's process is worth, per node (and intent): ``low ≤ value ≤ high``."""

    low: FloatArray
    high: FloatArray

    @property
    def is_proved(self) -> bool:
        """Whether every node could be enclosed."""
        return bool(np.isfinite(self.low).all() and np.isfinite(self.high).all())


def enclosed(
    response: OpponentMDP, extent: FloatArray, operations: int, hint: FloatArray, limits: Limits = UNLIMITED
) -> Enclosure:
    """Enclose the values of a process.

    Parameters
    ----------
    response : OpponentMDP
        The process.
    extent : ndarray, shaped like ``response.reward``
        Sum of the absolute values of what was added up to each reward.
    operations : int
        K, the most operations behind any row, those of its coefficients included.
    hint : ndarray, shaped like the values
        Where to look for them; a good one saves time, any one gives bounds.
    limits : Limits
        Of time and memory.
    """
    sign = 1.0 if response.maximise else -1.0
    n, shape, unit = len(response.first), hint.shape, operations * EPSILON
    if not n:
        return Enclosure(hint, hint)
    reward, extent = (part.reshape(len(part), -1) for part in (sign * response.reward, extent))
    one, which = _distinct(reward, extent)
    process, extent = OpponentMDP(reward[:, one], response.moves, response.first, True), extent[:, one]
    levels = process.levels()
    likely = _plausible(sign * hint.reshape(n, -1)[:, one], process, extent)
    most = _not_exceeded(process, extent, unit, levels, likely, limits)
    if not np.isfinite(most).all():
        return Enclosure(np.full(shape, -np.inf), np.full(shape, np.inf))
    kept, its_extent = _following(process, extent, process.answers(most))
    copies = [np.concatenate([k * n + nodes for k in range(most.shape[1])]) for nodes in levels]
    found = _not_exceeded(kept, its_extent, unit, copies, -most.T.reshape(-1, 1), limits)
    least = -found.reshape(most.shape[::-1]).T
    low, high = (least, most) if response.maximise else (-most, -least)
    return Enclosure(low[:, which].reshape(shape), high[:, which].reshape(shape))


def _distinct(reward: FloatArray, extent: FloatArray) -> tuple[IntArray, IntArray]:
    """Return a column of each kind and the kind of each: what has equal rewards to the last bit is worth the same."""
    met: dict[bytes, int] = {}
    columns = np.ascontiguousarray(np.concatenate([reward, extent]).T)
    kind = np.array([met.setdefault(column.tobytes(), len(met)) for column in columns], dtype=np.intp)
    return np.unique(kind, return_index=True)[1].astype(np.intp), kind


def _plausible(hint: FloatArray, process: OpponentMDP, extent: FloatArray) -> FloatArray:
    """Return a hint without what cannot be: no value is larger than the largest reward for ever."""
    longest = 1.0 / (1.0 - process.discount) if process.discount < 1 else 0.0  # without a discount none is needed
    largest = longest * extent.max(axis=0)
    return np.clip(np.nan_to_num(hint), -largest, largest)


def _is_proved(process: OpponentMDP, extent: FloatArray, unit: float, values: FloatArray) -> bool:
    """Tell whether a maximising opponent can nowhere get more than `values` [n, k]; `unit` is K ε.

    Holds for a process whose chances sum to less than one, and for one in which nodes never recur.
    """
    error = unit * (extent + process.moves @ np.abs(values)) + TINY
    return bool((process.best(process.reward + process.moves @ values + error) <= values).all())


def _not_exceeded(
    process: OpponentMDP,
    extent: FloatArray,
    unit: float,
    levels: Sequence[IntArray],
    hint: FloatArray,
    limits: Limits,
) -> FloatArray:
    """Return values [n, k] that a maximising opponent provably does not exceed; infinite where none are found."""
    unproved, recurs = np.full(hint.shape, np.inf), recurring(process, levels)
    if process.discount + unit >= 1 and recurs.any():
        return unproved
    values, sizes = np.zeros(hint.shape), np.zeros(hint.shape)
    for nodes, again in zip(levels, recurs.tolist(), strict=True):  # successors come first
        limits.check("verifying the playbooks")
        rows = process.rows_of(nodes)
        moves = process.moves[rows]
        size = extent[rows] + moves @ sizes  # of what lies beyond: this level's own values are still 0
        reward = process.reward[rows] + moves @ values
        if again:
            values[nodes] = _candidate(process.among(nodes, reward, moves), size, unit, hint[nodes])
        else:
            values[nodes] = process.best(reward + 2.0 * (unit * size + TINY), nodes)
        sizes[nodes] = np.abs(values[nodes])
    return values if np.isfinite(values).all() and _is_proved(process, extent, unit, values) else unproved


def recurring(process: OpponentMDP, levels: Sequence[IntArray]) -> BoolArray:
    """Tell which levels lead to nodes that are not of earlier ones; if none does, no play goes on for ever."""
    rank = np.zeros(len(process.first), dtype=np.intp)
    for k, nodes in enumerate(levels):
        rank[nodes] = k
    owner = np.repeat(rank, np.diff(np.append(process.first, len(process.reward))))
    entries = process.moves.tocoo()
    here, there = owner[entries.row], rank[entries.col]
    recurs: BoolArray = np.zeros(len(levels), dtype=np.bool_)
    recurs[here[(there >= here) & (entries.data != 0)]] = True
    return recurs


def _candidate(level: OpponentMDP, size: FloatArray, unit: float, hint: FloatArray) -> FloatArray:
    """Look for values of one level, among whose nodes play recurs, that pass the comparison."""

    def error(values: FloatArray) -> FloatArray:
        off: FloatArray = unit * (size + level.moves @ np.abs(values)) + TINY
        return off

    values, more = hint, 2.0
    moved, scale = np.abs(level.backup(hint) - hint).max(axis=0), np.abs(hint).max(axis=0)
    is_near = bool((moved <= NEAR * (1.0 - level.discount) * scale).all())
    for _ in range(0 if is_near else ATTEMPTS):  # a hint that is far off leaves too much room
        room = error(values)
        values = level.approached(values, ROOM * room)
        if (error(values).max(axis=0) >= 0.5 * room.max(axis=0)).all():
            break
    for _ in range(ATTEMPTS):
        room = error(values)
        values = replace(level, reward=level.reward + more * room).approached(values, ROOM * room)
        excess = level.best(level.reward + level.moves @ values + error(values)) - values
        if (excess <= 0).all():
            break
        # what the search has left is made up evenly, which may be too much or too little
        values = values + more * np.maximum(excess.max(axis=0), 0.0) / max(1.0 - level.discount, unit)
        more *= 2.0
    return values


def _following(process: OpponentMDP, extent: FloatArray, chosen: IntArray) -> tuple[OpponentMDP, FloatArray]:
    """Return the process, turned over, of an opponent that keeps to the rows `chosen` [n, k]: a copy per column."""
    rows, column = chosen.T.ravel(), np.repeat(np.arange(chosen.shape[1]), len(chosen))
    reward, size = (part[rows, column, None] for part in (-process.reward, extent))
    return OpponentMDP(reward, process.kept_to(chosen), np.arange(len(rows)), True), size
