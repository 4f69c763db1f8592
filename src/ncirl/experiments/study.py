"""Where the claim holds and where not: block cost × intents × what the defender sees × who meets MA-IRL.

Every cell averages over the same graphs. The value of hiding one's intent is v(P0) − Σ_θ P0(θ) v(θ): what the attacker
gains, both sides playing perfectly, by the defender's not knowing its intent. It does not say what learning is worth:
that is what a defence concedes more that does not learn (`ncirl reproduce` has that column). Beside it, for one
setting, the three ways to read the paper's n stages.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import get_args

from ncirl.experiments.campaign import Announce, CampaignResult, Found, finished, gather, grid, silent, write_settings
from ncirl.experiments.figure import draw_heatmap, need_matplotlib
from ncirl.experiments.paper import RunRow, run
from ncirl.experiments.pool import Pool
from ncirl.experiments.report import ATTACKERS, NO_EVIDENCE, PLAYS, check_lines, is_arithmetic, wrapped
from ncirl.experiments.settings import FIRST_SEED, Play, RunSettings
from ncirl.experiments.store import Store
from ncirl.experiments.summary import CONFIDENCE, Cell, Verdict, cells
from ncirl.experiments.table import markdown_table, results, write_csv, write_parquet
from ncirl.formats.files import write_atomically

__all__ = ["Study", "study", "write_study_report"]

HEAD = """# Where N-CIRL beats MA-IRL, and where not

![MA-IRL minus N-CIRL by setting, and the value of hiding](study.svg)

Graphs with {base.nodes} nodes, {graphs} for every cell and the same in all, {base.intents} intents, attack cost
{base.attack_cost:g}, discount {base.game_discount:g}. {play} Numbers are in units of what the attacker's intent is
worth; each interval holds with {confidence:.0%}. "Below" says that the interval of the difference, taken graph by
graph, shows N-CIRL's attacker to get less; "above" that it gets more; "same" that there is no difference; "open" that
these graphs do not decide. For that the interval is widened, so that all verdicts of a table hold at once with
{confidence:.0%} (Bonferroni).

"""
READINGS = """
## Three ways to read the paper's n stages
The paper runs "on a finite horizon of length n" and does not say whether the strategies knew it.

"""


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


def study(plan: Study, directory: Path, pool: Pool, announce: Announce = silent) -> CampaignResult:
    """Run what is missing, write everything; finished runs are kept in ``runs`` below the directory."""
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
    return CampaignResult(found, tuple(files), everywhere)


def write_study_report(
    base: RunSettings, graphs: int, varied: Sequence[Cell], readings: Sequence[Cell], found: Found[RunRow]
) -> str:
    """Say in words what came out: averages by setting and by reading, and whether every run can be relied on."""
    parts = [HEAD.format(base=base, graphs=graphs, play=PLAYS[base.play], confidence=CONFIDENCE)]
    for attacker, (title, described) in ATTACKERS.items():
        given = [cell for cell in varied if cell.attacker == attacker]
        counts = {verdict: sum(cell.found.verdict == verdict for cell in given) for verdict in get_args(Verdict)}
        counted = (
            f"N-CIRL is below in {counts['below']} of {len(given)} settings, above in {counts['above']}, "
            f"the same in {counts['same']}, open in {counts['open']}."
        )
        parts.append(f"## {title}\n{described}. {NO_EVIDENCE if is_arithmetic(base, attacker) else counted}\n\n")
        named = [(c.settings.shape, c.settings.observes, f"{c.settings.block_cost:g}") for c in given]
        parts.append(_table(("intents", "seen", "block cost"), named, given))
    parts.append(READINGS)
    named = [(cell.settings.play, f"{cell.settings.block_cost:g}", cell.attacker) for cell in readings]
    parts.append(_table(("play", "block cost", "attacker"), named, readings))
    parts.append("## Checks\n" + check_lines(base, found))
    return wrapped("".join(parts))


def _table(columns: Sequence[str], named: Sequence[Sequence[str]], given: Sequence[Cell]) -> str:
    rows = (
        (*names, c.ma_irl, c.ncirl, c.difference, f"{c.verdict} ({c.lower_on} of {c.graphs})", c.hiding)
        for names, c in zip(named, (cell.found for cell in given), strict=True)
    )
    return markdown_table((*columns, "MA-IRL", "N-CIRL", "difference", "N-CIRL is", "value of hiding"), rows) + "\n\n"
