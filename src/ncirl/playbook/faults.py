"""What keeps a playbook from being one: the checks that come before any number is computed.

Arrays must fit together and the game; mixes, policies and beliefs must be distributions, and what is drawn next must be
one for every observation that can be made, up to `TOLERANCE`; every link must lead to a node at the state that the
observation leads to. The attacker's shares must make up the posteriors and the prior; how far they are off is counted
by the certificate. An intent that a node's belief rules out may do only what another one does there, so that nobody,
however it came to the node, leaves the playbook. A probability that is not 0 is at least `LEAST`, so that products of
them can be told from 0. A playbook without faults is then taken as the players take it, with its distributions
normalised.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import TypeVar

import numpy as np
import scipy.sparse as sp

from ncirl._typing import FloatArray, IntArray, State
from ncirl.model.game import Game
from ncirl.playbook.playbook import AttackerPlaybook, DefenderPlaybook, Moves, Playbook
from ncirl.playbook.stacks import changed, in_stacks

__all__ = ["LEAST", "TOLERANCE", "as_played", "held_to_account", "playbook_faults", "prior_faults", "share_gaps"]

TOLERANCE = 1e-9  # how far sums may be off
LEAST = 1e-90  # the product of three is still an ordinary number
SHOWN = 3  # nodes named in a fault

P = TypeVar("P", DefenderPlaybook, AttackerPlaybook)


def playbook_faults(playbook: P) -> list[str]:
    """List what is wrong with a playbook; what a fault makes meaningless is not looked at."""
    return held_to_account(playbook)[0]


def held_to_account(playbook: P) -> tuple[list[str], P]:
    """List what is wrong with a playbook; return it also as it is played, where there is nothing."""
    faults = _frame_faults(playbook) or _place_faults(playbook) or _node_faults(playbook) or _small_faults(playbook)
    faults = faults or _precision_faults(playbook)
    if faults:
        return faults, playbook
    if isinstance(playbook, DefenderPlaybook):
        faults = _chance_faults(playbook)
        return faults, playbook if faults else as_played(playbook)
    played = as_played(playbook)
    return _share_faults(played), played


def _chance_faults(playbook: DefenderPlaybook) -> list[str]:
    """List what is drawn next, or at first, from no distribution."""
    rows = playbook.continued
    sums = np.asarray(playbook.moves.weights.sum(axis=1)).ravel()[rows]
    wrong = rows[~(np.abs(sums - 1) <= TOLERANCE)]
    faults = _named(_owner(playbook.moves, wrong), "moves on with probabilities that do not sum to one")
    for k, (start, (nodes, weights)) in enumerate(zip(playbook.game.starts, playbook.starts, strict=True)):
        if len(nodes) and not abs(weights.sum() - 1) <= TOLERANCE:
            faults.append(f"start {k} ('{playbook.game.describe(start.state)}'): probabilities do not sum to one")
    return faults


def _share_faults(playbook: AttackerPlaybook) -> list[str]:
    """List intents that would leave a playbook, as it is played, and shares that do not make up what they must."""
    lonely = np.zeros(len(playbook), dtype=bool)
    for nodes, policies in in_stacks(playbook.state, playbook.policies):
        others = np.matmul(policies, playbook.beliefs[nodes][:, :, None])[:, :, 0] > 0
        lonely[nodes] = ((policies > 0).any(axis=2) & ~others).any(axis=1)
    faults = _named(np.flatnonzero(lonely).tolist(), "lets an intent that it rules out do what no other does")
    rows, gaps = share_gaps(playbook)
    empty = ~(np.asarray(playbook.moves.weights.sum(axis=1)).ravel()[rows] > 0)
    wrong = rows[empty | ~(gaps <= TOLERANCE)]
    faults += _named(_owner(playbook.moves, wrong), "moves on with shares that do not make up the posterior")
    total = sum(start.mass.sum() for start in playbook.game.starts)
    for k, (start, (nodes, shares)) in enumerate(zip(playbook.game.starts, playbook.starts, strict=True)):
        gap = np.abs(start.mass / total - shares @ playbook.beliefs[nodes]).sum()
        if len(nodes) and not (gap <= TOLERANCE and shares.sum() > 0):
            faults.append(f"start {k} ('{playbook.game.describe(start.state)}'): the shares do not make up the prior")
    return faults


def share_gaps(playbook: AttackerPlaybook) -> tuple[IntArray, FloatArray]:
    """Return the rows of the moves that are needed, and |β − Σ_j φ_j b_j|₁ there."""
    rows, masses = playbook.continued
    gaps: FloatArray = np.abs(masses - playbook.moves.weights[rows] @ playbook.beliefs).sum(axis=1)
    return rows, gaps


def prior_faults(game: Game) -> list[str]:
    """List what keeps the prior of a game from being one."""
    masses = np.array([start.mass for start in game.starts])
    if masses.shape != (len(game.starts), len(game.intents)) or not (np.isfinite(masses) & (masses >= 0)).all():
        return ["prior: a probability is missing, negative or not finite"]
    if not abs(masses.sum() - 1) <= TOLERANCE:
        return [f"prior: probabilities sum to {masses.sum():.12g}, not 1"]
    if (~masses.any(axis=1)).any() or ((masses > 0) & (masses < LEAST)).any():
        return [f"prior: a start has no probability, or one below {LEAST:g}"]
    return []


def as_played(playbook: P) -> P:
    """Normalise what is drawn from; for a playbook without faults."""
    if isinstance(playbook, AttackerPlaybook):  # its shares only matter in relation to each other
        return replace(
            playbook,
            policies=changed(playbook.state, playbook.policies, _normalised),
            beliefs=playbook.beliefs / playbook.beliefs.sum(axis=1, keepdims=True),
        )
    weights, starts = playbook.moves.weights, playbook.starts
    sums = np.repeat(np.asarray(weights.sum(axis=1)).ravel(), np.diff(weights.indptr))
    data = weights.data / np.where(sums > 0, sums, 1.0)
    exact = sp.csr_array((data, weights.indices, weights.indptr), shape=weights.shape)
    return replace(
        playbook,
        mixes=changed(playbook.state, playbook.mixes, _normalised),
        moves=replace(playbook.moves, weights=exact),
        starts=tuple((nodes, given / given.sum() if len(nodes) else given) for nodes, given in starts),
    )


def _normalised(_: IntArray, drawn: FloatArray) -> FloatArray:
    """Normalise what is drawn from at each node, [k, choice, ...]."""
    distributions: FloatArray = drawn / drawn.sum(axis=1, keepdims=True)
    return distributions


def _frame_faults(playbook: Playbook) -> list[str]:
    """List what keeps the index arrays from fitting together."""
    n, moves = len(playbook.state), playbook.moves
    faults = []
    if n and not (playbook.state.min() >= 0 and playbook.state.max() < len(playbook.states)):
        faults.append("a node stands at a state that is not listed")
    if len(set(playbook.states)) != len(playbook.states):
        faults.append("a state is listed twice")
    if moves.first.shape != (n + 1,) or moves.first[0] != 0 or (np.diff(moves.first) < 0).any():
        faults.append("the rows of the moves do not belong to the nodes in order")
    elif moves.weights.shape != (moves.first[-1], n):
        faults.append(f"the moves have shape {moves.weights.shape}, not {(int(moves.first[-1]), n)}")
    try:
        moves.weights.check_format(full_check=True)
    except ValueError as error:
        faults.append(f"the moves are malformed: {error}")
    if not (np.isfinite(moves.weights.data) & (moves.weights.data >= 0)).all():
        faults.append("a weight of the moves is negative or not finite")
    if len(playbook.starts) != len(playbook.game.starts):
        faults.append(f"nodes to begin at are given for {len(playbook.starts)} of {len(playbook.game.starts)} starts")
    for nodes, weights in playbook.starts:
        if nodes.shape != weights.shape or not ((nodes >= 0) & (nodes < n)).all():
            faults.append("a start begins at a node that does not exist")
        elif not (np.isfinite(weights) & (weights >= 0)).all():
            faults.append("a weight of the starts is negative or not finite")
    return faults


def _precision_faults(playbook: DefenderPlaybook | AttackerPlaybook) -> list[str]:
    """Tell of numbers that are rounded otherwise than is accounted for."""
    drawn = playbook.mixes if isinstance(playbook, DefenderPlaybook) else (*playbook.policies, playbook.beliefs)
    others = (playbook.claims, playbook.moves.weights.data, *(weights for _, weights in playbook.starts))
    floating = {array.dtype for array in (*drawn, *others) if array.dtype.kind not in "biu"}
    return [] if floating <= {np.dtype(np.float64)} else ["a number is not given in double precision"]


def _place_faults(playbook: Playbook) -> list[str]:
    """List nodes that stand where the game is not, or are reached from elsewhere."""
    game, moves = playbook.game, playbook.moves
    number = {state: k for k, state in enumerate(playbook.states)}
    strange = set(playbook.states) - _met(game, number)
    if strange:
        return [f"nodes stand at {len(strange)} states that the game does not reach or where it is over"]
    successors = [
        np.array([number.get(after, -1) for after in game.observations(state).successors], dtype=np.intp)
        for state in playbook.states
    ]
    widths = np.array([len(after) for after in successors], dtype=np.intp)[playbook.state]
    if not np.array_equal(np.diff(moves.first), widths):
        return ["the rows of the moves are not one for each observation"]
    entries = moves.weights.tocoo()
    led_to = np.concatenate([np.zeros(0, dtype=np.intp), *(successors[s] for s in playbook.state)])
    wrong = entries.row[(entries.data > 0) & (led_to[entries.row] != playbook.state[entries.col])]
    faults = _named(_owner(moves, np.unique(wrong)), "moves to a node at another state than the one reached")
    for k, (start, (nodes, _)) in enumerate(zip(game.starts, playbook.starts, strict=True)):
        at = [playbook.states[s] for s in playbook.state[nodes]]
        if any(state != start.state for state in at) or bool(at) == game.is_terminal(start.state):
            faults.append(f"start {k} ('{game.describe(start.state)}') does not begin at nodes of that state")
    return faults


def _met(game: Game, listed: dict[State, int]) -> set[State]:
    """Return the listed states that play can reach through listed states only, terminal ones left out."""
    layer = [start.state for start in game.starts]
    met: set[State] = set()
    while layer:
        met |= (fresh := {s for s in layer if s in listed and s not in met and not game.is_terminal(s)})
        layer = [after for state in fresh for after in game.observations(state).successors]
    return met


def _node_faults(playbook: DefenderPlaybook | AttackerPlaybook) -> list[str]:
    """List what is not given for every node, and the nodes that do not draw from distributions."""
    n, n_t = len(playbook), len(playbook.game.intents)
    shapes = [playbook.game.stage(state).shape for state in playbook.states]
    if isinstance(playbook, DefenderPlaybook):
        if len(playbook.mixes) != n or playbook.claims.shape != (n, n_t):
            return ["mixes or claims are not given for every node"]
        return _distribution_faults("mix", playbook.state, playbook.mixes, [(n_d,) for _, n_d in shapes])
    if len(playbook.policies) != n or playbook.claims.shape != (n,) or playbook.beliefs.shape != (n, n_t):
        return ["policies, claims or beliefs are not given for every node"]
    faults = _distribution_faults("policy", playbook.state, playbook.policies, [(n_a, n_t) for n_a, _ in shapes])
    return faults + _distribution_faults("belief", np.zeros_like(playbook.state), [*playbook.beliefs], [(n_t,)])


def _distribution_faults(
    what: str, state: IntArray, given: Sequence[FloatArray], shapes: Sequence[tuple[int, ...]]
) -> list[str]:
    """Name the nodes whose array has not the shape of its state, or does not sum to one over its first axis."""
    wrong = np.array([part.shape != shapes[s] for part, s in zip(given, state.tolist(), strict=True)], dtype=bool)
    for nodes, parts in in_stacks(state, given, np.flatnonzero(~wrong)):
        with np.errstate(all="ignore"):  # infinities of both signs may meet
            off = np.abs(parts.sum(axis=1) - 1).reshape(len(nodes), -1)
        wrong[nodes] = ~((parts >= 0).reshape(len(nodes), -1).all(axis=1) & (off <= TOLERANCE).all(axis=1))
    return _named(np.flatnonzero(wrong).tolist(), f"has a {what} that is no distribution over what can be chosen")


def _small_faults(playbook: DefenderPlaybook | AttackerPlaybook) -> list[str]:
    """List probabilities that are too small to be multiplied."""
    parts = [playbook.game.stage(state).law.data for state in playbook.states]
    parts += [playbook.moves.weights.data, *(weights for _, weights in playbook.starts)]
    parts += [] if isinstance(playbook, DefenderPlaybook) else [playbook.beliefs]
    drawn = playbook.mixes if isinstance(playbook, DefenderPlaybook) else playbook.policies
    stacks = (stack for _, stack in in_stacks(playbook.state, drawn))
    if any(((part > 0) & (part < LEAST)).any() for part in chain(parts, stacks)):
        return [f"a probability lies between 0 and {LEAST:g}; what is as small must be 0"]
    return []


def _owner(moves: Moves, rows: IntArray) -> list[int]:
    """List the nodes to which rows of the moves belong."""
    nodes: list[int] = np.unique(np.searchsorted(moves.first, rows, side="right") - 1).tolist()
    return nodes


def _named(nodes: Sequence[int], fault: str) -> list[str]:
    """Say once what is wrong with several nodes."""
    if not nodes:
        return []
    more = f" and {len(nodes) - SHOWN} more" if len(nodes) > SHOWN else ""
    return [f"node {', '.join(map(str, nodes[:SHOWN]))}{more} {fault}"]
