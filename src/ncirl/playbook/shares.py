"""The attacker's shares made feasible: after observation i they must make up the posterior, Σ_j φ_ij b_j = β_i.

Where shares exceed, Σ_k φ_k b_k(θ) > β(θ), each is scaled by

    min { β(θ) / Σ_k φ_k b_k(θ) : b_j(θ) > 0 } ∪ {1},

after which nothing exceeds; what is then missing, β − Σ_j φ_j b_j ≥ 0, goes to the corner nodes, whose belief is e_θ.
Shares below `DUST` times the posterior's mass are dropped. Gaps below `LEFT` times it, or `DUST` times where there is
no corner to go to, are left: `verify` counts them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from ncirl._typing import FloatArray, IntArray, State
from ncirl.errors import InputError
from ncirl.playbook.playbook import AttackerPlaybook

__all__ = ["DUST", "feasible"]

DUST = 1e-13  # probabilities below this are errors of linear programs
LEFT = 1e-15  # parts of a posterior below this are errors of rounding

CornerTable = Mapping[tuple[State, int], int]


def feasible(playbook: AttackerPlaybook, corner_of: CornerTable) -> AttackerPlaybook:
    """Return the playbook with shares, those of the starts too, that make up what they must.

    Parameters
    ----------
    playbook : AttackerPlaybook
        With shares that are about right.
    corner_of : mapping
        Nodes with belief e_θ by (state, θ).

    Raises
    ------
    InputError
        When a corner node is needed and there is none.
    """
    needed, masses = playbook.continued()
    weights = playbook.moves.weights
    row, node, share = _made_up(playbook, weights[needed], masses, _successors(playbook, needed), corner_of)
    goes_on = np.array([not playbook.game.is_terminal(start.state) for start in playbook.game.starts])
    prior = np.array([start.mass for start in playbook.game.starts]) * goes_on[:, None]
    number = np.repeat(np.arange(len(goes_on)), [len(nodes) for nodes, _ in playbook.starts])
    nodes, shares = (np.concatenate([links[k] for links in playbook.starts]) for k in range(2))
    given = sp.csr_array((shares, (number, nodes)), shape=(len(goes_on), len(playbook)))
    states = [start.state for start in playbook.game.starts]
    start, begin, amount = _made_up(playbook, given, prior, states, corner_of)
    begun = sp.csr_array((amount, (start, begin)), shape=given.shape)  # a node's shares are added up
    return replace(
        playbook,
        moves=replace(playbook.moves, weights=sp.csr_array((share, (needed[row], node)), shape=weights.shape)),
        starts=tuple((row.indices.astype(np.intp), row.data) for row in (begun[[k]] for k in range(len(goes_on)))),
    )


def _successors(playbook: AttackerPlaybook, rows: IntArray) -> list[State]:
    """Return the state that each row of the moves leads to."""
    first = playbook.moves.first
    owner = np.searchsorted(first, rows, side="right") - 1
    successors = [playbook.game.observations(state).successors for state in playbook.states]
    places = zip(playbook.state[owner].tolist(), (rows - first[owner]).tolist(), strict=True)
    return [successors[s][i] for s, i in places]


def _made_up(
    playbook: AttackerPlaybook, given: sp.csr_array, masses: FloatArray, states: Sequence[State], corner_of: CornerTable
) -> tuple[IntArray, IntArray, FloatArray]:
    """Return (row, node, share) entries that make up `masses`, row by row."""
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
    return (
        np.concatenate([row, short]),
        np.concatenate([node, np.array(corners, dtype=np.intp)]),
        np.concatenate([share, missing[short, theta]]),
    )


def _corner(playbook: AttackerPlaybook, corner_of: CornerTable, state: State, theta: int) -> int:
    found = corner_of.get((state, theta))
    if found is None or playbook.beliefs[found, theta] != 1:
        intent, place = playbook.game.intents[theta], playbook.game.describe(state)
        raise InputError(
            f"corner_of: the shares leave some of intent '{intent}' at '{place}', which has no corner node"
        )
    return found
