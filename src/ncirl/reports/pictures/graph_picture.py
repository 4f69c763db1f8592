"""The picture of an attack graph: conditions as boxes, exploits as knots that all their premises run into.

Of a large graph what matters is drawn, and nodes with counts stand for the rest (`folding`).
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from ncirl.attack_graphs.graph import AttackGraph, Condition, Exploit
from ncirl.attack_graphs.names import display_name
from ncirl.errors import InputError
from ncirl.reports.pictures.folding import Folded, folded
from ncirl.reports.pictures.layers import Layout, Node, layered
from ncirl.reports.pictures.render import INTENTS, LIGHT, blank_figure, intent_colour, shortened, told_apart
from ncirl.reports.what_matters import Matters

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["MOST", "graph_figure", "is_readable", "matters_figure"]

LEVEL, ROW, MARGIN, TOP, FOOT = 1.12, 0.74, 0.85, 0.5, 0.6  # inches
BOX = (1.3, 0.42)  # inches
KNOT = 0.055
DOT = 0.045
BLOCKED = 0.005  # a chance below is not shown
LEGEND = 0.55
MOST = 300  # conditions
READABLE = (80, 120)  # conditions and exploits that can still be read one by one


def is_readable(graph: AttackGraph) -> bool:
    """Whether a graph can be read with every condition and every exploit drawn; a larger one is folded."""
    return len(graph.conditions) <= READABLE[0] and len(graph.exploits) <= READABLE[1]


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
            f"{len(graph.conditions)} conditions are more than a picture can show one by one ({MOST}); "
            "`matters_figure` draws what matters of it",
            f"attack graph '{graph.name}'",
        )
    return _figure(graph, _Marks(frozenset(enabled), dict(blocked or {})))


def matters_figure(matters: Matters) -> "Figure":
    """Draw what matters of a graph of any size: guards, ways and goals; the rest is folded into nodes with counts.

    Parameters
    ----------
    matters : Matters
        As `matters_of` has it for a policy, or `matters_of_net` for a graph alone.

    Raises
    ------
    InputError
        When matplotlib is not installed.
    """
    net, found = matters.net, folded(matters)
    chances: dict[str, float] = {}
    for name, p in matters.guards.items():
        for k in net.guards[name].stops:  # by the likeliest, where several guards stop it
            chances[net.exploits[k].id] = max(p, chances.get(net.exploits[k].id, 0.0))
    ways = frozenset(name for way in matters.ways for name in way.exploits)
    return _figure(found.graph, _Marks(blocked=chances, watched=frozenset(chances), ways=ways, folded=found))


@dataclass(frozen=True, eq=False)
class _Marks:
    """What is shown beside the graph itself."""

    enabled: Collection[str] = ()  # conditions that hold by now
    blocked: Mapping[str, float] = field(default_factory=dict)  # how likely each exploit is blocked now
    watched: Collection[str] = ()  # exploits that may be blocked some time
    ways: Collection[str] = ()  # exploits that an attack keeps to
    folded: Folded | None = None  # what nodes stand for

    def name(self, thing: Condition | Exploit) -> str:
        """Return what is written at a node: what people call it, or how many it stands for."""
        said = thing.id if self.folded is None else self.folded.label(thing.id)
        return display_name(thing) if said == thing.id else said

    def names(self, things: Sequence[Condition | Exploit], width: int) -> dict[str, str]:
        """Return what is written at nodes; what is folded needs not be told apart, it is counted."""
        counted = {thing.id: shortened(self.name(thing), width, 2) for thing in things if self.is_folded(thing.id)}
        return counted | told_apart({each.id: self.name(each) for each in things if each.id not in counted}, width, 2)

    def is_folded(self, node: str) -> bool:
        return self.folded is not None and (node in self.folded.conditions or node in self.folded.exploits)


def _figure(graph: AttackGraph, marks: _Marks) -> "Figure":
    layout = layered(graph)
    levels = max((level for level, _ in layout.places.values()), default=0)
    rows = max((row for _, row in layout.places.values()), default=0.0)
    width, height = 2 * MARGIN + max(levels, 2) * LEVEL, TOP + rows * ROW + FOOT + LEGEND
    figure = blank_figure(width, height)
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, width), ylim=(0, height))
    axes.axis("off")
    canvas = _Canvas(axes, layout, height, marks, graph)
    for exploit in graph.exploits:
        canvas.draw_exploit(exploit)
    for condition in graph.conditions:
        canvas.draw_condition(condition, graph)
    canvas.draw_legend(graph)
    return figure


class _Canvas:
    """Draws in inches."""

    def __init__(self, axes: "Axes", layout: Layout, height: float, marks: _Marks, graph: AttackGraph) -> None:
        self.axes, self.layout, self.height, self.marks = axes, layout, height, marks
        self.steps = marks.names(graph.exploits, 17)
        self.boxes = marks.names(graph.conditions, 18)

    def at(self, node: Node) -> tuple[float, float]:
        level, row = self.layout.places[node]
        return MARGIN + level * LEVEL, self.height - TOP - row * ROW

    def draw_exploit(self, exploit: Exploit) -> None:
        from matplotlib.patches import Circle

        node: Node = ("exploit", exploit.id)
        chance = self.marks.blocked.get(exploit.id, 0.0)
        is_blocked, is_folded = chance >= BLOCKED, self.marks.is_folded(exploit.id)
        is_marked = is_blocked or exploit.id in self.marks.watched
        on_way = exploit.id in self.marks.ways
        style = ":" if is_folded else "-"
        colour = LIGHT["block" if is_marked else "muted" if on_way else "line"]
        width = 1.0 + 5.0 * chance + 0.9 * on_way
        for premise in exploit.premises:
            ink = LIGHT["muted" if on_way else "line"]
            self._connect(("condition", premise), node, ink, 1.0 + 0.9 * on_way, style, arrow=False)
        self._connect(node, ("condition", exploit.result), colour, width, style, arrow=True)
        x, y = self.at(node)
        face = colour if is_marked else LIGHT["line" if is_folded else "ink"]
        self.axes.add_patch(Circle((x, y), KNOT * (1 + 0.5 * is_marked), facecolor=face, edgecolor="none", zorder=3))
        state = f"\nblocked {chance:.0%}" if is_blocked else "\nwatched" if is_marked else ""
        said = self.steps[exploit.id] + state
        ink = LIGHT["block" if is_marked else "muted"]
        backing = {"facecolor": LIGHT["paper"], "edgecolor": "none", "pad": 0.6, "alpha": 0.85}
        self.axes.text(
            x, y - 0.11, said, fontsize=7, color=ink, va="top", ha="center", zorder=3, parse_math=False, bbox=backing
        )

    def draw_condition(self, condition: Condition, graph: AttackGraph) -> None:
        from matplotlib.patches import Circle, FancyBboxPatch

        x, y = self.at(("condition", condition.id))
        wanted = [k for k, intent in enumerate(graph.intents) if intent.rewards.get(condition.id, 0.0) > 0]
        face = LIGHT["enabled" if condition.id in self.marks.enabled else "start" if condition.initial else "box"]
        edge = LIGHT["goal" if wanted else "line"]
        box = FancyBboxPatch(
            (x - BOX[0] / 2, y - BOX[1] / 2),
            *BOX,
            boxstyle="round,pad=0,rounding_size=0.09",
            facecolor=face,
            edgecolor=edge,
            linewidth=2.0 if wanted else 0.8,
            linestyle=":" if self.marks.is_folded(condition.id) else "-",
            zorder=4,
        )
        self.axes.add_patch(box)
        self._write(x, y, self.boxes[condition.id], 8, "ink")
        shown = wanted[:INTENTS]
        for place, k in enumerate(shown):
            spot = (x + (place - (len(shown) - 1) / 2) * 3 * DOT, y + BOX[1] / 2 + 0.07)
            self.axes.add_patch(Circle(spot, DOT, facecolor=LIGHT[intent_colour(k)], edgecolor="none", zorder=5))

    def draw_legend(self, graph: AttackGraph) -> None:
        """Say what colours mean, in one or two lines at the foot."""
        marks = self.marks
        entries = [("start", "■", "holds from the start")]
        entries += [("enabled", "■", "enabled by now")] if marks.enabled else []
        entries += [("goal", "□", "pays an intent")]
        entries += [("block", "●", "watched")] if marks.watched else []
        entries += [("block", "━", "blocked now, wider the likelier")] if marks.blocked else []
        entries += [("muted", "━", "a way of the attack")] if marks.ways else []
        entries += [("line", "┈", "folded: so many of them")] if marks.folded is not None else []
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

    def _connect(self, start: Node, end: Node, colour: str, width: float, line: str, *, arrow: bool) -> None:
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
            linestyle=line,
            shrinkA=0,
            shrinkB=0,
            zorder=2,
            mutation_scale=1.0,
        )
        self.axes.add_patch(patch)

    def _write(self, x: float, y: float, text: str, size: float, colour: str, ha: str = "center") -> None:
        self.axes.text(x, y, text, fontsize=size, color=LIGHT[colour], va="center", ha=ha, zorder=6, parse_math=False)
