"""NC-PBVI as printed: it runs, it plays, and it is wrong in the ways the errata say."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from ncirl import (
    NCPBVI,
    Certified,
    Game,
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
    assert solution.attacker_estimate == pytest.approx(3 / 5, abs=LP_ACCURACY)
    assert solution.defender_estimate == pytest.approx(13 / 30, abs=LP_ACCURACY)
    assert solution.defender_estimate < 22 / 45 < solution.attacker_estimate
    assert solution.claim.startswith("Nothing is certified")
    assert "the attacker estimates 0.6 and the defender 0.433333" in solution.claim
    assert "unbounded" not in solution.claim
    assert len(solution.trace) == PRINTED.expansions + 1


def test_the_printed_defender_concedes_more_than_the_value() -> None:
    game = games.aumann_maschler_1(2 / 5, 1 / 3, horizon=6)
    value = solve(game, HistoryLP()).lower
    printed = replace(solve(game.with_horizon(None), PRINTED), game=game)
    corrected = solve(game, NCPBVI())
    conceded = {s: best_response_to_defender(game, s.defender_strategy()).value for s in (printed, corrected)}
    secured = {s: best_response_to_attacker(game, s.attacker_strategy()).value for s in (printed, corrected)}
    assert conceded[printed] > value + 0.1
    assert secured[printed] < value - 0.05
    assert conceded[corrected] == pytest.approx(value, abs=LP_ACCURACY)
    assert secured[corrected] == pytest.approx(value, abs=LP_ACCURACY)


def test_an_unbounded_program_is_told() -> None:
    """Rewards below −1: λ may grow for ever, w(e_θ) being less than 1."""
    game = repeated({"t1": [[-3, -2], [-2, -3]], "t2": [[-2, -3], [-3, -2]]}, discount=0.9)
    solution = solve(game, PRINTED)
    assert math.isnan(solution.defender_estimate)
    assert "unbounded" in solution.claim
    assert (solution.lower, solution.upper) == pytest.approx((-30.0, 0.0))
    pair = solution.attacker_strategy(), solution.defender_strategy()
    assert simulate(game, *pair, episodes=5, rng=0).mean < 0


def test_only_the_papers_games_are_taken() -> None:
    with pytest.raises(InputError, match="games that observe actions; use 'corrected'"):
        solve(games.big_match(observes="outcomes"), PRINTED)
    with pytest.raises(InputError, match="needs a discount below 1; use 'corrected'"):
        solve(games.patrol(discount=1.0, horizon=2), PRINTED)
    with pytest.raises(InputError, match=r"knows no horizon, and game .* ends after 3 stages; use 'corrected'"):
        solve(games.patrol(discount=0.9, horizon=3), PRINTED)


@pytest.mark.parametrize("game", [games.aumann_maschler_1(2 / 5, 1 / 3), games.big_match(1 / 2, 0.9), games.patrol()])
def test_its_bounds_are_bounds(game: Game) -> None:
    solution = solve(game, NCPBVI(variant="printed", expansions=1))
    proved = solve(game, Certified(gap=0.01))
    assert solution.lower <= proved.lower
    assert proved.upper <= solution.upper


def test_read_with_charity_play_goes_on_at_the_successor() -> None:
    """In the Big Match what the attacker wins is at s': the letter forgets it, charity does not."""
    game = games.big_match(1 / 2, 1 / 2)
    value = solve(game, Certified(gap=1e-3)).lower
    literal, charitable = (solve(game, NCPBVI(variant=v, expansions=4)) for v in ("printed", "charitable"))  # type: ignore[arg-type]
    assert literal.attacker_estimate < value - 0.2
    assert abs(charitable.attacker_estimate - value) < abs(literal.attacker_estimate - value)
    assert charitable.claim.startswith("Nothing is certified")


def test_charity_changes_nothing_where_there_is_one_state() -> None:
    game = games.aumann_maschler_1(2 / 5, 1 / 3)
    literal, charitable = (solve(game, NCPBVI(variant=v)) for v in ("printed", "charitable"))  # type: ignore[arg-type]
    assert charitable.attacker_estimate == pytest.approx(literal.attacker_estimate, abs=LP_ACCURACY)
    assert charitable.defender_estimate == pytest.approx(literal.defender_estimate, abs=LP_ACCURACY)
