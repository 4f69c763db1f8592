"""P_A(s, b) over points: the attacker's side, a value from below.

    v̂(s'_i, β_i) = c_i·β_i + Σ_j φ_ij δ_j   with   Σ_j φ_ij b_j ≤ β_i,   φ ≥ 0

Linear, and no choice of a point as in the paper's sawtooth. The corners' part c_i·β_i is certain and counted with the
rewards, gain = r + γ Σ_i mass[i,a] weight[i,d] c_i. The multipliers of the rows say what mass is worth after each
observation; a share φ_ij enters when its point lies above that plane.
"""

import numpy as np

from ncirl._typing import FloatArray, IntArray
from ncirl.lp.backups import PointBackup, VectorBackup
from ncirl.lp.program import ACTIVE, Accuracy, StageProgram, cleaned_beliefs
from ncirl.lp.session import INF, Meter
from ncirl.lp.state_arrays import NONE, StateArrays
from ncirl.lp.stores import KnownPoints, PointStore

__all__ = ["PointProgram", "certain"]

MOST_SHARES = 400  # columns beyond which the program is built anew


class PointProgram(StageProgram):
    """P_A(s, ·) over points: K rows Σ_j φ_ij b_j ≤ β_i per open observation, a column φ_ij per point met.

    An observation is opened by a point that serves its posterior; a plan that would first have to change to be served
    is not found, whatever is found is a plan. With `whole` every action is in and every observation open, and the
    answer is the program's optimum.
    """

    def __init__(
        self,
        here: StateArrays,
        known: KnownPoints,
        accuracy: Accuracy | None = None,
        meter: Meter | None = None,
        likely: tuple[IntArray, IntArray] | None = None,
        *,
        whole: bool = False,
    ) -> None:
        self.known, self.whole = known, whole
        corners = np.array([known.stores[t].corners for t in here.successors]).reshape(-1, here.n_t)
        self.corners: FloatArray = corners[here.toward]  # c_i(θ)
        super().__init__(here, certain(here, self.corners), accuracy, meter, likely)
        self.may_play = here.attacker
        self._basis: list[tuple[int, int]] = []  # observations and nodes of the shares in use at the last answer
        self._first = NONE if here.attacker.all() else np.unique(here.attacker.argmax(axis=0))  # some for each intent

    def clear(self) -> None:
        """Forget the continuation's rows and columns."""
        self.row_of = np.full(len(self.here.seen), -1, dtype=np.intp)  # first of the rows of an observation
        self.in_use: dict[tuple[int, int], float] = {}  # gains of the columns there are, by observation and node
        self.share_observation: IntArray = NONE
        self.share_node: IntArray = NONE
        self.share_gain = np.zeros(0)
        self.share_belief = np.zeros((0, self.here.n_t))
        self.share_weight = np.zeros((0, self.here.n_d))
        self.share_columns: IntArray = NONE
        anything = np.full(1, INF)
        self.session.add_rows(self.mass_columns, np.ones((1, self.here.n_t)), -anything, anything)
        self.total_row: IntArray = np.array([self.n_rows])  # Σ_θ m(θ)
        self.n_rows += 1

    def entering(self, action: int) -> tuple[IntArray, FloatArray]:
        """Return rows and coefficients [θ, row] of new plan columns."""
        if self.here.by_action:
            return NONE, np.zeros((self.here.n_t, 0))
        open_ = (self.row_of >= 0).nonzero()[0]
        mass = self.here.mass_of(open_, np.array([action]))[:, 0]
        rows: IntArray = (self.row_of[open_][:, None] + np.arange(self.here.n_t)).ravel()
        return rows, _per_intent(-mass, self.here.n_t)

    def opposing(self, defence: int) -> tuple[IntArray, FloatArray]:
        """Return columns and coefficients of a new row d."""
        return self.share_columns, -self.here.discount * self.share_weight[:, defence] * self.share_gain

    def opened(self, action: int | None, defence: int | None) -> None:
        """Do nothing: observations are opened by the points that serve them."""

    def _open(self, observations: IntArray) -> None:
        """Give observations their rows."""
        n = len(observations) * self.here.n_t
        mass = self.here.mass_of(observations, self.actions)
        block = _per_intent(-mass, self.here.n_t)
        self.session.add_rows(self.plan_columns, block, np.full(n, -INF), np.zeros(n))
        self.row_of[observations] = self.n_rows + self.here.n_t * np.arange(len(observations))
        self.n_rows += n

    def _share(self, wanted: list[tuple[int, int]]) -> bool:
        """Add a column for each (observation, point's position at its successor) that is not there yet."""
        new: list[tuple[int, int, float, FloatArray]] = []  # observation, node, gain, belief
        for i, k in wanted:
            store = self._store(i)
            node, gain = int(store.nodes[k]), float(store.gains[k])
            if self.in_use.get((i, node), -np.inf) < gain - self.accuracy.missed:
                self.in_use[i, node] = gain
                new.append((i, node, gain, store.beliefs[k]))
        if not new:
            return False
        n, n_t = len(new), self.here.n_t
        observations = np.array([each[0] for each in new])
        gains, beliefs = np.array([each[2] for each in new]), np.array([each[3] for each in new])
        shut = observations[self.row_of[observations] < 0]
        if len(shut):
            self._open(np.array(sorted(set(shut.tolist()))))
        weights = self.here.weight_of(observations)
        against = -self.here.discount * weights[:, self.defences] * gains[:, None]
        served = self.row_of[observations][:, None] + np.arange(n_t)
        rows = np.concatenate([np.broadcast_to(self.defence_rows, against.shape), served], axis=1)
        block, nothing = np.concatenate([against, beliefs], axis=1), np.zeros(n)
        self.session.add_columns(rows, block, nothing, nothing, np.full(n, INF))
        self.share_observation = np.concatenate([self.share_observation, observations])
        self.share_node = np.concatenate([self.share_node, [each[1] for each in new]])
        self.share_gain = np.concatenate([self.share_gain, gains])
        self.share_belief = np.concatenate([self.share_belief, beliefs])
        self.share_weight = np.concatenate([self.share_weight, weights])
        self.share_columns = np.concatenate([self.share_columns, self.n_columns + np.arange(n)])
        self.n_columns += n
        return True

    def follow(self, belief: FloatArray, hint: VectorBackup) -> PointBackup:
        """Solve at a belief, starting with what the optimistic plan would do there, adding what is missed."""
        used = (hint.plan.sum(axis=1) > ACTIVE) & self.may_play[hint.actions].any(axis=1)
        actions, defences = hint.actions[used], hint.defences
        if self._outgrown:
            self._begin(actions, defences)
        else:
            for d in sorted(set(defences.tolist()).difference(self.defences.tolist())):
                self.add_defence(d)
            for a in sorted(set(actions.tolist()).difference(self.actions.tolist())):
                self.add_action(a)
        self._seed(actions, hint.plan[used])
        self.at(belief)
        return self._solved(belief)

    @property
    def _outgrown(self) -> bool:
        return self.fresh or (len(self.share_columns) > MOST_SHARES and not self.whole)

    def _begin(self, actions: IntArray, defences: IntArray) -> None:
        """Build the program anew with these actions, and something for every intent to do."""
        if self.whole:
            self.start(np.arange(self.here.n_a), defences)
            served = np.array([len(self.known.stores[t].gains) > 0 for t in self.here.successors], dtype=np.bool_)
            self._open(np.flatnonzero(served[self.here.toward]))
        else:
            self.start(np.concatenate([actions, np.setdiff1d(self._first, actions)]), defences)
        self._share([(i, k) for i, node in self._basis for k in self._position(i, node)])

    def _position(self, observation: int, node: int) -> list[int]:
        """Return where a node stands in the store of the state that an observation leads to, if it does."""
        where: list[int] = np.flatnonzero(self._store(observation).nodes == node).tolist()
        return where

    def _store(self, observation: int) -> PointStore:
        return self.known.stores[int(self.here.successor[observation])]

    def solve(self, belief: FloatArray) -> PointBackup:
        """Solve at a belief with what is there from before, adding what is missed."""
        self._ready()
        self.at(belief)
        return self._solved(belief)

    def exceed(self, prices: FloatArray) -> PointBackup:
        """Solve where the value exceeds what mass costs by most: P_A with the belief as a choice."""
        self._ready()
        self.at(np.zeros(self.here.n_t))
        self.session.set_rows(self.total_row, np.ones(1), np.ones(1))
        try:
            with self.selling(prices, 1.0):
                return self._solved(None)
        finally:
            self.session.set_rows(self.total_row, np.full(1, -INF), np.full(1, INF))

    def _ready(self) -> None:
        """Build the program, and anew with the actions used last when it has become large."""
        if self._outgrown:
            self._begin(*self.likely)

    def _solved(self, belief: FloatArray | None) -> PointBackup:
        """Add what is missed until nothing is; without a belief it is the mass that was bought."""
        while True:
            solution = self.session.solve()
            plan = self.plan(solution)
            late = self.accuracy.late()  # whatever there is makes a point
            mix = self.mix(solution)
            if not late and self._add_shares(solution.duals, plan, mix):
                continue
            share = np.maximum(solution.columns[self.share_columns], 0.0)
            payoff = self._payoff(plan, share)
            if not late and self.add_missed(solution.columns[0] - payoff, self.defences, defences=True):
                continue
            gained = mix @ self.gain[:, self.defences]
            if not self.here.by_action:  # then an action not in use serves posteriors that are open
                gained = gained + self.here.gather(self._row_prices(solution.duals))
            excess = (gained - solution.duals[: self.here.n_t]).max(axis=1, where=self.may_play, initial=-np.inf)
            if late or not self.add_missed(excess, self.actions, defences=False):
                if belief is None:
                    belief = cleaned_beliefs(solution.columns[self.mass_columns][None])[0]
                self.likely = self.actions[plan.sum(axis=1) > ACTIVE], self.defences[mix > ACTIVE]
                return self._cleaned(belief, plan, share, mix, solution.duals)

    def _prices(self, mix: FloatArray, duals: FloatArray) -> FloatArray:
        """Return what mass is worth after each observation, where that is seen."""
        reach = self.here.discount * self.here.reach(self.defences, mix)
        seen = reach > ACTIVE
        prices = self.corners.copy()
        prices[seen] += self._row_prices(duals)[seen] / reach[seen][:, None]
        return prices

    def _row_prices(self, duals: FloatArray) -> FloatArray:
        """Return the multipliers of the rows of each observation, [i, θ]; 0 where it has none."""
        prices = np.zeros((len(self.row_of), self.here.n_t))
        open_ = (self.row_of >= 0).nonzero()[0]
        prices[open_] = np.maximum(duals[self.row_of[open_][:, None] + np.arange(self.here.n_t)], 0.0)
        return prices

    def _seed(self, actions: IntArray, plan: FloatArray) -> None:
        """Let the program follow a plan: give each of its posteriors the point that serves it best."""
        here = self.here
        whole = np.zeros((len(self.actions), here.n_t))
        column = {a: k for k, a in enumerate(self.actions.tolist())}
        whole[[column[a] for a in actions.tolist()]] = plan
        seen = here.possible(actions).nonzero()[0]
        beta = self.posteriors(whole, seen)
        met = beta.sum(axis=1) > ACTIVE
        seen, beta = seen[met], beta[met]
        wanted: list[tuple[int, int]] = []
        for t, at in here.grouped(seen):
            store = self.known.stores[t]
            if len(store.gains):
                offered = store.shares(beta[at]) * store.gains
                wanted += self._best(offered, seen[at])
        self._share(wanted)

    def _best(self, worth: FloatArray, observations: IntArray) -> list[tuple[int, int]]:
        """Pair each observation with the point worth most to it, or with all where the program is to be whole."""
        if self.whole:
            line, point = np.nonzero(worth > self.accuracy.missed)
            return list(zip(observations[line].tolist(), point.tolist(), strict=True))
        kept = (worth.max(axis=1) > self.accuracy.missed).nonzero()[0]
        if not len(kept):
            return []
        return list(zip(observations[kept].tolist(), worth[kept].argmax(axis=1).tolist(), strict=True))

    def _payoff(self, plan: FloatArray, share: FloatArray) -> FloatArray:
        """Return what plan and shares get against every defence, [d]."""
        return self.against(plan) + self.here.discount * ((share * self.share_gain) @ self.share_weight)

    def _add_shares(self, duals: FloatArray, plan: FloatArray, mix: FloatArray) -> bool:
        here = self.here
        reach = here.discount * here.reach(self.defences, mix)
        used = self.actions if self.whole else self.actions[plan.sum(axis=1) > ACTIVE]
        candidates = (here.possible(used) & (reach > ACTIVE)).nonzero()[0]
        order, parts = here.by_successor(candidates)
        candidates = candidates[order]
        reach, open_ = reach[candidates], self.row_of[candidates] >= 0
        prices = self._row_prices(duals)[candidates]
        beta = self.posteriors(plan, candidates)
        wanted: list[tuple[int, int]] = []
        for t, part in parts:
            store = self.known.stores[t]
            if not len(store.gains):
                continue
            worth = reach[part][:, None] * store.gains  # [i, j]
            opened = open_[part]
            if opened.all():
                worth -= prices[part] @ store.beliefs.T
            else:
                worth[opened] -= prices[part][opened] @ store.beliefs.T
                worth[~opened] *= store.shares(beta[part][~opened])
            wanted += self._best(worth, candidates[part])
        return self._share(wanted)

    def certain_part(self, observation: IntArray, following: IntArray, beliefs: FloatArray) -> FloatArray:
        """Return c_i·b_j of shares (i, j), whose nodes are `following` and whose beliefs are b_j."""
        part: FloatArray = (self.corners[observation] * beliefs).sum(axis=1)
        return part

    def _cleaned(
        self, belief: FloatArray, plan: FloatArray, share: FloatArray, mix: FloatArray, duals: FloatArray
    ) -> PointBackup:
        """Make plan and shares exactly feasible, and work out what they get with the gains of now."""
        plan = self.here.policy(self.actions, plan) * belief
        used = (share > ACTIVE).nonzero()[0]
        self._basis = list(zip(self.share_observation[used].tolist(), self.share_node[used].tolist(), strict=True))
        observation, beliefs = self.share_observation[used], self.share_belief[used]
        bought = np.zeros((len(self.here.seen), self.here.n_t))
        np.add.at(bought, observation, share[used][:, None] * beliefs)
        beta, bought = self.posteriors(plan, observation), bought[observation]
        room = np.where(bought > 0, beta / np.where(bought > 0, bought, 1.0), 1.0).min(axis=1, initial=1.0)
        fitted, following = share[used] * room, self.share_node[used]
        # gains may have risen since the columns were made
        worth = self.known.values[following]
        gains = worth - self.certain_part(observation, following, beliefs)
        payoff = self.against(plan) + self.here.discount * ((fitted * gains) @ self.share_weight[used])
        return PointBackup(
            actions=self.actions,
            plan=plan,
            observation=observation,
            following=following,
            share=fitted,
            worth=worth,
            payoff=payoff,
            belief=belief,
            defences=self.defences,
            mix=mix,
            prices=self._prices(mix, duals),
            slope=duals[: self.here.n_t],
        )


def _per_intent(mass: FloatArray, n_intents: int) -> FloatArray:
    """Repeat coefficients for every intent, each on its own."""
    return np.asarray(np.kron(mass, np.eye(n_intents)), dtype=np.float64)


def certain(here: StateArrays, corners: FloatArray) -> FloatArray:
    """Return r + γ Σ_i mass[i,a] weight[i,d] c_i(θ), [a, d, θ]."""
    every = np.arange(here.n_a)
    later = [here.expected(every, corners[:, t]) for t in range(here.n_t)]
    gain: FloatArray = here.reward + here.discount * np.stack(later, axis=-1)
    return gain
