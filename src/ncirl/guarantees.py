"""What each playbook guarantees, enclosed with all that rounding and inexact shares may have changed.

Defender's: with [low, high] the enclosed values of the process that the attacker faces (`DefenderPlaybook.response`),

    U = Σ_s Σ_θ P0(s, θ) Σ_j w_sj α(j, θ).

Attacker's: shares φ_ij should make up the posterior, σ_i = Σ_j φ_ij b_j = β_i, and hardly ever do to the last digit. Of
what arrives at node j after observation i, the part λ_ij φ_ij b_j with

    λ_ij = min { β_i(θ) / σ_i(θ) : b_j(θ) > 0 }

is in proportion to b_j, as the node's value supposes. The rest, Σ_θ β_i(θ) − Σ_j λ_ij φ_ij, has strayed: it plays on
where it was not meant to be, and gets at least

    W = N min { 0, min_{n,d,θ} Σ_a π_n(a | θ) r(a, d, θ) },        N = Σ_t γ^t over the stages of a play,

per unit of mass: no stage pays less than that minimum to anybody who follows the playbook. So the defender's process
has shares λ_ij φ_ij and, in each row, γ Σ_i weight[i, d] stray_i W beside the reward; the starts are treated alike.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from ncirl._typing import FloatArray
from ncirl.controller import Response
from ncirl.enclosure import EPSILON, TINY, Enclosure, enclosed
from ncirl.game import Game
from ncirl.playbook import AttackerPlaybook, DefenderPlaybook, by_state

__all__ = ["Guarantee", "conceded", "secured"]

BLOCK = 2_000_000  # numbers held at once
FEW = 32  # operations that are not sums


@dataclass(frozen=True, eq=False)
class Guarantee:
    """What a playbook guarantees: ``low ≤ bound ≤ high``, the same per node, and per intent where the defender plays.

    The side that is safe to rely on is `low` for the attacker, `high` for the defender.
    """

    low: float
    high: float
    nodes: Enclosure
    per_intent: FloatArray


def conceded(playbook: DefenderPlaybook) -> Guarantee:
    """Enclose what a defender's playbook without faults, as it is played, concedes to the best attacker."""
    game, response = playbook.game, playbook.response()
    operations = _operations(playbook, response)
    nodes = enclosed(response, playbook.extents(), operations, playbook.claims)
    total = sum(start.mass.sum() for start in game.starts)
    prior = np.sum([start.mass for start in game.starts], axis=0)
    shape = (2, len(game.intents))
    weighed, by_intent, extent, its_extent = np.zeros(2), np.zeros(shape), np.zeros(()), np.zeros(shape[1])
    for start, (begun, weights) in zip(game.starts, playbook.starts, strict=True):
        if not len(begun):  # play is over
            continue
        worth = np.array([weights @ nodes.low[begun], weights @ nodes.high[begun]])  # indexed [side, θ]
        size = weights @ np.maximum(-nodes.low[begun], nodes.high[begun])  # low ≤ high, so this is the larger size
        law = np.where(prior > 0, start.mass / np.where(prior > 0, prior, 1.0), start.mass.sum() / total)
        weighed, extent = weighed + worth @ start.mass / total, extent + size @ start.mass / total
        by_intent, its_extent = by_intent + law * worth, its_extent + law * size
    off = float(_off(operations, game, extent))
    low, high = weighed.tolist()
    return Guarantee(low - off, high + off, nodes, by_intent[1] + _off(operations, game, its_extent))


def secured(playbook: AttackerPlaybook, horizon: int | None = None) -> Guarantee:
    """Enclose what an attacker's playbook without faults, as it is played, secures against the best defender.

    Parameters
    ----------
    playbook : AttackerPlaybook
        Of a timed game.
    horizon : int, optional
        How many stages a play has at the most, where that is known.
    """
    game = playbook.game
    rows, masses = playbook.continued()
    needed = np.zeros((playbook.moves.first[-1], len(game.intents)))
    needed[rows] = masses
    shares, strays = _in_proportion(playbook.moves.weights, needed, playbook.beliefs)
    kept = replace(playbook, moves=replace(playbook.moves, weights=shares))
    response = kept.response()
    operations = _operations(playbook, response)
    if game.discount == 1 and horizon is None:
        horizon = len(response.levels())  # no play meets more nodes, where none recur
    worst = _least(playbook, operations) * _stages(game.discount, horizon)
    reward = response.reward + game.discount * worst * (playbook.chances() @ strays)
    extent = playbook.extents() + abs(game.discount * worst)
    nodes = enclosed(replace(response, reward=reward), extent, operations, playbook.claims)
    shares, strays = _in_proportion(*_begun(playbook), playbook.beliefs)
    low, high = (float((shares @ side).sum() + worst * strays.sum()) for side in (nodes.low, nodes.high))
    off = float(_off(operations, game, (shares @ np.maximum(-nodes.low, nodes.high)).sum() + abs(worst)))
    return Guarantee(low - off, high + off, nodes, np.zeros(0))


