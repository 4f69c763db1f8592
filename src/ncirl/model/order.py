"""The order in which a game is solved backwards: strongly connected components of its public states.

State s points at s' when an outcome of s names s'. Components come successors first, so what a component leads to is
known when its turn comes. One without a cycle is a single state that never returns to itself: a one-shot game there.
"""

from collections.abc import Sequence

import networkx as nx

from ncirl._typing import State
from ncirl.limits import UNLIMITED, Limits
from ncirl.model.game import Game

__all__ = ["components", "is_cyclic"]

ORDERING = "putting the public states in order"


def components(game: Game, limits: Limits = UNLIMITED) -> list[list[State]]:
    """List the strongly connected components of the public states that a game without a horizon reaches.

    Successors come first. For a game with a horizon, pass its `Game.timed` twin. The answer is remembered.

    Examples
    --------
    >>> import ncirl
    >>> components(ncirl.games.big_match())
    [['lost'], ['won'], ['alive']]
    """
    if game._components is None:
        game._components = _components(game, limits)
    return game._components


def _components(game: Game, limits: Limits) -> list[list[State]]:
    states = game.explore(limits=limits)
    number = {state: i for i, state in enumerate(states)}
    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_nodes_from(range(len(states)))
    for i, state in limits.watch(enumerate(states), ORDERING):
        graph.add_edges_from((i, number[o.state]) for o in game.stage(state).outcomes)
    found = list(limits.watch(nx.strongly_connected_components(graph), ORDERING))
    part = {i: k for k, members in enumerate(found) for i in members}
    condensed: nx.DiGraph[int] = nx.DiGraph()
    condensed.add_nodes_from(range(len(found)))
    for i, after in limits.watch(graph.adjacency(), ORDERING):
        condensed.add_edges_from((part[i], part[j]) for j in after if part[i] != part[j])
    ordered = reversed(list(limits.watch(nx.topological_sort(condensed), ORDERING)))
    return [[states[i] for i in sorted(found[c])] for c in ordered]


def is_cyclic(game: Game, component: Sequence[State]) -> bool:
    """Tell whether play can come back to a state of `component`, one of `components(game)`."""
    return len(component) > 1 or any(o.state == component[0] for o in game.stage(component[0]).outcomes)
