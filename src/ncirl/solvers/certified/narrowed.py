"""P_A over vectors among some intents, of which the others are mixtures: a smaller program for a vector of them all.

    max V  over plans A(·, e) of the intents e alone;      α(θ) = max_a  Σ_d D(d) r(a,d,θ) + γ Σ_i … ᾱ_i(θ)  for every θ

The program is that of the game with the intents e only, in which an attacker of any other intent is held down as well
(`extremes`). What the defender's answer concedes is worked out for every intent of the game, as for any other backup.
"""

import numpy as np

from ncirl._typing import FloatArray, IntArray
from ncirl.lp.backups import VectorBackup
from ncirl.lp.program import Accuracy
from ncirl.lp.session import Meter
from ncirl.lp.state_arrays import StateArrays
from ncirl.lp.stores import KnownVectors, VectorStore
from ncirl.lp.vector_program import VectorProgram

__all__ = ["NarrowedProgram"]


class NarrowedVectors:
    """What is known of all intents, for some: as it was when `refresh` was called."""

    def __init__(self, whole: KnownVectors, intents: IntArray, states: list[int]) -> None:
        self.whole, self.intents = whole, intents
        self.stores = {t: VectorStore(len(intents)) for t in states}

    def refresh(self) -> None:
        """Take what is known now."""
        for t, store in self.stores.items():
            now = self.whole.stores[t]
            store.alphas, store.nodes = now.alphas[:, self.intents], now.nodes

    @property
    def vectors(self) -> FloatArray:
        """[node, e]."""
        return self.whole.vectors[:, self.intents]


class NarrowedProgram(VectorProgram):
    """P_A(s, ·) over vectors among some intents."""

    def __init__(
        self,
        here: StateArrays,
        known: KnownVectors,
        accuracy: Accuracy,
        meter: Meter,
        likely: tuple[IntArray, IntArray],
        intents: IntArray,
    ) -> None:
        self.ground, self.intents, self.whole = here, intents, known
        self.narrow = NarrowedVectors(known, intents, here.successors)
        super().__init__(here.among(intents), self.narrow, accuracy, meter, likely)

    def now(self, nodes: IntArray) -> FloatArray:
        """Return the vectors of some nodes as they are now, [node, e]."""
        return self.whole.vectors[nodes][:, self.intents]

    def solve(self, belief: FloatArray) -> VectorBackup:
        """Solve at a belief of the whole game, 0 for other intents; return a backup of the whole game."""
        self.narrow.refresh()
        found = super().solve(belief[self.intents])
        plan = np.zeros((len(found.actions), self.ground.n_t))
        plan[:, self.intents] = found.plan
        return found.among_all(self.ground, self.whole.vectors, plan)
