r"""How large the game of an attack graph is, without building it.

Public states are the sets of conditions that can come about, with the lasting controls in place. One new condition or
one new set of controls at a time reaches them all, because an exploit stays usable until its result holds or a control
stops it. They are counted one by one up to a limit. Beyond it, where no controls last, the number is estimated: with
out(s) the conditions that can be next at s and in(s) those that can have been last, every state is worth Σ over the
ways to it of Π 1/in = 1, so a walk that chooses uniformly among out(s) has

    E[ Σ_k Π_{j<k} out(s_j) / in(s_{j+1}) ] = number of states,

averaged over some walks with a fixed seed.

Before the certified solver has any bounds of a game it lists the states, solves the games with public intents at each
and evaluates some defences. That takes about

    a · states + b · pairs of actions · (1 + intents)        seconds,

pairs being counted over all states, and with a horizon once for every stage.
"""

from collections import Counter
from dataclasses import dataclass
from itertools import chain, combinations, islice
from math import inf, prod

import numpy as np

from ncirl.attack_graphs.graph import AttackGraph
from ncirl.attack_graphs.reductions.prune import rounds_to
from ncirl.attack_graphs.rules import MOST_ACTIONS, AttackRules, count_sets
from ncirl.limits import UNLIMITED, Limits
from ncirl.model.game import Observes

__all__ = ["MANY_STATES", "Size", "estimate_size", "listable", "set_up_seconds"]

COUNTED = 20_000  # states counted one by one
LOOKS = 6_000_000  # at exploits, while counting, if that is enough to find many states
UNTOLD = 1_000_000  # from there on a count says no more than that it is one
HUGE = 10**300  # beyond, a float may overflow
MANY_SETS = 2**15  # of controls; more than are ever counted
WALKS = 64
WALKED = 64  # conditions at most where walks are taken: what a walk takes grows with the cube
MANY_STATES = 2_000  # beyond, the certified solver takes minutes before its first bounds
MANY_PAIRS = 2_000_000  # of actions, all states together
QUICK_PAIRS = 400_000  # up to here listing them takes seconds
PER_STATE, PER_PAIR = 2.5e-3, 2.5e-6  # seconds, a and b, of one core of a busy machine


@dataclass(frozen=True)
class Size:
    """How large a game is.

    Attributes
    ----------
    states : float
        Number of public states: counted, estimated, or a number that it exceeds.
    kind : {"counted", "estimated", "more-than"}
        Which of the three.
    attacker_actions, defender_actions : int
        The most in any state looked at.
    pairs : float
        Σ_s |A(s)| |D(s)|, in proportion where states were not counted.
    conditions, exploits, intents : int
        Of the graph.
    """

    states: float
    kind: str
    attacker_actions: int
    defender_actions: int
    pairs: float
    conditions: int
    exploits: int
    intents: int

    @property
    def too_large(self) -> bool:
        """Whether solving it takes very long, or more memory than there may be."""
        actions = max(self.attacker_actions, self.defender_actions)
        return self.states > MANY_STATES or self.pairs > MANY_PAIRS or actions > MOST_ACTIONS

    def __str__(self) -> str:
        said = {"counted": "", "estimated": "about ", "more-than": "more than "}[self.kind]
        states = f"{said}{self.states:,.0f}" if self.states < UNTOLD else f"more than {UNTOLD:,}"
        them = "them" if self.kind == "counted" else "those looked at"
        if max(self.attacker_actions, self.defender_actions) >= UNTOLD:
            return f"{states} public states, and in one of {them} more choices for one side than could be listed"
        actions = f"{self.attacker_actions:,} x {self.defender_actions:,} actions"
        return f"{states} public states, up to {actions} in one of {them}"


