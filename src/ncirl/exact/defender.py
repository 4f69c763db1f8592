"""What the defender's playbook concedes: per node and intent, the most that an attacker who sees the nodes can get.

With the mix D, and P_ij the chance of node j after observation i, each divided by its sum,

    α(n, θ) = max_a  Σ_d D(d) r(a, d, θ) + γ Σ_i mass[i, a] (weight[i]·D) Σ_j P_ij α(j, θ),
    U = Σ_s Σ_θ P0(s, θ) Σ_j w_sj α(j, θ),        U(θ) = Σ_s P0(s | θ) Σ_j w_sj α(j, θ),

with P0(s) for P0(s | θ) where P0(θ) = 0. A row of moves is needed for each observation that some action of the attacker
and the mix make possible and after which play goes on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ncirl.exact.game import Game
from ncirl.exact.playbook import Playbook, named, read_playbook
from ncirl.exact.process import Process, Row
from ncirl.exact.rationals import ZERO, distribution, dot
from ncirl.exact.reading import Contents

__all__ = ["Conceded", "conceded"]

Chances = Mapping[int, Fraction]


@dataclass(frozen=True)
class Conceded:
    """What was found; without faults, upper ends of what is conceded, and how far they may be from it.

    Attributes
    ----------
    upper : Fraction or None
        U, None where there are faults.
    per_intent : tuple of Fraction
        U(θ).
    values : tuple of tuples of Fraction
        α(n, θ), indexed [n][θ].
    claims : sequence of float
        What the nodes claim, [n][θ] laid flat.
    """

    faults: tuple[str, ...]
    nodes: int
    claims: Sequence[float]
    upper: Fraction | None = None
    per_intent: tuple[Fraction, ...] = ()
    values: tuple[tuple[Fraction, ...], ...] = ()
    error: Fraction = ZERO


def conceded(contents: Contents, game: Game) -> Conceded:
    """Evaluate the defender's playbook of a file against every attacker.

    Raises
    ------
    InputError
        When arrays are missing, do not fit together or the game, or point nowhere.
    """
    playbook = read_playbook(contents, game, "defender")
    n, n_t = len(playbook), game.n_intents
    claims = contents.floats("defender_claims", n, n_t)
    mixes = _read_mixes(contents, playbook)
    faults = playbook.faults()
    faults += named((k for k, mix in enumerate(mixes) if mix is None), "has a mix that is no distribution")
    if faults:
        return Conceded(tuple(faults), n, claims)
    rows = [_rows(playbook, node, mix or {}) for node, mix in enumerate(mixes)]
    starts = [
        {} if game.over(game.beginning(state)) else _drawn(weights)
        for (state, _), weights in zip(game.starts, playbook.starts, strict=True)
    ]
    broken = [node for node, choices in enumerate(rows) if choices is None]
    faults = named(broken, "moves on with probabilities that do not sum to one")
    faults += [f"start {k} begins with probabilities that do not sum to one" for k, p in enumerate(starts) if p is None]
    if faults:
        return Conceded(tuple(faults), n, claims)
    process = Process([choices or [] for choices in rows])
    found = [process.enclose(theta, claims[theta::n_t]) for theta in range(n_t)]
    upper, per_intent = _averages(game, [start or {} for start in starts], [column.high for column in found])
    values = tuple(tuple(column.high[node] for column in found) for node in range(n))
    return Conceded((), n, claims, upper, per_intent, values, max(column.width for column in found))


def _read_mixes(contents: Contents, playbook: Playbook) -> list[Chances | None]:
    """Return the positive entries of each node's mix; None where it is no distribution."""
    tape = contents.tape("defender_mixes", contents.floats("defender_mixes", None))
    mixes = [_drawn(dict(enumerate(tape.take(playbook.stage(node).n_d)))) for node in range(len(playbook))]
    tape.end()
    return mixes


def _drawn(weights: Mapping[int, float]) -> Chances | None:
    """Return weights as chances, None if they are none."""
    chances = distribution(list(weights.values()))
    return None if chances is None else {k: p for k, p in zip(weights, chances, strict=True) if p}


def _rows(playbook: Playbook, node: int, mix: Chances) -> list[Row] | None:
    """Return the attacker's choices at a node; None if an observation that is needed has no chances."""
    game, stage = playbook.game, playbook.stage(node)
    moves: list[dict[int, list[tuple[Fraction, Fraction]]]] = [{} for _ in range(stage.n_a)]
    for seen, weights in zip(stage.observations, playbook.moves[node], strict=True):
        chance = dot((seen.weight[d], p) for d, p in mix.items() if d in seen.weight)
        if not (chance and seen.mass) or game.over(game.after(playbook.places[node], seen)):
            continue
        drawn = _drawn(weights)
        if drawn is None:
            return None
        for a, mass in seen.mass.items():
            for j, p in drawn.items():
                moves[a].setdefault(j, []).append((game.discount * mass * chance, p))
    return [
        Row.of(
            [dot((p, by_d[d][theta]) for d, p in mix.items()) for theta in range(game.n_intents)],
            {j: dot(pairs) for j, pairs in moves[a].items()},
        )
        for a, by_d in enumerate(stage.reward)
    ]


def _averages(
    game: Game, starts: Sequence[Chances], values: Sequence[Sequence[Fraction]]
) -> tuple[Fraction, tuple[Fraction, ...]]:
    """Return U and U(θ); `values` is indexed [θ][n]."""
    prior = [sum((mass[theta] for _, mass in game.starts), ZERO) for theta in range(game.n_intents)]
    upper, per_intent = ZERO, []
    for theta, total in enumerate(prior):
        worth = [dot((p, values[theta][j]) for j, p in start.items()) for start in starts]
        masses = [mass[theta] if total else sum(mass, ZERO) for _, mass in game.starts]
        average = dot(zip(masses, worth, strict=True))
        upper += average if total else ZERO
        per_intent.append(average / total if total else average)
    return upper, tuple(per_intent)
