"""A play is its contest, role, intent, seed and moves; this module replays it.

Runs in a sandbox only. Nothing is kept for a visitor. `PlayCache` only remembers the latest plays so that the next move
need not start over; what it has forgotten is replayed, with the same result.
"""

from collections import OrderedDict
from collections.abc import Callable, Sized
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Generic, Literal, Protocol, TypeVar

import numpy as np

from ncirl._typing import FloatArray
from ncirl.errors import InputError
from ncirl.model.belief import plan_of
from ncirl.strategies.players import Observer
from ncirl.strategies.public_state import number_of
from ncirl.web.playable import PlayablePolicy, Position
from ncirl.web.sampling import draw_uniforms

__all__ = ["EndReason", "Move", "Opponent", "Play", "PlayCache", "PlayKey", "Playing", "Role", "StagePlayed", "Told"]

EndReason = Literal["terminal", "horizon", "cap"]


class Role(StrEnum):
    """Who the player is."""

    ATTACKER = "attacker"
    DEFENDER = "defender"
    WATCH = "watch"
    TOLD = "told"  # of a whole attack graph: says what happened elsewhere, and takes advice


@dataclass(frozen=True)
class Told:
    """A stage that was played elsewhere: exploits attempted and blocked, what was enabled, alerts that rang."""

    attempted: tuple[str, ...] = ()
    blocked: tuple[str, ...] | None = None  # what was drawn, if not given
    new: tuple[str, ...] = ()
    alerts: tuple[str, ...] = ()


Move = str | tuple[str, ...] | Told | None  # an action, its exploits, what happened, or whatever the strategy draws


class Opponent(StrEnum):
    """Whom compared defenders meet."""

    CERTIFIED = "certified"
    BEST_RESPONSE = "best-response"


class Belief(Observer):
    """An outsider's belief that can also tell what the certified attacker would do now."""

    @property
    def attempts(self) -> FloatArray:
        """P(a | everything seen), indexed [a]."""
        plans = [plan_of(self._strategy.policy(self._timed_state, m), b).sum(axis=1) for m, b in self._law.items()]
        mass = np.sum(plans, axis=0)
        chances: FloatArray = mass / mass.sum()
        return chances

    def saw(self, a: int, d: int, o: int) -> bool:
        """Go on after a stage told by number; return whether the certified attacker makes it impossible to see."""
        stage, seen = self._stage, self._timed.observations(self._timed_state)
        i, mass = seen.index(a, d, o), seen.mass
        row = slice(mass.indptr[i], mass.indptr[i + 1])
        surprise = not float(mass.data[row] @ self.attempts[mass.indices[row]]) > 0
        self._told = a, d, i
        self.observe(stage.attacker[a], stage.defender[d], stage.outcomes[o])
        return surprise

    def _seen(self, *_: object, **__: object) -> tuple[int, int, int]:
        """Return what was told: nothing has to be recognised, which in large stages would take long."""
        return self._told


@dataclass(frozen=True, eq=False)
class StagePlayed:
    """A stage as it happened; `belief` is what is believed after it, `surprise` what the attacker would never show."""

    before: Position
    after: Position
    a: int
    d: int
    signal: str | None
    reward: float
    belief: FloatArray
    surprise: bool


