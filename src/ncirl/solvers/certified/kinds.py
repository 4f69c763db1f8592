"""Attackers that tell kinds of intents apart, and within a kind hide: small games whose points are points of the whole.

    r_c = Σ_{θ ∈ c} o(θ) r_θ,        A(a, θ) = o(θ) A(a, c),        o(θ) = b0(θ) / b0(c)                (clusters)

How gradually a patient attacker shows what it wants takes many points to say: about ε^(-d/2) of them where beliefs have
d dimensions. Among ten intents a search finds none of them for minutes and stays with revealing nothing; between two
kinds beliefs lie on a line, and within seconds the bound of the small game is exact. What its attacker secures, an
attacker of the whole secures that plays for its kind: each point (b, v) is one of the whole, at the belief o(θ) b(c),
and what follows where the kind has come out is what hiding within it is worth.

Kinds are made finer step by step, one more at a time, nested: each game begins with the points of the one before. What
serves the start of the game is handed over to the whole whenever it is better than what is known there.
"""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ncirl._typing import FloatArray, IntArray
from ncirl.errors import LimitError, LPError
from ncirl.limits import Limits
from ncirl.lp.state_arrays import StateArrays
from ncirl.model.game import Start
from ncirl.model.tempered import Options
from ncirl.playbook.stacks import by_state, in_blocks
from ncirl.solvers.certified.clusters import Clusters, compared, fused
from ncirl.solvers.certified.compiled import Compiled
from ncirl.solvers.certified.node_tables import PointTable
from ncirl.solvers.certified.schedule import Late, Schedule
from ncirl.solvers.certified.search import Search
from ncirl.solvers.certified.tuning import Aim
from ncirl.solvers.initial import initial_bounds

__all__ = ["Kinds", "lifted", "search_among"]

MOST = 5  # kinds: with more, a game is hardly smaller than the whole
TURN, PART = 5e7, 0.2  # work of a turn: at the least, and of all that was done for the game
MUCH = 0.05  # of the gap of the whole: a rise that is handed over at once
OFTEN = 2.0  # times the work of a game when something was last handed over: then it is done again
SETTLED, LITTLE = (
    0.2,
    0.01,
)  # of what a game may gain, and of the gap of the whole: what is left when a finer one begins
SLIGHT = 1e-9  # a rise that is rounding
TINY = 1e-12  # masses that are nothing
SETTING_UP = "setting up a game of kinds"

Entries = tuple[NDArray[Any], ...]  # the node that each belongs to, and what it says


class Kinds:
    """The games of fewer and more kinds of intents, one after another."""

    def __init__(self, whole: Compiled) -> None:
        self.whole = whole
        n, starts = len(whole.game.intents), [start.mass for start in whole.game.starts]
        known = compared(whole.search.arrays, starts) if n > 2 else None
        ladder = [] if known is None else [fused(*known, lost=1.0, least=k) for k in range(2, min(MOST, n - 1) + 1)]
        self._finer = [kinds for k, kinds in enumerate(ladder, 2) if kinds.n == k]
        self._now: _Game | None = None
        self._told, self._work = -np.inf, 0.0  # what was handed over last, and the work of its game by then

    def turn(self, _: float, late: Late) -> None:
        """Go on with the game of kinds whose turn it is, and hand over what came of it."""
        try:
            self._go_on(late)
        except (MemoryError, LPError):  # the whole does without it, and says so itself if it has no room either
            self._finer, self._now = [], None

    def _go_on(self, late: Late) -> None:
        low, high = self.whole.bounds()
        if self._now is None or self._now.is_settled(low, high):
            self._begin(late)
        game = self._now
        if game is None:
            return
        game.go_on(late)
        self.whole.changes += 1  # it was not in vain, even while nothing is handed over
        rise = game.low - max(low, self._told)
        if rise > MUCH * (high - low) or game.work > OFTEN * self._work or game.is_settled(low, high):
            self.hand_over()

    def _begin(self, late: Late) -> None:
        """Begin with the next game, if there is one and time for it."""

        def beat() -> None:
            if late():
                raise LimitError("time", SETTING_UP)

        if not self._finer:
            self._now = None
            return
        try:
            self._now = _Game(self.whole.search, self._finer[0], self._now, Limits(beat=beat))
        except LimitError:  # once there is time again
            return
        del self._finer[0]
        self._work = 0.0

    def hand_over(self) -> None:
        """Let the whole have what is best at its start, if that is better than what it knows or was told."""
        game = self._now
        if game is None or not game.low > max(self.whole.bounds()[0], self._told) + SLIGHT:
            return
        self._told, self._work = game.low, game.work
        self.whole.take_points(lifted(game.compiled, game.kinds))

    def last_turn(self) -> None:
        """Hand over what there is before the whole is written, which does without it where there is no room."""
        with suppress(MemoryError):
            self.hand_over()

    def rest(self) -> None:
        """Give back the kernel's memory until it is gone on with."""
        if self._now is not None:
            self._now.rest()


