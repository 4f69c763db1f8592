"""The experiment in plain words, as Markdown: what the paper claims, what came out, what cannot be compared."""

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from statistics import median
from textwrap import fill
from typing import get_args

from ncirl.experiments.campaign import Found
from ncirl.experiments.paper import RunRow
from ncirl.experiments.pool import Failure
from ncirl.experiments.settings import EXPANSIONS, FIRST_SEED, RunSettings
from ncirl.experiments.summary import CONFIDENCE, BaselineAttacker, Comparison, Mean, Verdict, mean_of
from ncirl.experiments.table import markdown_table

__all__ = ["ATTACKERS", "NO_EVIDENCE", "PLAYS", "check_lines", "is_arithmetic", "wrapped", "write_report"]

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
ATTACKERS: dict[BaselineAttacker, tuple[str, str]] = {
    "equilibrium": (
        "Attacker and defender change at once, as in the paper",
        "MA-IRL meets an attacker that plays the equilibrium of the game in which its intent is public, N-CIRL its own",
    ),
    "equilibrium-fixed": (
        "The attacker held fixed: the equilibrium of its intent",
        "Both defenders meet the attacker that plays the equilibrium of the game in which its intent is public",
    ),
    "ncirl-fixed": ("The attacker held fixed: N-CIRL's", "Both defenders meet N-CIRL's attacker"),
    "best-response": (
        "An attacker that answers MA-IRL",
        "MA-IRL meets an attacker that knows which intent it inferred, more than can be seen, and answers best; "
        "N-CIRL its own",
    ),
}
ARITHMETIC = ("ncirl-fixed", "best-response")  # comparisons that cannot come out otherwise where bounds are proved
NO_EVIDENCE = (
    "This is arithmetic and no evidence: N-CIRL's strategies are an equilibrium up to the gap, so no defender holds "
    "this attacker below the value of the game, which is what N-CIRL's play is worth."
)
CAPTION = {6: (8, 54), 7: (24, 88), 8: (32, 256), 9: (48, 368), 10: (64, 676)}  # |S| and |A| of the paper's instances
HEAD = """# N-CIRL against MA-IRL on random attack graphs

![attacker's reward, its reduction and runtime by size]({figure})

## What the paper claims
"The strategies obtained from N-CIRL yield a lower attacker reward than the strategies obtained from MA-IRL", for n = 6
to 10 nodes, 20 graphs each, 10 intents, a horizon of n (Zhang, Zhang, Miehling and Başar, NeurIPS 2019, section 5 and
appendix C). MA-IRL's defender plays the complete-information equilibrium of an intent that it inferred earlier;
N-CIRL's takes the true intent for unknown and learns while it plays.

## What was run
{runs} runs: {graphs} graphs of each size n = {sizes}, {base.intents} intents, success {base.success:g}. The paper
leaves open the rest; the choices are ours, and the outcome may depend on them (`ncirl reproduce --study` shows
whether): attack cost {base.attack_cost:g}, block cost {base.block_cost:g}, {shape}, the defender sees {base.observes},
discount {base.game_discount:g}. {play} N-CIRL's strategies come from the solver `{base.solver}`{gap}. The earlier
intent is inferred perfectly and drawn from the same intents as the true one. Rewards are in units of what the
attacker's intent is worth in all; blocking is paid to the attacker, so they can exceed 1.

## What came out
"""
CHOSEN = """
## How the default setting was chosen
By looking at graphs with seeds below {first}, and this should be known: where the claim holds in the default setting,
that shows that it can hold, not that it always does. {others}
"""
OPEN = """
## What could not be compared
- The paper's averages, reductions and runtimes exist only as plots: there are no numbers to compare with, only the
  direction.
- The paper gives neither costs, discount and intents nor how its graphs were drawn. Graphs here are drawn so that
  their sizes come close to those in its caption.
- The paper does not say whether its strategies knew about the n stages. `--play finite`, `--play cut` and `--play
  endless` are the three ways to read it, and `ncirl reproduce --study` compares them.
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

    Averages are compared by who meets whom and by number of nodes, `attacker` being the one whom the figure shows.
    Runtimes are seconds, by solver and number of nodes; `timed` are the graphs that NC-PBVI finished, of each size.
    """
    seeds = {settings.seed for settings in found}
    certified = base.solver == "certified"
    head = HEAD.format(
        figure=figure,
        runs=len(found),
        graphs=len(seeds),
        sizes=_listed({settings.nodes for settings in found}),
        base=base,
        shape=SHAPES[base.shape],
        play=PLAYS[base.play],
        gap=f", whose bounds are proved; asked for were bounds within {base.gap:.2%} of the value" if certified else "",
    )
    parts = [head]
    for kind in sorted(compared, key=lambda kind: kind != attacker):
        by_size = compared[kind]
        title, described = ATTACKERS[kind]
        parts.append(f"### {title}\n{described}. {NO_EVIDENCE if is_arithmetic(base, kind) else _verdict(by_size)}\n\n")
        parts.append(_comparison_table(by_size) + "\n\n")
    parts.append(
        f"Means over graphs with {CONFIDENCE:.0%} intervals. The difference is taken graph by graph, so its interval "
        f"is the one that decides, widened so that the verdicts on all sizes hold at once with {CONFIDENCE:.0%}."
    )
    parts.append("\n\n" + _learning(found))
    parts.append("## Sizes\n" + _size_table(found))
    parts.append("\n\n## Checks\n" + check_lines(base, found))
    parts.append("\n## Runtime\n" + _runtime(runtimes, timed))
    looked_at = {seed for seed in seeds if seed < FIRST_SEED}
    others = (
        f"Of the graphs here, these are among them: {_listed(looked_at)}." if looked_at else "Those here are others."
    )
    parts.append(CHOSEN.format(first=FIRST_SEED, others=others))
    parts.append(OPEN.format(expansions=EXPANSIONS))
    return wrapped("".join(parts))


