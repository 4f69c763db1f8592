"""The games of many intents at one state that leads back to itself only, solved side by side.

    V_k = val_{a,d} [ r_k(a, d) + γ Σ_{o: s'(o) ≠ s} q(o | a, d) V_k(s'(o)) + γ q(s | a, d) V_k ]

Each step is one of Hoffman and Karp's or of Newton's, as in `backward`, taken in all games that have not come to their
end; what a plan guarantees or concedes for ever is a quotient.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ncirl._typing import FloatArray, IntArray
from ncirl.solvers.stationary import ROUNDING

__all__ = ["ENOUGH", "SideBySide", "met"]

BETWEEN = 0.6  # of the way from what pure plans secure to what they concede: any number will do
ENOUGH = 0.5  # a round that leaves more of the gap than this has not paid


@dataclass(eq=False)
class SideBySide:
    """Games at one state: `chance` [a, d] is that of coming back, discounted; `low`, `high` [k, a, d] all else."""

    chance: FloatArray
    low: FloatArray
    high: FloatArray
    inherited: FloatArray  # [k], the error that lies in what comes after
    tolerance: float  # of what is added to it, relative to the payoffs met
    share: float  # of that tolerance, at which the search ends
    solve_stages: Callable[[IntArray, FloatArray], tuple[FloatArray, FloatArray]]  # games k, payoffs [k, a, d]: x, y
    guess: FloatArray | None = None  # [k], where to begin

    def __post_init__(self) -> None:
        n, n_a, n_d = self.low.shape
        self.lower, self.upper = np.full(n, -np.inf), np.full(n, np.inf)
        self.attacker, self.defender = np.zeros((n, n_a)), np.zeros((n, n_d))
        self.stalled = False

    def solve(self) -> None:
        """Improve both sides' plans until the bounds of each game meet but for the inherited error."""
        at, value = np.arange(len(self.low)), self._guess() if self.guess is None else self.guess
        gap, newton = np.full(len(at), np.inf), np.zeros(len(at), dtype=np.bool_)  # what the last step was
        while len(at):
            low, before = self.low[at], gap
            payoffs = low + self.chance * value[:, None, None]
            x, y = self.solve_stages(at, payoffs)
            secured = (_rows(x, low) / (1.0 - x @ self.chance)).min(axis=1)
            conceded = (_columns(self.high[at], y) / (1.0 - y @ self.chance.T)).max(axis=1)
            scale = met(payoffs, x, y)
            rises = secured > self.lower[at] + ROUNDING * scale
            better, tighter = secured > self.lower[at], conceded < self.upper[at]
            self.lower[at[better]], self.attacker[at[better]] = secured[better], x[better]
            self.upper[at[tighter]], self.defender[at[tighter]] = conceded[tighter], y[tighter]
            gap = self.upper[at] - self.lower[at]
            slow = gap > ENOUGH * before
            done = gap <= self.inherited[at] + self.share * self.tolerance * scale
            ended = done | (~newton & ~rises & slow)
            self.stalled |= bool((gap > self.inherited[at] + self.tolerance * scale)[ended].any())
            newton = ~newton | ~slow
            played = _columns(low, y) * x
            yields = played.sum(axis=1) / (1.0 - ((x @ self.chance) * y).sum(axis=1))
            value = np.where(newton, np.clip(yields, self.lower[at], self.upper[at]), self.lower[at])
            at, value, gap, newton = at[~ended], value[~ended], gap[~ended], newton[~ended]
        self.upper = np.maximum(self.lower, self.upper)

    def _guess(self) -> FloatArray:
        """Return what lies between what pure plans guarantee and concede."""
        forever = self.low / (1.0 - self.chance)
        secured, conceded = forever.min(axis=2).max(axis=1), forever.max(axis=1).min(axis=1)
        return np.asarray(secured + BETWEEN * (conceded - secured))


def _rows(x: FloatArray, payoffs: FloatArray) -> FloatArray:
    return np.asarray(np.matmul(x[:, None, :], payoffs)[:, 0])


def _columns(payoffs: FloatArray, y: FloatArray) -> FloatArray:
    return np.asarray(np.matmul(payoffs, y[:, :, None])[:, :, 0])


def met(payoffs: FloatArray, x: FloatArray, y: FloatArray) -> FloatArray:
    """Return the largest |payoff| that the strategies of each game meet."""
    return np.asarray(np.where((x[:, :, None] != 0) & (y[:, None, :] != 0), np.abs(payoffs), 0.0).max(axis=(1, 2)))
