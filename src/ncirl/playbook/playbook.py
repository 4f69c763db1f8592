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

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from ncirl._typing import BoolArray, FloatArray, IntArray, State
from ncirl.mdp import OpponentMDP
from ncirl.model.game import Game
from ncirl.model.observations import Observations
from ncirl.model.stage import Stage
from ncirl.playbook.stacks import by_state, in_blocks, running, stacked

__all__ = ["AttackerPlaybook", "DefenderPlaybook", "Moves", "Playbook"]


@dataclass(frozen=True, eq=False)
class Moves:
    """Where a controller goes: for row ``first[node] + i`` (observation i), next nodes and their weights."""

    first: IntArray  # the first row of each node, one per observation of its state, and where the last one's end
    weights: sp.csr_array  # [row, node]: probabilities (defender) or shares φ (attacker) of the next node

    def after(self, node: int, i: int) -> tuple[IntArray, FloatArray]:
        """Return next nodes and weights after observation `i` at `node`."""
        row = self.first[node] + i
        span = slice(self.weights.indptr[row], self.weights.indptr[row + 1])
        return self.weights.indices[span], self.weights.data[span]


@dataclass(frozen=True, eq=False)
class Playbook(ABC):
    """A controller of either side, and the MDP that its opponent faces.

    Moves are distributions over the next node (defender), or its shares φ (attacker), which make up the posterior,
    Σ_j φ_ij b_j = β_i; empty for observations that end the play or that the mix or plan rules out. Starts are, per
    start of the game, nodes to begin at and their probabilities, or shares, which make up P0(s, ·); empty where the
    game ends at once.
    """

    game: Game  # a timed game; nodes stand at its public states
    states: tuple[State, ...]  # those they stand at
    state: IntArray  # [node], its index in `states`
    claims: (
        FloatArray  # α[node, θ], what the defender's concedes at most; v[node], what the attacker's secures at least
    )
    moves: Moves
    starts: tuple[tuple[IntArray, FloatArray], ...]

    attacker_answers: ClassVar[bool]

    def __len__(self) -> int:
        return len(self.state)

    def response(self) -> OpponentMDP:
        """Return the MDP the opponent faces; where it is the attacker, all intents side by side."""
        return self.response_to(self.chances() @ self.moves.weights)

    def response_to(self, following: sp.csr_array) -> OpponentMDP:
        """Return the MDP the opponent would face if these were the chances of what follows each of its choices."""
        moves = sp.csr_array(self.game.discount * following)
        rewards = self._rewards(lambda stage: stage.reward)
        return OpponentMDP(rewards, moves, self._first_rows()[:-1], maximise=self.attacker_answers)

    def extents(self) -> FloatArray:
        """Return what the rewards of the response would be if all that is added up to them were positive."""
        return self._rewards(lambda stage: stage.magnitude)

    def chances(self, needed: IntArray | None = None) -> sp.csr_array:
        """Return the weight of each row of `moves`, or of some, in each row of the response, (n, a) or (n, d)."""
        first, width = self._first_rows(), int(self.moves.first[-1]) if needed is None else len(needed)
        column = np.arange(width)
        if needed is not None:
            column = np.full(self.moves.first[-1], -1)
            column[needed] = np.arange(width)
        rows, columns, data = [np.zeros(0, dtype=np.intp)], [np.zeros(0, dtype=np.intp)], [np.zeros(0)]
        for s, nodes in by_state(self.state):
            seen = self.game.observations(self.states[s])
            for some in in_blocks(nodes, max(seen.mass.nnz, seen.weight.nnz)):
                pattern, chance = self._chances_of(some, seen)
                there = column[self.moves.first[some][:, None] + pattern.row]
                k, e = np.nonzero((chance != 0) & (there >= 0))
                rows.append(first[some][k] + pattern.col[e])
                columns.append(there[k, e])
                data.append(chance[k, e])
        entries = (np.concatenate(data), (np.concatenate(rows), np.concatenate(columns)))
        return sp.csr_array(entries, shape=(first[-1], width))

    def begun(self) -> sp.csr_array:
        """Return the weights of the nodes to begin at, [start, node]."""
        weights = np.concatenate([np.zeros(0), *(weights for _, weights in self.starts)])
        nodes = np.concatenate([np.zeros(0, dtype=np.intp), *(nodes for nodes, _ in self.starts)])
        ends = np.cumsum([0, *(len(nodes) for nodes, _ in self.starts)])
        return sp.csr_array((weights, nodes, ends), shape=(len(self.starts), len(self)))

    def _rewards(self, table: Callable[[Stage], FloatArray]) -> FloatArray:
        first = self._first_rows()
        rewards: FloatArray = np.zeros((first[-1], len(self.game.intents)) if self.attacker_answers else first[-1])
        for s, nodes in by_state(self.state):
            expected = self._expected(nodes, table(self.game.stage(self.states[s])))
            rewards[first[nodes][:, None] + np.arange(expected.shape[1])] = expected
        return rewards

    def _first_rows(self) -> IntArray:
        """Return the first row of each node in the response, and where the last one ends."""
        side = 0 if self.attacker_answers else 1
        choices = np.array([self.game.stage(state).shape[side] for state in self.states], dtype=np.intp)
        return running(choices[self.state])

    def _goes_on(self, s: int) -> BoolArray:
        """Tell for each observation at a state whether play goes on after it."""
        successors = self.game.observations(self.states[s]).successors
        goes_on = {after: not self.game.is_terminal(after) for after in dict.fromkeys(successors)}
        return np.array([goes_on[after] for after in successors], dtype=bool)

    @abstractmethod
    def _chances_of(self, nodes: IntArray, seen: Observations) -> tuple[sp.coo_array, FloatArray]:
        """Return entries (i, answer) of nodes at one state, the same for all, and their weights [k, entry]."""

    @abstractmethod
    def _expected(self, nodes: IntArray, by_action: FloatArray) -> FloatArray:
        """Return what a table [a, d, θ] brings on average at nodes of one state, [k, answer] or [k, answer, θ]."""


