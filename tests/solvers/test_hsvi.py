"""HSVI, the baseline: bounds that hold, values that are known, its rule of exploration, and how it ends."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from ncirl import HSVI, Certified, Game, HistoryLP, InputError, Shapley, Status, exploitability, games, solve
from ncirl.limits import UNLIMITED, Limits
from ncirl.lp.hull import Hull
from ncirl.lp.session import Meter
from ncirl.solvers.hsvi.bounds import Bounds
from ncirl.solvers.initial import concedes
from random_games import random_game, started_at

CLOSE = 1e-2
WIDE = 0.1  # of rewards up to 4 a stage
ROUNDING = 1e-9
LP_ACCURACY = 1e-6


def drawn(seed: int, observes: str, terminal: bool, n_starts: int, discount: float, n_intents: int) -> Game:
    return random_game(
        seed,
        n_actions=(3, 2),
        n_intents=n_intents,
        observes=observes,
        signals=observes == "outcomes",
        terminal=terminal,
        n_starts=n_starts,
        discount=discount,
    )


DRAWN = {
    "seed": st.integers(0, 2**20),
    "observes": st.sampled_from(["actions", "outcomes"]),
    "terminal": st.booleans(),
    "n_starts": st.integers(1, 3),
    "discount": st.sampled_from([0.5, 1.0]),
    "n_intents": st.sampled_from([2, 3]),
}


def check_against_the_history_program(game: Game) -> None:
    exact, told = solve(game, HistoryLP()), []
    solution = solve(game, HSVI(gap=CLOSE), progress=told.append)
    assert solution.status is Status.GAP_REACHED
    assert solution.lower <= exact.upper + ROUNDING
    assert exact.lower <= solution.upper + ROUNDING
    assert 0 <= solution.gap + ROUNDING <= CLOSE + 2 * ROUNDING
    assert all(each.lower <= exact.upper + ROUNDING and exact.lower <= each.upper + ROUNDING for each in told)


@settings(deadline=None, max_examples=12)
@given(**DRAWN)
def test_the_exact_value_lies_between_the_bounds(**drawn_as) -> None:
    check_against_the_history_program(drawn(**drawn_as))


@pytest.mark.slow
@settings(deadline=None, max_examples=120)
@given(**DRAWN)
def test_the_exact_value_lies_between_the_bounds_of_many(**drawn_as) -> None:
    check_against_the_history_program(drawn(**drawn_as))


@pytest.mark.parametrize("observes", ["actions", "outcomes"])
@pytest.mark.parametrize("seed", range(2))
def test_games_without_an_end_are_bounded_as_by_the_certified_solver(seed: int, observes: str) -> None:
    game = random_game(seed, n_actions=(3, 2), n_intents=3, observes=observes, horizon=None, n_starts=2)
    solution, proved = solve(game, HSVI(gap=WIDE)), solve(game, Certified(gap=WIDE))
    assert solution.status is Status.GAP_REACHED
    assert solution.lower <= proved.upper + ROUNDING
    assert proved.lower <= solution.upper + ROUNDING


KNOWN: dict[str, tuple[Game, float]] = {
    **{
        f"aumann-maschler-1 at {p}": (games.aumann_maschler_1(p, 1 / 3), value)
        for p, value in [(1 / 2, 1 / 2), (2 / 5, 22 / 45), (1 / 4, 13 / 36)]
    },
    "aumann-maschler-1, 4 stages": (games.aumann_maschler_1(1 / 2, discount=1.0, horizon=4), 9 / 7),
    "aumann-maschler-2": (games.aumann_maschler_2(0.3), 0.0),
    **{
        f"patrol, {n} stages": (games.patrol(discount=1.0, horizon=n), value)
        for n, value in [(1, 1 / 2), (2, 7 / 8), (3, 9 / 7), (4, 5 / 3)]
    },
}


@pytest.mark.parametrize(("game", "value"), KNOWN.values(), ids=KNOWN)
def test_known_values_are_met_from_both_sides(game: Game, value: float) -> None:
    solution = solve(game, HSVI(gap=CLOSE))
    assert solution.status is Status.GAP_REACHED
    assert value - CLOSE <= solution.lower <= value + ROUNDING
    assert value - ROUNDING <= solution.upper <= value + CLOSE


def test_discounted_patrol_is_met_from_both_sides() -> None:
    solution = solve(games.patrol(discount=0.75), HSVI(gap=CLOSE))
    better = solve(games.patrol(discount=0.75), HSVI(gap=CLOSE / 4))
    assert solution.gap <= CLOSE
    assert solution.lower - ROUNDING <= better.lower <= better.upper <= solution.upper + ROUNDING


@pytest.mark.parametrize("observes", ["actions", "outcomes"])
def test_its_strategies_keep_to_the_bounds(observes: str) -> None:
    game = random_game(5, n_actions=(3, 2), observes=observes, n_starts=2)
    solution = solve(game, HSVI(gap=CLOSE))
    scored = exploitability(game, solution.attacker_strategy(), solution.defender_strategy())
    assert scored.nash_conv <= solution.gap + LP_ACCURACY


def bounds_of(game: Game) -> Bounds:
    return Bounds(game.timed(), Meter(), UNLIMITED, late=lambda: False)


def test_it_begins_with_the_uniform_defence_and_the_public_intent() -> None:
    game = random_game(3, n_starts=2, horizon=None)
    low, high = bounds_of(game).at_start()
    uniform = {s: np.full(n, 1 / n) for s in game.explore() for n in [game.stage(s).shape[1]]}
    conceded = concedes(game, uniform)
    assert high == pytest.approx(sum(start.mass @ conceded[start.state] for start in game.starts), abs=ROUNDING)
    assert low == pytest.approx(solve(game, Shapley()).lower, abs=ROUNDING)


def test_it_may_begin_where_the_certified_solver_does() -> None:
    game = games.office().with_horizon(3)
    first = {}
    for initial in ("uniform", "stationary"):
        told = []
        solution = solve(game, HSVI(gap=0.05, initial=initial), progress=told.append)
        assert solution.gap <= 0.05
        first[initial] = told[0]
    assert first["stationary"].lower == first["uniform"].lower
    assert first["stationary"].upper < first["uniform"].upper - 0.1


def test_what_is_explored_has_the_largest_weighted_excess() -> None:
    game = random_game(11, n_actions=3, n_intents=3, horizon=None)
    bounds = bounds_of(game)
    for _ in range(3):
        at = bounds.roots[0][1]
        plan, answer = bounds.update(at)
        rho, here = 0.05, bounds.arrays[at.state]
        masses = here.posteriors(np.arange(len(here.seen)), plan.actions, plan.plan)
        reach = here.reach(answer.defences, answer.mix)
        excess = {}
        for i, (mass, chance) in enumerate(zip(masses, reach, strict=True)):
            if chance * mass.sum() > ROUNDING:
                followed = type(at)(int(here.successor[i]), mass / mass.sum())
                low, high = bounds.value(followed)
                excess[i] = chance * mass.sum() * (high - low - rho)
        found = bounds.most_open(at, plan, answer, rho)
        best = max(excess, key=lambda i: excess[i])
        assert found is not None
        assert found.state == here.successor[best]
        assert found.belief == pytest.approx(masses[best] / masses[best].sum(), abs=1e-5)
        assert bounds.most_open(at, plan, answer, rho=1e6) is None
        bounds.update(found)


def test_the_excess_asked_for_grows_as_stages_count_less() -> None:
    bounds = bounds_of(games.patrol(discount=0.5))
    rule = HSVI(neighbourhood=0.0)._rule(bounds, 0.1)
    assert rule(rule(0.1)) == pytest.approx(0.4)
    careful = HSVI(neighbourhood=0.01)._rule(bounds, 0.1)
    assert careful(0.1) == pytest.approx((0.1 - 0.02 * bounds.steepness) / 0.5)
    careless = HSVI(neighbourhood=100.0)._rule(bounds, 0.1)  # out of the range in which they proved it to end
    assert careless(0.1) == pytest.approx((0.1 - 0.025) / 0.5)
    assert HSVI()._rule(bounds_of(games.patrol(discount=0.0)), 0.1)(0.1) == inf


def test_the_hull_is_that_of_a_linear_program() -> None:
    rng = np.random.default_rng(4)
    corners, beliefs = rng.uniform(size=3), rng.dirichlet(np.ones(3), size=6)
    values = beliefs @ corners + rng.uniform(0.1, 1.0, size=6)
    hull = Hull(corners)
    mass = 0.3 * rng.dirichlet(np.ones(3))
    assert hull.value(mass) == pytest.approx(corners @ mass)
    for belief, value in zip(beliefs, values, strict=True):
        hull.add(belief, value)
    answer = linprog(beliefs @ corners - values, A_ub=beliefs.T, b_ub=mass)
    assert hull.value(mass) == pytest.approx(corners @ mass - answer.fun, abs=LP_ACCURACY)


@pytest.mark.parametrize("reports", [1, 3])
def test_it_ends_with_bounds_when_time_is_up(reports: int) -> None:
    game, told = games.patrol(discount=1.0, horizon=6), []
    limits = Limits(1.0, clock=lambda: 2.0 * (len(told) >= reports))  # time is up once so much was told
    solution = HSVI(gap=0.0).run(game, progress=told.append, limits=limits)
    exact = solve(game, HistoryLP())
    assert (solution.status, len(told)) == (Status.TIME_LIMIT, reports)
    assert solution.lower - ROUNDING <= exact.lower <= solution.upper + ROUNDING


@pytest.mark.parametrize("after", range(2, 40, 9))
def test_bounds_hold_wherever_a_trial_is_cut(after: int) -> None:
    """Time may be up between any two programs, or inside one."""
    game, asked = games.patrol(discount=1.0, horizon=4), iter(range(10**6))
    bounds = Bounds(game.timed(), Meter(), UNLIMITED, late=lambda: next(asked) >= after)
    HSVI()._explore(bounds, bounds.widest_start(), epsilon=1e-3)
    exact = solve(game, HistoryLP())
    low, high = bounds.at_start()
    assert low - ROUNDING <= exact.lower <= high + ROUNDING


def test_it_ends_with_bounds_when_interrupted() -> None:
    def interrupt(_: object) -> None:
        raise KeyboardInterrupt

    solution = solve(games.patrol(horizon=4), HSVI(gap=0.0), progress=interrupt)
    assert solution.status is Status.INTERRUPTED
    assert solution.lower <= solution.upper


def test_an_ended_game_is_worth_nothing() -> None:
    solution = solve(started_at(games.big_match(), "lost", [0.5, 0.5]), HSVI())
    assert (solution.lower, solution.upper) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (HSVI(gap=-1.0), "gap: must be a number that is not negative, got -1.0"),
        (HSVI(relative_gap="1%"), "relative_gap: must be a number"),  # type: ignore[arg-type]
        (HSVI(initial="none"), "initial: must be 'uniform' or 'stationary', got 'none'"),  # type: ignore[arg-type]
        (HSVI(neighbourhood=float("nan")), "neighbourhood: must be a number"),
    ],
)
def test_settings_out_of_range_are_refused(wrong: HSVI, said: str) -> None:
    with pytest.raises(InputError, match=said):
        solve(games.patrol(horizon=1), wrong)
