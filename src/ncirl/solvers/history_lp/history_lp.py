"""The exact value of a finite-horizon game by one sparse linear program over public histories.

P_A unrolled: a plan A_h and a value V_h per public history h, coupled by what is seen,

    max Σ_{s0} V_{s0}
    V_h ≤ Σ_{a,θ} A_h(a,θ) r(a,d,θ) + γ Σ_i weight[i,d] V_{h·i}        ∀ h, d
    Σ_a A_{h·i}(a,θ) = Σ_a mass[i,a] A_h(a,θ),    Σ_a A_{s0}(a,θ) = P0(s0,θ)

The multipliers of the d-rows are the defender's realisation weights, so one solve gives both players' strategies. The
two numbers returned are not the program's objective: they are what the cleaned strategies secure when each is played
against every opponent (`HistoryTree.guaranteed`, `HistoryTree.conceded`), so ``lower ≤ value ≤ upper`` holds whatever
the program's accuracy was.
"""

import time
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ncirl._typing import FloatArray, IntArray
from ncirl.errors import InputError, SizeError
from ncirl.limits import UNLIMITED, Limits
from ncirl.lp.session import INF, Meter, Session
from ncirl.model.belief import policy_of
from ncirl.model.game import Game
from ncirl.model.quotient import Quotient, quotient
from ncirl.solution import PlayableSolution, ProgressCallback, Stats, Status, refuse_graph
from ncirl.solvers.history_lp.tree import Cluster, HistoryTree, tree_size
from ncirl.strategies.strategy import AttackerStrategy, DefenderStrategy

__all__ = ["HistoryLP", "HistorySolution"]


@dataclass(frozen=True, kw_only=True, repr=False)
class HistorySolution(PlayableSolution):
    """The exact answer, with both strategies by public history."""

    merged: Quotient  # the game with equivalent states merged, on whose histories the strategies are given
    tree: HistoryTree  # the histories
    policies: list[FloatArray]  # per cluster of histories, π_h[a, θ] as [N, a, θ]
    defences: list[FloatArray]  # per cluster of histories, D_h[d] as [N, d]

    def attacker_strategy(self) -> AttackerStrategy:
        """Return the attacker's optimal strategy."""
        from ncirl.solvers.history_lp.strategies import HistoryAttacker

        return HistoryAttacker(self)

    def defender_strategy(self) -> DefenderStrategy:
        """Return the defender's optimal strategy."""
        from ncirl.solvers.history_lp.strategies import HistoryDefender

        return HistoryDefender(self)


@dataclass(frozen=True)
class HistoryLP:
    """Exact, for finite and small games.

    Parameters
    ----------
    max_columns : int
        Refuse programs with more columns than this, before building anything.

    Examples
    --------
    >>> import ncirl
    >>> solution = ncirl.solve(ncirl.games.patrol(horizon=3, discount=1.0), ncirl.HistoryLP())
    >>> round(solution.lower, 6), round(solution.upper, 6)  # 9/7
    (1.285714, 1.285714)
    """

    max_columns: int = 1_000_000

    def run(
        self, game: Game, *, progress: ProgressCallback | None = None, limits: Limits = UNLIMITED
    ) -> HistorySolution:
        """Solve `game`.

        Raises
        ------
        InputError
            When the game has no horizon.
        SizeError
            When the program would be too large; the message says how large.
        """
        refuse_graph(self, game)
        began = time.perf_counter()
        if game.horizon is None:
            raise InputError(f"game '{game.name}': the history program needs a finite horizon; set one")
        merged = quotient(game.timed(), limits)
        self._refuse_if_large(merged.game, game.horizon)
        limits.check("counting histories")
        tree = HistoryTree(merged.game)
        scale = max((float(np.abs(c.stage.reward).max()) for c in tree.clusters), default=0.0) or 1.0
        meter = Meter()
        policies, defences = _solve(tree, scale, meter, limits)
        conceded = tree.conceded(defences)
        return HistorySolution(
            game=game,
            lower=tree.guaranteed(tree.masses(policies)),
            upper=sum(float(start.mass @ u) for start, u in zip(tree.starts, conceded, strict=True)),
            status=Status.EXACT,
            stats=Stats(time.perf_counter() - began, meter.solves, meter.seconds, len(tree.clusters)),
            settings=self,
            claim="Both numbers bound the value of the game: what the attacker secures, what the defender concedes.",
            merged=merged,
            tree=tree,
            policies=policies,
            defences=defences,
        )

    def _refuse_if_large(self, timed: Game, horizon: int) -> None:
        histories, rows, columns = tree_size(timed, limit=self.max_columns)
        if columns > self.max_columns:
            raise SizeError(
                f"game '{timed.name}' with horizon {horizon} has at least {histories:.3g} public histories, a program "
                f"of {rows:.3g} rows and {columns:.3g} columns; the limit is {self.max_columns} columns: shorten the "
                "horizon, use the certified solver, or raise `max_columns`"
            )


