"""The classics drawn: proved bounds on v(p) over the prior p, beside what the literature knows.

    python -m benchmarks.gallery [--docs DIR]       write DIR/gallery.md and DIR/images/gallery-NAME.png

A bar at a prior runs from the proved lower to the proved upper bound. Discounted values are drawn as averages,
(1 − γ) V(p), so that they can be held against u and its long-run value; finite and bounded ones as totals.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib import style
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

import ncirl
from ncirl.games.catalogue import CATALOGUE, WORTH, Classic
from ncirl.games.known_values import inspection_exact

__all__ = ["Bounds", "bounds_over_p", "draw", "main", "page"]

PRIORS = tuple(k / 20 for k in range(21))
TABLED = (0.25, 0.5, 0.75)
GAP = 0.004  # asked of the bounds, per stage
FINE = np.linspace(0, 1, 401).tolist()
COLOURS = ("#0072B2", "#D55E00")  # told apart with any colour vision
LIMIT_COLOUR, UNREVEALING_COLOUR = "#000000", "#777777"
HEAD = """\
# Gallery: the classics

Games of the literature in which one side knows more than the other, all built in: `ncirl solve builtin:NAME`, or
`ncirl.games.NAME(...)` in Python with other parameters. `ncirl.games.catalogue.CATALOGUE` holds what is written here.

$V(p)$ is what the informed side gains when its first intent has probability $p$. Bars run from the proved lower to the
proved upper bound ({gap} apart per stage at most); lines are formulas of the literature. Discounted values are drawn as
averages, $(1 - \\gamma) V(p)$. $u(p)$ is the value of one stage when nobody knows the intent; a secret is worth
revealing where the long-run value (for a repeated matrix game $\\operatorname{{cav}} u$, the least concave function
above $u$) lies above $u$.

This page and its figures are written by `python -m benchmarks.gallery`; every formula is tested against proved bounds.
"""
KNOWN = {  # the formulae of the catalogue, typeset
    "aumann-maschler-1": r"$u(p) = \operatorname{cav} u(p) = p(1 - p)$. For $\gamma \le 1/3$: "
    r"$V(p) = p + \gamma (1 - p) V(p / (1 - p))$ for $p \le 1/2$, and $V(p) = V(1 - p)$.",
    "aumann-maschler-2": r"$u(p) = -p(1 - p)$, $\operatorname{cav} u = 0$, and $V \equiv 0$ for every discount and "
    "horizon.",
    "aumann-maschler-3": r"$u(p) = \min(4p, \left|4p - 2\right|, 4 - 4p)$, "
    r"$\operatorname{cav} u(p) = \min(4p, 1, 4 - 4p)$; $V = \operatorname{cav} u / (1 - \gamma)$ for $\gamma \ge 1/2$, "
    r"$V_n = n \operatorname{cav} u$ for $n \ge 2$ undiscounted stages, $V_1 = \min(4p, 2, 4 - 4p)$.",
    "mertens-zamir": r"$u \equiv 0$. $V_n$ is linear between the points $p_k = \sum_{i \le k - 1} \binom{n}{i} / 2^n$, "
    r"where it is $n \binom{n - 1}{k - 1} / 2^n$.",
    "big-match": r"$(1 - \gamma) V(p_N) = (1 - p_N)(1 - \gamma^N)$ at $p_N = N \lambda / (1 + N \lambda)$, "
    r"$\lambda = 1 - \gamma$, linear between; the limit for $\gamma \to 1$ is $(1 - p)(1 - e^{-p / (1 - p)})$.",
    "market": r"$u \equiv 0$. $V_n(p)$ and, for $\gamma \to 1$, $V(p)$ rise to $H(p)$, linear between "
    rf"$H(k/M) = k(M - k)/2$; here $M = {WORTH}$.",
    "card-game": r"$V_1(p) = \min(8p/3 - 1, 1)$: a black card raises with probability $p / (3 - 3p)$, up to 1.",
    "patrol": r"$u(p) = \operatorname{cav} u(p) = \frac{3}{2} \bar\theta (1 - \bar\theta)$, $\bar\theta$ the mean "
    r"worth of the museum. At $p = 1/2$ in $n$ undiscounted stages: 1/2, 7/8, 9/7, 5/3, …",
    "inspection": r"$V(n, m) = \binom{n - 1}{m} / \sum_{i \le m} \binom{n}{i}$ for $n$ days and $m$ inspections.",
}
TAIL = """\
## Not here, and why

