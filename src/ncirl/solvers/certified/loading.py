"""A game put into the kernel: which games it serves, and what it is told of one before any nodes."""

import numpy as np

from ncirl.lp.state_arrays import StateArrays
from ncirl.solvers.certified.extremes import Extremes
from ncirl.solvers.certified.lattice import serves
from ncirl.solvers.certified.layers import ends
from ncirl.solvers.certified.machine import Machine
from ncirl.solvers.certified.search import Search

__all__ = ["is_served", "loaded"]

MOST_INTENTS = 32  # that the kernel has room for
WIDEST = 520  # columns of a program whose tableau is worth having whole
MOST_STATES = 2000  # for which it is made ready in no time
ROOM, SLOTS = 200_000_000, 12  # bytes for live programs, and how many of a kind a state has at most
SCRATCH = 8  # times what the largest state needs for one array of each kind


def is_served(search: Search) -> bool:
    """Tell whether the kernel serves a game: one that goes on, with neither very many intents nor very many actions.

    Where intents are so few that whole defences are made over a lattice (`cycles`), the search does as well by itself.
    """
    few = search.clusters is None and len(search.game.intents) <= MOST_INTENTS and 0 < len(search.arrays) <= MOST_STATES
    return (
        few
        and not search.slow
        and not ends(search)
        and not serves(search)
        and max(map(_columns, search.arrays)) <= WIDEST
    )


def _columns(here: StateArrays) -> int:
    return here.n_a * here.n_t + len(here.seen)


def loaded(search: Search) -> Machine:
    """Return a kernel that knows the game."""
    machine = Machine()
    slots = int(ROOM / (3 * 8 * sum(2.0 * _columns(here) ** 2 for here in search.arrays)))
    widest = max(here.n_a * (here.n_t + here.n_d) + (len(here.seen) + 8) * (here.n_t + 4) for here in search.arrays)
    shape = len(search.arrays), search.arrays[0].n_t
    machine.call("begin", *shape, search.game.discount, min(max(slots, 1), SLOTS), SCRATCH * 8 * widest)
    extremes = Extremes(search)
    extremes.prepare(lambda: False)
    for here in search.arrays:
        intents, weights = extremes.at(here.number)
        corners = search.initial.corners[search.states[here.number]]
        sizes = here.number, here.n_a, here.n_d, len(here.seen), int(here.by_action), len(intents)
        seen = here.owner, here.successor, here.table, here.reward
        arrays = *seen, here.defender, here.attacker, intents, weights, corners
        machine.call("state", machine.put_words([*sizes, *machine.put_all(arrays)]))
    machine.call("states_known")
    for here in search.arrays:
        actions, defences = search.likely(here.number)
        defences = defences[here.defender[defences]]
        defences = defences if len(defences) else np.flatnonzero(here.defender)[:1]
        some, others = machine.put_all([actions, defences])
        machine.call("begin_with", here.number, len(actions), some, len(defences), others)
    starts = np.array([root.state for _, root in search.roots]), np.array([share for share, _ in search.roots])
    beliefs = np.array([root.belief for _, root in search.roots])
    machine.call("starts", len(beliefs), *machine.put_all([*starts, beliefs]))
    return machine
