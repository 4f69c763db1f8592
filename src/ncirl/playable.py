"""A solution that can be played: two strategies, and players that draw from them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from ncirl._typing import State
from ncirl.players import Attacker, Defender, Observer, Seed
from ncirl.solution import Solution
from ncirl.strategy import AttackerStrategy, DefenderStrategy

__all__ = ["PlayableSolution"]


@dataclass(frozen=True, kw_only=True)
class PlayableSolution(Solution, ABC):
    """A solution with a strategy for each side."""

    @abstractmethod
    def attacker_strategy(self) -> AttackerStrategy:
        """Return how the attacker plays, for every intent, at the public states of ``game.timed()``."""

    @abstractmethod
    def defender_strategy(self) -> DefenderStrategy:
        """Return how the defender plays, at the public states of ``game.timed()``."""

    def attacker(self, intent: str, rng: Seed = 0, state: State | None = None) -> Attacker:
        """Return an attacker at play.

        Parameters
        ----------
        intent : str
            Name of the intent it has.
        rng : int or Generator
            Seed of what it draws.
        state : State, optional
            Where play starts, by label or description; needed when there are several start states.
        """
        return Attacker(self.game, self.attacker_strategy(), intent, rng, state=state)

    def defender(self, rng: Seed = 0, state: State | None = None) -> Defender:
        """Return a defender at play; arguments as for `attacker`."""
        return Defender(self.game, self.defender_strategy(), rng, state=state)

    def observer(self, state: State | None = None) -> Observer:
        """Return an outsider who sees what the defender sees and knows the attacker's strategy."""
        return Observer(self.game, self.attacker_strategy(), state=state)
