"""The experiment in plain words, as Markdown: what the paper claims, what came out, what cannot be compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from textwrap import fill
from typing import get_args

from ncirl.experiments.campaign import Found
from ncirl.experiments.paper import RunRow
from ncirl.experiments.pool import Failure
from ncirl.experiments.settings import EXPANSIONS, FIRST_SEED, RunSettings
from ncirl.experiments.summary import CONFIDENCE, BaselineAttacker, Comparison, Mean, Verdict

__all__ = ["ATTACKERS", "PLAYS", "check_lines", "markdown_table", "wrapped", "write_report"]

WIDTH = 120
FIXED = ("#", "|", "- ", "  ", "!")  # how lines begin that are no prose
PLAYS = {
    "finite": "Strategies are made for the game that ends after n stages, and all of it counts.",
    "cut": "Strategies are made for the discounted game without end, and its first n stages count.",
    "endless": "Strategies are made for the discounted game without end, and all of it counts, discounted.",
}
SHAPES = {
    "goals": "each intent prizes one or two conditions",
    "dense": "each intent prizes all conditions, in proportion to uniform draws",
    "dirichlet": "each intent prizes all conditions, by a flat Dirichlet draw",
}
ATTACKERS: dict[BaselineAttacker, str] = {
    "equilibrium": "plays the equilibrium of the game in which its intent is public, as in the paper",
    "best-response": "knows what MA-IRL's defender plays and answers best",
}
HEAD = """# N-CIRL against MA-IRL on random attack graphs

{figure}

## What the paper claims
"The strategies obtained from N-CIRL yield a lower attacker reward than the strategies obtained from MA-IRL", for n = 6
to 10 nodes, 20 graphs each, 10 intents, a horizon of n (Zhang, Zhang, Miehling and Başar, NeurIPS 2019, section 5 and
appendix C). MA-IRL's defender plays the complete-information equilibrium of an intent that it inferred earlier;
N-CIRL's takes the true intent for unknown and learns while it plays.

## What was run
{runs} runs: {graphs} graphs of each size n = {sizes}, {intents} intents, success {success:g}. The paper leaves open the
rest; the choices are ours, and the outcome depends on them (`ncirl reproduce --study` shows how): attack cost
{attack_cost:g}, block cost {block_cost:g}, {shape}, the defender sees {observes}, discount {discount:g}.
{play} N-CIRL's strategies come from the solver `{solver}`{gap}. The earlier intent is inferred perfectly and drawn from
the same intents as the true one. Rewards are in units of what the attacker's intent is worth in all; blocking is paid
to the attacker, so they can exceed 1.

## What came out
"""
CHOSEN = """
## How the default setting was chosen
By looking, and this should be known. On graphs with seeds below {first}, one to six of a size, thirteen settings were
tried, all with goal-like intents, attack cost 0.02 unless said, and the attacker that plays its equilibrium:

| play | discount | block cost | sizes | N-CIRL lower on |
| --- | --- | --- | --- | --- |
| finite | 1 | 0.05 | 6 | 1 of 3 |
| finite | 1 | 0.05, attack 0.05 | 6 | 1 of 3 |
| finite | 1 | 0.1 | 6, 10 | 6 of 7 |
| finite | 1 | 0.15 | 6, 8 | 8 of 8 |
| finite | 1 | 0.2 | 6, 8, 10 | 8 of 8 |
| endless | 0.8 | 0.05 | 6, 8 | 0 of 4 |
| endless | 0.9 | 0.05 | 6 | 4 of 4 |
| endless | 0.95 | 0.05 | 6 to 10 | 15 of 15 |
| endless | 0.98 | 0.05 | 6, 8, 10 | 0 of 9, no difference |
| cut | 0.8 | 0.05 | 6, 8 | 0 of 3 |
| cut | 0.9 | 0.05 | 6 | 1 of 4 |
| cut | 0.95 | 0.05 | 6 to 10 | 4 of 15 |
| cut | 0.98 | 0.05 | 6, 8, 10 | 0 of 9, no difference |

