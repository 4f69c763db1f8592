"""The two figures of the experiment, as SVG.

The paper's: instances on top; the attacker's reward, its reduction and the runtime by size below. Filled markers are
MA-IRL and outlined ones N-CIRL, as in the paper; bars are the intervals of `summary`.

The study's: MA-IRL − N-CIRL by who attacks, and the value of hiding one's intent, by block cost.
"""

import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np

from ncirl.attack_graphs.graph import AttackGraph
from ncirl.errors import InputError
from ncirl.experiments.settings import RunSettings
from ncirl.experiments.summary import CONFIDENCE, Cell, Comparison, Mean
from ncirl.formats.files import write_atomically

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_figure", "draw_heatmap", "need_matplotlib"]

COLOURS = {"ma_irl": "#D55E00", "ncirl": "#0072B2", "nc_pbvi": "#009E73", "ink": "#444444", "light": "#DDDDDD"}
STYLE: dict[Any, Any] = {"svg.hashsalt": "ncirl", "svg.fonttype": "path", "font.size": 9.0, "axes.titlesize": 10.0}
DIVERGING, RISING = "PuOr_r", "Purples"  # told apart by any eye
DARK = 0.55  # of a colour's way from the middle to the end; beyond it text is white


def need_matplotlib() -> None:
    """Say that matplotlib is not installed before any work is done."""
    if find_spec("matplotlib") is None:
        raise InputError("the figure needs matplotlib; install it by `pip install 'ncirl[plot]'`")


@contextmanager
def _canvas(path: Path, width: float, height: float) -> Iterator["Figure"]:
    """Give an empty figure and write it as SVG, the same for the same content, whole or not at all."""
    need_matplotlib()
    from matplotlib import style
    from matplotlib.figure import Figure

    with style.context(["default", STYLE]):
        figure = Figure(figsize=(width, height), layout="constrained")
        yield figure
        sink = io.BytesIO()
        figure.savefig(sink, format="svg", metadata={"Date": None})
    write_atomically(path, sink.getvalue())


def draw_figure(
    path: Path,
    instances: Mapping[int, AttackGraph],
    sizes: Mapping[int, tuple[int, int]],
    compared: Mapping[int, Comparison],
    runtimes: Mapping[str, Mapping[int, Mean]],
) -> None:
    """Draw the paper's panels, everything by number of nodes.

    `instances` are drawn, with their `sizes` |S| and Σ_s |A(s)|; `runtimes` are seconds, by solver.
    """
    with _canvas(path, 10.5, 6.2) as figure:
        parts: Any = figure.subfigures(2, 1, height_ratios=[1.0, 1.35])
        top, bottom = parts
        for axis, (n, graph) in zip(_row(top, len(instances)), sorted(instances.items()), strict=True):
            _draw_instance(axis, graph)
            states, actions = sizes[n]
            axis.set_title(f"n = {n}\n|S| = {states}, |A| = |D| = {actions}", fontsize=8)
        rewards, reductions, seconds = _row(bottom, 3)
        _draw_rewards(rewards, compared)
        _bars(reductions, {n: found.reduction for n, found in compared.items()}, 0.0, 100.0, **_marks("ncirl"))
        reductions.axhline(0.0, color=COLOURS["ink"], linewidth=0.8)
        reductions.set(title="relative reduction by N-CIRL", xlabel="n", ylabel="% of MA-IRL's")
        _draw_runtimes(seconds, runtimes)
        for axis in (rewards, reductions, seconds):
            axis.set_xticks(sorted(compared))
            axis.margins(x=0.12)
            axis.grid(axis="y", color=COLOURS["light"], linewidth=0.6)
            axis.spines[["top", "right"]].set_visible(False)


def draw_heatmap(path: Path, cells: Sequence[Cell]) -> None:
    """Draw the cells; a number in brackets is one whose joint interval contains 0."""
    rows = list(dict.fromkeys((cell.settings.shape, cell.settings.observes) for cell in cells))
    columns = sorted({cell.settings.block_cost for cell in cells})

    def place(given: RunSettings) -> tuple[int, int]:
        return rows.index((given.shape, given.observes)), columns.index(given.block_cost)

    def by_place(attacker: str, part: str) -> dict[tuple[int, int], Mean]:
        return {place(cell.settings): getattr(cell.found, part) for cell in cells if cell.attacker == attacker}

    panels = (
        ("both change (the paper):\nMA-IRL − N-CIRL", by_place("equilibrium", "joint"), DIVERGING),
        ("attacker held: its equilibrium:\nMA-IRL − N-CIRL", by_place("equilibrium-fixed", "joint"), DIVERGING),
        ("attacker held: N-CIRL's:\nMA-IRL − N-CIRL", by_place("ncirl-fixed", "joint"), DIVERGING),
        ("attacker answers MA-IRL best:\nMA-IRL − N-CIRL", by_place("best-response", "joint"), DIVERGING),
        ("value of hiding one's intent:\nv(b0) − Σ b0 v(θ)", by_place("equilibrium", "hiding"), RISING),
    )
    widest = max((abs(mean.value) for _, means, _ in panels for mean in means.values()), default=0.0) or 1.0
    with _canvas(path, 3.0 + 0.62 * len(panels) * len(columns), 1.9 + 0.42 * len(rows)) as figure:
        axes = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
        for axis, (title, means, colours) in zip(axes, panels, strict=True):
            _draw_panel(axis, means, (len(rows), len(columns)), widest, colours)
            axis.set_title(title)
            axis.set_xticks(range(len(columns)), [f"{cost:g}" for cost in columns])
            axis.set_xlabel("block cost")
        axes[0].set_yticks(range(len(rows)), [f"{shape}, {observes} seen" for shape, observes in rows])
        figure.supxlabel(
            f"orange: N-CIRL's attacker gets less, the claim holds; violet: it gets more; "
            f"in brackets: not decided, all cells of a panel judged at once with {CONFIDENCE:.0%}",
            fontsize=8,
        )


