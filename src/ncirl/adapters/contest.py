"""A game at play as environments need it: numbers for everything that is seen, one stage a step.

What is seen of a play is a vector of whole numbers, the same for both sides but for the intent, which opens the
attacker's only:

    (intent,) state, attacker's last action + 1, defender's last action + 1, last signal + 1.

0 stands for nothing yet, for an attempt the defender does not see, and for no signal. Rewards are never among it.
States are numbered as ``game.timed().explore()`` lists them, so a horizon is part of the state.

**Discounting.** Rewards are paid undiscounted; an agent discounts them by γ. Play without end is cut after `max_cycles`
stages, which misses at most γ^n R / (1 − γ) of a discounted return. With ``ends_by_chance`` play ends after each stage
with probability 1 − γ instead, and then the plain sum of rewards has the discounted return as its expectation, exactly.

**Tables.** What one side faces against a strategy without memory is a table, in which a play may end by chance too,

    P[s][a] = [(probability, next s, reward, whether play ends), ...].

It exists where the opponent's play is a function of the public state: each state is only ever met with one memory. The
defender must besides not learn about the intent from what it sees, or the public state is not all there is to know:
the attacker then plays alike for every intent that may occur, and every start has the same belief.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ncirl._typing import FloatArray, State
from ncirl.errors import InputError
from ncirl.evaluation.stages import Continuations
from ncirl.formats.load import resolve_game
from ncirl.model.belief import prior_of
from ncirl.model.game import Game, Observes
from ncirl.model.stage import Stage
from ncirl.strategies.memory import draw
from ncirl.strategies.strategy import AttackerStrategy, DefenderStrategy, Memory

__all__ = ["VERSION", "Mask", "NumberedPlay", "Table", "Vector", "attack_table", "defence_table"]

VERSION = 2  # of the environments: raised when the same seed plays differently, or spaces change
MAX_STATES = 100_000  # public states that may be numbered
SAME = 1e-12  # how far beliefs and policies may differ and still be one
MISSED = 1e-3  # the share of a discounted return that the default cut may miss

Vector = NDArray[np.int64]
Mask = NDArray[np.int8]
Table = dict[int, dict[int, list[tuple[float, int, float, bool]]]]


class NumberedPlay:
    """A play that goes on stage by stage; see the environments for what its settings mean.

    Raises `InputError` when `max_cycles` is not positive or the play would never end, `SizeError` when the game has
    more than `MAX_STATES` public states.
    """

    def __init__(self, game: Game | str, max_cycles: int | None = None, ends_by_chance: bool = False) -> None:
        if max_cycles is not None and max_cycles < 1:
            raise InputError(f"max_cycles: must be at least 1, got {max_cycles}")
        self.game = game = resolve_game(game) if isinstance(game, str) else game
        self.timed = game.timed()
        self.states = self.timed.explore(MAX_STATES)
        self.max_cycles = max_cycles if max_cycles is not None else _default_cap(game, ends_by_chance)
        self.ends_by_chance = ends_by_chance
        stages = [self.timed.stage(state) for state in self.states]
        self.n_attacker = max(1, *(len(stage.attacker) for stage in stages))
        self.n_defender = max(1, *(len(stage.defender) for stage in stages))
        signals = (outcome.signal for stage in stages for outcome in stage.outcomes)
        self.signals = tuple(dict.fromkeys(signal for signal in signals if signal is not None))
        self.numbers = {state: k for k, state in enumerate(self.states)}
        self._laws = [(start.state, theta) for start in self.timed.starts for theta in range(len(game.intents))]
        self._chances = np.concatenate([start.mass for start in self.timed.starts])
        self.rng = np.random.default_rng()
        self.state: State = self.timed.starts[0].state
        self.intent = self.played = 0
        self._last = (-1, -1, -1)  # a, d and the signal of the last stage
        self.over = False

    @property
    def stage(self) -> Stage:
        """What is played now."""
        return self.timed.stage(self.state)

    @property
    def number(self) -> int:
        """The number of the public state."""
        return self.numbers[self.state]

    def fields(self, attacker: bool) -> list[int]:
        """Return how many values each entry of a side's vector can take."""
        shared = [len(self.states), self.n_attacker + 1, self.n_defender + 1, len(self.signals) + 1]
        return [len(self.game.intents), *shared] if attacker else shared

    def seen(self, attacker: bool) -> Vector:
        """Return a side's vector."""
        a, d, signal = self._last
        attempts = attacker or self.game.observes is Observes.ACTIONS
        shared = (self.number, a + 1 if attempts else 0, d + 1, signal + 1)
        return np.array((self.intent, *shared) if attacker else shared, dtype=np.int64)

    def mask(self, attacker: bool) -> Mask:
        """Return which actions a side has now, 0 or 1 each; none where play is over."""
        n, most = (
            (len(self.stage.attacker), self.n_attacker) if attacker else (len(self.stage.defender), self.n_defender)
        )
        return (np.arange(most) < n).astype(np.int8)

    def reset(self, rng: np.random.Generator, intent: int | None = None) -> None:
        """Start a new play; the intent is drawn from the prior, with the start state, unless it is given."""
        self.rng = rng
        chances = self._chances.copy()
        if intent is not None:
            chances[[theta != intent for _, theta in self._laws]] = 0.0
        self.state, self.intent = self._laws[draw(rng, chances)]
        self.played, self._last = 0, (-1, -1, -1)
        self.over = self.stage.is_terminal

    def check(self, side: str, action: int) -> None:
        """Refuse a number that is no action of a side here."""
        names = self.stage.attacker if side == "attacker" else self.stage.defender
        if not 0 <= action < len(names):
            raise InputError(
                f"step: {action} is no action of the {side} at '{self.timed.describe(self.state)}', which has "
                f"{len(names)}; the action mask says which are"
            )

    def step(self, a: int, d: int) -> tuple[int, float]:
        """Play a stage; return the outcome's number and what the attacker gains; `InputError` for no action here."""
        stage = self.stage
        self.check("attacker", a)
        self.check("defender", d)
        outcomes, chances = stage.outcome_law(a, d)
        o = int(outcomes[draw(self.rng, chances)])
        outcome = stage.outcomes[o]
        shown = outcome.signal is not None and self.game.observes is Observes.OUTCOMES
        self._last = (a, d, self.signals.index(str(outcome.signal)) if shown else -1)
        self.state, self.played = outcome.state, self.played + 1
        stopped = self.ends_by_chance and self.rng.random() >= self.game.discount
        self.over = stopped or self.stage.is_terminal
        return o, float(stage.realised(a, d, o)[self.intent])

    @property
    def cut(self) -> bool:
        """Whether play is cut here."""
        return not self.over and self.max_cycles is not None and self.played >= self.max_cycles


