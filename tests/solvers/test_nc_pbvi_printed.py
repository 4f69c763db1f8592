"""NC-PBVI as printed: it runs, it plays, and it is wrong in the ways the errata say."""

from __future__ import annotations

import math

import pytest

from ncirl import (
    NCPBVI,
    HistoryLP,
    InputError,
    best_response_to_attacker,
    best_response_to_defender,
    games,
    simulate,
    solve,
)
from ncirl.games.classics import repeated

LP_ACCURACY = 1e-6
PRINTED = NCPBVI(variant="printed")


def test_the_two_estimates_cross_and_are_called_estimates() -> None:
    """Aumann–Maschler I, γ = 1/3, p = 2/5: the value is 22/45, the printed primal says 3/5, its dual 13/30."""
    solution = solve(games.aumann_maschler_1(2 / 5, 1 / 3), PRINTED)
    assert solution.lower == pytest.approx(3 / 5, abs=LP_ACCURACY)
    assert solution.upper == pytest.approx(13 / 30, abs=LP_ACCURACY)
    assert solution.upper < 22 / 45 < solution.lower
    assert solution.claim.startswith("Nothing is certified")
    assert "unbounded" not in solution.claim
    assert len(solution.trace) == PRINTED.expansions + 1


def test_the_printed_defender_concedes_more_than_the_value() -> None:
    game = games.aumann_maschler_1(2 / 5, 1 / 3, horizon=6)
    value = solve(game, HistoryLP()).lower
    printed, corrected = (solve(game, NCPBVI(variant=kind)) for kind in ("printed", "corrected"))
    conceded = {s: best_response_to_defender(game, s.defender_strategy()).value for s in (printed, corrected)}
    secured = {s: best_response_to_attacker(game, s.attacker_strategy()).value for s in (printed, corrected)}
    assert conceded[printed] > value + 0.1
    assert secured[printed] < value - 0.05
    assert conceded[corrected] == pytest.approx(value, abs=LP_ACCURACY)
    assert secured[corrected] == pytest.approx(value, abs=LP_ACCURACY)


def test_an_unbounded_program_is_told() -> None:
    """Rewards below −1: λ may grow for ever, w(e_θ) being less than 1."""
    game = repeated({"t1": [[-3, -2], [-2, -3]], "t2": [[-2, -3], [-3, -2]]}, discount=0.9, horizon=3)
    solution = solve(game, PRINTED)
    assert math.isnan(solution.upper)
    assert "unbounded" in solution.claim
    pair = solution.attacker_strategy(), solution.defender_strategy()
    assert simulate(game, *pair, episodes=5, rng=0).mean < 0


def test_only_the_papers_games_are_taken() -> None:
    with pytest.raises(InputError, match="games that observe actions; use 'corrected'"):
        solve(games.big_match(observes="outcomes"), PRINTED)
    with pytest.raises(InputError, match="needs a discount below 1; use 'corrected'"):
        solve(games.patrol(discount=1.0, horizon=2), PRINTED)
