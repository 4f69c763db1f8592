"""P_A(s, b), the attacker's stage program, live and small: what it is made of enters when it is missed.

    max V   over plans A ≥ 0 and V
    V ≤ Σ_{a,θ} A(a,θ) r(a,d,θ) + γ Σ_i weight[i,d] v̂(s'_i, β_i),    β_i = mass[i] @ A        ∀ d
    Σ_a A(a,θ) = b(θ) + m(θ)                                                                  ∀ θ

with one v̂ per observation i, so both information structures are one program; it is the vectors' envelope in
`vector_program`, from above, and the points' hull in `point_program`, from below. The sums run over i = (a, s') where
the paper prints (d, s'), and use what is known of s' where it prints s.

Near an optimum few of the actions matter, however many there are: columns A(a, ·) and rows d enter when a would gain or
d would pay less. A new belief changes right-hand sides only, and every change is followed by a warm re-solve. Mass m(θ)
beside the belief is 0 unless it is for sale.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ncirl._typing import BoolArray, FloatArray, IntArray
from ncirl.lp.session import INF, LPSolution, Meter, Session
from ncirl.lp.state_arrays import NONE, StateArrays

__all__ = ["ACTIVE", "Accuracy", "StageProgram", "cleaned_beliefs"]

ACTIVE = 1e-9  # masses and weights below this play no part
ACTIONS_AT_ONCE = 4  # most violated ones added in one go
UNLIKELY = 1e-6  # intents less probable than this are taken for impossible


def _never() -> bool:
    return False


@dataclass
class Accuracy:
    """How much may be missed: shared by all programs, and finer as the bounds come closer."""

    missed: float = 1e-7
    late: Callable[[], bool] = _never  # time is up: then programs leave out whatever they have not got


class StageProgram(ABC):
    """Columns V and A(a, θ); rows for the belief and for the defender's actions.

    `gain` [a, d, θ] is what a plan gains apart from the continuation; `likely` are actions and defences to begin with,
    some of each, by default all.
    """

    def __init__(
        self,
        here: StateArrays,
        gain: FloatArray,
        accuracy: Accuracy | None = None,
        meter: Meter | None = None,
        likely: tuple[IntArray, IntArray] | None = None,
    ) -> None:
        self.here, self.gain = here, gain
        self.accuracy, self.meter = accuracy or Accuracy(), meter or Meter()
        self.likely = likely or (np.arange(here.n_a), np.flatnonzero(here.defender))
        self.fresh = True  # until it has been built
        self.may_play: BoolArray = np.ones((here.n_a, here.n_t), dtype=np.bool_)  # what A(a, θ) may be more than 0
        self.actions: IntArray = NONE
        self.defences: IntArray = NONE

    def start(self, actions: IntArray, defences: IntArray) -> None:
        """Build the program anew with these actions in it."""
        self.fresh = False
        n_t = self.here.n_t
        self.session = Session(
            maximise=True,
            cost=np.ones(1),
            lower=np.full(1, -INF),
            upper=np.full(1, INF),
            matrix=sp.csr_array((n_t, 1)),
            row_lower=np.zeros(n_t),
            row_upper=np.zeros(n_t),
            meter=self.meter,
        )
        nothing = np.zeros(n_t)
        self.session.add_columns(np.arange(n_t), -np.eye(n_t), nothing, nothing, nothing)
        self.mass_columns: IntArray = 1 + np.arange(n_t)
        self.n_rows, self.n_columns = n_t, 1 + n_t
        self.actions, self.defences = NONE, NONE
        self.plan_columns, self.defence_rows = NONE, NONE
        self.first_column: IntArray = np.full(self.here.n_a, -1)  # of the columns of each action in use
        self.clear()
        for d in defences.tolist():
            self.add_defence(d)
        for a in actions.tolist():
            self.add_action(a)

    @abstractmethod
    def clear(self) -> None:
        """Forget the continuation's rows and columns."""

    @abstractmethod
    def entering(self, action: int) -> tuple[IntArray, FloatArray]:
        """Return rows of the continuation and the coefficients [θ, row] of a new plan column in them."""

    @abstractmethod
    def opposing(self, defence: int) -> tuple[IntArray, FloatArray]:
        """Return columns of the continuation and their coefficients in a new row d."""

    @abstractmethod
    def opened(self, action: int | None, defence: int | None) -> None:
        """Take note of an action that comes in."""

    def add_action(self, action: int) -> None:
        """Add the columns A(a, ·)."""
        n_t = self.here.n_t
        rows, extra = self.entering(action)
        block = np.hstack([np.eye(n_t), -self.gain[action][self.defences].T, extra])
        places = np.concatenate([np.arange(n_t), self.defence_rows, rows])
        self.session.add_columns(places, block, np.zeros(n_t), np.zeros(n_t), np.where(self.may_play[action], INF, 0.0))
        self.plan_columns = np.concatenate([self.plan_columns, self.n_columns + np.arange(n_t)])
        self.first_column[action] = self.n_columns
        self.n_columns += n_t
        self.actions = np.append(self.actions, action)
        self.opened(action, None)

    def add_defence(self, defence: int) -> None:
        """Add the row of d."""
        self.opened(None, defence)
        columns, extra = self.opposing(defence)
        block = np.concatenate([[1.0], -self.gain[self.actions, defence].ravel(), extra])
        places = np.concatenate([[0], self.plan_columns, columns]).astype(np.intp)
        self.session.add_rows(places, block[None], np.full(1, -INF), np.zeros(1))
        self.defence_rows = np.append(self.defence_rows, self.n_rows)
        self.n_rows += 1
        self.defences = np.append(self.defences, defence)

    def add_missed(self, shortfall: FloatArray, known: IntArray, *, defences: bool) -> bool:
        """Add the actions whose violation is largest, if any exceeds the tolerance."""
        shortfall[known] = 0.0
        if not shortfall.max() > self.accuracy.missed:
            return False
        worst = np.argsort(-shortfall)[:ACTIONS_AT_ONCE]
        missed = worst[shortfall[worst] > self.accuracy.missed].tolist()
        for k in missed:
            if defences:
                self.add_defence(k)
            else:
                self.add_action(k)
        return True

    def at(self, belief: FloatArray) -> None:
        """Change the belief."""
        self.session.set_rows(np.arange(self.here.n_t), belief, belief)

    @contextmanager
    def selling(self, prices: FloatArray, most: float) -> Iterator[None]:
        """Let up to so much mass of each intent be had at its price."""
        nothing = np.zeros(self.here.n_t)
        self.session.set_costs(self.mass_columns, -prices)
        self.session.set_columns(self.mass_columns, nothing, np.full(self.here.n_t, most))
        try:
            yield
        finally:
            self.session.set_costs(self.mass_columns, nothing)
            self.session.set_columns(self.mass_columns, nothing, nothing)

    def plan(self, solution: LPSolution) -> FloatArray:
        """Return A[active a, θ]."""
        return np.maximum(solution.columns[self.plan_columns], 0.0).reshape(-1, self.here.n_t)

    def mix(self, solution: LPSolution) -> FloatArray:
        """Return the mixed action over the defences in use."""
        mix = np.maximum(solution.duals[self.defence_rows], 0.0)
        return np.asarray(mix / mix.sum())

    def against(self, plan: FloatArray) -> FloatArray:
        """Return Σ_{a,θ} A(a,θ) gain(a,d,θ) for every defence, [d]."""
        payoff: FloatArray = (self.gain[self.actions] @ plan[:, :, None]).sum(axis=0)[:, 0]
        return payoff

    def posteriors(self, plan: FloatArray, observations: IntArray) -> FloatArray:
        """Return β[i, θ] of some observations under a plan over the actions in use."""
        return self.here.posteriors(observations, self.actions, plan)


def cleaned_beliefs(masses: FloatArray) -> FloatArray:
    """Return beliefs [k, θ] in proportion to some masses, without intents that are next to impossible."""
    beliefs = masses / masses.sum(axis=1)[:, None]
    beliefs = np.where(beliefs > UNLIKELY, beliefs, 0.0)
    return np.asarray(beliefs / beliefs.sum(axis=1)[:, None])
