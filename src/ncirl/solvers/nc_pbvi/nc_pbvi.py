"""NC-PBVI, Algorithm 1 of the paper: point-based value iteration for both players.

    for each player p:
        initialise the points of every state
        for N expansions:
            for T sweeps:  UPDATE-p    re-solve P_p at every stored point
            EXPAND-p                   per point, add the farthest posterior (attacker) or successor promise (defender)

The attacker's points are beliefs under a hull (or the paper's one-point sawtooth) over exact corners; the defender's
are promises ζ, kept as the vectors α = w·1 − ζ they stand for. Variant ``corrected`` solves `lp.point_program` and
`lp.defender` and stores what the cleaned answers secure, so its two numbers are bounds, as is every
intermediate one. Variant ``printed`` is in `printed`; it certifies nothing.

Deviations from the page, beside the programs themselves:

- New points are stored at the successor, where the programs will ask for them, not at the state they were found at.
- As written, EXPAND-A may find nothing: where the best plan on a hull splits the belief into points of the hull, their
  values rest on each other. (Three stages of patrol stay at 5/4; the value is 9/7.) So of the posteriors of the best
  plan on the defender's vectors, where nothing is known to be bad yet, that where most is open is added as well.
- ζ0 ∈ −∂v(s0, b0), for which the paper gives no rule, is the best vector at the prior, looked up anew in every sweep.
- Equivalent states are merged first (`quotient`), states are swept successors first, and what cannot have changed is
  not solved again.
"""

import time
from abc import ABC
from dataclasses import dataclass
from typing import Literal

from ncirl.errors import InputError
from ncirl.limits import UNLIMITED, Limits
from ncirl.lp.session import Meter
from ncirl.model.game import Game
from ncirl.model.quotient import Quotient, quotient
from ncirl.solution import PlayableSolution, Progress, ProgressCallback, Stats, Status, refuse_graph
from ncirl.solvers.initial import initial_bounds
from ncirl.solvers.nc_pbvi.attacker import AttackerSide
from ncirl.solvers.nc_pbvi.defender import DefenderSide
from ncirl.solvers.nc_pbvi.play import ProgramAttacker, ProgramDefender
from ncirl.solvers.nc_pbvi.side import Approximation
from ncirl.strategies.strategy import AttackerStrategy, DefenderStrategy

__all__ = ["NCPBVI", "CorrectedSolution", "NCPBVISolution", "Variant"]

Variant = Literal["corrected", "printed", "charitable"]


@dataclass(frozen=True, kw_only=True, repr=False)
class NCPBVISolution(PlayableSolution, ABC):
    """Two values, two strategies, and how the values came about, whichever variant."""

    trace: tuple[tuple[float, float], ...]  # what the players say of the value, at first and after each expansion


@dataclass(frozen=True, kw_only=True, repr=False)
class CorrectedSolution(NCPBVISolution):
    """What both players stored."""

    merged: Quotient  # the game with equivalent states merged, whose states the sides speak of
    attacker_side: AttackerSide  # points and vectors of every state, with their programs
    defender_side: DefenderSide

    def attacker_strategy(self) -> AttackerStrategy:
        """Return the attacker that solves P_A at its belief."""
        return ProgramAttacker(self)

    def defender_strategy(self) -> DefenderStrategy:
        """Return the defender that solves P_D at its promise."""
        return ProgramDefender(self)


@dataclass(frozen=True)
class NCPBVI:
    """Non-cooperative point-based value iteration.

    Parameters
    ----------
    expansions : int
        N.
    sweeps : int
        T at the most: sweeps end when nothing moves any more.
    approximation : {"hull", "sawtooth"}
        How the stored points are joined.
    variant : {"corrected", "printed", "charitable"}
        The programs as they should be, or to the letter of the paper; or to the letter but for one index that may be
        a misprint, the points of s' following a stage at s and not those of s. The latter two are for comparison: they
        certify nothing, say estimates apart from the bounds, and take no game with a horizon.

    Examples
    --------
    >>> import ncirl
    >>> game = ncirl.games.aumann_maschler_1(p=0.4, discount=1 / 3)
    >>> solution = ncirl.solve(game, NCPBVI(expansions=4))
    >>> solution.lower <= 22 / 45 <= solution.upper, solution.gap < 1e-3
    (True, True)
    """

    expansions: int = 3
    sweeps: int = 20
    approximation: Approximation = "hull"
    variant: Variant = "corrected"

    def run(self, game: Game, *, progress: ProgressCallback | None, limits: Limits = UNLIMITED) -> NCPBVISolution:
        """Solve `game`; use `ncirl.solve` instead of calling this."""
        refuse_graph(self, game)
        if self.expansions < 0 or self.sweeps < 1:
            raise InputError("expansions must not be negative, and at least one sweep is needed")
        if self.variant != "corrected":
            from ncirl.solvers.nc_pbvi.printed.printed import run_printed

            return run_printed(self, game, progress)
        began, meter, merged = time.perf_counter(), Meter(), quotient(game.timed(), limits)
        shared = (merged.game, self.approximation, meter, initial_bounds(merged.game, limits=limits))
        for state in merged.game.explore(limits=limits):
            limits.need(merged.game.observing(state), "building the arrays of the search")
        defender = DefenderSide(*shared)
        attacker = AttackerSide(*shared, optimist=defender)
        trace: list[tuple[float, float]] = []
        for expansion in range(self.expansions + 1):
            for side in (defender, attacker):
                side.limits = limits
                if expansion:
                    side.expand()
                side.sweep(self.sweeps)
            trace.append((attacker.value(), defender.value()))
            if progress is not None:
                now = time.perf_counter() - began
                progress(Progress(now, *trace[-1], attacker.size, defender.size, meter.solves))
        return CorrectedSolution(
            game=game,
            lower=trace[-1][0],
            upper=trace[-1][1],
            status=Status.FINISHED,
            stats=Stats(time.perf_counter() - began, meter.solves, meter.seconds, len(merged.game.explore())),
            settings=self,
            claim="Both numbers bound the value of the game: what the attacker secures, what the defender concedes.",
            merged=merged,
            attacker_side=attacker,
            defender_side=defender,
            trace=tuple(trace),
        )
