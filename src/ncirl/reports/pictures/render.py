"""Figures as files: png, svg that is the same every time, and svg that takes its colours from the page around it."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING

from ncirl.errors import InputError
from ncirl.reports.pictures.theme import LIGHT

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["blank_figure", "plain_text", "png_bytes", "shortened", "svg_text", "themed_svg"]

DPI = 150
PIECE = re.compile(r"[^\s_:/.@-]*[\s_:/.@-]|[^\s_:/.@-]+")  # up to where a line may end
STYLE = re.compile(r'style="[^"]*"')


def blank_figure(width: float, height: float) -> Figure:
    """Return an empty figure, sizes in inches.

    Raises
    ------
    InputError
        When matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError("pictures need matplotlib; install it with `pip install 'ncirl[plot]'`") from None
    return Figure(figsize=(width, height), facecolor=LIGHT["paper"])


def png_bytes(figure: Figure) -> bytes:
    """Return a figure as a png file."""
    return _saved(figure, "png")


def svg_text(figure: Figure, name: str = "ncirl") -> str:
    """Return a figure as an svg file; the same figure and name give the same text."""
    import matplotlib as mpl

    with mpl.rc_context({"svg.hashsalt": name, "svg.fonttype": "none"}):
        return _saved(figure, "svg").decode()


def themed_svg(figure: Figure, name: str, title: str) -> str:
    """Return a figure as an svg element for a page that defines the colours of `theme` as CSS variables.

    Parameters
    ----------
    figure : Figure
        To be shown.
    name : str
        Tells the ids inside apart from those of other pictures on the page.
    title : str
        What is seen, for those who do not see it; HTML is escaped.
    """
    from html import escape

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


def _saved(figure: Figure, kind: str) -> bytes:
    file = io.BytesIO()
    figure.savefig(file, format=kind, dpi=DPI, metadata={"Date": None} if kind == "svg" else None)
    return file.getvalue()
