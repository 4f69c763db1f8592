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

from ncirl.exact.rationals import TERM, TOLERANCE, ZERO, dot, ratio
from ncirl.exact.stage import Observation
from ncirl.exact.work import digits, spend

__all__ = ["Node", "Split", "split"]

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
    """What becomes of a posterior: λφ by node, what goes astray, and whether the shares make it up."""

    meant: Masses
    stray: Fraction
    is_made_up: bool

    def worth(self, values: Sequence[Fraction], worst: Fraction) -> Fraction:
        """Return what all of it is worth at least, with what goes astray at `worst` per unit."""
        return dot([*((share, values[j]) for j, share in self.meant.items()), (self.stray, worst)])


def split(posterior: Masses, shares: Mapping[int, float], nodes: Sequence[Node]) -> Split:
    """Divide a posterior among nodes by shares that are finite and not negative."""
    positive = {j: Fraction(share) for j, share in shares.items() if share}
    spend(2 * TERM * sum(len(nodes[j].belief) for j in positive))
    made: dict[int, list[tuple[Fraction, Fraction]]] = {}
    for j, share in positive.items():
        for theta, b in nodes[j].belief.items():
            made.setdefault(theta, []).append((share, b))
    sigma = {theta: dot(terms) for theta, terms in made.items()}
    one = Fraction(1)
    beta = dot((one, mass) for mass in posterior.values())
    gaps = (abs(posterior.get(t, ZERO) - sigma.get(t, ZERO)) for t in posterior.keys() | sigma.keys())
    is_made_up = bool(positive) and dot((one, gap) for gap in gaps) <= TOLERANCE
    ratios = {theta: ratio(posterior.get(theta, ZERO), total) for theta, total in sigma.items()}
    longest = max((digits(part.denominator) for part in ratios.values()), default=0)
    spend(4 * longest**2 * sum(len(nodes[j].belief) for j in positive))  # to compare
    meant = {j: share * min(ratios[theta] for theta in nodes[j].belief) for j, share in positive.items()}
    return Split(meant, beta - dot((one, mass) for mass in meant.values()), is_made_up)
