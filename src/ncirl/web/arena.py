"""A policy made ready to be played: both strategies, what it proves, and what can be done at each public state.

Everything that does not change from play to play is worked out once and shared between plays. A policy is verified
before anything is said about it: the numbers shown are what its playbooks prove, whatever the file claims.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import count

import numpy as np

from ncirl._typing import FloatArray, State
from ncirl.defence.choices import Choice, members, plain_choice, set_choice
from ncirl.errors import InputError
from ncirl.model.stage import Stage
from ncirl.web.draws import Table
from ncirl.web.limits import MOST_STAGES
from ncirl.web.opening import Opened

__all__ = ["Arena", "Board", "Side"]

HARDLY = 0.005  # of what the first stage counts


@dataclass(frozen=True, eq=False)
class Side:
    """What one player can do at a public state.

    Attributes
    ----------
    names : tuple of str
        Actions.
    sets : tuple of tuple of str
        The exploits in each; empty where the contest is no attack graph.
    exploits : tuple of str
        All that occur.
    holds : ndarray of shape (actions, exploits)
        1 where an action has an exploit.
    choice : Choice
        Finds an action by name, or by its exploits in any order.
    """

    names: tuple[str, ...]
    sets: tuple[tuple[str, ...], ...]
    exploits: tuple[str, ...]
    holds: FloatArray
    choice: Choice

    def each(self, chances: FloatArray) -> dict[str, float]:
        """Return how likely each exploit is among the actions drawn."""
        return dict(zip(self.exploits, np.clip(chances @ self.holds, 0.0, 1.0).tolist(), strict=True))

    def likeliest(self, chances: FloatArray, most: int) -> list[dict[str, str | float]]:
        """Return the likeliest actions with their chances."""
        order = np.argsort(-chances, kind="stable")[:most].tolist()
        return [{"name": self.names[k], "probability": float(chances[k])} for k in order if chances[k] > 0]

    def find(self, move: str | tuple[str, ...]) -> int:
        """Return the number of the action meant.

        Raises
        ------
        InputError
            Which says what is possible.
        """
        if isinstance(move, str) and move in self.names:
            return self.names.index(move)
        return self.names.index(self.choice.find(move))


@dataclass(frozen=True, eq=False)
class Board:
    """A public state: what holds there and what either side can do."""

    name: str
    enabled: tuple[str, ...]
    stage: Stage
    attacker: Side
    defender: Side


class Arena:
    """A verified policy, ready to be played.

    Parameters
    ----------
    opened : Opened
        A policy file.

    Raises
    ------
    InputError
        When there is no policy in it.
    """

    def __init__(self, opened: Opened) -> None:
        if opened.policy is None:
            raise InputError("is no policy", opened.name)
        self.policy, self.game, self.graph = opened.policy, opened.game, opened.graph
        self.timed = self.game.timed()
        self.attacker, self.defender = self.policy.attacker_strategy(), self.policy.defender_strategy()
        self._initial = () if self.graph is None else tuple(c.id for c in self.graph.conditions if c.initial)
        self.table = Table(self.game, self.attacker, self.defender)
        self._boards: dict[State, Board] = {}

    def board(self, place: State) -> Board:
        """Return a public state of the timed game, laid out."""
        if place not in self._boards:
            own = place[1] if self.game.horizon is not None and isinstance(place, tuple) else place
            stage, name = self.timed.stage(place), self.game.describe(own)
            enabled = () if self.graph is None else (*self._initial, *members(name))
            sides = (
                self._side("attempted", "attacker", stage.attacker),
                self._side("blocked", "defender", stage.defender),
            )
            self._boards[place] = Board(name, enabled, stage, *sides)
        return self._boards[place]

    @cached_property
    def stages(self) -> int:
        """After how many stages a play is ended at the latest: when what follows hardly counts."""
        if self.game.horizon is not None:
            return min(MOST_STAGES, self.game.horizon)
        return min(MOST_STAGES, next(n for n in count(1) if self.game.discount**n <= HARDLY))

    @cached_property
    def guarantee(self) -> dict[str, float]:
        """What an attacker of each intent can get at most, on average: what its best answer gets, as verified."""
        return dict(zip(self.game.intents, self.policy.per_intent.tolist(), strict=True))

    def _side(self, in_graph: str, otherwise: str, names: tuple[str, ...]) -> Side:
        if self.graph is None:
            return Side(names, ((),) * len(names), (), np.zeros((len(names), 0)), plain_choice(otherwise, names))
        sets = tuple(members(name) for name in names)
        exploits = tuple(dict.fromkeys(exploit for chosen in sets for exploit in chosen))
        holds = np.array([[float(e in chosen) for e in exploits] for chosen in sets]).reshape(len(names), len(exploits))
        return Side(names, sets, exploits, holds, set_choice(in_graph, names))
