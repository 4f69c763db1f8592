r"""One defender's playbook out of several: which of them is followed is drawn once, at the start.

Whoever begins at node n with probability w_n concedes Σ_n w_n α_n(θ) to intent θ: promises are averaged as they are
drawn. Nodes of different playbooks never lead to each other, so nothing else changes.
"""

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from ncirl._typing import FloatArray, IntArray, State
from ncirl.model.game import Game
from ncirl.playbook.playbook import DefenderPlaybook, Moves, running

__all__ = ["mixture"]

Begin = tuple[DefenderPlaybook, IntArray, FloatArray]  # a playbook, nodes of it to begin at, with which probability


def mixture(game: Game, parts: Sequence[Begin]) -> DefenderPlaybook:
    """Put playbooks for the same stages together; the probabilities of all their nodes to begin at sum to one.

    Parameters
    ----------
    game : Game
        A timed game with one start state, at which all those nodes stand.
    parts : sequence of (DefenderPlaybook, nodes, probabilities)
        What to begin with: nodes and probabilities as arrays of shape (n,).
    """
    states: dict[State, int] = {}
    for playbook, _, _ in parts:
        for state in playbook.states:
            states.setdefault(state, len(states))
    offsets = running(np.array([len(playbook) for playbook, _, _ in parts]))
    lengths = np.concatenate([np.diff(playbook.moves.first) for playbook, _, _ in parts])
    return DefenderPlaybook(
        game=game,
        states=tuple(states),
        state=np.concatenate([np.array([states[s] for s in book.states])[book.state] for book, _, _ in parts]),
        claims=np.concatenate([playbook.claims for playbook, _, _ in parts]),
        moves=Moves(running(lengths), sp.csr_array(sp.block_diag([book.moves.weights for book, _, _ in parts], "csr"))),
        starts=(
            (
                np.concatenate([nodes + offset for (_, nodes, _), offset in zip(parts, offsets, strict=False)]),
                np.concatenate([weights for _, _, weights in parts]),
            ),
        ),
        mixes=tuple(mix for playbook, _, _ in parts for mix in playbook.mixes),
    )
