"""NC-PBVI as printed against corrected: how far the values are off, how much either strategy gives away."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isnan
from typing import get_args

from ncirl import NCPBVI, Game, HistoryLP, best_response_to_attacker, best_response_to_defender, games, solve
from ncirl.attack_graphs.random_graphs import random_attack_graph
from ncirl.solvers.nc_pbvi.nc_pbvi import Variant

__all__ = ["Row", "contests", "run"]

DISCOUNT = 1 / 2
EXPANSIONS = 4
GRAPHS = (2, 3, 13)  # seeds whose exact program is small


@dataclass(frozen=True)
class Row:
    """One game under one variant.

    Attributes
    ----------
    value : float
        Of the game with its horizon, exactly.
    beyond : float
        How far the value without a horizon, of which alone the printed programs speak, may be from it.
    lower, upper : float
        The variant's two numbers.
    attacker_loses, defender_loses : float
        What the attacker secures less, the defender concedes more than the value, each against its best response.
    """

    game: str
    variant: str
    value: float
    beyond: float
    lower: float
    upper: float
    attacker_loses: float
    defender_loses: float


def contests() -> dict[str, Game]:
    """Return the games: the classics, cut after six stages, and attack graphs, cut after three."""
    graphs = {
        f"attack graph {seed}": random_attack_graph(6, intents=3, discount=DISCOUNT, horizon=3, rng=seed).game()
        for seed in GRAPHS
    }
    return {
        "Aumann–Maschler I, p = 1/2": games.aumann_maschler_1(1 / 2, 1 / 3, horizon=6),
        "Aumann–Maschler I, p = 2/5": games.aumann_maschler_1(2 / 5, 1 / 3, horizon=6),
        "Aumann–Maschler II, p = 1/2": games.aumann_maschler_2(1 / 2, 1 / 3, horizon=6),
        "Big Match, p = 1/2": games.big_match(1 / 2, DISCOUNT, horizon=6),
        "patrol": games.patrol(discount=DISCOUNT, horizon=6),
        **graphs,
    }


def run(expansions: int = EXPANSIONS) -> list[Row]:
    """Solve every game by every variant; return one row each."""
    rows = []
    for name, game in contests().items():
        value = solve(game, HistoryLP()).lower
        endless = solve(game.with_horizon(None), NCPBVI(expansions=expansions))
        beyond = max(abs(endless.lower - value), abs(endless.upper - value))
        for variant in get_args(Variant):
            solver = NCPBVI(expansions=expansions, variant=variant)
            solved = game if variant == "corrected" else game.with_horizon(None)  # their horizon counts in play only
            solution = replace(solve(solved, solver), game=game)
            numbers = solution.trace[-1]
            secured = best_response_to_attacker(game, solution.attacker_strategy()).value
            conceded = best_response_to_defender(game, solution.defender_strategy()).value
            rows.append(Row(name, variant, value, beyond, *numbers, value - secured, conceded - value))
    return rows


def main() -> None:
    """Print the table, in Markdown."""
    sides = [f"{side} {what}" for what in ("number", "loses") for side in ("attacker", "defender")]
    columns = ["game", "value", "beyond", "variant", *sides]
    print(f"\n| {' | '.join(columns)} |")
    print("|---" * len(columns) + "|")
    for row in run():
        lower, upper = (f"{x:.4f} ({x - row.value:+.4f})" if not isnan(x) else "none" for x in (row.lower, row.upper))
        losses = " | ".join(f"{max(loss, 0.0):.4f}" for loss in (row.attacker_loses, row.defender_loses))
        print(f"| {row.game} | {row.value:.4f} | {row.beyond:.4f} | {row.variant} | {lower} | {upper} | {losses} |")


if __name__ == "__main__":
    main()
