"""From below: the live P_A over points, and the plan that reveals nothing until a place is left."""

from __future__ import annotations

import numpy as np

from ncirl._typing import FloatArray, IntArray
from ncirl.lp.session import INF, LPSolution, Meter
from ncirl.solvers.certified.lower_book import LowerBook, LowerStep
from ncirl.solvers.certified.place import Place
from ncirl.solvers.certified.program import ACTIVE, NONE, Accuracy, StageProgram, cleaned_beliefs
from ncirl.solvers.certified.upper_book import UpperStep

__all__ = ["LowerProgram"]

MOST_SHARES = 400  # columns beyond which the program is built anew


class LowerProgram(StageProgram):
    """P_A(s, ·) over points: K rows Σ_j φ_ij b_j ≤ β_i per open observation, a column φ_ij per point met."""

    def __init__(self, place: Place, book: LowerBook, accuracy: Accuracy, meter: Meter) -> None:
        self.book = book
        corners = np.array([book.stores[t].corners for t in place.successors]).reshape(-1, place.n_t)
        self.corners: FloatArray = corners[place.toward]  # c_i(θ)
        super().__init__(place, _certain(place, self.corners), accuracy, meter)
        self.columns = place.attacker
        self._first = NONE if place.attacker.all() else np.unique(place.attacker.argmax(axis=0))  # some for each intent
        self._fresh = True

    def clear(self) -> None:
        """Forget the continuation's rows and columns."""
        self.row_of = np.full(len(self.place.seen), -1, dtype=np.intp)  # first of the rows of an observation
        self.in_use: dict[tuple[int, int], float] = {}  # gains of the columns there are, by observation and node
        self.share_observation: IntArray = NONE
        self.share_node: IntArray = NONE
        self.share_gain = np.zeros(0)
        self.share_belief = np.zeros((0, self.place.n_t))
        self.share_weight = np.zeros((0, self.place.n_d))
        self.share_columns: IntArray = NONE
        anything = np.full(1, INF)
        self.session.add_rows(self.mass_columns, np.ones((1, self.place.n_t)), -anything, anything)
        self.total_row: IntArray = np.array([self.n_rows])  # Σ_θ m(θ)
        self.n_rows += 1

    def entering(self, action: int) -> tuple[IntArray, FloatArray]:
        """Return rows and coefficients [θ, row] of new plan columns."""
        if self.place.by_action:
            return NONE, np.zeros((self.place.n_t, 0))
        open_ = np.flatnonzero(self.row_of >= 0)
        mass = self.place.mass_of(open_, np.array([action]))[:, 0]
        rows: IntArray = (self.row_of[open_][:, None] + np.arange(self.place.n_t)).ravel()
        return rows, _per_intent(-mass, self.place.n_t)

    def opposing(self, defence: int) -> tuple[IntArray, FloatArray]:
        """Return columns and coefficients of a new row d."""
        return self.share_columns, -self.place.discount * self.share_weight[:, defence] * self.share_gain

    def opened(self, action: int | None, defence: int | None) -> None:
        """Do nothing: observations are opened by the points that serve them."""

    def _open(self, observations: IntArray) -> None:
        """Give observations their rows."""
        n = len(observations) * self.place.n_t
        mass = self.place.mass_of(observations, self.actions)
        block = _per_intent(-mass, self.place.n_t)
        self.session.add_rows(self.plan_columns, block, np.full(n, -INF), np.zeros(n))
        self.row_of[observations] = self.n_rows + self.place.n_t * np.arange(len(observations))
        self.n_rows += n

    def _share(self, wanted: list[tuple[int, int]]) -> bool:
        """Add a column for each (observation, point's position at its successor) that is not there yet."""
        new: list[tuple[int, int, float, FloatArray]] = []  # observation, node, gain, belief
        for i, k in wanted:
            store = self.book.stores[int(self.place.successor[i])]
            node, gain = int(store.nodes[k]), float(store.gains[k])
            if self.in_use.get((i, node), -np.inf) < gain - self.accuracy.missed:
                self.in_use[i, node] = gain
                new.append((i, node, gain, store.beliefs[k]))
        if not new:
            return False
        n, n_t = len(new), self.place.n_t
        observations = np.array([each[0] for each in new])
        gains, beliefs = np.array([each[2] for each in new]), np.array([each[3] for each in new])
        shut = observations[self.row_of[observations] < 0]
        if len(shut):
            self._open(np.array(sorted(set(shut.tolist()))))
        weights = self.place.weight_of(observations)
        against = -self.place.discount * weights[:, self.defences] * gains[:, None]
        served = np.zeros((n, n, n_t))
        served[np.arange(n), np.arange(n)] = beliefs
        rows = np.concatenate([self.defence_rows, (self.row_of[observations][:, None] + np.arange(n_t)).ravel()])
        block = np.hstack([against, served.reshape(n, -1)])
        self.session.add_columns(rows, block, np.zeros(n), np.zeros(n), np.full(n, INF))
        self.share_observation = np.concatenate([self.share_observation, observations])
        self.share_node = np.concatenate([self.share_node, [each[1] for each in new]])
        self.share_gain = np.concatenate([self.share_gain, gains])
        self.share_belief = np.vstack([self.share_belief, beliefs])
        self.share_weight = np.vstack([self.share_weight, weights])
        self.share_columns = np.concatenate([self.share_columns, self.n_columns + np.arange(n)])
        self.n_columns += n
        return True

    def follow(self, belief: FloatArray, hint: UpperStep) -> LowerStep:
        """Solve at a belief, starting with what the optimistic plan would do there, adding what is missed."""
        used = (hint.plan.sum(axis=1) > ACTIVE) & self.columns[hint.actions].any(axis=1)
        actions, defences = hint.actions[used], hint.defences
        if self._fresh or len(self.share_columns) > MOST_SHARES:
            self._fresh = False
            self._begin(actions, defences)
        else:
            for d in sorted(set(defences.tolist()).difference(self.defences.tolist())):
                self.add_defence(d)
            for a in sorted(set(actions.tolist()).difference(self.actions.tolist())):
                self.add_action(a)
        self._seed(actions, hint.plan[used])
        self.at(belief)
        return self._solved(belief)

    def _begin(self, actions: IntArray, defences: IntArray) -> None:
        """Build the program anew with these actions, and something for every intent to do."""
        self.start(np.concatenate([actions, np.setdiff1d(self._first, actions)]), defences)

    def solve(self, belief: FloatArray) -> LowerStep:
        """Solve at a belief with what is there from before, adding what is missed."""
        self._shrink()
        self.at(belief)
        return self._solved(belief)

    def exceed(self, prices: FloatArray) -> LowerStep:
        """Solve where the value exceeds what mass costs by most: P_A with the belief as a choice."""
        self._shrink()
        self.at(np.zeros(self.place.n_t))
        self.session.set_rows(self.total_row, np.ones(1), np.ones(1))
        try:
            with self.selling(prices, 1.0):
                return self._solved(None)
        finally:
            self.session.set_rows(self.total_row, np.full(1, -INF), np.full(1, INF))

    def _shrink(self) -> None:
        """Build the program anew with the actions used last when it has become large."""
        if len(self.share_columns) > MOST_SHARES:
            self._begin(*self._used)

    def _solved(self, belief: FloatArray | None) -> LowerStep:
        """Add what is missed until nothing is; without a belief it is the mass that was bought."""
        while True:
            solution = self.session.solve()
            plan = self.plan(solution)
            late = self.accuracy.late()  # whatever there is makes a point
            if not late and self._add_shares(solution, plan):
                continue
            share = np.maximum(solution.columns[self.share_columns], 0.0)
            payoff = self._payoff(plan, share)
            if not late and self.add_missed(solution.columns[0] - payoff, self.defences, defences=True):
                continue
            mix = self.mix(solution)
            gained = mix @ self.gain[:, self.defences]
            excess = (gained - solution.duals[: self.place.n_t]).max(axis=1, where=self.columns, initial=-np.inf)
            if late or not self.add_missed(excess, self.actions, defences=False):
                if belief is None:
                    belief = cleaned_beliefs(solution.columns[self.mass_columns][None])[0]
                self._used = self.actions[plan.sum(axis=1) > ACTIVE], self.defences[mix > ACTIVE]
                return self._cleaned(belief, plan, share, mix, self._prices(mix, solution.duals))

    def _prices(self, mix: FloatArray, duals: FloatArray) -> FloatArray:
        """Return what mass is worth after each observation, where that is seen."""
        reach = self.place.discount * self.place.reach(self.defences, mix)
        priced = (self.row_of >= 0) & (reach > ACTIVE)
        prices = self.corners.copy()
        rows = self.row_of[priced][:, None] + np.arange(self.place.n_t)
        prices[priced] += np.maximum(duals[rows], 0.0) / reach[priced][:, None]
        return prices

    def _seed(self, actions: IntArray, plan: FloatArray) -> None:
        """Let the program follow a plan: give each of its posteriors the point that serves it best."""
        place = self.place
        whole = np.zeros((len(self.actions), place.n_t))
        at = {a: k for k, a in enumerate(self.actions.tolist())}
        whole[[at[a] for a in actions.tolist()]] = plan
        seen = np.flatnonzero(place.possible(actions))
        beta = self.posteriors(whole, seen)
        met = beta.sum(axis=1) > ACTIVE
        seen, beta = seen[met], beta[met]
        wanted: list[tuple[int, int]] = []
        for t, here in place.grouped(seen):
            store = self.book.stores[t]
            if len(store.gains):
                offered = store.shares(beta[here]) * store.gains
                wanted += self._best(offered, seen[here])
        self._share(wanted)

    def _best(self, worth: FloatArray, observations: IntArray) -> list[tuple[int, int]]:
        """Pair each observation with the point that is worth most to it, where that is worth anything."""
        best = worth.argmax(axis=1)
        kept = worth.max(axis=1) > self.accuracy.missed
        return list(zip(observations[kept].tolist(), best[kept].tolist(), strict=True))

    def _payoff(self, plan: FloatArray, share: FloatArray) -> FloatArray:
        """Return what plan and shares get against every defence, [d]."""
        return self.against(plan) + self.place.discount * ((share * self.share_gain) @ self.share_weight)

    def _add_shares(self, solution: LPSolution, plan: FloatArray) -> bool:
        place = self.place
        mix = self.mix(solution)
        reach = place.discount * place.reach(self.defences, mix)
        candidates = np.flatnonzero(place.possible(self.actions[plan.sum(axis=1) > ACTIVE]) & (reach > ACTIVE))
        beta = self.posteriors(plan, candidates)
        wanted: list[tuple[int, int]] = []
        for t, here in place.grouped(candidates):
            store = self.book.stores[t]
            if not len(store.gains):
                continue
            observations = candidates[here]
            open_ = self.row_of[observations] >= 0
            worth = reach[observations][:, None] * store.gains  # [i, j]
            if open_.any():
                rows = self.row_of[observations[open_]][:, None] + np.arange(place.n_t)
                prices = np.maximum(solution.duals[rows], 0.0)
                worth[open_] -= prices @ store.beliefs.T
            if (~open_).any():
                worth[~open_] *= store.shares(beta[here[~open_]])
            wanted += self._best(worth, observations)
        return self._share(wanted)

    def _cleaned(
        self, belief: FloatArray, plan: FloatArray, share: FloatArray, mix: FloatArray, prices: FloatArray
    ) -> LowerStep:
        """Make plan and shares exactly feasible, and work out what they get with the gains of now."""
        plan = self.place.policy(self.actions, plan) * belief
        used = np.flatnonzero(share > ACTIVE)
        observation, beliefs = self.share_observation[used], self.share_belief[used]
        bought = np.zeros((len(self.place.seen), self.place.n_t))
        np.add.at(bought, observation, share[used][:, None] * beliefs)
        beta, bought = self.posteriors(plan, observation), bought[observation]
        room = np.where(bought > 0, beta / np.where(bought > 0, bought, 1.0), 1.0).min(axis=1, initial=1.0)
        fitted, following = share[used] * room, self.share_node[used]
        # gains may have risen since the columns were made
        worth = self.book.values[following]
        gains = worth - (self.corners[observation] * beliefs).sum(axis=1)
        payoff = self.against(plan) + self.place.discount * ((fitted * gains) @ self.share_weight[used])
        actions = self.actions
        return LowerStep(
            actions, plan, observation, following, fitted, worth, payoff, belief, self.defences, mix, prices
        )


def _per_intent(mass: FloatArray, n_intents: int) -> FloatArray:
    """Repeat coefficients for every intent, each on its own."""
    return np.asarray(np.kron(mass, np.eye(n_intents)), dtype=np.float64)


def _certain(place: Place, corners: FloatArray) -> FloatArray:
    """Return r + γ Σ_i mass[i,a] weight[i,d] c_i(θ), [a, d, θ]."""
    every = np.arange(place.n_a)
    later = [place.expected(every, corners[:, t]) for t in range(place.n_t)]
    gain: FloatArray = place.reward + place.discount * np.stack(later, axis=-1)
    return gain
