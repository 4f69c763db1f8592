"""Strategies at play: an attacker and a defender that draw their actions, and an outsider's belief.

All three are told of a stage in the same words, ``observe(attacker_action, defender_action, outcome)``, and keep of it
what they may know: the attacker everything, the defender and the outsider the attacker's action only where the game
observes actions. None is told a reward.

What a strategy never meant to happen but the game allows is no error: memory goes on by the strategy's own rule. What
the game does not allow is an `InputError` that lists what it does.
"""

import numpy as np

from ncirl._typing import FloatArray, State
from ncirl.model.game import Game, Observes
from ncirl.model.stage import Outcome
from ncirl.strategies.checked import checked_attacker, checked_defender
from ncirl.strategies.memory import draw, filtered, picked
from ncirl.strategies.public_state import PublicState, number_of
from ncirl.strategies.strategy import AttackerStrategy, Controller, DefenderStrategy, Memory, attacking, defending
from ncirl.strategies.streams import Role, Seed, stream

__all__ = ["Attacker", "Defender", "Observer"]


class _Player(PublicState):
    """Draws what a controller does and remembers."""

    def __init__(
        self, game: Game, controller: Controller, rng: Seed | None, state: State | None, *, attacks: bool
    ) -> None:
        super().__init__(game, sees_attempts=attacks or game.observes is Observes.ACTIONS)
        self._controller, self._attacks = controller, attacks
        self._role: Role = "attacker" if attacks else "defender"
        self._rng = stream(rng, self._role)
        self._memory: Memory = None
        self.reset(state=state)

    def reset(self, rng: Seed | None = None, state: State | None = None) -> None:
        """Start a new play, with a new seed if one is given; without one what is drawn goes on."""
        self._start(state)
        if rng is not None:
            self._rng = stream(rng, self._role)
        self._memory = picked(self._rng, self._controller.begin(self._timed_state))

    @property
    def actions(self) -> tuple[str, ...]:
        """What can be done now."""
        return self._stage.attacker if self._attacks else self._stage.defender

    @property
    def mix(self) -> FloatArray:
        """The probability of each of `actions`."""
        self._playable()
        return self._controller.mix(self._timed_state, self._memory)

    def act(self) -> str:
        """Draw an action."""
        return self.actions[draw(self._rng, self.mix)]

    def observe(self, attacker_action: str | None, defender_action: str, outcome: Outcome | State) -> None:
        """Go on after a stage.

        `outcome` is an `Outcome`, or just its state where that leaves no doubt. Where outcomes are observed a defender
        does not look at `attacker_action`, and it may be None.
        """
        a, d, i = self._seen(attacker_action, defender_action, outcome)
        self._memory = picked(self._rng, self._controller.after(self._timed_state, self._memory, a, d, i))
        self._advance(i)


class Attacker(_Player):
    """Plays a strategy for one intent.

    Parameters
    ----------
    game : Game
        What is played.
    strategy : AttackerStrategy
        For every intent.
    intent : str
        The name of the one this attacker has.
    rng : int or Generator, optional
        Seed of what is drawn, another stream than the defender's of the same seed; what nobody can foresee by default.
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
        self,
        game: Game,
        strategy: AttackerStrategy,
        intent: str,
        rng: Seed | None = None,
        *,
        state: State | None = None,
    ) -> None:
        self.intent = intent
        theta = number_of("intent", intent, game.intents)
        super().__init__(game, attacking(checked_attacker(game, strategy), theta), rng, state, attacks=True)

    def _own_repr(self) -> list[str]:
        return [f"intent '{self.intent}'"]


class Defender(_Player):
    """Plays a defender's strategy; it is never told the intent, nor the attacker's action where that is not seen.

    Parameters
    ----------
    game, strategy, rng, state
        As for `Attacker`; the strategy is a defender's.

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

    def __init__(
        self, game: Game, strategy: DefenderStrategy, rng: Seed | None = None, *, state: State | None = None
    ) -> None:
        super().__init__(game, defending(checked_defender(game, strategy)), rng, state, attacks=False)


class Observer(PublicState):
    """The belief of an outsider who sees what the defender sees and knows the attacker's strategy.

    Holds the law of (memory, θ). An observation that the strategy makes impossible teaches nothing about θ: the belief
    stays, and memory goes on as if every action had been as likely as any other.

    Parameters
    ----------
    game, strategy, state
        As for `Attacker`; the strategy is what the attacker is known to play.

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
        self._strategy = checked_attacker(game, strategy)
        self.reset(state)

    def reset(self, state: State | None = None) -> None:
        """Return to the prior at a start state."""
        self._start(state)
        prior = np.sum([start.mass for start in self._timed.starts if start.state == self._timed_state], axis=0)
        self._law = {memory: p * prior / prior.sum() for memory, p in self._strategy.begin(self._timed_state)}

    def _own_repr(self) -> list[str]:
        return [f"belief {self.belief.round(3).tolist()}"]

    @property
    def belief(self) -> FloatArray:
        """P(θ | everything seen)."""
        mass = np.sum(list(self._law.values()), axis=0)
        belief: FloatArray = mass / mass.sum()
        return belief

    def observe(self, attacker_action: str | None, defender_action: str, outcome: Outcome | State) -> None:
        """Go on after a stage; where outcomes are observed `attacker_action` is not looked at and may be None."""
        _, d, i = self._seen(attacker_action, defender_action, outcome)
        self._law = filtered(
            self._law,
            self._timed.observations(self._timed_state).mass[[i]].toarray()[0],
            lambda memory: self._strategy.policy(self._timed_state, memory),
            lambda memory, a: self._strategy.after(self._timed_state, memory, a, d, i),
        )
        self._advance(i)