- **Markov chains with private information** (J. Renault, The value of Markov chain games with lack of information on
  one side, Mathematics of Operations Research 31 (2006), 490–512; J. Hörner, D. Rosenberg, E. Solan, N. Vieille, On a
  Markov game with one-sided information, Operations Research 58 (2010), 1107–1115): there the secret changes during
  play. Here an intent is drawn once; with a chain that never moves their example is Aumann–Maschler I. Of a secret that
  changes [bounds from two sides](howto/game-python.md#intents-that-change) can be had.
- **Bayesian persuasion** (E. Kamenica, M. Gentzkow, Bayesian persuasion, American Economic Review 101 (2011),
  2590–2615): the same concave hulls, but the receiver is no opponent; the game is not zero-sum.
- **Lack of information on both sides**, Kuhn's poker among them: the defender has no secret here.
- **Matching pennies whose winner is private** (A² = −A¹): it fits and is worth 0 at every p, since both may toss a coin
  at every stage. The thief and the guard is the matching-pennies game in which the secret counts.
"""


@dataclass(frozen=True)
class Bounds:
    """Proved bounds at one prior."""

    p: float
    lower: float
    upper: float


def stages(discount: float, horizon: int | None) -> float:
    """Return the weight of all stages: Σ γ^t."""
    return 1 / (1 - discount) if horizon is None else sum(discount**t for t in range(horizon))


def bounds_over_p(classic: Classic, discount: float, horizon: int | None, priors: Sequence[float]) -> list[Bounds]:
    """Solve the game at every prior."""
    if classic.at is None:
        return []
    solver = ncirl.Certified(gap=GAP * stages(discount, horizon))
    found = [(p, ncirl.solve(classic.at(p, discount, horizon), solver)) for p in priors]
    return [Bounds(p, solution.lower, solution.upper) for p, solution in found]


def is_average(classic: Classic, horizon: int | None) -> bool:
    """Tell whether values are drawn as averages per stage."""
    return horizon is None and classic.total is None


def draw(classic: Classic, curves: dict[tuple[float, int | None], list[Bounds]]) -> Figure:
    """Draw bounds, formulas, u and the long-run value."""
    figure = Figure(figsize=(6.4, 3.9), dpi=100, layout="constrained")
    axes: Axes = figure.subplots()
    averaged = False
    handles: list[Artist | ErrorbarContainer] = []
    for ((discount, horizon), bounds), colour in zip(curves.items(), COLOURS, strict=False):
        averaged = is_average(classic, horizon)
        unit = 1 / stages(discount, horizon) if averaged else 1.0
        low, high = (unit * np.array([getattr(b, side) for b in bounds]) for side in ("lower", "upper"))
        setting = f"γ = {_number(discount)}" if horizon is None else f"n = {horizon}"
        middle, half = (low + high) / 2, np.maximum(high - low, 0.0) / 2
        bars = axes.errorbar([b.p for b in bounds], middle, half, fmt="none", ecolor=colour, elinewidth=2.2, capsize=3)
        bars.set_label(f"proved, {setting}")
        handles += [bars, *_line(axes, _formula(classic, discount, horizon, unit), colour, "-", f"formula, {setting}")]
    for curve, colour, dashes, label in _limits(classic, averaged):
        handles += _line(axes, [curve(p) for p in FINE], colour, dashes, label)
    axes.set(xlabel="p, probability of the first intent", xlim=(-0.01, 1.01), title=classic.title)
    axes.set_ylabel("(1 − γ) V(p)" if averaged else "V(p)")
    axes.grid(color="#e6e6e6", linewidth=0.7)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(handles=handles, loc="outside lower center", ncols=3, fontsize=9, frameon=False)
    return figure


def page(found: dict[str, dict[tuple[float, int | None], list[Bounds]]]) -> str:
    """Write the gallery's page."""
    parts = [HEAD.format(gap=GAP).rstrip()]
    for name, classic in CATALOGUE.items():
        parts += [f"## {classic.title}", f"`builtin:{name}`. {classic.shows}", f"Known: {KNOWN[name]}"]
        if classic.at is None:
            parts.append(_inspection_table())
        else:
            parts += [f"![{classic.title}](images/gallery-{name}.png)", _table(classic, found[name])]
        parts.append("\n".join(f"- {source}." for source in classic.sources))
    return "\n\n".join([*parts, TAIL])


def _formula(classic: Classic, discount: float, horizon: int | None, unit: float) -> list[float]:
    """Return the known values over p, or nothing."""
    if classic.exact is None:
        return []
    values = [classic.exact(p, discount, horizon) for p in FINE]
    return [unit * value for value in values if value is not None]


def _limits(classic: Classic, averaged: bool) -> Iterator[tuple[Callable[[float], float], str, str, str]]:
    """List the curves that do not depend on the discount: what is approached, and u."""
    dashed, dotted = (LIMIT_COLOUR, "--"), (UNREVEALING_COLOUR, ":")
    if classic.total is not None:
        yield classic.total, *dashed, "limit for γ → 1"
    elif classic.longrun is not None and averaged:
        alike = classic.unrevealing is classic.longrun
        name = "u = cav u" if alike else "limit for γ → 1" if classic.unrevealing is None else "cav u"
        yield classic.longrun, *dashed, name
    if classic.unrevealing is not None and (classic.unrevealing is not classic.longrun or not averaged):
        yield classic.unrevealing, *dotted, "u"


def _line(axes: Axes, values: list[float], colour: str, style: str, label: str) -> list[Line2D]:
    """Draw a curve over p, or nothing where nothing is known."""
    if not values:
        return []
    return axes.plot(FINE, values, color=colour, linestyle=style, linewidth=1.1, label=label)


def _table(classic: Classic, curves: dict[tuple[float, int | None], list[Bounds]]) -> str:
    rows = ["| V of | p | proved from below | formula | proved from above |", "|---|---|---|---|---|"]
    for (discount, horizon), bounds in curves.items():
        setting = f"γ = {_number(discount)}" if horizon is None else f"{horizon} stage{'s' * (horizon > 1)}, γ = 1"
        for b in bounds:
            if b.p in TABLED:
                value = None if classic.exact is None else classic.exact(b.p, discount, horizon)
                known = "–" if value is None else _rounded(value)
                rows.append(f"| {setting} | {b.p:g} | {_rounded(b.lower)} | {known} | {_rounded(b.upper)} |")
    return "\n".join(rows)


def _inspection_table() -> str:
    days, most = range(1, 7), 3
    rows = ["| inspections | " + " | ".join(f"{n} days" if n > 1 else "1 day" for n in days) + " |"]
    rows.append("|---" * (len(days) + 1) + "|")
    for m in range(most + 1):
        exact = (inspection_exact(n, m) for n in days)
        proved = (ncirl.solve(ncirl.games.inspection(n, m), ncirl.HistoryLP()) for n in days)
        cells = [f"{value:.4f} [{s.lower:.4f}, {s.upper:.4f}]" for value, s in zip(exact, proved, strict=True)]
        rows.append(f"| {m} | " + " | ".join(cells) + " |")
    return "The formula and, in brackets, the proved bounds:\n\n" + "\n".join(rows)


def _rounded(value: float) -> str:
    return f"{round(value, 5) + 0.0:.5f}"  # + 0.0: no minus zero


def _number(discount: float) -> str:
    return "1/3" if discount == 1 / 3 else f"{discount:g}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gallery", description="Draw the classics.")
    parser.add_argument("--docs", type=Path, default=Path("docs"), help="where gallery.md and images/ go")
    docs: Path = parser.parse_args().docs
    (docs / "images").mkdir(parents=True, exist_ok=True)
    found = {}
    for name, classic in CATALOGUE.items():
        if classic.at is None:
            continue
        found[name] = {setting: bounds_over_p(classic, *setting, PRIORS) for setting in classic.shown}
        with style.context("default"):
            figure = draw(classic, found[name])
            figure.savefig(docs / "images" / f"gallery-{name}.png", metadata={"Software": None})
        print(name, flush=True)
    (docs / "gallery.md").write_text(page(found), encoding="utf-8")


if __name__ == "__main__":
    main()