def _solve(
    tree: HistoryTree, scale: float, meter: Meter, limits: Limits = UNLIMITED
) -> tuple[list[FloatArray], list[FloatArray]]:
    """Build and solve the program in units of `scale`; return cleaned policies and mixed actions per cluster."""
    if not tree.clusters:  # play is over before it begins
        return [], []
    layout = [_Layout(cluster, tree.n_intents) for cluster in tree.clusters]
    row = column = 0
    for block in layout:
        block.first_row, block.first_column = row, column
        row, column = row + block.n_rows, column + block.n_columns
    entries = [e for block in layout for e in block.entries(layout, tree.discount, scale)]
    rows, columns, data = (np.concatenate([entry[k] for entry in entries]) for k in range(3))
    upper, cost = np.zeros(row), np.zeros(column)
    lower_row, lower_column = np.full(row, -INF), np.zeros(column)
    for block in layout:
        lower_row[block.belief_rows().ravel()] = 0.0
        lower_column[block.value_columns()] = -INF
    for start, (k, n) in zip(tree.starts, tree.roots, strict=True):
        at = layout[k].belief_rows()[n]
        lower_row[at] = upper[at] = start.mass
        cost[layout[k].value_columns()[n]] = 1.0
    session = Session(
        maximise=True,
        cost=cost,
        lower=lower_column,
        upper=np.full(column, INF),
        matrix=sp.csr_array((data, (rows, columns)), shape=(row, column)),
        row_lower=lower_row,
        row_upper=upper,
        meter=meter,
    )
    answer = session.solve(limits)
    policies = [np.stack([policy_of(plan) for plan in answer.columns[b.plan_columns()]]) for b in layout]
    defences = [_normalised(answer.duals[b.defence_rows()]) for b in layout]
    return policies, defences


class _Layout:
    """Where the rows and columns of a cluster stand: per history its d-rows then belief rows, its plan then V."""

    def __init__(self, cluster: Cluster, n_intents: int) -> None:
        self.cluster = cluster
        self.n_a, self.n_d = cluster.stage.shape
        self.n_t = n_intents
        self.width = self.n_a * n_intents + 1
        self.height = self.n_d + n_intents
        self.n_rows, self.n_columns = cluster.size * self.height, cluster.size * self.width
        self.first_row = self.first_column = 0

    def _row(self) -> IntArray:
        return self.first_row + self.height * np.arange(self.cluster.size)[:, None]

    def _column(self) -> IntArray:
        return self.first_column + self.width * np.arange(self.cluster.size)[:, None]

    def defence_rows(self) -> IntArray:
        return self._row() + np.arange(self.n_d)

    def belief_rows(self) -> IntArray:
        return self._row() + self.n_d + np.arange(self.n_t)

    def value_columns(self) -> IntArray:
        columns: IntArray = (self._column() + self.width - 1).ravel()
        return columns

    def plan_columns(self) -> IntArray:
        columns: IntArray = self._column()[:, :, None] + np.arange(self.n_a * self.n_t).reshape(self.n_a, self.n_t)
        return columns

    def entries(
        self, layout: "list[_Layout]", discount: float, scale: float
    ) -> list[tuple[IntArray, IntArray, FloatArray]]:
        """List the coefficients as (rows, columns, data), vectorised over the histories."""
        size, n_plan = self.cluster.size, self.width - 1
        plan = self.plan_columns().reshape(size, 1, n_plan)
        payoff = -self.cluster.stage.reward.transpose(1, 0, 2).reshape(self.n_d, n_plan) / scale
        spread = np.tile(np.eye(self.n_t), self.n_a)
        blocks: list[tuple[IntArray, IntArray, FloatArray]] = [
            (self.defence_rows()[:, :, None], plan, payoff),
            (self.defence_rows()[:, :, None], self.value_columns()[:, None, None], np.ones((self.n_d, 1))),
            (self.belief_rows()[:, :, None], plan, spread),
        ]
        for i, (child, begin) in self.cluster.children.items():
            below = layout[child]
            here = slice(begin, begin + size)
            value: IntArray = below.value_columns()[here][:, None, None]
            blocks.append((self.defence_rows()[:, :, None], value, -discount * self.cluster.weight(i)[:, None]))
            passed = np.asarray(-np.kron(self.cluster.seen(i), np.eye(self.n_t)), dtype=np.float64)
            blocks.append((below.belief_rows()[here, :, None], plan, passed))
        found: list[tuple[IntArray, IntArray, FloatArray]] = []
        for rows, columns, data in blocks:
            k, m = np.nonzero(data)
            shape = (size, len(k))
            wide = np.broadcast_to(rows, (size, data.shape[0], 1))[:, k, 0]
            across = np.broadcast_to(columns, (size, 1, data.shape[1]))[:, 0, m]
            found.append((wide.ravel(), across.ravel(), np.broadcast_to(data[k, m], shape).ravel()))
        return found


def _normalised(weights: FloatArray) -> FloatArray:
    """Turn realisation weights [N, d] into mixed actions, uniform where the defender lets nothing happen."""
    weights = np.maximum(weights, 0.0)
    total = weights.sum(axis=1, keepdims=True)
    uniform = np.full_like(weights, 1 / weights.shape[1])
    mixed: FloatArray = np.where(total > 0, weights / np.where(total > 0, total, 1.0), uniform)
    return mixed
