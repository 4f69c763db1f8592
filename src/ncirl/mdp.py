"""Against a finite-state controller the opponent faces an MDP over its nodes; here it is, and what it is worth.

Rows are the opponent's choices, grouped by node: ``reward[row]``, and ``moves[row, node]``, the discounted chance of
what follows (the opponent sees the node: that only makes the check stricter). Its value is the fixed point of

    U(n) = max_{rows of n}  reward[row] + Σ_m moves[row, m] U(m)          (min for a minimising opponent),

one column per intent where the attacker responds. No linear program is needed: sweeps from a bound on the right side
stay bounds (`tightened`), policy iteration comes close to the fixed point (`approached`), and what is close becomes a
bound that is proved, rounding included, in `ncirl.playbook.enclosure`. Where nodes are not listed beforehand but met,
`explored` lists them.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Generic, TypeVar

import numpy as np
import scipy.sparse as sp

from ncirl._typing import FloatArray, IntArray
from ncirl.errors import SizeError
from ncirl.limits import UNLIMITED, Limits

__all__ = ["Decision", "OpponentMDP", "explored", "spans"]

SETTLED = 1e-9  # tightening ends when nothing moves by more
ROUNDS = 200  # improvements of the opponent's policy, at most
REFINEMENTS, DIGITS = 5, 1e-8  # of the evaluation of one policy, and how much each leaves of the last
SWEEPS = 1000  # in the evaluation of one policy, at most
SMALL = 3000  # nodes whose equations are factored
DENSE = 4000  # numbers in equations that are solved as they are, zeros included

Node = TypeVar("Node", bound=Hashable)


def spans(begin: IntArray, end: IntArray) -> IntArray:
    """Concatenate the ranges begin[k] … end[k] − 1."""
    lengths = end - begin
    offsets = np.repeat(begin - np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(np.intp), lengths)
    return offsets + np.arange(lengths.sum(), dtype=np.intp)


@dataclass(frozen=True, eq=False)
class OpponentMDP:
    """What the opponent of a controller faces."""

    reward: FloatArray  # expected reward of each choice, (rows,)
    moves: sp.csr_array  # discounted chances of the next node, (rows, nodes)
    first: IntArray  # first row of each node; every node has at least one, (nodes,)
    maximise: bool  # whether the opponent is the attacker

    @cached_property
    def discount(self) -> float:
        """The largest sum of a row's chances."""
        return float(np.asarray(self.moves.sum(axis=1)).max(initial=0.0))

    def backup(self, values: FloatArray) -> FloatArray:
        """Apply the operator once."""
        return self.best(self.reward + self.moves @ values)

    def tightened(self, values: FloatArray, sweeps: int, floor: FloatArray | float | None = None) -> FloatArray:
        """Improve a bound: values the opponent cannot beat stay so under the operator.

        Parameters
        ----------
        values : ndarray
            Values the opponent cannot beat.
        sweeps : int
            How often to apply the operator at the most; fewer when nothing moves any more.
        floor : ndarray, optional
            Per node, what choices that are not among the rows are worth to the opponent at most.
        """
        worse, better = (np.maximum, np.minimum) if self.maximise else (np.minimum, np.maximum)
        for _ in range(sweeps):
            answer = self.backup(values)
            before, values = values, better(values, answer if floor is None else worse(answer, floor))
            if float(np.abs(values - before).max(initial=0.0)) < SETTLED:
                break
        return values

    def answers(self, values: FloatArray) -> IntArray:
        """Return the rows that are best against some values, per node (and intent)."""
        row_values = self.reward + self.moves @ values
        return self._reaching(row_values, self.best(row_values))

    def levels(self) -> list[IntArray]:
        """Group the nodes so that each leads to earlier groups, or to nodes of its own that lead back to it."""
        from scipy.sparse.csgraph import connected_components  # slow to load, and play does without it

        n = len(self.first)
        owner = np.repeat(np.arange(n), np.diff(np.append(self.first, len(self.reward))))
        entries = self.moves.tocoo()
        met = entries.data > 0
        here, there = owner[entries.row[met]], entries.col[met]
        _, part = connected_components(
            sp.csr_array((np.ones(len(here)), (here, there)), shape=(n, n)), connection="strong"
        )
        # between the parts there is no cycle: peel off what leads nowhere, then what led only there, and so on
        across = part[here] != part[there]
        ways = np.ones(int(across.sum())), (part[there][across], part[here][across])
        leading = sp.csr_array(ways, shape=(n, n))  # [part, part that leads to it]
        waiting = np.bincount(leading.indices, minlength=n)
        level = np.zeros(n, dtype=np.intp)  # by part
        ready = np.flatnonzero(waiting == 0)
        depth = 0
        while len(ready):
            level[ready] = depth
            before = leading.indices[spans(leading.indptr[ready], leading.indptr[ready + 1])]
            np.subtract.at(waiting, before, 1)
            ready = np.unique(before[waiting[before] == 0])
            depth += 1
        order = np.argsort(level[part], kind="stable")
        cuts = np.flatnonzero(np.diff(level[part][order])) + 1
        return [nodes for nodes in np.split(order, cuts) if len(nodes)]

    @cached_property
    def _ends(self) -> IntArray:
        """Where the rows of each node end."""
        return np.append(self.first[1:], len(self.reward)).astype(np.intp)

    def rows_of(self, nodes: IntArray) -> IntArray:
        """List the rows of some nodes."""
        return spans(self.first[nodes], self._ends[nodes])

    def among(self, nodes: IntArray, reward: FloatArray, moves: sp.csr_array) -> "OpponentMDP":
        """Return the process among some nodes, all else being in the `reward` of their rows, which have `moves`."""
        widths = self._ends[nodes] - self.first[nodes]
        return OpponentMDP(reward, sp.csr_array(moves[:, nodes]), np.cumsum(widths) - widths, self.maximise)

    def kept_to(self, chosen: IntArray) -> sp.csr_array:
        """Return where an opponent goes that keeps to the rows `chosen` [n, k]: one copy of the nodes per column."""
        n, copies = chosen.shape
        moves = self.moves[chosen.T.ravel()]
        there = moves.indices + np.repeat(n * np.repeat(np.arange(copies), n), np.diff(moves.indptr))
        return sp.csr_array((moves.data, there, moves.indptr), shape=(n * copies, n * copies))

    def best(self, row_values: FloatArray, nodes: IntArray | None = None) -> FloatArray:
        """Return the best of each node's rows; of some nodes only, if `row_values` are those of `rows_of` them."""
        first = self.first
        if nodes is not None:
            widths = self._ends[nodes] - self.first[nodes]
            first = np.cumsum(widths) - widths
        best = np.maximum if self.maximise else np.minimum
        answer: FloatArray = best.reduceat(row_values, first, axis=0)
        return answer

    def approached(self, values: FloatArray, room: FloatArray) -> FloatArray:
        """Approach the fixed point by policy iteration, until no node moves by more than the `room` of its best row.

        Nothing is promised about the answer: it may be far off where chances do not sum to less than one.

        Parameters
        ----------
        values : ndarray of shape (nodes, Θ)
            Where to begin.
        room : ndarray of shape (rows, Θ)
            How closely each row is to be met.
        """
        if not self.discount < 1:
            return values
        values = values.copy()
        for _ in range(ROUNDS):
            row_values = self.reward + self.moves @ values
            after = self.best(row_values)
            chosen = self._reaching(row_values, after)
            enough = np.take_along_axis(room, chosen, axis=0)
            if (np.abs(after - values) <= enough).all():
                return after
            some = max(1, SMALL // len(chosen))  # columns whose equations are solved together
            for k in range(0, after.shape[1], some):
                part = slice(k, k + some)
                values[:, part] = self._evaluated(chosen[:, part], part, after[:, part], enough[:, part])
        return values

    def _reaching(self, row_values: FloatArray, best: FloatArray) -> IntArray:
        """Return the first row of each node that is as good as its best."""
        widths = np.diff(np.append(self.first, len(self.reward)))
        reached = row_values == np.repeat(best, widths, axis=0)
        numbers = np.arange(len(row_values)).reshape(-1, *[1] * (reached.ndim - 1))
        chosen: IntArray = np.minimum.reduceat(np.where(reached, numbers, len(row_values)), self.first, axis=0)
        return chosen

    def _evaluated(self, chosen: IntArray, part: slice, value: FloatArray, enough: FloatArray) -> FloatArray:
        """Approach v = reward + moves v for the rows chosen [n, k], by corrections, and by sweeps for what these leave.

        A correction is solved for rather than the value: so nodes worth little are met as closely as those worth much.
        Columns have nothing to do with each other; they are solved together because each solve takes its time.
        """
        reward = np.take_along_axis(self.reward[:, part], chosen, axis=0)
        equations = _dense(self.moves, chosen) if len(chosen) * chosen.size <= DENSE else _sparse(self.moves, chosen)
        residual = reward + equations.moved(value) - value
        for _ in range(REFINEMENTS):
            if (np.abs(residual) <= enough).all():
                return value
            with np.errstate(all="ignore"):  # a method may break down: then its answer is not taken
                better = value + equations.solved(residual)
                left = reward + equations.moved(better) - better
                closer = np.abs(left).max(axis=0) < np.abs(residual).max(axis=0)
            if not closer.any():
                break
            value, residual = np.where(closer, better, value), np.where(closer, left, residual)
        for _ in range(SWEEPS):
            before, value = value, reward + equations.moved(value)
            if (np.abs(value - before) <= enough).all():
                break
        return value


@dataclass(frozen=True, eq=False)
class _Equations:
    """v = right + moves v for each column [n, k] on its own: `moved` returns moves v, `solved` returns v."""

    moved: Callable[[FloatArray], FloatArray]
    solved: Callable[[FloatArray], FloatArray]


def _dense(moves: sp.csr_array, chosen: IntArray) -> _Equations:
    """Return the equations of the rows chosen [n, k] as one array: where there are few, that takes least."""
    n, k = chosen.shape
    each = moves[chosen.T.ravel()].toarray().reshape(k, n, n)
    matrix = np.eye(n) - each
    return _Equations(
        lambda values: np.asarray((each @ values.T[:, :, None])[:, :, 0].T),
        lambda right: np.asarray(np.linalg.solve(matrix, right.T[:, :, None])[:, :, 0].T),
    )


def _sparse(moves: sp.csr_array, chosen: IntArray) -> _Equations:
    """Return the equations of the rows chosen [n, k], a copy of the nodes per column.

    They are solved by factors, or by a Krylov method where these might fill memory.
    """
    from scipy.sparse.linalg import bicgstab, splu  # slow to load, and play does without them

    n, k = chosen.shape
    rows = moves[chosen.T.ravel()]
    column = rows.indices + n * np.repeat(np.arange(n * k) // n, np.diff(rows.indptr))
    every = sp.csr_array((rows.data, column, rows.indptr), shape=(n * k, n * k))
    matrix = sp.eye_array(n * k, format="csr") - every
    if n * k <= SMALL:
        solve = splu(sp.csc_array(matrix)).solve
    else:
        solve = lambda right: bicgstab(matrix, right, rtol=DIGITS, atol=0.0, maxiter=SWEEPS)[0]  # noqa: E731
    return _Equations(
        lambda values: np.asarray((every @ values.T.ravel()).reshape(k, n).T),
        lambda right: np.asarray(solve(right.T.ravel()).reshape(k, n).T),
    )


@dataclass(frozen=True, eq=False)
class Decision(Generic[Node]):
    """What can be chosen at a node: rewards [c, k], and each next node with its probabilities [c]."""

    reward: FloatArray
    following: Mapping[Node, FloatArray]


def explored(
    starts: Sequence[Node],
    decide: Callable[[Node], Decision[Node]],
    *,
    discount: float,
    maximise: bool,
    limit: int,
    stages: int | None = None,
    limits: Limits = UNLIMITED,
) -> tuple[OpponentMDP, dict[Node, int], bool]:
    """Meet what can be reached from `starts`, within so many stages if they are given; beyond, all is worth 0.

    Returns the process, its nodes with their numbers, and whether no others can be reached.

    Raises `SizeError` when more than `limit` nodes can be reached.
    """
    numbers = {node: k for k, node in enumerate(dict.fromkeys(starts))}
    found: list[Decision[Node]] = []
    layer, depth = list(numbers), 0
    while layer and (stages is None or depth < stages):
        following: list[Node] = []
        for node in layer:
            limits.check("listing situations of public state and memory", len(found))
            found.append(decide(node))
            for after in found[-1].following:
                if after not in numbers:
                    numbers[after] = len(numbers)
                    following.append(after)
            if len(numbers) > limit:
                advice = "answer a strategy with less memory, or shorten the horizon"
                if stages is not None:
                    advice = "give fewer `stages`, a larger `tolerance`, or raise `limit`"
                raise SizeError(
                    f"more than {limit} situations of public state and memory can be reached within {depth + 1} "
                    f"stages; {advice}"
                )
        layer = following
        depth += 1
    return _process(found, numbers, discount, maximise), numbers, not layer


def _process(
    found: Sequence[Decision[Node]], numbers: Mapping[Node, int], discount: float, maximise: bool
) -> OpponentMDP:
    """Put decisions together; the nodes that come after those decided at have one choice, worth nothing."""
    n_payoffs = found[0].reward.shape[1] if found else 1
    beyond = np.zeros((len(numbers) - len(found), n_payoffs))
    reward = np.concatenate([*(node.reward for node in found), beyond])
    first = np.cumsum([0, *(len(node.reward) for node in found), *np.ones(len(beyond), dtype=np.intp)])
    chances = [np.zeros(0), *(chances for node in found for chances in node.following.values())]
    columns = np.array([-1, *(numbers[after] for node in found for after in node.following)])
    spans = (np.arange(begin, end) for begin, end in pairwise(first))
    rows = [span for node, span in zip(found, spans, strict=False) for _ in node.following]
    data = np.concatenate(chances)
    row = np.concatenate([np.zeros(0, dtype=np.intp), *rows])
    column = np.repeat(columns, [len(part) for part in chances])
    kept = data > 0
    moves = sp.csr_array((discount * data[kept], (row[kept], column[kept])), shape=(len(reward), len(numbers)))
    return OpponentMDP(reward, moves, first[:-1], maximise)
