"""Policy improvement of the two controllers: improve, in place, the nodes that matter most for the root.

    ∂value(root) / ∂value(node) = Σ_t γ^t Pr(the opponent's best answer meets the node after t stages)

Against a controller its opponent has a best answer; how often that answer meets a node, discounted, is how much the
root's value changes with the node's. Few nodes make up nearly all of it. Improving one in place improves whatever
refers to it, so this carries new vectors and points from where they were found to where they count; trials do that
along their own path only.
"""

from collections.abc import Callable

import numpy as np

from ncirl._typing import FloatArray, IntArray
from ncirl.lp.program import cleaned_beliefs
from ncirl.solvers.certified.controller import ControllerMDP
from ncirl.solvers.certified.dual_trials import add_wanted_point
from ncirl.solvers.certified.search import InformationState, Search

__all__ = ["improve_points", "improve_vectors"]

NEGLIGIBLE = 1e-4  # visits
LISTING = 100  # work to find out about a node


def improve_vectors(search: Search, late: Callable[[], bool]) -> None:
    """Improve the vectors that the attacker's best answer to the defender's controller meets most."""
    vectors, start = search.upper, search.worst_start()
    store = vectors.stores[start.state]
    root = int(store.nodes[store.best(start.belief)])
    controller = vectors.controller([root])
    visits = controller.visits(vectors.vectors[controller.alive], root, start.belief)
    search.meter.work += LISTING * len(controller.alive)
    arriving = dict(zip(controller.alive.tolist(), visits, strict=True))
    for n in _heaviest(controller, visits.sum(axis=1), search.tuning.improved_vectors):
        if late():
            return
        node, met = vectors.nodes[n], cleaned_beliefs(arriving[n][None])[0]
        made = met if node.belief is None else node.belief
        search.improve_vector(n, (made + met) / 2)  # between where it was best and where it is met now
        search.update_upper(InformationState(node.state, made))


def improve_points(search: Search, late: Callable[[], bool]) -> None:
    """Improve the points that the defender's best answer to the attacker's controller meets most."""
    points, start = search.lower, search.worst_start()
    store = points.stores[start.state]
    best = store.best(start.belief)
    if best is None:
        return
    root = int(store.nodes[best[0]])
    controller = points.controller([root])
    visits = controller.visits(points.values[controller.alive], root, np.ones(1))
    search.meter.work += LISTING * len(controller.alive)
    for n in _heaviest(controller, visits.sum(axis=1), search.tuning.improved_points):
        if late():
            return
        add_wanted_point(search, InformationState(points.nodes[n].state, points.nodes[n].belief))


def _heaviest(controller: ControllerMDP, weights: FloatArray, count: int) -> list[int]:
    """Return the nodes that weigh most, those that are met late first: what they gain is then there for the others."""
    order: IntArray = np.argsort(-weights, kind="stable")[:count]
    kept = order[weights[order] > NEGLIGIBLE]
    return sorted(controller.alive[kept].tolist(), key=lambda n: -controller.depth[n])