@dataclass(frozen=True, eq=False)
class DefenderPlaybook(Playbook):
    """The defender's controller."""

    mixes: tuple[FloatArray, ...]  # D[d] per node

    attacker_answers = True

    def _chances_of(self, nodes: IntArray, seen: Observations) -> tuple[sp.coo_array, FloatArray]:
        mass = seen.mass.tocoo()
        return mass, (seen.weight @ stacked(self.mixes, nodes).T)[mass.row].T * mass.data

    def _expected(self, nodes: IntArray, by_action: FloatArray) -> FloatArray:
        n_a, n_d, n_t = by_action.shape
        expected: FloatArray = stacked(self.mixes, nodes) @ by_action.transpose(1, 0, 2).reshape(n_d, n_a * n_t)
        return expected.reshape(len(nodes), n_a, n_t)

    @cached_property
    def continued(self) -> IntArray:
        """The rows of `moves` that are needed: observations that can be made and do not end the play."""
        rows = [np.zeros(0, dtype=np.intp)]
        for s, nodes in by_state(self.state):
            seen = self.game.observations(self.states[s])
            own = np.repeat(np.arange(len(seen)), np.diff(seen.mass.indptr))
            possible = self._goes_on(s) & (np.bincount(own[seen.mass.data > 0], minlength=len(seen)) > 0)
            i, k = np.nonzero((seen.weight @ stacked(self.mixes, nodes).T > 0) & possible[:, None])
            rows.append(self.moves.first[nodes][k] + i)
        return np.sort(np.concatenate(rows))


@dataclass(frozen=True, eq=False)
class AttackerPlaybook(Playbook):
    """The attacker's controller."""

    beliefs: FloatArray  # b[n, θ], what the public believes at the node
    policies: tuple[FloatArray, ...]  # π[a, θ] per node

    attacker_answers = False

    def _chances_of(self, nodes: IntArray, seen: Observations) -> tuple[sp.coo_array, FloatArray]:
        weight = seen.weight.tocoo()
        return weight, np.broadcast_to(weight.data, (len(nodes), weight.nnz))

    def _expected(self, nodes: IntArray, by_action: FloatArray) -> FloatArray:
        n_a, n_d, n_t = by_action.shape
        plans = self.plans(nodes).reshape(len(nodes), n_a * n_t)
        expected: FloatArray = plans @ by_action.transpose(0, 2, 1).reshape(n_a * n_t, n_d)
        return expected

    def plans(self, nodes: IntArray) -> FloatArray:
        """Return A[k, a, θ] = π(a, θ) b(θ) of nodes at one state."""
        plans: FloatArray = stacked(self.policies, nodes) * self.beliefs[nodes][:, None, :]
        return plans

    @cached_property
    def continued(self) -> tuple[IntArray, FloatArray]:
        """The rows of `moves` that are needed, and the posterior β[row, θ] that each must make up.

        These are the observations that the plan allows and that do not end the play.
        """
        n_t = len(self.game.intents)
        rows, masses = [np.zeros(0, dtype=np.intp)], [np.zeros((0, n_t))]
        for s, group in by_state(self.state):
            seen, goes_on = self.game.observations(self.states[s]), self._goes_on(s)
            for nodes in in_blocks(group, len(seen) * n_t):
                plans = self.plans(nodes)
                flat = plans.transpose(1, 0, 2).reshape(plans.shape[1], -1)
                spread = (seen.mass @ flat).reshape(len(seen), len(nodes), n_t)
                i, k = np.nonzero(spread.any(axis=2) & goes_on[:, None])
                rows.append(self.moves.first[nodes][k] + i)
                masses.append(spread[i, k])
        order = np.argsort(np.concatenate(rows), kind="stable")
        return np.concatenate(rows)[order], np.concatenate(masses)[order]
