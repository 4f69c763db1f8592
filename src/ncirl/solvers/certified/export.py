"""From the nodes of a search to playbooks, with all intents and in the game's own units.

Corners, which the search knows only as numbers, become nodes too: at e_θ the attacker plays the complete-information
strategy of θ and stays at corners of θ for ever. The attacker's playbook is built for intents as they were merged and
told apart at the end: merged ones play alike, in proportion to their odds, at corners as elsewhere. Nodes at one state
are written together, as arrays [node, ...].
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from ncirl._typing import FloatArray, IntArray
from ncirl.limits import UNLIMITED, Limits
from ncirl.lp.hull import shares
from ncirl.lp.state_arrays import StateArrays
from ncirl.model.belief import policy_of
from ncirl.model.intents import MergedIntents
from ncirl.playbook.build import Links, as_first_met, build_attacker_playbook, build_defender_playbook, linked
from ncirl.playbook.corners import Corners
from ncirl.playbook.playbook import AttackerPlaybook, DefenderPlaybook
from ncirl.playbook.stacks import by_state, changed, in_blocks
from ncirl.solvers.certified.alpha_vectors import VectorNode
from ncirl.solvers.certified.belief_points import PointNode
from ncirl.solvers.certified.search import Search

__all__ = ["attacker_playbook", "defender_playbook"]

WRITING = "writing the playbooks"

Begun = tuple[list[int], list[float]]  # nodes of the search to begin at, and their weights
N = TypeVar("N", VectorNode, PointNode)


def defender_playbook(
    search: Search, intents: MergedIntents, scale: float, limits: Limits = UNLIMITED
) -> DefenderPlaybook:
    """Build the defender's playbook from the vectors that are best at the starts, and all they lead to."""
    vectors, group = search.upper, intents.group
    begun: list[Begun] = []
    for start in search.game.starts:
        store = vectors.stores.get(search.number.get(start.state, -1))
        begun.append(([], []) if store is None else ([int(store.nodes[store.best(start.mass)])], [1.0]))
    kept = _reached(begun, lambda n: (vectors.nodes[n].following, vectors.nodes[n].default))
    nodes = [vectors.nodes[n] for n in kept.tolist()]
    number = _numbers(kept, len(vectors.nodes))
    mixes, links = _written(search, nodes, number, _mixed, limits)
    met, state = as_first_met(_places(nodes))
    states = tuple(search.states[s] for s in met)
    draft = DefenderPlaybook(
        game=intents.whole,
        states=states,
        state=state,
        claims=np.array([scale * vectors.vectors[n][group] for n in kept.tolist()]).reshape(len(kept), len(group)),
        moves=linked(intents.whole, states, state, links, limits),
        starts=tuple((number[roots], np.array(weights)) for roots, weights in begun),
        mixes=mixes,
    )
    return build_defender_playbook(draft, limits)


def attacker_playbook(
    search: Search, intents: MergedIntents, scale: float, limits: Limits = UNLIMITED
) -> AttackerPlaybook:
    """Build the attacker's playbook from the points that serve the starts best, and all they lead to."""
    points, game = search.lower, intents.game
    begun: list[Begun] = []
    for start in search.game.starts:
        store = points.stores.get(search.number.get(start.state, -1))
        share = np.zeros(0) if store is None else shares(store, start.mass)
        some = np.flatnonzero(share > 0)
        begun.append(([], []) if store is None else (store.nodes[some].tolist(), share[some].tolist()))
    kept = _reached(begun, lambda n: (points.nodes[n].following,))
    nodes = [points.nodes[n] for n in kept.tolist()]
    number = _numbers(kept, len(points.nodes))
    policies, links = _written(search, nodes, number, _planned, limits)
    met, state = as_first_met(_places(nodes))
    states = tuple(search.states[s] for s in met)
    draft = AttackerPlaybook(
        game=game,
        states=states,
        state=state,
        claims=scale * points.values[kept],
        moves=linked(game, states, state, links, limits),
        starts=tuple((number[roots], np.array(shares)) for roots, shares in begun),
        beliefs=np.concatenate([np.zeros((0, len(game.intents))), *(node.belief[None] for node in nodes)]),
        policies=policies,
    )
    worth = {state: scale * search.initial.corners[state] for state in search.states}
    corners = Corners(game, {state: search.initial.attacker[state] for state in search.states}, worth)
    return _told_apart(build_attacker_playbook(draft, corners, limits), intents)


