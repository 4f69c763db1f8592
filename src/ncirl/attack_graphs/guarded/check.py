"""The certificate of a whole graph: everything recomputed from it, without a linear program and without listing it.

Recomputed are the waves and relaxed games of the parts, the tolls, the bundles and their games; each small game's
playbooks are verified as any playbook is (`ncirl.playbook.verify`); and what they guarantee is added up, with what
rounding may have changed:

    Σ_g w_g L_g  ≤  v(G)  ≤  c + Σ_k U_k,        and no intent θ gets more than c + Σ_k U_k(θ),

c being the cost of an opening, which the parts have in place.

Where nobody knows the prior, v(G) is the largest value over the priors b that are possible, the prior of the attack is
one of them, and the bound from above is c + max_b Σ_θ b(θ) Σ_k U_k(θ).

The certificate holds when nothing is wrong with the record and no claim is better than what was found.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import fsum, inf

import numpy as np

from ncirl._typing import FloatArray
from ncirl.attack_graphs.guarded.bundles import Bundled, group_faults
from ncirl.attack_graphs.guarded.net import Net
from ncirl.attack_graphs.guarded.opened import Opening, opening_faults
from ncirl.attack_graphs.guarded.parts import Part, Terms, part_faults, terms
from ncirl.attack_graphs.guarded.proof import (
    GroupProof,
    GuardedProof,
    PartProof,
    Toll,
    bundle_numbers,
    less_recorded,
    tolls_of,
)
from ncirl.attack_graphs.guarded.relaxed import Relaxed
from ncirl.attack_graphs.parallel import round_up
from ncirl.limits import UNLIMITED, Limits
from ncirl.model.priors import OUTSIDE
from ncirl.playbook.verify import Certificate, evaluated

__all__ = ["GuardedCertificate", "certified_part", "promised", "sum_down", "sum_up", "verify_guarded", "with_tolls"]

ALLOWED = 1e-9  # by which stored numbers may differ from recomputed ones, relative to the larger
ROUNDED = 4e-15  # by which numbers worked out twice may differ, relative to them
NO_PRIOR = "prior: the graph leaves it open, and what is proved is not for all that it may be"


@dataclass(frozen=True, eq=False)
class GuardedCertificate:
    """What was recomputed.

    Attributes
    ----------
    lower, upper : float
        Bounds on the value of the whole graph, or on the largest over all priors that are possible; infinite where
        faults leave nothing to compute.
    lower_allowance, upper_allowance : float
        What rounding may have cost.
    per_intent : ndarray of shape (Θ,)
        What each intent gets at most.
    holds : bool
        Whether there are no faults.
    faults : tuple of str
        Everything found wrong.
    seconds : float
        How long it took.
    parts : tuple of Certificate
        What was recomputed of each part; none where one of them has faults.

    Examples
    --------
    >>> import ncirl
    >>> from ncirl.games.office import office_graph
    >>> certificate = ncirl.verify(ncirl.solve(office_graph(), ncirl.Guarded(relative_gap=0.9)))
    >>> certificate.holds, certificate.faults
    (True, ())
    """

    lower: float
    upper: float
    lower_allowance: float
    upper_allowance: float
    per_intent: FloatArray
    holds: bool
    faults: tuple[str, ...]
    seconds: float
    parts: tuple[Certificate, ...] = ()


def verify_guarded(proof: GuardedProof, limits: Limits = UNLIMITED) -> GuardedCertificate:
    """Recompute a bracket from its record; `LimitError` where there is no time or memory for it."""
    began = time.perf_counter()
    net = Net.of(proof.graph)
    above = _above(net, proof, limits)
    below = _below(net, proof.groups, limits)
    faults = [*above.faults, *below.faults]
    if proof.graph.priors is not None and proof.graph.priors != proof.priors:
        faults.append(NO_PRIOR)
    if proof.priors is not None and not proof.priors.contains(net.prior / net.prior.sum()):
        faults.append(OUTSIDE)
    per_intent = above.per_intent
    if not proof.lower <= below.bound + below.allowance:
        faults.append(f"the ways secure {below.bound:.9g}, not the {proof.lower:.9g} claimed")
    if not proof.upper >= above.bound - above.allowance:
        faults.append(f"the guards concede {above.bound:.9g}, not the {proof.upper:.9g} claimed")
    if proof.per_intent.shape != per_intent.shape:
        faults.append(f"promises are given for {proof.per_intent.size} of {len(net.intents)} intents")
    else:
        broken = np.flatnonzero(~(proof.per_intent >= per_intent - above.allowance))
        faults += [f"intent '{net.intents[t]}' gets more than it is said to" for t in broken.tolist()]
    if not proof.lower <= proof.upper + above.allowance + below.allowance:
        faults.append(f"the lower bound claimed, {proof.lower:.9g}, is above the upper one, {proof.upper:.9g}")
    if not below.bound <= above.bound + below.rounding + above.rounding:
        faults.append("the bounds found contradict each other; this is an error of the verifier: please report it")
    seconds = time.perf_counter() - began
    return GuardedCertificate(
        below.bound,
        above.bound,
        below.allowance,
        above.allowance,
        per_intent,
        not faults,
        tuple(faults),
        seconds,
        above.parts,
    )


@dataclass(frozen=True, eq=False)
class _Found:
    faults: list[str]
    bound: float
    allowance: float  # what a claim may be off
    per_intent: FloatArray
    rounding: float = 0.0  # what rounding may have done to the bound
    parts: tuple[Certificate, ...] = ()


def certified_part(net: Net, proof: PartProof, terms: Terms, limits: Limits = UNLIMITED) -> Certificate:
    """Recompute what a part concedes on its terms, whatever it claims."""
    game = Relaxed(net, proof.part, terms).game()
    return evaluated(game, proof.attacker_playbook, proof.defender_playbook, limits)[2]


def _above(whole: Net, record: GuardedProof, limits: Limits) -> _Found:
    """Check the opening and the parts, and add up what they cost and concede."""
    nothing = _Found([], inf, 0.0, np.full(len(whole.intents), inf))
    proofs, priors = record.parts, record.priors
    faults = opening_faults(whole.graph, record.opening)
    if faults:
        return replace(nothing, faults=faults)
    opening = Opening(whole, record.opening)
    net, costs, parts = opening.net, opening.costs.values(), [proof.part for proof in proofs]
    faults = part_faults(net, parts)
    if faults:
        return replace(nothing, faults=faults)
    certificates = []
    all_terms = terms(net, parts, limits)
    limits.check("working out the tolls")  # those that are cut short are no standard for the record
    for k, (proof, full) in enumerate(zip(proofs, all_terms, strict=True)):
        its_faults, used = with_tolls(net, proof.part, proof.tolls, full)
        found = certified_part(net, proof, used, limits)
        certificates.append(found)
        its_faults += found.faults or _promise_faults(proof, found)
        faults += [f"part {k + 1}: {fault}" for fault in its_faults]
    if faults:
        return replace(nothing, faults=faults)
    by_intent = np.array([sum_up([*costs, *(c.per_intent[t] for c in certificates)]) for t in range(len(net.intents))])
    allowance = fsum(c.upper_allowance for c in certificates)
    upper = sum_up([*costs, *(c.upper for c in certificates)]) if priors is None else priors.most(by_intent)
    rounding = allowance + abs(upper) * ROUNDED * (1 + len(proofs))
    return _Found([], upper, allowance + abs(upper) * ALLOWED * len(proofs), by_intent, rounding, (*certificates,))


def _promise_faults(proof: PartProof, found: Certificate) -> list[str]:
    """List which promises of a part, or of its playbooks' nodes, are better than what was found."""
    faults = _claim_faults(proof, found)
    if not proof.upper >= found.upper - _off(found.upper, found.upper_allowance):
        faults.append(f"concedes {found.upper:.9g}, not the {proof.upper:.9g} claimed")
    least = found.per_intent - _off(found.per_intent, found.upper_allowance)
    if proof.per_intent.shape != found.per_intent.shape or not (proof.per_intent >= least).all():
        faults.append("promises an intent less than was found")
    return faults


