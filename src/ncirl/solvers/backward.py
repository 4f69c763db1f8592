"""Backward induction over public states: the games of all intents at once, each as if its intent were public.

    V(s, θ) = val_{a,d} [ r(s, a, d, θ) + γ Σ_o q(o | s, a, d) V(s'(o), θ) ]          (Shapley 1953)

Public states are solved by strongly connected components, successors first; at one that leads back to itself only, or
not at all, the games of all intents side by side (`side_by_side`). In a component with cycles the attacker's strategy
is improved as in policy iteration (Hoffman and Karp): x ← optimal in the stage games at V, then V ← what x guarantees
against the defender's best response, an MDP solved exactly. That always converges. Newton's step, V ← what the two
stage strategies yield against each other (Pollatschek and Avi-Itzhak), is faster near the end but may cycle when taken
alone. So it is taken inside the bounds known so far, and one that does not halve the gap is followed by a step of
Hoffman and Karp's.

Bounds. ``values`` is what the attacker's strategy guarantees and ``values + errors`` what the defender's concedes at
most, each from the other side's best-response MDP and with the bounds, not the values, of successors inside. An MDP's
answer v enters as v ± |Tv − v|⁺ / (1 − γ), so the bounds hold however it was found, up to the rounding of a sum; a
single state that loops has them in closed form. The iteration stops when they are as close as asked relative to the
payoffs, or when a step of Hoffman and Karp's improves neither the guarantee nor the gap.

References
----------
L. S. Shapley, Stochastic games, PNAS 39 (1953).
A. J. Hoffman, R. M. Karp, On nonterminating stochastic games, Management Science 12 (1966).
"""

from collections.abc import Mapping
from functools import partial

import numpy as np

from ncirl._typing import BoolArray, FloatArray, IntArray, State
from ncirl.limits import UNLIMITED, Limits
from ncirl.model.game import Game
from ncirl.model.order import components, is_cyclic
from ncirl.model.tempered import Options
from ncirl.playbook.stacks import in_blocks
from ncirl.solvers.matrix_game import SOLVING, MatrixGame, matrix_game
from ncirl.solvers.matrix_games import matrix_games
from ncirl.solvers.side_by_side import ENOUGH, SideBySide, met
from ncirl.solvers.stationary import ROUNDING, Cycle, Loop

__all__ = ["Backward", "backward"]

FEW, LARGE = 3, 4096  # games of one shape, and payoffs of each: so few, or so large, are solved faster one by one


def backward(
    game: Game,
    mixture: FloatArray,
    tolerance: float,
    options: Options | None = None,
    limits: Limits = UNLIMITED,
    guess: Mapping[State, FloatArray] | None = None,
) -> "Backward":
    """Solve the games whose rewards are ``r @ mixture``, [θ, k], side by side, within what each side may play.

    A `guess` at what they are worth, [k] by state, saves time if it is good; bounds come of any.
    """
    work = Backward(game, mixture, tolerance, options, limits, guess)
    for component in components(game, limits):
        limits.check(SOLVING, len(work.lower))
        if len(component) > 1:
            work.solve_cycle(component)
        else:
            work.solve_state(component[0])
    return work


