"""The two who follow a defence: the defender at play with its promise, and the belief with its evidence."""

from __future__ import annotations

import numpy as np

from ncirl._typing import FloatArray, State
from ncirl.model.game import Game
from ncirl.model.stage import Outcome
from ncirl.playbook.play import PlaybookAttacker, PlaybookDefender
from ncirl.playbook.playbook import AttackerPlaybook, DefenderPlaybook
from ncirl.strategies.players import Defender, Observer

__all__ = ["Guard", "Watch"]


class Guard(Defender):
    """A defender at play that says what it promises from here on."""

    def __init__(self, game: Game, playbook: DefenderPlaybook, rng: int, state: State | None) -> None:
        self.playbook = playbook
        super().__init__(game, PlaybookDefender(playbook), rng, state=state)

    @property
    def node(self) -> int | None:
        """Where in the playbook play stands; None where it has no place for that."""
        return self._memory if isinstance(self._memory, int) else None

    @property
    def promise(self) -> FloatArray | None:
        """What an attacker of each intent gets at most from here on; None where nothing is promised."""
        if self.finished:
            return np.zeros(len(self.playbook.game.intents))
        return None if self.node is None else self.playbook.claims[self.node]

    def worth_by_attack(self, mix: FloatArray) -> FloatArray:
        """Return what each attack brings at most, [a, θ], if `mix` is played now and the playbook thereafter.

        Parameters
        ----------
        mix : ndarray of shape (D,)
            Of actions that the playbook may draw now.
        """
        node = self.node
        if node is None:
            raise ValueError("the playbook has no place for where play stands")
        first, weights = self.playbook.moves.first, self.playbook.moves.weights
        ahead = weights[first[node] : first[node + 1]] @ self.playbook.claims  # indexed [i, θ]
        seen = self._timed.observations(self._place)
        now = np.einsum("d,adt->at", mix, self._stage.reward)
        worth: FloatArray = now + self._timed.discount * (seen.mass.T @ ((seen.weight @ mix)[:, None] * ahead))
        return worth


class Watch(Observer):
    """A belief over intents that can also tell how likely each makes what is seen."""

    def __init__(self, game: Game, playbook: AttackerPlaybook, state: State | None) -> None:
        super().__init__(game, PlaybookAttacker(playbook), state=state)

    def evidence(self, attacker: str | None, defender: str, outcome: Outcome | State) -> tuple[FloatArray, bool]:
        """Return P(what the attacker had to do for it | θ, all before), and whether it can be at all."""
        _, _, i = self._seen(attacker, defender, outcome)
        mass = self._timed.observations(self._place).mass
        row = slice(mass.indptr[i], mass.indptr[i + 1])
        a, caused = mass.indices[row], mass.data[row]
        made = np.sum([caused @ self._strategy.policy(self._place, m)[a] * b for m, b in self._law.items()], axis=0)
        belief = np.sum(list(self._law.values()), axis=0)
        evidence: FloatArray = np.where(belief > 0, made / np.where(belief > 0, belief, 1.0), 0.0)
        return evidence, bool(np.any(made > 0))
