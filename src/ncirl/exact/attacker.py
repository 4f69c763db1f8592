"""What the attacker's playbook secures: per node, the least that a defender who sees the nodes can concede.

Beliefs b and policies π are divided by their sums. After observation i the posterior is

    β_i(θ) = Σ_a mass[i, a] π(a | θ) b(θ),

and the shares φ make σ_i(θ) = Σ_j φ_ij b_j(θ) of it: the attacker of θ goes to node j with probability
φ_ij b_j(θ) / σ_i(θ), by the shares alone where σ_i(θ) = 0. Of what arrives at j,

    λ_ij φ_ij b_j,        λ_ij = min { β_i(θ) / σ_i(θ) : b_j(θ) > 0 },

is what the node was made for; the rest, stray_i = Σ_θ β_i(θ) − Σ_j λ_ij φ_ij, is where it was not meant to be, and is
worth at least

    W = N · min(0, min over n, d, θ of Σ_a π_n(a | θ) r(a, d, θ))

per unit, wherever it plays on. So

    v(n) = min_d  Σ_{a,θ} π(a | θ) b(θ) r(a, d, θ) + γ Σ_i weight[i, d] ( Σ_j λ_ij φ_ij v(j) + stray_i W ),
    L = Σ_s ( Σ_j λ_sj φ_sj v(j) + stray_s W ),

over the observations and the starts after which play goes on; a start's posterior is the prior P0(s, ·). It is a fault
where β and σ differ by more than `TOLERANCE` in sum, and where an intent that a belief rules out does what no other
does there: then it would meet observations that the node knows nothing of.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from ncirl.exact.arithmetic import (
    TERM,
    TOLERANCE,
    ZERO,
    digits,
    dot,
    has_small,
    is_distribution,
    normalised,
    ratio,
    spend,
)
from ncirl.exact.game import Game
from ncirl.exact.playbook import SMALL, Guarantee, Playbook, named, read_playbook
from ncirl.exact.process import Process, Row
from ncirl.exact.reading import Contents
from ncirl.exact.stage import Observation, Stage

__all__ = ["Attack", "read_attack"]

Masses = Mapping[int, Fraction]
Terms = list[tuple[Fraction, Fraction]]


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


@dataclass(frozen=True, eq=False)
class Attack:
    """The attacker's playbook: `faults` first, then `guarantee` where there are none."""

    playbook: Playbook
    policies: Sequence[Sequence[Sequence[float]]]  # weights of the actions, indexed [n][θ][a]
    beliefs: Sequence[Sequence[float]]  # weights of the intents, indexed [n][θ]
    claims: Sequence[float]  # by node: where values are looked for first, and no more

    def faults(self) -> list[str]:
        """List what keeps the playbook from being one."""
        faults = self.playbook.faults()
        no_policy = [k for k, columns in enumerate(self.policies) if not all(map(is_distribution, columns))]
        no_belief = [k for k, belief in enumerate(self.beliefs) if not is_distribution(belief)]
        faults += named(no_policy, "has a policy that is no distribution over what can be chosen")
        faults += named(no_belief, "has a belief that is no distribution over the intents")
        if any(has_small(part) for columns in [self.beliefs, *self.policies] for part in columns):
            faults.append(SMALL)
        if faults:  # what follows needs distributions
            return faults
        lonely = [k for k, node in enumerate(self._nodes) if not node.keeps_together]
        broken = [k for k, parts in enumerate(self._splits) if not all(part.is_made_up for part in parts.values())]
        faults = named(lonely, "lets an intent that it rules out do what no other does")
        faults += named(broken, "moves on with shares that do not make up the posterior")
        return faults + [
            f"start {k} begins with shares that do not make up the prior"
            for k, part in self._begun.items()
            if not part.is_made_up
        ]

    def guarantee(self) -> Guarantee:
        """Evaluate a playbook without faults against every defender."""
        least = min([ZERO, *(_least(self.playbook.stage(k), node) for k, node in enumerate(self._nodes))])
        below, above = self.playbook.game.length
        worst = above * least
        rows = [_rows(self.playbook, k, node, self._splits[k], worst) for k, node in enumerate(self._nodes)]
        found = Process(rows).enclose(0, [-claim for claim in self.claims])  # of what the defender gains
        values = [-high for high in found.high]
        bound = sum((part.worth(values, worst) for part in self._begun.values()), ZERO)
        error = found.width + (below - above) * least  # mass strays once at most, so W counts once at most
        return Guarantee(bound, [(value,) for value in values], error)

    @cached_property
    def _nodes(self) -> list[Node]:
        return [
            Node(
                list(zip(*map(normalised, columns), strict=True)),
                {theta: b for theta, b in enumerate(normalised(belief)) if b},
            )
            for columns, belief in zip(self.policies, self.beliefs, strict=True)
        ]

    @cached_property
    def _splits(self) -> list[dict[int, Split]]:
        """Per node, what becomes of the posterior after each observation that is needed."""
        game, splits = self.playbook.game, []
        for place, moves, node in zip(self.playbook.places, self.playbook.moves, self._nodes, strict=True):
            here = {}
            for i, (seen, shares) in enumerate(zip(game.at(place).observations, moves, strict=True)):
                if not game.over(game.after(place, seen)) and any((posterior := node.posterior(seen)).values()):
                    here[i] = split(posterior, shares, self._nodes)
            splits.append(here)
        return splits

    @cached_property
    def _begun(self) -> dict[int, Split]:
        """By start at which play goes on, what becomes of the prior."""
        starts = self.playbook.game.starts
        return {
            k: split(dict(enumerate(starts[k][1])), shares, self._nodes) for k, shares in self.playbook.begun().items()
        }