Finite play at block cost 0.2 became the default: it is the plainest reading of the paper's words, the claim held on
every graph tried, and the certified solver is fast there. So this setting shows that the claim can hold, not that it
always does. By default the graphs are others than those it was chosen on, with seeds from {first} on.
"""
OPEN = """
## What could not be compared
- The paper's averages, reductions and runtimes exist only as plots: there are no numbers to compare with, only the
  direction.
- The paper gives neither costs, discount and intents nor how its graphs were drawn. Graphs here are drawn so that
  their sizes come close to those in its caption.
- The paper does not say whether its strategies knew about the n stages. `--play finite`, `--play cut` and `--play
  endless` are the three ways to read it; they do not agree on the order of the two defenders, and `ncirl reproduce
  --study` shows where they do.
- Its runtimes are those of another machine, another LP solver and the programs as printed, which have errors; the ones
  here are of the mended algorithm with {expansions} expansion(s).
"""


def write_report(
    base: RunSettings,
    found: Found[RunRow],
    compared: Mapping[BaselineAttacker, Mapping[int, Comparison]],
    runtimes: Mapping[str, Mapping[int, Mean]],
    *,
    attacker: BaselineAttacker,
    timed: Mapping[int, Sequence[int]],
    figure: str,
) -> str:
    """Return the report.

    Parameters
    ----------
    base : RunSettings
        What all runs have in common; nodes and seed do not count.
    found : mapping
        Every run.
    compared : mapping
        By baseline's attacker and number of nodes.
    runtimes : mapping
        Seconds by solver and number of nodes.
    attacker : {"equilibrium", "best-response"}
        Whom the figure shows against MA-IRL.
    timed : mapping of int to sequence of int
        The graphs NC-PBVI finished, by number of nodes.
    figure : str
        Its file name.
    """
    sizes = sorted({settings.nodes for settings in found})
    graphs = len({settings.seed for settings in found})
    parts = [
        HEAD.format(
            figure=f"![attacker's reward, its reduction and runtime by size]({figure})",
            runs=len(found),
            graphs=graphs,
            sizes=", ".join(map(str, sizes)),
            intents=base.intents,
            success=base.success,
            attack_cost=base.attack_cost,
            block_cost=base.block_cost,
            shape=SHAPES[base.shape],
            observes=base.observes,
            discount=base.game_discount,
            play=PLAYS[base.play],
            solver=base.solver,
            gap=f", whose bounds are proved and lie within {base.gap:.2%} of the value"
            if base.solver == "certified"
            else "",
        )
    ]
    for kind in sorted(compared, key=lambda kind: kind != attacker):
        by_size = compared[kind]
        parts.append(f"The attacker that meets MA-IRL {ATTACKERS[kind]}. {_verdict(by_size)}\n\n")
        parts.append(_comparison_table(by_size) + "\n\n")
    parts.append(
        f"Means over graphs with {CONFIDENCE:.0%} intervals. The difference is taken graph by graph, so its interval "
        "is the one that decides. By definition no defender can hold one who answers best below the value of the game, "
        "which is what N-CIRL's play is worth, so that comparison cannot turn out otherwise but by the gap.\n"
        if base.play != "cut"
        else f"Means over graphs with {CONFIDENCE:.0%} intervals; the difference is taken graph by graph.\n"
    )
    parts.append("\n## Checks\n" + check_lines(base, found))
    parts.append("\n## Runtime\n" + _runtime(runtimes, timed))
    parts.append(CHOSEN.format(first=FIRST_SEED))
    parts.append(OPEN.format(expansions=EXPANSIONS))
    return wrapped("".join(parts))


def wrapped(markdown: str) -> str:
    """Fill the lines of paragraphs; headings, tables and lists stay."""
    blocks = markdown.split("\n\n")
    return "\n\n".join(
        "\n".join(line if line.startswith(FIXED) else fill(line, WIDTH) for line in _joined(block)) for block in blocks
    )


def _joined(block: str) -> list[str]:
    """Return the lines of a block with those of a paragraph made one."""
    lines: list[str] = []
    for line in block.split("\n"):
        prose = bool(line) and not line.startswith(FIXED)
        if prose and lines and lines[-1] and not lines[-1].startswith(FIXED):
            lines[-1] += f" {line}"
        else:
            lines.append(line)
    return lines


def markdown_table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table, without a line break at its end."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def _verdict(by_size: Mapping[int, Comparison]) -> str:
    kinds = {kind: [n for n, found in sorted(by_size.items()) if found.verdict == kind] for kind in get_args(Verdict)}
    if len(kinds["below"]) == len(by_size):
        return "N-CIRL's average lies below MA-IRL's for every n, and the intervals show it: the claim holds here."
    said = {
        "below": "N-CIRL's average lies below MA-IRL's for n = {}.",
        "above": "It lies *above* for n = {}: there the claim does not hold.",
        "same": "For n = {} there is no difference.",
        "open": "For n = {} the interval of the difference contains 0, so these graphs do not decide it.",
    }
    return " ".join(said[kind].format(", ".join(map(str, sizes))) for kind, sizes in kinds.items() if sizes)


def _comparison_table(by_size: Mapping[int, Comparison]) -> str:
    columns = ("n", "MA-IRL", "N-CIRL", "difference", "N-CIRL lower on", "relative reduction", "value of hiding")
    return markdown_table(
        columns,
        (
            (n, c.ma_irl, c.ncirl, c.difference, f"{c.lower_on} of {c.graphs}", c.reduction, c.hiding)
            for n, c in sorted(by_size.items())
        ),
    )


def check_lines(base: RunSettings, found: Found[RunRow]) -> str:
    """Say whether expected and drawn agree, where the gap was not reached, and what failed."""
    rows = {settings: row for settings, row in found.items() if not isinstance(row, Failure)}
    failed = {settings: row for settings, row in found.items() if isinstance(row, Failure)}
    apart = [settings for settings, row in rows.items() if not row.agrees]
    wide = {s: row for s, row in rows.items() if row.upper - row.lower > base.gap * max(abs(row.lower), abs(row.upper))}
    lines = [
        f"- Expected payoffs lie in the intervals of what was drawn in {len(rows) - len(apart)} of {len(rows)} runs"
        + (f"; not in: {_names(apart)}." if apart else "."),
    ]
    if base.solver == "certified":
        lines.append(
            f"- The gap asked for was reached in {len(rows) - len(wide)} of {len(rows)} runs"
            + (
                f"; the time limit of {base.time_limit:g} s came first in: {_names(wide)} (largest gap "
                f"{max(row.upper - row.lower for row in wide.values()):.3f})."
                if wide and base.time_limit is not None
                else "."
            )
        )
    lines += [f"- Failed: {_names([s])}: {row.reason}" for s, row in failed.items()]
    return "\n".join(lines) + "\n"


def _names(settings: Iterable[RunSettings]) -> str:
    return ", ".join(f"n = {given.nodes} graph {given.seed}" for given in settings)


def _runtime(runtimes: Mapping[str, Mapping[int, Mean]], timed: Mapping[int, Sequence[int]]) -> str:
    sizes = sorted({n for means in runtimes.values() for n in means})
    rows = [[n, *(f"{means[n]} s" if n in means else "–" for means in runtimes.values())] for n in sizes]
    covered = "; ".join(f"n = {n}: graphs {', '.join(map(str, sorted(seeds)))}" for n, seeds in sorted(timed.items()))
    said = f"NC-PBVI was given a time for all of its graphs, and finished {covered}." if timed else "NC-PBVI: none."
    return markdown_table(["n", *runtimes], rows) + f"\n\n{said}\n"
