"""A play is its contest, role, intent, seed and moves; this module replays it.

Runs in a sandbox only. Nothing is kept for a visitor. `Plays` only remembers the latest plays so that the next move
need not start over; what it has forgotten is replayed, with the same result.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from ncirl._typing import FloatArray, State
from ncirl.errors import InputError
from ncirl.model.belief import plan_of
from ncirl.model.stage import Outcome
from ncirl.strategies.players import Observer
from ncirl.strategies.public_state import number_of
from ncirl.web.arena import Arena, Board
from ncirl.web.draws import drawn_luck
from ncirl.web.roles import Role

__all__ = ["Asked", "Ended", "Move", "Play", "Plays", "StagePlayed"]

Move = str | tuple[str, ...] | None  # an action, its exploits, or whatever the certified strategy draws


class Ended(StrEnum):
    """Why a play is over."""

    TERMINAL = "terminal"
    HORIZON = "horizon"
    CAP = "cap"


class Belief(Observer):
    """An outsider's belief that can also tell what the certified attacker would do now."""

    @property
    def attempts(self) -> FloatArray:
        """P(a | everything seen), indexed [a]."""
        plans = [plan_of(self._strategy.policy(self._place, m), b).sum(axis=1) for m, b in self._law.items()]
        mass = np.sum(plans, axis=0)
        chances: FloatArray = mass / mass.sum()
        return chances

    def saw(self, a: int, d: int, o: int) -> bool:
        """Go on after a stage told by number; return whether the certified attacker makes it impossible to see."""
        stage, seen = self._stage, self._timed.observations(self._place)
        i, mass = seen.index(a, d, o), seen.mass
        row = slice(mass.indptr[i], mass.indptr[i + 1])
        surprise = not float(mass.data[row] @ self.attempts[mass.indices[row]]) > 0
        self._told = a, d, i
        self.observe(stage.attacker[a], stage.defender[d], stage.outcomes[o])
        return surprise

    def _seen(
        self, attacker_action: str | None, defender_action: str, outcome: Outcome | State
    ) -> tuple[int, int, int]:
        """Return what was told: nothing has to be recognised, which in large stages would take long."""
        return self._told


@dataclass(frozen=True, eq=False)
class StagePlayed:
    """A stage as it happened; `belief` is what is believed after it, `surprise` what the attacker would never show."""

    board: Board
    after: Board
    a: int
    d: int
    signal: str | None
    reward: float
    belief: FloatArray
    surprise: bool


class Play:
    """One play, as far as its moves go.

    Parameters
    ----------
    arena : Arena
        Where.
    role : Role
        Whose moves are given.
    intent : str, optional
        The attacker's; drawn from the prior by the seed if not given.
    seed : int
        Of everything that is drawn.

    Raises
    ------
    InputError
        When there is no such intent.
    """

    def __init__(self, arena: Arena, role: Role, intent: str | None, seed: int) -> None:
        self.arena, self.role = arena, role
        chosen = None if intent is None else number_of("intent", intent, arena.game.intents)
        self._luck = drawn_luck(seed, arena.stages)
        self.theta, self._at = arena.table.begin(chosen, self._luck[0])
        self._belief = Belief(arena.game, arena.attacker, state=self._at.place)
        self.prior = self.belief
        self.stages: list[StagePlayed] = []

    @property
    def intent(self) -> str:
        """What the attacker is after."""
        return self.arena.game.intents[self.theta]

    @property
    def board(self) -> Board:
        """Where it stands."""
        return self.arena.board(self._at.place)

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
        return self.arena.defender.mix(self._at.place, self._at.defender)

    @property
    def promise(self) -> FloatArray | None:
        """What an attacker of each intent gets at most from here on against the certified defender, [θ]."""
        node = self._at.defender
        return self.arena.policy.defender_playbook.claims[node] if isinstance(node, int) else None

    @property
    def ended(self) -> Ended | None:
        """Why it is over; None while it is not."""
        if self.board.stage.is_terminal:
            cut = self.arena.game.horizon is not None and len(self.stages) == self.arena.game.horizon
            return Ended.HORIZON if cut else Ended.TERMINAL
        return Ended.CAP if len(self.stages) >= self.arena.stages else None

    @property
    def payoff(self) -> float:
        """What the attacker has got, discounted."""
        return sum(self.arena.game.discount**t * stage.reward for t, stage in enumerate(self.stages))

    def step(self, move: Move) -> None:
        """Play a stage; a move of None leaves it to the certified strategy.

        Raises
        ------
        InputError
            When the play is over or there is no such move.
        """
        if self.ended is not None:
            raise InputError(f"the play is over after {len(self.stages)} stages")
        board = self.board
        a, d = self._chosen(board, move)
        done, self._at = self.arena.table.move(self.theta, self._at, self._luck[len(self.stages) + 1], a=a, d=d)
        surprise, signal = self._belief.saw(done.a, done.d, done.o), board.stage.outcomes[done.o].signal
        self.stages.append(StagePlayed(board, self.board, done.a, done.d, signal, done.reward, self.belief, surprise))

    def _chosen(self, board: Board, move: Move) -> tuple[int | None, int | None]:
        if move is None:
            return None, None
        if self.role is Role.WATCH:
            raise InputError("a watched play has no moves of its own; give null")
        if self.role is Role.ATTACKER:
            return board.attacker.find(move), None
        return None, board.defender.find(move)


@dataclass(frozen=True)
class Asked:
    """A play of a contest as it is asked for: what tells it from any other."""

    role: Role
    intent: str | None
    seed: int
    moves: tuple[Move, ...]


class Plays:
    """Replays plays of a contest; the latest are kept at hand.

    Parameters
    ----------
    arena : Arena
        Where.
    most : int
        Plays to keep.
    """

    def __init__(self, arena: Arena, most: int) -> None:
        self._arena, self._most = arena, most
        self._kept: OrderedDict[Asked, Play] = OrderedDict()

    def replay(self, asked: Asked) -> Play:
        """Return the play after its moves.

        Raises
        ------
        InputError
            Which names the first move that cannot be made.
        """
        begun = self._kept.pop(asked, None) or self._kept.pop(replace(asked, moves=asked.moves[:-1]), None)
        play = begun or Play(self._arena, asked.role, asked.intent, asked.seed)
        for k in range(len(play.stages), len(asked.moves)):
            try:
                play.step(asked.moves[k])
            except InputError as error:
                raise InputError(f"moves[{k}]: {error}") from None
        self._kept[asked] = play
        while len(self._kept) > self._most:
            self._kept.popitem(last=False)
        return play
