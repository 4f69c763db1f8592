"""A status is that of what is returned, and time that is up is heard whatever searches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from ncirl import Status, WorstPrior, games, solve
from ncirl.attack_graphs.random_graphs import random_attack_graph
from ncirl.errors import LimitError
from ncirl.limits import UNLIMITED, Limits
from ncirl.playbook.solution import CertifiedSolution
from ncirl.playbook.verify import Certificate, verify
from ncirl.solvers import worst_prior
from ncirl.solvers.certified import fewer
from ncirl.solvers.certified.certified import Certified
from ncirl.solvers.certified.schedule import Schedule
from ncirl.solvers.certified.set_up import Playbooks, SetUp

GRAPH = random_attack_graph(5, rng=2, block_cost=0.01)
MANY = random_attack_graph(7, rng=1, intents=60, block_cost=0.05)
ASKED = 0.02


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (LimitError("time", "verifying"), Status.TIME_LIMIT),
        (LimitError("memory", "verifying"), Status.MEMORY_LIMIT),
        (MemoryError(), Status.MEMORY_LIMIT),
    ],
    ids=["time", "memory", "no memory"],
)
def test_bounds_of_an_older_writing_are_not_said_to_be_as_close_as_asked(
    error: Exception, status: Status, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = SetUp(GRAPH.game(), UNLIMITED)
    made.write(UNLIMITED)

    def cut(_: SetUp, limits: Limits) -> Playbooks:
        raise error

    monkeypatch.setattr(SetUp, "_timed", cut)
    found = Certified(gap=0.0, relative_gap=ASKED).go_on(made, UNLIMITED)
    assert found.gap > ASKED * found.upper
    assert found.status is status


def test_what_is_written_a_little_wider_than_it_was_searched_for_is_searched_for_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    writing, written = SetUp._timed, list[float]()

    def wider(made: SetUp, limits: Limits) -> Playbooks:
        found = writing(made, limits)
        written.append(found.gap)
        off = 0.005 * found.proved.upper
        return replace(found, proved=replace(found.proved, upper=found.proved.upper + off))

    monkeypatch.setattr(SetUp, "_timed", wider)
    found = Certified(gap=0.0, relative_gap=ASKED).go_on(SetUp(GRAPH.game(), UNLIMITED), UNLIMITED)
    assert len(written) > 1
    assert found.gap <= ASKED * found.upper
    assert found.status is Status.GAP_REACHED


def test_what_cannot_be_written_any_closer_is_said_to_be_so(monkeypatch: pytest.MonkeyPatch) -> None:
    writing = SetUp._timed

    def wider(made: SetUp, limits: Limits) -> Playbooks:
        found = writing(made, limits)
        return replace(found, proved=replace(found.proved, upper=found.proved.upper + 1.0))

    monkeypatch.setattr(SetUp, "_timed", wider)
    found = Certified(gap=0.1).go_on(SetUp(GRAPH.game(), UNLIMITED), UNLIMITED)
    assert found.gap > 0.1
    assert found.status is Status.STALLED


def test_bounds_of_the_worst_prior_that_verify_wider_are_not_said_to_be_as_close_as_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def wider(solution: CertifiedSolution) -> Certificate:
        found = verify(solution)
        return replace(found, upper=found.upper + 1.0, per_intent=found.per_intent + 1.0)

    monkeypatch.setattr(worst_prior, "verify", wider)
    found = solve(games.big_match(), WorstPrior(gap=0.1))
    assert found.gap > 0.1
    assert found.status is Status.STALLED


def test_memory_that_is_short_is_not_called_time(monkeypatch: pytest.MonkeyPatch) -> None:
    running, runs = Certified.run, list[int]()

    def run(self: Certified, *game: object, **named: object) -> CertifiedSolution:
        runs.append(1)
        if len(runs) > 1:
            raise LimitError("memory", "setting up the search")
        return running(self, *game, **named)

    monkeypatch.setattr(Certified, "run", run)
    assert solve(games.big_match(), WorstPrior(gap=1e-9)).status is Status.MEMORY_LIMIT


def test_time_that_is_up_is_heard_after_intents_are_told_apart_again(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PATIENCE", "PART", "MUCH"):
        monkeypatch.setattr(fewer, name, 0.0)  # no progress is enough
    made = SetUp(MANY.game(), UNLIMITED)
    taken, heard, taking, step = list[bool](), list[bool](), SetUp.take_back, Schedule.step

    def take_back(self: SetUp) -> bool:
        taken.append(taking(self))
        return taken[-1]

    def stepped(self: Schedule, target: float, late: Callable[[], bool]) -> bool:
        if any(taken):
            heard.append(made.search.accuracy.late())
        return step(self, target, late)

    monkeypatch.setattr(SetUp, "take_back", take_back)
    monkeypatch.setattr(Schedule, "step", stepped)
    monkeypatch.setattr(SetUp, "is_late", lambda self, limits: any(taken))  # time is up once they are told apart
    found = Certified(gap=0.0, relative_gap=0.015).go_on(made, UNLIMITED)
    assert made.compiled is None
    assert heard == [True]
    assert found.status is Status.TIME_LIMIT
