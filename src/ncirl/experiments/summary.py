"""Averages over graphs with their intervals.

For m graphs drawn alike, mean ± t(m − 1) s / √m holds the mean over all such graphs with probability `CONFIDENCE` (for
roughly normal values), widened by how far the single values may be off. Both defenders meet the same graphs, so the
difference is taken graph by graph: what graphs have in common drops out of its interval.

Where k settings are judged side by side, a verdict rests on the interval of confidence 1 − (1 − `CONFIDENCE`) / k: then
all k verdicts are right at once with probability `CONFIDENCE` (Bonferroni).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, isfinite
from typing import Literal, get_args

import numpy as np
from scipy.special import stdtrit

from ncirl.experiments.measure import Measured
from ncirl.experiments.paper import RunRow
from ncirl.experiments.settings import RunSettings

__all__ = [
    "CONFIDENCE",
    "PAIRS",
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

BaselineAttacker = Literal["equilibrium", "equilibrium-fixed", "ncirl-fixed", "best-response"]
PAIRS: dict[BaselineAttacker, tuple[str, str]] = {  # what is compared: the column against MA-IRL, and against N-CIRL
    "equilibrium": ("ma_irl", "ncirl"),
    "equilibrium-fixed": ("ma_irl", "ncirl_equilibrium"),
    "ncirl-fixed": ("ma_irl_ncirl", "ncirl"),
    "best-response": ("ma_irl_best", "ncirl"),
}
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
    joint: Mean  # the same with the interval on which the verdict rests, wider where many are passed at once
    lower_on: int  # graphs on which N-CIRL's is below, by more than `SAME`
    reduction: Mean  # of the relative reduction 1 − N-CIRL / MA-IRL
    hiding: Mean  # of the value of hiding one's intent

    @property
    def verdict(self) -> Verdict:
        """Where N-CIRL lies, if the joint interval of the difference shows it."""
        low, high = self.joint.low, self.joint.high
        if low > -SAME and high < SAME:
            return "same"
        return "below" if low > 0 else "above" if high < 0 else "open"


@dataclass(frozen=True)
class Cell:
    """An average over graphs: the settings but for the seed, who meets whom (`PAIRS`), what was found."""

    settings: RunSettings
    attacker: BaselineAttacker
    found: Comparison

    def flat(self) -> dict[str, int | float | str]:
        """Return a row of a table."""
        settings, found = self.settings, self.found
        names = ("ma_irl", "ncirl", "difference", "joint", "reduction", "hiding")
        means = {name: getattr(found, name) for name in names}
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
    """Average over graphs, for every setting and all of `PAIRS`; verdicts hold for all settings at once."""
    rows: dict[RunSettings, list[RunRow]] = {}
    for settings, row in found.items():
        rows.setdefault(replace(settings, seed=0), []).append(row)
    return tuple(
        Cell(settings, attacker, compare(given, attacker, of=len(rows)))
        for settings, given in rows.items()
        for attacker in get_args(BaselineAttacker)
    )


def mean_of(values: Sequence[float], errors: Sequence[float] = (), *, of: int = 1) -> Mean:
    """Average values that may each be off by their error; the interval is one `of` so many that hold all at once.

    Examples
    --------
    >>> str(mean_of([1.0, 2.0, 3.0]))
    '2.000 ± 2.484'
    """
    if not values:
        return Mean(float("nan"), inf)
    m = len(values)
    quantile = stdtrit(m - 1, 1 - (1 - CONFIDENCE) / (2 * of)) if m > 1 else inf
    spread = quantile * float(np.std(values, ddof=1)) / m**0.5 if m > 1 else inf
    return Mean(float(np.mean(values)), float(spread) + (float(np.mean(errors)) if errors else 0.0))


def reduction(row: RunRow, attacker: BaselineAttacker = "equilibrium") -> float | None:
    """Return 1 − N-CIRL / MA-IRL of what the attacker expects, if the latter is positive."""
    ma_irl, ncirl = (getattr(row, name).expected for name in PAIRS[attacker])
    return 1 - ncirl / ma_irl if ma_irl > 0 else None


def compare(rows: Sequence[RunRow], attacker: BaselineAttacker = "equilibrium", *, of: int = 1) -> Comparison:
    """Compare the two defenders over runs, as one `of` so many comparisons side by side."""
    pairs: list[tuple[Measured, Measured]] = [
        (getattr(row, PAIRS[attacker][0]), getattr(row, PAIRS[attacker][1])) for row in rows
    ]
    differences = [ma_irl.expected - ncirl.expected for ma_irl, ncirl in pairs]
    errors = [ma_irl.error + ncirl.error for ma_irl, ncirl in pairs]
    reductions = [reduction(row, attacker) for row in rows]
    return Comparison(
        graphs=len(rows),
        ma_irl=mean_of([ma_irl.expected for ma_irl, _ in pairs], [ma_irl.error for ma_irl, _ in pairs]),
        ncirl=mean_of([ncirl.expected for _, ncirl in pairs], [ncirl.error for _, ncirl in pairs]),
        difference=mean_of(differences, errors),
        joint=mean_of(differences, errors, of=of),
        lower_on=sum(difference > SAME for difference in differences),
        reduction=mean_of([share for share in reductions if share is not None]),
        hiding=mean_of(
            [(row.hiding_lower + row.hiding_upper) / 2 for row in rows],
            [(row.hiding_upper - row.hiding_lower) / 2 for row in rows],
        ),
    )
