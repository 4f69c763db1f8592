"""The picture of a ranking: a line each, solid up to what is proved and pale up to what is possible."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ncirl.numbers import TELLABLE, interval
from ncirl.reports.pictures.render import LIGHT, blank_figure, shortened

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["worth_figure"]

ROW, LEFT, WIDE, RIGHT, FOOT = 0.3, 2.9, 4.2, 0.9, 0.45  # inches


def worth_figure(rows: Sequence[tuple[str, float, float]], unit: str, scale: float = 0.0) -> "Figure":
    """Draw names with their intervals (name, lower, upper), all lower bounds at least 0.

    `unit` says what is measured, and `scale` is the magnitude of the game.
    """
    top = max((upper for _, _, upper in rows), default=0.0)
    top = top if top > TELLABLE * scale else 1.0
    width, height = LEFT + WIDE + RIGHT, FOOT + ROW * max(len(rows), 1) + 0.1
    figure = blank_figure(width, height)
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, width), ylim=(0, height))
    axes.axis("off")

    def bar(x: float, y: float, wide: float, strength: float) -> None:
        from matplotlib.patches import Rectangle

        axes.add_patch(
            Rectangle((x, y), wide, ROW * 0.6, facecolor=LIGHT["intent-0"], edgecolor="none", alpha=strength)
        )

    def write(x: float, y: float, said: str, colour: str, ha: str) -> None:
        axes.text(x, y, said, fontsize=8, color=LIGHT[colour], ha=ha, va="center", parse_math=False)

    for k, (name, lower, upper) in enumerate(rows):
        bottom = FOOT + ROW * (len(rows) - 1 - k) + ROW * 0.2
        bar(LEFT, bottom, WIDE * lower / top, 0.9)
        bar(LEFT + WIDE * lower / top, bottom, WIDE * (upper - lower) / top, 0.3)
        write(LEFT - 0.1, bottom + ROW * 0.3, shortened(name, 42, 1), "ink", "right")
        write(LEFT + WIDE * upper / top + 0.08, bottom + ROW * 0.3, interval(lower, upper, scale), "muted", "left")
    write(LEFT, FOOT / 2, unit, "muted", "left")
    return figure