def read_attack(contents: Contents, game: Game) -> Attack:
    """Read the attacker's playbook of a file; raises as `read_playbook` does."""
    playbook, n_t = read_playbook(contents, game, "attacker"), game.n_intents
    n = len(playbook)
    tape = contents.tape("attacker_policies", contents.floats("attacker_policies", None))
    flat = [tape.take(playbook.stage(k).n_a * n_t) for k in range(n)]
    tape.end()
    beliefs = contents.floats("attacker_beliefs", n, n_t)
    return Attack(
        playbook,
        [[policy[theta::n_t] for theta in range(n_t)] for policy in flat],
        [beliefs[k * n_t : (k + 1) * n_t] for k in range(n)],
        contents.floats("attacker_claims", n),
    )


def _least(stage: Stage, node: Node) -> Fraction:
    """Return the least that the stage can bring to any intent that plays as the node does."""
    return min(
        dot((chances[theta], by_d[d][theta]) for chances, by_d in zip(node.policy, stage.reward, strict=True))
        for d in range(stage.n_d)
        for theta in range(len(node.policy[0]))
    )


def _rows(playbook: Playbook, k: int, node: Node, splits: Mapping[int, Split], worst: Fraction) -> list[Row]:
    """Return the defender's choices at a node; what it gains is what the attacker loses."""
    game, stage = playbook.game, playbook.stage(k)
    plan = [
        (a, theta, chances[theta] * b)
        for a, chances in enumerate(node.policy)
        for theta, b in node.belief.items()
        if chances[theta]
    ]
    strays: list[Terms] = [[] for _ in range(stage.n_d)]
    moves: list[dict[int, Terms]] = [{} for _ in range(stage.n_d)]
    for i, parts in splits.items():
        for d, chance in stage.observations[i].weight.items():
            weight = game.discount * chance
            strays[d].append((weight * parts.stray, worst))
            for j, share in parts.meant.items():
                moves[d].setdefault(j, []).append((weight, share))
    return [
        Row.of(
            [-dot([*strays[d], *((mass, stage.reward[a][d][theta]) for a, theta, mass in plan)])],
            {j: dot(pairs) for j, pairs in moves[d].items()},
        )
        for d in range(stage.n_d)
    ]


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
