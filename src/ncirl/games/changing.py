"""Intents that change by a known chain K, privately, after every stage: two games around it whose intents do not.

The value of such a contest has the recursion of any other, with the posterior pushed through the chain,

    v̂(s, β) = max_A min_d  Σ_{a,θ} A(a,θ) r(s,a,d,θ) + γ Σ_i weight[i,d] v̂(s'_i, K'β_i),      β_i = mass[i] @ A,

but a point belief does not stay one, so corners, playbooks and certificates of this package do not fit it. With T
stages it lies between the values of two games that they do fit:

    forgetting    the attacker uses what it wants at first only:        r_t(θ)  =  Σ_θ' K^t(θ, θ') r(θ')
    foreseeing    it knows from the start all that it will want:        r_t(ω)  =  r(ω_t),    ω = (θ_0, …, θ_{T−1})

Laws are the same for all intents, so whoever plays as if it forgot is paid just that: what it secures there it secures
here. Whoever foresees can do all that whoever does not can: what a defender concedes there at most, it concedes here.
"""

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from ncirl._typing import FloatArray, State
from ncirl.errors import InputError, SizeError
from ncirl.model.game import Game, Start
from ncirl.model.stage import SUM_TOLERANCE, Stage

__all__ = ["foreseeing", "forgetting"]

MOST = 2000  # paths, and stages, that are told apart


@dataclass(frozen=True, eq=False)
class _Weighed:
    """The rule of a game whose states are (t, s) and whose rewards at stage t are ``r @ weights[t]``, [θ, new θ]."""

    game: Game
    weights: tuple[FloatArray, ...]

    def __call__(self, state: tuple[int, State]) -> Stage:
        """Return the stage played at (t, s)."""
        stage = self.game.timed().stage(state)
        if stage.is_terminal:
            return stage
        return replace(stage, pair=stage.reward @ self.weights[state[0]], outcome=None, branch=None)

    def describe(self, state: tuple[int, State]) -> str:
        """Say (t, s) to people, who are told the stage anyhow."""
        return self.game.describe(state[1])


def forgetting(game: Game, chain: ArrayLike) -> Game:
    """Return the contest in which the attacker uses only what it wanted at first; its value is a lower bound.

    Parameters
    ----------
    game : Game
        With a horizon; its rewards are those of the intent of the stage.
    chain : array_like of shape (Θ, Θ)
        K(θ, θ'): the probability that θ is followed by θ'.

    Raises
    ------
    InputError
        When the game has no horizon, or the chain is none.

    Examples
    --------
    >>> import ncirl
    >>> game = ncirl.games.patrol(horizon=2, discount=1.0)
    >>> chain = [[0.75, 0.25], [0.25, 0.75]]
    >>> below = ncirl.solve(ncirl.games.forgetting(game, chain), ncirl.HistoryLP())
    >>> above = ncirl.solve(ncirl.games.foreseeing(game, chain), ncirl.HistoryLP())
    >>> below.lower <= above.upper
    True
    """
    k, last = _checked(game, chain)
    rule = _Weighed(game, tuple(np.linalg.matrix_power(k, t).T for t in range(last)))
    starts = [Start((0, start.state), start.mass) for start in game.starts]
    return game.like(stage=rule, starts=starts, describe=rule.describe, name=f"{game.name}, forgetting")


def foreseeing(game: Game, chain: ArrayLike) -> Game:
    """Return the contest in which the attacker knows all that it will want; its value is an upper bound.

    Parameters
    ----------
    game : Game
        With a horizon; its rewards are those of the intent of the stage.
    chain : array_like of shape (Θ, Θ)
        K(θ, θ'): the probability that θ is followed by θ'.

    Returns
    -------
    Game
        Its intents are the paths of positive probability, such as ``t1 > t1 > t2``.

    Raises
    ------
    InputError
        When the game has no horizon, or the chain is none.
    SizeError
        When the intent may change in more than 2000 ways.

    Examples
    --------
    >>> import ncirl
    >>> game = ncirl.games.patrol(horizon=2, discount=1.0)
    >>> len(foreseeing(game, [[0.75, 0.25], [0.25, 0.75]]).intents)
    4
    """
    k, last = _checked(game, chain)
    paths: list[tuple[int, ...]] = [(i,) for i in range(len(k))]
    for _ in range(last - 1):
        paths = [(*path, int(j)) for path in paths for j in np.flatnonzero(k[path[-1]])]
        if len(paths) > MOST:
            raise SizeError(f"the intent may change in more than {MOST} ways; give the game a shorter horizon")
    chance = np.array([np.prod([k[i, j] for i, j in pairwise(path)]) for path in paths])
    first = np.array([path[0] for path in paths])
    rule = _Weighed(game, tuple(np.eye(len(k))[:, [path[t] for path in paths]] for t in range(last)))
    return game.like(
        stage=rule,
        starts=[Start((0, start.state), start.mass[first] * chance) for start in game.starts],
        describe=rule.describe,
        intents=tuple(" > ".join(game.intents[i] for i in path) for path in paths),
        name=f"{game.name}, foreseeing",
    )


def _checked(game: Game, chain: ArrayLike) -> tuple[FloatArray, int]:
    """Return the chain as a matrix whose rows sum to 1, and the number of stages."""
    k, n = np.asarray(chain, dtype=np.float64), len(game.intents)
    faults = []
    if k.shape != (n, n):
        faults.append(f"chain: a row of {n} probabilities for each of the {n} intents is needed")
    elif not ((k >= 0).all() and np.allclose(k.sum(axis=1), 1.0, atol=SUM_TOLERANCE, rtol=0.0)):
        faults.append("chain: every row must be probabilities that sum to 1")
    if game.horizon is None:
        faults.append("horizon: intents that change need one; cut the game with `with_horizon`")
    elif game.horizon > MOST:
        faults.append(f"horizon: at most {MOST} stages can be told apart, got {game.horizon}")
    if faults or game.horizon is None:
        raise InputError(faults, where=f"game '{game.name}'")
    return k / k.sum(axis=1, keepdims=True), game.horizon
