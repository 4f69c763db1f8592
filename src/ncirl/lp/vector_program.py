"""P_A(s, b) over vectors: a value from above, and by duality the defender's side.

    v̂(s'_i, β_i) = V_i   with   V_i ≤ α_j·β_i   ∀ vectors α_j of s'_i

The multipliers are a strategy of the defender: those of the d-rows its mixed action D, those of the rows (i, j) the
chances p_ij with which vector j follows observation i, those of the belief rows its new vector. Rows enter when a
posterior lies below them.
"""

import numpy as np

from ncirl._typing import FloatArray, IntArray
from ncirl.lp.backups import VectorBackup
from ncirl.lp.program import ACTIVE, Accuracy, StageProgram
from ncirl.lp.session import INF, LPSolution, Meter
from ncirl.lp.state_arrays import NONE, StateArrays
from ncirl.lp.stores import KnownVectors

__all__ = ["VectorProgram"]

MOST = 20.0  # mass for sale where a ceiling is to be kept
IDLE_CUTS, CUTS_EACH = 300, 4  # beyond these (and those per observation) rows that do not bind are deleted


class VectorProgram(StageProgram):
    """P_A(s, ·) over vectors: a column V_i per open observation, a row ``V_i ≤ α·β_i`` per vector met."""

    def __init__(
        self,
        here: StateArrays,
        known: KnownVectors,
        accuracy: Accuracy | None = None,
        meter: Meter | None = None,
        likely: tuple[IntArray, IntArray] | None = None,
    ) -> None:
        super().__init__(here, here.reward, accuracy, meter, likely)
        self.known, self.stores = known, known.stores

    def clear(self) -> None:
        """Forget the continuation's rows and columns."""
        self.open: IntArray = NONE
        self.value_columns: IntArray = NONE
        self.weights = np.zeros((0, self.here.n_d))  # rows of the open observations
        self.cut_rows: IntArray = NONE
        self.cut_open: IntArray = NONE
        self.cut_node: IntArray = NONE
        self.cut_alphas = np.zeros((0, self.here.n_t))
        self._latest: dict[tuple[int, int], FloatArray] = {}  # by open observation and node: the vector of its row

    def entering(self, action: int) -> tuple[IntArray, FloatArray]:
        """Return rows and coefficients [θ, row] of new plan columns."""
        if self.here.by_action or not len(self.cut_rows):
            return NONE, np.zeros((self.here.n_t, 0))
        mass = self.here.mass_of(self.open[self.cut_open], np.array([action]))[:, 0]
        return self.cut_rows, -(mass[:, None] * self.cut_alphas).T

    def opposing(self, defence: int) -> tuple[IntArray, FloatArray]:
        """Return columns and coefficients of a new row d."""
        return self.value_columns, -self.here.discount * self.weights[:, defence]

    def opened(self, action: int | None, defence: int | None) -> None:
        """Give each observation that has come into play its column and a first vector."""
        new = self.here.opened_by(action, defence)
        if not len(new):
            return
        weights = self.here.weight_of(new)
        n = len(new)
        block = -self.here.discount * weights[:, self.defences]
        self.session.add_columns(self.defence_rows, block, np.zeros(n), np.full(n, -INF), np.full(n, INF))
        first = len(self.open)
        self.open = np.concatenate([self.open, new])
        self.weights = np.concatenate([self.weights, weights])
        self.value_columns = np.concatenate([self.value_columns, self.n_columns + np.arange(n)])
        self.n_columns += n
        toward = self.here.toward[new]
        self._cut(first + np.arange(n), self._stand_in[toward], self._default[toward])

    def _cut(self, opens: IntArray, alphas: FloatArray, nodes: IntArray) -> None:
        """Add rows V_i ≤ α·β_i for some open observations, a vector and its node each."""
        n, n_t = len(opens), self.here.n_t
        self._latest.update(zip(zip(opens.tolist(), nodes.tolist(), strict=True), alphas, strict=True))
        observations, value = self.open[opens], self.value_columns[opens][:, None]
        if self.here.by_action:  # a posterior is a part of the plan of one action
            columns = self.first_column[self.here.owner[observations]][:, None] + np.arange(n_t)
            block = -alphas
        else:
            mass = self.here.mass_of(observations, self.actions)  # [row, active a]
            columns = np.broadcast_to(self.plan_columns, (n, len(self.plan_columns)))
            block = -(mass[:, :, None] * alphas[:, None, :]).reshape(n, -1)
        columns = np.concatenate([columns, value], axis=1)
        block = np.concatenate([block, np.ones((n, 1))], axis=1)
        self.session.add_rows(columns, block, np.full(n, -INF), np.zeros(n))
        self.cut_rows = np.concatenate([self.cut_rows, self.n_rows + np.arange(n)])
        self.n_rows += n
        self.cut_open = np.concatenate([self.cut_open, opens])
        self.cut_node = np.concatenate([self.cut_node, nodes])
        self.cut_alphas = np.concatenate([self.cut_alphas, alphas])

    def solve(self, belief: FloatArray) -> VectorBackup:
        """Solve at a belief, adding what is missed."""
        self._begun(belief)
        self.at(belief)
        return self._solved()

    def _begun(self, belief: FloatArray) -> None:
        """Take note, per successor, of the vector that is best at a belief; build the program if there is none yet."""
        stores = [self.stores[t] for t in self.here.successors]
        best = [store.best(belief) for store in stores]
        self._default: IntArray = np.array(
            [store.nodes[k] for store, k in zip(stores, best, strict=True)], dtype=np.intp
        )
        self._stand_in: FloatArray = np.array([store.alphas[k] for store, k in zip(stores, best, strict=True)]).reshape(
            -1, self.here.n_t
        )
        if self.fresh:
            self.start(*self.likely)

    def solve_below(self, belief: FloatArray, ceiling: FloatArray) -> VectorBackup:
        """Solve for a vector that is nowhere above another one if that can be had.

        The attacker may have more mass of any intent at the price of what the ceiling concedes to it: by duality, what
        the new vector exceeds the ceiling by costs `MOST` times as much.
        """
        self._begun(belief)
        with self.selling(ceiling - 2 * self.accuracy.missed, MOST):
            return self.solve(belief)

    def _solved(self) -> VectorBackup:
        while True:
            solution = self.session.solve()
            plan = self.plan(solution)
            late = self.accuracy.late()  # whatever there is makes a vector
            if not late and self._add_cuts(solution.columns[self.value_columns], plan):
                continue
            if not late and self._add_defences(solution.columns, plan):
                continue
            found = self._backup(solution, plan)
            excess = (found.conceded - solution.duals[: self.here.n_t]).max(axis=1)
            if late or not self.add_missed(excess, self.actions, defences=False):
                if len(self.cut_rows) > IDLE_CUTS + CUTS_EACH * len(self.open):
                    self._drop_idle(solution.duals)
                return found

    def _drop_idle(self, duals: FloatArray) -> None:
        """Delete the rows that do not bind now, but for the newest of each observation."""
        idle = duals[self.cut_rows] <= ACTIVE
        newest = {int(k): n for n, k in enumerate(self.cut_open.tolist())}
        idle[list(newest.values())] = False
        gone = self.cut_rows[idle]
        self.session.delete_rows(gone)
        self.n_rows -= len(gone)
        kept = ~idle
        self.cut_rows = self.cut_rows[kept] - np.searchsorted(gone, self.cut_rows[kept])
        self.defence_rows = self.defence_rows - np.searchsorted(gone, self.defence_rows)
        self.cut_open, self.cut_node = self.cut_open[kept], self.cut_node[kept]
        self.cut_alphas = self.cut_alphas[kept]
        keys = zip(self.cut_open.tolist(), self.cut_node.tolist(), strict=True)
        self._latest = dict(zip(keys, self.cut_alphas, strict=True))

    def _add_cuts(self, values: FloatArray, plan: FloatArray) -> bool:
        live = self._live(plan)
        order, parts = self.here.by_successor(self.open[live])
        live = live[order]
        beta, least, worths = self.posteriors(plan, self.open[live]), np.empty(len(live)), []
        for t, part in parts:
            worths.append(beta[part] @ self.stores[t].alphas.T)
            np.minimum.reduce(worths[-1], axis=1, out=least[part])
        missed = values[live] > least + self.accuracy.missed
        if not missed.any():
            return False
        cuts: list[tuple[int, FloatArray, int]] = []  # open observation, vector, node
        for (t, part), worth in zip(parts, worths, strict=True):
            store, those = self.stores[t], missed[part].nonzero()[0]
            for k, j in zip(live[part][those].tolist(), worth[those].argmin(axis=1).tolist(), strict=True):
                alpha, node = store.alphas[j], int(store.nodes[j])
                row = self._latest.get((k, node))
                if row is None or not np.array_equal(row, alpha):  # the same again would change nothing
                    cuts.append((k, alpha, node))
        if cuts:
            opens, alphas, nodes = zip(*cuts, strict=True)
            self._cut(np.array(opens), np.array(alphas), np.array(nodes))
        return bool(cuts)

    def _live(self, plan: FloatArray) -> IntArray:
        """Return which of the open observations a plan may lead to."""
        if self.here.by_action:
            used = np.zeros(self.here.n_a, dtype=np.bool_)
            used[self.actions] = plan.sum(axis=1) > ACTIVE
            alive = used[self.here.owner[self.open]]
        else:
            alive = self.posteriors(plan, self.open).sum(axis=1) > ACTIVE
        live: IntArray = alive.nonzero()[0]
        return live

    def _add_defences(self, columns: FloatArray, plan: FloatArray) -> bool:
        payoff = self.against(plan) + self.here.discount * (columns[self.value_columns] @ self.weights)
        if not self.here.by_action:
            payoff = payoff + self._unopened(plan)
        return self.add_missed(np.where(self.here.defender, columns[0] - payoff, 0.0), self.defences, defences=True)

    def _unopened(self, plan: FloatArray) -> FloatArray:
        """Return what the continuation of the defences not in use is worth, [d]."""
        shut = np.setdiff1d(np.arange(len(self.here.seen)), self.open)
        beta = self.posteriors(plan, shut)
        worth = np.array(
            [self.stores[t].value(mass) for t, mass in zip(self.here.successor[shut].tolist(), beta, strict=True)]
        )
        return self.here.discount * (worth @ self.here.weight_of(shut)) if len(shut) else np.zeros(self.here.n_d)

    def now(self, nodes: IntArray) -> FloatArray:
        """Return the vectors of some nodes as they are now, [node, θ]."""
        return self.known.vectors[nodes]

    def _backup(self, solution: LPSolution, plan: FloatArray) -> VectorBackup:
        """Read the defender's side off the multipliers, and work out what it concedes to every action."""
        here = self.here
        mix = self.mix(solution)
        used = mix > ACTIVE
        defences, mix = self.defences[used], mix[used] / mix[used].sum()
        reach = here.reach(defences, mix)
        prices = np.maximum(solution.duals[self.cut_rows], 0.0)
        total = np.bincount(self.cut_open, weights=prices, minlength=len(self.open))
        kept = (prices > ACTIVE * total[self.cut_open]) & (total[self.cut_open] > ACTIVE)
        total = np.bincount(self.cut_open[kept], weights=prices[kept], minlength=len(self.open))
        chance = prices[kept] / total[self.cut_open[kept]]
        observation, following = self.open[self.cut_open[kept]], self.cut_node[kept]
        promised = self._stand_in[here.toward]
        promised[observation] = 0.0
        np.add.at(promised, observation, chance[:, None] * self.now(following))
        conceded = here.conceded(defences, mix, reach, promised)
        return VectorBackup(
            actions=self.actions,
            plan=plan,
            defences=defences,
            mix=mix,
            observation=observation,
            following=following,
            chance=chance,
            default=self._default,
            promised=promised,
            conceded=conceded,
            reach=reach,
        )
