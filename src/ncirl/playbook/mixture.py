r"""One defender's playbook out of several: which of them is followed is drawn once, at the start.

Whoever begins at node n of a start state with probability w_n concedes Σ_n w_n α_n(θ) to intent θ there: promises are
averaged as they are drawn. Nodes of different playbooks never lead to each other, so nothing else changes.
"""

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from ncirl._typing import FloatArray, IntArray, State
from ncirl.model.game import Game
from ncirl.playbook.playbook import DefenderPlaybook, Moves
from ncirl.playbook.stacks import running

__all__ = ["Beginnings", "mixture"]

Starts = Sequence[tuple[IntArray, FloatArray]]  # per start of the game, nodes to begin at, with which probability


def mixture(game: Game, parts: Sequence[tuple[DefenderPlaybook, Starts]]) -> DefenderPlaybook:
    """Put playbooks for the same stages together; at each start the probabilities of all their nodes sum to one.

    Parameters
    ----------
    game : Game
        A timed game.
    parts : sequence of (DefenderPlaybook, starts)
        What to begin with: per start of the game, nodes that stand there and probabilities as arrays of shape (n,).
    """
    states: dict[State, int] = {}
    for playbook, _ in parts:
        for state in playbook.states:
            states.setdefault(state, len(states))
    offsets = running(np.array([len(playbook) for playbook, _ in parts]))
    lengths = np.concatenate([np.diff(playbook.moves.first) for playbook, _ in parts])
    return DefenderPlaybook(
        game=game,
        states=tuple(states),
        state=np.concatenate([np.array([states[s] for s in book.states])[book.state] for book, _ in parts]),
        claims=np.concatenate([playbook.claims for playbook, _ in parts]),
        moves=Moves(running(lengths), sp.csr_array(sp.block_diag([book.moves.weights for book, _ in parts], "csr"))),
        starts=tuple(
            (
                np.concatenate([starts[s][0] + offset for (_, starts), offset in zip(parts, offsets, strict=False)]),
                np.concatenate([starts[s][1] for _, starts in parts]),
            )
            for s in range(len(game.starts))
        ),
        mixes=tuple(mix for playbook, _ in parts for mix in playbook.mixes),
    )


class Beginnings:
    """Playbooks for the same stages, and all nodes that one may begin at, start by start of their game.

    Each node at a start state is a defence of its own from there on, whatever made the playbook.
    """

    def __init__(self) -> None:
        self.books: list[DefenderPlaybook] = []
        self._nodes: list[list[IntArray]] = []  # per book and start

    def take(self, playbook: DefenderPlaybook) -> None:
        """Add a playbook."""
        standing: dict[State, list[int]] = {}
        for n, s in enumerate(playbook.state.tolist()):
            standing.setdefault(playbook.states[s], []).append(n)
        self.books.append(playbook)
        self._nodes.append([np.array(standing.get(start.state, []), dtype=np.intp) for start in playbook.game.starts])

    def vectors(self, start: int) -> FloatArray:
        """Return what beginning at each node of a start concedes, α[j, θ]; none where the game ends at once."""
        pairs = zip(self.books, self._nodes, strict=True)
        found: FloatArray = np.concatenate([book.claims[nodes[start]] for book, nodes in pairs])
        return found

    def mixed(self, game: Game, weights: Sequence[FloatArray]) -> DefenderPlaybook:
        """Return the playbook of the timed game that begins at these nodes with these probabilities, start by start."""
        begun: list[list[tuple[IntArray, FloatArray]]] = [[] for _ in self.books]
        for start, chances in enumerate(weights):
            ends = running(np.array([len(nodes[start]) for nodes in self._nodes]))
            for k, nodes in enumerate(self._nodes):
                own = chances[ends[k] : ends[k + 1]]
                begun[k].append((nodes[start][own > 0], own[own > 0]))
        used = [(book, its) for book, its in zip(self.books, begun, strict=True) if any(len(nodes) for nodes, _ in its)]
        return mixture(game, used)
