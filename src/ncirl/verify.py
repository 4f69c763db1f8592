"""The certificate: both guarantees of a pair of playbooks, recomputed from nothing but the game and the playbooks.

Against the defender's playbook the attacker of each intent faces an MDP over nodes, against the attacker's the defender
faces one (`ncirl.playbook`); each is solved without a linear program, successors first, and where nodes recur made a
bound by its residual (`Response.solved`). With U(θ) and L what comes out, averaged over the starts,

    L ≤ v ≤ Σ_θ P0(θ) U(θ)

holds for the value v of the game whatever made the playbooks. Two things keep it rigorous. Shares that miss a posterior
by δ_i = |β_i − Σ_j φ_ij b_j|₁ (at most `TOLERANCE`, else it is a fault) send mass δ_i to where it was not meant; a
strategy's payoff changes by at most M per unit of mass, so γ Σ_i weight[i, d] δ_i M is taken off every row, and the
starts' own gap times M off the end. M = R N is the most a play can be worth: R the largest |r| where nodes stand, N the
sum of the discounts, 1 / (1 − γ), or, where γ = 1, the number of levels of nodes. And a sum of n products errs by less
than (n + 8) ε M in floating-point arithmetic: with n the longest sum (n + 8) ε M N is given away on both sides.

The certificate holds when there are no faults, both bounds are at least as good as claimed and so is what every node
claims for itself, up to `SLACK` · R.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from ncirl._typing import FloatArray
from ncirl.controller import Response
from ncirl.evaluation.starts import start_laws
from ncirl.game import Game
from ncirl.playbook import AttackerPlaybook, DefenderPlaybook
from ncirl.playbook_faults import as_played, attacker_faults, defender_faults, prior_gap, share_gaps

__all__ = ["Certificate", "Claimed", "verify"]

SLACK = 1e-6  # times the largest reward: how far a claim may be off
EPSILON = float(np.finfo(np.float64).eps)


class Claimed(Protocol):
    """What can be verified: a loaded policy, a certified solution."""

    @property
    def game(self) -> Game:
        """What is played."""
        ...

    @property
    def attacker_playbook(self) -> AttackerPlaybook:
        """How the attacker plays, for the public states of ``game.timed()``."""
        ...

    @property
    def defender_playbook(self) -> DefenderPlaybook:
        """How the defender plays, for the public states of ``game.timed()``."""
        ...

    @property
    def lower(self) -> float:
        """What the attacker is said to secure; -inf claims nothing."""
        ...

    @property
    def upper(self) -> float:
        """What the defender is said to concede at most; inf claims nothing."""
        ...


@dataclass(frozen=True, eq=False)
class Certificate:
    """What was recomputed.

    Attributes
    ----------
    lower, upper : float
        Bounds on the value; infinite where faults leave nothing to compute.
    per_intent : ndarray of shape (Θ,)
        What the attacker of each intent can get at most, on average over the starts.
    holds : bool
        Whether there are no faults and the claims are met.
    claimed_lower, claimed_upper : float
        What was to be verified.
    tolerance : float
        How far the claims were allowed to be off.
    faults : tuple of str
        Everything found wrong.
    attacker_nodes, defender_nodes : int
        Sizes of the playbooks.
    seconds : float
        How long it took.

    Examples
    --------
    >>> import ncirl
    >>> certificate = verify(ncirl.solve(ncirl.games.big_match(), ncirl.Certified(gap=0.01)))
    >>> certificate.holds, certificate.faults, certificate.per_intent.shape
    (True, (), (2,))
    """

    lower: float
    upper: float
    per_intent: FloatArray
    holds: bool
    claimed_lower: float
    claimed_upper: float
    tolerance: float
    faults: tuple[str, ...]
    attacker_nodes: int
    defender_nodes: int
    seconds: float


def verify(policy: Claimed) -> Certificate:
    """Recompute what both playbooks of a policy guarantee.

    Parameters
    ----------
    policy : Claimed
        A game, two playbooks for it and the bounds they are said to prove.

    Examples
    --------
    >>> import dataclasses
    >>> import ncirl
    >>> solution = ncirl.solve(ncirl.games.patrol(horizon=3), ncirl.Certified())
    >>> verify(solution).holds
    True
    >>> verify(dataclasses.replace(solution, upper=0.0)).holds  # a false claim
    False
    """
    began = time.perf_counter()
    timed = policy.game.timed()
    attacker = replace(policy.attacker_playbook, game=timed)
    defender = replace(policy.defender_playbook, game=timed)
    lower, upper, per_intent = -np.inf, np.inf, np.full(len(timed.intents), np.inf)
    attacking, defending = attacker_faults(attacker), defender_faults(defender)
    faults = [f"attacker's playbook: {fault}" for fault in attacking]
    faults += [f"defender's playbook: {fault}" for fault in defending]
    tolerance = 0.0 if faults else SLACK * max(_largest_reward(attacker), _largest_reward(defender))
    if not attacking:
        lower, values = _secured(as_played(attacker))
        over = np.flatnonzero(~(values >= attacker.claims - tolerance))
        faults += _claim_faults("attacker's playbook", "secure less", over.tolist())
    if not defending:
        upper, per_intent, values = _conceded(as_played(defender))
        over = np.flatnonzero(~(values <= defender.claims + tolerance).all(axis=1))
        faults += _claim_faults("defender's playbook", "concede more", over.tolist())
    if not lower >= policy.lower - tolerance:
        faults.append(f"the attacker secures {lower:.9g}, not the {policy.lower:.9g} claimed")
    if not upper <= policy.upper + tolerance:
        faults.append(f"the defender concedes {upper:.9g}, not the {policy.upper:.9g} claimed")
    return Certificate(
        lower=lower,
        upper=upper,
        per_intent=per_intent,
        holds=not faults,
        claimed_lower=policy.lower,
        claimed_upper=policy.upper,
        tolerance=tolerance,
        faults=tuple(faults),
        attacker_nodes=len(attacker),
        defender_nodes=len(defender),
        seconds=time.perf_counter() - began,
    )


def _secured(playbook: AttackerPlaybook) -> tuple[float, FloatArray]:
    """Evaluate the attacker's playbook against every defender: at the starts, and by node."""
    response = playbook.response()
    most, given_away = _extent(playbook, response)
    rows, gaps = share_gaps(playbook)
    missed = np.zeros(playbook.moves.first[-1])
    missed[rows] = gaps
    weights = [playbook.game.observations(state).weight for state in playbook.states]
    parts = np.split(missed, playbook.moves.first[1:-1])[: len(playbook)]
    sent = [weights[s].T @ part for s, part in zip(playbook.state, parts, strict=True)]  # by row of the response
    reward = response.reward - playbook.game.discount * most * np.concatenate([np.zeros(0), *sent])
    values = replace(response, reward=reward).solved(_hint(playbook.claims, most)) - given_away
    value = sum(float(shares @ values[nodes]) for nodes, shares in playbook.starts) - most * prior_gap(playbook)
    return value, values


