"""The two playbooks: finite-state controllers that carry a guarantee and run without a solver.

Defender: a node is a vector α at s, made by a mixed action D and, for each observation i, a distribution over nodes at
the successor. No attacker of intent θ gets more than α(θ). Attacker: a node is a belief b at s, made by a policy π and,
for each observation, shares φ of nodes at the successor with ``Σ_j φ_ij b_j = β_i``: after i, node j is drawn with
probability φ_ij b_j(θ) / β_i(θ). No defender concedes less than the node's value.

Nodes stand at the public states of ``game.timed()``. All arrays are flat, so a playbook is a handful of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ncirl._typing import FloatArray, IntArray, State
from ncirl.controller import Response
from ncirl.game import Game

__all__ = ["AttackerPlaybook", "DefenderPlaybook", "Moves"]


@dataclass(frozen=True, eq=False)
class Moves:
    """Where a controller goes: for row ``first[node] + i`` (observation i), next nodes and their weights.

    Attributes
    ----------
    first : ndarray of shape (nodes + 1,)
        First row of each node; node n has one row per observation of its state.
    weights : csr_array of shape (rows, nodes)
        Probabilities (defender) or shares φ (attacker) of the next node.
    """

    first: IntArray
    weights: sp.csr_array

    def after(self, node: int, i: int) -> tuple[IntArray, FloatArray]:
        """Return next nodes and weights after observation `i` at `node`."""
        row = self.first[node] + i
        span = slice(self.weights.indptr[row], self.weights.indptr[row + 1])
        return self.weights.indices[span], self.weights.data[span]


@dataclass(frozen=True, eq=False)
class DefenderPlaybook:
    """The defender's controller.

    Attributes
    ----------
    game : Game
        A timed game; nodes stand at its public states.
    states : tuple
        The public states nodes stand at.
    state : ndarray of shape (nodes,)
        Index of each node's state in `states`.
    mixes : tuple of ndarray
        D[d] per node.
    claims : ndarray of shape (nodes, Θ)
        α, what is conceded at most per intent.
    moves : Moves
        Distributions over the next node.
    starts : tuple of (ndarray, ndarray)
        Per start of the game: nodes to begin at and their probabilities; empty where the game ends at once.
    """

    game: Game
    states: tuple[State, ...]
    state: IntArray
    mixes: tuple[FloatArray, ...]
    claims: FloatArray
    moves: Moves
    starts: tuple[tuple[IntArray, FloatArray], ...]

    def response(self) -> Response:
        """Return the MDP the attacker faces, all intents side by side."""
        rewards, blocks, first, rows = [], [], [], 0
        for node, mix in enumerate(self.mixes):
            state = self.states[self.state[node]]
            stage, seen = self.game.stage(state), self.game.observations(state)
            rewards.append(np.einsum("d,adt->at", mix, stage.reward))
            reach = seen.mass.multiply((seen.weight @ mix)[:, None])  # [i, a]
            span = slice(self.moves.first[node], self.moves.first[node + 1])
            blocks.append(self.game.discount * (sp.csr_array(reach).T @ self.moves.weights[span]))
            first.append(rows)
            rows += len(stage.attacker)
        moves = sp.csr_array(sp.vstack(blocks, format="csr"))
        return Response(np.concatenate(rewards), moves, np.array(first, dtype=np.intp), maximise=True)


@dataclass(frozen=True, eq=False)
class AttackerPlaybook:
    """The attacker's controller.

    Attributes
    ----------
    game : Game
        A timed game; nodes stand at its public states.
    states : tuple
        The public states nodes stand at.
    state : ndarray of shape (nodes,)
        Index of each node's state in `states`.
    beliefs : ndarray of shape (nodes, Θ)
        b, what the public believes at the node.
    policies : tuple of ndarray
        π[a, θ] per node.
    claims : ndarray of shape (nodes,)
        v, what is secured at least.
    moves : Moves
        Shares φ of the next node; after observation i they make up the posterior, Σ_j φ_ij b_j = β_i.
    starts : tuple of (ndarray, ndarray)
        Per start of the game: nodes to begin at and their shares, which make up P0(s, ·).
    """

    game: Game
    states: tuple[State, ...]
    state: IntArray
    beliefs: FloatArray
    policies: tuple[FloatArray, ...]
    claims: FloatArray
    moves: Moves
    starts: tuple[tuple[IntArray, FloatArray], ...]

    def response(self) -> Response:
        """Return the MDP the defender faces."""
        rewards, blocks, first, rows = [], [], [], 0
        for node, policy in enumerate(self.policies):
            state = self.states[self.state[node]]
            stage, seen = self.game.stage(state), self.game.observations(state)
            rewards.append(np.einsum("at,adt->d", policy * self.beliefs[node], stage.reward))
            span = slice(self.moves.first[node], self.moves.first[node + 1])
            blocks.append(self.game.discount * (seen.weight.T @ self.moves.weights[span]))
            first.append(rows)
            rows += len(stage.defender)
        moves = sp.csr_array(sp.vstack(blocks, format="csr"))
        return Response(np.concatenate(rewards), moves, np.array(first, dtype=np.intp), maximise=False)