class Backward:
    """Backward induction over components; k numbers the games solved side by side."""

    def __init__(
        self,
        game: Game,
        mixture: FloatArray,
        tolerance: float,
        options: Options | None,
        limits: Limits = UNLIMITED,
        guess: Mapping[State, FloatArray] | None = None,
    ) -> None:
        self._guess = guess
        self.game, self.mixture, self.tolerance, self.options, self.limits = game, mixture, tolerance, options, limits
        self.lower: dict[State, FloatArray] = {}  # indexed [k]
        self.upper: dict[State, FloatArray] = {}  # indexed [k]
        self.attacker: dict[State, FloatArray] = {}  # indexed [a, k]
        self.defender: dict[State, FloatArray] = {}  # indexed [d, k]
        self.lp_solves = 0
        self.stalled = False
        self._confined: dict[State, Options | None] = {}  # the options where somebody may not play everything

    def solve_state(self, state: State) -> None:
        """Solve a state to which play never comes back, or from itself only: all games side by side."""
        self._open([state])
        if self.game.is_terminal(state):
            return
        low, high = self._payoffs(state, self.lower), self._payoffs(state, self.upper)
        twins = np.array(self._twins([state], [low], [high]))
        inherited = self._inherited([state])
        solve = self._solve_loop if is_cyclic(self.game, [state]) else self._solve_once
        for those in in_blocks(np.unique(twins), low[:, :, 0].size):
            solve(state, those, low.transpose(2, 0, 1)[those], high.transpose(2, 0, 1)[those], inherited[those])
        for found in (self.lower, self.upper, self.attacker, self.defender):
            found[state] = found[state][..., twins]

    def _solve_loop(
        self, state: State, those: IntArray, low: FloatArray, high: FloatArray, inherited: FloatArray
    ) -> None:
        """Solve some games, [k, a, d], at a state to which play may come back."""
        together = SideBySide(
            chance=Loop(self.game, state).chance,
            low=low,
            high=high,
            inherited=inherited,
            tolerance=self.tolerance,
            share=1.0 - self.game.discount,  # so errors along a chain of states sum to the tolerance
            solve_stages=partial(self._matrix_games, state, those),
            guess=None if self._guess is None else self._guess[state][those],
        )
        together.solve()
        self.lower[state][those], self.upper[state][those] = together.lower, together.upper
        self.attacker[state][:, those], self.defender[state][:, those] = together.attacker.T, together.defender.T
        self.stalled |= together.stalled

    def _solve_once(
        self, state: State, those: IntArray, low: FloatArray, high: FloatArray, inherited: FloatArray
    ) -> None:
        """Solve some games, [k, a, d], at a state to which play never comes back: one stage game each."""
        x, y = self._matrix_games(state, those, np.arange(len(those)), low)
        secured = np.matmul(x[:, None, :], low)[:, 0].min(axis=1)
        conceded = np.matmul(high, y[:, :, None])[:, :, 0].max(axis=1)
        self.lower[state][those], self.upper[state][those] = secured, np.maximum(conceded, secured)
        self.attacker[state][:, those], self.defender[state][:, those] = x.T, y.T
        allowed = inherited + self.tolerance * met(high, x, y)  # what is inherited is judged where it was made
        self.stalled |= bool((conceded - secured > allowed).any())

    def solve_cycle(self, component: list[State]) -> None:
        """Solve several states between which play comes back."""
        self._open(component)
        # while the component's own bounds are 0, payoffs hold the rewards and what lies beyond it
        low = [self._payoffs(state, self.lower) for state in component]
        high = [self._payoffs(state, self.upper) for state in component]
        inner, inherited = Cycle(self.game, component), self._inherited(component)
        every = np.concatenate([part.reshape(-1, part.shape[2]).T for part in low], axis=1)  # indexed [k, payoff]
        for k, twin in enumerate(self._twins(component, low, high)):
            if twin < k:
                self._copy(component, twin, k)
                continue
            value = np.zeros(len(component))
            if k:  # a game much like it has been solved
                near = int(np.abs(every[:k] - every[k]).max(axis=1).argmin())
                value = np.array([self.lower[state][near] for state in component])
            beyond = [part[:, :, k] for part in low], [part[:, :, k] for part in high]
            self._improve(component, inner, k, *beyond, float(inherited[k]), value)

    def _inherited(self, component: list[State]) -> FloatArray:
        """Return the largest error that lies in what comes after, [k], while that of the component itself is 0."""
        after = {outcome.state for state in component for outcome in self.game.stage(state).outcomes}
        widest: FloatArray = np.max([self.upper[state] - self.lower[state] for state in after], axis=0)
        return self.game.discount * widest

    def _improve(
        self,
        component: list[State],
        inner: Cycle,
        k: int,
        low: list[FloatArray],
        high: list[FloatArray],
        inherited: float,
        value: FloatArray,
    ) -> None:
        """Improve the attacker's strategy of game k until the two bounds meet but for the `inherited` error.

        It begins as if the component were worth `value`; a good guess saves time, any gives bounds.
        """
        gap, lower, upper = np.inf, np.full(len(component), -np.inf), np.full(len(component), np.inf)
        reached, left, newton = -np.inf, np.inf, False  # the sums of both, and what the last step was
        while True:
            payoffs = [beyond + within for beyond, within in zip(low, inner.payoffs(value), strict=True)]
            self.limits.check(SOLVING, len(self.lower))
            solved = [self._matrix_game(state, k, each) for state, each in zip(component, payoffs, strict=True)]
            rows, columns = [g.row_strategy for g in solved], [g.column_strategy for g in solved]
            guaranteed, conceded = inner.guaranteed(rows, low), inner.conceded(columns, high)
            scale = max(_met(payoff, game) for payoff, game in zip(payoffs, solved, strict=True))
            rises = bool((secured := guaranteed.sum()) > reached + ROUNDING * scale)
            if secured > reached:
                lower, reached = guaranteed, secured
                for state, plan in zip(component, rows, strict=True):
                    self.attacker[state][:, k] = plan
            if (given := conceded.sum()) < left:
                upper, left = conceded, given
                for state, plan in zip(component, columns, strict=True):
                    self.defender[state][:, k] = plan
            before, gap = gap, float((upper - lower).max())
            # with its share of 1 − γ for each component, errors along a chain of them sum to the tolerance
            if gap <= inherited + (1.0 - inner.discount) * self.tolerance * scale:
                break
            if not newton and not rises and gap > ENOUGH * before:
                break
            newton = not newton or gap <= ENOUGH * before
            value = np.maximum(np.minimum(inner.played(rows, columns, low), upper), lower) if newton else lower
        self.stalled |= gap > inherited + self.tolerance * scale
        for i, state in enumerate(component):
            self.lower[state][k], self.upper[state][k] = lower[i], max(lower[i], upper[i])

    def _twins(self, component: list[State], low: list[FloatArray], high: list[FloatArray]) -> list[int]:
        """Return for each game the first one that is the same from here on: intents that have what they want are."""
        first: dict[bytes, int] = {}
        keys = []
        confined = [(state, options) for state in component if (options := self._confined[state]) is not None]
        for k in range(self.mixture.shape[1]):
            parts = [(part[:, :, k] + 0.0).tobytes() for part in (*low, *high)]  # no negative zeros
            parts += [self._rows(options, state, k).tobytes() for state, options in confined]
            keys.append(b"".join(parts))
            first.setdefault(keys[-1], k)
        return [first[key] for key in keys]

    def _copy(self, component: list[State], twin: int, k: int) -> None:
        """Take over for game k what was found for its twin."""
        for state in component:
            for found in (self.lower, self.upper):
                found[state][k] = found[state][twin]
            for plan in (self.attacker, self.defender):
                plan[state][:, k] = plan[state][:, twin]

    def _open(self, component: list[State]) -> None:
        n_games = self.mixture.shape[1]
        for state in component:
            n_a, n_d = self.game.stage(state).shape
            self._confined[state] = None if self._may_play_everything(state) else self.options
            self.lower[state], self.upper[state] = np.zeros(n_games), np.zeros(n_games)
            self.attacker[state], self.defender[state] = np.zeros((n_a, n_games)), np.zeros((n_d, n_games))

    def _may_play_everything(self, state: State) -> bool:
        options = self.options
        if options is None or self.game.is_terminal(state):
            return True
        return bool(options.attacker[state].all() and options.defender[state].all())

    def _payoffs(self, state: State, bound: dict[State, FloatArray]) -> FloatArray:
        """Reward plus discounted bound of what follows, indexed [a, d, k]."""
        stage = self.game.stage(state)
        after = stage.law @ np.array([bound[outcome.state] for outcome in stage.outcomes])
        payoffs: FloatArray = stage.reward @ self.mixture + self.game.discount * after.reshape(*stage.shape, -1)
        return payoffs

    def _matrix_game(self, state: State, k: int, payoff: FloatArray) -> MatrixGame:
        """Solve a stage game; where a side may not play everything, its opponent is ready for everything still."""
        options = self._confined[state]
        solved = matrix_game(payoff, self.limits) if options is None else self._restricted(options, state, k, payoff)
        self.lp_solves += solved.by_lp
        return solved

    def _matrix_games(
        self, state: State, those: IntArray, at: IntArray, payoffs: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Solve the stage games [k, a, d] of some of `those` games; return both strategies, [k, a] and [k, d]."""
        if self._confined[state] is None and len(at) > FEW and payoffs[0].size < LARGE:
            self.limits.check(SOLVING, len(self.lower))
            solved = matrix_games(payoffs, self.limits)
            self.lp_solves += solved.by_lp
            return solved.row_strategy, solved.column_strategy
        each: list[MatrixGame] = []
        for k, payoff in zip(those[at].tolist(), payoffs, strict=True):
            self.limits.check(SOLVING, len(self.lower))
            each.append(self._matrix_game(state, k, payoff))
        return np.array([one.row_strategy for one in each]), np.array([one.column_strategy for one in each])

    def _rows(self, options: Options, state: State, k: int) -> BoolArray:
        """Tell which actions every intent of game k may play, [a]."""
        rows: BoolArray = (options.attacker[state] | (self.mixture[:, k] == 0)).all(axis=1)
        return rows

    def _restricted(self, options: Options, state: State, k: int, payoff: FloatArray) -> MatrixGame:
        rows = self._rows(options, state, k)
        columns = options.defender[state]
        if rows.all() and columns.all():
            return matrix_game(payoff, self.limits)
        if not rows.any():  # of a mixture: no action suits every intent
            rows = np.ones_like(rows)
        x, y = np.zeros(len(rows)), np.zeros(len(columns))
        both = matrix_game(payoff[np.ix_(rows, columns)], self.limits)
        x[rows], y[columns] = both.row_strategy, both.column_strategy
        value, gap = float((x @ payoff).min()), float((payoff @ y).max() - (x @ payoff).min())
        if gap <= both.gap + ROUNDING * (1.0 + abs(value)):
            return MatrixGame(value, x, y, gap, both.by_lp)
        below, above = (
            matrix_game(payoff[rows], self.limits),
            matrix_game(payoff[:, columns], self.limits),
        )  # what is left aside is a threat still
        x[rows], y[columns] = below.row_strategy, above.column_strategy
        return MatrixGame(below.value, x, y, above.value + above.gap - below.value, below.by_lp or above.by_lp)


def _met(payoff: FloatArray, solved: MatrixGame) -> float:
    """Return the largest |payoff| that the strategies of a stage game meet."""
    rows, columns = solved.row_strategy.nonzero()[0], solved.column_strategy.nonzero()[0]
    return float(np.abs(payoff[rows[:, None], columns]).max())
