"""NC-PBVI to the letter of the paper's Algorithm 1, for comparison: it certifies nothing.

    for p in {A, D}:
        initialise Y_s, W_s for every s
        for N expansions:
            for T iterations:  UPDATE-p        v (or w) at every point of Y_s ∪ W_s by the printed P_A (P_D)
            EXPAND-p                           per point, one new point of Y_s

with the programs of `lp.printed`: the sawtooth with its `break`, the continuation from the points of s itself; what
EXPAND finds is stored at s. Values are what the answers are worth in the programs, the defender's their objectives, in
place. The variant `charitable` takes the index s of that continuation for a misprint: it looks up and stores at s', and
is to the letter otherwise. What the page leaves open is chosen here:

- W_s holds the unit beliefs (unit promises), Y_s begins with the prior and the beliefs of the starts. Values begin
  where the truth is surely on the right side: v = R_min / (1 − γ), w(e_θ) = 1 + R_max / (1 − γ).
- ζ0 ∈ −∂v(s0, b0) is minus the multipliers of the belief rows of the printed P_A(s0, b0), after the attacker's turn.
- P_D has a λ for every (a, s') where EXPAND-D speaks of one ζ': the one farthest from ζ in ℓ1, as for the attacker.
- The printed P_D may be unbounded (its λ are free to grow while its sawtooth is too low). Such a point keeps its
  value, and the defender's number becomes NaN.

The paper's game has no horizon, and as printed the program at (t, s) would look at (t, s) again, never at t + 1; so a
game with a horizon is refused.

What it says of the value are estimates. The bounds of the solution are those that hold for any play,

    min(R_min, 0) / (1 − γ)  ≤  v  ≤  max(R_max, 0) / (1 − γ).
"""

import time
from dataclasses import dataclass

from ncirl.errors import InputError
from ncirl.lp.session import Meter
from ncirl.model.game import Game, Observes
from ncirl.solution import Progress, ProgressCallback, Stats, Status
from ncirl.solvers.nc_pbvi.nc_pbvi import NCPBVI, NCPBVISolution
from ncirl.solvers.nc_pbvi.printed.play import PrintedAttacker, PrintedDefender
from ncirl.solvers.nc_pbvi.printed.sides import PrintedAttackerSide, PrintedDefenderSide

__all__ = ["PrintedSolution", "run_printed"]

CLAIM = (
    "Nothing is certified: by the programs as the paper prints them the attacker estimates {attacker:.6g} and the "
    "defender {defender:.6g}; these may cross. The bounds are the least and the largest that any play can pay."
)
UNBOUNDED = " The printed P_D was unbounded at some promises, so the defender's number is missing."


@dataclass(frozen=True, kw_only=True, repr=False)
class PrintedSolution(NCPBVISolution):
    """What both players stored, as printed.

    Attributes
    ----------
    attacker_estimate, defender_estimate : float
        What the programs of either side say of the value; neither bounds it, and the defender's may be NaN.
    lower, upper : float
        The least and the largest that any play can pay.
    """

    attacker_estimate: float
    defender_estimate: float
    attacker_side: PrintedAttackerSide  # points of every state
    defender_side: PrintedDefenderSide

    def attacker_strategy(self) -> PrintedAttacker:
        """Return the attacker that solves the printed P_A at its belief."""
        return PrintedAttacker(self.game.timed(), self.attacker_side)

    def defender_strategy(self) -> PrintedDefender:
        """Return the defender that solves the printed P_D at its promise."""
        return PrintedDefender(self.game.timed(), self.defender_side)


def run_printed(settings: NCPBVI, game: Game, progress: ProgressCallback | None = None) -> PrintedSolution:
    """Run Algorithm 1 as printed.

    Raises
    ------
    InputError
        When actions are not seen (the paper's are), the discount is 1 (nothing then ends the sweeps' growth), or the
        game has a horizon.
    """
    if game.observes is not Observes.ACTIONS:
        raise InputError("variant: the printed algorithm is for games that observe actions; use 'corrected'")
    if game.discount >= 1:
        raise InputError("variant: the printed algorithm needs a discount below 1; use 'corrected'")
    if game.horizon is not None:
        raise InputError(
            f"variant: the printed algorithm knows no horizon, and game '{game.name}' ends after {game.horizon} stages"
            "; use 'corrected', or solve `game.with_horizon(None)`"
        )
    began, meter = time.perf_counter(), Meter()
    charitable = settings.variant == "charitable"
    attacker = PrintedAttackerSide(game, meter, charitable)
    least, most = min(attacker.least, 0.0), max(attacker.most, 0.0)
    lower = [attacker.value()]
    for _ in range(settings.expansions):
        for _ in range(settings.sweeps):
            attacker.update()
        attacker.expand()
        lower.append(attacker.value())
    defender = PrintedDefenderSide(game, meter, attacker.slopes(), charitable)
    upper = [defender.value()]
    for _ in range(settings.expansions):
        for _ in range(settings.sweeps):
            defender.update()
        defender.expand()
        upper.append(defender.value())
        if progress is not None:
            now = time.perf_counter() - began
            progress(Progress(now, least, most, attacker.size, defender.size, meter.solves))
    return PrintedSolution(
        game=game,
        lower=least,
        upper=most,
        status=Status.FINISHED,
        stats=Stats(time.perf_counter() - began, meter.solves, meter.seconds, len(game.explore())),
        settings=settings,
        claim=CLAIM.format(attacker=lower[-1], defender=upper[-1]) + (UNBOUNDED if defender.unbounded else ""),
        attacker_estimate=lower[-1],
        defender_estimate=upper[-1],
        attacker_side=attacker,
        defender_side=defender,
        trace=tuple(zip(lower, upper, strict=True)),
    )
