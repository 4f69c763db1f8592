"""What a stage program says at a belief, made exactly feasible: no number in it is read off a linear program.

An answer of a program carries errors of about 1e-7: columns a little negative, sums a little off. Each program cleans
the strategies in it first, and what they are worth follows from what is known of the successors alone:

    attacker:  v    = min_d  Σ_{a,θ} A(a,θ) r(a,d,θ) + γ Σ_i weight[i,d] (c_i·β_i + Σ_j φ_ij δ_j)
    defender:  α(θ) = max_a  Σ_d D(d) r(a,d,θ) + γ Σ_i mass[i,a] (weight[i]·D) Σ_j p_ij α_j(θ)
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ncirl._typing import FloatArray, IntArray
from ncirl.lp.state_arrays import StateArrays

__all__ = ["ONESELF", "Plan", "PointBackup", "VectorBackup"]

ONESELF = -1  # as a node that follows: the one that is being made


@dataclass(frozen=True, eq=False, kw_only=True)
class VectorBackup:
    """From P_A over vectors: the optimistic plan, and the defender's answer to it."""

    actions: IntArray  # the attacker's, in use
    plan: FloatArray  # A[a, θ] over these
    defences: IntArray  # the defender's actions in use
    mix: FloatArray  # D[d] over these
    observation: IntArray  # entries (i, node j, p_ij) of the continuation
    following: IntArray
    chance: FloatArray
    default: IntArray  # [successor], the node after observations without entries; `ONESELF` is the one this becomes
    promised: FloatArray  # [i, θ], the vector that follows each observation
    conceded: FloatArray  # [a, θ], what each action of the attacker gets at most; the new vector is its maximum
    reach: FloatArray  # weight[i]·D

    @cached_property
    def vector(self) -> FloatArray:
        """The vector that comes of it, [θ]."""
        vector: FloatArray = self.conceded.max(axis=0)
        return vector

    def variants(self, here: StateArrays) -> "list[VectorBackup]":
        """Return this and, where one can stay, what comes of keeping at it until the state is left."""
        return [self, self._kept(here, self._conceded_by_staying(here))] if here.loops else [self]

    def best_at(self, belief: FloatArray, here: StateArrays) -> "VectorBackup":
        """Return the variant that concedes least at a belief."""
        if here.loops:
            conceded = self._conceded_by_staying(here)
            if conceded.max(axis=0) @ belief < self.vector @ belief:
                return self._kept(here, conceded)
        return self

    def among_all(self, here: StateArrays, vectors: FloatArray, plan: FloatArray) -> "VectorBackup":
        """Return the same answer in the game of which this had fewer intents: what it concedes to each is worked out.

        `vectors` are those of all nodes and `plan` is the attacker's, for all intents there.
        """
        promised = vectors[self.default][here.toward]
        promised[self.observation] = 0.0
        np.add.at(promised, self.observation, self.chance[:, None] * vectors[self.following])
        conceded = here.conceded(self.defences, self.mix, self.reach, promised)
        return replace(self, plan=plan, promised=promised, conceded=conceded)

    def _conceded_by_staying(self, here: StateArrays) -> FloatArray:
        """Return what keeping at it until the state is left concedes to each action, [a, θ]."""
        leave = here.conceded(self.defences, self.mix, np.where(here.loop, 0.0, self.reach), self.promised)
        stay = here.discount * here.gather(np.where(here.loop, self.reach, 0.0))
        return np.asarray(leave / (1.0 - stay)[:, None])

    def _kept(self, here: StateArrays, conceded: FloatArray) -> "VectorBackup":
        away = ~here.loop[self.observation]
        return replace(
            self,
            observation=self.observation[away],
            following=self.following[away],
            chance=self.chance[away],
            default=np.where(np.array(here.successors) == here.number, ONESELF, self.default),
            conceded=conceded,
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class Plan:
    """A plan that is a plan, shares that fit its posteriors, and what they get against each defence."""

    actions: IntArray  # the attacker's, in use
    plan: FloatArray  # A[a, θ] over these
    observation: IntArray  # entries (i, node j, φ_ij) of the continuation
    following: IntArray
    share: FloatArray
    worth: FloatArray  # what each of those nodes is counted to be worth
    payoff: FloatArray  # [d], what comes of it against each defence

    @property
    def value(self) -> float:
        """What it secures."""
        return float(self.payoff.min())


@dataclass(frozen=True, eq=False, kw_only=True)
class PointBackup(Plan):
    """From P_A over points: a plan, and the defender's answer to it."""

    belief: FloatArray  # where
    defences: IntArray  # the defender's actions in use
    mix: FloatArray  # D[d] over these
    prices: FloatArray  # [i, θ], what mass is worth after each observation; a point above that plane would help
    slope: FloatArray  # [θ], what mass is worth here, ∂v(s, b), as the program has it
