"""From the nodes a solver stored to a playbook: cleaned, merged where equal, cut to what is reachable.

A draft is a playbook with the numbers that a solver came to. Answers of linear programs carry errors, so nothing of
them is taken at its word. Negative numbers and dust are dropped and distributions renormalised. The attacker's shares
are made feasible: after observation i they must make up the posterior, Σ_j φ_ij b_j = β_i = mass[i] @ (π·b), or the
prior at a start. Where they exceed it, each share is scaled by

    min { β(θ) / Σ_k φ_k b_k(θ) : b_j(θ) > 0 } ∪ {1},

after which nothing exceeds; what is then missing, β − Σ_j φ_j b_j ≥ 0, goes to the corner nodes, whose belief is e_θ.
Shares below `DUST` times the posterior's mass are dropped. Gaps below `LEFT` times it, or `DUST` times where there is
no corner to go to, are left: `verify` counts them. Claims are left as they are, for `ncirl.playbook.verify.evaluated`
to put what the nodes are worth in their place.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from ncirl._typing import FloatArray, IntArray, State
from ncirl.limits import UNLIMITED, Limits
from ncirl.model.belief import policy_of
from ncirl.model.game import Game
from ncirl.playbook.corners import DUST, Corners, CornerTable, GivenCorners, distributions
from ncirl.playbook.playbook import AttackerPlaybook, DefenderPlaybook, Moves
from ncirl.playbook.reduce import merged_nodes, pruned, start_nodes
from ncirl.playbook.stacks import changed, running

__all__ = [
    "Links",
    "as_first_met",
    "build_attacker_playbook",
    "build_defender_playbook",
    "cleaned_attacker",
    "cleaned_defender",
    "linked",
]

BUILDING = "building the playbooks"
LEFT = 1e-15  # parts of a posterior below this are errors of rounding


class Links(NamedTuple):
    """What follows, as parallel arrays: after `observation` at `node` comes `following`, by `weight`."""

    node: IntArray
    observation: IntArray
    following: IntArray
    weight: FloatArray  # a probability (defender) or a share (attacker)

    @classmethod
    def none(cls) -> "Links":
        """Return no links."""
        none = np.zeros(0, dtype=np.intp)
        return cls(none, none, none, np.zeros(0))

    @classmethod
    def joined(cls, parts: Iterable["Links"]) -> "Links":
        """Return all the links of some parts, at least one."""
        return cls(*map(np.concatenate, zip(*parts, strict=True)))


def as_first_met(numbers: IntArray) -> tuple[list[int], IntArray]:
    """Return distinct numbers in the order in which they are met first, and the place of each number among them."""
    distinct, first, which = np.unique(numbers, return_index=True, return_inverse=True)
    order = np.argsort(first)
    return distinct[order].tolist(), np.argsort(order)[which].astype(np.intp)


def linked(game: Game, states: Sequence[State], state: IntArray, links: Links, limits: Limits = UNLIMITED) -> Moves:
    """Return the moves of nodes that stand at ``states[state]``."""
    seen = []
    for s in states:
        limits.check(BUILDING)
        limits.need(game.observing(s), BUILDING)
        seen.append(len(game.observations(s)))
    first = running(np.array(seen, dtype=np.intp)[state])
    kept = links.weight > 0
    rows, columns = (first[links.node] + links.observation)[kept], links.following[kept]
    return Moves(first, sp.csr_array((links.weight[kept], (rows, columns)), shape=(int(first[-1]), len(state))))


def build_defender_playbook(draft: DefenderPlaybook, limits: Limits = UNLIMITED) -> DefenderPlaybook:
    """Build the defender's playbook of a timed game from those nodes of a draft that can be reached."""
    raw = cleaned_defender(draft)
    reachable, _ = pruned(raw, start_nodes(raw))
    distinct, _ = merged_nodes(reachable, limits)
    return distinct


def build_attacker_playbook(
    draft: AttackerPlaybook, corner_of: CornerTable | Corners | None = None, limits: Limits = UNLIMITED
) -> AttackerPlaybook:
    """Build the attacker's playbook of a timed game from those nodes of a draft that can be reached.

    The corners take what the shares leave of a posterior, or of the prior: nodes of the draft, or made where needed.

    Raises `InputError` when something is left for which there is no corner node.
    """
    if isinstance(corner_of, Corners):
        reachable, _ = pruned(raw := cleaned_attacker(draft), start_nodes(raw))
        distinct, _ = merged_nodes(reachable, limits)
        limits.check(BUILDING)
        made_up = corner_of.added(_feasible(distinct, corner_of), limits)
        return pruned(made_up, start_nodes(made_up))[0]
    corner_of = corner_of or {}
    raw = cleaned_attacker(draft)
    corners = np.array(list(corner_of.values()), dtype=np.intp)
    reachable, number = pruned(raw, np.union1d(start_nodes(raw), corners))
    distinct, label = merged_nodes(reachable, limits)
    places = dict(zip(corner_of, label[number[corners]].tolist(), strict=True))
    limits.check(BUILDING)
    made_up = _feasible(distinct, places)
    needed, _ = pruned(made_up, start_nodes(made_up))
    return needed


