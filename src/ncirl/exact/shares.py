"""How the attacker's nodes play, and what becomes of a posterior that their shares make up.

Beliefs b and policies π are divided by their sums. After observation i the posterior is

    β_i(θ) = Σ_a mass[i, a] π(a | θ) b(θ),

and the shares φ make σ_i(θ) = Σ_j φ_ij b_j(θ) of it: the attacker of θ goes to node j with probability
φ_ij b_j(θ) / σ_i(θ), by the shares alone where σ_i(θ) = 0. Of what arrives at j,

    λ_ij φ_ij b_j,        λ_ij = min { β_i(θ) / σ_i(θ) : b_j(θ) > 0 },

is what the node was made for; the rest, stray_i = Σ_θ β_i(θ) − Σ_j λ_ij φ_ij, is where it was not meant to be. It is a
fault where β and σ differ by more than `TOLERANCE` in sum, and where an intent that a belief rules out does what no
other does there: then it would meet observations that the node knows nothing of.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ncirl.exact.playbook import Playbook, named
from ncirl.exact.rationals import TOLERANCE, ZERO, distribution, dot, exact
from ncirl.exact.reading import Contents
from ncirl.exact.stage import Observation

__all__ = ["Node", "Split", "read_nodes", "split"]

Masses = Mapping[int, Fraction]


@dataclass(frozen=True)
class Node:
    """How a node plays: π, and the positive entries of its belief."""

    policy: Sequence[Sequence[Fraction]]  # indexed [a][θ]
    belief: Masses  # by θ

    def posterior(self, seen: Observation) -> Masses:
        """Return β after an observation, for the intents that the belief allows."""
        return {
            theta: b * dot((mass, self.policy[a][theta]) for a, mass in seen.mass.items())
            for theta, b in self.belief.items()
        }

    @property
    def keeps_together(self) -> bool:
        """Whether intents that are ruled out do only what others do."""
        return all(any(chances[theta] for theta in self.belief) for chances in self.policy if any(chances))


@dataclass(frozen=True)
class Split:
    """What becomes of a posterior: λφ by node, and what goes astray."""

    meant: Masses
    stray: Fraction

    def worth(self, values: Sequence[Fraction], worst: Fraction) -> Fraction:
        """Return what all of it is worth at least, with what goes astray at `worst` per unit."""
        return dot([*((share, values[j]) for j, share in self.meant.items()), (self.stray, worst)])


def split(posterior: Masses, shares: Mapping[int, float], nodes: Sequence[Node]) -> Split | None:
    """Divide a posterior among nodes; None unless the shares, finite and not negative, make it up."""
    given = exact(list(shares.values())) or ()
    positive = {j: share for j, share in zip(shares, given, strict=True) if share}
    made: dict[int, list[tuple[Fraction, Fraction]]] = {}
    for j, share in positive.items():
        for theta, b in nodes[j].belief.items():
            made.setdefault(theta, []).append((share, b))
    sigma = {theta: dot(terms) for theta, terms in made.items()}
    missed = (abs(posterior.get(t, ZERO) - sigma.get(t, ZERO)) for t in posterior.keys() | sigma.keys())
    if not positive or sum(missed, ZERO) > TOLERANCE:
        return None
    ratio = {theta: posterior.get(theta, ZERO) / total for theta, total in sigma.items()}
    meant = {j: share * min(ratio[theta] for theta in nodes[j].belief) for j, share in positive.items()}
    return Split(meant, sum(posterior.values(), ZERO) - sum(meant.values(), ZERO))


def read_nodes(contents: Contents, playbook: Playbook) -> tuple[list[Node], list[str]]:
    """Read how the nodes of the attacker's playbook play; with faults some are missing.

    Raises
    ------
    InputError
        When arrays are missing or do not fit the nodes.
    """
    n_t = playbook.game.n_intents
    policies = contents.tape("attacker_policies", contents.floats("attacker_policies", None))
    beliefs = contents.tape("attacker_beliefs", contents.floats("attacker_beliefs", len(playbook), n_t))
    nodes, no_belief, no_policy, lonely = [], [], [], []
    for k in range(len(playbook)):
        flat, belief = policies.take(playbook.stage(k).n_a * n_t), distribution(beliefs.take(n_t))
        columns = [column for theta in range(n_t) if (column := distribution(flat[theta::n_t])) is not None]
        if len(columns) < n_t:
            no_policy.append(k)
        elif belief is None:
            no_belief.append(k)
        else:
            node = Node(list(zip(*columns, strict=True)), {theta: b for theta, b in enumerate(belief) if b})
            nodes.append(node)
            lonely += [] if node.keeps_together else [k]
    policies.end()
    faults = named(no_policy, "has a policy that is no distribution over what can be chosen")
    faults += named(no_belief, "has a belief that is no distribution over the intents")
    faults += named(lonely, "lets an intent that it rules out do what no other does")
    return nodes, faults
