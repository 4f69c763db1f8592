"""Strategies at play: an attacker and a defender that draw their actions, and an outsider's belief.

All three are told of a stage in the same words, ``observe(attacker_action, defender_action, outcome)``, and keep of it
what they may know: the attacker everything, the defender and the outsider the attacker's action only where the game
observes actions. None is told a reward.

What a strategy never meant to happen but the game allows is no error: memory goes on by the strategy's own rule. What
the game does not allow is an `InputError` that lists what it does.
"""

from __future__ import annotations

import numpy as np

from ncirl._typing import FloatArray, State
from ncirl.model.belief import plan_of
from ncirl.model.game import Game, Observes
from ncirl.model.stage import Outcome
from ncirl.strategies.public_state import Spectator, number_of
from ncirl.strategies.strategy import AttackerStrategy, DefenderStrategy, Memory

__all__ = ["Attacker", "Defender", "Observer", "Seed", "draw"]

Seed = int | np.random.SeedSequence | np.random.Generator


def draw(rng: np.random.Generator, weights: FloatArray) -> int:
    """Draw an index with probability proportional to its weight; never one of weight zero."""
    sums = np.cumsum(weights)
    return int(np.searchsorted(sums, rng.random() * sums[-1], side="right"))


class Attacker(Spectator):
    """Plays a strategy for one intent.

    Parameters
    ----------
    game : Game
        What is played.
    strategy : AttackerStrategy
        For every intent.
    intent : str
        The name of the one this attacker has.
    rng : int or Generator
        Seed of what is drawn.
    state : State, optional
        Where play starts, by label or description; needed when there are several start states.

    Raises
    ------
    InputError
        When the intent or the start state is not known.

    Examples
    --------
    >>> import ncirl
    >>> game = ncirl.games.aumann_maschler_1(horizon=2, discount=1.0)
    >>> attacker = ncirl.solve(game, ncirl.HistoryLP()).attacker(intent="t1", rng=1)
    >>> attacker.actions, attacker.mix.shape
    (('Top', 'Bottom'), (2,))
    >>> attacker.act() in attacker.actions
    True
    """

    def __init__(
        self, game: Game, strategy: AttackerStrategy, intent: str, rng: Seed = 0, *, state: State | None = None
    ) -> None:
        super().__init__(game, sees_attempts=True)
        self.intent = intent
        self._theta = number_of("intent", intent, game.intents)
        self._strategy = strategy
        self.reset(rng, state)

    def reset(self, rng: Seed | None = None, state: State | None = None) -> None:
        """Start a new play, with a new seed if one is given; without one what is drawn goes on."""
        self._start(state)
        if rng is not None:
            self._rng = np.random.default_rng(rng)
        options = self._strategy.begin(self._place)
        self._memory = options[draw(self._rng, np.array([p[self._theta] for _, p in options]))][0]

    @property
    def actions(self) -> tuple[str, ...]:
        """What can be done now."""
        return self._stage.attacker

    @property
    def mix(self) -> FloatArray:
        """The probability of each of `actions`."""
        self._playable()
        return self._strategy.policy(self._place, self._memory)[:, self._theta]

    def act(self) -> str:
        """Draw an action."""
        return self.actions[draw(self._rng, self.mix)]

    def observe(self, attacker_action: str | None, defender_action: str, outcome: Outcome | State) -> None:
        """Go on after a stage; `outcome` is an `Outcome`, or just its state where that leaves no doubt."""
        a, d, i = self._seen(attacker_action, defender_action, outcome)
        options = self._strategy.after(self._place, self._memory, a, d, i)
        self._memory = options[draw(self._rng, np.array([p[self._theta] for _, p in options]))][0]
        self._advance(i)


