r"""A defence that does not learn: its odds depend on the public state and the stage, on nothing else that was seen.

With odds x_s(d), an attacker of intent θ who answers them best gets

    V_θ(s) = max_a Σ_d x_s(d) ( r(s, a, d, θ) + γ Σ_o q(o | s, a, d) V_θ(s') ),     C(x) = Σ_θ P0(θ) V_θ(s0).

C(x) is at least the value of the game, since x is a defence. So learning is worth C(x) − v at most, for every x. The
least C(x) is sought among the x by two ways in turn; it is no convex problem, so the least found may not be the least.

1. Rounds. Backwards, x_s solves P_D with one vector, V, at each successor, and with the weight w_s(θ) for a belief: how
   often the best answers so far came to s with θ, on average over the rounds.
2. Descent. With θ's best answer fixed, C is multilinear, and its slope in x_s is Σ_θ w_s(θ) Q_θ(s, a*_θ, ·). A step
   multiplies the odds by exp(−step · slope).
"""

from dataclasses import dataclass

import numpy as np

from ncirl._typing import FloatArray, State
from ncirl.errors import InputError
from ncirl.lp.defender import DefenderProgram
from ncirl.lp.state_arrays import StateArrays
from ncirl.lp.stores import FixedVectors
from ncirl.model.game import Game
from ncirl.model.order import components
from ncirl.strategies.strategy import StationaryDefender

__all__ = ["MarkovDefence", "markov_defence"]

ROUNDS, FORGET = 20, 0.6  # how many; round k counts k^-FORGET of the average
STEPS, STEP = 100, 3.0  # of the descent, the k-th of size STEP / √k
MIXED = 1e-3  # of the odds is spread evenly before the descent, for odds of 0 stay 0


@dataclass(frozen=True, eq=False)
class MarkovDefence:
    """Odds by public state and stage, and what they concede.

    Attributes
    ----------
    strategy : StationaryDefender
    per_intent : ndarray of shape (Θ,)
        What the attacker of each intent gets who answers best, on average over the starts.
    concedes : float
        The same on average over the intents: no less than the value of the game.
    """

    strategy: StationaryDefender
    per_intent: FloatArray
    concedes: float


def markov_defence(game: Game) -> MarkovDefence:
    """Seek the defence that concedes least among those that do not learn.

    Parameters
    ----------
    game : Game
        With a horizon, or one whose play never comes back to a public state.

    Raises
    ------
    InputError
        When play may come back to a public state.

    Examples
    --------
    Two stages of Aumann and Maschler's first game are worth 3/4 to the attacker; 1 if the defender does not learn.

    >>> import ncirl
    >>> game = ncirl.games.aumann_maschler_1(horizon=2, discount=1.0)
    >>> round(markov_defence(game).concedes, 4)
    1.0
    """
    played = _Played(game.timed())
    best = played.uniform()
    average: FloatArray = np.zeros(0)
    for k in range(ROUNDS):
        weight = average if k else np.tile(played.prior, (len(played.states), 1))
        odds = played.answered(weight)
        best = min(best, odds, key=lambda each: each.concedes)
        share = 1.0 / (k + 1) ** FORGET
        average = (1.0 - share) * weight + share * played.visits(odds) if k else played.visits(odds)
    for begun in (best, played.uniform()):
        odds = played.evaluated([(1.0 - MIXED) * x + MIXED / len(x) for x in begun.odds])
        for k in range(STEPS):
            odds = played.evaluated(played.descended(odds, STEP / np.sqrt(k + 1)))
            best = min(best, odds, key=lambda each: each.concedes)
    mixes = dict(zip(played.states, best.odds, strict=True))
    per_intent: FloatArray = np.divide(best.gains, played.prior, out=np.zeros_like(best.gains), where=played.prior > 0)
    return MarkovDefence(StationaryDefender(mixes), per_intent, best.concedes)


@dataclass(frozen=True, eq=False)
class _Odds:
    """The odds of each state, what follows them, and what they concede."""

    odds: list[FloatArray]  # x_s[d]
    payoffs: list[FloatArray]  # Q[a, d, θ] of each state, against who answers best afterwards
    answers: list[FloatArray]  # a*_θ
    gains: FloatArray  # P0(θ) V_θ(s0), summed over the starts

    @property
    def concedes(self) -> float:
        return float(self.gains.sum())


