"""What each constant of the certified solver does: work to the same gap when it is halved and when it is doubled.

Work is counted (rows touched by linear programs), so the figures are the same on every machine, however busy.

    python -m benchmarks.tuning GRAPH... [--relative-gap 0.01]
"""

from __future__ import annotations

import argparse
from dataclasses import asdict, replace
from pathlib import Path
from statistics import geometric_mean
from typing import Any

from ncirl import AttackGraph, Game
from ncirl.lp.session import Meter
from ncirl.model.intents import merge_intents
from ncirl.model.tempered import tempered
from ncirl.solvers.certified.activities import activities
from ncirl.solvers.certified.certified import Certified
from ncirl.solvers.certified.schedule import Schedule
from ncirl.solvers.certified.search import Search
from ncirl.solvers.certified.tuning import Tuning
from ncirl.solvers.initial import initial_bounds

MOST = 40  # times the usual work: then it is given up


def work(game: Game, tuning: Tuning, relative_gap: float, limit: float = float("inf")) -> float:
    """Return the work until the bounds are as close as asked, or the limit."""
    small, meter = tempered(merge_intents(game).game), Meter()
    search = Search(small.game, initial_bounds(small.game, small.options), meter, tuning)
    schedule = Schedule(search, activities(search, Certified().width))
    while meter.work < limit:
        low, high = search.bounds()
        target = relative_gap * max(abs(low), abs(high))
        if high - low <= target:
            return float(meter.work)
        schedule.step(target, lambda: meter.work > limit)
    return limit


def run(paths: list[Path], relative_gap: float) -> list[dict[str, Any]]:
    """Halve and double each constant; return work as a multiple of what it is now, the geometric mean over graphs."""
    games = [AttackGraph.load(path).game() for path in paths]
    usual = [work(game, Tuning(), relative_gap) for game in games]
    rows = []
    for name, now in asdict(Tuning()).items():
        row: dict[str, Any] = {"constant": name, "value": now}
        for change, factor in (("halved", 0.5), ("doubled", 2.0)):
            tuning = replace(Tuning(), **{name: type(now)(now * factor)})
            row[change] = geometric_mean(
                work(game, tuning, relative_gap, MOST * one) / one for game, one in zip(games, usual, strict=True)
            )
        rows.append(row)
        print(f"{row['constant']:<18}{row['value']:>10g}{row['halved']:>9.2f}{row['doubled']:>9.2f}", flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("graphs", nargs="+", type=Path)
    parser.add_argument("--relative-gap", type=float, default=0.01)
    given = parser.parse_args()
    print(f"{'constant':<18}{'now':>10}{'halved':>9}{'doubled':>9}")
    run(given.graphs, given.relative_gap)


if __name__ == "__main__":
    main()
