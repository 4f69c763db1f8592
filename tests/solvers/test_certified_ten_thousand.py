"""Ten thousand random games, scaled and shifted, both information structures, with and without signals: no bound fails.

Each game is one that no other test draws. The value is exact where play ends, and enclosed where it does not. Whether
the bounds come close in time is not asked here: a run that is cut must return bounds that hold, or nothing.
"""

from __future__ import annotations

from contextlib import suppress

import pytest

from ncirl.errors import LimitError
from solvers.certified_checks import largest_reward, mixed_game
from solvers.test_certified_random import CHANGES, GAP, MANY, assert_valid

GAMES, BATCH = 10_000, 50
SECONDS = 5.0  # few games take longer, and the bounds of those must hold as well
UNITS = [(1.0, 0.0), *CHANGES, (-1.0, 0.25)]  # factor and shift; the last one turns the players' aims round


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("first", range(MANY, MANY + GAMES, BATCH))
def test_no_bound_fails(first: int) -> None:
    for seed in range(first, first + BATCH):
        game = mixed_game(seed)
        factor, shift = UNITS[seed % len(UNITS)]
        other = game.scaled(factor, shift)
        with suppress(LimitError):  # nothing was claimed
            assert_valid(other, GAP * largest_reward(other) / (largest_reward(game) or 1.0), SECONDS)