def _begun(playbook: AttackerPlaybook) -> tuple[sp.csr_array, FloatArray]:
    """Return the shares of the nodes to begin at, by start, and the prior [start, θ] that they should make up."""
    game, starts = playbook.game, playbook.starts
    given = np.concatenate([np.zeros(0), *(weights for _, weights in starts)])
    nodes = np.concatenate([np.zeros(0, dtype=np.intp), *(at for at, _ in starts)])
    ends = np.cumsum([0, *(len(at) for at, _ in starts)])
    played = np.array([[not game.is_terminal(start.state)] for start in game.starts])
    masses = np.array([start.mass for start in game.starts])
    return sp.csr_array((given, nodes, ends), shape=(len(starts), len(playbook))), masses / masses.sum() * played


def _in_proportion(given: sp.csr_array, masses: FloatArray, beliefs: FloatArray) -> tuple[sp.csr_array, FloatArray]:
    """Return the shares λ_ij φ_ij, and the mass that strays after each observation."""
    made = given @ beliefs
    ratio = np.where(made > 0, masses / np.where(made > 0, made, 1.0), np.inf)
    entries = given.tocoo()
    share = np.zeros(given.nnz)
    for part in np.array_split(np.arange(given.nnz), 1 + given.nnz * beliefs.shape[1] // BLOCK):
        row, node = entries.row[part], entries.col[part]
        share[part] = entries.data[part] * np.where(beliefs[node] > 0, ratio[row], np.inf).min(axis=1, initial=np.inf)
    kept = sp.csr_array((share, (entries.row, entries.col)), shape=given.shape)
    stray = np.maximum(masses.sum(axis=1) - np.asarray(kept.sum(axis=1)).ravel(), 0.0)
    return kept, stray


def _least(playbook: AttackerPlaybook, operations: int) -> float:
    """Return the least that a stage pays to anybody who follows the playbook, or 0 if that is less, rounded down."""
    game, least = playbook.game, 0.0
    for s, nodes in by_state(playbook.state):
        stage = game.stage(playbook.states[s])
        for some in np.array_split(nodes, 1 + len(nodes) * stage.reward.size // BLOCK):
            policies = np.stack([playbook.policies[n] for n in some])
            gain = np.einsum("kat,adt->kdt", policies, stage.reward, optimize=True)
            off = operations * EPSILON * np.einsum("kat,adt->kdt", policies, stage.magnitude, optimize=True) + TINY
            least = min(least, float((gain - off).min()))
    return least


def _stages(discount: float, horizon: int | None) -> float:
    """Return N, the sum of the discounts over a play, rounded up."""
    if discount == 1 and horizon is not None:
        return float(horizon)
    forever = 1 / (1 - discount)
    played = 1.0 if horizon is None or discount == 0 else -math.expm1(horizon * math.log(discount))
    return played * forever * (1 + FEW * EPSILON)


def _operations(playbook: DefenderPlaybook | AttackerPlaybook, response: Response) -> int:
    """Return K: the lengths of all sums behind a row, each counted as often as it enters."""
    game = playbook.game
    stages = [(game.stage(state), len(game.observations(state))) for state in playbook.states]
    laws = max((int(np.diff(stage.law.indptr).max(initial=0)) for stage, _ in stages), default=0)
    actions = max((len(game.intents) * stage.shape[0] + 2 * stage.shape[1] + seen for stage, seen in stages), default=0)
    begun = max((len(nodes) for nodes, _ in playbook.starts), default=0)
    shares = max(begun, int(np.diff(playbook.moves.weights.indptr).max(initial=0)))
    following = int(np.diff(response.moves.indptr).max(initial=0))
    return FEW + 3 * laws + actions + 2 * shares + following + len(game.intents)


def _off(operations: int, game: Game, extent: FloatArray) -> FloatArray:
    """Return how far the last sums, over the starts, may be off; not at all where nothing was added up."""
    count = operations + len(game.starts) * (1 + len(game.intents))
    return np.where(extent > 0, count * EPSILON * extent + TINY, 0.0)
