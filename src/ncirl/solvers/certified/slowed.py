"""Long games at a slower pace: the defender keeps at a mixed action for a while before it goes on.

With a discount γ near 1 a backup moves a vector by about 1 − γ of what is to be won, and a belief by as little. But a
defender may take its time. If after action a play stays here with chance w(a) at least, whatever the defence, let it
then do the same again with chance 1 − ρ and go on as planned otherwise. What it concedes,

    α(θ) = max_a  [ Σ_d D(d) r(a,d,θ) + γ Σ_i (weight[i]·D − (1 − ρ) w(a) [i stays]) ᾱ_i(θ) ] / [ 1 − γ (1 − ρ) w(a) ],

is the vector of a stage whose rewards and chances are 1 / (1 − γ (1 − ρ) w(a)) times larger: of a game with the lower
discount γ', 1 − γ' = (1 − γ) / (1 − γ (1 − ρ)), where play stays for certain. Its vectors are vectors of the game.
Where outcomes are seen, or where every action may leave, nothing changes.
"""

from __future__ import annotations

from copy import copy
from dataclasses import replace

import numpy as np

from ncirl._typing import FloatArray, IntArray
from ncirl.lp.session import Meter
from ncirl.solvers.certified.place import Place
from ncirl.solvers.certified.program import Accuracy
from ncirl.solvers.certified.upper import UpperProgram
from ncirl.solvers.certified.upper_book import ONESELF, UpperBook, UpperStep

__all__ = ["SlowedProgram"]


class SlowedProgram(UpperProgram):
    """P_A over vectors for a defender that goes on with chance ρ only; `pace` is 1 − γ'."""

    def __init__(
        self,
        place: Place,
        book: UpperBook,
        likely: tuple[IntArray, IntArray],
        accuracy: Accuracy,
        meter: Meter,
        pace: float,
    ) -> None:
        self.pace, self.ground = pace, place
        again = max(0.0, 1.0 - (1.0 - place.discount) / pace) / place.discount  # 1 − ρ
        self.staying: FloatArray = np.zeros(len(place.seen))  # (1 − ρ) w of the observations that stay
        if place.by_action:
            self.staying[place.loop] = again * place.table[place.loop].min(axis=1)
        super().__init__(_slowed(place, self.staying), book, likely, accuracy, meter)

    def solve(self, belief: FloatArray) -> UpperStep:
        """Solve at a belief; the step it returns is one of the game as it is."""
        step, place = super().solve(belief), self.ground
        if not self.staying.any():
            return step
        reach = place.reach(step.defences, step.mix)
        again = np.divide(self.staying, reach, out=np.zeros_like(reach), where=reach > 0)
        stays = np.flatnonzero(again)
        bare = np.setdiff1d(stays, step.observation)
        return replace(
            step,
            observation=np.concatenate([step.observation, bare, stays]),
            following=np.concatenate([step.following, step.default[place.toward[bare]], np.full(len(stays), ONESELF)]),
            chance=np.concatenate([step.chance * (1.0 - again[step.observation]), 1.0 - again[bare], again[stays]]),
            promised=step.promised + again[:, None] * (step.vector - step.promised),
            reach=reach,
        )


def _slowed(place: Place, staying: FloatArray) -> Place:
    """Return a place with what is left of a stage when staying has been left out."""
    slow = copy(place)
    if staying.any():
        longer = 1.0 / (1.0 - place.discount * place.gather(staying))  # by action
        slow.reward = place.reward * longer[:, None, None]
        slow.table = (place.table - staying[:, None]) * longer[place.owner][:, None]
    return slow
