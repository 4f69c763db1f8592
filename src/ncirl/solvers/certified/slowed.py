"""Long games at a slower pace: the defender keeps at a mixed action for a while before it goes on.

With a discount γ near 1 a backup moves a vector by about 1 − γ of what is to be won, and a belief by as little. But a
defender may take its time. If after action a play stays here with chance w(a) at least, whatever the defence, let it
then do the same again with chance 1 − ρ and go on as planned otherwise. What it concedes,

    α(θ) = max_a  [ Σ_d D(d) r(a,d,θ) + γ Σ_i (weight[i]·D − (1 − ρ) w(a) [i stays]) ᾱ_i(θ) ] / [ 1 − γ (1 − ρ) w(a) ],

is the vector of a stage whose rewards and chances are 1 / (1 − γ (1 − ρ) w(a)) times larger: of a game with the lower
discount γ', 1 − γ' = (1 − γ) / (1 − γ (1 − ρ)), where play stays for certain. Its vectors are vectors of the game.
Where outcomes are seen, or where every action may leave, nothing changes.
"""

from copy import copy
from dataclasses import replace

import numpy as np

from ncirl._typing import FloatArray, IntArray
from ncirl.lp.backups import ONESELF, VectorBackup
from ncirl.lp.program import Accuracy
from ncirl.lp.session import Meter
from ncirl.lp.state_arrays import StateArrays
from ncirl.lp.stores import KnownVectors
from ncirl.lp.vector_program import VectorProgram

__all__ = ["SlowedProgram"]


class SlowedProgram(VectorProgram):
    """P_A over vectors for a defender that goes on with chance ρ only; `pace` is 1 − γ'."""

    def __init__(
        self,
        here: StateArrays,
        known: KnownVectors,
        accuracy: Accuracy,
        meter: Meter,
        likely: tuple[IntArray, IntArray],
        pace: float,
    ) -> None:
        self.pace, self.ground = pace, here
        again = max(0.0, 1.0 - (1.0 - here.discount) / pace) / here.discount  # 1 − ρ
        self.staying: FloatArray = np.zeros(len(here.seen))  # (1 − ρ) w of the observations that stay
        if here.by_action:
            self.staying[here.loop] = again * here.table[here.loop].min(axis=1)
        super().__init__(_slowed(here, self.staying), known, accuracy, meter, likely)

    def solve(self, belief: FloatArray) -> VectorBackup:
        """Solve at a belief; what it returns is a backup of the game as it is."""
        found, here = super().solve(belief), self.ground
        if not self.staying.any():
            return found
        reach = here.reach(found.defences, found.mix)
        again = np.divide(self.staying, reach, out=np.zeros_like(reach), where=reach > 0)
        stays = np.flatnonzero(again)
        bare = np.setdiff1d(stays, found.observation)
        return replace(
            found,
            observation=np.concatenate([found.observation, bare, stays]),
            following=np.concatenate([found.following, found.default[here.toward[bare]], np.full(len(stays), ONESELF)]),
            chance=np.concatenate([found.chance * (1.0 - again[found.observation]), 1.0 - again[bare], again[stays]]),
            promised=found.promised + again[:, None] * (found.vector - found.promised),
            reach=reach,
        )


def _slowed(here: StateArrays, staying: FloatArray) -> StateArrays:
    """Return a state with what is left of a stage when staying has been left out."""
    slow = copy(here)
    if staying.any():
        longer = 1.0 / (1.0 - here.discount * here.gather(staying))  # by action
        slow.reward = here.reward * longer[:, None, None]
        slow.table = (here.table - staying[:, None]) * longer[here.owner][:, None]
        vars(slow).pop("staying", None)  # worked out from the table that was
    return slow
