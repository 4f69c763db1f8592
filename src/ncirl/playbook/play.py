"""Playbooks at play: memory is the node, None where play is over or the playbook knows no node.

The defender moves by the node's own distributions. The attacker of intent θ goes from a node to node j with probability
φ_ij b_j(θ) / Σ_k φ_ik b_k(θ), and with φ_ij / Σ_k φ_ik where no node j has its intent.

**Off the path.** An observation that a player's own mix or plan rules out has no moves. It can be made only when the
player does not do what its playbook says (a person overrides it, say), so no opponent can bring it about and the
guarantee does not depend on what follows. Play then goes on at a node of the successor: for the defender the one that
claims least on average over the prior, for the attacker the one with the most belief in its intent (a corner, where
there is one). Where the playbook has no node at the successor, every action is as likely as any other until it has.
"""

from collections.abc import Sequence

import numpy as np

from ncirl._typing import FloatArray, IntArray, State
from ncirl.playbook.playbook import AttackerPlaybook, DefenderPlaybook
from ncirl.playbook.stacks import by_state
from ncirl.strategies.remembered import Remembered
from ncirl.strategies.strategy import Memory

__all__ = ["PlaybookAttacker", "PlaybookDefender"]


class PlaybookDefender:
    """The defender's playbook as a strategy."""

    def __init__(self, playbook: DefenderPlaybook) -> None:
        self.playbook = playbook
        prior = np.sum([start.mass for start in playbook.game.starts], axis=0)
        promised = playbook.claims @ prior
        self._refuge = {
            playbook.states[s]: int(nodes[promised[nodes].argmin()]) for s, nodes in by_state(playbook.state)
        }
        self._following = Remembered(self._moved)

    def begin(self, state: State) -> Sequence[tuple[Memory, float]]:
        """Begin as the playbook says for this start."""
        chances: dict[Memory, float] = {}
        for start, (nodes, weights) in zip(self.playbook.game.starts, self.playbook.starts, strict=True):
            if start.state == state:
                for node, weight in zip(nodes.tolist(), weights.tolist(), strict=True):
                    chances[node] = chances.get(node, 0.0) + start.probability * weight
        total = sum(chances.values())
        return [(node, chance / total) for node, chance in chances.items()] or [(self._refuge.get(state), 1.0)]

    def mix(self, state: State, memory: Memory) -> FloatArray:
        """Return D[d]."""
        if isinstance(memory, int):
            return self.playbook.mixes[memory]
        n_d = self.playbook.game.stage(state).shape[1]
        return np.full(n_d, 1 / max(n_d, 1))

    def after(self, state: State, memory: Memory, d: int, i: int) -> Sequence[tuple[Memory, float]]:
        """Move on to the nodes the playbook names."""
        return self._following(state, memory, i)

    def _moved(self, state: State, memory: Memory, i: int) -> list[tuple[Memory, float]]:
        if isinstance(memory, int):
            nodes, weights = self.playbook.moves.after(memory, i)
            if weights.sum() > 0:
                return list(zip(nodes.tolist(), (weights / weights.sum()).tolist(), strict=True))
        return [(self._refuge.get(self.playbook.game.observations(state).successors[i]), 1.0)]


class PlaybookAttacker:
    """The attacker's playbook as a strategy."""

    def __init__(self, playbook: AttackerPlaybook) -> None:
        self.playbook = playbook
        self._refuge = {
            playbook.states[s]: nodes[playbook.beliefs[nodes].argmax(axis=0)] for s, nodes in by_state(playbook.state)
        }
        self._following = Remembered(self._moved)

    def begin(self, state: State) -> Sequence[tuple[Memory, FloatArray]]:
        """Begin as the playbook says for this start."""
        here = [
            links
            for start, links in zip(self.playbook.game.starts, self.playbook.starts, strict=True)
            if start.state == state
        ]
        nodes, shares = (np.concatenate([np.zeros(0), *(links[k] for links in here)]) for k in range(2))
        return self._drawn(nodes.astype(np.intp), shares) if len(nodes) else self._lost(state)

    def policy(self, state: State, memory: Memory) -> FloatArray:
        """Return π[a, θ]."""
        if isinstance(memory, int):
            return self.playbook.policies[memory]
        n_a = self.playbook.game.stage(state).shape[0]
        return np.full((n_a, len(self.playbook.game.intents)), 1 / max(n_a, 1))

    def after(self, state: State, memory: Memory, a: int, d: int, i: int) -> Sequence[tuple[Memory, FloatArray]]:
        """Move on to the nodes the playbook names."""
        return self._following(state, memory, i)

    def _moved(self, state: State, memory: Memory, i: int) -> list[tuple[Memory, FloatArray]]:
        if isinstance(memory, int):
            nodes, shares = self.playbook.moves.after(memory, i)
            if shares.sum() > 0:
                return self._drawn(nodes, shares)
        return self._lost(self.playbook.game.observations(state).successors[i])

    def _drawn(self, nodes: IntArray, shares: FloatArray) -> list[tuple[Memory, FloatArray]]:
        """Give each node with its probability per intent."""
        masses = shares[:, None] * self.playbook.beliefs[nodes]
        made = masses.sum(axis=0)
        chances = np.where(made > 0, masses / np.where(made > 0, made, 1.0), (shares / shares.sum())[:, None])
        return list(zip(nodes.tolist(), chances, strict=True))

    def _lost(self, state: State) -> list[tuple[Memory, FloatArray]]:
        """Go to the node with the most belief in one's intent."""
        if state not in self._refuge:
            return [(None, np.ones(len(self.playbook.game.intents)))]
        chosen = self._refuge[state]  # indexed [θ]
        return [(int(node), (chosen == node).astype(np.float64)) for node in np.unique(chosen)]
