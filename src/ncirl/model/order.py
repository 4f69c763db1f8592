"""The order in which a game is solved backwards: strongly connected components of its public states.

State s points at s' when an outcome of s names s'. Components come successors first, so what a component leads to is
known when its turn comes. One without a cycle is a single state that never returns to itself: a one-shot game there.
"""

from collections.abc import Sequence
from graphlib import TopologicalSorter

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

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
    after = [  # without repeats
        list(dict.fromkeys(number[o.state] for o in game.stage(state).outcomes))
        for state in limits.watch(states, ORDERING)
    ]
    ends = np.repeat(np.arange(len(after)), [len(each) for each in after]), np.concatenate([*after, []]).astype(np.intp)
    graph = sp.csr_array((np.ones(len(ends[0])), ends), shape=(len(after), len(after)))
    count, part = connected_components(graph, connection="strong")
    members: list[list[int]] = [[] for _ in range(count)]
    before: dict[int, dict[int, None]] = {}  # of each component, those that point at it
    for i, successors in limits.watch(enumerate(after), ORDERING):
        members[part[i]].append(i)
        before.setdefault(int(part[i]), {})
        for j in successors:
            if part[j] != part[i]:
                before.setdefault(int(part[j]), {})[int(part[i])] = None
    ordered = reversed(list(limits.watch(TopologicalSorter(before).static_order(), ORDERING)))
    return [[states[i] for i in members[c]] for c in ordered]


def is_cyclic(game: Game, component: Sequence[State]) -> bool:
    """Tell whether play can come back to a state of `component`, one of `components(game)`."""
    return len(component) > 1 or any(o.state == component[0] for o in game.stage(component[0]).outcomes)
