"""A game put into the kernel: which games it serves, and what it is told of one before any nodes."""

from typing import NamedTuple

import numpy as np

from ncirl._typing import FloatArray, IntArray
from ncirl.errors import SizeError
from ncirl.lp.state_arrays import StateArrays
from ncirl.solvers.certified.extremes import Extremes
from ncirl.solvers.certified.lattice import serves
from ncirl.solvers.certified.layers import ends
from ncirl.solvers.certified.machine import Machine
from ncirl.solvers.certified.search import Search

__all__ = ["MOST_INTENTS", "WIDER", "Members", "loaded", "most_intents", "serves_kinds"]

MOST_INTENTS = 32  # that the kernel has room for
WIDEST, WIDER = 520, 1000  # columns of a program whose tableau is worth having whole, at all and among few intents
FEW_KINDS = 3
MOST_STATES = 2000  # for which it is made ready in no time
ROOM, SLOTS = 200_000_000, 12  # bytes for live programs, and how many of a kind a state has at most
SCRATCH = 8  # times what the largest state needs for one array of each kind


def most_intents(search: Search, widest: int = WIDEST) -> int:
    """Return how many intents the kernel would tell apart in a game: none unless it goes on, without very many actions.

    Where intents are so few that whole defences are made over a lattice (`cycles`), the search does as well by itself.
    """
    if not 0 < len(search.arrays) <= MOST_STATES or search.slow or ends(search) or serves(search):
        return 0
    return max(0, min(MOST_INTENTS, *((widest - len(here.seen)) // here.n_a for here in search.arrays)))


def serves_kinds(search: Search) -> bool:
    """Tell whether the kernel serves the game if two or three kinds of its intents are told apart."""
    return len(search.game.intents) > FEW_KINDS and most_intents(search, WIDER) >= FEW_KINDS


def _columns(here: StateArrays) -> int:
    return here.n_a * here.n_t + len(here.seen)


class Members(NamedTuple):
    """Intents of which several are taken for one: the one that each is taken for, its odds there, and what it gets."""

    stands: IntArray
    odds: FloatArray
    rewards: list[FloatArray]  # [a, d, m], by state

    @classmethod
    def themselves(cls, search: Search) -> "Members":
        """Return the intents of a game, each of which stands for itself."""
        n = len(search.game.intents)
        return cls(np.arange(n), np.ones(n), [here.reward for here in search.arrays])


def loaded(search: Search, members: Members) -> Machine:
    """Return a kernel that knows the game, and the members of its intents.

    Raises
    ------
    SizeError
        When the game has more intents than the arrays of the kernel have room for.
    """
    if search.arrays[0].n_t > MOST_INTENTS:
        raise SizeError(f"the kernel tells at most {MOST_INTENTS} intents apart, got {search.arrays[0].n_t}")
    machine, n_m = Machine(), len(members.odds)
    slots = int(ROOM / (3 * 8 * sum(2.0 * _columns(here) ** 2 for here in search.arrays)))
    widest = max(here.n_a * (n_m + here.n_d) + (len(here.seen) + 8) * (n_m + 4) for here in search.arrays)
    shape = len(search.arrays), search.arrays[0].n_t
    room = min(max(slots, 1), SLOTS), SCRATCH * 8 * widest
    machine.call("begin", *shape, search.game.discount, *room, n_m, *machine.put_all([members.stands, members.odds]))
    extremes = Extremes(search)
    if n_m == shape[1]:  # clusters are hardly ever mixtures of others, and to look takes longer than it saves
        extremes.prepare(lambda: False)
    for here in search.arrays:
        intents, weights = extremes.at(here.number)
        corners = search.initial.corners[search.states[here.number]]
        sizes = here.number, here.n_a, here.n_d, len(here.seen), int(here.by_action), len(intents)
        seen = here.owner, here.successor, here.table, here.reward
        arrays = *seen, here.defender, here.attacker, intents, weights, corners, members.rewards[here.number]
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
