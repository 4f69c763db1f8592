"""From the nodes a solver stored to a playbook: cleaned, merged where equal, cut to what is reachable, evaluated.

Answers of linear programs carry errors, so nothing of them is taken at its word. Negative numbers and dust are dropped
and distributions renormalised. The attacker's shares are made feasible: with β_i = mass[i] @ (π·b), each share φ_j is
scaled down by the worst ratio β_i(θ) / Σ_k φ_k b_k(θ) < 1 among the intents that b_j has, and what is then missing,

    β_i − Σ_j φ_j b_j ≥ 0,

goes to the corner nodes, b = e_θ. Claims are not kept either: they are what the finished playbook's nodes are worth
(`ncirl.playbook.guarantees`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from ncirl._typing import FloatArray, IntArray, State
from ncirl.model.belief import policy_of
from ncirl.model.game import Game
from ncirl.playbook.faults import as_played
from ncirl.playbook.guarantees import conceded, secured
from ncirl.playbook.playbook import AttackerPlaybook, DefenderPlaybook, Moves
from ncirl.playbook.reduce import merged_nodes, pruned, start_nodes
from ncirl.playbook.shares import DUST, feasible

__all__ = [
    "AttackerNode",
    "DefenderNode",
    "attacker_playbook",
    "build_attacker_playbook",
    "build_defender_playbook",
    "defender_playbook",
]

Links = Sequence[tuple[int, float]]  # (node, probability or share)


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


def build_defender_playbook(game: Game, nodes: Sequence[DefenderNode], starts: Sequence[Links]) -> DefenderPlaybook:
    """Build the defender's playbook.

    Parameters
    ----------
    game : Game
        A timed game.
    nodes : sequence of DefenderNode
        Those that cannot be reached are left out.
    starts : sequence
        Per start of the game, (node, probability) pairs; none where the game ends at once.
    """
    raw = defender_playbook(game, nodes, starts)
    reachable, _ = pruned(raw, start_nodes(raw))
    distinct, _ = merged_nodes(reachable)
    return replace(distinct, claims=conceded(as_played(distinct)).nodes.high)


def build_attacker_playbook(
    game: Game,
    nodes: Sequence[AttackerNode],
    starts: Sequence[Links],
    corner_of: Mapping[tuple[State, int], int] | None = None,
) -> AttackerPlaybook:
    """Build the attacker's playbook.

    Parameters
    ----------
    game : Game
        A timed game.
    nodes : sequence of AttackerNode
        Those that cannot be reached are left out.
    starts : sequence
        Per start of the game, (node, share) pairs that make up P0(s, ·); none where the game ends at once.
    corner_of : mapping, optional
        The node with belief e_θ at a state, by (state, θ); takes what the shares leave of a posterior.

    Raises
    ------
    InputError
        When something is left for which there is no corner node.
    """
    corner_of = corner_of or {}
    raw = attacker_playbook(game, nodes, starts)
    corners = np.array(list(corner_of.values()), dtype=np.intp)
    reachable, number = pruned(raw, np.union1d(start_nodes(raw), corners))
    distinct, label = merged_nodes(reachable)
    places = dict(zip(corner_of, label[number[corners]].tolist(), strict=True))
    made_up = feasible(distinct, places)
    needed, _ = pruned(made_up, start_nodes(made_up))
    return replace(needed, claims=secured(as_played(needed)).nodes.low)


def defender_playbook(game: Game, nodes: Sequence[DefenderNode], starts: Sequence[Links]) -> DefenderPlaybook:
    """Write cleaned nodes into arrays, one to one."""
    states, state = _states(nodes)
    links = _links(game, states, state, nodes)
    return DefenderPlaybook(
        game=game,
        states=states,
        state=state,
        mixes=tuple(_distribution(node.mix) for node in nodes),
        claims=np.array([node.claim for node in nodes], dtype=np.float64).reshape(len(nodes), len(game.intents)),
        moves=replace(links, weights=_normalised_rows(links.weights)),
        starts=tuple(_link_arrays(start, normalise=True) for start in starts),
    )


def attacker_playbook(game: Game, nodes: Sequence[AttackerNode], starts: Sequence[Links]) -> AttackerPlaybook:
    """Write cleaned nodes into arrays, one to one; shares as they are."""
    states, state = _states(nodes)
    beliefs = [_distribution(node.belief) for node in nodes]
    return AttackerPlaybook(
        game=game,
        states=states,
        state=state,
        beliefs=np.array(beliefs, dtype=np.float64).reshape(len(nodes), len(game.intents)),
        policies=tuple(_policy(node.policy, belief) for node, belief in zip(nodes, beliefs, strict=True)),
        claims=np.array([node.claim for node in nodes], dtype=np.float64),
        moves=_links(game, states, state, nodes),
        starts=tuple(_link_arrays(start, normalise=False) for start in starts),
    )


def _distribution(weights: FloatArray) -> FloatArray:
    kept = np.where(weights > DUST, weights, 0.0)
    distribution: FloatArray = kept / kept.sum()
    return distribution


def _policy(policy: FloatArray, belief: FloatArray) -> FloatArray:
    """Clean π[a, θ]; an intent that the belief rules out follows the crowd."""
    return policy_of(np.where(policy > DUST, policy, 0.0) * belief)


def _states(nodes: Sequence[DefenderNode] | Sequence[AttackerNode]) -> tuple[tuple[State, ...], IntArray]:
    number: dict[State, int] = {}
    state = np.array([number.setdefault(node.state, len(number)) for node in nodes], dtype=np.intp)
    return tuple(number), state


def _links(
    game: Game, states: Sequence[State], state: IntArray, nodes: Sequence[DefenderNode] | Sequence[AttackerNode]
) -> Moves:
    widths = np.array([len(game.observations(s)) for s in states], dtype=np.intp)[state]
    first = np.concatenate([[0], np.cumsum(widths)]).astype(np.intp)
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
