"""What the attacker's playbook secures: per node, the least that a defender who sees the nodes can concede.

Beliefs b and policies π are divided by their sums. After observation i at a node the posterior is
β_i(θ) = Σ_a mass[i, a] π(a | θ) b(θ), and the shares φ make σ_i(θ) = Σ_j φ_ij b_j(θ) of it: the attacker of θ goes to j
with probability φ_ij b_j(θ) / σ_i(θ). Of what arrives at j, λ_ij φ_ij b_j with

    λ_ij = min { β_i(θ) / σ_i(θ) : b_j(θ) > 0 }

is what the node was made for. The rest, stray_i = Σ_θ β_i(θ) − Σ_j λ_ij φ_ij, plays on where it was not meant to, worth
at least W = N · min(0, min over n, d, θ of Σ_a π_n(a | θ) r(a, d, θ)) per unit. So

    v(n) = min_d  Σ_{a,θ} π(a | θ) b(θ) r(a, d, θ) + γ Σ_i weight[i, d] ( Σ_j λ_ij φ_ij v(j) + stray_i W ),
    L = Σ_s ( Σ_j λ_sj φ_sj v(j) + stray_s W ),

over the observations and the starts after which play goes on; at a start β is the prior P0(s, ·).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ncirl.exact.game import Game
from ncirl.exact.playbook import Playbook, named, read_playbook
from ncirl.exact.process import Process, Row
from ncirl.exact.rationals import TOLERANCE, ZERO, distribution, dot, exact
from ncirl.exact.reading import Contents

__all__ = ["Secured", "secured"]

Masses = Mapping[int, Fraction]  # positive entries by intent or by node


@dataclass(frozen=True)
class Secured:
    """What was found; without faults, lower ends of what is secured, and how far they may be from it.

    Attributes
    ----------
    lower : Fraction or None
        L, None where there are faults.
    values : tuple of Fraction
        v(n).
    claims : sequence of float
        What the nodes claim.
    """

    faults: tuple[str, ...]
    nodes: int
    claims: Sequence[float]
    lower: Fraction | None = None
    values: tuple[Fraction, ...] = ()
    error: Fraction = ZERO


@dataclass(frozen=True)
class _Node:
    """How a node plays: π by action and intent, and its belief, positive entries only."""

    policy: Sequence[Sequence[Fraction]]  # indexed [a][θ]
    belief: Masses


@dataclass(frozen=True)
class _Split:
    """What becomes of a posterior: λφ by node, and what goes astray."""

    meant: Masses
    stray: Fraction


def secured(contents: Contents, game: Game) -> Secured:
    """Evaluate the attacker's playbook of a file against every defender.

    Raises
    ------
    InputError
        When arrays are missing, do not fit together or the game, or point nowhere.
    """
    playbook = read_playbook(contents, game, "attacker")
    n = len(playbook)
    claims = contents.floats("attacker_claims", n)
    nodes, faults = _nodes(contents, playbook)
    faults = playbook.faults() + faults
    if faults:
        return Secured(tuple(faults), n, claims)
    splits, broken = [], []
    for k, node in enumerate(nodes):
        found = _splits(playbook, k, node, nodes)
        if found is None:
            broken.append(k)
        else:
            splits.append(found)
    faults = named(broken, "moves on with shares that do not make up the posterior")
    begun = []
    for k, ((state, mass), shares) in enumerate(zip(game.starts, playbook.starts, strict=True)):
        if not game.over(game.beginning(state)):
            split = _split(dict(enumerate(mass)), shares, nodes)
            if split is None:
                faults.append(f"start {k} begins with shares that do not make up the prior")
            else:
                begun.append(split)
    if faults:
        return Secured(tuple(faults), n, claims)
    worst = game.length * min((_worst(playbook, k, node) for k, node in enumerate(nodes)), default=ZERO)
    rows = [_rows(playbook, k, node, splits[k], worst) for k, node in enumerate(nodes)]
    found = Process(rows).enclose(0, [-claim for claim in claims])  # of what the defender gains
    values = tuple(-high for high in found.high)
    lower = sum(
        (dot((share, values[j]) for j, share in split.meant.items()) + split.stray * worst for split in begun), ZERO
    )
    wide = max((high - low for low, high in zip(found.low, found.high, strict=True)), default=ZERO)
    return Secured((), n, claims, lower, values, wide)


def _nodes(contents: Contents, playbook: Playbook) -> tuple[list[_Node], list[str]]:
    """Read how the nodes play, and what is wrong with it."""
    n_t = playbook.game.n_intents
    policies = contents.tape("attacker_policies", contents.floats("attacker_policies", None))
    beliefs = contents.floats("attacker_beliefs", len(playbook), n_t)
    nodes, no_belief, no_policy, lonely = [], [], [], []
    for k in range(len(playbook)):
        flat = policies.take(playbook.stage(k).n_a * n_t)
        belief = distribution(beliefs[k * n_t : (k + 1) * n_t])
        columns = [distribution(flat[theta::n_t]) for theta in range(n_t)]
        if belief is None:
            no_belief.append(k)
        if None in columns:
            no_policy.append(k)
        if belief is None or None in columns:
            continue
        node = _Node(
            list(zip(*(column or () for column in columns), strict=True)),
            {theta: b for theta, b in enumerate(belief) if b},
        )
        if any(any(chances) and not any(chances[theta] for theta in node.belief) for chances in node.policy):
            lonely.append(k)
        nodes.append(node)
    policies.end()
    faults = named(no_belief, "has a belief that is no distribution")
    faults += named(no_policy, "has a policy that is no distribution")
    faults += named(lonely, "lets an intent that it rules out do what no other does")
    return nodes, faults


def _splits(playbook: Playbook, k: int, node: _Node, nodes: Sequence[_Node]) -> list[_Split | None] | None:
    """Return what becomes of the posterior after each observation (None: play ends); None if shares do not make it up."""
    game, place = playbook.game, playbook.places[k]
    splits: list[_Split | None] = []
    for seen, shares in zip(playbook.stage(k).observations, playbook.moves[k], strict=True):
        posterior = {
            theta: b * dot((chance, node.policy[a][theta]) for a, chance in seen.mass.items())
            for theta, b in node.belief.items()
        }
        needed = any(posterior.values()) and not game.over(game.after(place, seen))
        split = _split(posterior, shares, nodes) if needed else None
        if needed and split is None:
            return None
        splits.append(split)
    return splits


def _split(posterior: Masses, shares: Mapping[int, float], nodes: Sequence[_Node]) -> _Split | None:
    """Divide a posterior among nodes; None unless the shares make it up."""
    given = exact(list(shares.values())) or ()
    positive = [(j, share) for j, share in zip(shares, given, strict=True) if share]
    made: dict[int, list[tuple[Fraction, Fraction]]] = {}
    for j, share in positive:
        for theta, b in nodes[j].belief.items():
            made.setdefault(theta, []).append((share, b))
    sums = {theta: dot(terms) for theta, terms in made.items()}
    missed = sum((abs(posterior.get(t, ZERO) - sums.get(t, ZERO)) for t in posterior.keys() | sums.keys()), ZERO)
    if not positive or missed > TOLERANCE:
        return None
    ratio = {theta: posterior.get(theta, ZERO) / total for theta, total in sums.items()}
    meant = {j: share * min(ratio[theta] for theta in nodes[j].belief) for j, share in positive}
    return _Split(meant, sum(posterior.values(), ZERO) - sum(meant.values(), ZERO))


def _worst(playbook: Playbook, k: int, node: _Node) -> Fraction:
    """Return the least that a stage at a node can bring to any intent."""
    stage, n_t = playbook.stage(k), playbook.game.n_intents
    return min(
        dot((chances[theta], rewards[d][theta]) for chances, rewards in zip(node.policy, stage.reward, strict=True))
        for d in range(stage.n_d)
        for theta in range(n_t)
    )


def _rows(playbook: Playbook, k: int, node: _Node, splits: Sequence[_Split | None], worst: Fraction) -> list[Row]:
    """Return the defender's choices at a node; what it gains is what the attacker loses."""
    game, stage = playbook.game, playbook.stage(k)
    plan = [
        (a, theta, chances[theta] * b)
        for a, chances in enumerate(node.policy)
        for theta, b in node.belief.items()
        if chances[theta]
    ]
    rows = []
    for d in range(stage.n_d):
        gains = [(mass, stage.reward[a][d][theta]) for a, theta, mass in plan]
        terms: dict[int, list[tuple[Fraction, Fraction]]] = {}
        for seen, split in zip(stage.observations, splits, strict=True):
            if split is not None and d in seen.weight:
                weight = game.discount * seen.weight[d]
                gains.append((weight * split.stray, worst))
                for j, share in split.meant.items():
                    terms.setdefault(j, []).append((weight, share))
        rows.append(Row.of([-dot(gains)], {j: dot(pairs) for j, pairs in terms.items()}))
    return rows