class _Played:
    """The states of a game that ends, successors first, and how odds fare in it."""

    def __init__(self, game: Game) -> None:
        order = components(game)
        if any(len(part) > 1 for part in order) or any(
            state in {outcome.state for outcome in game.stage(state).outcomes} for (state,) in order
        ):
            raise InputError(
                "play may come back to a public state; give the game a horizon", where=f"game '{game.name}'"
            )
        self.game = game
        self.states: list[State] = [state for (state,) in order if not game.is_terminal(state)]
        number = {state: k for k, state in enumerate(self.states)}
        self.arrays = [StateArrays.of(game, state, number) for state in self.states]
        self.stages = [game.stage(state) for state in self.states]
        self.after = [[number.get(outcome.state) for outcome in stage.outcomes] for stage in self.stages]
        self.start: FloatArray = np.zeros((len(self.states), len(game.intents)))
        for start in game.starts:
            if start.state in number:
                self.start[number[start.state]] += start.mass
        self.prior: FloatArray = sum((start.mass for start in game.starts), np.zeros(len(game.intents)))

    def uniform(self) -> _Odds:
        return self.evaluated([np.full(arrays.n_d, 1.0 / arrays.n_d) for arrays in self.arrays])

    def answered(self, weight: FloatArray) -> _Odds:
        """Choose the odds that are best where each intent comes as often as `weight` says, [s, θ]."""
        return self._backwards(weight)

    def evaluated(self, odds: list[FloatArray]) -> _Odds:
        return self._backwards(odds)

    def _backwards(self, given: FloatArray | list[FloatArray]) -> _Odds:
        values: FloatArray = np.zeros((len(self.states) + 1, len(self.game.intents)))  # the last: where play ends
        odds, payoffs, answers = [], [], []
        for k, arrays in enumerate(self.arrays):
            x = given[k] if isinstance(given, list) else self._chosen(arrays, given[k], values)
            ahead = values[[-1 if j is None else j for j in self.after[k]]]
            payoff = arrays.reward + self.game.discount * (self.stages[k].law @ ahead).reshape(arrays.reward.shape)
            gains = np.einsum("adt,d->at", payoff, x)
            values[k] = gains.max(axis=0)
            odds.append(x)
            payoffs.append(payoff)
            answers.append(gains.argmax(axis=0))
        return _Odds(odds, payoffs, answers, (self.start * values[:-1]).sum(axis=0))

    def _chosen(self, arrays: StateArrays, weight: FloatArray, values: FloatArray) -> FloatArray:
        belief = weight / weight.sum() if weight.sum() > 0 else self.prior
        vectors = FixedVectors.of({j: values[[j]] for j in arrays.successors}, arrays.n_t)
        return DefenderProgram(arrays, vectors.stores, self.prior).at_belief(belief).mix

    def visits(self, odds: _Odds) -> FloatArray:
        """Return how often each intent comes to each state, discounted, when it answers best, [s, θ]."""
        found = self.start.copy()
        for k in reversed(range(len(self.states))):
            stage, n_d = self.stages[k], self.arrays[k].n_d
            for t in np.flatnonzero(found[k]).tolist():
                first = int(odds.answers[k][t]) * n_d
                chances = odds.odds[k] @ stage.law[first : first + n_d]
                for j, chance in zip(self.after[k], chances.tolist(), strict=True):
                    if j is not None:
                        found[j, t] += self.game.discount * found[k, t] * chance
        return found

    def descended(self, given: _Odds, step: float) -> list[FloatArray]:
        """Take a step of mirror descent at every state that is met."""
        weight, found = self.visits(given), []
        for k, x in enumerate(given.odds):
            total = weight[k].sum()
            if total > 0:
                every = np.arange(len(weight[k]))
                slope = weight[k] / total @ given.payoffs[k][given.answers[k], :, every]
                x = x * np.exp(-step * (slope - slope @ x))
                x = x / x.sum()
            found.append(x)
        return found
