"""The certified solver on games whose value is known."""

from __future__ import annotations

import pickle

import pytest

from ncirl import Game, Status, games, solve
from ncirl.attack_graphs.random_graphs import random_attack_graph
from ncirl.limits import UNLIMITED
from ncirl.playbook.solution import CertifiedSolution
from ncirl.solvers.certified.certified import Certified
from solvers.certified_checks import EXACT, certify

GAP = 1e-4
PRINTED = 1e-6  # values known to so many digits

FIRST_BY_PRIOR = {1 / 2: 1 / 2, 1 / 3: 4 / 9, 2 / 5: 22 / 45, 1 / 4: 13 / 36}
FIRST_BY_STAGES = (1 / 2, 3 / 4, 1.0, 9 / 7, 1.535714, 1.803922)
MATCH_BY_PRIOR = {1 / 2: 3.2566078, 1 / 3: 2.7300667}
PATROL_BY_STAGES = (1 / 2, 7 / 8, 9 / 7, 5 / 3, 2.058824, 2.442478, 2.827736, 3.211852)
PATROL_FOR_EVER = (3.8396, 3.8495)


def closed(game: Game) -> CertifiedSolution:
    solution = solve(game, Certified(gap=GAP))
    assert solution.status is Status.GAP_REACHED
    certify(solution, gap=GAP)
    assert solution.gap <= GAP
    return solution


def assert_value(game: Game, value: float, digits: float = PRINTED) -> None:
    solution = closed(game)
    assert solution.lower - digits <= value <= solution.upper + digits


@pytest.mark.parametrize(("p", "value"), list(FIRST_BY_PRIOR.items()))
def test_aumann_maschler_1(p: float, value: float) -> None:
    assert_value(games.aumann_maschler_1(p, discount=1 / 3), value, EXACT)
    assert_value(games.aumann_maschler_1(1 - p, discount=1 / 3), value, EXACT)


@pytest.mark.parametrize(("n", "value"), list(enumerate(FIRST_BY_STAGES, start=1)))
def test_aumann_maschler_1_undiscounted(n: int, value: float) -> None:
    assert_value(games.aumann_maschler_1(discount=1.0, horizon=n), value)


@pytest.mark.parametrize("p", [0.5, 0.2, 1.0])
@pytest.mark.parametrize("horizon", [None, 4])
def test_aumann_maschler_2_is_worth_nothing(p: float, horizon: int | None) -> None:
    assert_value(games.aumann_maschler_2(p, discount=0.9, horizon=horizon), 0.0, EXACT)


@pytest.mark.parametrize(("p", "value"), list(MATCH_BY_PRIOR.items()))
def test_big_match(p: float, value: float) -> None:
    assert_value(games.big_match(p, discount=0.9), value)


@pytest.mark.parametrize(("horizon", "value"), list(enumerate(PATROL_BY_STAGES, start=1)))
def test_patrol(horizon: int, value: float) -> None:
    assert_value(games.patrol(discount=1.0, horizon=horizon), value)


@pytest.mark.slow
def test_patrol_for_ever() -> None:
    solution = closed(games.patrol(discount=0.9))
    low, high = PATROL_FOR_EVER
    assert low <= solution.lower <= solution.upper <= high


def test_a_search_that_ended_goes_on_here_or_elsewhere() -> None:
    game = random_attack_graph(5, rng=2, block_cost=0.01).game()
    rough, fine = Certified(gap=0.0, relative_gap=0.2), Certified(gap=0.0, relative_gap=0.05)
    made = rough.set_up(game, UNLIMITED)
    first = rough.go_on(made, UNLIMITED)
    there = pickle.loads(pickle.dumps(made))
    here, elsewhere = fine.go_on(made, UNLIMITED), fine.go_on(there, UNLIMITED)
    assert (here.lower, here.upper) == (elsewhere.lower, elsewhere.upper)
    assert first.lower - EXACT <= here.lower <= here.upper <= first.upper + EXACT
    assert here.upper - here.lower < first.upper - first.lower
    assert here.stats.lp_solves > first.stats.lp_solves
    certify(here, gap=0.05 * here.upper)
