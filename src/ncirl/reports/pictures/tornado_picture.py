"""A tornado picture: for each number, from the value with less of it to the value with more; widest first."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ncirl.numbers import TELLABLE, at_least, at_most
from ncirl.reports.pictures.render import LIGHT, blank_figure, shortened

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["tornado_figure"]

ROW, LEFT, WIDE, RIGHT, FOOT, HEAD = 0.32, 2.7, 4.6, 0.3, 0.35, 0.3  # inches
Interval = tuple[float, float]


def tornado_figure(rows: Sequence[tuple[str, Interval, Interval]], base: Interval, scale: float) -> "Figure":
    """Draw (name, bounds if less, bounds if more) around the bounds as it is; `scale` is the magnitude of the game."""
    ends = [end for _, less, more in rows for end in (*less, *more)] + list(base)
    low, high = min(ends), max(ends)
    span = max(high - low, TELLABLE * scale)
    width, height = LEFT + WIDE + RIGHT, FOOT + HEAD + ROW * max(len(rows), 1)
    figure = blank_figure(width, height)
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, width), ylim=(0, height))
    axes.axis("off")

    def x(value: float) -> float:
        return LEFT + WIDE * (value - low) / span

    def box(left: float, right: float, y: float, high: float, colour: str, strength: float) -> None:
        from matplotlib.patches import Rectangle

        wide = max(x(right) - x(left), 0.02)
        axes.add_patch(Rectangle((x(left), y), wide, high, facecolor=LIGHT[colour], edgecolor="none", alpha=strength))

    def write(place: float, y: float, said: str, colour: str, ha: str) -> None:
        axes.text(place, y, said, fontsize=8, color=LIGHT[colour], ha=ha, va="center", parse_math=False)

    box(*base, FOOT, ROW * len(rows), "line", 0.45)
    for k, (name, less, more) in enumerate(rows):
        bottom = FOOT + ROW * (len(rows) - 1 - k)
        middle = bottom + ROW / 2
        axes.plot([x(sum(less) / 2), x(sum(more) / 2)], [middle, middle], color=LIGHT["muted"], linewidth=1.2)
        box(*less, middle, ROW * 0.32, "intent-1", 0.85)
        box(*more, middle - ROW * 0.32, ROW * 0.32, "intent-0", 0.85)
        write(LEFT - 0.1, middle, shortened(name, 40, 1), "ink", "right")
    write(LEFT, FOOT / 2, at_least(low, scale, short=True), "muted", "left")
    write(LEFT + WIDE, FOOT / 2, at_most(high, scale, short=True), "muted", "right")
    top = height - HEAD / 2
    write(LEFT, top, "■ less of it", "intent-1", "left")
    write(LEFT + 1.1, top, "■ more of it", "intent-0", "left")
    return figure
