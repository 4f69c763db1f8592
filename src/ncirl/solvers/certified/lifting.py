"""Games that take several intents for one, and their points as points of the game in which these are intents.

    r_c = Σ_θ o_c(θ) r_θ,        A(a, θ) = Σ_c A(a, c) o_c(θ)

Who wants θ draws a kind c and plays for it; within a kind all play alike, and get what the mean of their rewards gets.
So what a point (b, v) of the small game secures is secured in the large one, at the belief Σ_c b(c) o_c(θ).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ncirl._typing import FloatArray, IntArray
from ncirl.limits import Limits
from ncirl.lp.session import Meter
from ncirl.lp.state_arrays import StateArrays
from ncirl.model.game import Game, Start
from ncirl.model.tempered import Options
from ncirl.playbook.stacks import by_state, in_blocks
from ncirl.solvers.certified.clusters import Clusters
from ncirl.solvers.certified.compiled import Compiled
from ncirl.solvers.certified.divisions import Division
from ncirl.solvers.certified.node_tables import PointTable
from ncirl.solvers.certified.search import Search
from ncirl.solvers.initial import initial_bounds

__all__ = ["game_among", "lifted", "search_among"]

TINY = 1e-12  # masses that are nothing

Entries = tuple[NDArray[Any], ...]  # the node that each belongs to, and what it says


def search_among(whole: Search, kinds: Clusters | Division, limits: Limits, meter: Meter | None = None) -> Search:
    """Return the search of the game of some kinds of intents, not yet begun; a meter may be its own."""
    fewer, options = game_among(whole.game, kinds), whole.initial.options
    if options is not None:  # members may all do the same: they are compared by that, too
        options = Options({s: may[:, kinds.one_of_each] for s, may in options.attacker.items()}, options.defender)
    initial = initial_bounds(fewer, options, limits, alike=whole.initial)
    return Search(fewer, initial, meter or whole.meter, whole.tuning, limits)


def game_among(game: Game, kinds: Clusters | Division) -> Game:
    """Return the game in which kinds of intents are the intents."""
    return game.like(
        stage=lambda state: game.stage(state).paying(lambda reward: reward @ kinds.mean),
        starts=[Start(start.state, kinds.pooled(start.mass)) for start in game.starts],
        intents=tuple(f"kind {c + 1}" for c in range(kinds.n)),
        same_moves=True,
    )


def lifted(small: Compiled, kinds: Clusters | Division) -> PointTable:
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
