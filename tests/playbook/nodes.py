"""Playbooks written node by node, as lists; their claims are what the nodes are worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ncirl._typing import FloatArray, IntArray, State
from ncirl.model.game import Game
from ncirl.playbook import build
from ncirl.playbook.corners import Corners
from ncirl.playbook.faults import as_played
from ncirl.playbook.guarantees import conceded, secured
from ncirl.playbook.playbook import AttackerPlaybook, DefenderPlaybook, Moves

__all__ = ["AttackerNode", "DefenderNode", "build_attacker_playbook", "build_defender_playbook"]

Starts = Sequence[Sequence[tuple[int, float]]]  # per start of the game, (node, probability or share)


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


def build_defender_playbook(game: Game, nodes: Sequence[DefenderNode], starts: Starts) -> DefenderPlaybook:
    """Build the defender's playbook of a timed game."""
    states, state, moves = _placed(game, nodes)
    draft = DefenderPlaybook(
        game=game,
        states=states,
        state=state,
        claims=np.array([node.claim for node in nodes]).reshape(len(nodes), len(game.intents)),
        moves=moves,
        starts=_begun(starts),
        mixes=tuple(node.mix for node in nodes),
    )
    built = build.build_defender_playbook(draft)
    return replace(built, claims=conceded(as_played(built)).nodes.high)


def build_attacker_playbook(
    game: Game,
    nodes: Sequence[AttackerNode],
    starts: Starts,
    corner_of: Mapping[tuple[State, int], int] | Corners | None = None,
) -> AttackerPlaybook:
    """Build the attacker's playbook of a timed game."""
    states, state, moves = _placed(game, nodes)
    draft = AttackerPlaybook(
        game=game,
        states=states,
        state=state,
        claims=np.array([node.claim for node in nodes]),
        moves=moves,
        starts=_begun(starts),
        beliefs=np.array([node.belief for node in nodes]).reshape(len(nodes), len(game.intents)),
        policies=tuple(node.policy for node in nodes),
    )
    built = build.build_attacker_playbook(draft, corner_of)
    return replace(built, claims=secured(as_played(built)).nodes.low)


def _placed(
    game: Game, nodes: Sequence[DefenderNode] | Sequence[AttackerNode]
) -> tuple[tuple[State, ...], IntArray, Moves]:
    number: dict[State, int] = {}
    state = np.array([number.setdefault(node.state, len(number)) for node in nodes], dtype=np.intp)
    flat = [(n, *move) for n, node in enumerate(nodes) for move in node.moves]
    node, observation, following, weight = np.array(flat, dtype=np.float64).reshape(len(flat), 4).T
    links = build.Links(*(part.astype(np.intp) for part in (node, observation, following)), weight=weight)
    return tuple(number), state, build.linked(game, tuple(number), state, links)


def _begun(starts: Starts) -> tuple[tuple[IntArray, FloatArray], ...]:
    return tuple(
        (np.array([n for n, _ in links], dtype=np.intp), np.array([w for _, w in links], dtype=np.float64))
        for links in starts
    )