def is_arithmetic(base: RunSettings, attacker: BaselineAttacker) -> bool:
    """Whether a comparison cannot come out otherwise: an equilibrium's attacker, or a best answer, is held fixed."""
    is_proved = base.solver == "certified" and base.play != "cut" and base.payoff_discount is None
    return is_proved and attacker in ARITHMETIC


def _learning(found: Found[RunRow]) -> str:
    """Say what learning is worth at most: what the best defence found that does not learn concedes above the value."""
    rows = [row for row in found.values() if not isinstance(row, Failure) and row.unlearning is not None]
    if not rows:
        return ""
    lines = []
    for n in sorted({row.nodes for row in rows}):
        ours = [row for row in rows if row.nodes == n]
        concedes = [float(row.unlearning) for row in ours if row.unlearning is not None]
        worth = [c - row.lower for c, row in zip(concedes, ours, strict=True)]
        values = mean_of([(row.lower + row.upper) / 2 for row in ours], [(row.upper - row.lower) / 2 for row in ours])
        lines.append((n, values, mean_of(concedes), mean_of(worth), f"{max(worth):.3f}"))
    columns = ("n", "value (N-CIRL)", "does not learn", "learning is worth at most", "largest")
    return (
        "### What learning is worth\n"
        "A defence that does not learn goes by the public state and the stage only. The best one that was found is "
        "set against the attacker who answers it best. Learning is worth the difference at most; a better defence that "
        "does not learn may exist, so it may be worth less. The value of hiding is another thing: what the attacker "
        f"gains by its secret.\n\n{markdown_table(columns, lines)}\n\n"
    )


def wrapped(markdown: str) -> str:
    """Fill the lines of paragraphs; headings, tables and lists stay."""
    lines: list[str] = []
    for line in markdown.split("\n"):
        goes_on = bool(lines and lines[-1]) and not lines[-1].startswith(FIXED)
        if line and goes_on and not line.startswith(FIXED):
            lines[-1] += f" {line}"
        else:
            lines.append(line)
    return "\n".join(line if line.startswith(FIXED) else fill(line, WIDTH) for line in lines)