class Defender(Spectator):
    """Plays a defender's strategy; it is never told the intent, nor the attacker's action where that is not seen.

    Parameters
    ----------
    game : Game
        What is played.
    strategy : DefenderStrategy
        How.
    rng : int or Generator
        Seed of what is drawn.
    state : State, optional
        Where play starts, by label or description; needed when there are several start states.

    Raises
    ------
    InputError
        When the start state is not known.

    Examples
    --------
    >>> import ncirl
    >>> game = ncirl.games.aumann_maschler_1(horizon=2, discount=1.0)
    >>> defender = ncirl.solve(game, ncirl.HistoryLP()).defender(rng=1)
    >>> d = defender.act()
    >>> defender.observe("Top", d, "play")  # what happened: both actions, and the state that followed
    >>> defender.mix.sum().round(6)
    np.float64(1.0)
    """

    def __init__(self, game: Game, strategy: DefenderStrategy, rng: Seed = 0, *, state: State | None = None) -> None:
        super().__init__(game, sees_attempts=game.observes is Observes.ACTIONS)
        self._strategy = strategy
        self.reset(rng, state)

    def reset(self, rng: Seed | None = None, state: State | None = None) -> None:
        """Start a new play, with a new seed if one is given; without one what is drawn goes on."""
        self._start(state)
        if rng is not None:
            self._rng = np.random.default_rng(rng)
        options = self._strategy.begin(self._place)
        self._memory = options[draw(self._rng, np.array([p for _, p in options]))][0]

    @property
    def actions(self) -> tuple[str, ...]:
        """What can be done now."""
        return self._stage.defender

    @property
    def mix(self) -> FloatArray:
        """The probability of each of `actions`."""
        self._playable()
        return self._strategy.mix(self._place, self._memory)

    def act(self) -> str:
        """Draw an action."""
        return self.actions[draw(self._rng, self.mix)]

    def observe(self, attacker_action: str | None, defender_action: str, outcome: Outcome | State) -> None:
        """Go on after a stage; where outcomes are observed `attacker_action` is not looked at and may be None."""
        _, d, i = self._seen(attacker_action, defender_action, outcome)
        options = self._strategy.after(self._place, self._memory, d, i)
        self._memory = options[draw(self._rng, np.array([p for _, p in options]))][0]
        self._advance(i)


class Observer(Spectator):
    """The belief of an outsider who sees what the defender sees and knows the attacker's strategy.

    Holds the law of (memory, θ). An observation that the strategy makes impossible teaches nothing about θ: the belief
    stays, and memory goes on as if every action had been as likely as any other.

    Parameters
    ----------
    game : Game
        What is played.
    strategy : AttackerStrategy
        What the attacker is known to play.
    state : State, optional
        Where play starts, by label or description; needed when there are several start states.

    Raises
    ------
    InputError
        When the start state is not known.

    Examples
    --------
    >>> import ncirl
    >>> game = ncirl.games.patrol(horizon=2, discount=1.0)
    >>> observer = ncirl.solve(game, ncirl.HistoryLP()).observer(state=("m", "m"))
    >>> observer.belief  # P(θ | everything seen), of shape (Θ,)
    array([0.5, 0.5])
    """

    def __init__(self, game: Game, strategy: AttackerStrategy, *, state: State | None = None) -> None:
        super().__init__(game, sees_attempts=game.observes is Observes.ACTIONS)
        self._strategy = strategy
        self.reset(state)

    def reset(self, state: State | None = None) -> None:
        """Return to the prior at a start state."""
        self._start(state)
        prior = np.sum([start.mass for start in self._timed.starts if start.state == self._place], axis=0)
        self._law = {memory: p * prior / prior.sum() for memory, p in self._strategy.begin(self._place)}

    @property
    def belief(self) -> FloatArray:
        """P(θ | everything seen)."""
        mass = np.sum(list(self._law.values()), axis=0)
        belief: FloatArray = mass / mass.sum()
        return belief

    def observe(self, attacker_action: str | None, defender_action: str, outcome: Outcome | State) -> None:
        """Go on after a stage; where outcomes are observed `attacker_action` is not looked at and may be None."""
        _, d, i = self._seen(attacker_action, defender_action, outcome)
        caused: FloatArray = self._timed.observations(self._place).mass[[i]].toarray()[0]  # indexed [a]
        plans = {memory: plan_of(self._strategy.policy(self._place, memory), b) for memory, b in self._law.items()}
        law = self._moved({memory: caused[:, None] * plan for memory, plan in plans.items()}, d, i)
        if not sum(mass.sum() for mass in law.values()) > 0:
            law = self._moved({memory: np.outer(caused / caused.sum(), b) for memory, b in self._law.items()}, d, i)
        total = sum(mass.sum() for mass in law.values())
        self._law = {memory: mass / total for memory, mass in law.items() if mass.any()}
        self._advance(i)

    def _moved(self, masses: dict[Memory, FloatArray], d: int, i: int) -> dict[Memory, FloatArray]:
        """Carry masses [a, θ] by memory on to the next memories."""
        law: dict[Memory, FloatArray] = {}
        for memory, mass in masses.items():
            for a in np.flatnonzero(mass.any(axis=1)):
                for following, p in self._strategy.after(self._place, memory, int(a), d, i):
                    law[following] = law.get(following, 0.0) + mass[a] * p
        return law
