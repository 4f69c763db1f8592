"""One side of a game as a Gymnasium environment, against a given strategy of the other.

Importing this module registers the built-in games, ``gymnasium.make("ncirl/patrol-attack-v2", defender=strategy)`` and
``gymnasium.make("ncirl/patrol-defend-v2", attacker=strategy)``; without a strategy the opponent does everything equally
often. Observations are the vectors of `ncirl.adapters.contest`, which also says what cutting and ending by chance mean
for discounting. ``info["action_mask"]`` marks the actions there are; ``info["situation"]`` is the number s of the table
``P[s][a]``, which exists where the opponent's play depends on nothing but the public state.
"""

from abc import abstractmethod
from functools import cached_property, partial
from typing import Any, ClassVar, TypedDict, Unpack

import numpy as np

from ncirl.adapters.contest import VERSION, NumberedPlay, Table, Vector, attack_table, defence_table
from ncirl.errors import InputError
from ncirl.formats.load import PREFIX
from ncirl.games import BUILTIN
from ncirl.model.belief import prior_of
from ncirl.model.game import Game
from ncirl.strategies.memory import draw, picked
from ncirl.strategies.public_state import number_of
from ncirl.strategies.strategy import (
    AttackerStrategy,
    Controller,
    DefenderStrategy,
    Memory,
    attacking,
    defending,
    uniform_attacker,
    uniform_defender,
)
from ncirl.strategies.streams import stream

try:
    import gymnasium
    from gymnasium.spaces import MultiDiscrete

    from ncirl.adapters.possible import Possible
except ImportError:
    raise InputError("environments need Gymnasium; install it with `pip install 'ncirl[envs]'`") from None

__all__ = ["VERSION", "AttackEnv", "DefendEnv"]


class Settings(TypedDict, total=False):
    """What both views can be told besides the game and the opponent, by name."""

    intent: str | None
    max_cycles: int | None
    ends_by_chance: bool
    render_mode: str | None


class _OneSide(gymnasium.Env[Vector, np.int64]):
    """What both views share: the play, and who sees what of it."""

    metadata: dict[str, Any] = {"render_modes": ["ansi"], "render_fps": 1}  # noqa: RUF012 - as the base class has it
    attacks: ClassVar[bool]

    def __init__(
        self,
        game: Game | str,
        *,
        intent: str | None = None,
        max_cycles: int | None = None,
        ends_by_chance: bool = False,
        render_mode: str | None = None,
    ) -> None:
        self.contest = NumberedPlay(game, max_cycles, ends_by_chance)
        self.render_mode = render_mode
        self.observation_space = MultiDiscrete(self.contest.fields(self.attacks))
        n_actions = self.contest.n_attacker if self.attacks else self.contest.n_defender
        self.action_space = Possible(n_actions, partial(self.contest.mask, self.attacks))
        self._intent = None if intent is None else number_of("intent", intent, self.contest.game.intents)
        if self._intent is not None and not prior_of(self.contest.game)[self._intent] > 0:
            raise InputError(f"intent: the prior rules '{intent}' out; give one that can occur")
        self._memory: Memory = None

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Vector, dict[str, Any]]:
        """Start a new play; the same seed plays the same."""
        super().reset(seed=seed)
        if seed is not None:  # so that a player made from the same seed draws other numbers
            self.np_random = stream(seed, "nature")
        self.contest.reset(self.np_random, self._intent)
        self._controller = self._opponent()
        if not self.contest.over:
            self._memory = picked(self.np_random, self._controller.begin(self.contest.state))
        return self.contest.seen(self.attacks), self._info()

    def step(self, action: np.int64 | int) -> tuple[Vector, float, bool, bool, dict[str, Any]]:
        """Play a stage; a number that the mask forbids is an `InputError`."""
        gain = 0.0
        if not self.contest.over:
            gain = self._stage(int(action))
        return (
            self.contest.seen(self.attacks),
            gain if self.attacks else -gain,
            self.contest.over,
            self.contest.cut,
            self._info(),
        )

    def render(self) -> str | None:
        """Return the public state in words, where a render mode was asked for."""
        return None if self.render_mode is None else self.contest.timed.describe(self.contest.state)

    @cached_property
    def P(self) -> Table:
        """``P[s][a]``: a list of (probability, next s, reward, whether play ends), s as in ``info["situation"]``.

        Raises
        ------
        InputError
            When the opponent's play depends on more than the public state, such as a memory or a hidden intent.
        """
        return self._table()

    def _stage(self, own: int) -> float:
        contest = self.contest
        state = contest.state
        self.contest.check("attacker" if self.attacks else "defender", own)
        other = draw(self.np_random, self._controller.mix(state, self._memory))
        a, d = (own, other) if self.attacks else (other, own)
        o, gain = contest.step(a, d)
        if not contest.over:
            i = contest.timed.observations(state).index(a, d, o)
            self._memory = picked(self.np_random, self._controller.after(state, self._memory, a, d, i))
        return gain

    def _info(self) -> dict[str, Any]:
        situation = self.contest.number
        if self.attacks:
            situation += self.contest.intent * len(self.contest.states)
        return {"action_mask": self.contest.mask(self.attacks), "situation": situation}

    @abstractmethod
    def _table(self) -> Table:
        """Return the table."""

    @abstractmethod
    def _opponent(self) -> Controller:
        """Return how the other side plays, whose intent is known to the play only."""


