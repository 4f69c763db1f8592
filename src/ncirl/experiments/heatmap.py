"""The study as a picture: MA-IRL − N-CIRL against either attacker, and the value of hiding, by block cost."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ncirl.experiments.figure import canvas
from ncirl.experiments.summary import CONFIDENCE, Cell, Mean

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_heatmap"]

DIVERGING, RISING = "PuOr_r", "Purples"  # told apart by any eye
DARK = 0.55  # of a colour's way from the middle to the end; beyond it text is white


def draw_heatmap(path: Path, cells: Sequence[Cell]) -> None:
    """Draw the cells; a number in brackets is one whose interval contains 0."""
    rows = list(dict.fromkeys((cell.settings.shape, cell.settings.observes) for cell in cells))
    columns = sorted({cell.settings.block_cost for cell in cells})

    def by_place(attacker: str, part: str) -> dict[tuple[int, int], Mean]:
        return {
            (
                rows.index((cell.settings.shape, cell.settings.observes)),
                columns.index(cell.settings.block_cost),
            ): getattr(cell.found, part)
            for cell in cells
            if cell.attacker == attacker
        }

    panels = (
        ("attacker plays its equilibrium:\nMA-IRL − N-CIRL", by_place("equilibrium", "difference"), DIVERGING),
        ("attacker answers MA-IRL best:\nMA-IRL − N-CIRL", by_place("best-response", "difference"), DIVERGING),
        ("value of hiding one's intent:\nv(b0) − Σ b0 v(θ)", by_place("equilibrium", "hiding"), RISING),
    )
    widest = max((abs(mean.value) for _, means, _ in panels for mean in means.values()), default=0.0) or 1.0
    with canvas(path, 3.0 + 0.75 * 3 * len(columns), 1.9 + 0.42 * len(rows)) as figure:
        axes = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
        for axis, (title, means, colours) in zip(axes, panels, strict=True):
            _draw_panel(axis, means, (len(rows), len(columns)), widest, colours)
            axis.set_title(title)
            axis.set_xticks(range(len(columns)), [f"{cost:g}" for cost in columns])
            axis.set_xlabel("block cost")
        axes[0].set_yticks(range(len(rows)), [f"{shape}, {observes} seen" for shape, observes in rows])
        figure.supxlabel(
            f"orange: N-CIRL's attacker gets less, the claim holds; violet: it gets more; "
            f"in brackets: the {CONFIDENCE:.0%} interval contains 0",
            fontsize=8,
        )


def _draw_panel(
    axis: Axes, means: dict[tuple[int, int], Mean], shape: tuple[int, int], widest: float, colours: str
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
