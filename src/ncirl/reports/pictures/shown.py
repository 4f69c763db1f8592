"""A figure that a notebook shows as a picture, whether or not it was told how to show matplotlib's figures."""

from matplotlib.figure import Figure

from ncirl.reports.pictures.render import png_bytes

__all__ = ["ShownFigure"]


class ShownFigure(Figure):
    """A figure of matplotlib's, at home in a notebook."""

    def _repr_png_(self) -> bytes:
        """Return the picture, for a notebook."""
        return png_bytes(self)