class Play:
    """One play, as far as the moves of one role go; the seed fixes all that is drawn, also an intent not given."""

    def __init__(self, policy: PlayablePolicy, role: Role, intent: str | None, seed: int) -> None:
        self.policy, self.role, self.seed = policy, role, seed
        chosen = None if intent is None else number_of("intent", intent, policy.game.intents)
        self._uniforms = draw_uniforms(seed, policy.stages)
        self.theta, self._at = policy.sampler.begin(chosen, self._uniforms[0])
        self._belief = Belief(policy.game, policy.attacker, state=self._at.place)
        self.prior = self.belief
        self.stages: list[StagePlayed] = []

    @property
    def intent(self) -> str:
        """What the attacker is after."""
        return self.policy.game.intents[self.theta]

    @property
    def position(self) -> Position:
        """Where it stands."""
        return self.policy.position(self._at.place)

    @property
    def belief(self) -> FloatArray:
        """P(θ | everything seen), if the attacker plays its certified strategy."""
        return self._belief.belief

    @property
    def attempts(self) -> FloatArray:
        """The chance of each attack now, if the attacker plays its certified strategy."""
        return self._belief.attempts

    @property
    def defences(self) -> FloatArray:
        """The chance of each defence now, as the certified defender draws it."""
        return self.policy.defender.mix(self._at.place, self._at.defender)

    @property
    def promise(self) -> FloatArray | None:
        """What an attacker of each intent gets at most from here on against the certified defender, [θ]."""
        node = self._at.defender
        return self.policy.solution.defender_playbook.claims[node] if isinstance(node, int) else None

    @property
    def ended(self) -> EndReason | None:
        """Why it is over; None while it is not."""
        if self.position.stage.is_terminal:
            cut = self.policy.game.horizon is not None and len(self.stages) == self.policy.game.horizon
            return "horizon" if cut else "terminal"
        return "cap" if len(self.stages) >= self.policy.stages else None

    @property
    def payoff(self) -> float:
        """What the attacker has got, discounted."""
        return sum(self.policy.game.discount**t * stage.reward for t, stage in enumerate(self.stages))

    def step(self, move: Move) -> None:
        """Play a stage; a move of None leaves it to the certified strategy, one that cannot be made is an error."""
        if self.ended is not None:
            raise InputError(f"the play is over after {len(self.stages)} stages")
        position = self.position
        a, d = self._chosen(position, move)
        done, self._at = self.policy.sampler.move(self.theta, self._at, self._uniforms[len(self.stages) + 1], a=a, d=d)
        surprise, signal = self._belief.saw(done.a, done.d, done.o), position.stage.outcomes[done.o].signal
        self.stages.append(
            StagePlayed(position, self.position, done.a, done.d, signal, done.reward, self.belief, surprise)
        )

    def _chosen(self, position: Position, move: Move) -> tuple[int | None, int | None]:
        if move is None:
            return None, None
        if isinstance(move, Told) or self.role is Role.TOLD:
            raise InputError("what happened is told of policies that guard a whole attack graph only")
        if self.role is Role.WATCH:
            raise InputError("a watched play has no moves of its own; give null")
        if self.role is Role.ATTACKER:
            return position.attacker.find(move), None
        return None, position.defender.find(move)


@dataclass(frozen=True)
class PlayKey:
    """A play of a contest as it is asked for: what tells it from any other."""

    role: Role
    intent: str | None
    seed: int
    moves: tuple[Move, ...]


class Playing(Protocol):
    """A play that goes on move by move."""

    @property
    def stages(self) -> Sized:
        """What was played."""

    def step(self, move: Move) -> None:
        """Play a stage."""


P = TypeVar("P", bound=Playing)


class PlayCache(Generic[P]):
    """Replays plays of a contest; so many of the latest are kept at hand. `begin` makes one from role, intent, seed."""

    def __init__(self, begin: Callable[[Role, str | None, int], P], most: int) -> None:
        self._begin, self._most = begin, most
        self._kept: OrderedDict[PlayKey, P] = OrderedDict()

    def replay(self, asked: PlayKey) -> P:
        """Return the play after its moves; the first that cannot be made is named in an error."""
        begun = self._kept.pop(asked, None) or self._kept.pop(replace(asked, moves=asked.moves[:-1]), None)
        play = begun or self._begin(asked.role, asked.intent, asked.seed)
        for k in range(len(play.stages), len(asked.moves)):
            try:
                play.step(asked.moves[k])
            except InputError as error:
                raise InputError(f"moves[{k}]: {error}") from None
        self._kept[asked] = play
        while len(self._kept) > self._most:
            self._kept.popitem(last=False)
        return play
