"""Whole defences over a lattice: bounds that hold, cycles that lead to themselves, gaps closed by them alone."""

from __future__ import annotations

import numpy as np
import pytest

from ncirl import Certified, Status, games, solve
from ncirl.limits import UNLIMITED
from ncirl.model.game import Game
from ncirl.solvers.certified.activities import activities
from ncirl.solvers.certified.cycles import Cycles
from ncirl.solvers.certified.lattice import serves
from ncirl.solvers.certified.layers import ends
from ncirl.solvers.certified.schedule import Activity, Schedule
from ncirl.solvers.certified.set_up import SetUp
from ncirl.solvers.certified.trials import Trials
from random_games import random_game
from solvers.certified_checks import certify

CLOSE = 1e-6  # of the largest reward: what programs may leave out
EXACT = 1e-9
FINE, EASY = 1e-2, 3e-2
ROUNDS = 6
ENCLOSED = {  # by trials alone, without cycles
    "patrol": (lambda: games.patrol(discount=0.9), 3.8427, 3.8527),
    "patrol, where stages count little": (lambda: games.patrol(discount=0.99), 37.58, 37.95),
    "Aumann–Maschler I": (lambda: games.aumann_maschler_1(discount=0.9), 2.562, 2.591),
    "big match": (lambda: games.big_match(discount=0.9), 3.25661, 3.25662),
}


def never() -> bool:
    return False


@pytest.mark.parametrize("name", ENCLOSED)
def test_cycles_alone_close_a_gap(name: str) -> None:
    make, low, high = ENCLOSED[name]
    made = SetUp(make(), UNLIMITED)
    target = FINE * max(map(abs, made.search.bounds()))
    schedule = Schedule(made.search, [Activity(Cycles(made.search).round, 1.0)])
    for _ in range(ROUNDS):
        if made.search.gap_at_start() > target:
            schedule.step(target, never)
    found = made.certified(UNLIMITED).proved
    assert found.upper - found.lower <= made.scale * target
    assert found.lower <= high
    assert found.upper >= low


def drawn(seed: int, observes: str) -> Game:
    return random_game(
        seed,
        n_states=1 + seed % 4,
        n_intents=2 + seed % 2,
        observes=observes,
        signals=seed % 2 == 1,
        horizon=None,
        discount=(0.75, 0.9, 0.99)[seed % 3],
        n_starts=1 + seed % 2 if seed % 4 else 1,
        terminal=seed % 5 == 0,
    )


def cycles_enclose(seed: int, observes: str) -> bool:
    game = drawn(seed, observes)
    made, other = SetUp(game, UNLIMITED), SetUp(game, UNLIMITED)
    if not made.search.arrays or not serves(made.search) or ends(made.search):
        return False  # more intents than a lattice is made for, a state that is not small, or play that ends
    trials, cycles = Trials(other.search, 4), Cycles(made.search)
    for _ in range(2):
        trials.wide(0.0, never)
    other_low, other_high = other.search.bounds()
    low, high = made.search.bounds()
    for _ in range(2):
        cycles.round(EASY, never)
        before, (low, high) = (low, high), made.search.bounds()
        assert before[0] - CLOSE <= low <= other_high + CLOSE
        assert before[1] + CLOSE >= high >= other_low - CLOSE
        assert low <= high + CLOSE
    found = made.certified(UNLIMITED).proved
    room = CLOSE * made.scale / (1.0 - game.discount)
    assert found.lower >= made.scale * low - room  # what was claimed of the nodes is what they secure and concede
    assert found.upper <= made.scale * high + room
    return True


@pytest.mark.parametrize("observes", ["actions", "outcomes"])
@pytest.mark.parametrize("seed", range(6))
def test_what_cycles_find_encloses_what_trials_find(seed: int, observes: str) -> None:
    assert cycles_enclose(seed, observes)


@pytest.mark.slow
@pytest.mark.parametrize("observes", ["actions", "outcomes"])
@pytest.mark.parametrize("first", range(6, 80, 15))
def test_what_cycles_find_encloses_what_trials_find_in_many_more(first: int, observes: str) -> None:
    assert sum(cycles_enclose(seed, observes) for seed in range(first, first + 15)) > 5


def test_a_cycle_concedes_what_its_vectors_say_and_leads_to_itself() -> None:
    search = SetUp(games.patrol(discount=0.9), UNLIMITED).search
    there = len(search.upper.nodes)
    Cycles(search).round(EASY, never)
    cycle = range(there, len(search.upper.nodes))
    assert len(cycle) >= 17
    for n in cycle:
        assert set(search.upper.nodes[n].leads) <= set(cycle)
        node, vector = search.upper.nodes[n], search.upper.vectors[n]
        following = np.zeros((len(node.gains), len(vector)))
        np.add.at(following, node.row, node.weight[:, None] * search.upper.vectors[node.column])
        assert ((node.gains + following).max(axis=0) <= vector + EXACT).all()


def test_a_round_ends_when_time_is_up() -> None:
    search = SetUp(games.patrol(discount=0.9), UNLIMITED).search
    Cycles(search).round(0.0, lambda: True)
    assert search.meter.solves == 0


@pytest.mark.parametrize(
    ("make", "so"),
    [
        (lambda: games.patrol(discount=0.9), True),
        (lambda: games.patrol(discount=0.9, horizon=3), False),
        (lambda: games.patrol(intents=(0.1, 0.4, 0.6, 0.9), discount=0.9), False),
        (lambda: random_game(5, n_states=4, n_actions=8, horizon=None), False),
    ],
)
def test_only_where_play_goes_on_with_few_intents_in_small_states(make: object, so: bool) -> None:
    search = SetUp(make(), UNLIMITED).search  # type: ignore[operator]
    runs = [getattr(each.run, "__self__", None) for each in activities(search, 2)]
    assert any(isinstance(each, Cycles) for each in runs) is so


def test_a_long_game_is_certified() -> None:
    solution = solve(games.patrol(discount=0.98), Certified(gap=0.0, relative_gap=1e-3))
    assert solution.status is Status.GAP_REACHED
    certify(solution, gap=1e-3 * solution.upper)
