"""Rounds over games that end: successors first, bounds that hold, and alone enough to close a gap."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ncirl import Certified, Game, HistoryLP, Status, games, solve
from ncirl.limits import UNLIMITED
from ncirl.solvers.certified.activities import activities
from ncirl.solvers.certified.cycles import Cycles
from ncirl.solvers.certified.lattice import Lattice, serves
from ncirl.solvers.certified.layers import Layers, ends
from ncirl.solvers.certified.schedule import Activity, Schedule
from ncirl.solvers.certified.search import InformationState, Search
from ncirl.solvers.certified.set_up import SetUp
from random_games import random_game
from solvers.certified_checks import certify

CLOSE = 1e-6  # of the largest reward: what programs may leave out
PRINTED = 1e-6
EASY, FINE = 1e-3, 1e-4
ROUNDS = 60
PATROL = {4: 5 / 3, 6: 2.442478}
FOUR = (0.1, 0.4, 0.6, 0.9)  # intents: more than a lattice is made for
FIRST = {4: 9 / 7, 6: 1.803922}


def never() -> bool:
    return False


def closed_by_rounds(game: Game, gap: float) -> SetUp:
    """Run rounds and nothing else until the bounds are that close."""
    made = SetUp(game, UNLIMITED)
    schedule = Schedule(made.search, [Activity(Layers(made.search).round, 1.0)])
    for _ in range(ROUNDS):
        if made.search.gap_at_start() * made.scale <= gap:
            return made
        schedule.step(gap / made.scale, never)
    raise AssertionError(f"a gap of {made.search.gap_at_start() * made.scale} is left")


@pytest.mark.parametrize(("stages", "value"), list(PATROL.items()))
def test_rounds_alone_close_patrol(stages: int, value: float) -> None:
    found = closed_by_rounds(games.patrol(discount=1.0, horizon=stages), FINE).certified(UNLIMITED).proved
    assert found.lower - PRINTED <= value <= found.upper + PRINTED
    assert found.upper - found.lower <= FINE * (1 + CLOSE)


@pytest.mark.parametrize(("stages", "value"), list(FIRST.items()))
def test_rounds_alone_close_aumann_maschler(stages: int, value: float) -> None:
    found = closed_by_rounds(games.aumann_maschler_1(discount=1.0, horizon=stages), FINE).certified(UNLIMITED).proved
    assert found.lower - PRINTED <= value <= found.upper + PRINTED


def assert_rounds_enclose(seed: int, observes: str) -> None:
    """Rounds alone need not close a gap: they follow optimistic play only. What they find holds."""
    game = random_game(
        seed,
        n_intents=2 + seed % 3,
        observes=observes,
        signals=seed % 2 == 1,
        discount=1.0 if seed % 2 else 0.75,
        n_starts=1 + seed % 3,
    )
    made = SetUp(game, UNLIMITED)
    layers, exact = Layers(made.search), solve(game, HistoryLP())
    low, high = made.search.bounds()
    for _ in range(4):
        layers.round(0.0, never)
        before, (low, high) = (low, high), made.search.bounds()
        assert before[0] <= low <= exact.upper / made.scale + CLOSE
        assert before[1] >= high >= exact.lower / made.scale - CLOSE
    found = made.certified(UNLIMITED).proved
    assert found.lower - CLOSE <= exact.upper
    assert found.upper + CLOSE >= exact.lower


@pytest.mark.parametrize("observes", ["actions", "outcomes"])
@pytest.mark.parametrize("seed", range(6))
def test_what_rounds_find_encloses_the_exact_value(seed: int, observes: str) -> None:
    assert_rounds_enclose(seed, observes)


@pytest.mark.slow
@pytest.mark.parametrize("observes", ["actions", "outcomes"])
@pytest.mark.parametrize("seed", range(6, 80))
def test_what_rounds_find_encloses_the_exact_value_in_many_more(seed: int, observes: str) -> None:
    assert_rounds_enclose(seed, observes)


def recorded(search: Search, monkeypatch: pytest.MonkeyPatch) -> list[InformationState]:
    """Note what is backed up from now on."""
    seen: list[InformationState] = []
    back_up = search.back_up

    def noted(at: InformationState) -> object:
        seen.append(at)
        return back_up(at)

    monkeypatch.setattr(search, "back_up", noted)
    return seen


def test_on_the_way_home_successors_come_first(monkeypatch: pytest.MonkeyPatch) -> None:
    search = SetUp(games.patrol(discount=1.0, horizon=5), UNLIMITED).search
    layers = Layers(search)
    for _ in range(3):
        layers.round(0.0, never)
    seen = recorded(search, monkeypatch)
    layers.round(0.0, never)
    numbers = [at.state for at in seen]
    assert len(set(numbers)) > 2
    for here in search.arrays:
        home = [i for i, k in enumerate(numbers) if k == here.number]
        before = [i for i, k in enumerate(numbers) if k in here.successors]
        assert max(before, default=-1) < min(home, default=len(numbers))


def test_a_round_ends_when_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    search = SetUp(games.patrol(discount=1.0, horizon=5), UNLIMITED).search
    seen = recorded(search, monkeypatch)
    Layers(search).round(0.0, lambda: True)
    assert seen == []


@pytest.mark.parametrize(
    ("make", "so"),
    [
        (lambda: games.patrol(discount=1.0, horizon=3), True),
        (lambda: games.patrol(discount=0.9), False),
        (lambda: games.big_match(discount=0.9), False),
        (lambda: games.patrol(intents=FOUR, discount=1.0, horizon=3), True),
        (lambda: games.patrol(intents=FOUR, discount=0.9), False),
    ],
)
def test_only_where_play_ends(make: Callable[[], Game], so: bool) -> None:
    search = SetUp(make(), UNLIMITED).search
    assert ends(search) is so
    every = activities(search, 2)
    runs = [getattr(each.run, "__self__", None) for each in every]
    assert any(isinstance(each, Layers | Lattice) for each in runs) is so
    cycles = any(isinstance(each, Cycles) for each in runs)
    assert cycles is (not so and serves(search))
    assert (search.tuning.walks in [each.share for each in every]) is not so


@pytest.mark.slow
def test_twenty_stages_of_patrol() -> None:
    solution = solve(games.patrol(discount=1.0, horizon=20), Certified(gap=EASY))
    assert solution.status is Status.GAP_REACHED
    certify(solution, gap=EASY)
    assert 7.7775 <= solution.lower <= solution.upper <= 7.7795
