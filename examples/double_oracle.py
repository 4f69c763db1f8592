"""The double oracle on top of cross-play: best responses to mixtures, until neither side gains by another.

    python examples/double_oracle.py

Each side begins with one strategy. Every round the table of all against all is solved as a matrix game, and each side
adds its best response to the other's mixture. What the responses get bounds the value of the game from both sides; when
they meet, the mixtures are an equilibrium. Replace the exact responses by learners and this is the skeleton of PSRO.
"""

from __future__ import annotations

import sys

import ncirl
from ncirl.evaluation import AnsweringAttacker, AnsweringDefender, cross_play
from ncirl.strategies import uniform_attacker, uniform_defender

ROUNDS, CLOSE = 60, 1e-6


def double_oracle(game: ncirl.Game, rounds: int = ROUNDS) -> tuple[float, float]:
    """Return bounds on the value, printing them round by round."""
    attackers, defenders = [uniform_attacker(game)], [uniform_defender(game)]
    lower, upper = float("-inf"), float("inf")
    for k in range(rounds):
        meta = cross_play(game, attackers, defenders).meta_equilibrium()
        secured = ncirl.best_response_to_attacker(game, meta.attacker)
        conceded = ncirl.best_response_to_defender(game, meta.defender)
        lower, upper = max(lower, secured.value), min(upper, conceded.value)
        print(f"{k + 1:3}: {lower:.6f} <= value <= {upper:.6f}, in the table {meta.value:.6f}")
        if upper - lower <= CLOSE:
            break
        attackers.append(AnsweringAttacker(game, meta.defender))
        defenders.append(AnsweringDefender(game, meta.attacker))
    return lower, upper


def main(name: str = "aumann-maschler-1", stages: int = 2) -> tuple[float, float]:
    """Run it on a built-in game of a few stages, without discount."""
    return double_oracle(ncirl.games.BUILTIN[name]().with_horizon(stages, discount=1.0))


if __name__ == "__main__":
    main(*sys.argv[1:2], *(int(word) for word in sys.argv[2:3]))
