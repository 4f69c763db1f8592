"""Rounds over a lattice of beliefs: bounds that hold, successors first, and long games closed by them alone."""

from __future__ import annotations

import numpy as np
import pytest

from ncirl import Certified, Game, HistoryLP, Status, games, solve
from ncirl.limits import UNLIMITED
from ncirl.solvers.certified import lattice as module
from ncirl.solvers.certified.activities import activities
from ncirl.solvers.certified.lattice import Lattice, lattice, serves
from ncirl.solvers.certified.layers import stages_left
from ncirl.solvers.certified.schedule import Activity, Schedule
from ncirl.solvers.certified.search import Search
from ncirl.solvers.certified.set_up import SetUp
from random_games import random_game
from solvers.certified_checks import certify

CLOSE = 1e-6  # of the largest reward: what programs may leave out
PRINTED = 1e-6
FINE, EASY = 1e-3, 1e-2
ROUNDS = 8
VALUES = {
    "patrol, 6 stages": (lambda: games.patrol(discount=1.0, horizon=6), 2.442478),
    "patrol, 8 stages": (lambda: games.patrol(discount=1.0, horizon=8), 3.211852),
    "Aumann–Maschler I, 6 stages": (lambda: games.aumann_maschler_1(discount=1.0, horizon=6), 1.803922),
}


def never() -> bool:
    return False


def rounds_of(search: Search) -> Lattice:
    assert serves(search)
    return Lattice(search, stages_left(search))


@pytest.mark.parametrize("name", VALUES)
def test_rounds_alone_close_a_gap(name: str) -> None:
    make, value = VALUES[name]
    made = SetUp(make(), UNLIMITED)
    schedule = Schedule(made.search, [Activity(rounds_of(made.search).round, 1.0)])
    for _ in range(ROUNDS):
        if made.search.gap_at_start() * made.scale > FINE:
            schedule.step(FINE / made.scale, never)
    found = made.certified(UNLIMITED).proved
    assert found.lower - PRINTED <= value <= found.upper + PRINTED
    assert found.upper - found.lower <= FINE


def rounds_enclose(seed: int, observes: str) -> bool:
    game = random_game(
        seed,
        n_intents=2 + seed % 2,
        observes=observes,
        signals=seed % 2 == 1,
        discount=1.0 if seed % 3 else 0.75,
        n_starts=1 + seed % 3,
        terminal=seed % 4 == 0,
    )
    made = SetUp(game, UNLIMITED)
    if not serves(made.search):
        return False  # more intents than a lattice is made for, or a state that is not small
    rounds, exact = rounds_of(made.search), solve(game, HistoryLP())
    low, high = made.search.bounds()
    for _ in range(2):
        rounds.round(EASY, never)
        before, (low, high) = (low, high), made.search.bounds()
        assert before[0] - CLOSE <= low <= exact.upper / made.scale + CLOSE
        assert before[1] + CLOSE >= high >= exact.lower / made.scale - CLOSE
    found = made.certified(UNLIMITED).proved
    assert found.lower - CLOSE <= exact.upper
    assert found.upper + CLOSE >= exact.lower
    return True


@pytest.mark.parametrize("observes", ["actions", "outcomes"])
@pytest.mark.parametrize("seed", range(5))
def test_what_rounds_find_encloses_the_exact_value(seed: int, observes: str) -> None:
    assert rounds_enclose(seed, observes)


@pytest.mark.slow
@pytest.mark.parametrize("observes", ["actions", "outcomes"])
@pytest.mark.parametrize("first", range(5, 80, 15))
def test_what_rounds_find_encloses_the_exact_value_in_many_more(first: int, observes: str) -> None:
    assert sum(rounds_enclose(seed, observes) for seed in range(first, first + 15)) > 5


@pytest.mark.parametrize(("n_intents", "m", "size"), [(1, 3, 0), (2, 1, 0), (2, 16, 15), (3, 6, 25)])
def test_a_lattice_has_all_multiples_but_the_corners(n_intents: int, m: int, size: int) -> None:
    found = lattice(n_intents, m)
    assert found.shape == (size, n_intents)
    assert found.sum(axis=1) == pytest.approx(1.0)
    assert (found * m == np.round(found * m)).all()
    assert len(np.unique(found, axis=0)) == size
    assert (found < 1).all()


def test_successors_first_and_finer_near_what_play_meets(monkeypatch: pytest.MonkeyPatch) -> None:
    search = SetUp(games.patrol(discount=1.0, horizon=6), UNLIMITED).search
    seen: list[tuple[int, np.ndarray]] = []
    back_up_at = module.back_up_at

    def noted(search: Search, state: int, beliefs: np.ndarray, late: object) -> None:
        seen.append((state, beliefs))
        back_up_at(search, state, beliefs, never)

    monkeypatch.setattr(module, "back_up_at", noted)
    rounds = rounds_of(search)
    for _ in range(2):
        seen.clear()
        rounds.round(1e-4, never)
        order = [state for state, _ in seen]
        for here in search.arrays:
            later = [order.index(after) for after in here.successors if after in order]
            assert max(later, default=-1) < order.index(here.number)
    (start,) = (root for _, root in search.roots)
    first = next(beliefs for state, beliefs in seen if state == start.state)
    widest = max(len(beliefs) for _, beliefs in seen)
    assert len(first) < widest  # play has not gone far yet
    assert np.abs(first - start.belief).max() <= 1 / 16 + CLOSE
    assert (first == start.belief).all(axis=1).any()
    assert widest > 16


def test_a_round_ends_when_time_is_up() -> None:
    search = SetUp(games.patrol(discount=1.0, horizon=5), UNLIMITED).search
    rounds_of(search).round(0.0, lambda: True)
    assert search.meter.solves == 0


@pytest.mark.parametrize(
    ("game", "so"),
    [
        (lambda: games.patrol(discount=1.0, horizon=3), True),
        (lambda: games.patrol(intents=(0.1, 0.4, 0.6, 0.9), discount=1.0, horizon=3), False),
        (lambda: random_game(5, n_states=4, n_actions=8, horizon=3), False),
    ],
)
def test_only_with_few_intents_in_small_states(game: object, so: bool) -> None:
    search = SetUp(game(), UNLIMITED).search  # type: ignore[operator]
    assert serves(search) is so
    assert len(activities(search, 2)) == 7


def assert_long_patrol(stages: int, low: float, high: float) -> None:
    game: Game = games.patrol(discount=1.0, horizon=stages)
    solution = solve(game, Certified(gap=FINE))
    assert solution.status is Status.GAP_REACHED
    certify(solution, gap=FINE)
    assert low <= solution.lower <= solution.upper <= high


def test_twelve_stages_of_patrol() -> None:
    assert_long_patrol(12, 4.739, 4.742)


@pytest.mark.slow
def test_fifty_stages_of_patrol() -> None:
    assert_long_patrol(50, 19.1030, 19.1045)