def cleaned_defender(draft: DefenderPlaybook) -> DefenderPlaybook:
    """Return the same nodes with distributions for what is drawn."""
    return replace(
        draft,
        mixes=changed(draft.state, draft.mixes, lambda _, mixes: distributions(mixes)),
        moves=replace(draft.moves, weights=_normalised_rows(draft.moves.weights)),
        starts=tuple(_kept(nodes, distributions(weights[None])[0]) for nodes, weights in draft.starts),
    )


def cleaned_attacker(draft: AttackerPlaybook) -> AttackerPlaybook:
    """Return the same nodes with beliefs and policies that are distributions, and shares as they are.

    An intent that a belief rules out follows the crowd.
    """
    beliefs = distributions(draft.beliefs)

    def cleaned(nodes: IntArray, policies: FloatArray) -> FloatArray:
        return policy_of(np.where(policies > DUST, policies, 0.0) * beliefs[nodes][:, None, :])

    return replace(
        draft,
        beliefs=beliefs,
        policies=changed(draft.state, draft.policies, cleaned),
        starts=tuple(_kept(nodes, shares) for nodes, shares in draft.starts),
    )


def _kept(nodes: IntArray, weights: FloatArray) -> tuple[IntArray, FloatArray]:
    return nodes[weights > 0], weights[weights > 0]


def _normalised_rows(weights: sp.csr_array) -> sp.csr_array:
    """Turn rows of weights into distributions without dust."""
    entries = weights.tocoo()
    share = entries.data / np.asarray(weights.sum(axis=1)).ravel()[entries.row]
    kept = share > DUST
    row, column, share = entries.row[kept], entries.col[kept], share[kept]
    sums = np.bincount(row, share, minlength=weights.shape[0])
    return sp.csr_array((share / sums[row], (row, column)), shape=weights.shape)


def _feasible(playbook: AttackerPlaybook, corner_of: CornerTable | Corners) -> AttackerPlaybook:
    """Return the playbook with shares, those of the starts too, that make up what they must."""
    game, moves = playbook.game, playbook.moves
    needed, masses = playbook.continued
    places: dict[State, int] = {}

    def placed(states: Iterable[State]) -> IntArray:
        return np.array([places.setdefault(state, len(places)) for state in states], dtype=np.intp)

    leads = [placed(game.observations(state).successors) for state in playbook.states]
    begins = placed(start.state for start in game.starts)
    corners = (
        corner_of.after(len(playbook), list(places))
        if isinstance(corner_of, Corners)
        else GivenCorners(playbook, list(places), corner_of)
    )
    to = np.concatenate([np.zeros(0, dtype=np.intp), *(leads[s] for s in playbook.state.tolist())])[needed]
    made = _made_up(playbook, moves.weights[needed], masses, to, corners).tocoo()
    prior = np.array([start.mass * (not game.is_terminal(start.state)) for start in game.starts])
    begun = _made_up(playbook, playbook.begun(), prior, begins, corners)
    shape = moves.weights.shape[0], max(moves.weights.shape[1], begun.shape[1])
    weights = sp.csr_array((made.data, (needed[made.row], made.col)), shape=shape)
    return replace(
        playbook,
        moves=replace(moves, weights=weights),
        starts=tuple((row.indices.astype(np.intp), row.data) for row in (begun[[k]] for k in range(len(prior)))),
    )


def _made_up(
    playbook: AttackerPlaybook,
    given: sp.csr_array,
    masses: FloatArray,
    place: IntArray,
    corners: GivenCorners | Corners,
) -> sp.csr_array:
    """Return shares [row, node] that make up `masses` [row, θ], at the place of each row."""
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
    least = np.where(corners.known(place), LEFT / DUST, 1.0) * dust[:, None]  # without a corner, dust stays
    short, theta = np.nonzero(missing > least)
    nodes = np.concatenate([node, corners.nodes(place[short], theta)])
    shares = np.concatenate([share, missing[short, theta]])
    shape = given.shape[0], corners.width
    return sp.csr_array((shares, (np.concatenate([row, short]), nodes)), shape=shape)  # a node's are added up