def _claim_faults(proof: PartProof | GroupProof, found: Certificate) -> list[str]:
    """List whose nodes claim more than was found."""
    faults, least, most = [], found.attacker_values, found.defender_values
    if not (proof.attacker_playbook.claims <= least + _off(least, found.lower_allowance)).all():
        faults.append("attacker's playbook: nodes secure less than they claim")
    if not (proof.defender_playbook.claims >= most - _off(most, found.upper_allowance)).all():
        faults.append("defender's playbook: nodes concede more than they claim")
    return faults


def _off(numbers: FloatArray | float, allowance: float) -> FloatArray:
    """Return what claims may differ by from numbers found: what rounding may have done here, and in a record."""
    off: FloatArray = allowance + ALLOWED * np.abs(numbers)
    return off


def with_tolls(net: Net, part: Part, tolls: Sequence[Toll], full: Terms) -> tuple[list[str], Terms]:
    """Take off what the record takes off, if it is not too much."""
    due = {(intent, c): amount for intent, c, amount in tolls_of(net, part, full)}
    faults, taken = [], []
    for intent, name, amount in tolls:
        most = due.get((intent, name), 0.0)
        if not 0 <= amount <= most * (1 + ALLOWED):
            faults.append(f"the toll of intent '{intent}' for '{name}' is {most:.9g}, not the {amount:.9g} taken")
        elif most:
            taken.append((intent, name, min(amount, most)))
    return faults, less_recorded(net, part, taken, full)


