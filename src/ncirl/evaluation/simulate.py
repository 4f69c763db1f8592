"""Episodes drawn at random: the mean payoff of a pair of strategies with an interval, and records of what happened.

Each episode draws a start and an intent from P0, then plays. A game without a horizon is cut after n stages, when
γ^n R / (1 − γ) is small; the interval is widened by that much, so it is about the whole play. Intents and starts,
outcomes and either side are drawn from streams of their own (`strategies.streams`): the same seed gives the same
episodes, and other strategies meet the same intents.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import NormalDist
from typing import Any, TypeVar

import numpy as np

from ncirl._typing import FloatArray, IntArray, State
from ncirl.errors import InputError
from ncirl.evaluation.frames import data_frame
from ncirl.evaluation.stages import Tail
from ncirl.limits import UNLIMITED, Limits
from ncirl.model.game import Game
from ncirl.model.stage import Outcome
from ncirl.strategies.checked import checked_attacker, checked_defender
from ncirl.strategies.memory import drawn
from ncirl.strategies.strategy import AttackerStrategy, Controller, DefenderStrategy, Memory, attacking, defending
from ncirl.strategies.streams import Seed, stream

__all__ = ["Draws", "History", "Played", "Simulation", "Weighted", "around", "outcome_law", "simulate"]

T = TypeVar("T")
Weighted = tuple[Sequence[T], list[float]]  # what may be drawn, and the running sums of its weights


@dataclass(frozen=True)
class Played:
    """One stage as it happened; states are those of ``game.timed()``."""

    state: State
    attacker_action: str
    defender_action: str
    outcome: Outcome
    reward: float


@dataclass(frozen=True)
class History:
    """One episode as it happened, with the discounted sum of its rewards."""

    intent: str
    stages: tuple[Played, ...]
    payoff: float


@dataclass(frozen=True, eq=False)
class Simulation:
    """What was drawn.

    Attributes
    ----------
    mean, standard_error : float
        Of the discounted sums of rewards; the standard error of a single episode is infinite.
    interval : pair of float
        Holds the expected payoff with the confidence asked for (by the normal law), truncation included.
    truncation : float
        What the stages left out may add to or take from the expected payoff, at most.
    means : ndarray of shape (Θ,)
        The mean of each intent; NaN where none was drawn.
    counts : ndarray of shape (Θ,)
        Episodes of each intent.
    histories : tuple of History
        The first episodes, as many as were asked for.
    """

    mean: float
    standard_error: float
    interval: tuple[float, float]
    truncation: float
    means: FloatArray
    counts: IntArray
    histories: tuple[History, ...]

    def __repr__(self) -> str:
        low, high = self.interval
        episodes, kept = int(self.counts.sum()), len(self.histories)
        return f"Simulation({self.mean:.6g}, interval {low:.6g} to {high:.6g}, {episodes} episodes, {kept} kept)"

    def rows(self) -> list[dict[str, object]]:
        """Return a row a stage of the episodes that were kept."""
        return [
            {
                "episode": k,
                "intent": history.intent,
                "stage": t,
                "state": played.state,
                "attacker": played.attacker_action,
                "defender": played.defender_action,
                "next state": played.outcome.state,
                "signal": played.outcome.signal,
                "reward": played.reward,
            }
            for k, history in enumerate(self.histories)
            for t, played in enumerate(history.stages, start=1)
        ]

    def frame(self) -> Any:
        """Return `rows` as a pandas DataFrame; `InputError` when pandas is not installed."""
        return data_frame(self.rows())


def simulate(
    game: Game,
    attacker: AttackerStrategy,
    defender: DefenderStrategy,
    *,
    episodes: int,
    stages: int | None = None,
    rng: Seed | None = None,
    keep_histories: int = 0,
    confidence: float = 0.95,
    tolerance: float = 1e-4,
    limits: Limits = UNLIMITED,
) -> Simulation:
    """Play episodes and average.

    Parameters
    ----------
    game : Game
        With or without a horizon.
    attacker, defender : AttackerStrategy, DefenderStrategy
        For the public states of ``game.timed()``.
    episodes : int
        How many.
    stages : int, optional
        Count the payoffs of that many stages only.
    rng : int or Generator, optional
        Seed of what is drawn; without one every call draws anew.
    keep_histories : int
        How many episodes to return in full.
    confidence : float
        Probability with which the interval is to hold the expected payoff.
    tolerance : float
        What the cut of a game without a horizon may change, at most.
    limits : Limits
        Of time and memory; when time is up, the episodes drawn until then are what is averaged, one at least.

    Raises
    ------
    InputError
        When there are no episodes to draw, a number is out of range, or a strategy is malformed.

    Examples
    --------
    >>> import ncirl
    >>> from ncirl.strategies.strategy import uniform_attacker, uniform_defender
    >>> game = ncirl.games.aumann_maschler_1(horizon=4, discount=1.0)
    >>> drawn = simulate(game, uniform_attacker(game), uniform_defender(game), episodes=1000, rng=1)
    >>> drawn.interval[0] < 1.0 < drawn.interval[1]
    True
    """
    if episodes < 1:
        raise InputError(f"episodes: at least one is needed, got {episodes}")
    if not 0 < confidence < 1:
        raise InputError(f"confidence: must lie between 0 and 1, got {confidence:g}")
    tail = Tail(game, stages, tolerance, limits)
    players = checked_attacker(game, attacker), checked_defender(game, defender)
    table = _Episodes(game.timed(), *players, rng)
    payoffs, intents = np.zeros(episodes), np.zeros(episodes, dtype=np.intp)
    histories = []
    for k in range(episodes):
        if k and limits.passed:
            episodes, payoffs, intents = k, payoffs[:k], intents[:k]
            break
        kept: list[Played] | None = [] if k < keep_histories else None
        intents[k], payoffs[k] = table.play(tail.stages, kept)
        if kept is not None:
            histories.append(History(game.intents[intents[k]], tuple(kept), float(payoffs[k])))
    mean = float(payoffs.mean())
    standard_error = float(payoffs.std(ddof=1) / np.sqrt(episodes)) if episodes > 1 else np.inf
    truncation = tail.bound(tail.stages)
    interval = around(mean, standard_error, confidence, (-truncation, truncation))
    counts = np.bincount(intents, minlength=len(game.intents))
    sums = np.bincount(intents, payoffs, minlength=len(game.intents))
    means = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
    return Simulation(mean, standard_error, interval, truncation, means, counts, tuple(histories))


def around(mean: float, standard_error: float, confidence: float, left_out: tuple[float, float]) -> tuple[float, float]:
    """Return the interval that holds what is expected of whole plays, of which the mean is of some, cut short.

    It holds it with the confidence asked for, by the normal law; `left_out` bounds what the rest of a play brings, on
    average. This is what a confidence interval means, whatever was played.
    """
    reach = NormalDist().inv_cdf((1 + confidence) / 2) * standard_error
    return mean - reach + left_out[0], mean + reach + left_out[1]


class _Episodes:
    """Everything that is drawn from, kept as running sums once it was needed."""

    def __init__(self, game: Game, attacker: AttackerStrategy, defender: DefenderStrategy, rng: Seed | None) -> None:
        self.game = game
        self.begins, self.falls = stream(rng, "nature", 0).random, stream(rng, "nature", 1).random
        self.attacks, self.defends = stream(rng, "attacker").random, stream(rng, "defender").random
        self.starts = _numbered(np.array([start.mass for start in game.starts]).ravel())
        self.attackers = [Draws(attacking(attacker, theta)) for theta in range(len(game.intents))]
        self.defender = Draws(defending(defender))
        self.law = outcome_law(game)
        self.reward = cache(lambda s, a, d, o: game.stage(s).realised(a, d, o).tolist())

    def play(self, stages: int, kept: list[Played] | None) -> tuple[int, float]:
        """Play an episode; return the intent and the payoff, and record the stages in `kept`."""
        game, pick = self.game, _picked
        k, theta = divmod(pick(self.starts, self.begins), len(game.intents))
        state: State = game.starts[k].state
        payoff, discount = 0.0, 1.0
        if game.is_terminal(state):
            return theta, payoff
        attacker, defender = self.attackers[theta], self.defender
        m, n = pick(attacker.begin(state), self.attacks), pick(defender.begin(state), self.defends)
        for _ in range(stages):
            stage = game.stage(state)
            if stage.is_terminal:
                break
            a, d = pick(attacker.mix(state, m), self.attacks), pick(defender.mix(state, n), self.defends)
            o, i = pick(self.law(state, a, d), self.falls)
            reward = self.reward(state, a, d, o)[theta]
            payoff += discount * reward
            discount *= game.discount
            if kept is not None:
                kept.append(Played(state, stage.attacker[a], stage.defender[d], stage.outcomes[o], reward))
            m = pick(attacker.after(state, m, a, d, i), self.attacks)
            n = pick(defender.after(state, n, -1, d, i), self.defends)  # which does not depend on what it may not see
            state = stage.outcomes[o].state
        return theta, payoff


class Draws:
    """What one side draws from, as running sums that are kept once they were needed."""

    def __init__(self, controller: Controller) -> None:
        self.begin = cache(lambda state: _weighted(controller.begin(state)))
        self.mix = cache(lambda state, memory: _numbered(controller.mix(state, memory)))
        self.after = cache(lambda *told: _weighted(controller.after(*told)))


def outcome_law(game: Game) -> Callable[[State, int, int], Weighted[tuple[int, int]]]:
    """Return what (o, i) is drawn from, the outcome and what is seen of it, by state, a and d."""

    def law(state: State, a: int, d: int) -> Weighted[tuple[int, int]]:
        outcomes, chances = game.stage(state).outcome_law(a, d)
        seen = game.observations(state)
        return [(o, seen.index(a, d, o)) for o in outcomes.tolist()], np.cumsum(chances).tolist()

    return cache(law)


def _picked(options: Weighted[T], uniform: Callable[[], float]) -> T:
    found, sums = options
    return found[drawn(sums, uniform())] if len(found) > 1 else found[0]


def _numbered(weights: FloatArray) -> Weighted[int]:
    return range(len(weights)), np.cumsum(weights).tolist()


def _weighted(options: Sequence[tuple[Memory, float]]) -> Weighted[Memory]:
    return [memory for memory, _ in options], np.cumsum([p for _, p in options]).tolist()
