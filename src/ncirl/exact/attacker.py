"""What the attacker's playbook secures: per node, the least that a defender who sees the nodes can concede.

A node plans π(a | θ) b(θ). Of the posterior after observation i (`shares`) λ_ij φ_ij is at node j as meant; the rest,
stray_i, is worth at least

    W = N · min(0, min over n, d, θ of Σ_a π_n(a | θ) r(a, d, θ))

per unit, wherever it plays on. So

    v(n) = min_d  Σ_{a,θ} π(a | θ) b(θ) r(a, d, θ) + γ Σ_i weight[i, d] ( Σ_j λ_ij φ_ij v(j) + stray_i W ),
    L = Σ_s ( Σ_j λ_sj φ_sj v(j) + stray_s W ),

over the observations and the starts after which play goes on; a start's posterior is the prior P0(s, ·).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ncirl.exact.game import Game
from ncirl.exact.playbook import Playbook, named, read_playbook
from ncirl.exact.process import Process, Row
from ncirl.exact.rationals import ZERO, dot
from ncirl.exact.reading import Contents
from ncirl.exact.shares import Node, Split, read_nodes, split
from ncirl.exact.stage import Stage

__all__ = ["Secured", "secured"]


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


def secured(contents: Contents, game: Game) -> Secured:
    """Evaluate the attacker's playbook of a file against every defender.

    Raises
    ------
    InputError
        When arrays are missing, do not fit together or the game, or point nowhere.
    """
    playbook = read_playbook(contents, game, "attacker")
    claims = contents.floats("attacker_claims", len(playbook))
    nodes, faults = read_nodes(contents, playbook)
    faults = playbook.faults() + faults
    if faults:
        return Secured(tuple(faults), len(playbook), claims)
    splits = [_splits(playbook, k, nodes) for k in range(len(playbook))]
    begun = {
        k: split(dict(enumerate(mass)), playbook.starts[k], nodes)
        for k, (state, mass) in enumerate(game.starts)
        if not game.over(game.beginning(state))
    }
    broken = [k for k, found in enumerate(splits) if found is None]
    faults = named(broken, "moves on with shares that do not make up the posterior")
    faults += [f"start {k} begins with shares that do not make up the prior" for k in begun if begun[k] is None]
    if faults:
        return Secured(tuple(faults), len(playbook), claims)
    worst = game.length * min([ZERO, *(_least(playbook.stage(k), node) for k, node in enumerate(nodes))])
    rows = [_rows(playbook, k, node, splits[k] or {}, worst) for k, node in enumerate(nodes)]
    found = Process(rows).enclose(0, [-claim for claim in claims])  # of what the defender gains
    values = tuple(-high for high in found.high)
    lower = sum((part.worth(values, worst) for part in begun.values() if part), ZERO)
    return Secured((), len(playbook), claims, lower, values, found.width)


def _splits(playbook: Playbook, k: int, nodes: Sequence[Node]) -> dict[int, Split] | None:
    """Return what becomes of the posterior after each observation that is needed; None if shares do not make it up."""
    splits = {}
    links = zip(playbook.stage(k).observations, playbook.moves[k], strict=True)
    for i, (seen, shares) in enumerate(links):
        posterior = nodes[k].posterior(seen)
        if any(posterior.values()) and not playbook.game.over(playbook.game.after(playbook.places[k], seen)):
            parts = split(posterior, shares, nodes)
            if parts is None:
                return None
            splits[i] = parts
    return splits


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
    rows = []
    for d in range(stage.n_d):
        gains = [(mass, stage.reward[a][d][theta]) for a, theta, mass in plan]
        moves: dict[int, list[tuple[Fraction, Fraction]]] = {}
        for i, parts in splits.items():
            weight = game.discount * stage.observations[i].weight.get(d, ZERO)
            gains.append((weight * parts.stray, worst))
            for j, share in parts.meant.items():
                moves.setdefault(j, []).append((weight, share))
        rows.append(Row.of([-dot(gains)], {j: dot(pairs) for j, pairs in moves.items()}))
    return rows