class AttackEnv(_OneSide):
    """Attack a defender whose strategy is given.

    Parameters
    ----------
    game : Game or str
        With or without a horizon; a text is ``builtin:NAME`` or the path of a file.
    defender : DefenderStrategy, optional
        The opponent, such as ``solution.defender_strategy()``; one that does everything equally often by default.

    Other Parameters
    ----------------
    intent : str, optional
        The attacker's; drawn from the prior at each reset by default.
    max_cycles : int, optional
    ends_by_chance : bool, optional
        As for `ncirl.adapters.contest.NumberedPlay`.

    Examples
    --------
    >>> import ncirl
    >>> game = ncirl.games.patrol(horizon=2, discount=1.0)
    >>> env = AttackEnv(game, ncirl.solve(game, ncirl.HistoryLP()).defender_strategy())
    >>> observation, info = env.reset(seed=0)
    >>> info["action_mask"].tolist()
    [1, 1]
    """

    attacks = True

    def __init__(
        self, game: Game | str, defender: DefenderStrategy | None = None, **settings: Unpack[Settings]
    ) -> None:
        super().__init__(game, **settings)
        self.defender = uniform_defender(self.contest.game) if defender is None else defender

    def _table(self) -> Table:
        return attack_table(self.contest, self.defender)

    def _opponent(self) -> Controller:
        return defending(self.defender)


class DefendEnv(_OneSide):
    """Defend against an attacker whose strategy is given; its intent is drawn at each reset and never shown.

    Parameters
    ----------
    game : Game or str
        As for `AttackEnv`.
    attacker : AttackerStrategy, optional
        The opponent, such as ``solution.attacker_strategy()``; one that tries everything equally often by default.

    Other Parameters
    ----------------
    intent : str, optional
        The opponent's; drawn from the prior at each reset by default.
    max_cycles : int, optional
    ends_by_chance : bool, optional
        As for `AttackEnv`.

    Examples
    --------
    >>> import ncirl
    >>> env = DefendEnv(ncirl.games.aumann_maschler_1(discount=0.5))
    >>> env.reset(seed=0)[0].tolist()
    [0, 0, 0, 0]
    """

    attacks = False

    def __init__(
        self, game: Game | str, attacker: AttackerStrategy | None = None, **settings: Unpack[Settings]
    ) -> None:
        super().__init__(game, **settings)
        self.attacker = uniform_attacker(self.contest.game) if attacker is None else attacker

    def _table(self) -> Table:
        return defence_table(self.contest, self.attacker, self._intent)

    def _opponent(self) -> Controller:
        return attacking(self.attacker, self.contest.intent)


for _name in BUILTIN:
    for _verb, _view in (("attack", AttackEnv), ("defend", DefendEnv)):
        gymnasium.register(
            f"ncirl/{_name}-{_verb}-v{VERSION}",
            entry_point=f"{__name__}:{_view.__name__}",
            kwargs={"game": f"{PREFIX}{_name}"},
        )
