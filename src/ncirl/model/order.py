"""The order in which a game is solved backwards: strongly connected components of its public states.

State s points at s' when an outcome of s names s'. Components come successors first, so what a component leads to is
known when its turn comes. One without a cycle is a single state that never returns to itself: a one-shot game there.
"""

from collections.abc import Collection, Iterator, Sequence

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
    found = list(limits.watch(_strongly_connected(after), ORDERING))
    part = {i: k for k, members in enumerate(found) for i in members}
    condensed: list[dict[int, None]] = [{} for _ in found]
    for i, successors in limits.watch(enumerate(after), ORDERING):
        condensed[part[i]] |= dict.fromkeys(part[j] for j in successors if part[j] != part[i])
    ordered = reversed(list(limits.watch(_predecessors_first(condensed), ORDERING)))
    return [[states[i] for i in found[c]] for c in ordered]


def _strongly_connected(after: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Find the strongly connected components of a graph whose vertex i points at `after[i]`, each in order.

    Tarjan's algorithm, with a path of its own instead of recursion: a component is complete when the search leaves the
    vertex at which it entered. (A graph library does the same, and takes longer to load than most games to solve.)
    """
    entered: dict[int, int] = {}
    lowest: dict[int, int] = {}  # where a vertex leads back to: the earliest entered, of those in no component yet
    waiting: list[int] = []
    done: set[int] = set()
    for start in range(len(after)):
        path = [] if start in entered else [(start, iter(after[start]))]
        while path:
            i, successors = path[-1]
            if i not in entered:
                entered[i] = lowest[i] = len(entered)
                waiting.append(i)
            fresh = next((j for j in successors if j not in entered), None)
            if fresh is not None:
                path.append((fresh, iter(after[fresh])))
                continue
            path.pop()
            lowest[i] = min([lowest[i], *(lowest[j] for j in after[i] if j not in done)])
            if lowest[i] == entered[i]:
                members = [waiting.pop()]
                while members[-1] != i:
                    members.append(waiting.pop())
                done.update(members)
                yield sorted(members)


def _predecessors_first(after: Sequence[Collection[int]]) -> Iterator[int]:
    """List the vertices of a graph without cycles, in generations: one comes when all that point at it have come."""
    missing = [0] * len(after)
    for successors in after:
        for j in successors:
            missing[j] += 1
    generation = [i for i, count in enumerate(missing) if not count]
    while generation:
        yield from generation
        following = []
        for i in generation:
            for j in after[i]:
                missing[j] -= 1
                if not missing[j]:
                    following.append(j)
        generation = following


def is_cyclic(game: Game, component: Sequence[State]) -> bool:
    """Tell whether play can come back to a state of `component`, one of `components(game)`."""
    return len(component) > 1 or any(o.state == component[0] for o in game.stage(component[0]).outcomes)
