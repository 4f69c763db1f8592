"""From below: the live P_A over points, and the plan that reveals nothing until a place is left."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ncirl._typing import FloatArray, IntArray
from ncirl.belief import policy_of
from ncirl.lp.session import INF, LPSolution, Meter
from ncirl.solvers.bounding.lower_book import LowerBook, shares
from ncirl.solvers.bounding.place import Place
from ncirl.solvers.bounding.program import ACTIVE, NONE, Accuracy, StageProgram
from ncirl.solvers.bounding.upper_book import UpperStep

__all__ = ["LowerProgram", "LowerStep"]

MOST_SHARES = 400  # columns beyond which the program is built anew
PRICED = 1  # rounds of looking for points beyond those the optimistic plan asks for; more pay at the start only


@dataclass(frozen=True, eq=False)
class LowerStep:
    """A plan that is a plan, shares that fit its posteriors, and what they get against each defence."""

    actions: IntArray
    plan: FloatArray
    observation: IntArray
    following: IntArray
    share: FloatArray
    payoff: FloatArray
    defences: IntArray
    mix: FloatArray


class LowerProgram(StageProgram):
    """P_A(s, ·) over points: K rows Σ_j φ_ij b_j ≤ β_i per open observation, a column φ_ij per point met."""

    def __init__(self, place: Place, book: LowerBook, accuracy: Accuracy, meter: Meter) -> None:
        self.book = book
        corners = np.array([book.stores[t].corners for t in place.successor.tolist()]).reshape(-1, place.n_t)
        super().__init__(place, _certain(place, corners), accuracy, meter)
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

    def entering(self, action: int) -> tuple[IntArray, FloatArray]:
        """Return rows and coefficients [θ, row] of new plan columns."""
        if self.place.by_action:
            return NONE, np.zeros((self.place.n_t, 0))
        open_ = np.flatnonzero(self.row_of >= 0)
        mass = self.place.mass_of(open_, np.array([action]))[:, 0]
        rows = (self.row_of[open_][:, None] + np.arange(self.place.n_t)).ravel()
        return rows, np.hstack([-m * np.eye(self.place.n_t) for m in mass]) if len(open_) else np.zeros(
            (self.place.n_t, 0)
        )

    def opposing(self, defence: int) -> tuple[IntArray, FloatArray]:
        """Return columns and coefficients of a new row d."""
        return self.share_columns, -self.place.discount * self.share_weight[:, defence] * self.share_gain

    def opened(self, action: int | None, defence: int | None) -> None:
        """Do nothing: observations are opened by the points that serve them."""

    def _open(self, observation: int) -> None:
        n_t = self.place.n_t
        mass = self.place.mass_of(np.array([observation]), self.actions)[0]
        block = np.hstack([-m * np.eye(n_t) for m in mass])
        self.session.add_rows(self.plan_columns, block, np.full(n_t, -INF), np.zeros(n_t))
        self.row_of[observation] = self.n_rows
        self.n_rows += n_t

    def _share(self, observation: int, position: int) -> bool:
        """Add a column for a point of the observation's successor, unless it is there."""
        store = self.book.stores[int(self.place.successor[observation])]
        key = observation, int(store.nodes[position])
        if self.in_use.get(key, -np.inf) >= store.gains[position] - self.accuracy.missed:
            return False
        self.in_use[key] = float(store.gains[position])
        if self.row_of[observation] < 0:
            self._open(observation)
        weight = self.place.weight_of(np.array([observation]))[0]
        gain, belief = store.gains[position], store.beliefs[position]
        rows = np.concatenate([self.defence_rows, self.row_of[observation] + np.arange(self.place.n_t)])
        block = np.concatenate([-self.place.discount * weight[self.defences] * gain, belief])
        self.session.add_columns(rows, block[None], np.zeros(1), np.zeros(1), np.full(1, INF))
        self.share_observation = np.append(self.share_observation, observation)
        self.share_node = np.append(self.share_node, store.nodes[position])
        self.share_gain = np.append(self.share_gain, gain)
        self.share_belief = np.vstack([self.share_belief, belief])
        self.share_weight = np.vstack([self.share_weight, weight])
        self.share_columns = np.append(self.share_columns, self.n_columns)
        self.n_columns += 1
        return True

    def solve(self, belief: FloatArray, hint: UpperStep, *, thorough: bool = False) -> LowerStep:
        """Solve at a belief, starting with what the optimistic plan would do there, adding what is missed."""
        used = hint.plan.sum(axis=1) > ACTIVE
        actions, defences = hint.actions[used], hint.defences
        if self._fresh or len(self.share_columns) > MOST_SHARES:
            self._fresh = False
            self.start(actions, defences)
        else:
            for d in sorted(set(defences.tolist()).difference(self.defences.tolist())):
                self.add_defence(d)
            for a in sorted(set(actions.tolist()).difference(self.actions.tolist())):
                self.add_action(a)
        self._seed(actions, hint.plan[used])
        self.at(belief)
        pricing = -1 if thorough else PRICED
        while True:
            solution = self.session.solve()
            plan = self.plan(solution)
            if pricing and self._add_shares(solution, plan):
                pricing -= 1
                continue
            share = np.maximum(solution.columns[self.share_columns], 0.0)
            payoff = self._payoff(plan, share)
            if self.add_missed(solution.columns[0] - payoff, self.defences, defences=True):
                continue
            mix = self.mix(solution)
            gained = np.tensordot(mix, self.gain[:, self.defences], axes=(0, 1))
            excess = (gained - solution.duals[: self.place.n_t]).max(axis=1)
            if not self.add_missed(excess, self.actions, defences=False):
                return self._cleaned(belief, plan, share, mix)

    def _seed(self, actions: IntArray, plan: FloatArray) -> None:
        """Let the program follow a plan: give each of its posteriors the point that serves it best."""
        place = self.place
        whole = np.zeros((len(self.actions), place.n_t))
        whole[[int(np.flatnonzero(self.actions == a)[0]) for a in actions.tolist()]] = plan
        seen = np.flatnonzero(place.possible(actions))
        beta = self.posteriors(whole, seen)
        for t in np.unique(place.successor[seen]).tolist():
            store = self.book.stores[t]
            here = np.flatnonzero((place.successor[seen] == t) & (beta.sum(axis=1) > ACTIVE))
            if not len(store.gains) or not len(here):
                continue
            offered = shares(beta[here], store.beliefs) * store.gains
            best = offered.argmax(axis=1)
            for k in np.flatnonzero(offered[np.arange(len(here)), best] > self.accuracy.missed).tolist():
                self._share(int(seen[here[k]]), int(best[k]))

    def _payoff(self, plan: FloatArray, share: FloatArray) -> FloatArray:
        """Return what plan and shares get against every defence, [d]."""
        payoff: FloatArray = np.tensordot(plan, self.gain[self.actions], axes=([0, 1], [0, 2]))
        return payoff + self.place.discount * ((share * self.share_gain) @ self.share_weight)

    def _add_shares(self, solution: LPSolution, plan: FloatArray) -> bool:
        place = self.place
        mix = self.mix(solution)
        reach = place.discount * place.reach(self.defences, mix)
        candidates = np.flatnonzero(place.possible(self.actions[plan.sum(axis=1) > ACTIVE]) & (reach > ACTIVE))
        beta = self.posteriors(plan, candidates)
        found = False
        for t in np.unique(place.successor[candidates]).tolist():
            store = self.book.stores[t]
            if not len(store.gains):
                continue
            here = np.flatnonzero(place.successor[candidates] == t)
            observations = candidates[here]
            open_ = self.row_of[observations] >= 0
            worth = reach[observations][:, None] * store.gains  # [i, j]
            if open_.any():
                rows = self.row_of[observations[open_]][:, None] + np.arange(place.n_t)
                prices = np.maximum(solution.duals[rows], 0.0)
                worth[open_] -= prices @ store.beliefs.T
            if (~open_).any():
                worth[~open_] *= shares(beta[here[~open_]], store.beliefs)
            best = worth.argmax(axis=1)
            for k in np.flatnonzero(worth[np.arange(len(here)), best] > self.accuracy.missed).tolist():
                found |= self._share(int(observations[k]), int(best[k]))
        return found

    def _cleaned(self, belief: FloatArray, plan: FloatArray, share: FloatArray, mix: FloatArray) -> LowerStep:
        """Make plan and shares exactly feasible, and work out what they get with the gains of now."""
        plan = policy_of(plan) * belief
        used = np.flatnonzero(share > ACTIVE)
        observation, beliefs = self.share_observation[used], self.share_belief[used]
        bought = np.zeros((len(self.place.seen), self.place.n_t))
        np.add.at(bought, observation, share[used][:, None] * beliefs)
        met = np.unique(observation)
        beta = self.posteriors(plan, met)
        room = np.ones(len(self.place.seen))
        with np.errstate(divide="ignore", invalid="ignore"):
            room[met] = np.minimum(np.where(bought[met] > 0, beta / bought[met], np.inf).min(axis=1), 1.0)
        fitted = np.zeros_like(share)
        fitted[used] = share[used] * room[observation]
        now = np.array([self.book.values[n] for n in self.share_node.tolist()])
        if len(now):  # gains may have risen since the columns were made
            corners = np.array(
                [self.book.stores[t].corners for t in self.place.successor[self.share_observation].tolist()]
            )
            self_gain = now - np.einsum("kt,kt->k", corners, self.share_belief)
        else:
            self_gain = self.share_gain
        payoff = np.tensordot(plan, self.gain[self.actions], axes=([0, 1], [0, 2]))
        payoff = payoff + self.place.discount * ((fitted * self_gain) @ self.share_weight)
        return LowerStep(
            self.actions, plan, observation, self.share_node[used], fitted[used], payoff, self.defences, mix
        )


def _certain(place: Place, corners: FloatArray) -> FloatArray:
    """Return r + γ Σ_i mass[i,a] weight[i,d] c_i(θ), [a, d, θ]."""
    every = np.arange(place.n_a)
    later = [place.expected(every, corners[:, t]) for t in range(place.n_t)]
    gain: FloatArray = place.reward + place.discount * np.stack(later, axis=-1)
    return gain
