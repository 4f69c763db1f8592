"""Pictures show themselves in a notebook."""

from __future__ import annotations

import pickle

import ncirl
from ncirl.evaluation import ValueFunction
from ncirl.reports.pictures import value_figure

PNG = b"\x89PNG"


def test_a_picture_is_a_picture_in_a_notebook_that_was_told_nothing() -> None:
    game = ncirl.games.patrol(horizon=2)
    figure = value_figure(ValueFunction(ncirl.solve(game, ncirl.Certified(gap=0.1))), ("m", "m"))
    assert figure._repr_png_().startswith(PNG)
    assert pickle.loads(pickle.dumps(figure))._repr_png_().startswith(PNG)
