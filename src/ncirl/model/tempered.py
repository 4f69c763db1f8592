"""Rewards so bad that nobody meets them: who must not do what, and a game without numbers that hardly matter.

A penalty of −1e9 makes an action useless, and nothing else; but it is the largest number of the game, and linear
programs lose the others beside it. Three levels that follow from pure actions tell what is useless,

    lo(s, θ)  = max_a min_d      r + γ Σ_o q lo(s'(o), θ)          what the attacker secures,
    hi(s)     = min_d max_{a, θ} r + γ Σ_o q hi(s'(o))             what the defender concedes at most,
    top(s, θ) = max_{a, d}       r + γ Σ_o q top(s'(o), θ)         what nobody can exceed.

Intent θ never needs an action a with ``r + γ Σ q top < lo(s, θ)`` against every d: a safe one is better whatever
follows. The defender never needs a d with ``r + γ Σ q lo > hi(s)`` against every a and θ. Leaving these aside changes
no value, tightens the levels, and may show more of the same.

A trap, r(a, d, θ) far below any value for some d only, is a threat that the defender may well need. With V the largest
|lo| or |hi| and r < −K V, the attacker plays a with a chance of about 1 / K at most, since d would be the answer; so it
leaves a aside and loses about V / K. The defender's other way round.

Actions left aside stay in the game: their owner never plays them, its opponent must be ready for them. Then rewards can
be cut to ±K V: what was raised, the attacker never meets, so no lower bound profits; what was lowered, the defender
never meets. Whatever is proved with the cut rewards holds for the true ones.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain

import numpy as np

from ncirl._typing import BoolArray, FloatArray, State
from ncirl.limits import UNLIMITED, Limits
from ncirl.model.game import Game
from ncirl.model.order import components
from ncirl.model.stage import Stage

__all__ = ["Options", "Tempered", "tempered"]

LOOKING = "looking for actions that nobody needs"
TRAP = 1e6  # K: a reward beyond so many times the largest value is a trap
LARGEST_VALUE = 1e3  # in the units of the tempered game
LARGEST_UNIT = 10.0  # times the largest value
MARGIN = 1e-9  # times the largest value: what is worse by less may be rounding
SWEEPS = 2  # for the levels; one is exact where play never comes back to a state by way of another


@dataclass(frozen=True, eq=False)
class Options:
    """What the two sides may play, by public state: `attacker` [a, θ] and `defender` [d]."""

    attacker: Mapping[State, BoolArray]
    defender: Mapping[State, BoolArray]


@dataclass(frozen=True, eq=False)
class Tempered:
    """A game in which every number matters."""

    game: Game  # with rewards in units of `unit`, the worst of them cut
    options: Options  # who may play what; bounds of `game` proved within these hold for the original
    unit: float  # about the largest reward that matters


def tempered(game: Game, limits: Limits = UNLIMITED) -> Tempered:
    """Temper a game without a horizon (`Game.timed` first, if it has one)."""
    order = [s for s in chain.from_iterable(components(game, limits)) if not game.is_terminal(s)]
    stages = {s: _Arrays(game, s, limits) for s in order}
    n_t = len(game.intents)
    changed = True
    while changed:
        levels = _levels(stages, n_t, game.discount)
        values = np.array([levels[s][: n_t + 1] for s in order]).reshape(-1, n_t + 1)
        largest = float(np.abs(values).max(initial=0.0))
        changed = sum(stage.drop_useless(levels, MARGIN * largest) for stage in stages.values()) > 0
    may = {s: stage.untrapped(TRAP * largest) for s, stage in stages.items()}
    reward = max((stages[s].largest_reward(*both) for s, both in may.items()), default=0.0)
    unit = float(np.clip(reward, largest / LARGEST_VALUE, largest * LARGEST_UNIT)) or reward or 1.0
    most = max(TRAP * largest, reward)

    def stage(state: State) -> Stage:
        return game.stage(state).paying(lambda reward: np.clip(reward, -most, most) / unit)

    options = Options(
        {s: attacker for s, (attacker, _) in may.items()}, {s: defender for s, (_, defender) in may.items()}
    )
    return Tempered(game.like(stage=stage, same_moves=True), options, unit)


class _Arrays:
    """The arrays of one state, and what may be of use there: `attacker` [a, θ], `defender` [d]."""

    def __init__(self, game: Game, state: State, limits: Limits) -> None:
        stage = game.stage(state)
        limits.check(LOOKING)
        limits.need(stage.reward.nbytes, LOOKING)
        self.state, self.discount, self._limits = state, game.discount, limits
        self.reward, self.law = stage.reward, stage.law  # [a, d, θ]
        self.successors = [outcome.state for outcome in stage.outcomes]
        own = np.array([successor == state for successor in self.successors], dtype=np.float64)
        self.leaving: FloatArray = 1.0 - game.discount * (self.law @ own).reshape(*stage.shape, 1)
        self.attacker: BoolArray = np.ones((stage.shape[0], self.reward.shape[2]), dtype=np.bool_)
        self.defender: BoolArray = np.ones(stage.shape[1], dtype=np.bool_)

    def to_go(self, levels: Mapping[State, FloatArray], *, until_exit: bool) -> tuple[FloatArray, ...]:
        """Return r + γ Σ_o q level for lo, hi and top, [a, d, θ]; or what keeping at a and d until the exit yields."""
        after = np.array([levels[successor] for successor in self.successors])
        if until_exit:
            after[[successor == self.state for successor in self.successors]] = 0.0
        later = self.discount * (self.law @ after).reshape(*self.reward.shape[:2], -1)
        n_t = self.reward.shape[2]
        parts = later[..., :n_t], later[..., n_t : n_t + 1], later[..., n_t + 1 :]
        return tuple((self.reward + part) / (self.leaving if until_exit else 1.0) for part in parts)

    def level(self, lo: FloatArray, hi: FloatArray, top: FloatArray) -> FloatArray:
        """Return lo(θ), hi, top(θ) in one array, from what pairs of actions lead to."""
        self._limits.check(LOOKING)
        aside, defended = ~self.attacker, self.defender
        secured = np.where(aside, -np.inf, lo[:, defended].min(axis=1)).max(axis=0)
        conceded = np.where(aside[:, None], -np.inf, hi[:, defended]).max(axis=(0, 2)).min()
        exceeded = np.where(aside[:, None], -np.inf, top[:, defended]).max(axis=(0, 1))
        return np.concatenate([secured, [conceded], exceeded])

    def drop_useless(self, levels: Mapping[State, FloatArray], margin: float) -> bool:
        """Drop what is worse than a safe action whatever the others do, and tell whether there was any."""
        self._limits.check(LOOKING)
        n_t, before = self.reward.shape[2], self.attacker.sum() + self.defender.sum()
        lo, _, top = self.to_go(levels, until_exit=False)
        here = levels[self.state]
        self.attacker &= (top >= here[:n_t] - margin)[:, self.defender].any(axis=1)
        self.defender &= ((lo <= here[n_t] + margin) & self.attacker[:, None]).any(axis=(0, 2))
        return bool(self.attacker.sum() + self.defender.sum() < before)

    def untrapped(self, most: float) -> tuple[BoolArray, BoolArray]:
        """Return what each side may play, [a, θ] and [d]: what may be of use to it and never costs it that much."""
        self._limits.check(LOOKING)
        fallen = (self.reward < -most) & self.defender[:, None]
        ruined = (self.reward > most) & self.attacker[:, None]
        return self.attacker & ~fallen.any(axis=1), self.defender & ~ruined.any(axis=(0, 2))

    def largest_reward(self, attacker: BoolArray, defender: BoolArray) -> float:
        """Return the largest |r| that such actions meet."""
        met = attacker[:, None] & defender[:, None]
        return float(np.abs(self.reward).max(where=met, initial=0.0))


def _levels(stages: Mapping[State, _Arrays], n_intents: int, discount: float) -> dict[State, FloatArray]:
    """Return lo(θ), hi, top(θ) per state in one array each; bounds of the three where play goes round in circles."""
    once = np.array([stage.level(*[stage.reward] * 3) for stage in stages.values()]).reshape(-1, 2 * n_intents + 1)
    bound = np.concatenate([once[:, :n_intents].min(axis=0, initial=0.0), once[:, n_intents:].max(axis=0, initial=0.0)])
    levels = {s: np.zeros(2 * n_intents + 1) for stage in stages.values() for s in stage.successors}
    levels |= dict.fromkeys(stages, bound / (1.0 - discount) if discount < 1 else bound)
    for _ in range(SWEEPS):
        for state, stage in stages.items():
            levels[state] = stage.level(*stage.to_go(levels, until_exit=True))
    return levels
