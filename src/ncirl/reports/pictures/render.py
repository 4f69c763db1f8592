"""Figures as files: png, svg that is the same every time, and svg that takes its colours from the page around it.

Colours are named by what they mean, once for paper and light screens and once for dark ones.
"""

import io
import re
from collections import Counter
from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING

from ncirl.errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "DARK",
    "INTENTS",
    "LIGHT",
    "blank_figure",
    "css_variables",
    "intent_colour",
    "plain_text",
    "png_bytes",
    "shortened",
    "svg_text",
    "themed_svg",
    "told_apart",
]

DPI = 150
PIECE = re.compile(r"[^\s_:/.@-]*[\s_:/.@-]|[^\s_:/.@-]+")  # up to where a line may end
STYLE = re.compile(r'style="[^"]*"')
LIGHT = {  # no two alike: pictures are themed by replacing these
    "paper": "#fdfdfc",
    "ink": "#1d232b",
    "muted": "#626d7a",
    "line": "#a9b2bc",
    "box": "#eef1f4",
    "start": "#cfe0f5",
    "enabled": "#f7dfae",
    "goal": "#8a5a00",
    "block": "#b3261e",
    "intent-0": "#2f6db5",
    "intent-1": "#d17d1f",
    "intent-2": "#2f8f6b",
    "intent-3": "#a8418f",
    "intent-4": "#7a6a2f",
    "intent-5": "#5b5fc7",
    "intent-6": "#c2506b",
    "intent-7": "#3d8ea3",
    "intent-rest": "#8b929b",
}
DARK = {
    "paper": "#14181d",
    "ink": "#e7ebef",
    "muted": "#a3adb8",
    "line": "#5b6672",
    "box": "#252c35",
    "start": "#244468",
    "enabled": "#5f4a16",
    "goal": "#f0c267",
    "block": "#ff8a80",
    "intent-0": "#74aef0",
    "intent-1": "#f2ab5c",
    "intent-2": "#64c9a1",
    "intent-3": "#e08acb",
    "intent-4": "#c4b36d",
    "intent-5": "#a3a6ff",
    "intent-6": "#f08ca5",
    "intent-7": "#79c6da",
    "intent-rest": "#9aa3ad",
}
INTENTS = 8  # that have a colour of their own


def intent_colour(k: int) -> str:
    """Return the name of the colour of the intent number `k`."""
    return f"intent-{k}" if k < INTENTS else "intent-rest"


def css_variables(colours: dict[str, str]) -> str:
    """Return the colours as declarations of CSS variables."""
    return " ".join(f"--{name}: {colour};" for name, colour in colours.items())


def blank_figure(width: float, height: float) -> "Figure":
    """Return an empty figure, sizes in inches; `InputError` when matplotlib is not installed."""
    try:
        from ncirl.reports.pictures.shown import ShownFigure

        return ShownFigure(figsize=(width, height), facecolor=LIGHT["paper"])
    except ImportError:
        raise InputError("pictures need matplotlib; install it with `pip install 'ncirl[plot]'`") from None


def png_bytes(figure: "Figure") -> bytes:
    """Return a figure as a png file."""
    return _saved(figure, "png")


def svg_text(figure: "Figure", name: str = "ncirl") -> str:
    """Return a figure as an svg file; the same figure and name give the same text."""
    import matplotlib as mpl

    with mpl.rc_context({"svg.hashsalt": name, "svg.fonttype": "none"}):
        return _saved(figure, "svg").decode()


def themed_svg(figure: "Figure", name: str, title: str) -> str:
    """Return a figure as an svg element for a page that defines the colours as CSS variables.

    Parameters
    ----------
    figure : Figure
        To be shown.
    name : str
        Tells the ids inside apart from those of other pictures on the page.
    title : str
        What is seen, for those who do not see it; HTML is escaped.
    """
    text = svg_text(figure, name)
    element = text[text.index("<svg") :]
    variables = {colour: f"var(--{key})" for key, colour in LIGHT.items()}

    def themed(style: re.Match[str]) -> str:
        return re.sub(r"#[0-9a-f]{6}", lambda found: variables.get(found[0], found[0]), style[0])

    element = STYLE.sub(themed, element)
    opening = f'<svg role="img" aria-label="{escape(title)}" class="picture" '
    return opening + element.removeprefix("<svg ")


def plain_text(text: str) -> str:
    """Return text without the control characters that no picture can show."""
    return "".join(c if c.isprintable() else "�" for c in text)


def shortened(text: str, width: int, lines: int) -> str:
    """Break text into lines, after spaces and marks if possible; what does not fit is cut off and marked so."""
    found = [""]
    for piece in PIECE.findall(plain_text(text)):
        while len(found[-1]) + len(piece.rstrip()) > width:
            room = 0 if found[-1] else width  # only a piece longer than a line is broken inside
            found[-1:] = [(found[-1] + piece[:room]).rstrip(), ""]
            piece = piece[room:]
        found[-1] += piece
    found = [line.strip() for line in found if line.strip()] or [""]
    if len(found) > lines:
        found = [*found[: lines - 1], found[lines - 1][: width - 1].rstrip() + "…"]
    return "\n".join(found)


def told_apart(names: Mapping[str, str], width: int, lines: int) -> dict[str, str]:
    """Shorten names by key so that no two read alike: those that begin alike show their ends, or are numbered.

    Examples
    --------
    >>> told_apart({"a": "execCode(web, root)", "b": "execCode(web, user)"}, 9, 1)
    {'a': '… root)', 'b': '… user)'}
    """
    found = {key: shortened(name, width, lines) for key, name in names.items()}
    alike: dict[str, list[str]] = {}
    for key, brief in found.items():
        alike.setdefault(brief, []).append(key)
    ends = {key: _ending(plain_text(name), width, lines) for key, name in names.items()}
    times = Counter(ends.values())
    for brief, keys in alike.items():
        if len(keys) > 1 and all(times[ends[key]] == 1 for key in keys):
            found |= {key: ends[key] for key in keys}
        elif len(keys) > 1:
            found |= {key: f"{brief} #{n}" for n, key in enumerate(keys, 1)}
    return found


def _ending(text: str, width: int, lines: int) -> str:
    """Shorten text to its last words, or the end of its last word, and mark it so."""
    room = (width - 2) * lines
    tail = text[-room:]
    if len(text) > room and " " in tail.strip():
        tail = tail[tail.index(" ") :].strip()
    return shortened(f"… {tail}", width, lines)


def _saved(figure: "Figure", kind: str) -> bytes:
    file = io.BytesIO()
    figure.savefig(file, format=kind, dpi=DPI, metadata={"Date": None} if kind == "svg" else None)
    return file.getvalue()
