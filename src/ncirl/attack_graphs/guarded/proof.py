"""The proof of a bracket on a whole graph: one record that anybody can check without a solver.

From above: an opening, and parts, each with its tolls and a playbook of its relaxed game. From below: groups of
intents, each with its bundles and a playbook of its bundled game. Numbers are the record's claims; `check` recomputes
them all from the graph.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from ncirl._typing import FloatArray
from ncirl.attack_graphs.graph import AttackGraph
from ncirl.attack_graphs.guarded.bundles import Bundled, Group
from ncirl.attack_graphs.guarded.net import Net
from ncirl.attack_graphs.guarded.parts import Part, Terms
from ncirl.attack_graphs.guarded.tolls import less, taken_off
from ncirl.model.priors import Priors
from ncirl.playbook.playbook import AttackerPlaybook, DefenderPlaybook

__all__ = [
    "BundleNumbers",
    "GroupProof",
    "GuardedProof",
    "PartProof",
    "Toll",
    "bundle_numbers",
    "less_recorded",
    "tolls_of",
]

Toll = tuple[str, str, float]  # intent, condition, what is taken off its reward


@dataclass(frozen=True, eq=False)
class PartProof:
    """A part, what it takes off rewards, playbooks of its relaxed game, and what the defender's promises."""

    part: Part
    tolls: tuple[Toll, ...]
    attacker_playbook: AttackerPlaybook
    defender_playbook: DefenderPlaybook
    upper: float
    per_intent: FloatArray


@dataclass(frozen=True)
class BundleNumbers:
    """What a bundle is as one exploit."""

    success: float
    attack_cost: float
    block_cost: float


@dataclass(frozen=True, eq=False)
class GroupProof:
    """A group, its bundles' numbers, playbooks of its bundled game, and what the attacker's secures."""

    group: Group
    numbers: tuple[BundleNumbers, ...]
    attacker_playbook: AttackerPlaybook
    defender_playbook: DefenderPlaybook
    lower: float


@dataclass(frozen=True, eq=False)
class GuardedProof:
    """Bounds on the value of a whole graph, with what proves them.

    Attributes
    ----------
    graph : AttackGraph
        The whole.
    parts : tuple of PartProof
        From above; their promises add up.
    groups : tuple of GroupProof
        From below, weighed by the groups' probabilities.
    lower, upper : float
        What is claimed.
    per_intent : ndarray of shape (Θ,)
        What each intent is said to get at most.
    opening : tuple of str
        Lasting controls that are applied at once: the parts are of the graph with these in place (`opened`).
    priors : Priors, optional
        Where nobody knows the prior, those that are possible: `upper` holds at each of them, and the prior of `graph`
        is the one with which the attacker secures `lower`.
    """

    graph: AttackGraph
    parts: tuple[PartProof, ...]
    groups: tuple[GroupProof, ...]
    lower: float
    upper: float
    per_intent: FloatArray
    priors: Priors | None = None
    opening: tuple[str, ...] = ()


def tolls_of(net: Net, part: Part, terms: Terms) -> tuple[Toll, ...]:
    """List what a part's terms take off the rewards."""
    found = []
    for c in sorted(net.number[name] for name in part.goals):
        for theta in np.flatnonzero(net.rewards[c] > 0).tolist():
            due = taken_off(float(net.rewards[c, theta]), float(terms.worth[c, theta]))
            if due > 0:
                found.append((net.intents[theta], net.conditions[c], due))
    return tuple(found)


def less_recorded(net: Net, part: Part, tolls: Iterable[Toll], terms: Terms) -> Terms:
    """Return the terms of a part with the tolls of its record, which may be less than those that are due.

    What all of a toll leaves is what `terms` say to the last digit: read back with a rounding of its own it would be
    another game, of which there is no certificate where next to nothing is left. Terms that were worked out without
    tolls say nothing of it.
    """
    worth: FloatArray = np.zeros_like(net.rewards)
    goals = [net.number[name] for name in part.goals]
    worth[goals] = net.rewards[goals]
    for intent, name, amount in tolls:
        c, theta = net.number[name], net.intents.index(intent)
        reward, left = float(net.rewards[c, theta]), float(terms.worth[c, theta])
        worth[c, theta] = left if 0 < taken_off(reward, left) <= amount else less(reward, amount)
    return replace(terms, worth=worth)


def bundle_numbers(bundled: Bundled) -> tuple[BundleNumbers, ...]:
    """List the numbers of the bundles that can be used."""
    return tuple(BundleNumbers(e.success, e.attack_cost, e.block_cost) for e in bundled.graph.exploits)
