"""Where the claim holds and where not: block cost × intents × what the defender sees × who meets MA-IRL.

Every cell averages over the same graphs. The value of hiding one's intent is v(P0) − Σ_θ P0(θ) v(θ): what the attacker
gains, both sides playing perfectly, by the defender's not knowing its intent. Where it is nothing there is nothing to
learn, and MA-IRL loses only by having inferred another intent. Beside it, for one setting, the three ways to read the
paper's n stages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import get_args

from ncirl.experiments.campaign import Announce, gather, grid, silent, write_settings
from ncirl.experiments.figure import need_matplotlib
from ncirl.experiments.heatmap import draw_heatmap
from ncirl.experiments.outcome import Outcome, finished
from ncirl.experiments.paper import RunRow, run
from ncirl.experiments.pool import Pool
from ncirl.experiments.settings import FIRST_SEED, Play, RunSettings
from ncirl.experiments.store import Store
from ncirl.experiments.study_report import write_study_report
from ncirl.experiments.summary import cells
from ncirl.experiments.table import results, write_csv, write_parquet
from ncirl.formats.files import write_atomically

__all__ = ["Study", "study"]


@dataclass(frozen=True)
class Study:
    """What to look at.

    Parameters
    ----------
    base : RunSettings
        What is not varied; its seed does not count.
    graphs : int
        For every cell, the same: those with the seeds from `FIRST_SEED` on.
    block_costs, shapes, observes : sequence
        What is varied, each with each.
    """

    base: RunSettings = field(default_factory=lambda: RunSettings(nodes=5, seed=1, gap=0.02, time_limit=20.0))
    graphs: int = 8
    block_costs: Sequence[float] = (0.02, 0.05, 0.1, 0.2, 0.4)
    shapes: Sequence[str] = ("goals", "dirichlet", "dense")
    observes: Sequence[str] = ("actions", "outcomes")


def study(plan: Study, directory: Path, pool: Pool, announce: Announce = silent) -> Outcome:
    """Run what is missing, write everything; parameters as for `reproduce`."""
    need_matplotlib()
    sizes, seeds = (plan.base.nodes,), range(FIRST_SEED, FIRST_SEED + plan.graphs)
    varied = {"shape": plan.shapes, "observes": plan.observes, "block_cost": plan.block_costs}
    tasks = list(grid(plan.base, sizes, seeds, **varied))
    readings = list(grid(plan.base, sizes, seeds, play=get_args(Play), block_cost=plan.block_costs))
    everything = list(dict.fromkeys(tasks + readings))
    directory.mkdir(parents=True, exist_ok=True)
    write_settings(directory / "study.json", asdict(plan), seeds)
    store = Store(directory / "runs", run, RunRow)
    found = gather(run, everything, store, pool, progress=announce("study"))

    write_csv(directory / "study-runs.csv", results(found))
    parquet = write_parquet(directory / "study-runs.parquet", results(found))
    rows = finished(found)
    varied_cells, read = (cells({s: rows[s] for s in given if s in rows}) for given in (tasks, readings))
    everywhere = tuple(dict.fromkeys((*varied_cells, *read)))
    write_csv(directory / "study.csv", [cell.flat() for cell in everywhere])
    draw_heatmap(directory / "study.svg", varied_cells)
    write_atomically(directory / "study.md", write_study_report(plan.base, plan.graphs, varied_cells, read, found))
    names = ["study.md", "study.svg", "study.csv", "study-runs.csv", "study.json"]
    files = [directory / name for name in names + ["study-runs.parquet"] * parquet]
    return Outcome(found, tuple(files), everywhere)
