"""The order in which a game is solved backwards: strongly connected components of its public states.

State s points at s' when an outcome of s names s'. Components come successors first, so what a component leads to is
known when its turn comes. One without a cycle is a single state that never returns to itself: a one-shot game there.
"""

from collections.abc import Sequence

import networkx as nx

from ncirl._typing import State
from ncirl.model.game import Game

__all__ = ["components", "is_cyclic"]


def components(game: Game) -> list[list[State]]:
    """List the strongly connected components of the public states that a game without a horizon reaches.

    Successors come first. For a game with a horizon, pass its `Game.timed` twin.

    Examples
    --------
    >>> import ncirl
    >>> components(ncirl.games.big_match())
    [['lost'], ['won'], ['alive']]
    """
    states = game.explore()
    number = {state: i for i, state in enumerate(states)}
    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_nodes_from(range(len(states)))
    graph.add_edges_from((i, number[o.state]) for i, state in enumerate(states) for o in game.stage(state).outcomes)
    condensed = nx.condensation(graph)
    ordered = reversed(list(nx.topological_sort(condensed)))
    return [[states[i] for i in sorted(condensed.nodes[c]["members"])] for c in ordered]


def is_cyclic(game: Game, component: Sequence[State]) -> bool:
    """Tell whether play can come back to a state of `component`, one of `components(game)`."""
    return len(component) > 1 or any(o.state == component[0] for o in game.stage(component[0]).outcomes)
