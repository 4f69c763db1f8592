"""A play is its contest, role, intent, seed and moves; this module replays it.

Nothing is kept for a visitor. `Plays` only remembers the latest plays so that the next move need not start over; what
it has forgotten is replayed, with the same result.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from ncirl._typing import FloatArray, State
from ncirl.belief import plan_of
from ncirl.errors import InputError
from ncirl.players import Observer
from ncirl.spectator import number_of
from ncirl.stage import Outcome
from ncirl.web.arena import Arena, Board
from ncirl.web.draws import drawn_luck

__all__ = ["Asked", "Ended", "Move", "Play", "Plays", "Role", "StagePlayed"]

QUICK = 4096  # pairs of actions over all stages to be played
Move = str | tuple[str, ...] | None  # an action, its exploits, or whatever the certified strategy draws


class Role(StrEnum):
    """Who the player is."""

    ATTACKER = "attacker"
    DEFENDER = "defender"
    WATCH = "watch"


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


@dataclass(frozen=True, eq=False)
class Asked:
    """A play as it is asked for."""

    arena: Arena
    role: Role
    intent: str | None
    seed: int
    moves: tuple[Move, ...]

    def key(self, moves: tuple[Move, ...]) -> tuple[object, ...]:
        """Tell this play after so many of its moves from any other."""
        return id(self.arena), self.role, self.intent, self.seed, moves


class Plays:
    """Replays plays; the latest are kept at hand."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[tuple[object, ...], Play] = OrderedDict()
        self._lock = threading.Lock()

    def replay(self, asked: Asked) -> Play:
        """Return the play after its moves.

        Raises
        ------
        InputError
            Which names the first move that cannot be made.
        """
        begun = self._taken(asked, asked.moves) or self._taken(asked, asked.moves[:-1])
        play = begun or Play(asked.arena, asked.role, asked.intent, asked.seed)
        for k in range(len(play.stages), len(asked.moves)):
            try:
                play.step(asked.moves[k])
            except InputError as error:
                raise InputError(f"moves[{k}]: {error}") from None
        with self._lock:
            self._kept[asked.key(asked.moves)] = play
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return play

    def is_quick(self, asked: Asked) -> bool:
        """Tell whether a replay takes no longer than asking a thread for it does."""
        with self._lock:
            at_hand = any(asked.key(moves) in self._kept for moves in (asked.moves, asked.moves[:-1]))
        return (1 if at_hand else 1 + len(asked.moves)) * asked.arena.widest <= QUICK

    def _taken(self, asked: Asked, moves: tuple[Move, ...]) -> Play | None:
        """Take a play out, so that nobody else moves it on."""
        with self._lock:
            return self._kept.pop(asked.key(moves), None)
