"""Averages over graphs with their intervals.

For m graphs drawn alike, mean ± t(m − 1) s / √m holds the mean over all such graphs with probability `CONFIDENCE` (for
roughly normal values), widened by how far the single values may be off. Both defenders meet the same graphs, so the
difference is taken graph by graph: what graphs have in common drops out of its interval.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, isfinite
from typing import Literal, get_args

import numpy as np
from scipy.special import stdtrit

from ncirl.experiments.paper import RunRow
from ncirl.experiments.settings import RunSettings

__all__ = [
    "CONFIDENCE",
    "BaselineAttacker",
    "Cell",
    "Comparison",
    "Mean",
    "Verdict",
    "cells",
    "compare",
    "mean_of",
    "reduction",
]

CONFIDENCE = 0.95

SAME = 1e-3  # of what an intent is worth: less is no difference

BaselineAttacker = Literal["equilibrium", "best-response"]
Verdict = Literal["below", "above", "same", "open"]


@dataclass(frozen=True)
class Mean:
    """An average and how far from it the true one may be; infinite for a single value."""

    value: float
    half: float

    @property
    def low(self) -> float:
        """The lower end of the interval."""
        return self.value - self.half

    @property
    def high(self) -> float:
        """The upper end of the interval."""
        return self.value + self.half

    def __str__(self) -> str:
        return f"{round(self.value, 3) + 0.0:.3f}" + (f" ± {self.half:.3f}" if isfinite(self.half) else "")


@dataclass(frozen=True)
class Comparison:
    """The two defenders on the same graphs."""

    graphs: int
    ma_irl: Mean  # the attacker's reward against either
    ncirl: Mean
    difference: Mean  # MA-IRL − N-CIRL, graph by graph
    lower_on: int  # graphs on which N-CIRL's is below, by more than `SAME`
    reduction: Mean  # of the relative reduction 1 − N-CIRL / MA-IRL
    hiding: Mean  # of the value of hiding one's intent

    @property
    def verdict(self) -> Verdict:
        """Where N-CIRL lies, if the interval of the difference shows it."""
        low, high = self.difference.low, self.difference.high
        if low > -SAME and high < SAME:
            return "same"
        return "below" if low > 0 else "above" if high < 0 else "open"


@dataclass(frozen=True)
class Cell:
    """An average over graphs: the settings but for the seed, who meets MA-IRL, what was found."""

    settings: RunSettings
    attacker: BaselineAttacker
    found: Comparison

    def flat(self) -> dict[str, int | float | str]:
        """Return a row of a table."""
        settings, found = self.settings, self.found
        means = {name: getattr(found, name) for name in ("ma_irl", "ncirl", "difference", "reduction", "hiding")}
        return {
            "nodes": settings.nodes,
            "shape": settings.shape,
            "observes": settings.observes,
            "attack_cost": settings.attack_cost,
            "block_cost": settings.block_cost,
            "discount": settings.game_discount,
            "play": settings.play,
            "attacker": self.attacker,
            "graphs": found.graphs,
            "lower_on": found.lower_on,
            "verdict": found.verdict,
            **{f"{name}_{part}": getattr(mean, part) for name, mean in means.items() for part in ("value", "half")},
        }


def cells(found: Mapping[RunSettings, RunRow]) -> tuple[Cell, ...]:
    """Average over graphs, for every setting and either attacker."""
    rows: dict[RunSettings, list[RunRow]] = {}
    for settings, row in found.items():
        rows.setdefault(replace(settings, seed=0), []).append(row)
    return tuple(
        Cell(settings, attacker, compare(given, attacker))
        for settings, given in rows.items()
        for attacker in get_args(BaselineAttacker)
    )


def mean_of(values: Sequence[float], errors: Sequence[float] = ()) -> Mean:
    """Average values that may each be off by their error.

    Examples
    --------
    >>> str(mean_of([1.0, 2.0, 3.0]))
    '2.000 ± 2.484'
    """
    if not values:
        return Mean(float("nan"), inf)
    m = len(values)
    spread = stdtrit(m - 1, (1 + CONFIDENCE) / 2) * float(np.std(values, ddof=1)) / m**0.5 if m > 1 else inf
    return Mean(float(np.mean(values)), float(spread) + (float(np.mean(errors)) if errors else 0.0))


def reduction(row: RunRow, ma_irl: float) -> float | None:
    """Return 1 − N-CIRL / MA-IRL of what the attacker expects, if the latter is positive."""
    return 1 - row.ncirl.expected / ma_irl if ma_irl > 0 else None


def compare(rows: Sequence[RunRow], attacker: BaselineAttacker = "equilibrium") -> Comparison:
    """Compare the two defenders over runs."""
    pairs = [(row, row.ma_irl if attacker == "equilibrium" else row.ma_irl_best) for row in rows]
    differences = [ma_irl.expected - row.ncirl.expected for row, ma_irl in pairs]
    reductions = [reduction(row, ma_irl.expected) for row, ma_irl in pairs]
    return Comparison(
        graphs=len(rows),
        ma_irl=mean_of([ma_irl.expected for _, ma_irl in pairs], [ma_irl.error for _, ma_irl in pairs]),
        ncirl=mean_of([row.ncirl.expected for row in rows], [row.ncirl.error for row in rows]),
        difference=mean_of(differences, [ma_irl.error + row.ncirl.error for row, ma_irl in pairs]),
        lower_on=sum(difference > SAME for difference in differences),
        reduction=mean_of([share for share in reductions if share is not None]),
        hiding=mean_of(
            [(row.hiding_lower + row.hiding_upper) / 2 for row in rows],
            [(row.hiding_upper - row.hiding_lower) / 2 for row in rows],
        ),
    )