def _below(net: Net, proofs: Sequence[GroupProof], limits: Limits) -> _Found:
    """Check the groups and add up what they secure."""
    faults = group_faults(net, [proof.group for proof in proofs])
    if faults:
        return _Found(faults, -inf, 0.0, np.zeros(0))
    found: list[tuple[float, Certificate]] = []
    for k, proof in enumerate(proofs):
        limits.check("verifying the groups of the attack", k)
        bundled = Bundled(net, proof.group)
        its_faults = _number_faults(proof, bundled)
        *_, certificate = evaluated(bundled.game(), proof.attacker_playbook, proof.defender_playbook, limits)
        its_faults += certificate.faults or _attack_faults(proof, certificate)
        found.append((bundled.weight, certificate))
        faults += [f"group {k + 1}: {fault}" for fault in its_faults]
    if faults:
        return _Found(faults, -inf, 0.0, np.zeros(0))
    lower = sum_down([weight * certificate.lower for weight, certificate in found])
    allowance = fsum(weight * certificate.lower_allowance for weight, certificate in found)
    rounding = allowance + abs(lower) * ROUNDED * (1 + len(proofs))
    return _Found([], lower, allowance + abs(lower) * ALLOWED * len(proofs), np.zeros(0), rounding)


def _attack_faults(proof: GroupProof, found: Certificate) -> list[str]:
    """List which claims of a group, or of its playbooks' nodes, are better than what was found."""
    faults = _claim_faults(proof, found)
    if not proof.lower <= found.lower + _off(found.lower, found.lower_allowance):
        faults.append(f"secures {found.lower:.9g}, not the {proof.lower:.9g} claimed")
    return faults


def _number_faults(proof: GroupProof, bundled: Bundled) -> list[str]:
    real = bundle_numbers(bundled)
    if len(real) != len(proof.numbers):
        return [f"numbers are given for {len(proof.numbers)} of {len(real)} bundles"]
    return [
        f"bundle '{exploit.id}' does not have the numbers given"
        for exploit, ours, theirs in zip(bundled.graph.exploits, real, proof.numbers, strict=True)
        if not np.allclose(
            [ours.success, ours.attack_cost, ours.block_cost],
            [theirs.success, theirs.attack_cost, theirs.block_cost],
            rtol=ALLOWED,
            atol=0.0,
        )
    ]


def promised(parts: Sequence[PartProof], n_intents: int, costs: Sequence[float] = ()) -> FloatArray:
    """Return what each intent is promised to get at most: what parts concede, a little more than rounding may change.

    `costs` are those of an opening.

    Where the value is next to nothing, what rounding may have cost it says nothing of an intent that may get much.
    """
    conceded: FloatArray = np.array(
        [sum_up([*costs, *(part.per_intent[t] for part in parts)]) for t in range(n_intents)]
    )
    return conceded + ROUNDED * np.abs(conceded)


def sum_up(numbers: Sequence[float]) -> float:
    """Add up, rounded up."""
    if not np.isfinite(numbers).all():
        return fsum(numbers)
    return round_up(sum(map(Fraction, numbers), Fraction(0)))


def sum_down(numbers: Sequence[float]) -> float:
    """Add up, rounded down, the products that are summed included."""
    total = fsum(numbers)
    return total - fsum(map(abs, numbers)) * 1e-15 * (1 + len(numbers)) if numbers else 0.0