def _told_apart(playbook: AttackerPlaybook, intents: MergedIntents) -> AttackerPlaybook:
    """Return a playbook of merged intents for all of them: each plays what they play together, by its odds."""
    if intents.game is intents.whole:
        return playbook
    return replace(
        playbook,
        game=intents.whole,
        beliefs=playbook.beliefs[:, intents.group] * intents.odds,
        policies=changed(playbook.state, playbook.policies, lambda _, each: each[:, :, intents.group]),
    )


def _reached(begun: Iterable[Begun], leads: Callable[[int], Iterable[IntArray]]) -> IntArray:
    """List the nodes of the search that can be reached."""
    order: dict[int, None] = {}
    pending = [root for roots, _ in begun for root in roots]
    while pending:
        n = pending.pop()
        if n not in order:
            order[n] = None
            for following in leads(n):
                pending += following.tolist()
    return np.array(list(order), dtype=np.intp)


def _numbers(kept: IntArray, n: int) -> IntArray:
    """Return the place of each of `n` nodes among those `kept`."""
    number = np.zeros(n, dtype=np.intp)
    number[kept] = np.arange(len(kept))
    return number


def _places(nodes: Sequence[VectorNode] | Sequence[PointNode]) -> IntArray:
    return np.array([node.state for node in nodes], dtype=np.intp)


def _written(
    search: Search,
    nodes: Sequence[N],
    number: IntArray,
    write: Callable[[StateArrays, Sequence[N]], tuple[FloatArray, Links]],
    limits: Limits,
) -> tuple[tuple[FloatArray, ...], Links]:
    """Write nodes of the search: what each draws from, and links to the new `number` of what follows."""
    drawn: list[FloatArray] = [np.zeros(0)] * len(nodes)
    links = [Links.none()]
    for s, group in by_state(_places(nodes)):
        here = search.arrays[s]
        for some in in_blocks(group, here.n_d + here.n_a * here.n_t + len(here.seen)):
            limits.check(WRITING)
            stack, led = write(here, [nodes[n] for n in some.tolist()])
            links.append(Links(some[led.node], here.seen[led.observation], number[led.following], led.weight))
            for n, part in zip(some.tolist(), stack, strict=True):
                drawn[n] = part
    return tuple(drawn), Links.joined(links)


def _mixed(here: StateArrays, nodes: Sequence[VectorNode]) -> tuple[FloatArray, Links]:
    """Return D[k, d] of vectors at one state, and what follows; where they say nothing, their defaults do."""
    whose, defence = _flat([node.defences for node in nodes])
    mixes = np.zeros((len(nodes), here.n_d))
    mixes[whose, defence] = np.concatenate([node.mix for node in nodes])
    owner, seen = _flat([node.observation for node in nodes])
    _, following = _flat([node.following for node in nodes])
    bare = (here.weight @ mixes.T).T > 0  # indexed [k, i]
    bare[owner, seen] = False
    k, i = np.nonzero(bare)
    default = np.stack([node.default for node in nodes])[k, here.toward[i]]
    said = Links(owner, seen, following, np.concatenate([node.chance for node in nodes]))
    return mixes, Links.joined([said, Links(k, i, default, np.ones(len(k)))])


def _planned(here: StateArrays, nodes: Sequence[PointNode]) -> tuple[FloatArray, Links]:
    """Return π[k, a, θ] of points at one state, and what follows."""
    whose, action = _flat([node.actions for node in nodes])
    plans = np.zeros((len(nodes), here.n_a, here.n_t))
    plans[whose, action] = np.concatenate([node.plan for node in nodes])
    owner, seen = _flat([node.observation for node in nodes])
    _, following = _flat([node.following for node in nodes])
    return policy_of(plans), Links(owner, seen, following, np.concatenate([node.share for node in nodes]))


def _flat(parts: Sequence[IntArray]) -> tuple[IntArray, IntArray]:
    """Return whose each number is, and the numbers, one part after another."""
    return np.repeat(np.arange(len(parts)), [len(part) for part in parts]), np.concatenate(parts)
