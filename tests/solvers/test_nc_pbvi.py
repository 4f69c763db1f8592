"""NC-PBVI, corrected: values that are known, bounds that hold, and the step the paper's EXPAND-A cannot make."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ncirl import NCPBVI, Game, HistoryLP, InputError, games, solve
from ncirl.solvers.nc_pbvi.attacker import AttackerSide
from ncirl.solvers.nc_pbvi.side import Approximation
from random_games import random_game, started_at

CLOSE = 1e-3  # what the values of the literature are met within
LP_ACCURACY = 1e-6
ROUNDING = 1e-9


def sorin(n: int, discount: float = 0.9) -> tuple[Game, float]:
    """Return the Big Match at p_N = Nλ / (1 + Nλ) with its value, λ = 1 − γ."""
    p = n * (1 - discount) / (1 + n * (1 - discount))
    return games.big_match(p, discount), (1 - p) * (1 - discount**n) / (1 - discount)


KNOWN: dict[str, tuple[Game, float, int]] = {  # game, value, expansions
    **{
        f"aumann-maschler-1 at {name}": (games.aumann_maschler_1(p, 1 / 3), value, 4)
        for name, p, value in [
            ("1/2", 1 / 2, 1 / 2),
            ("2/5", 2 / 5, 22 / 45),
            ("1/3", 1 / 3, 4 / 9),
            ("1/4", 1 / 4, 13 / 36),
        ]
    },
    "aumann-maschler-2": (games.aumann_maschler_2(0.3), 0.0, 2),
    "big-match at 1/3": (*sorin(5), 6),
    "big-match at 1/2": (*sorin(10), 12),
    **{
        f"patrol, {n} stages": (games.patrol(discount=1.0, horizon=n), value, 6)
        for n, value in [(1, 1 / 2), (2, 7 / 8), (3, 9 / 7), (4, 5 / 3)]
    },
}


@pytest.mark.parametrize(("game", "value", "expansions"), KNOWN.values(), ids=KNOWN)
def test_known_values_are_met_from_both_sides(game: Game, value: float, expansions: int) -> None:
    solution = solve(game, NCPBVI(expansions=expansions))
    assert value - CLOSE <= solution.lower <= value + ROUNDING
    assert value - ROUNDING <= solution.upper <= value + CLOSE


@pytest.mark.slow
def test_discounted_patrol_is_met_from_both_sides() -> None:
    solution = solve(games.patrol(discount=0.9), NCPBVI(expansions=7))
    assert 0 <= solution.gap <= CLOSE
    assert solution.lower <= 3.8495
    assert solution.upper >= 3.8396


@settings(deadline=None, max_examples=20)
@given(
    seed=st.integers(0, 2**20),
    observes=st.sampled_from(["actions", "outcomes"]),
    approximation=st.sampled_from(["hull", "sawtooth"]),
    terminal=st.booleans(),
    n_starts=st.integers(1, 3),
    discount=st.sampled_from([0.5, 1.0]),
)
def test_the_exact_value_lies_between_the_bounds(
    seed: int, observes: str, approximation: Approximation, terminal: bool, n_starts: int, discount: float
) -> None:
    game = random_game(
        seed,
        n_actions=(3, 2),
        observes=observes,
        signals=observes == "outcomes",
        terminal=terminal,
        n_starts=n_starts,
        discount=discount,
    )
    exact = solve(game, HistoryLP())
    solution = solve(game, NCPBVI(expansions=2, approximation=approximation))
    assert solution.lower <= exact.upper + ROUNDING
    assert exact.lower <= solution.upper + ROUNDING
    lowers, uppers = zip(*solution.trace, strict=True)
    assert list(lowers) == sorted(lowers)
    assert list(uppers) == sorted(uppers, reverse=True)
    assert (solution.lower, solution.upper) == solution.trace[-1]


def test_more_expansions_close_the_gap() -> None:
    trace = solve(games.patrol(discount=1.0, horizon=4), NCPBVI(expansions=6)).trace
    gaps = [upper - lower for lower, upper in trace]
    assert gaps[0] > 0.05
    assert gaps[-1] < LP_ACCURACY


@pytest.mark.parametrize(
    ("game", "value", "reached"),
    [
        (games.patrol(discount=1.0, horizon=3), 9 / 7, 5 / 4),
        (games.aumann_maschler_1(1 / 2, discount=1.0, horizon=4), 9 / 7, 5 / 4),
    ],
    ids=["patrol", "aumann-maschler-1"],
)
def test_expand_as_written_may_find_nothing(
    game: Game, value: float, reached: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The best plan on a hull may split the belief into points of that hull; EXPAND-A then adds none."""
    assert solve(game, NCPBVI(expansions=6)).lower == pytest.approx(value, abs=LP_ACCURACY)
    monkeypatch.setattr(AttackerSide, "_store_most_open", lambda *_: None)  # the paper knows no such candidates
    stuck = solve(game, NCPBVI(expansions=6))
    assert {lower for lower, _ in stuck.trace} == {stuck.lower}
    assert stuck.lower == pytest.approx(reached, abs=LP_ACCURACY)


def test_the_sawtooth_is_no_better_than_the_hull() -> None:
    game = games.patrol(discount=1.0, horizon=4)
    hull, sawtooth = (solve(game, NCPBVI(expansions=6, approximation=kind)) for kind in ("hull", "sawtooth"))
    assert sawtooth.lower <= hull.lower + ROUNDING
    assert sawtooth.upper >= hull.upper - ROUNDING
    assert sawtooth.gap > hull.gap + CLOSE


def test_an_ended_game_is_worth_nothing() -> None:
    solution = solve(started_at(games.big_match(), "lost", [0.5, 0.5]), NCPBVI())
    assert (solution.lower, solution.upper) == (0.0, 0.0)


def test_progress_is_told_after_every_expansion() -> None:
    told = []
    solution = solve(games.patrol(horizon=3), NCPBVI(expansions=2), progress=told.append)
    assert [(each.lower, each.upper) for each in told] == list(solution.trace)


@pytest.mark.parametrize("wrong", [NCPBVI(expansions=-1), NCPBVI(sweeps=0)])
def test_settings_out_of_range_are_refused(wrong: NCPBVI) -> None:
    with pytest.raises(InputError, match="expansions must not be negative, and at least one sweep"):
        solve(games.patrol(horizon=1), wrong)
