"""The public side of a play: where it stands, and which observation was made of a stage told in words.

States are told by label, with or without their stage, or by description; outcomes as an `Outcome`, or by their state
alone where that leaves no doubt. What the game does not allow is an `InputError` that lists what it does.
"""

import numpy as np

from ncirl._typing import State
from ncirl.errors import InputError
from ncirl.model.game import Game
from ncirl.model.stage import Outcome, Stage

__all__ = ["PublicState", "number_of"]


class PublicState:
    """Follows the public side of a play; `sees_attempts` if the attacker's action is among what is told."""

    def __init__(self, game: Game, sees_attempts: bool) -> None:
        self._game = game
        self._timed = game.timed()
        self._sees_attempts = sees_attempts
        self._timed_state: State = None
        self._played = 0

    def __repr__(self) -> str:
        when = "ended" if self.finished else f"stage {self.stage_number}"
        said = [f"game '{self._game.name}'", *self._own_repr(), f"{when} at '{self._text(self._timed_state)}'"]
        return f"{type(self).__name__}({', '.join(said)})"

    def _own_repr(self) -> list[str]:
        """Say what else is worth a word."""
        return []

    @property
    def state(self) -> State:
        """The public state, as the game names it."""
        return self._game.parted(self._timed_state)[1]

    @property
    def stage_number(self) -> int:
        """The stage to be played next, from 1."""
        return self._played + 1

    @property
    def finished(self) -> bool:
        """Whether play has ended."""
        return self._stage.is_terminal

    @property
    def _stage(self) -> Stage:
        return self._timed.stage(self._timed_state)

    def _start(self, state: State | None) -> None:
        """Go to the start state given, or to the only one."""
        places = list(dict.fromkeys(start.state for start in self._timed.starts))
        found = [place for place in places if state is None or self._is(place, state)]
        if len(found) != 1:
            said = "play may start in several states, say in which" if state is None else f"'{state}' is no start state"
            raise InputError(f"state: {said}: {', '.join(self._text(place) for place in places)}")
        self._timed_state, self._played = found[0], 0

    def _is(self, place: State, given: State) -> bool:
        """Tell whether a state is meant: by its label, with or without its stage, or by its description."""
        return given in (place, self._game.parted(place)[1], self._text(place), self._timed.describe(place))

    def _text(self, place: State) -> str:
        return self._game.describe(self._game.parted(place)[1])

    def _seen(
        self, attacker_action: str | None, defender_action: str, outcome: Outcome | State
    ) -> tuple[int, int, int]:
        """Return (a, d, i), a = -1 where it is not seen."""
        stage = self._playable()
        d = number_of("defender", defender_action, stage.defender)
        a = -1
        if self._sees_attempts:
            if attacker_action is None:
                raise InputError("attacker_action: it is seen in this game; give it")
            a = number_of("attacker", attacker_action, stage.attacker)
        n_a, n_d = stage.shape
        rows = stage.law[np.arange(n_a) * n_d + d] if a < 0 else stage.law[[a * n_d + d]]
        candidates = sorted({int(o) for o in rows.indices[rows.data > 0]})
        met = [o for o in candidates if self._means(stage.outcomes[o], outcome)]
        found = {self._timed.observations(self._timed_state).index(a, d, o) for o in met}
        if len(found) != 1:
            asked = outcome if isinstance(outcome, Outcome) else f"'{outcome}'"
            said = f"{asked} is ambiguous; give an Outcome out of" if found else f"{asked} cannot follow; possible are"
            listed = ", ".join(self._named(stage.outcomes[o]) for o in (met or candidates))
            raise InputError(f"outcome: {said} {listed}")
        return a, d, found.pop()

    def _means(self, outcome: Outcome, given: Outcome | State) -> bool:
        if isinstance(given, Outcome):
            return self._is(outcome.state, given.state) and outcome.signal == given.signal
        return self._is(outcome.state, given)

    def _named(self, outcome: Outcome) -> str:
        signal = "" if outcome.signal is None else f" with signal {outcome.signal}"
        return f"'{self._text(outcome.state)}'{signal}"

    def _playable(self) -> Stage:
        if self.finished:
            raise InputError(f"play has ended in state '{self._text(self._timed_state)}'; reset to play again")
        return self._stage

    def _advance(self, i: int) -> None:
        self._timed_state = self._timed.observations(self._timed_state).successors[i]
        self._played += 1


def number_of(side: str, name: str, names: tuple[str, ...]) -> int:
    """Return the place of a name, or say which there are."""
    if name not in names:
        raise InputError(f"{side}: there is no '{name}' here; there are {', '.join(names)}")
    return names.index(name)
