"""Divisions raced: measured at the same age, given up when behind, never more than half of the work beside the best."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import cast

import numpy as np
import pytest

from ncirl.attack_graphs.random_graphs import random_attack_graph
from ncirl.limits import UNLIMITED
from ncirl.solvers.certified.choosing import Choosing
from ncirl.solvers.certified.divisions import Copies, Groups
from ncirl.solvers.certified.kinds import Kinds
from ncirl.solvers.certified.racing import BESIDE, LATER, TRIES, KindsGame, Race
from ncirl.solvers.certified.schedule import Late
from ncirl.solvers.certified.set_up import SetUp

TURN, TRIAL = 1.0, 3.0  # work


@dataclass
class Runner:
    """What a race asks of a game: it secures a part of what its division is worth, more of it the longer it runs."""

    groups: Groups
    worth: float
    high: float = 1.0
    work: float = 0.0
    trial: float = TRIAL
    is_told: bool = False
    known: list[float] = field(default_factory=list)

    @property
    def low(self) -> float:
        return self.worth * self.work / (10.0 + self.work)

    def low_after(self, work: float) -> float:
        return self.worth * work / (10.0 + work)

    def is_behind(self, other: KindsGame) -> bool:
        return KindsGame.is_behind(cast(KindsGame, self), other)

    def go_on(self, late: Late) -> None:
        self.work += 0.0 if late() else TURN


class Course:
    """A race of runners; what each division is worth is drawn."""

    def __init__(self, seed: int, intents: int = 10, n: int = 2) -> None:
        rng = np.random.default_rng(seed)
        prior = np.full(intents, 1.0 / intents)
        self.choosing = Choosing(Copies(rng.random((4, intents)), prior, np.zeros(intents, dtype=np.intp)))
        self.race = Race(self.choosing, n)
        self.begun: list[Runner] = []
        self.worth = iter(lambda: float(rng.uniform(0.2, 0.8)), None)
        self.high = 1.0

    def begin(self, groups: Groups, _: Late) -> KindsGame:
        self.begun.append(Runner(groups, next(self.worth), self.high))
        return cast(KindsGame, self.begun[-1])

    def turns(self, n: int) -> None:
        for _ in range(n):
            self.race.go_on(self.begin, lambda: False)


@pytest.mark.parametrize("seed", range(4))
def test_the_best_at_its_age_wins(seed: int) -> None:
    course = Course(seed)
    course.turns(1_000)
    best = course.race.best
    assert best is not None
    rival = cast("Runner | None", course.race.rival)
    tried = [runner for runner in course.begun if runner.work >= TRIAL and runner is not rival]
    assert len(tried) > TRIES[2][1], "nothing was tried beside the best"
    assert cast(Runner, best).worth == max(runner.worth for runner in tried)
    assert not course.race.left


def test_rivals_have_half_of_the_work_of_the_best() -> None:
    course = Course(0)
    course.worth = iter([0.9, *(0.5,) * 500])
    course.turns(1_000)
    first, *others = course.begun
    assert course.race.best is cast(KindsGame, first)
    assert all(runner.work <= TRIAL for runner in others)
    beside = sum(runner.work for runner in others[TRIES[2][1] - 1 :])
    assert BESIDE * first.work - TURN <= beside <= BESIDE * first.work + TRIAL


def test_who_is_as_good_for_long_is_given_up() -> None:
    course = Course(0)
    course.worth = iter([0.5] * 500)
    course.turns(1_000)
    best = course.race.best
    assert max(runner.work for runner in course.begun if runner is not cast(Runner, best)) == LATER * TRIAL


def test_who_is_behind_at_the_same_age_is_given_up_and_who_is_ahead_takes_the_place() -> None:
    course = Course(0)
    course.turns(400)
    while course.race.rival is not None or not course.race.is_trying:
        course.turns(1)
    best, before = course.race.best, len(course.begun)
    assert best is not None
    course.worth = iter([0.5 * cast(Runner, best).worth, 1.2 * cast(Runner, best).worth])
    while course.race.best is best:
        course.turns(1)
    slow, fast = course.begun[before:]
    assert slow.work <= TRIAL + TURN, "who is behind is gone on with"
    assert course.race.best is cast(KindsGame, fast)
    assert fast.low > best.low, "what is secured already is given away for what promises more"
    assert fast.work < best.work


def test_the_work_of_one_that_wins_is_not_that_of_rivals_in_vain() -> None:
    course = Course(0)
    course.worth = iter([0.5, *(0.4,) * (TRIES[2][1] - 1), *(0.501,) * 500])
    while course.race.best is None or course.race.best is cast(KindsGame, course.begun[0]):
        course.turns(1)
    assert not course.race.left
    assert course.race.best.work > 0.9 * course.begun[0].work, "it is barely ahead, so it was long a rival"
    assert course.race.is_trying, "who barely wins stops all others"


def test_who_cannot_secure_what_is_secured_is_given_up_at_once() -> None:
    course = Course(1)
    course.turns(400)
    assert course.race.best is not None
    course.high = course.race.best.low
    before = len(course.begun)
    while len(course.begun) < before + 4:
        course.turns(1)
    assert all(runner.work == TURN for runner in course.begun[before : before + 3])
    assert all(runner.is_told for runner in course.begun[before : before + 3]), (
        "what it is worth is not known next time"
    )


def test_once_all_divisions_were_tried_only_the_best_is_gone_on_with() -> None:
    course = Course(2, intents=3)
    course.turns(400)
    best, begun = course.race.best, len(course.begun)
    assert begun <= 3
    assert best is not None
    assert not course.race.is_trying
    before = best.work
    course.turns(10)
    assert best.work == before + 10 * TURN
    assert len(course.begun) == begun


def test_without_time_nothing_is_given_up() -> None:
    course = Course(3)
    course.turns(2)
    rival = course.race.rival
    assert rival is not None
    for _ in range(5):
        course.race.go_on(course.begin, lambda: True)
    assert course.race.rival is rival
    assert course.race.left == TRIES[2][1]


def test_a_game_knows_what_it_had_come_to_at_any_age() -> None:
    graph = random_attack_graph(6, rng=0, block_cost=0.01, attack_cost=0.01)
    made = SetUp(graph.game(), UNLIMITED)
    assert made.hand_over()
    assert made.compiled is not None
    kinds = Kinds(made.compiled)
    kinds.turn(0.0, lambda: False)
    assert kinds._race is not None
    (game,) = kinds._race.games
    known = [(float(game.work), game.low)]
    assert game.low_after(game.work - 1) <= game.low
    for _ in range(4):
        game.go_on(lambda: False)
        known.append((float(game.work), game.low))
    for (work, low), (later, _) in pairwise(known):
        assert game.low_after(work) == low
        assert game.low_after((work + later) / 2) == low
    assert game.low_after(np.inf) == game.low
