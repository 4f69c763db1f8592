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
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

import numpy as np

from ncirl._typing import BoolArray, FloatArray
from ncirl.limits import UNLIMITED, Limits
from ncirl.model.game import Game
from ncirl.playbook.enclosure import Enclosure
from ncirl.playbook.faults import held_to_account, prior_faults
from ncirl.playbook.guarantees import Guarantee, conceded, secured
from ncirl.playbook.playbook import AttackerPlaybook, DefenderPlaybook

__all__ = ["Certificate", "Claimed", "evaluated", "verify"]

NOTHING = 1e-200
UNPROVED = "nothing can be proved in floating-point arithmetic: the discount is too near to one"

P = TypeVar("P", DefenderPlaybook, AttackerPlaybook)


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
    return _certificate(policy, *_sides(policy, limits), began)


def evaluated(
    game: Game, attacker: AttackerPlaybook, defender: DefenderPlaybook, limits: Limits = UNLIMITED
) -> tuple[AttackerPlaybook, DefenderPlaybook, Certificate]:
    """Return two playbooks that claim at each node just what they guarantee there, and the certificate of that.

    The claims that they come with only tell where to look.
    """
    began = time.perf_counter()
    attacking, defending = _sides(_Unclaimed(game, attacker, defender), limits)
    attacker = replace(attacker, claims=attacking.found.nodes.low)
    defender = replace(defender, claims=defending.found.nodes.high)
    return attacker, defender, _certificate(_Unclaimed(game, attacker, defender), attacking, defending, began)


@dataclass(frozen=True, eq=False)
class _Unclaimed:
    """Playbooks for which no bounds are claimed."""

    game: Game
    attacker_playbook: AttackerPlaybook
    defender_playbook: DefenderPlaybook
    lower: float = -np.inf
    upper: float = np.inf


@dataclass(frozen=True, eq=False)
class _Side:
    """What was found for one playbook, whatever it claims; where there is no proof, all of it is infinite."""

    faults: list[str]
    found: Guarantee

    @property
    def allowance(self) -> float:
        """How far the bound may be off."""
        return self.found.high - self.found.low if self.found.is_proved else 0.0


def _sides(policy: Claimed, limits: Limits) -> tuple[_Side, _Side]:
    """Find what both playbooks guarantee: nothing with faults, or without a prior to play for."""
    timed, horizon = policy.game.timed(), policy.game.horizon
    attacker, defender = replace(policy.attacker_playbook, game=timed), replace(policy.defender_playbook, game=timed)
    if prior_faults(timed):
        return _Side([], _nothing(attacker)), _Side([], _nothing(defender))
    return (
        _side(attacker, lambda played: secured(played, horizon, limits)),
        _side(defender, lambda played: conceded(played, limits)),
    )


def _side(playbook: P, prove: Callable[[P], Guarantee]) -> _Side:
    faults, played = held_to_account(playbook)
    if faults:
        return _Side(faults, _nothing(playbook))
    found = prove(played)
    return _Side([], found) if found.is_proved else _Side([UNPROVED], _nothing(playbook))


def _nothing(playbook: AttackerPlaybook | DefenderPlaybook) -> Guarantee:
    """Return what is guaranteed by an attacker that secures nothing, or a defender that concedes anything."""
    by_intent = np.full(len(playbook.game.intents) if isinstance(playbook, DefenderPlaybook) else 0, np.inf)
    anything = np.full((len(playbook), *by_intent.shape) if len(by_intent) else len(playbook), np.inf)
    return Guarantee(-np.inf, np.inf, Enclosure(-anything, anything), by_intent)


def _certificate(policy: Claimed, attacking: _Side, defending: _Side, began: float) -> Certificate:
    """Hold what a policy claims against what was found for its playbooks."""
    low, high = attacking.found, defending.found
    secures, concedes = list(attacking.faults), list(defending.faults)
    if low.is_proved:
        secures += _claim_faults("secure less", ~(policy.attacker_playbook.claims <= low.nodes.high))
        if not policy.lower <= low.high:
            secures.append(f"secures {low.low:.9g}, not the {policy.lower:.9g} claimed")
    if high.is_proved:
        less = ~(policy.defender_playbook.claims >= high.nodes.low)
        concedes += _claim_faults("concede more", np.any(less, axis=1))
        if not policy.upper >= high.low:
            concedes.append(f"concedes {high.high:.9g}, not the {policy.upper:.9g} claimed")
    faults = prior_faults(policy.game.timed())
    faults += [f"attacker's playbook: {fault}" for fault in secures]
    faults += [f"defender's playbook: {fault}" for fault in concedes]
    if not policy.lower <= policy.upper + attacking.allowance + defending.allowance:
        faults.append(f"the lower bound claimed, {policy.lower:.9g}, is above the upper one, {policy.upper:.9g}")
    if not low.low <= high.high:
        faults.append("the bounds found contradict each other; this is an error of the verifier: please report it")
    return Certificate(
        lower=float(_not_above(low.low)),
        upper=float(_not_below(high.high)),
        lower_allowance=attacking.allowance,
        upper_allowance=defending.allowance,
        per_intent=_not_below(high.per_intent),
        attacker_values=_not_above(low.nodes.low),
        defender_values=_not_below(high.nodes.high),
        holds=not faults,
        claimed_lower=policy.lower,
        claimed_upper=policy.upper,
        faults=tuple(faults),
        seconds=time.perf_counter() - began,
    )


def _not_above(numbers: FloatArray | float) -> FloatArray:
    """Return lower bounds as they are told: too small a gain for anybody to care is none."""
    return np.where((np.asarray(numbers) > 0) & (np.asarray(numbers) < NOTHING), 0.0, numbers)


def _not_below(numbers: FloatArray | float) -> FloatArray:
    """Return upper bounds as they are told, likewise."""
    return -_not_above(-np.asarray(numbers))


def _claim_faults(failing: str, which: BoolArray) -> list[str]:
    nodes = np.flatnonzero(which)
    return [f"{len(nodes)} nodes {failing} than they claim, node {nodes[0]} first"] if len(nodes) else []
