"""A policy made ready to be played: both strategies, what it proves, and what can be done at each public state.

Everything that does not change from play to play is worked out once and shared between plays. A policy is verified
before anything is said about it: the numbers shown are what its playbooks prove, whatever the file claims.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import count

import numpy as np

from ncirl._typing import FloatArray, State
from ncirl.attack_graphs.controls import stopped
from ncirl.attack_graphs.names import in_place
from ncirl.defence.choices import Choice, members, plain_choice, set_choice
from ncirl.errors import InputError
from ncirl.model.stage import Stage
from ncirl.web.limits import MOST_STAGES
from ncirl.web.opening import Opened
from ncirl.web.sampling import Sampler

__all__ = ["ActionSet", "PlayablePolicy", "Position"]

HARDLY = 0.005  # of what the first stage counts


@dataclass(frozen=True, eq=False)
class ActionSet:
    """What one player can do at a public state."""

    names: tuple[str, ...]  # actions
    sets: tuple[tuple[str, ...], ...]  # the exploits or controls in each; empty where the contest is no attack graph
    choice: Choice  # finds an action by name, or by its exploits in any order

    @cached_property
    def exploits(self) -> tuple[str, ...]:
        """All that occur."""
        return tuple(dict.fromkeys(exploit for chosen in self.sets for exploit in chosen))

    @cached_property
    def _holds(self) -> FloatArray:
        """1 where an action has an exploit, indexed [action, exploit]."""
        holds = [[float(exploit in chosen) for exploit in self.exploits] for chosen in self.sets]
        return np.array(holds).reshape(len(self.names), len(self.exploits))

    def exploit_chances(self, chances: FloatArray) -> dict[str, float]:
        """Return how likely each exploit is among the actions drawn."""
        return dict(zip(self.exploits, np.clip(chances @ self._holds, 0.0, 1.0).tolist(), strict=True))

    def likeliest(self, chances: FloatArray, most: int) -> list[dict[str, str | float]]:
        """Return the likeliest actions with their chances."""
        order = np.argsort(-chances, kind="stable")[:most].tolist()
        return [{"name": self.names[k], "probability": float(chances[k])} for k in order if chances[k] > 0]

    def find(self, move: str | tuple[str, ...]) -> int:
        """Return the number of the action meant; if there is none, the error says what is possible."""
        if isinstance(move, str) and move in self.names:
            return self.names.index(move)
        return self.names.index(self.choice.find(move))


@dataclass(frozen=True, eq=False)
class Position:
    """A public state: what holds there and what either side can do."""

    name: str
    enabled: tuple[str, ...]
    stage: Stage
    attacker: ActionSet
    defender: ActionSet


class PlayablePolicy:
    """A verified policy, ready to be played; what was opened must hold one."""

    def __init__(self, opened: Opened) -> None:
        if opened.policy is None:
            raise InputError("is no policy", opened.name)
        self.solution, self.game, self.graph = opened.policy, opened.game, opened.graph
        self.attacker, self.defender = self.solution.attacker_strategy(), self.solution.defender_strategy()
        self._initial = () if self.graph is None else tuple(c.id for c in self.graph.conditions if c.initial)
        self.sampler = Sampler(self.game, self.attacker, self.defender)
        self._positions: dict[State, Position] = {}

    def position(self, place: State) -> Position:
        """Return a public state of the timed game, laid out."""
        if place not in self._positions:
            own = place[1] if self.game.horizon is not None and isinstance(place, tuple) else place
            stage, name = self.sampler.timed.stage(place), self.game.describe(own)
            enabled = () if self.graph is None else (*self._initial, *members(name))
            sides = (
                self._actions("attempted", "attacker", stage.attacker),
                self._actions("blocked", "defender", stage.defender),
            )
            self._positions[place] = Position(name, enabled, stage, *sides)
        return self._positions[place]

    def block_chances(self, position: Position, chances: FloatArray) -> dict[str, float]:
        """Return how likely each exploit that can be used or is stopped for good fails, by the chances of defences."""
        if self.graph is None or self.graph.controls is None:
            return position.defender.exploit_chances(chances)
        controls, placed = self.graph.controls, in_place(position.name)
        found = dict.fromkeys(position.attacker.exploits, 0.0)
        for applied, chance in zip(position.defender.sets, chances.tolist(), strict=True):
            for name in stopped(controls, (*placed, *applied)) & found.keys():
                found[name] = min(1.0, found[name] + chance)
        return found | dict.fromkeys(stopped(controls, placed), 1.0)

    @cached_property
    def stages(self) -> int:
        """After how many stages a play is ended at the latest: when what follows hardly counts."""
        if self.game.horizon is not None:
            return min(MOST_STAGES, self.game.horizon)
        return min(MOST_STAGES, next(n for n in count(1) if self.game.discount**n <= HARDLY))

    @cached_property
    def guarantee(self) -> dict[str, float]:
        """What an attacker of each intent can get at most, on average: what its best answer gets, as verified."""
        return dict(zip(self.game.intents, self.solution.per_intent.tolist(), strict=True))

    def _actions(self, in_graph: str, otherwise: str, names: tuple[str, ...]) -> ActionSet:
        if self.graph is None:
            return ActionSet(names, ((),) * len(names), plain_choice(otherwise, names))
        return ActionSet(names, tuple(members(name) for name in names), set_choice(in_graph, names))
