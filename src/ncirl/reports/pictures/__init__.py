"""Pictures of attack graphs, of how play goes and of tables of payoffs, drawn with matplotlib (the extra ``plot``)."""

from ncirl.reports.pictures.cross_picture import cross_figure
from ncirl.reports.pictures.graph_picture import graph_figure, matters_figure
from ncirl.reports.pictures.render import png_bytes, svg_text, themed_svg
from ncirl.reports.pictures.value_picture import value_figure

__all__ = ["cross_figure", "graph_figure", "matters_figure", "png_bytes", "svg_text", "themed_svg", "value_figure"]