def _conceded(playbook: DefenderPlaybook) -> tuple[float, FloatArray, FloatArray]:
    """Evaluate the defender's playbook against every attacker: at the starts, there by intent, and by node."""
    game, response = playbook.game, playbook.response()
    most, given_away = _extent(playbook, response)
    values = response.solved(_hint(playbook.claims, most)) + given_away
    per_intent, value = np.zeros(len(game.intents)), 0.0
    laws = dict(start_laws(game))
    for start, (nodes, weights) in zip(game.starts, playbook.starts, strict=True):
        if len(nodes):
            worth = weights @ values[nodes]  # indexed [θ]
            per_intent += laws[start.state] * worth
            value += float(start.mass @ worth)
    return value, per_intent, values


def _largest_reward(playbook: AttackerPlaybook | DefenderPlaybook) -> float:
    return max((float(np.abs(playbook.game.stage(state).reward).max()) for state in playbook.states), default=0.0)


def _extent(playbook: AttackerPlaybook | DefenderPlaybook, response: Response) -> tuple[float, float]:
    """Return M, the most a play can be worth, and what rounding may have changed in a value."""
    discount = playbook.game.discount
    stages = 1 / (1 - discount) if discount < 1 else float(len(response.levels()))
    most = _largest_reward(playbook) * stages
    products = max((playbook.game.stage(state).reward.size for state in playbook.states), default=0)
    longest = products + int(np.diff(response.moves.indptr).max(initial=0))
    return most, (longest + 8) * EPSILON * most * stages


def _hint(claims: FloatArray, most: float) -> FloatArray:
    """Begin where the playbook claims to be; sweeps lead from anywhere to the same place."""
    hint: FloatArray = np.clip(np.nan_to_num(claims), -most, most)
    return hint


def _claim_faults(whose: str, failing: str, nodes: list[int]) -> list[str]:
    return [f"{whose}: {len(nodes)} nodes {failing} than they claim, node {nodes[0]} first"] if nodes else []
