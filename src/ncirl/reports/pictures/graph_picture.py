"""The picture of an attack graph: conditions as boxes, exploits as knots that all their premises run into."""

from collections.abc import Collection, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING

from ncirl.attack_graphs.graph import AttackGraph, Condition, Exploit
from ncirl.attack_graphs.names import display_name
from ncirl.errors import InputError
from ncirl.reports.pictures.layers import Layout, Node, layered
from ncirl.reports.pictures.render import INTENTS, LIGHT, blank_figure, intent_colour, shortened, told_apart

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["MOST", "graph_figure"]

LEVEL, ROW, MARGIN, TOP, FOOT = 1.12, 0.74, 0.85, 0.5, 0.6  # inches
BOX = (1.3, 0.42)  # inches
KNOT = 0.055
DOT = 0.045
BLOCKED = 0.005  # a chance below is not shown
LEGEND = 0.55
MOST = 300  # conditions


def graph_figure(
    graph: AttackGraph, *, enabled: Collection[str] = (), blocked: Mapping[str, float] | None = None
) -> "Figure":
    """Draw an attack graph, read from left to right.

    Parameters
    ----------
    graph : AttackGraph
        To be drawn.
    enabled : collection of str
        Conditions that hold by now, beside those that hold from the start.
    blocked : mapping, optional
        How likely the defender blocks each exploit now.

    Raises
    ------
    InputError
        When matplotlib is not installed, or there is more to show than a picture can.
    """
    if len(graph.conditions) > MOST:
        raise InputError(
            f"{len(graph.conditions)} conditions are more than a picture can show ({MOST}); make the graph smaller "
            "first (`ncirl reduce`)",
            f"attack graph '{graph.name}'",
        )
    layout = layered(graph)
    levels = max((level for level, _ in layout.places.values()), default=0)
    rows = max((row for _, row in layout.places.values()), default=0.0)
    width, height = 2 * MARGIN + max(levels, 2) * LEVEL, TOP + rows * ROW + FOOT + LEGEND
    figure = blank_figure(width, height)
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, width), ylim=(0, height))
    axes.axis("off")
    canvas = _Canvas(axes, layout, height, graph)
    chances = blocked or {}
    for exploit in graph.exploits:
        canvas.draw_exploit(exploit, chances.get(exploit.id, 0.0))
    for condition in graph.conditions:
        canvas.draw_condition(condition, graph, condition.id in enabled)
    canvas.draw_legend(graph, bool(blocked), bool(enabled))
    return figure