def _row(figure: Any, count: int) -> list["Axes"]:
    return list(figure.subplots(1, count, squeeze=False)[0])


def _draw_instance(axis: "Axes", graph: AttackGraph) -> None:
    """Draw conditions by depth, left to right; those enabled at the start are filled."""
    arrows = nx.DiGraph((premise, exploit.result) for exploit in graph.exploits for premise in exploit.premises)
    layers = dict(enumerate(nx.topological_generations(arrows)))
    initial = {condition.id for condition in graph.conditions if condition.initial}
    nx.draw_networkx(
        arrows,
        nx.multipartite_layout(arrows, subset_key=layers),
        ax=axis,
        node_size=130,
        node_color=[COLOURS["ink"] if node in initial else "white" for node in arrows],
        edgecolors=COLOURS["ink"],
        edge_color=COLOURS["ink"],
        width=0.8,
        arrowsize=7,
        connectionstyle="arc3,rad=0.12",
        with_labels=False,
    )
    axis.set_axis_off()
    axis.margins(0.15)


def _draw_rewards(axis: "Axes", compared: Mapping[int, Comparison]) -> None:
    _bars(axis, {n: found.ma_irl for n, found in compared.items()}, -0.1, label="MA-IRL", **_marks("ma_irl"))
    _bars(axis, {n: found.ncirl for n, found in compared.items()}, 0.1, label="N-CIRL", **_marks("ncirl"), mfc="white")
    axis.set(title="attacker's average reward", xlabel="n", ylabel="share of what its intent is worth")
    axis.set_ylim(bottom=min(0.0, axis.get_ylim()[0]))
    axis.legend(frameon=False, loc="lower right")


def _draw_runtimes(axis: "Axes", runtimes: Mapping[str, Mapping[int, Mean]]) -> None:
    from matplotlib.ticker import LogLocator, NullLocator

    square = _marks("nc_pbvi") | {"marker": "s"}
    for offset, (solver, means) in zip((-0.08, 0.08), runtimes.items(), strict=False):
        if means:
            look = _marks("ncirl") if solver == "certified" else square
            _bars(axis, means, offset, label=solver, positive=True, **look)
    axis.set(title="average runtime", xlabel="n", ylabel="seconds", yscale="log")
    axis.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.yaxis.set_major_formatter("{x:g}")
    axis.yaxis.set_minor_locator(NullLocator())
    axis.legend(frameon=False, loc="upper left")


def _marks(name: str) -> dict[str, Any]:
    return {"color": COLOURS[name], "marker": "o", "markersize": 6, "linewidth": 1.2, "capsize": 3}


def _bars(
    axis: "Axes", means: Mapping[int, Mean], offset: float, scale: float = 1.0, *, positive: bool = False, **looks: Any
) -> None:
    """Draw averages with their intervals, if they have one; on a log scale down to a tenth of the average."""
    sizes = sorted(means)
    halves = [means[n].half if isfinite(means[n].half) else 0.0 for n in sizes]
    down = [min(half, 0.9 * means[n].value) if positive else half for n, half in zip(sizes, halves, strict=True)]
    axis.errorbar(
        [n + offset for n in sizes],
        [scale * means[n].value for n in sizes],
        yerr=[[scale * half for half in down], [scale * half for half in halves]],
        **looks,
    )


def _draw_panel(
    axis: "Axes", means: dict[tuple[int, int], Mean], shape: tuple[int, int], widest: float, colours: str
) -> None:
    table = np.full(shape, np.nan)
    for place, mean in means.items():
        table[place] = mean.value
    axis.imshow(table, cmap=colours, vmin=-widest if colours == DIVERGING else 0.0, vmax=widest, aspect="auto")
    for (row, column), mean in means.items():
        said = f"{mean.value:+.2f}" if colours == DIVERGING else f"{mean.value:.2f}"
        axis.text(
            column,
            row,
            f"({said})" if mean.low <= 0 <= mean.high else said,
            ha="center",
            va="center",
            fontsize=8,
            color="white" if abs(mean.value) > DARK * widest else "black",
        )
    axis.tick_params(length=0)
    axis.spines[:].set_visible(False)
