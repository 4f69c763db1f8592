"""Pictures of attack graphs and of how play goes, drawn with matplotlib (the extra ``plot``)."""

from ncirl.reports.pictures.graph_picture import graph_figure, matters_figure
from ncirl.reports.pictures.render import png_bytes, svg_text, themed_svg

__all__ = ["graph_figure", "matters_figure", "png_bytes", "svg_text", "themed_svg"]
