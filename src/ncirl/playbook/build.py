"""From the nodes a solver stored to a playbook: cleaned, merged where equal, cut to what is reachable, evaluated.

Answers of linear programs carry errors, so nothing of them is taken at its word. Negative numbers and dust are dropped
and distributions renormalised. The attacker's shares are made feasible: after observation i they must make up the
posterior, Σ_j φ_ij b_j = β_i = mass[i] @ (π·b), or the prior at a start. Where they exceed it, each share is scaled by

    min { β(θ) / Σ_k φ_k b_k(θ) : b_j(θ) > 0 } ∪ {1},

after which nothing exceeds; what is then missing, β − Σ_j φ_j b_j ≥ 0, goes to the corner nodes, whose belief is e_θ.
Shares below `DUST` times the posterior's mass are dropped. Gaps below `LEFT` times it, or `DUST` times where there is
no corner to go to, are left: `verify` counts them. Claims are not kept either: they are what the finished playbook's
nodes are worth (`ncirl.playbook.guarantees`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from ncirl._typing import FloatArray, IntArray, State
from ncirl.errors import InputError
from ncirl.limits import UNLIMITED, Limits
from ncirl.model.belief import policy_of
from ncirl.model.game import Game
from ncirl.playbook.faults import as_played
from ncirl.playbook.guarantees import conceded, secured
from ncirl.playbook.playbook import AttackerPlaybook, DefenderPlaybook, Moves, by_state, in_blocks, running
from ncirl.playbook.reduce import merged_nodes, pruned, start_nodes

__all__ = [
    "AttackerNode",
    "DefenderNode",
    "attacker_playbook",
    "build_attacker_playbook",
    "build_defender_playbook",
    "defender_playbook",
]

BUILDING = "building the playbooks"
DUST = 1e-13  # probabilities below this are errors of linear programs
LEFT = 1e-15  # parts of a posterior below this are errors of rounding

Links = Sequence[tuple[int, float]]  # (node, probability or share)
CornerTable = Mapping[tuple[State, int], int]  # the node with belief e_θ at a state, by (state, θ)


@dataclass(frozen=True, eq=False)
class DefenderNode:
    """A node to be: where it stands, D[d], what it claims to concede at most [θ], and (i, next node, probability)."""

    state: State
    mix: FloatArray
    claim: FloatArray
    moves: Sequence[tuple[int, int, float]]


@dataclass(frozen=True, eq=False)
class AttackerNode:
    """A node to be: where it stands, b[θ], π[a, θ], what it claims to secure at least, and (i, next node, share)."""

    state: State
    belief: FloatArray
    policy: FloatArray
    claim: float
    moves: Sequence[tuple[int, int, float]]


def build_defender_playbook(
    game: Game, nodes: Sequence[DefenderNode], starts: Sequence[Links], limits: Limits = UNLIMITED
) -> DefenderPlaybook:
    """Build the defender's playbook of a timed game from those of the nodes that can be reached.

    `starts` are, per start of the game, (node, probability) pairs; none where the game ends at once.
    """
    raw = defender_playbook(game, nodes, starts, limits)
    reachable, _ = pruned(raw, start_nodes(raw))
    distinct, _ = merged_nodes(reachable, limits)
    return replace(distinct, claims=conceded(as_played(distinct), limits).nodes.high)


def build_attacker_playbook(
    game: Game,
    nodes: Sequence[AttackerNode],
    starts: Sequence[Links],
    corner_of: CornerTable | None = None,
    limits: Limits = UNLIMITED,
) -> AttackerPlaybook:
    """Build the attacker's playbook of a timed game from those of the nodes that can be reached.

    `starts` are, per start of the game, (node, share) pairs that make up P0(s, ·); none where the game ends at once.
    The corners take what the shares leave of a posterior.

    Raises `InputError` when something is left for which there is no corner node.
    """
    corner_of = corner_of or {}
    raw = attacker_playbook(game, nodes, starts, limits)
    corners = np.array(list(corner_of.values()), dtype=np.intp)
    reachable, number = pruned(raw, np.union1d(start_nodes(raw), corners))
    distinct, label = merged_nodes(reachable, limits)
    places = dict(zip(corner_of, label[number[corners]].tolist(), strict=True))
    limits.check(BUILDING)
    made_up = _feasible(distinct, places)
    needed, _ = pruned(made_up, start_nodes(made_up))
    return replace(needed, claims=secured(as_played(needed), limits=limits).nodes.low)


def defender_playbook(
    game: Game, nodes: Sequence[DefenderNode], starts: Sequence[Links], limits: Limits = UNLIMITED
) -> DefenderPlaybook:
    """Write cleaned nodes into arrays, one to one."""
    states, state = _states(nodes)
    links = _links(game, states, state, nodes, limits)
    return DefenderPlaybook(
        game=game,
        states=states,
        state=state,
        mixes=tuple(_distribution(node.mix) for node in nodes),
        claims=np.array([node.claim for node in nodes], dtype=np.float64).reshape(len(nodes), len(game.intents)),
        moves=replace(links, weights=_normalised_rows(links.weights)),
        starts=tuple(_link_arrays(start, normalise=True) for start in starts),
    )


def attacker_playbook(
    game: Game, nodes: Sequence[AttackerNode], starts: Sequence[Links], limits: Limits = UNLIMITED
) -> AttackerPlaybook:
    """Write cleaned nodes into arrays, one to one; shares as they are."""
    states, state = _states(nodes)
    drawn = [_distribution(node.belief) for node in nodes]
    beliefs = np.array(drawn, dtype=np.float64).reshape(len(nodes), len(game.intents))
    return AttackerPlaybook(
        game=game,
        states=states,
        state=state,
        beliefs=beliefs,
        policies=_policies(nodes, state, beliefs),
        claims=np.array([node.claim for node in nodes], dtype=np.float64),
        moves=_links(game, states, state, nodes, limits),
        starts=tuple(_link_arrays(start, normalise=False) for start in starts),
    )


def _distribution(weights: FloatArray) -> FloatArray:
    kept = np.where(weights > DUST, weights, 0.0)
    distribution: FloatArray = kept / kept.sum()
    return distribution


def _policies(nodes: Sequence[AttackerNode], state: IntArray, beliefs: FloatArray) -> tuple[FloatArray, ...]:
    """Clean π[a, θ] of every node; an intent that the belief rules out follows the crowd."""
    cleaned: dict[int, FloatArray] = {}
    for _, here in by_state(state) if len(nodes) else []:
        for some in in_blocks(here, nodes[here[0]].policy.size):
            policies = np.array([nodes[n].policy for n in some])
            plans = np.where(policies > DUST, policies, 0.0) * beliefs[some][:, None, :]
            cleaned.update(zip(some.tolist(), policy_of(plans), strict=True))
    return tuple(cleaned[n] for n in range(len(nodes)))


def _states(nodes: Sequence[DefenderNode] | Sequence[AttackerNode]) -> tuple[tuple[State, ...], IntArray]:
    number: dict[State, int] = {}
    state = np.array([number.setdefault(node.state, len(number)) for node in nodes], dtype=np.intp)
    return tuple(number), state


def _links(
    game: Game,
    states: Sequence[State],
    state: IntArray,
    nodes: Sequence[DefenderNode] | Sequence[AttackerNode],
    limits: Limits,
) -> Moves:
    seen = []
    for s in states:
        limits.check(BUILDING)
        limits.need(game.observing(s), BUILDING)
        seen.append(len(game.observations(s)))
    first = running(np.array(seen, dtype=np.intp)[state])
    owner = np.repeat(np.arange(len(nodes)), [len(node.moves) for node in nodes])
    flat = np.array([move for node in nodes for move in node.moves], dtype=np.float64).reshape(len(owner), 3)
    kept = flat[:, 2] > 0
    rows, columns = (first[owner] + flat[:, 0].astype(np.intp))[kept], flat[kept, 1].astype(np.intp)
    return Moves(first, sp.csr_array((flat[kept, 2], (rows, columns)), shape=(int(first[-1]), len(nodes))))


def _link_arrays(links: Links, *, normalise: bool) -> tuple[IntArray, FloatArray]:
    nodes = np.array([node for node, _ in links], dtype=np.intp)
    weights = np.array([weight for _, weight in links], dtype=np.float64)
    if normalise and len(nodes):
        weights = _distribution(weights)
    return nodes[weights > 0], weights[weights > 0]


def _normalised_rows(weights: sp.csr_array) -> sp.csr_array:
    """Turn rows of weights into distributions without dust."""
    entries = weights.tocoo()
    share = entries.data / np.asarray(weights.sum(axis=1)).ravel()[entries.row]
    kept = share > DUST
    row, column, share = entries.row[kept], entries.col[kept], share[kept]
    sums = np.bincount(row, share, minlength=weights.shape[0])
    return sp.csr_array((share / sums[row], (row, column)), shape=weights.shape)


def _feasible(playbook: AttackerPlaybook, corner_of: CornerTable) -> AttackerPlaybook:
    """Return the playbook with shares, those of the starts too, that make up what they must."""
    game, moves = playbook.game, playbook.moves
    needed, masses = playbook.continued()
    owner = np.searchsorted(moves.first, needed, side="right") - 1
    places = zip(playbook.state[owner].tolist(), (needed - moves.first[owner]).tolist(), strict=True)
    successors = [game.observations(state).successors for state in playbook.states]
    made = _made_up(playbook, moves.weights[needed], masses, [successors[s][i] for s, i in places], corner_of).tocoo()
    prior = np.array([start.mass * (not game.is_terminal(start.state)) for start in game.starts])
    begun = _made_up(playbook, playbook.begun(), prior, [start.state for start in game.starts], corner_of)
    weights = sp.csr_array((made.data, (needed[made.row], made.col)), shape=moves.weights.shape)
    return replace(
        playbook,
        moves=replace(moves, weights=weights),
        starts=tuple((row.indices.astype(np.intp), row.data) for row in (begun[[k]] for k in range(len(prior)))),
    )


def _made_up(
    playbook: AttackerPlaybook, given: sp.csr_array, masses: FloatArray, states: Sequence[State], corner_of: CornerTable
) -> sp.csr_array:
    """Return shares [row, node] that make up `masses` [row, θ], at the state of each row."""
    entries = given.tocoo()
    row, node, share = entries.row.astype(np.intp), entries.col.astype(np.intp), np.maximum(entries.data, 0.0)
    beliefs = playbook.beliefs
    made = given @ beliefs
    ratio = np.where(made > masses, masses / np.where(made > 0, made, 1.0), 1.0)
    share = share * np.where(beliefs[node] > 0, ratio[row], 1.0).min(axis=1, initial=1.0)
    dust = DUST * masses.sum(axis=1)
    kept = share > dust[row]
    row, node, share = row[kept], node[kept], share[kept]
    missing = masses - sp.csr_array((share, (row, node)), shape=given.shape) @ beliefs
    known = np.array([[(state, t) in corner_of for t in range(beliefs.shape[1])] for state in states])
    least = np.where(known.reshape(masses.shape), LEFT / DUST, 1.0) * dust[:, None]  # without a corner, dust stays
    short, theta = np.nonzero(missing > least)
    corners = [_corner(playbook, corner_of, states[k], int(t)) for k, t in zip(short.tolist(), theta, strict=True)]
    nodes = np.concatenate([node, np.array(corners, dtype=np.intp)])
    shares = np.concatenate([share, missing[short, theta]])
    return sp.csr_array((shares, (np.concatenate([row, short]), nodes)), shape=given.shape)  # a node's are added up


def _corner(playbook: AttackerPlaybook, corner_of: CornerTable, state: State, theta: int) -> int:
    found = corner_of.get((state, theta))
    if found is None or playbook.beliefs[found, theta] != 1:
        intent, place = playbook.game.intents[theta], playbook.game.describe(state)
        raise InputError(
            f"corner_of: the shares leave some of intent '{intent}' at '{place}', which has no corner node"
        )
    return found
