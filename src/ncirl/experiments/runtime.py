"""How long NC-PBVI takes: the last panel of the paper's figure."""

from __future__ import annotations

from dataclasses import dataclass

from ncirl.experiments.measure import in_units, units
from ncirl.experiments.settings import EXPANSIONS, RunSettings
from ncirl.solution import solve
from ncirl.solvers.nc_pbvi.nc_pbvi import NCPBVI

__all__ = ["TimingRow", "time_nc_pbvi"]


@dataclass(frozen=True)
class TimingRow:
    """The bounds that NC-PBVI reached, and how long it took."""

    nodes: int
    seed: int
    lower: float
    upper: float
    seconds: float


def time_nc_pbvi(settings: RunSettings) -> TimingRow:
    """Solve the game of a run by NC-PBVI (corrected, hull) instead of the certified solver."""
    graph = settings.graph()
    solution = solve(in_units(graph.game(), units(graph)), NCPBVI(expansions=EXPANSIONS))
    return TimingRow(settings.nodes, settings.seed, solution.lower, solution.upper, solution.stats.seconds)
