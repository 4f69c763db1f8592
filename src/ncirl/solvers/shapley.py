"""Complete information: the zero-sum stochastic game of each intent, as if the intent were public.

    V(s, θ) = val_{a,d} [ r(s, a, d, θ) + γ Σ_o q(o | s, a, d) V(s'(o), θ) ]          (Shapley 1953)

``values`` is what the attacker's strategy guarantees and ``values + errors`` what the defender's concedes at most; how
they are found, and why they bound, says `backward`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from ncirl._typing import FloatArray, State
from ncirl.errors import InputError
from ncirl.limits import UNLIMITED, Limits
from ncirl.model.game import Game
from ncirl.solution import Progress, ProgressCallback, Solution, Stats, Status, refuse_graph
from ncirl.solvers.backward import backward

__all__ = ["Shapley", "ShapleySolution"]


@dataclass(frozen=True, kw_only=True, repr=False)
class ShapleySolution(Solution):
    """Values and stationary strategies of the complete-information games; the last axis has length 1 for a mixture."""

    values: dict[State, FloatArray]  # per public state of ``game.timed()``, [θ]
    errors: dict[State, FloatArray]  # values ≤ V ≤ values + errors
    attacker: dict[State, FloatArray]  # mixed strategies [a, θ]
    defender: dict[State, FloatArray]  # [d, θ]


@dataclass(frozen=True)
class Shapley:
    """Solve the game of every intent under complete information, or the one game of a mixture of intents.

    Parameters
    ----------
    tolerance : float
        How close the bounds must come, relative to the largest payoff to go that is met.
    weights : sequence of float, optional
        w(θ): solve the single game whose reward is Σ_θ w(θ) r(·, θ) instead.

    Examples
    --------
    >>> import ncirl
    >>> solution = ncirl.solve(ncirl.games.patrol(discount=0.9), Shapley())
    >>> solution.values["m", "g"].round(6)
    array([3.333333, 3.333333])
    """

    tolerance: float = 1e-9
    weights: Sequence[float] | None = None

    def run(self, game: Game, *, progress: ProgressCallback | None, limits: Limits = UNLIMITED) -> ShapleySolution:
        """Solve `game`; use `ncirl.solve` instead of calling this."""
        refuse_graph(self, game)
        started = perf_counter()
        timed = game.timed()
        work = backward(timed, self._mixture(len(game.intents)), self.tolerance, limits=limits)
        priors = [(s.state, s.mass if self.weights is None else np.array([s.probability])) for s in timed.starts]
        lower = sum(float(prior @ work.lower[s]) for s, prior in priors)
        upper = sum(float(prior @ work.upper[s]) for s, prior in priors)
        stats = Stats(perf_counter() - started, lp_solves=work.lp_solves, states=len(work.lower))
        if progress is not None:
            progress(Progress(stats.seconds, lower, upper, lp_solves=stats.lp_solves))
        public, mean = "value if the intent were public", "value of the game with the mean reward"
        return ShapleySolution(
            game=game,
            lower=lower,
            upper=upper,
            status=Status.STALLED if work.stalled else Status.EXACT,
            stats=stats,
            settings=self,
            claim=public if self.weights is None else mean,
            values=work.lower,
            errors={s: work.upper[s] - work.lower[s] for s in work.lower},
            attacker=work.attacker,
            defender=work.defender,
        )

    def _mixture(self, n_intents: int) -> FloatArray:
        """Return the games to solve as columns of weights, [θ, k]."""
        if not self.tolerance >= 0:
            raise InputError(f"tolerance: must not be negative, got {self.tolerance:g}")
        if self.weights is None:
            return np.eye(n_intents)
        column = np.asarray(self.weights, dtype=np.float64).reshape(-1, 1)
        if len(column) != n_intents or not np.isfinite(column).all():
            raise InputError(f"weights: one finite number for each of the {n_intents} intents is needed")
        return column
