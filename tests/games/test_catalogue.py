"""The classics: every formula against bounds that are proved, every curve against the matrices themselves."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ncirl import Certified, HistoryLP, InputError, games, solve
from ncirl.formats.load import resolve_game
from ncirl.games import BUILTIN, known_values
from ncirl.games.catalogue import CATALOGUE, Classic
from ncirl.solvers.matrix_game import matrix_game

EXACT = 1e-9  # times the largest payoff: how far a bound may be on the wrong side of the exact value
LP_ACCURACY = 1e-7
CLOSE = 0.01  # relative gap asked of the certified solver
SPLIT = 1e-6  # a concave function on a grid
PRIORS = (0.0, 0.1, 1 / 3, 0.5, 0.62, 0.9, 1.0)
HIDING = [c for c in CATALOGUE.values() if c.at is not None]
DISCOUNTED = [
    ("aumann-maschler-1", 0.2),
    ("aumann-maschler-1", 1 / 3),
    ("aumann-maschler-2", 0.5),
    ("aumann-maschler-2", 0.9),
    ("aumann-maschler-3", 0.5),
    ("aumann-maschler-3", 0.9),
    ("big-match", 0.5),
    ("big-match", 0.8),
]
FINITE = [
    ("aumann-maschler-1", 1, 1.0),
    ("aumann-maschler-2", 3, 0.7),
    ("aumann-maschler-3", 1, 1.0),
    ("aumann-maschler-3", 2, 1.0),
    ("aumann-maschler-3", 4, 1.0),
    *(("mertens-zamir", n, 1.0) for n in range(1, 6)),
    ("card-game", 1, 1.0),
]
REPEATED = ["aumann-maschler-1", "aumann-maschler-2", "aumann-maschler-3", "mertens-zamir", "market"]


def stage_game(classic: Classic, p: float) -> np.ndarray:
    """Return the mean matrix: what is played when nobody knows the intent."""
    assert classic.at is not None
    game = classic.at(0.5, 0.5, None)
    return game.stage(game.starts[0].state).reward @ np.array([p, 1 - p])


@pytest.mark.parametrize("p", PRIORS)
@pytest.mark.parametrize(("name", "discount"), DISCOUNTED)
def test_discounted_formulas_lie_between_certified_bounds(name: str, discount: float, p: float) -> None:
    classic = CATALOGUE[name]
    value = classic.exact(p, discount, None)
    found = solve(classic.at(p, discount, None), Certified(gap=CLOSE * 0.1, relative_gap=CLOSE))
    scale = 4 / (1 - discount)
    assert found.lower - EXACT * scale <= value <= found.upper + EXACT * scale
    assert found.gap <= max(CLOSE * 0.1, CLOSE * abs(found.upper)) + EXACT * scale


@pytest.mark.parametrize("p", PRIORS)
@pytest.mark.parametrize(("name", "horizon", "discount"), FINITE)
def test_finite_formulas_agree_with_the_history_program(name: str, horizon: int, discount: float, p: float) -> None:
    classic = CATALOGUE[name]
    found = solve(classic.at(p, discount, horizon), HistoryLP())
    assert found.lower == pytest.approx(classic.exact(p, discount, horizon), abs=LP_ACCURACY * horizon)


@pytest.mark.parametrize(
    ("name", "discount", "horizon"),
    [
        ("aumann-maschler-1", 0.9, None),
        ("aumann-maschler-1", 1.0, 3),
        ("aumann-maschler-3", 0.3, None),
        ("aumann-maschler-3", 0.9, 3),
        ("mertens-zamir", 0.9, None),
        ("mertens-zamir", 0.9, 2),
        ("big-match", 0.9, 4),
        ("card-game", 0.9, 2),
    ],
)
def test_no_value_is_claimed_where_no_formula_is_known(name: str, discount: float, horizon: int | None) -> None:
    assert CATALOGUE[name].exact(0.4, discount, horizon) is None


@pytest.mark.parametrize("p", PRIORS)
@pytest.mark.parametrize("name", REPEATED)
def test_unrevealing_values_are_those_of_the_mean_matrix(name: str, p: float) -> None:
    classic = CATALOGUE[name]
    assert classic.unrevealing(p) == pytest.approx(matrix_game(stage_game(classic, p)).value, abs=EXACT)


@pytest.mark.parametrize("p", PRIORS)
def test_patrol_without_its_preference_is_a_matrix_game(p: float) -> None:
    state = CATALOGUE["patrol"].at(p, 0.9, None).starts[0].state
    reward = CATALOGUE["patrol"].at(p, 0.9, None).stage(state).reward @ np.array([p, 1 - p])
    assert CATALOGUE["patrol"].unrevealing(p) == pytest.approx(matrix_game(reward).value, abs=EXACT)


@pytest.mark.parametrize("name", [*REPEATED, "patrol"])
def test_long_run_values_are_the_concave_hull_of_unrevealing_ones(name: str) -> None:
    classic = CATALOGUE[name]
    grid = np.linspace(0, 1, 41)  # holds every kink
    u = np.array([classic.unrevealing(p) for p in grid])
    hull = [
        max(
            (grid[j] - p) / (grid[j] - grid[i]) * u[i] + (p - grid[i]) / (grid[j] - grid[i]) * u[j] if i < j else u[i]
            for i in range(len(grid))
            for j in range(i, len(grid))
            if grid[i] <= p <= grid[j]
        )
        for p in grid
    ]
    np.testing.assert_allclose([classic.longrun(p) for p in grid], hull, atol=SPLIT)


@pytest.mark.parametrize("p", [0.1, 0.5, 0.7])
@pytest.mark.parametrize("discount", [0.5, 0.8])
@pytest.mark.parametrize("name", [*REPEATED, "patrol"])
def test_values_lie_between_the_long_run_and_one_stage(name: str, discount: float, p: float) -> None:
    classic = CATALOGUE[name]
    found = solve(classic.at(p, discount, None), Certified(gap=0.02))
    once = solve(classic.at(p, 1.0, 1), HistoryLP())
    assert found.upper >= classic.longrun(p) / (1 - discount) - EXACT
    assert found.lower <= once.upper / (1 - discount) + EXACT


@pytest.mark.parametrize("p", [0.05, 1 / 3, 0.5, 0.8])
def test_big_match_tends_to_its_long_run_value(p: float) -> None:
    classic = CATALOGUE["big-match"]
    rate = 1e-5
    assert rate * classic.exact(p, 1 - rate, None) == pytest.approx(classic.longrun(p), abs=10 * rate)


@pytest.mark.parametrize("p", [1 / 6, 0.5, *(pytest.param(each, marks=pytest.mark.slow) for each in (1 / 3, 2 / 3))])
def test_the_insiders_profit_rises_to_its_bound(p: float) -> None:
    classic = CATALOGUE["market"]
    values = [solve(classic.at(p, 1.0, n), HistoryLP()).lower for n in (1, 2, 3)]
    assert values == sorted(values)
    assert values[-1] <= classic.total(p) + LP_ACCURACY
    found = solve(classic.at(p, 0.95, None), Certified(gap=0.02))
    assert found.lower <= classic.total(p) + EXACT
    assert found.upper >= 0.95 * classic.total(p)


@pytest.mark.parametrize("p", PRIORS)
@pytest.mark.parametrize("discount", [0.3, 0.9])
def test_the_smallest_market_is_settled_on_the_first_day(p: float, discount: float) -> None:
    found = solve(games.market(p, discount, worth=2), Certified(gap=CLOSE))
    assert found.lower - EXACT <= known_values.market_total(p, worth=2) <= found.upper + EXACT


@pytest.mark.parametrize("days", [1, 2, 3, 5])
@pytest.mark.parametrize("inspections", [0, 1, 2, 4])
def test_inspection(days: int, inspections: int) -> None:
    found = solve(games.inspection(days, inspections), HistoryLP())
    assert found.lower == pytest.approx(known_values.inspection_exact(days, inspections), abs=LP_ACCURACY)


@settings(max_examples=50)
@given(
    st.sampled_from([("aumann-maschler-1", 1 / 3, None), ("big-match", 0.9, None), ("mertens-zamir", 1.0, 7)]),
    st.floats(0, 1),
    st.floats(0, 1),
    st.floats(0, 1),
)
def test_formulas_are_concave(case: tuple[str, float, int | None], p: float, q: float, share: float) -> None:
    name, discount, horizon = case
    exact = CATALOGUE[name].exact
    mixed = exact(share * p + (1 - share) * q, discount, horizon)
    assert mixed >= share * exact(p, discount, horizon) + (1 - share) * exact(q, discount, horizon) - EXACT


@pytest.mark.parametrize("classic", CATALOGUE.values(), ids=CATALOGUE)
def test_every_classic_is_built_in_and_told(classic: Classic) -> None:
    assert classic.name in BUILTIN
    assert resolve_game(f"builtin:{classic.name}").name == classic.name
    assert classic.sources
    assert classic.shows.endswith(".")
    assert classic.formula.endswith((".", "…"))


@pytest.mark.parametrize("classic", HIDING, ids=[c.name for c in HIDING])
def test_p_is_the_probability_of_the_first_intent(classic: Classic) -> None:
    discount, horizon = classic.shown[0]
    masses = sum(start.mass for start in classic.at(0.3, discount, horizon).starts)
    np.testing.assert_allclose(masses, [0.3, 0.7])


def test_numbers_out_of_range_are_refused() -> None:
    with pytest.raises(InputError, match="worth: must be at least 2, got 1"):
        games.market(worth=1)
    with pytest.raises(InputError, match="at least one day"):
        games.inspection(days=0)
    with pytest.raises(InputError, match="at least one day"):
        known_values.inspection_exact(0, 1)
