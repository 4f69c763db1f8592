"""The two playbooks: finite-state controllers that carry a guarantee and run without a solver.

Defender: a node is a vector α at s, made by a mixed action D and, for each observation i, a distribution over nodes at
the successor. No attacker of intent θ gets more than α(θ). Attacker: a node is a belief b at s, made by a policy π and,
for each observation, shares φ of nodes at the successor with ``Σ_j φ_ij b_j = β_i``: after i, node j is drawn with
probability φ_ij b_j(θ) / β_i(θ). No defender concedes less than the node's value. The opponents' problems are

    α(n, θ) = max_a  Σ_d D(d) r(a, d, θ) + γ Σ_i mass[i, a] (weight[i]·D) Σ_j P_ij α(j, θ),
    v(n)    = min_d  Σ_{a,θ} π(a, θ) b(θ) r(a, d, θ) + γ Σ_i weight[i, d] Σ_j φ_ij v(j).

Nodes stand at the public states of ``game.timed()``, never at terminal ones. All arrays are flat, so a playbook is a
handful of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ncirl._typing import FloatArray, IntArray, State
from ncirl.mdp import OpponentMDP
from ncirl.model.game import Game
from ncirl.model.stage import Stage

__all__ = ["AttackerPlaybook", "DefenderPlaybook", "Moves", "by_state"]

BLOCK = 2_000_000  # numbers held at once where posteriors are spread out


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


def by_state(state: IntArray) -> list[tuple[int, IntArray]]:
    """Group nodes by the number of their state."""
    order = np.argsort(state, kind="stable")
    groups = np.split(order, np.flatnonzero(np.diff(state[order])) + 1)
    return [(int(state[nodes[0]]), nodes) for nodes in groups if len(nodes)]


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
        Distributions over the next node; empty for observations that end the play or that the mix rules out.
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

    def __len__(self) -> int:
        return len(self.state)

    def response(self) -> OpponentMDP:
        """Return the MDP the attacker faces, all intents side by side."""
        first, entries = self._first_rows(), _Entries()
        for s, nodes in by_state(self.state):
            seen = self.game.observations(self.states[s])
            mass = seen.mass.tocoo()
            chance = (seen.weight @ self._stacked(nodes).T)[mass.row].T * mass.data  # [k, entry of mass]
            entries.add(first[nodes], mass.col, self.moves.first[nodes], mass.row, chance)
        moves = self.game.discount * (entries.matrix(first[-1], self.moves.first[-1]) @ self.moves.weights)
        return OpponentMDP(self._rewards(lambda stage: stage.reward), sp.csr_array(moves), first[:-1], maximise=True)

    def extents(self) -> FloatArray:
        """Return what the rewards of the response would be if all that is added up to them were positive."""
        return self._rewards(lambda stage: stage.magnitude)

    def _rewards(self, table: Callable[[Stage], FloatArray]) -> FloatArray:
        first = self._first_rows()
        rewards: FloatArray = np.zeros((first[-1], len(self.game.intents)))
        for s, nodes in by_state(self.state):
            by_action = table(self.game.stage(self.states[s]))
            rows = first[nodes][:, None] + np.arange(len(by_action))
            rewards[rows] = np.einsum("kd,adt->kat", self._stacked(nodes), by_action)
        return rewards

    def _first_rows(self) -> IntArray:
        n_a = np.array([self.game.stage(state).shape[0] for state in self.states], dtype=np.intp)
        return _running(n_a[self.state])

    def _stacked(self, nodes: IntArray) -> FloatArray:
        """Return the mixes [k, d] of nodes at one state."""
        return np.stack([self.mixes[n] for n in nodes])

    def continued(self) -> IntArray:
        """List the rows of `moves` that are needed: observations that can be made and do not end the play."""
        rows = []
        for s, nodes in by_state(self.state):
            seen, goes_on = self.game.observations(self.states[s]), _goes_on(self.game, self.states[s])
            chance = seen.weight @ self._stacked(nodes).T  # [i, k]
            i, k = np.nonzero(
                (chance > 0) & (goes_on & (np.asarray(seen.mass.max(axis=1).todense()).ravel() > 0))[:, None]
            )
            rows.append(self.moves.first[nodes][k] + i)
        return np.sort(np.concatenate([np.zeros(0, dtype=np.intp), *rows]))


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
        Per start of the game: nodes to begin at and their shares, which make up P0(s, ·); empty where it ends at once.
    """

    game: Game
    states: tuple[State, ...]
    state: IntArray
    beliefs: FloatArray
    policies: tuple[FloatArray, ...]
    claims: FloatArray
    moves: Moves
    starts: tuple[tuple[IntArray, FloatArray], ...]

    def __len__(self) -> int:
        return len(self.state)

    def response(self) -> OpponentMDP:
        """Return the MDP the defender faces."""
        moves = self.game.discount * (self.chances() @ self.moves.weights)
        return OpponentMDP(
            self._rewards(lambda stage: stage.reward), sp.csr_array(moves), self._first_rows()[:-1], maximise=False
        )

    def chances(self) -> sp.csr_array:
        """Return the weight of each row of `moves` in each row (n, d) of the response."""
        first, entries = self._first_rows(), _Entries()
        for s, nodes in by_state(self.state):
            weight = self.game.observations(self.states[s]).weight.tocoo()
            chance = np.broadcast_to(weight.data, (len(nodes), weight.nnz))
            entries.add(first[nodes], weight.col, self.moves.first[nodes], weight.row, chance)
        return entries.matrix(first[-1], self.moves.first[-1])

    def extents(self) -> FloatArray:
        """Return what the rewards of the response would be if all that is added up to them were positive."""
        return self._rewards(lambda stage: stage.magnitude)

    def _rewards(self, table: Callable[[Stage], FloatArray]) -> FloatArray:
        first = self._first_rows()
        rewards: FloatArray = np.zeros(first[-1])
        for s, nodes in by_state(self.state):
            by_action = table(self.game.stage(self.states[s]))
            rows = first[nodes][:, None] + np.arange(by_action.shape[1])
            rewards[rows] = np.einsum("kat,adt->kd", self.plans(nodes), by_action, optimize=True)
        return rewards

    def _first_rows(self) -> IntArray:
        n_d = np.array([self.game.stage(state).shape[1] for state in self.states], dtype=np.intp)
        return _running(n_d[self.state])

    def plans(self, nodes: IntArray) -> FloatArray:
        """Return A[k, a, θ] = π(a, θ) b(θ) of nodes at one state."""
        plans: FloatArray = np.stack([self.policies[n] for n in nodes]) * self.beliefs[nodes][:, None, :]
        return plans

    def continued(self) -> tuple[IntArray, FloatArray]:
        """Return the rows of `moves` that are needed, and the posterior β[row, θ] that each must make up.

        These are the observations that the plan allows and that do not end the play.
        """
        n_t = len(self.game.intents)
        rows, masses = [np.zeros(0, dtype=np.intp)], [np.zeros((0, n_t))]
        for s, group in by_state(self.state):
            seen, goes_on = self.game.observations(self.states[s]), _goes_on(self.game, self.states[s])
            for nodes in np.array_split(group, 1 + len(group) * len(seen) * n_t // BLOCK):
                plans = self.plans(nodes)
                flat = plans.transpose(1, 0, 2).reshape(plans.shape[1], -1)
                spread = (seen.mass @ flat).reshape(len(seen), len(nodes), n_t)
                i, k = np.nonzero(spread.any(axis=2) & goes_on[:, None])
                rows.append(self.moves.first[nodes][k] + i)
                masses.append(spread[i, k])
        order = np.argsort(np.concatenate(rows), kind="stable")
        return np.concatenate(rows)[order], np.concatenate(masses)[order]


def _goes_on(game: Game, state: State) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """Tell for each observation whether play goes on after it."""
    return np.array([not game.is_terminal(after) for after in game.observations(state).successors], dtype=bool)


def _running(lengths: IntArray) -> IntArray:
    """Return where each of consecutive blocks begins, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.intp)


class _Entries:
    """A sparse matrix gathered from blocks of equal pattern: node k's entry e at (row[k] + a[e], column[k] + i[e])."""

    def __init__(self) -> None:
        self._rows: list[IntArray] = []
        self._columns: list[IntArray] = []
        self._data: list[FloatArray] = []

    def add(self, row: IntArray, a: IntArray, column: IntArray, i: IntArray, data: FloatArray) -> None:
        k, e = np.nonzero(data)
        self._rows.append(row[k] + a[e])
        self._columns.append(column[k] + i[e])
        self._data.append(data[k, e])

    def matrix(self, n_rows: int, n_columns: int) -> sp.csr_array:
        if not self._rows:
            return sp.csr_array((n_rows, n_columns))
        rows, columns = np.concatenate(self._rows), np.concatenate(self._columns)
        return sp.csr_array((np.concatenate(self._data), (rows, columns)), shape=(n_rows, n_columns))
