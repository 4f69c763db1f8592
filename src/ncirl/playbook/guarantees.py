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

import math
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from ncirl._typing import FloatArray
from ncirl.limits import UNLIMITED, Limits
from ncirl.mdp import OpponentMDP
from ncirl.model.game import Game
from ncirl.playbook.enclosure import EPSILON, TINY, Enclosure, enclosed, recurring
from ncirl.playbook.playbook import AttackerPlaybook, DefenderPlaybook, Playbook
from ncirl.playbook.stacks import BLOCK, by_state, in_blocks, stacked

__all__ = ["Guarantee", "conceded", "secured"]

VERIFYING = "verifying the playbooks"
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

    @property
    def is_proved(self) -> bool:
        """Whether all of it could be enclosed."""
        return self.nodes.is_proved and all(np.isfinite(part).all() for part in (self.low, self.high, self.per_intent))


def conceded(playbook: DefenderPlaybook, limits: Limits = UNLIMITED) -> Guarantee:
    """Enclose what a defender's playbook without faults, as it is played, concedes to the best attacker."""
    limits.check(VERIFYING)
    game, response = playbook.game, playbook.response()
    operations = _operations(playbook, response)
    limits.check(VERIFYING)
    nodes = enclosed(response, playbook.extents(), operations, playbook.claims, limits)
    if not nodes.is_proved:
        return Guarantee(-np.inf, np.inf, nodes, np.full(len(game.intents), np.inf))
    masses = np.array([start.mass for start in game.starts])
    prior, total = masses.sum(axis=0), masses.sum()
    laws = np.where(prior > 0, masses / np.where(prior > 0, prior, 1.0), masses.sum(axis=1, keepdims=True) / total)
    begun = playbook.begun()

    def on_average(worth: FloatArray) -> tuple[float, FloatArray]:
        """Return Σ_s P0(s, ·)·worth(s, ·), and by intent Σ_s P0(s | θ) worth(s, θ)."""
        at_start = begun @ worth  # indexed [start, θ]; 0 where play is over
        return float((masses / total * at_start).sum()), (laws * at_start).sum(axis=0)

    (low, _), (high, by_intent) = on_average(nodes.low), on_average(nodes.high)
    extent, its_extent = on_average(np.maximum(-nodes.low, nodes.high))  # low ≤ high, so this is the larger size
    off = float(_off(operations, game, np.array(extent)))
    return Guarantee(low - off, high + off, nodes, by_intent + _off(operations, game, its_extent))


def secured(playbook: AttackerPlaybook, horizon: int | None = None, limits: Limits = UNLIMITED) -> Guarantee:
    """Enclose what an attacker's playbook without faults, as it is played, secures against the best defender.

    `horizon` is how many stages a play has at the most, where that is known.
    """
    game = playbook.game
    limits.check(VERIFYING)
    rows, masses = playbook.continued  # nothing arrives after other observations
    shares, strays = _in_proportion(playbook.moves.weights[rows], masses, playbook.beliefs)
    limits.check(VERIFYING)
    chances = playbook.chances(rows)
    response, strayed = playbook.response_to(chances @ shares), game.discount * (chances @ strays)
    operations = _operations(playbook, response)
    if game.discount == 1 and horizon is None:  # no play meets more nodes, also of what strays, where none recur
        ways = playbook.response()
        levels = ways.levels()
        if recurring(ways, levels).any():
            nowhere = np.full(playbook.claims.shape, np.inf)
            return Guarantee(-np.inf, np.inf, Enclosure(-nowhere, nowhere), np.zeros(0))
        horizon = len(levels)
    least, size = _least(playbook, operations, limits)
    worst, its_extent = (amount * _stages(game.discount, horizon) for amount in (least, size))
    reward = response.reward + worst * strayed
    extent = playbook.extents() + game.discount * abs(worst) + 2 * its_extent * strayed
    nodes = enclosed(replace(response, reward=reward), extent, operations, playbook.claims, limits)
    if not nodes.is_proved:
        return Guarantee(-np.inf, np.inf, nodes, np.zeros(0))
    prior = np.array([start.mass for start in game.starts])
    played = np.array([[not game.is_terminal(start.state)] for start in game.starts])
    begun, lost = _in_proportion(playbook.begun(), prior / prior.sum() * played, playbook.beliefs)
    low, high = (float((begun @ side).sum() + worst * lost.sum()) for side in (nodes.low, nodes.high))
    sizes = (begun @ np.maximum(-nodes.low, nodes.high)).sum() + abs(worst) + 2 * its_extent * lost.sum()
    off = float(_off(operations, game, sizes))
    return Guarantee(low - off, high + off, nodes, np.zeros(0))


def _in_proportion(given: sp.csr_array, masses: FloatArray, beliefs: FloatArray) -> tuple[sp.csr_array, FloatArray]:
    """Return the shares λ_ij φ_ij, and the mass that strays after each observation."""
    made = given @ beliefs
    ratio = np.divide(masses, made, out=np.zeros_like(made), where=made > 0)
    entries = given.tocoo()
    share = np.zeros(given.nnz)
    for part in np.array_split(np.arange(given.nnz), 1 + given.nnz * beliefs.shape[1] // BLOCK):
        row, node = entries.row[part], entries.col[part]
        lowest = np.where(beliefs[node] > 0, ratio[row], np.inf).min(axis=1)  # every belief has an intent
        share[part] = entries.data[part] * lowest
    kept = sp.csr_array((share, (entries.row, entries.col)), shape=given.shape)
    stray = np.maximum(masses.sum(axis=1) - np.asarray(kept.sum(axis=1)).ravel(), 0.0)
    return kept, stray


def _least(playbook: AttackerPlaybook, operations: int, limits: Limits) -> tuple[float, float]:
    """Return the least that a stage pays to anybody who follows the playbook, or 0 if that is less, and its extent.

    The first is rounded down; it is off by no more than twice what rounding can do to a sum of that extent.
    """
    least, extent = 0.0, 0.0
    for s, nodes in by_state(playbook.state):
        limits.check(VERIFYING)
        stage = playbook.game.stage(playbook.states[s])
        for some in in_blocks(nodes, stage.reward.size):
            policies = stacked(playbook.policies, some).transpose(2, 0, 1)  # indexed [θ, k, a]
            gain = policies @ stage.reward.transpose(2, 0, 1)  # indexed [θ, k, d]
            size = policies @ stage.magnitude.transpose(2, 0, 1)
            least = min(least, float((gain - (operations * EPSILON * size + TINY)).min()))
            extent = max(extent, float(size.max()))
    return least, extent


def _stages(discount: float, horizon: int | None) -> float:
    """Return N, the sum of the discounts over a play, rounded up."""
    if discount == 1 and horizon is not None:
        return float(horizon)
    forever = 1 / (1 - discount)
    played = 1.0 if horizon is None or discount == 0 else -math.expm1(horizon * math.log(discount))
    return played * forever * (1 + FEW * EPSILON)


def _operations(playbook: Playbook, response: OpponentMDP) -> int:
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