def _verdict(by_size: Mapping[int, Comparison]) -> str:
    kinds = {kind: [n for n, found in by_size.items() if found.verdict == kind] for kind in get_args(Verdict)}
    if len(kinds["below"]) == len(by_size):
        return "N-CIRL's average lies below MA-IRL's for every n, and the intervals show it: the claim holds here."
    said = {
        "below": "N-CIRL's average lies below MA-IRL's for n = {}.",
        "above": "It lies *above* for n = {}: there the claim does not hold.",
        "same": "For n = {} there is no difference.",
        "open": "For n = {} the interval of the difference contains 0, so these graphs do not decide it.",
    }
    return " ".join(said[kind].format(_listed(sizes)) for kind, sizes in kinds.items() if sizes)


def _listed(numbers: Iterable[int]) -> str:
    return ", ".join(map(str, sorted(numbers)))


def _comparison_table(by_size: Mapping[int, Comparison]) -> str:
    columns = ("n", "MA-IRL", "N-CIRL", "difference", "N-CIRL lower on", "relative reduction", "value of hiding")
    return markdown_table(
        columns,
        (
            (n, c.ma_irl, c.ncirl, c.difference, f"{c.lower_on} of {c.graphs}", c.reduction, _known(c.hiding))
            for n, c in sorted(by_size.items())
        ),
    )


def _known(mean: Mean) -> object:
    """Return a mean, or that it is not known: its interval is wider than all that an intent is worth."""
    return mean if mean.half < 1.0 or not isfinite(mean.half) else "not known"


def _size_table(found: Found[RunRow]) -> str:
    """Set |S| and Σ_s |A(s)| of the graphs beside those of the paper's caption."""
    rows = [row for row in found.values() if not isinstance(row, Failure)]

    def said(numbers: Sequence[int]) -> str:
        return f"{min(numbers)} to {max(numbers)}, median {median(numbers):g}"

    lines = []
    for n in sorted({row.nodes for row in rows}):
        ours = [row for row in rows if row.nodes == n]
        states, actions = CAPTION.get(n, ("–", "–"))
        lines.append((n, states, said([row.states for row in ours]), actions, said([row.actions for row in ours])))
    columns = ("n", "paper: states", "here: states", "paper: actions", "here: actions")
    return (
        "The paper's caption gives one instance of each size, in numbers that fit the sum over states of the sets of "
        f"usable exploits.\n\n{markdown_table(columns, lines)}"
    )


def check_lines(base: RunSettings, found: Found[RunRow]) -> str:
    """Say whether expected and drawn agree, where the gap was not reached, and what failed."""
    rows = {settings: row for settings, row in found.items() if not isinstance(row, Failure)}
    apart = [settings for settings, row in rows.items() if not row.agrees]
    said = f"- Expected payoffs lie in the intervals of what was drawn in {len(rows) - len(apart)} of {len(rows)} runs"
    lines = [said + (f"; not in: {_names(apart)}." if apart else ".")]
    if base.solver == "certified":
        gaps = {s: row.upper - row.lower for s, row in rows.items()}
        wide = [s for s, row in rows.items() if gaps[s] > base.gap * max(abs(row.lower), abs(row.upper))]
        said = f"- The gap asked for was reached in {len(rows) - len(wide)} of {len(rows)} runs"
        if wide and base.time_limit is not None:
            said += f"; the time limit of {base.time_limit:g} s came first in: {_names(wide)} (largest gap "
            said += f"{max(gaps[s] for s in wide):.3f})"
        lines.append(said + ".")
    lines += [f"- Failed: {_names([s])}: {row.reason}" for s, row in found.items() if isinstance(row, Failure)]
    return "\n".join(lines) + "\n"


def _names(settings: Iterable[RunSettings]) -> str:
    return ", ".join(f"n = {given.nodes} graph {given.seed}" for given in settings)


def _runtime(runtimes: Mapping[str, Mapping[int, Mean]], timed: Mapping[int, Sequence[int]]) -> str:
    sizes = sorted({n for means in runtimes.values() for n in means})
    rows = [[n, *(f"{means[n]} s" if n in means else "–" for means in runtimes.values())] for n in sizes]
    covered = "; ".join(f"n = {n}: graphs {_listed(seeds)}" for n, seeds in sorted(timed.items()))
    said = f"NC-PBVI was given a time for all of its graphs, and finished {covered}." if timed else "NC-PBVI: none."
    return markdown_table(["n", *runtimes], rows) + f"\n\n{said}\n"
