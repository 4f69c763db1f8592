"""Policy iteration on the two controllers: improve, in place, the nodes that matter most for the root.

Against a controller its opponent has a best answer; how often that answer meets a node, discounted, is how much the
root's value changes with the node's. Few nodes make up nearly all of it. Improving one in place improves whatever
refers to it, so this carries new vectors and points from where they were found to where they count; trials do that
along their own path only.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ncirl._typing import FloatArray, IntArray
from ncirl.solvers.certified.book import Controller
from ncirl.solvers.certified.prices import add_wanted_point
from ncirl.solvers.certified.program import cleaned_beliefs
from ncirl.solvers.certified.search import Search, Visit

__all__ = ["polish_points", "polish_vectors"]

VECTORS, POINTS = 25, 15  # nodes improved in one go
NEGLIGIBLE = 1e-4  # visits
LISTING = 100  # work to find out about a node


def polish_vectors(search: Search, late: Callable[[], bool]) -> None:
    """Improve the vectors that the attacker's best answer to the defender's controller meets most."""
    book, start = search.upper, search.worst_start()
    store = book.stores[start.place]
    root = int(store.nodes[(store.alphas @ start.belief).argmin()])
    controller = book.controller([root])
    visits = controller.visits(book.vectors[controller.alive], root, start.belief)
    search.meter.work += LISTING * len(controller.alive)
    arriving = dict(zip(controller.alive.tolist(), visits, strict=True))
    for n in _heaviest(controller, visits.sum(axis=1), VECTORS):
        if late():
            return
        node, met = book.nodes[n], cleaned_beliefs(arriving[n][None])[0]
        made = met if node.belief is None else node.belief
        search.lower_everywhere(n, (made + met) / 2)  # between where it was best and where it is met now
        search.press(Visit(node.place, made))


def polish_points(search: Search, late: Callable[[], bool]) -> None:
    """Improve the points that the defender's best answer to the attacker's controller meets most."""
    book, start = search.lower, search.worst_start()
    store = book.stores[start.place]
    if not len(store.gains):
        return
    root = int(store.nodes[(store.shares(start.belief[None])[0] * store.gains).argmax()])
    controller = book.controller([root])
    visits = controller.visits(book.values[controller.alive], root, np.ones(1))
    search.meter.work += LISTING * len(controller.alive)
    for n in _heaviest(controller, visits.sum(axis=1), POINTS):
        if late():
            return
        add_wanted_point(search, Visit(book.nodes[n].place, book.nodes[n].belief))


def _heaviest(controller: Controller, weights: FloatArray, count: int) -> list[int]:
    """Return the nodes that weigh most, those that are met late first: what they gain is then there for the others."""
    order: IntArray = np.argsort(-weights, kind="stable")[:count]
    kept = order[weights[order] > NEGLIGIBLE]
    return sorted(controller.alive[kept].tolist(), key=lambda n: -controller.depth[n])
