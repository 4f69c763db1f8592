"""The study in plain words, as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from ncirl.experiments.campaign import Found
from ncirl.experiments.paper import RunRow
from ncirl.experiments.report import ATTACKERS, PLAYS, check_lines, markdown_table, wrapped
from ncirl.experiments.settings import RunSettings
from ncirl.experiments.summary import CONFIDENCE, Cell, Verdict

__all__ = ["write_study_report"]

HEAD = """# Where N-CIRL beats MA-IRL, and where not

![MA-IRL minus N-CIRL by setting, and the value of hiding](study.svg)

Graphs with {nodes} nodes, {graphs} for every cell and the same in all, {intents} intents, attack cost {attack_cost:g},
discount {discount:g}. {play} Numbers are in units of what the attacker's intent is worth; intervals hold with
{confidence:.0%}. "Below" says that the interval of the difference, taken graph by graph, shows N-CIRL's attacker to get
less; "above" that it gets more; "same" that there is no difference; "open" that these graphs do not decide.

"""
READINGS = """
## Three ways to read the paper's n stages
The paper runs "on a finite horizon of length n" and does not say whether the strategies knew it.

"""


def write_study_report(
    base: RunSettings, graphs: int, cells: Sequence[Cell], readings: Sequence[Cell], found: Found[RunRow]
) -> str:
    """Return the report.

    Parameters
    ----------
    base : RunSettings
        What is not varied.
    graphs : int
        For every cell.
    cells, readings : sequence of Cell
        Averages over graphs, by setting and by reading.
    found : mapping
        Every run.
    """
    parts = [
        HEAD.format(
            nodes=base.nodes,
            graphs=graphs,
            intents=base.intents,
            attack_cost=base.attack_cost,
            discount=base.game_discount,
            play=PLAYS[base.play],
            confidence=CONFIDENCE,
        )
    ]
    for attacker, described in ATTACKERS.items():
        given = [cell for cell in cells if cell.attacker == attacker]
        counts = {verdict: sum(cell.found.verdict == verdict for cell in given) for verdict in get_args(Verdict)}
        parts.append(
            f"## The attacker that meets MA-IRL {described}\n"
            f"N-CIRL is below in {counts['below']} of {len(given)} settings, above in {counts['above']}, the same in "
            f"{counts['same']}, open in {counts['open']}.\n\n"
        )
        settings = ("intents", "seen", "block cost")
        named = [(c.settings.shape, c.settings.observes, f"{c.settings.block_cost:g}") for c in given]
        parts.append(_table(settings, named, given) + "\n\n")
    parts.append(READINGS)
    named = [(cell.settings.play, f"{cell.settings.block_cost:g}", cell.attacker) for cell in readings]
    parts.append(_table(("play", "block cost", "attacker"), named, readings) + "\n\n")
    parts.append("## Checks\n" + check_lines(base, found))
    return wrapped("".join(parts))


def _table(columns: Sequence[str], named: Sequence[Sequence[str]], cells: Sequence[Cell]) -> str:
    found = [cell.found for cell in cells]
    return markdown_table(
        (*columns, "MA-IRL", "N-CIRL", "difference", "N-CIRL is", "value of hiding"),
        (
            (*names, c.ma_irl, c.ncirl, c.difference, f"{c.verdict} ({c.lower_on} of {c.graphs})", c.hiding)
            for names, c in zip(named, found, strict=True)
        ),
    )