def attack_table(contest: NumberedPlay, defender: DefenderStrategy) -> Table:
    """Return the table of an attacker; s is the state's number plus the intent's times the number of states."""
    memories = _memories(contest, defender.begin, lambda s, m, a, d, i: defender.after(s, m, d, i), "defender")
    mixes = {state: defender.mix(state, memory) for state, memory in memories.items()}
    table: Table = {}
    for theta, own in enumerate(np.eye(len(contest.game.intents))):
        table |= _table(contest, mixes, own, theta * len(contest.states), attacks=True)
    return table


def defence_table(contest: NumberedPlay, attacker: AttackerStrategy, intent: int | None) -> Table:
    """Return the table of a defender; s is the state's number, rewards are means over the prior or of one intent."""
    memories = _memories(contest, attacker.begin, attacker.after, "attacker")
    prior = prior_of(contest.game) if intent is None else np.eye(len(contest.game.intents))[intent]
    if intent is None and any(np.abs(start.belief - prior).max() > SAME for start in contest.timed.starts):
        raise InputError("P: the belief depends on where play starts, so the public state is not all there is to know")
    mixes: dict[State, FloatArray] = {}
    for state, memory in memories.items():
        policy = attacker.policy(state, memory)[:, prior > 0]
        if np.ptp(policy, axis=1).max() > SAME:
            raise InputError(
                f"P: at '{contest.timed.describe(state)}' the attacker's play depends on its hidden intent, so the "
                "public state is not all there is to know; give `intent`, or an attacker that plays alike for all"
            )
        mixes[state] = policy[:, 0]
    return _table(contest, mixes, prior, 0, attacks=False)


def _table(
    contest: NumberedPlay, mixes: Mapping[State, FloatArray], intents: FloatArray, offset: int, *, attacks: bool
) -> Table:
    """Return what follows each choice against `mixes`, with rewards weighed by `intents` and states numbered on."""
    n_actions = contest.n_attacker if attacks else contest.n_defender
    goes_on = contest.game.discount if contest.ends_by_chance else 1.0
    table: Table = {}
    for here, state in enumerate(contest.states, start=offset):
        stage = contest.timed.stage(state)
        if state not in mixes:  # over, or never met
            table[here] = {c: [(1.0, here, 0.0, True)] for c in range(n_actions)}
            continue
        own = stage.shape[0 if attacks else 1]
        table[here] = {c: [] for c in range(own)}
        for (c, row), (other, p) in product(table[here].items(), enumerate(mixes[state].tolist())):
            a, d = (c, other) if attacks else (other, c)
            for o, chance in zip(*(part.tolist() for part in stage.outcome_law(a, d)), strict=True):
                then = stage.outcomes[o].state
                gain = float(stage.realised(a, d, o) @ intents)
                share = p * chance
                ends = contest.timed.is_terminal(then)
                shares = [(share, True)] if ends else [(share * goes_on, False), (share * (1 - goes_on), True)]
                number, reward = contest.numbers[then] + offset, gain if attacks else -gain
                row += [(share, number, reward, over) for share, over in shares if share > 0]
    return table


def _memories(
    contest: NumberedPlay,
    begin: Callable[[State], Sequence[tuple[Memory, Any]]],
    after: Callable[[State, Memory, int, int, int], Sequence[tuple[Memory, Any]]],
    side: str,
) -> dict[State, Memory]:
    """Return the one memory with which each state is met."""
    memories: dict[State, Memory] = {}
    queue: list[State] = []

    def meet(state: State, options: Sequence[tuple[Memory, Any]]) -> None:
        for memory in dict.fromkeys(memory for memory, p in options if np.any(p)):
            if state not in memories:
                memories[state] = memory
                queue.append(state)
            elif memories[state] != memory:
                raise InputError(
                    f"P: the {side} remembers what happened before '{contest.timed.describe(state)}', so the public "
                    f"state is not all there is to know; a table needs a {side} without memory"
                )

    for start in contest.timed.starts:
        if not contest.timed.is_terminal(start.state):
            meet(start.state, begin(start.state))
    continuations = Continuations(contest.timed)
    while queue:
        state = queue.pop()
        n_a, n_d = contest.timed.stage(state).shape
        for a, d, i, _, successor in continuations.at(state, np.ones(n_a), np.ones(n_d)):
            meet(successor, after(state, memories[state], a, d, i))
    return memories


def _default_cap(game: Game, ends_by_chance: bool) -> int | None:
    if game.horizon is not None or ends_by_chance:
        return None
    if game.discount == 1:
        raise InputError(f"game '{game.name}': a discount of 1 needs an end; give `max_cycles` or a horizon")
    return 1 if game.discount == 0 else math.ceil(math.log(MISSED) / math.log(game.discount))
