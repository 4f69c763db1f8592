"""The paper's experiment from settings to files: table, timings, settings, figure and report in one directory."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import get_args

from ncirl.experiments.campaign import Announce, CampaignResult, finished, gather, grid, silent, write_settings
from ncirl.experiments.figure import draw_figure, need_matplotlib
from ncirl.experiments.paper import RunRow, TimingRow, run, time_nc_pbvi
from ncirl.experiments.pool import Failure, Pool
from ncirl.experiments.report import write_report
from ncirl.experiments.settings import FIRST_SEED, RunSettings
from ncirl.experiments.store import Store
from ncirl.experiments.summary import BaselineAttacker, Mean, cells, mean_of
from ncirl.experiments.table import results, timings, write_csv, write_parquet
from ncirl.formats.files import write_atomically

__all__ = ["Reproduction", "reproduce"]

NAMES = {
    "certified": "certified",
    "nc-pbvi": "NC-PBVI",
    "nc-pbvi-printed": "NC-PBVI as printed",
    "nc-pbvi-charitable": "NC-PBVI, read with charity",
}


@dataclass(frozen=True)
class Reproduction:
    """What to reproduce."""

    # what all runs have in common; its nodes and seed do not count
    base: RunSettings = field(default_factory=lambda: RunSettings(nodes=6, seed=1, time_limit=120.0))
    sizes: Sequence[int] = (6, 7, 8, 9, 10)  # numbers of nodes
    graphs: int = 20  # of each size
    first_seed: int = FIRST_SEED  # beyond the graphs on which the defaults were chosen
    attacker: BaselineAttacker = "equilibrium"  # what the figure shows; the tables have all
    nc_pbvi_graphs: int = 3  # the most of each size that NC-PBVI is timed on, one of every size first
    nc_pbvi_seconds: float = 300.0  # how long that may take in all

    @property
    def seeds(self) -> range:
        """The seeds of the graphs."""
        return range(self.first_seed, self.first_seed + self.graphs)


def reproduce(plan: Reproduction, directory: Path, pool: Pool, announce: Announce = silent) -> CampaignResult:
    """Run what is missing, write everything; finished runs are kept in ``runs`` below the directory."""
    need_matplotlib()
    tasks = list(grid(plan.base, plan.sizes, plan.seeds))
    directory.mkdir(parents=True, exist_ok=True)
    write_settings(directory / "settings.json", asdict(plan), plan.seeds)
    found = gather(run, tasks, Store(directory / "runs", run, RunRow), pool, progress=announce("runs"))
    nc_pbvi = _timed(plan, directory / "runs", pool, announce)

    write_csv(directory / "results.csv", results(found))
    write_csv(directory / "timings.csv", timings(found, nc_pbvi))
    rows = dict(sorted(finished(found).items(), key=lambda run: run[0].nodes))
    averages = cells(rows)
    write_csv(directory / "averages.csv", [cell.flat() for cell in averages])
    parquet = write_parquet(directory / "results.parquet", results(found))
    compared = {
        kind: {cell.settings.nodes: cell.found for cell in averages if cell.attacker == kind}
        for kind in get_args(BaselineAttacker)
    }
    runtimes = {NAMES[plan.base.solver]: _seconds({s: row.solve_seconds for s, row in rows.items()})}
    if nc_pbvi:
        runtimes["NC-PBVI"] = _seconds({s: row.seconds for s, row in nc_pbvi.items()})
    shown = {s.nodes: (s, row) for s, row in sorted(rows.items(), key=lambda run: -run[0].seed)}
    draw_figure(
        directory / "figure.svg",
        {n: settings.graph() for n, (settings, _) in shown.items()},
        {n: (row.states, row.actions) for n, (_, row) in shown.items()},
        compared[plan.attacker],
        runtimes,
    )
    timed = {n: [s.seed for s in nc_pbvi if s.nodes == n] for n in {s.nodes for s in nc_pbvi}}
    said = write_report(plan.base, found, compared, runtimes, attacker=plan.attacker, timed=timed, figure="figure.svg")
    write_atomically(directory / "report.md", said)
    names = ["report.md", "figure.svg", "results.csv", "averages.csv", "timings.csv", "settings.json"]
    files = [directory / name for name in names + ["results.parquet"] * parquet]
    return CampaignResult(found, tuple(files), averages)


def _timed(plan: Reproduction, runs: Path, pool: Pool, announce: Announce) -> dict[RunSettings, TimingRow]:
    """Time NC-PBVI until its time is over: a graph of every size, small ones first, then the next of every size."""
    if plan.base.solver != "certified" or not plan.nc_pbvi_seconds > 0:
        return {}
    base = replace(plan.base, time_limit=None, episodes=1, gap=0.0)  # of no consequence here: let them name no new runs
    tasks = sorted(
        grid(base, plan.sizes, plan.seeds[: plan.nc_pbvi_graphs]), key=lambda given: (given.seed, given.nodes)
    )
    store = Store(runs, time_nc_pbvi, TimingRow)
    progress = announce("NC-PBVI")
    found = gather(time_nc_pbvi, tasks, store, pool, progress=progress, seconds=plan.nc_pbvi_seconds)
    return {settings: row for settings, row in found.items() if not isinstance(row, Failure)}


def _seconds(taken: Mapping[RunSettings, float]) -> dict[int, Mean]:
    sizes = sorted({settings.nodes for settings in taken})
    return {n: mean_of([seconds for s, seconds in taken.items() if s.nodes == n]) for n in sizes}
