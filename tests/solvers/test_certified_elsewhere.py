"""Walks by others: what they find is taken home, whoever they are and however many, or done without."""

from __future__ import annotations

import logging
import pickle
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from ncirl import AttackGraph, Status
from ncirl.attack_graphs.random_graphs import random_attack_graph
from ncirl.limits import UNLIMITED
from ncirl.solvers.certified import elsewhere
from ncirl.solvers.certified.certified import Certified
from ncirl.solvers.certified.elsewhere import Beside, WalksElsewhere
from ncirl.solvers.certified.search import Search
from ncirl.solvers.certified.set_up import SetUp
from ncirl.solvers.certified.walks import Walks
from solvers.certified_checks import certify

GRAPH = random_attack_graph(5, rng=2, block_cost=0.01)
SOME = 1e5  # work


class AtOnce(Executor):
    """Runs what it is given when it is given it, on a copy, as another process would."""

    def __init__(self) -> None:
        self.runs = 0

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.runs += 1
        future: Future[Any] = Future()
        future.set_result(pickle.loads(pickle.dumps(fn(*pickle.loads(pickle.dumps(args)), **kwargs))))
        return future


class Never(Executor):
    """Takes everything and does nothing."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        return Future()


class Broken(Executor):
    """Takes some and then dies."""

    def __init__(self, takes: int) -> None:
        self.takes = takes

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        if not self.takes:
            raise RuntimeError("the pool\nis closed")
        self.takes -= 1
        future: Future[Any] = Future()
        future.set_exception(ValueError("lost on the way"))
        return future


@pytest.fixture(autouse=True)
def little(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elsewhere, "LEAST", SOME)


def never() -> bool:
    return False


def begun(graph: AttackGraph = GRAPH) -> Search:
    return SetUp(graph.game(), UNLIMITED).search


def turns(search: Search, executor: Executor, others: int, count: int = 2) -> None:
    """Walk here and elsewhere by turns."""
    beside, walks = WalksElsewhere(search, Beside(executor, others), lambda: 100.0), Walks(search)
    for _ in range(count):
        beside.turn(never)
        while search.meter.work < beside._due:
            walks.some(never)
    beside.turn(never)


@pytest.mark.parametrize("others", [1, 2])
def test_what_comes_home_holds(others: int) -> None:
    search, executor = begun(), AtOnce()
    first = search.bounds()[1]
    turns(search, executor, others)
    assert executor.runs == 3 * others
    assert search.bounds()[1] < first
    controller = search.upper.controller()
    before = search.upper.vectors[controller.alive].copy()
    assert (controller.improved(before, 1) <= before + 1e-9).all()  # each bounds what its own rows say


def test_numbers_of_nodes_are_moved_and_what_was_known_is_not() -> None:
    search = begun()
    data = pickle.dumps(search)
    Walks(search).some(never)
    mine = list(search.upper.nodes)
    found = elsewhere.walked(data, 1e-6, 1, SOME, 100.0, None)
    by = len(mine) - found.first
    assert by > 0
    search.upper.join(found.nodes, found.vectors, found.stored, found.first)
    assert search.upper.nodes[: len(mine)] == mine
    for there, here in zip(found.nodes, search.upper.nodes[len(mine) :], strict=True):
        for then, now in ((there.following, here.following), (there.column, here.column)):
            assert np.array_equal(now, np.where(then < found.first, then, then + by))
        states = [search.upper.nodes[n].state for n in here.following.tolist()]
        assert states == [search.arrays[here.state].successor[i] for i in here.observation.tolist()]


def test_a_run_can_be_repeated() -> None:
    first, second = begun(), begun()
    turns(first, AtOnce(), 2)
    with ThreadPoolExecutor(2) as executor:
        turns(second, executor, 2)
    assert first.bounds() == second.bounds()
    assert len(first.upper.nodes) == len(second.upper.nodes)


def test_solved_together() -> None:
    executor = AtOnce()
    solution = Certified(gap=0.0, relative_gap=0.03, executor=executor).run(GRAPH)
    assert executor.runs > 0
    assert solution.status is Status.GAP_REACHED
    certify(solution, gap=0.03 * solution.upper)
    assert solution.settings.executor is None  # else it could not be sent on


@pytest.mark.parametrize("takes", [0, 1])
def test_who_cannot_go_on_is_done_without(takes: int, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        turns(begun(), Broken(takes), 1)
    said = "lost on the way" if takes else "the pool is closed"
    ours = [record.getMessage() for record in caplog.records if record.name.startswith("ncirl")]
    assert ours == [elsewhere.BROKEN.format(reason=said)]


def test_nobody_is_waited_for_when_time_is_up() -> None:
    search = begun()
    beside = WalksElsewhere(search, Beside(Never(), 1), lambda: 0.0)
    beside.turn(never)
    (sent,) = beside._sent
    search.meter.work += 1e9
    beside.turn(lambda: True)
    assert not sent.done()
    beside.end()


def test_a_search_too_large_to_send_is_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elsewhere, "LARGEST", 10)
    executor = AtOnce()
    turns(begun(), executor, 1)
    assert executor.runs == 0


def test_what_a_walk_raises_is_raised_here(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    def mistaken(*_: object) -> object:
        raise ZeroDivisionError("a mistake")

    monkeypatch.setattr(elsewhere, "walked", mistaken)
    with ThreadPoolExecutor(1) as executor, pytest.raises(ZeroDivisionError, match="a mistake"):
        turns(begun(), executor, 1, 1)
    assert not caplog.messages


def test_a_mistake_in_taking_what_was_found_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    search = begun()
    monkeypatch.setattr(type(search.upper), "join", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        turns(search, AtOnce(), 1, 1)


def test_a_worker_without_memory_is_done_without(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*_: object) -> object:
        raise MemoryError

    monkeypatch.setattr(elsewhere, "walked", full)
    with ThreadPoolExecutor(1) as executor:
        turns(begun(), executor, 1, 1)
    assert caplog.messages == [elsewhere.BROKEN.format(reason="MemoryError")]