class _Game:
    """The game of some kinds of intents, begun with what is known of a coarser one."""

    def __init__(self, whole: Search, kinds: Clusters, coarser: "_Game | None", limits: Limits) -> None:
        self.kinds = kinds
        self.compiled = Compiled(search_among(whole, kinds, limits))
        self._schedule: Schedule | None = None
        if coarser is not None:
            self.compiled.take_points(lifted(coarser.compiled, _within(coarser.kinds, kinds)))
        self.work, self._first = 0, self.low

    @property
    def low(self) -> float:
        """What the attacker of this game secures."""
        return self.compiled.bounds()[0]

    def is_settled(self, known: float, above: float) -> bool:
        """Tell whether most of what this game may gain is gained, or little beside what the whole lacks."""
        low, high = self.compiled.bounds()
        return high - max(low, known) <= max(SETTLED * (high - self._first), LITTLE * (above - known))

    def go_on(self, late: Late) -> None:
        """Search for a while, for the lower bound."""
        if self._schedule is None:
            self._schedule = Schedule(self.compiled, self.compiled.activities(aim=Aim.BELOW), Aim.BELOW)
        meter = self.compiled.meter
        until, begun, before = meter.work + max(TURN, PART * self.work), meter.work, -1
        while before < meter.work < until and not late():
            before = meter.work
            self._schedule.step(0.0, late)
        self.work += meter.work - begun

    def rest(self) -> None:
        """Give back what can be made again."""
        self.compiled.rest()
        self._schedule = None

    def __getstate__(self) -> dict[str, object]:
        """Return what travels to another process: whose turn it is is found out again."""
        return {**vars(self), "_schedule": None}


def search_among(whole: Search, kinds: Clusters, limits: Limits) -> Search:
    """Return the search of the game of some kinds of intents, not yet begun."""
    game, options = whole.game, whole.initial.options
    fewer = game.like(
        stage=lambda state: game.stage(state).paying(lambda reward: reward @ kinds.mean),
        starts=[Start(start.state, kinds.pooled(start.mass)) for start in game.starts],
        intents=tuple(f"kind {c + 1}" for c in range(kinds.n)),
        same_moves=True,
    )
    if options is not None:  # members may all do the same: they are compared by that, too
        one_of_each = np.unique(kinds.group, return_index=True)[1]
        options = Options({s: may[:, one_of_each] for s, may in options.attacker.items()}, options.defender)
    return Search(fewer, initial_bounds(fewer, options, limits), whole.meter, whole.tuning, limits)


def _within(coarse: Clusters, fine: Clusters) -> Clusters:
    """Return which of some kinds make up each coarser one."""
    one_of_each = np.unique(fine.group, return_index=True)[1]
    shares = coarse.odds / np.where(fine.odds > 0, fine.odds, 1.0)  # of a kind within the coarser one
    return Clusters(coarse.group[one_of_each], shares[one_of_each])


def lifted(small: Compiled, kinds: Clusters) -> PointTable:
    """Return the points that the starts of a game of kinds lead to as points of the game in which these are clusters.

    Corners become points as well: everybody of a kind plays for its mean, for ever. They come first, by state and kind.
    """
    search, points = small.search, small.played_points()
    n_k, corners = kinds.n, kinds.n * len(search.states)
    each = np.eye(n_k)
    whose = corners + np.repeat(np.arange(len(points)), points.n_played)
    plays: list[Entries] = [(whose, points.played, points.mass)]
    whose = corners + np.repeat(np.arange(len(points)), points.n_links)
    links: list[Entries] = [(whose, points.observation, corners + points.to, points.share)]
    for here, state in zip(search.arrays, search.states, strict=True):
        strategy: FloatArray = search.initial.attacker[state]  # [a, c]
        a, c = np.nonzero(strategy)
        at = here.number * n_k
        plays.append((at + c, a, strategy[a, c, None] * each[c]))
        links.append(_to_corners(here, at + np.arange(n_k), here.posteriors_of(strategy.T[:, :, None] * each[:, None])))
    for state, group in by_state(points.state):
        here = search.arrays[state]
        blocks = in_blocks(group, n_k * (here.n_a + len(here.seen)))
        links += [_to_corners(here, corners + some, _left(here, points, some)) for some in blocks]
    n_played, (played, mass) = _in_order(plays, corners + len(points))
    n_links, (observation, to, share) = _in_order(links, corners + len(points))
    return PointTable(
        state=np.concatenate([np.repeat(np.arange(len(search.states)), n_k), points.state]),
        n_played=n_played,
        n_links=n_links,
        kept=np.ones(corners + len(points), dtype=np.bool_),
        played=played,
        observation=observation,
        to=to,
        share=share,
        worth=np.concatenate([*(search.initial.corners[state] for state in search.states), points.worth]),
        mass=kinds.spread(mass),
        belief=kinds.spread(np.concatenate([*([each] * len(search.states)), points.belief])),
    )


def _left(here: StateArrays, points: PointTable, some: IntArray) -> FloatArray:
    """Return what the posteriors of some points at a state hold beyond their links, [k, i, c]."""
    row, play = points.plays_of(some)
    plans = np.zeros((len(some), here.n_a, here.n_t))
    plans[row, points.played[play]] = points.mass[play]
    left = here.posteriors_of(plans)
    row, link = points.links_of(some)
    np.subtract.at(left, (row, points.observation[link]), points.share[link, None] * points.belief[points.to[link]])
    return left


def _to_corners(here: StateArrays, nodes: IntArray, masses: FloatArray) -> Entries:
    """Return links (node, observation, to, share) that lead masses [k, i, c] of nodes to the corners of their kinds."""
    k, i, c = np.nonzero(masses > TINY)
    return nodes[k], i, here.successor[i] * masses.shape[2] + c, masses[k, i, c]


def _in_order(parts: Sequence[Entries], n: int) -> tuple[IntArray, list[NDArray[Any]]]:
    """Join entries of `n` nodes in the order of these; return how many each has, and the rest of the entries."""
    node, *rest = (np.concatenate(each) for each in zip(*parts, strict=True))
    order = node.argsort(kind="stable")
    return np.bincount(node, minlength=n), [each[order] for each in rest]
