"""What every certified solution must satisfy, games of all kinds, and an exact value to hold bounds against."""

from __future__ import annotations

import numpy as np
import pytest

from ncirl import Game, HistoryLP, SizeError, Status, solve
from ncirl.playbook.solution import CertifiedSolution
from ncirl.playbook.verify import NOTHING, Certificate, verify
from random_games import random_game

__all__ = ["EXACT", "RECOMPUTED", "certify", "enclosure", "largest_reward", "mixed_game"]

EXACT = 1e-9  # times the largest payoff: how far a bound may be on the wrong side of the exact value
RECOMPUTED = 1e-6  # times the largest reward: how far verification may differ from what is claimed
COLUMNS = 4000  # of the oracle's programs
LONGEST = 8  # stages the oracle looks ahead where play does not end

KINDS = (
    {"observes": "actions", "horizon": 2, "discount": 1.0},
    {"observes": "outcomes", "horizon": 2, "discount": 0.75},
    {"observes": "actions", "horizon": 3, "discount": 0.75},
    {"observes": "outcomes", "horizon": 3, "discount": 1.0},
    {"observes": "actions", "horizon": None, "discount": 0.3},
    {"observes": "outcomes", "horizon": None, "discount": 0.3},
    {"observes": "actions", "horizon": None, "discount": 0.7},
    {"observes": "outcomes", "horizon": None, "discount": 0.6},
)


def mixed_game(seed: int) -> Game:
    """Draw a game of one kind after the other: 1-4 intents, 1-3 states and starts, 1-3 actions, signals, ends."""
    rng = np.random.default_rng([seed, 2019])
    n_states = int(rng.integers(1, 4))
    return random_game(
        seed,
        n_states=n_states,
        n_actions=(int(rng.integers(1, 4)), int(rng.integers(1, 4))),
        n_intents=int(rng.integers(1, 5)),
        signals=bool(rng.integers(2)),
        terminal=bool(rng.integers(2)),
        n_starts=int(rng.integers(1, n_states + 1)),
        **KINDS[seed % len(KINDS)],
    )


def largest_reward(game: Game) -> float:
    """Return the largest |r| of a game."""
    return max(map(abs, _rewards(game)))


def enclosure(game: Game) -> tuple[float, float]:
    """Enclose the value by the history program; where play does not end, by as many stages as fit, and the rest."""
    if game.horizon is not None:
        oracle = solve(game, HistoryLP())
        return oracle.lower, oracle.upper
    low, high = _rewards(game)
    for horizon in range(LONGEST, 0, -1):
        try:
            oracle = solve(game.with_horizon(horizon), HistoryLP(max_columns=COLUMNS))
        except SizeError:
            continue
        rest = game.discount**horizon / (1.0 - game.discount)
        return oracle.lower + rest * low, oracle.upper + rest * high
    raise AssertionError(f"one stage of {game} is too large for the oracle")


def certify(solution: CertifiedSolution, *, gap: float) -> Certificate:
    """Check what holds for every solution, whatever the game; return the certificate."""
    scale = largest_reward(solution.game)
    found = verify(solution)
    assert found.holds, found.faults
    assert found.lower == pytest.approx(solution.lower, abs=RECOMPUTED * scale)
    assert found.upper == pytest.approx(solution.upper, abs=RECOMPUTED * scale)
    np.testing.assert_allclose(found.per_intent, solution.per_intent, atol=RECOMPUTED * scale, rtol=0)
    for claims, values in (
        (solution.attacker_playbook.claims, found.attacker_values),
        (solution.defender_playbook.claims, found.defender_values),
    ):
        np.testing.assert_allclose(claims, values, atol=EXACT * scale + NOTHING, rtol=0)
    assert solution.lower <= solution.upper + EXACT * scale
    if solution.status is Status.GAP_REACHED:
        assert solution.gap <= gap * (1 + RECOMPUTED) + EXACT * scale
    else:
        assert solution.status in {Status.TIME_LIMIT, Status.STALLED, Status.INTERRUPTED}
    return found


def _rewards(game: Game) -> tuple[float, float]:
    """Return the least and the largest reward of a stage; that of what has ended is 0."""
    stages = [game.stage(state) for state in game.explore()]
    rewards = [stage.reward.ravel() if not stage.is_terminal else np.zeros(1) for stage in stages]
    return float(min(r.min() for r in rewards)), float(max(r.max() for r in rewards))
