"""The picture of v(s, ·): a band over two intents, a triangle over three."""

from typing import TYPE_CHECKING

import numpy as np

from ncirl._typing import State
from ncirl.errors import InputError
from ncirl.evaluation import ValueFunction
from ncirl.reports.pictures.render import LIGHT, blank_figure, plain_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["value_figure"]

POINTS, SIDE = 81, 20  # along a line, and along a side of the triangle
RISING = "Purples"


def value_figure(value: ValueFunction, state: State) -> "Figure":
    """Draw what the game is worth by what is believed at a state, between the bounds that are proved.

    Parameters
    ----------
    value : ValueFunction
        Of a solution with two or three intents.
    state : State
        As for `ValueFunction.at`.

    Raises
    ------
    InputError
        When there are more intents, or matplotlib is not installed.

    Examples
    --------
    >>> import ncirl
    >>> from ncirl.evaluation import ValueFunction
    >>> game = ncirl.games.aumann_maschler_1(horizon=2, discount=1.0)
    >>> value = ValueFunction(ncirl.solve(game, ncirl.Certified(gap=0.01)))
    >>> value_figure(value, (0, "play")).axes[0].get_xlabel()
    'P(t1)'
    """
    intents = len(value.game.intents)
    if intents not in (2, 3):
        raise InputError(f"value: can be drawn over two or three intents, this game has {intents}")
    return _line(value, state) if intents == 2 else _triangle(value, state)


def _line(value: ValueFunction, state: State) -> "Figure":
    figure = blank_figure(4.8, 3.2)
    axes = figure.add_axes((0.13, 0.16, 0.83, 0.74))
    p = np.linspace(0, 1, POINTS)
    lower, upper = value.along(state, [0.0, 1.0], [1.0, 0.0], POINTS)
    axes.fill_between(p, lower, upper, color=LIGHT["intent-0"], alpha=0.25, linewidth=0)
    axes.plot(p, upper, color=LIGHT["block"], linewidth=1.2, label="conceded at most")
    axes.plot(p, lower, color=LIGHT["intent-0"], linewidth=1.2, label="secured at least")
    axes.set_xlabel(plain_text(f"P({value.game.intents[0]})"), fontsize=8)
    axes.set_title("value by what is believed", fontsize=9, color=LIGHT["ink"])
    axes.tick_params(labelsize=7.5)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=7.5)
    return figure


def _triangle(value: ValueFunction, state: State) -> "Figure":
    figure = blank_figure(4.4, 3.9)
    axes = figure.add_axes((0.06, 0.07, 0.76, 0.77))
    beliefs = np.array([(i, j, SIDE - i - j) for i in range(SIDE + 1) for j in range(SIDE + 1 - i)]) / SIDE
    found = [value.at(state, belief) for belief in beliefs]
    middle = np.array([(each.lower + each.upper) / 2 for each in found])
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(3) / 2]])
    x, y = (beliefs @ corners).T
    shaded = axes.tripcolor(x, y, middle, cmap=RISING, shading="gouraud")
    if np.ptp(middle) > 0:
        lines = axes.tricontour(x, y, middle, levels=6, colors=LIGHT["ink"], linewidths=0.5)
        axes.clabel(lines, fontsize=6.5)
    for (cx, cy), name, align in zip(corners, value.game.intents, ("right", "left", "center"), strict=True):
        above = 0.03 if cy > 0 else -0.05
        axes.text(cx, cy + above, plain_text(name), ha=align, fontsize=8, color=LIGHT["ink"], parse_math=False)
    widest = max(each.upper - each.lower for each in found)
    axes.set_title(f"value by what is believed, within {widest / 2:.2g}", fontsize=9, color=LIGHT["ink"], pad=18)
    axes.set_axis_off()
    axes.set_aspect("equal")
    figure.colorbar(shaded, cax=figure.add_axes((0.87, 0.2, 0.03, 0.5))).ax.tick_params(labelsize=7)
    return figure
