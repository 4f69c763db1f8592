"""A game as a one-sided POSG: the defender is player 1, a state is (public state, intent), a partition a public state.

Player 1's reward is what the defender gains, −r, so the value of the file is minus that of the game. A terminal state
loops for ever and pays nothing. Where play may start in several public states a first partition draws one and pays
nothing; that costs a stage, so every reward is divided by the discount.
"""

from collections.abc import Hashable

import numpy as np

from ncirl._typing import FloatArray, State
from ncirl.errors import InputError, SizeError
from ncirl.formats.osposg import OneSided, write_osposg
from ncirl.model.belief import prior_of
from ncirl.model.game import Game, Observes

__all__ = ["one_sided", "osposg_text"]

MAX_TRANSITIONS = 5_000_000
BEGIN, END = "begin", "end"
FIRST: State = object()  # the state that is added where play may start in several


def osposg_text(game: Game) -> str:
    """Write a game as a one-sided POSG; arguments and errors as for `one_sided`.

    Examples
    --------
    >>> import ncirl
    >>> osposg_text(ncirl.games.aumann_maschler_1(discount=0.5)).splitlines()[:3]
    ['2 1 2 2 2 8 8 0.5', 'play|t1 0', 'play|t2 0']
    """
    return write_osposg(one_sided(game))


def one_sided(game: Game) -> OneSided:
    """Turn a game into a one-sided POSG.

    Raises `InputError` when the discount is 1, or 0 with several start states; `SizeError` when there would be more
    than `MAX_TRANSITIONS` transitions.
    """
    if game.discount == 1:
        raise InputError(f"game '{game.name}': one-sided POSGs play for ever and need a discount below 1; set one")
    timed = game.timed()
    starts = list(dict.fromkeys(start.state for start in timed.starts))
    if len(starts) > 1 and game.discount == 0:
        raise InputError(f"game '{game.name}': several start states need a discount above 0 in a one-sided POSG")
    maker = _Maker(timed, 1.0 if len(starts) == 1 else 1.0 / game.discount)
    for state in maker.states:
        if timed.is_terminal(state):
            maker.add_end(state)
        else:
            maker.add_stage(state)
    prior = prior_of(game)
    if len(starts) == 1:
        return maker.finished(maker.states.index(starts[0]), prior.tolist())
    maker.add_start()
    return maker.finished(len(maker.states), prior.tolist())


class _Names:
    """Distinct things, numbered as they come, with labels without white space that stay distinct."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}
        self.labels: list[str] = []
        self._used: set[str] = set()

    def number(self, thing: Hashable, name: str) -> int:
        if thing not in self._numbers:
            self._numbers[thing] = len(self.labels)
            label = plain = "_".join(name.split()) or "_"
            while label in self._used:
                label = f"{plain}#{len(self.labels)}"
            self._used.add(label)
            self.labels.append(label)
        return self._numbers[thing]


class _Maker:
    """Collects the parts; state (k, θ) has the number k Θ + θ."""

    def __init__(self, timed: Game, scale: float) -> None:
        self.timed, self.scale = timed, scale
        self.states = timed.explore(MAX_TRANSITIONS)
        self._numbers = {state: k for k, state in enumerate(self.states)}
        self._n_intents = len(timed.intents)
        self._partitions, self._attacker, self._defender, self._seen = _Names(), _Names(), _Names(), _Names()
        self._playable_1: list[list[int]] = []
        self._playable_2: list[list[int]] = []
        self._transitions: dict[tuple[int, int, int, int, int], float] = {}
        self._rewards: dict[tuple[int, int, int], float] = {}
        for state in self.states:
            self._partitions.number(state, timed.describe(state))

    def add_stage(self, state: State) -> None:
        """Add a public state that is played."""
        stage = self.timed.stage(state)
        attacker = [self._attacker.number(name, name) for name in stage.attacker]
        defender = [self._defender.number(name, name) for name in stage.defender]
        self._open(defender, attacker)
        law = stage.law.tocoo()
        for row, o, chance in zip(law.row.tolist(), law.col.tolist(), law.data.tolist(), strict=True):
            a, d = divmod(row, len(defender))
            outcome = stage.outcomes[o]
            shown = stage.attacker[a] if self.timed.observes is Observes.ACTIONS else outcome.signal
            self._move(state, defender[d], attacker[a], shown, outcome.state, np.full(self._n_intents, chance))
        gains = -self.scale * stage.reward
        here = self._numbers[state] * self._n_intents
        for a, d in np.ndindex(*stage.shape):
            for theta, gain in enumerate(gains[a, d].tolist()):
                self._rewards[here + theta, defender[d], attacker[a]] = gain + 0.0

    def add_end(self, state: State) -> None:
        """Add a public state where play is over."""
        self._move(state, *self._waits(END, state), END, state, np.ones(self._n_intents))

    def add_start(self) -> None:
        """Add a first partition that draws the public state where play starts."""
        self._numbers[FIRST] = self._partitions.number(FIRST, BEGIN)
        begins = self._waits(BEGIN, FIRST)
        prior = prior_of(self.timed)
        for start in self.timed.starts:
            share = np.where(prior > 0, start.mass / np.where(prior > 0, prior, 1.0), start.probability)
            self._move(FIRST, *begins, BEGIN, start.state, share)

    def finished(self, initial: int, belief: list[float]) -> OneSided:
        """Put the parts together."""
        states = [
            (f"{label}|{'_'.join(intent.split())}", k)
            for k, label in enumerate(self._partitions.labels)
            for intent in self.timed.intents
        ]
        return OneSided(
            discount=self.timed.discount,
            states=states,
            actions_1=self._defender.labels,
            actions_2=self._attacker.labels,
            observations=self._seen.labels,
            playable_2=self._playable_2,
            playable_1=self._playable_1,
            transitions=self._transitions,
            rewards=self._rewards,
            initial=initial,
            belief=belief,
        )

    def _open(self, defender: list[int], attacker: list[int]) -> None:
        self._playable_1.append(defender)
        self._playable_2 += [attacker] * self._n_intents

    def _waits(self, name: str, state: State) -> tuple[int, int]:
        """Give each side one action at a state, for nothing; return their numbers."""
        defender, attacker = self._defender.number((name,), name), self._attacker.number((name,), name)
        self._open([defender], [attacker])
        for theta in range(self._n_intents):
            self._rewards[self._numbers[state] * self._n_intents + theta, defender, attacker] = 0.0
        return defender, attacker

    def _move(self, state: State, d: int, a: int, shown: str | None, then: State, chances: FloatArray) -> None:
        """Add what each intent's probability is to go on to a public state, seen with what is shown."""
        name = self._partitions.labels[self._numbers[then]]
        o = self._seen.number((shown, then), f"{'-' if shown is None else shown}>{name}")
        here, there = (self._numbers[s] * self._n_intents for s in (state, then))
        for theta in np.flatnonzero(chances).tolist():
            key = (here + theta, d, a, o, there + theta)
            self._transitions[key] = self._transitions.get(key, 0.0) + float(chances[theta])
        if len(self._transitions) > MAX_TRANSITIONS:
            raise SizeError(
                f"game '{self.timed.name}' has more than {MAX_TRANSITIONS} transitions as a one-sided POSG; "
                "reduce the game or shorten its horizon"
            )