class _Canvas:
    """Draws in inches."""

    def __init__(self, axes: "Axes", layout: Layout, height: float, graph: AttackGraph) -> None:
        self.axes, self.layout, self.height = axes, layout, height
        self.steps = told_apart({e.id: display_name(e) for e in graph.exploits}, 17, 2)
        self.boxes = told_apart({c.id: display_name(c) for c in graph.conditions}, 18, 2)

    def at(self, node: Node) -> tuple[float, float]:
        level, row = self.layout.places[node]
        return MARGIN + level * LEVEL, self.height - TOP - row * ROW

    def draw_exploit(self, exploit: Exploit, chance: float) -> None:
        from matplotlib.patches import Circle

        node: Node = ("exploit", exploit.id)
        is_blocked = chance >= BLOCKED
        colour = LIGHT["block" if is_blocked else "line"]
        for premise in exploit.premises:
            self._connect(("condition", premise), node, LIGHT["line"], 1.0, arrow=False)
        self._connect(node, ("condition", exploit.result), colour, 1.0 + 5.0 * chance, arrow=True)
        x, y = self.at(node)
        face = colour if is_blocked else LIGHT["ink"]
        self.axes.add_patch(Circle((x, y), KNOT, facecolor=face, edgecolor="none", zorder=3))
        said = self.steps[exploit.id] + (f"\nblocked {chance:.0%}" if is_blocked else "")
        ink = LIGHT["block" if is_blocked else "muted"]
        backing = {"facecolor": LIGHT["paper"], "edgecolor": "none", "pad": 0.6, "alpha": 0.85}
        self.axes.text(
            x, y - 0.11, said, fontsize=7, color=ink, va="top", ha="center", zorder=3, parse_math=False, bbox=backing
        )

    def draw_condition(self, condition: Condition, graph: AttackGraph, is_enabled: bool) -> None:
        from matplotlib.patches import Circle, FancyBboxPatch

        x, y = self.at(("condition", condition.id))
        wanted = [k for k, intent in enumerate(graph.intents) if intent.rewards.get(condition.id, 0.0) > 0]
        face = LIGHT["enabled" if is_enabled else "start" if condition.initial else "box"]
        edge = LIGHT["goal" if wanted else "line"]
        box = FancyBboxPatch(
            (x - BOX[0] / 2, y - BOX[1] / 2),
            *BOX,
            boxstyle="round,pad=0,rounding_size=0.09",
            facecolor=face,
            edgecolor=edge,
            linewidth=2.0 if wanted else 0.8,
            zorder=4,
        )
        self.axes.add_patch(box)
        self._write(x, y, self.boxes[condition.id], 8, "ink")
        shown = wanted[:INTENTS]
        for place, k in enumerate(shown):
            spot = (x + (place - (len(shown) - 1) / 2) * 3 * DOT, y + BOX[1] / 2 + 0.07)
            self.axes.add_patch(Circle(spot, DOT, facecolor=LIGHT[intent_colour(k)], edgecolor="none", zorder=5))

    def draw_legend(self, graph: AttackGraph, shows_blocks: bool, shows_enabled: bool) -> None:
        """Say what colours mean, in one or two lines at the foot."""
        entries = [("start", "■", "holds from the start")]
        entries += [("enabled", "■", "enabled by now")] if shows_enabled else []
        entries += [("goal", "□", "pays an intent")]
        entries += [("block", "━", "blocked now, wider the likelier")] if shows_blocks else []
        brief = [shortened(intent.id, 22, 1) for intent in graph.intents[:INTENTS]]
        entries += [(intent_colour(k), "●", f"pays {name}") for k, name in enumerate(brief)]
        if len(graph.intents) > INTENTS:
            entries.append((intent_colour(INTENTS), "●", f"pays another of {len(graph.intents)} intents"))
        x, y = 0.2, LEGEND - 0.12
        for colour, mark, text in entries:
            length = 0.3 + 0.073 * len(text)
            if x + length > self.axes.get_xlim()[1] and x > 0.2:
                x, y = 0.2, y - 0.19
            self._write(x, y, mark, 9, colour, "left")
            self._write(x + 0.15, y, text, 7.5, "muted", "left")
            x += length

    def _connect(self, start: Node, end: Node, colour: str, width: float, *, arrow: bool) -> None:
        from matplotlib.patches import FancyArrowPatch
        from matplotlib.path import Path

        points = [self.at(node) for node in self.layout.routes[start, end]]
        (x0, y0), (x1, y1) = points[0], points[-1]
        if start[0] == "condition":
            points[0] = (x0 + BOX[0] / 2, y0)
        if end[0] == "condition":
            points[-1] = (x1 - BOX[0] / 2 - 0.02, y1)
        vertices, codes = [points[0]], [Path.MOVETO]
        for (xa, ya), (xb, yb) in pairwise(points):
            bend = max(0.45 * abs(xb - xa), 0.35)
            vertices += [(xa + bend, ya), (xb - bend, yb), (xb, yb)]
            codes += [Path.CURVE4] * 3
        style = "-|>,head_length=4,head_width=2.2" if arrow else "-"
        patch = FancyArrowPatch(
            path=Path(vertices, codes),
            arrowstyle=style,
            color=colour,
            linewidth=width,
            shrinkA=0,
            shrinkB=0,
            zorder=2,
            mutation_scale=1.0,
        )
        self.axes.add_patch(patch)

    def _write(self, x: float, y: float, text: str, size: float, colour: str, ha: str = "center") -> None:
        self.axes.text(x, y, text, fontsize=size, color=LIGHT[colour], va="center", ha=ha, zorder=6, parse_math=False)
