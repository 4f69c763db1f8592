"""HSVI for one-sided partially observable stochastic games, over the stage programs of `ncirl.lp`.

    while U(s0, b0) − L(s0, b0) > ε:   EXPLORE(s0, b0, 0)

    EXPLORE(s, b, t):
        A ← the attacker's plan in P_A(s, b) over U,      D ← the defender's mixed action in P_A(s, b) over L
        add the vector of the first to U, the value of the second to L
        i ← argmax_i Pr(i | A, D) excess(s'_i, b_i),      excess = U − L − ρ(t + 1)
        if that excess is positive:   EXPLORE(s'_i, b_i, t + 1), then improve U and L at (s, b) once more

    ρ(0) = ε,    ρ(t + 1) = (ρ(t) − 2δη) / γ

The nearest relative of the certified solver, to compare it with: no sweeps, no dual trials, no vectors improved in
place, one successor a stage, and initial bounds of its own. A game of ours is a one-sided POSG whose state is (s, θ):
s is public, so there is one set of bounds for each. There the player with the belief maximises and v is convex; here it
is the defender, who minimises, and v is concave: their lower bound Γ of vectors is our upper one, their upper bound of
points our lower one, "uniform strategy" is the defender's, and both players explore as optimists, as theirs do.

Deviations, with reasons:

- Equivalent states are merged first (`quotient`), as for the other solvers here; strategies are unmerged.
- The hull of the points is not made δ-Lipschitz. A point belief stays one, so the corners are exact, and with two
  intents the hull over them is as flat as v already; with more, theirs may lie above ours beside a face of the simplex.
- 2δη is at most half of (1 − γ)ε, so that ρ grows whatever η (their D) is; without a discount (play that ends) ρ is
  constant.

References
----------
K. Horák, B. Bošanský, M. Pěchouček, Heuristic search value iteration for one-sided partially observable stochastic
games, AAAI 2017.
K. Horák, B. Bošanský, V. Kovařík, C. Kiekintveld, Solving zero-sum one-sided partially observable stochastic games,
Artificial Intelligence 316 (2023), 103838.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from numbers import Real
from typing import Literal

from ncirl.errors import InputError
from ncirl.limits import Limits, default_memory
from ncirl.lp.session import Meter
from ncirl.model.game import Game
from ncirl.model.quotient import Quotient, quotient
from ncirl.solution import PlayableSolution, Progress, ProgressCallback, Stats, Status, refuse_graph
from ncirl.solvers.certified.search import InformationState
from ncirl.solvers.hsvi.bounds import Bounds
from ncirl.solvers.hsvi.sides import PointSide, VectorSide
from ncirl.solvers.nc_pbvi.play import ProgramAttacker, ProgramDefender
from ncirl.strategies.strategy import AttackerStrategy, DefenderStrategy

__all__ = ["HSVI", "HSVISolution"]


@dataclass(frozen=True, kw_only=True, repr=False)
class HSVISolution(PlayableSolution):
    """Both bounds, and what each player takes from the search."""

    merged: Quotient  # the game with equivalent states merged, whose states the sides speak of
    attacker_side: PointSide
    defender_side: VectorSide
    trials: int  # how often play was explored from a start

    def attacker_strategy(self) -> AttackerStrategy:
        """Return the attacker that solves P_A at its belief."""
        return ProgramAttacker(self)

    def defender_strategy(self) -> DefenderStrategy:
        """Return the defender that solves P_D at its promise."""
        return ProgramDefender(self)


@dataclass(frozen=True)
class HSVI:
    """Heuristic search value iteration for one-sided POSGs (Horák et al.), a baseline.

    Parameters
    ----------
    gap : float
        ε: how close the bounds must come.
    relative_gap : float
        The same, relative to the value; the wider of the two counts.
    neighbourhood : float
        η, in the papers D: how far from a belief its bounds are to serve; it makes ρ(t) a little less than ε γ^−t.
    initial : {"uniform", "stationary"}
        What the upper bound begins with: the uniform defence, as theirs, or also the stationary defences with which
        `Certified` begins.
    time_limit : float, optional
        Seconds after which to stop with the bounds so far.
    memory : int, optional
        The most bytes that the process may have resident; by default a share of what the machine has, 4 GB at most.

    Examples
    --------
    >>> import ncirl
    >>> game = ncirl.games.aumann_maschler_1(p=0.4, discount=1 / 3)
    >>> solution = ncirl.solve(game, HSVI(gap=1e-2))
    >>> solution.lower <= 22 / 45 <= solution.upper, solution.gap <= 1e-2
    (True, True)
    """

    gap: float = 1e-2
    relative_gap: float = 0.0
    neighbourhood: float = 1e-6
    initial: Literal["uniform", "stationary"] = "uniform"
    time_limit: float | None = None
    memory: int | None = None

    def run(
        self, game: Game, *, progress: ProgressCallback | None = None, limits: Limits | None = None
    ) -> HSVISolution:
        """Solve `game`; use `ncirl.solve` instead of calling this."""
        refuse_graph(self, game)
        self._check()
        if limits is None:
            limits = Limits(self.time_limit, default_memory() if self.memory is None else self.memory)
        meter, merged = Meter(), quotient(game.timed(), limits, actions=True)
        stationary = self.initial == "stationary"
        bounds = Bounds(
            merged.game, meter, limits, late=lambda: limits.passed or limits.room < 0, stationary=stationary
        )
        status, trials = self._search(bounds, limits, progress)
        low, high = bounds.at_start()
        return HSVISolution(
            game=game,
            lower=low,
            upper=high,
            status=status,
            stats=Stats(limits.spent, meter.solves, meter.seconds, len(bounds.states)),
            settings=self,
            claim="Both numbers bound the value of the game: what the attacker secures, what the defender concedes.",
            merged=merged,
            attacker_side=PointSide.of(bounds),
            defender_side=VectorSide.of(bounds),
            trials=trials,
        )

    def _check(self) -> None:
        if self.initial not in ("uniform", "stationary"):
            raise InputError(f"initial: must be 'uniform' or 'stationary', got {self.initial!r:.40}")
        for name in ("gap", "relative_gap", "neighbourhood", "time_limit", "memory"):
            value = getattr(self, name)
            if value is not None and not (isinstance(value, Real) and float(value) >= 0):
                raise InputError(f"{name}: must be a number that is not negative, got {value!r:.40}")

    def _search(self, bounds: Bounds, limits: Limits, progress: ProgressCallback | None) -> tuple[Status, int]:
        """Explore from the starts until the bounds are close, a limit comes or nothing is found any more."""
        trials = 0
        try:
            while True:
                low, high = bounds.at_start()
                if progress is not None:
                    progress(Progress(limits.spent, low, high, *bounds.size, bounds.meter.solves))
                epsilon = max(self.gap, self.relative_gap * max(abs(low), abs(high)))
                if high - low <= epsilon:
                    return Status.GAP_REACHED, trials
                if limits.passed:
                    return Status.TIME_LIMIT, trials
                if limits.room < 0:
                    return Status.MEMORY_LIMIT, trials
                before = bounds.size
                self._explore(bounds, bounds.widest_start(), epsilon)
                trials += 1
                if bounds.size == before and not bounds.late():
                    return Status.STALLED, trials
        except KeyboardInterrupt:
            return Status.INTERRUPTED, trials
        except MemoryError:
            return Status.MEMORY_LIMIT, trials

    def _explore(self, bounds: Bounds, start: InformationState, epsilon: float) -> None:
        """Follow the largest excess down from a start, improving both bounds on the way there and back."""
        at: InformationState | None = start
        path: list[InformationState] = []
        next_rho = self._rule(bounds, epsilon)
        rho = epsilon
        while at is not None and not bounds.late():
            path.append(at)
            plan, answer = bounds.update(at)
            rho = next_rho(rho)
            at = bounds.most_open(at, plan, answer, rho)
        for at in reversed(path[:-1]):
            if bounds.late():
                break
            bounds.update(at)

    def _rule(self, bounds: Bounds, epsilon: float) -> Callable[[float], float]:
        """Return ρ(t) ↦ ρ(t + 1)."""
        discount = bounds.game.discount
        less = min(2 * bounds.steepness * self.neighbourhood, (1 - discount) * epsilon / 2)
        return lambda rho: (rho - less) / discount if discount > 0 else inf
