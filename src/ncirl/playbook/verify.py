"""The certificate: both guarantees of a pair of playbooks, recomputed from nothing but the game and the playbooks.

Against the defender's playbook the attacker of each intent faces an MDP over nodes, against the attacker's the defender
faces one (`playbook`). Each is solved without a linear program and enclosed, with all that rounding and inexact shares
may have changed (`guarantees`, `enclosure`). With L and U what comes out,

    L ≤ v ≤ U

holds for the value v of the game whatever made the playbooks. The certificate holds when there are no faults and no
claim, of a bound or of a node, is better than what was recomputed by more than the width of its enclosure: nothing is
allowed beyond what rounding can explain at that very node, so no reward that plays no part has a say in it.
`docs/trust.md` says exactly what is proved, assuming what, and why.
"""

import time
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from ncirl._typing import BoolArray, FloatArray
from ncirl.limits import UNLIMITED, Limits
from ncirl.model.game import Game
from ncirl.playbook.faults import as_played, playbook_faults, prior_faults
from ncirl.playbook.guarantees import conceded, secured
from ncirl.playbook.playbook import AttackerPlaybook, DefenderPlaybook

__all__ = ["Certificate", "Claimed", "verify"]

NOTHING = 1e-200
UNPROVED = "nothing can be proved in floating-point arithmetic: the discount is too near to one"


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


@dataclass(frozen=True, eq=False, repr=False)
class Certificate:
    """What was recomputed.

    Attributes
    ----------
    lower, upper : float
        Bounds on the value; infinite where faults leave nothing to compute.
    lower_allowance, upper_allowance : float
        What rounding may have cost: the playbooks' exact guarantees lie at most this far inside the bounds.
    per_intent : ndarray of shape (Θ,)
        What the attacker of each intent can get at most, on average over the starts.
    attacker_values : ndarray of shape (nodes,)
        What each node of the attacker's playbook secures at least.
    defender_values : ndarray of shape (nodes, Θ)
        What each node of the defender's playbook concedes at most.
    holds : bool
        Whether there are no faults and the claims are met.
    claimed_lower, claimed_upper : float
        What was to be verified.
    faults : tuple of str
        Everything found wrong.
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
    lower_allowance: float
    upper_allowance: float
    per_intent: FloatArray
    attacker_values: FloatArray
    defender_values: FloatArray
    holds: bool
    claimed_lower: float
    claimed_upper: float
    faults: tuple[str, ...]
    seconds: float

    def __repr__(self) -> str:
        said = "holds" if self.holds else f"does not hold, {len(self.faults)} faults"
        return f"Certificate({said}, {self.lower:.6g} to {self.upper:.6g}, {self.seconds:.2g} s)"

    @property
    def attacker_nodes(self) -> int:
        """Size of the attacker's playbook."""
        return len(self.attacker_values)

    @property
    def defender_nodes(self) -> int:
        """Size of the defender's playbook."""
        return len(self.defender_values)


def verify(policy: Claimed, limits: Limits = UNLIMITED) -> Certificate:
    """Recompute what both playbooks of a policy guarantee.

    Parameters
    ----------
    policy : Claimed
        A game, two playbooks for it and the bounds they are said to prove.
    limits : Limits
        Of time and memory; nothing is found where they come first.

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
    faults = prior_faults(timed)
    playable = not faults
    attacker, defender = replace(policy.attacker_playbook, game=timed), replace(policy.defender_playbook, game=timed)
    attacking = _attacking(attacker, policy.lower, policy.game.horizon, playable, limits)
    defending = _defending(defender, policy.upper, playable, limits)
    faults += [f"attacker's playbook: {fault}" for fault in attacking.faults]
    faults += [f"defender's playbook: {fault}" for fault in defending.faults]
    if not policy.lower <= policy.upper + attacking.allowance + defending.allowance:
        faults.append(f"the lower bound claimed, {policy.lower:.9g}, is above the upper one, {policy.upper:.9g}")
    if not attacking.bound <= defending.bound:
        faults.append("the bounds found contradict each other; this is an error of the verifier: please report it")
    return Certificate(
        lower=float(_told(attacking.bound)),
        upper=float(_told(defending.bound)),
        lower_allowance=attacking.allowance,
        upper_allowance=defending.allowance,
        per_intent=_told(defending.per_intent),
        attacker_values=_told(attacking.values),
        defender_values=_told(defending.values),
        holds=not faults,
        claimed_lower=policy.lower,
        claimed_upper=policy.upper,
        faults=tuple(faults),
        seconds=time.perf_counter() - began,
    )


@dataclass(frozen=True, eq=False)
class _Side:
    """What was found for one playbook."""

    faults: list[str]
    bound: float
    allowance: float
    values: FloatArray
    per_intent: FloatArray


def _attacking(playbook: AttackerPlaybook, claim: float, horizon: int | None, playable: bool, limits: Limits) -> _Side:
    """Check an attacker's playbook; with faults, or without a prior to play for, it secures nothing."""
    faults = playbook_faults(playbook) if playable else []
    found = secured(as_played(playbook), horizon, limits) if playable and not faults else None
    if found is None or not found.is_proved:
        faults += [] if found is None else [UNPROVED]
        return _Side(faults, -np.inf, 0.0, np.full(len(playbook), -np.inf), np.zeros(0))
    faults = _claim_faults("secure less", ~(playbook.claims <= found.nodes.high))
    if not claim <= found.high:
        faults.append(f"secures {found.low:.9g}, not the {claim:.9g} claimed")
    return _Side(faults, found.low, found.high - found.low, found.nodes.low, np.zeros(0))


def _defending(playbook: DefenderPlaybook, claim: float, playable: bool, limits: Limits) -> _Side:
    """Check a defender's playbook; with faults, or without a prior to play for, it concedes anything."""
    n_t = len(playbook.game.intents)
    faults = playbook_faults(playbook) if playable else []
    found = conceded(as_played(playbook), limits) if playable and not faults else None
    if found is None or not found.is_proved:
        faults += [] if found is None else [UNPROVED]
        return _Side(faults, np.inf, 0.0, np.full((len(playbook), n_t), np.inf), np.full(n_t, np.inf))
    faults = _claim_faults("concede more", np.any(~(playbook.claims >= found.nodes.low), axis=1))
    if not claim >= found.low:
        faults.append(f"concedes {found.high:.9g}, not the {claim:.9g} claimed")
    return _Side(faults, found.high, found.high - found.low, found.nodes.high, found.per_intent)


def _told(numbers: FloatArray | float) -> FloatArray:
    """Return numbers as they are told: what is too small for anybody to care is 0."""
    return np.where(np.abs(numbers) < NOTHING, 0.0, numbers)


def _claim_faults(failing: str, which: BoolArray) -> list[str]:
    nodes = np.flatnonzero(which)
    return [f"{len(nodes)} nodes {failing} than they claim, node {nodes[0]} first"] if len(nodes) else []
