"""The picture of a story: above, what is believed stage by stage; below, how likely each option is blocked."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ncirl._typing import FloatArray
from ncirl.defence.first_moves import LEAST
from ncirl.reports.pictures.render import INTENTS, LIGHT, blank_figure, intent_colour, shortened

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["story_figure"]

STAGE, ROW, BELIEF, LEFT, FOOT = 0.52, 0.24, 0.95, 1.55, 0.42  # inches


def story_figure(beliefs: Sequence[FloatArray], blocked: Sequence[Mapping[str, float]], stages: int = 0) -> "Figure":
    """Draw a story: P(θ | what was seen) and the chance of each option that can be blocked, stage by stage.

    With `stages` the picture has room for so many: pictures side by side then have one scale.
    """
    options = list(dict.fromkeys(name for chances in blocked for name in chances))
    width, height = LEFT + STAGE * max(len(beliefs), stages, 3) + 0.2, BELIEF + ROW * len(options) + FOOT + 0.22
    figure = blank_figure(width, height)
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, width), ylim=(0, height))
    axes.axis("off")
    floor = FOOT + ROW * len(options) + 0.1

    def bar(x: float, y: float, wide: float, high: float, colour: str, strength: float = 1.0) -> None:
        from matplotlib.patches import Rectangle

        axes.add_patch(Rectangle((x, y), wide, high, facecolor=LIGHT[colour], edgecolor="none", alpha=strength))

    def write(x: float, y: float, text: str, size: float, colour: str, ha: str) -> None:
        axes.text(x, y, text, fontsize=size, color=LIGHT[colour], ha=ha, va="center", parse_math=False)

    write(LEFT - 0.08, floor + BELIEF / 2, "what is\nbelieved", 7.5, "muted", "right")
    for stage, (belief, chances) in enumerate(zip(beliefs, blocked, strict=True)):
        left = LEFT + stage * STAGE
        edges = np.concatenate([[0.0], np.cumsum(belief)])
        for k, share in enumerate(belief.tolist()):
            bar(left, floor + BELIEF * float(edges[k]), STAGE * 0.86, BELIEF * share, intent_colour(min(k, INTENTS)))
        for row, name in enumerate(options):
            bottom = FOOT + ROW * (len(options) - 1 - row)
            chance = chances.get(name)
            if chance is None:
                continue
            bar(left, bottom + 0.02, STAGE * 0.86, ROW - 0.04, "box")
            bar(left, bottom + 0.02, STAGE * 0.86 * chance, ROW - 0.04, "block", 0.75)
            if chance >= LEAST:
                write(left + STAGE * 0.43, bottom + ROW / 2, f"{chance:.0%}", 6.5, "ink", "center")
        write(left + STAGE * 0.43, FOOT - 0.12, str(stage + 1), 7.5, "muted", "center")
    for row, name in enumerate(options):
        middle = FOOT + ROW * (len(options) - 0.5 - row)
        write(LEFT - 0.08, middle, shortened(name, 24, 1), 7.5, "ink", "right")
    write(LEFT - 0.08, FOOT - 0.12, "step", 7.5, "muted", "right")
    return figure
