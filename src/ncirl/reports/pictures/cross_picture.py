"""The picture of a table of payoffs: a square a pair, and beside it what the best opponents make of each."""

from typing import TYPE_CHECKING

import numpy as np

from ncirl.evaluation import CrossPlay
from ncirl.reports.pictures.render import LIGHT, blank_figure, shortened

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["cross_figure"]

CELL, LEFT, HEAD, FOOT = 0.85, 1.7, 0.8, 0.35  # inches
RISING = "Purples"
DARK = 0.6  # of the way from the least payoff to the most; beyond it text is white


def cross_figure(found: CrossPlay) -> "Figure":
    """Draw a table of payoffs: darker is more to the attacker; a column and a row beside it are the best responses.

    Parameters
    ----------
    found : CrossPlay
        What `cross_play` returned.

    Raises
    ------
    InputError
        When matplotlib is not installed.

    Examples
    --------
    >>> import ncirl
    >>> from ncirl.evaluation import cross_play
    >>> from ncirl.strategies import uniform_attacker, uniform_defender
    >>> game = ncirl.games.aumann_maschler_1(horizon=1, discount=1.0)
    >>> cross_figure(cross_play(game, [uniform_attacker(game)], [uniform_defender(game)])).axes[0].get_title()
    'payoff to the attacker'
    """
    m, n = found.payoffs.shape
    figure = blank_figure(LEFT + CELL * (n + 1) + 0.2, HEAD + CELL * 0.6 * (m + 1) + FOOT)
    table = np.full((m + 1, n + 1), np.nan)
    table[:m, :n], table[:m, n], table[m, :n] = found.payoffs, found.secured, found.conceded
    width, height = figure.get_size_inches()
    axes = figure.add_axes((LEFT / width, FOOT / height, CELL * (n + 1) / width, CELL * 0.6 * (m + 1) / height))
    low, high = float(np.nanmin(table)), float(np.nanmax(table))
    spread = (high - low) or 1.0
    axes.imshow(table, cmap=RISING, vmin=low, vmax=low + spread, aspect="auto")
    for (row, column), value in np.ndenumerate(table):
        if np.isfinite(value):
            colour = "white" if (value - low) / spread > DARK else LIGHT["ink"]
            axes.text(column, row, f"{value:.3g}", ha="center", va="center", fontsize=8, color=colour)
    axes.axhline(m - 0.5, color=LIGHT["paper"], linewidth=4)
    axes.axvline(n - 0.5, color=LIGHT["paper"], linewidth=4)
    columns = [*(shortened(name, 11, 2) for name in found.defenders), "secured"]
    rows = [*(shortened(name, 22, 2) for name in found.attackers), "conceded"]
    axes.set_xticks(range(n + 1), columns, fontsize=7.5)
    axes.set_yticks(range(m + 1), rows, fontsize=7.5)
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.set_title("payoff to the attacker", fontsize=9, color=LIGHT["ink"])
    return figure