def estimate_size(graph: AttackGraph, limit: int = COUNTED, *, walks: int = WALKS, limits: Limits = UNLIMITED) -> Size:
    """Count the public states and actions of a graph's game, or estimate them beyond `limit` states.

    Parameters
    ----------
    graph : AttackGraph
        Any.
    limit : int
        The most states counted one by one.
    walks : int
        Random walks to estimate further from; 0 leaves it at "more than".
    limits : Limits
        When time is up, what was counted until then is a number that is exceeded.

    Examples
    --------
    >>> from ncirl.games.office import office_graph
    >>> print(estimate_size(office_graph()))
    26 public states, up to 16 x 16 actions in one of them
    """

    def actions(n: int, k: int) -> tuple[int, int]:
        return count_sets(n, graph.attacker_budget), count_sets(k, graph.defender_budget)

    counts = len(graph.conditions), len(graph.exploits), len(graph.intents)
    lattice = _Lattice(graph)
    n_first, first = lattice.usable(lattice.start)
    grown = [c for c in first if not c >> len(graph.conditions)]
    if not walks and 2 ** len(grown) > limit:  # any of them may come first, in any combination
        return Size(float(min(2 ** len(grown), HUGE)), "more-than", *actions(*n_first), inf, *counts)
    quick = max(MANY_STATES + 1, LOOKS // max(1, len(graph.exploits)))
    usable, found, complete = lattice.counted(max(1, min(limit, quick)), limits)
    states, kind = float(found), "counted"
    if not complete:
        can_walk = walks and lattice.free <= WALKED and not lattice.lasts and not limits.passed
        walked = lattice.walked(walks) if can_walk else 0.0
        states, kind = (walked, "estimated") if walked > found else (float(found), "more-than")
    pairs = sum(times * prod(actions(*moves)) for moves, times in usable.items() if moves[0])
    scaled = (float(pairs) if pairs < HUGE else inf) * states / usable.total()
    most = max(n for n, _ in usable), max(k for _, k in usable)
    return Size(states, kind, *actions(*most), scaled, *counts)


def listable(graph: AttackGraph) -> tuple[bool, Size]:
    """Tell whether the states of a graph's game can be listed in seconds, and how large it is; soon, for any graph.

    There is a state after each condition that can come about, whatever the order: too many of them settle it.
    """
    start = [c.id for c in graph.conditions if c.initial]
    met = rounds_to(start, [(e.premises, e.result) for e in graph.exploits if e.success > 0])
    gained = len(met) - len(start)
    if gained > MANY_STATES and graph.attacker_budget != 0:
        lattice = _Lattice(graph)
        n, k = lattice.usable(lattice.start)[0]
        actions = count_sets(n, graph.attacker_budget), count_sets(k, graph.defender_budget)
        return False, Size(
            gained, "more-than", *actions, inf, len(graph.conditions), len(graph.exploits), len(graph.intents)
        )
    size = estimate_size(graph, MANY_STATES + 1, walks=0)
    return not size.too_large and size.pairs <= QUICK_PAIRS, size


def set_up_seconds(graph: AttackGraph, states: float, pairs: float) -> float:
    """Predict how long it takes until there are bounds of a graph's game, or of a part of it, of a given size."""
    return (graph.horizon or 1) * (PER_STATE * states + PER_PAIR * pairs * (1 + len(graph.intents)))


class _Lattice:
    """The public states, as bit masks: conditions that can come about and, above those, lasting controls in place."""

    def __init__(self, graph: AttackGraph) -> None:
        bit = {c.id: 1 << k for k, c in enumerate(graph.conditions)}
        sees_alerts = Observes(graph.observes) is Observes.OUTCOMES
        self.start = sum(bit[c.id] for c in graph.conditions if c.initial)
        self.free = len(bit) - self.start.bit_count()
        self.moves = graph.attacker_budget != 0
        self.exploits = [  # (premises, result, whether it can succeed)
            (sum(bit[p] for p in e.premises), bit[e.result], e.success > 0)
            for e in graph.exploits
            if not bit[e.result] & self.start and (e.success > 0 or (sees_alerts and e.alert is not None))
        ]
        self.rules = None if graph.controls is None else AttackRules(graph)
        self.lasts = any(control.lasts for control in graph.defences)
        self.budget = graph.defender_budget

    def usable(self, state: int) -> tuple[tuple[int, int], list[int]]:
        """Return the numbers of usable exploits and of controls to apply, and what can be next, one thing at a time."""
        if self.rules is not None:
            return self._under_controls(self.rules, state)
        open_ones = [(c, can) for needs, c, can in self.exploits if not (needs & ~state or c & state)]
        n = len(open_ones)
        return (n, n), list(dict.fromkeys(c for c, can in open_ones if can and self.moves))

    def _under_controls(self, rules: AttackRules, state: int) -> tuple[tuple[int, int], list[int]]:
        able = rules.usable(state)
        if not able:
            return (0, 0), []
        offered = rules.offered(state, [e for e, _ in able])
        gained = dict.fromkeys(1 << c for e, c in able if e.success > 0 and self.moves)
        bits = [bit for control, _ in offered if (bit := rules.bit(control.id))]
        most = len(bits) if self.budget is None else self.budget
        placed = chain.from_iterable(combinations(bits, size) for size in range(1, most + 1))
        return (len(able), len(offered)), [*gained, *(sum(some) for some in islice(placed, MANY_SETS))]

    def counted(self, limit: int, limits: Limits) -> tuple[Counter[tuple[int, int]], int, bool]:
        """Return how many states have how many usable exploits and controls, how many there are, whether that is all.

        Where controls last, many states follow at once: those met count when they are too many to be looked at.
        """
        met, level = {self.start}, [self.start]
        sizes: Counter[tuple[int, int]] = Counter()
        while level:
            following: list[int] = []
            for state in level:
                n, results = self.usable(state)
                sizes[n] += 1
                if sizes.total() >= limit or limits.passed:
                    return sizes, sizes.total(), False
                fresh = {state | c for c in results} - met
                met |= fresh
                following += fresh
                if self.lasts and len(met) > limit:
                    return sizes, len(met), False
            level = following
        return sizes, sizes.total(), True

    def walked(self, walks: int) -> float:
        """Estimate the number of states by random walks."""
        rng = np.random.default_rng(0)
        total = 0.0
        for _ in range(walks):
            state, weight = self.start, 1.0
            total += weight
            while results := self.usable(state)[1]:
                state |= results[int(rng.integers(len(results)))]
                weight *= len(results) / self._last(state)
                total += weight
        return total / walks

    def _last(self, state: int) -> int:
        """Count the conditions of a state that can have been enabled last."""
        gained, found = state & ~self.start, 0
        inside = [(needs, c) for needs, c, can in self.exploits if can and not (needs | c) & ~state]
        while gained:
            condition = gained & -gained
            gained ^= condition
            found += self._comes_about(state ^ condition, inside)
        return found

    def _comes_about(self, state: int, exploits: list[tuple[int, int]]) -> bool:
        held, before = self.start, -1
        while held not in (before, state):
            before = held
            for needs, c in exploits:
                if c & state and not needs & ~held:
                    held |= c
        return held == state
