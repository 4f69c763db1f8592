"""What can be chosen against a fixed strategy, by public state and by what is known of its private memory.

Against a defender whose memory n has the law p(n), the attacker of each intent chooses a, and sees d and i:

    r(a, θ) = Σ_n p(n) Σ_d D(d | n) r(a, d, θ),    P(d, i | a) = Σ_n p(n) D(d | n) P(i | a, d),
    p'(n') ∝ Σ_n p(n) D(d | n) P(n' | n, d, i).

Against an attacker whose memory m and intent θ have the law β(m, θ), the defender chooses d, and sees i:

    r(d) = Σ_{m,a,θ} β(m, θ) π(a | m, θ) r(a, d, θ),    P(i | d) = weight[i, d] Σ_{m,θ} β'_i(m, θ),
    β'_i(m', θ) = Σ_{m,a} β(m, θ) π(a | m, θ) mass[i, a] P(m' | m, a, d, i, θ).

Whoever also sees the memory knows it for certain: the law is then that of one memory, and what follows is told apart by
the next. `hides` tells whether that was ever more than can be seen.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping

import numpy as np

from ncirl._typing import FloatArray, State
from ncirl.errors import SizeError
from ncirl.evaluation.laws import Laws
from ncirl.evaluation.stages import Continuations
from ncirl.limits import UNLIMITED, Limits
from ncirl.mdp import Decision
from ncirl.model.belief import prior_of, start_laws
from ncirl.model.game import Game
from ncirl.strategies.strategy import AttackerStrategy, DefenderStrategy, Memory

__all__ = ["AttackerDecisions", "Decisions", "DefenderDecisions", "Situation"]

Situation = tuple[State, int]  # a public state and the number of a law


class Decisions(ABC):
    """The choices of whoever answers.

    Parameters
    ----------
    game : Game
        With or without a horizon.
    sees_memory : bool
        Whether the private memory of the strategy answered is seen.
    steps : int, optional
        How often what a strategy remembers next may be asked; beyond, a `SizeError` is raised.
    limits : Limits
        Of time and memory.
    """

    maximise: bool  # whether the attacker answers

    def __init__(
        self, game: Game, *, sees_memory: bool = True, steps: int | None = None, limits: Limits = UNLIMITED
    ) -> None:
        self.game, self.timed, self.sees_memory = game, game.timed(), sees_memory
        self.continuations = Continuations(self.timed, limits)
        self.laws = Laws()
        self.hides = False  # whether the memory was ever more than can be seen
        self.largest_reward = 0.0
        self._left = np.inf if steps is None else steps

    @abstractmethod
    def starts(self) -> list[tuple[Situation, FloatArray]]:
        """Return where play may begin, with the share of each intent, [θ], or the mass of it, []."""

    @abstractmethod
    def decide(self, situation: Situation) -> Decision[Situation]:
        """Return what can be chosen there."""

    def told_apart(self, masses: Mapping[Memory, FloatArray]) -> list[tuple[int, float]]:
        """Return the laws that what is seen leaves, each with its share of the mass."""
        masses = {memory: mass for memory, mass in masses.items() if mass.any()}
        self.hides = self.hides or len(masses) > 1
        parts = [{memory: mass} for memory, mass in masses.items()] if self.sees_memory else [masses]
        return [(self.laws.number(part), sum(float(mass.sum()) for mass in part.values())) for part in parts if part]

    def reward(self, state: State) -> FloatArray:
        """Return r[a, d, θ]."""
        found = self.timed.stage(state).reward
        self.largest_reward = max(self.largest_reward, float(np.abs(found).max(initial=0.0)))
        return found

    def count(self, steps: int) -> None:
        """Count what is asked."""
        self._left -= steps
        if self._left < 0:
            raise SizeError("what is known of the private memory has too many forms; let it be seen (`sees_memory`)")


class AttackerDecisions(Decisions):
    """What an attacker can choose against a defender, all intents side by side."""

    maximise = True

    def __init__(
        self,
        game: Game,
        defender: DefenderStrategy,
        *,
        sees_memory: bool = True,
        steps: int | None = None,
        limits: Limits = UNLIMITED,
    ) -> None:
        super().__init__(game, sees_memory=sees_memory, steps=steps, limits=limits)
        self.defender = defender

    def starts(self) -> list[tuple[Situation, FloatArray]]:
        """Return where play may begin, with P0(s | θ), [θ]."""
        return [((s, law), share * p) for s, share in start_laws(self.game) for law, p in self.begin(s)]

    def begin(self, state: State) -> list[tuple[int, float]]:
        """Return the laws with which a play at `state` begins, with their probabilities."""
        return self.told_apart(_summed([(n, np.asarray(p)) for n, p in self.defender.begin(state)]))

    def decide(self, situation: Situation) -> Decision[Situation]:
        """Return what can be chosen there: rewards [a, θ], chances [a]."""
        state, law = situation
        reward = self.reward(state)
        mixes = [(n, p * self.defender.mix(state, n)) for n, p in self.laws[law]]
        mean = np.sum([mix for _, mix in mixes], axis=0)
        following: dict[Situation, FloatArray] = {}
        for d, i, after, a, chance in self.continuations.by_sight(state):
            if mean[d] > 0:
                self.count(len(mixes))
                for then, share in self.following(state, [(n, mix[d]) for n, mix in mixes], d, i):
                    chances = following.setdefault((after, then), np.zeros(len(reward)))
                    chances[a] += share * chance
        return Decision(np.einsum("d,adt->at", mean, reward), following)

    def following(self, state: State, done: list[tuple[Memory, float]], d: int, i: int) -> list[tuple[int, float]]:
        """Return the laws that follow when memories, each with its mass, did `d` and `i` was seen."""
        masses: dict[Memory, FloatArray] = {}
        for n, mass in done:
            if mass > 0:
                for then, p in self.defender.after(state, n, d, i):
                    masses[then] = masses.get(then, np.zeros(())) + mass * p
        return self.told_apart(masses)


class DefenderDecisions(Decisions):
    """What a defender can choose against an attacker; it pays the attacker's gains."""

    maximise = False

    def __init__(
        self,
        game: Game,
        attacker: AttackerStrategy,
        *,
        sees_memory: bool = True,
        steps: int | None = None,
        limits: Limits = UNLIMITED,
    ) -> None:
        super().__init__(game, sees_memory=sees_memory, steps=steps, limits=limits)
        self.attacker = attacker

    def starts(self) -> list[tuple[Situation, FloatArray]]:
        """Return where play may begin, with the probability of it, []."""
        prior = prior_of(self.game)
        return [
            ((s, law), np.asarray(p)) for s, share in start_laws(self.game) for law, p in self.begin(s, prior * share)
        ]

    def begin(self, state: State, mass: FloatArray) -> list[tuple[int, float]]:
        """Return the laws with which a play at `state` begins, where intents have so much mass, with theirs."""
        return self.told_apart(_summed([(m, mass * p) for m, p in self.attacker.begin(state)]))

    def decide(self, situation: Situation) -> Decision[Situation]:
        """Return what can be chosen there: rewards [d, 1], chances [d]."""
        state, law = situation
        reward = self.reward(state)
        plans = [(m, self.attacker.policy(state, m) * mass) for m, mass in self.laws[law]]  # each [a, θ]
        following: dict[Situation, FloatArray] = {}
        for d, i, after, a, chance in self.continuations.by_sight(state):
            for then, share in self.following(state, plans, d, i, list(zip(a.tolist(), chance.tolist(), strict=True))):
                following.setdefault((after, then), np.zeros(reward.shape[1]))[d] += share
        return Decision(np.einsum("at,adt->d", np.sum([plan for _, plan in plans], axis=0), reward)[:, None], following)

    def following(
        self, state: State, plans: list[tuple[Memory, FloatArray]], d: int, i: int, chances: list[tuple[int, float]]
    ) -> list[tuple[int, float]]:
        """Return the laws that follow `d` and `i`, each action a having had so much chance to bring `i` about."""
        masses: dict[Memory, FloatArray] = {}
        for m, plan in plans:
            for a, chance in chances:
                if plan[a].any():
                    self.count(1)
                    for then, p in self.attacker.after(state, m, a, d, i):
                        masses[then] = masses.get(then, 0.0) + chance * plan[a] * p
        return self.told_apart(masses)


def _summed(options: list[tuple[Memory, FloatArray]]) -> dict[Memory, FloatArray]:
    masses: dict[Memory, FloatArray] = {}
    for memory, mass in options:
        masses[memory] = masses[memory] + mass if memory in masses else mass
    return masses
