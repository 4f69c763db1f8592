"""Workers change nothing but the time, and what goes wrong with them is survived."""

import logging
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from math import inf
from typing import Any, cast

import pytest

import ncirl
from ncirl.attack_graphs.graph import AttackGraph
from ncirl.attack_graphs.guarded import spread
from ncirl.attack_graphs.guarded.below import Below
from ncirl.attack_graphs.guarded.guarded import Guarded
from ncirl.attack_graphs.guarded.jobs import Job, Solved
from ncirl.attack_graphs.guarded.net import Net
from ncirl.attack_graphs.guarded.running import Run
from ncirl.attack_graphs.guarded.sizes import Size
from ncirl.attack_graphs.guarded.solution import GuardedSolution
from ncirl.attack_graphs.guarded.spread import LAST, Workers, solve_all
from ncirl.attack_graphs.random_graphs import random_attack_graph
from ncirl.experiments.pool import cluster, spawned
from ncirl.limits import Limits
from ncirl.solution import Progress, Status
from ncirl.solvers.certified.set_up import SetUp

GAP = 0.05
SMALL = Size(20, 200)
CLOSE = 1e-9  # rounding


@cache
def graph() -> AttackGraph:
    return random_attack_graph(7, intents=3, rng=2)


@cache
def alone() -> GuardedSolution:
    return Guarded(relative_gap=GAP, time_limit=None).run(graph())


def same(one: GuardedSolution, other: GuardedSolution) -> bool:
    return (
        (one.lower, one.upper) == (other.lower, other.upper)
        and one.per_intent.tolist() == other.per_intent.tolist()
        and [p.part for p in one.proof.parts] == [p.part for p in other.proof.parts]
        and [g.group for g in one.proof.groups] == [g.group for g in other.proof.groups]
    )


class Backwards(Executor):
    """Runs what it is given in batches, the last first."""

    def __init__(self) -> None:
        self.waiting: list[tuple[Future[Any], Callable[[], Any]]] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **named: Any) -> Future[Any]:
        executor = self

        class Later(Future[Any]):
            def result(self, timeout: float | None = None) -> Any:
                while executor.waiting:
                    future, run = executor.waiting.pop()
                    future.set_result(run())
                return super().result(timeout)

        future = Later()
        self.waiting.append((future, lambda: fn(*args, **named)))
        return future


@contextmanager
def dask() -> Iterator[Executor]:
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=2, processes=False, protocol="tcp://", dashboard_address=None
        ) as here,
        cluster(here.scheduler_address).open() as executor,
    ):
        yield executor


@pytest.mark.parametrize(
    "pool",
    [lambda: ThreadPoolExecutor(1), lambda: ThreadPoolExecutor(3), Backwards, spawned(2).open, dask],
    ids=["one thread", "three threads", "last first", "two processes", "Dask"],
)
def test_the_number_and_the_order_of_workers_change_nothing(pool: Callable[[], Any]) -> None:
    with pool() as executor:
        found = Guarded(relative_gap=GAP, time_limit=None, executor=executor).run(graph())
    assert same(found, alone())
    assert found.verify().holds


class Breaking(Executor):
    """Does some jobs, then breaks: at the door, or with the work in hand."""

    def __init__(self, jobs: int, at_the_door: bool) -> None:
        self.jobs, self.at_the_door = jobs, at_the_door

    def submit(self, fn: Callable[..., Any], /, *args: Any, **named: Any) -> Future[Any]:
        self.jobs -= 1
        future: Future[Any] = Future()
        if self.jobs >= 0:
            future.set_result(fn(*args, **named))
        elif self.at_the_door:
            raise BrokenExecutor("a worker was killed")
        else:
            future.set_exception(BrokenExecutor("a worker was killed"))
        return future


@pytest.mark.parametrize("at_the_door", [True, False])
@pytest.mark.parametrize("jobs", [0, 3])
def test_a_broken_pool_is_one_sentence_and_work_goes_on(
    jobs: int, at_the_door: bool, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, logger="ncirl"):
        found = Guarded(relative_gap=GAP, time_limit=None, executor=Breaking(jobs, at_the_door)).run(graph())
    assert same(found, alone())
    (said,) = (record.getMessage() for record in caplog.records if record.name.startswith("ncirl"))
    assert said == spread.BROKEN.format(reason="a worker was killed")


class Stalling(Executor):
    """Does some jobs; of the rest nothing is heard."""

    def __init__(self, jobs: int) -> None:
        self.jobs, self.given_up = jobs, 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **named: Any) -> Future[Any]:
        self.jobs -= 1
        future: Future[Any] = Future()
        if self.jobs >= 0:
            future.set_result(fn(*args, **named))
        else:
            future.add_done_callback(lambda done: setattr(self, "given_up", self.given_up + done.cancelled()))
        return future


@pytest.mark.parametrize("jobs", [1, 4])
def test_ctrl_c_while_others_work_ends_with_what_there_is(jobs: int) -> None:
    executor = Stalling(jobs)

    def press(progress: Progress) -> None:
        if executor.jobs < 0:  # somebody is waited for
            raise KeyboardInterrupt

    found = Guarded(relative_gap=0.0, time_limit=None, executor=executor).run(graph(), progress=press)
    assert found.status is Status.INTERRUPTED
    assert executor.given_up > 0
    assert found.verify().holds


class AllButTheFirst(Executor):
    """Does all it is given at once, but for the first."""

    def __init__(self) -> None:
        self.given = 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **named: Any) -> Future[Any]:
        self.given += 1
        future: Future[Any] = Future()
        if self.given > 1:
            future.set_result(fn(*args, **named))
        return future


def test_all_that_others_have_found_when_ctrl_c_comes_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, taken = list[Job](), list[Job]()

    def climbed(run: Run) -> Status:
        run.bound_at_all()
        asked.extend(replace(job, seconds=1.0) for job in run.below.climb(SMALL, GAP, Limits(10.0), Limits(0.0)))
        list(run.solved(asked))
        return Status.FINISHED

    def take(below: Below, solved: Solved) -> None:
        taken.append(solved.job)

    def press(_: Progress) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("ncirl.attack_graphs.guarded.guarded.climbed", climbed)
    monkeypatch.setattr(Below, "take", take)
    found = Guarded(relative_gap=0.0, time_limit=None, executor=AllButTheFirst()).run(graph(), progress=press)
    assert found.status is Status.INTERRUPTED
    assert len(asked) > 2
    assert [job.what for job in taken] == [job.what for job in asked[1:]]


class Sleeper:
    is_awake = True

    def rest(self) -> None:
        self.is_awake = False


@pytest.mark.parametrize(
    ("limit", "memory", "awake"),
    [(60.0, 10**12, [2, 3]), (None, 10**12, []), (60.0, 1, [])],
    ids=["few", "none", "no room"],
)
def test_few_searches_are_kept_awake_and_only_where_time_is_short(
    limit: float | None, memory: int, awake: list[int]
) -> None:
    workers, searches = Workers(memory=memory), [Sleeper() for _ in range(4)]
    for k in (3, 0, 1, 2, 3):
        searches[k].is_awake = True
        workers.keep(cast(SetUp, searches[k]), Limits(limit))
    assert [k for k, search in enumerate(searches) if search.is_awake] == awake
    workers.keep(None, Limits(limit))
    assert [k for k, search in enumerate(searches) if search.is_awake] == awake


def test_a_search_is_awake_while_it_is_gone_on_with_and_rests_before_another_begins(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    net, workers, limit, rested = Net(graph()), Workers(), Limits(60.0), list[SetUp]()
    resting = SetUp.rest

    def rest(search: SetUp) -> None:
        rested.append(search)
        resting(search)

    monkeypatch.setattr(SetUp, "rest", rest)
    jobs = [replace(job, seconds=0.2) for job in Below(net).climb(SMALL, GAP, Limits(10.0), Limits(0.0))]
    (first,) = solve_all(net, jobs[:1], workers, deadline=limit)
    assert first.begun is not None
    (longer,) = solve_all(net, [first.longer(0.0, 0.4)], workers, deadline=limit)
    assert longer.begun is first.begun
    assert longer.lower >= first.lower - CLOSE
    assert not rested
    list(solve_all(net, jobs[1:2], workers, deadline=limit))
    assert rested == [first.begun]


def test_what_cannot_rest_costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: SetUp) -> None:
        raise MemoryError("full")

    monkeypatch.setattr(SetUp, "rest", full)
    jobs = [replace(job, seconds=0.2) for job in Below(Net(graph())).climb(SMALL, GAP, Limits(10.0), Limits(0.0))]
    assert len(list(solve_all(Net(graph()), jobs[:3], Workers()))) == 3


@pytest.mark.parametrize("is_large", [True, False])
def test_a_large_game_keeps_to_the_time_that_is_left_then(is_large: bool) -> None:
    net = Net(graph())
    (job, *_) = Below(net).climb(SMALL, GAP, Limits(10.0), Limits(0.0))
    asked = replace(job, seconds=5.0, within=5.0 if is_large else inf)
    within = spread._in_time(asked, Limits(2.0)).within
    assert within == (pytest.approx(LAST * 2.0, abs=0.1) if is_large else inf)
    assert spread._in_time(asked, Limits(60.0)).within == (5.0 if is_large else inf)


def test_workers_that_never_answer_do_not_hold_up_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spread, "GRACE", 0.0)
    found = Guarded(relative_gap=0.0, time_limit=0.5, executor=Stalling(0)).run(graph())
    assert found.status is Status.TIME_LIMIT
    assert found.verify().holds


@pytest.mark.parametrize("executor", [None, ThreadPoolExecutor(1)])
def test_the_memory_allowed_is_that_of_every_worker(executor: Executor | None) -> None:
    with pytest.raises(ncirl.SizeError, match="the memory"):
        Guarded(memory=1, time_limit=None, executor=executor).run(graph())
    with pytest.raises(ncirl.InputError, match="memory: must be a positive number"):
        Guarded(memory=0).run(graph())


def test_what_a_job_raises_elsewhere_is_raised(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def mistaken(*_: object, **__: object) -> Solved:
        raise ZeroDivisionError("a mistake")

    monkeypatch.setattr(spread, "solved_job", mistaken)
    with ThreadPoolExecutor(1) as executor, pytest.raises(ZeroDivisionError, match="a mistake"):
        Guarded(time_limit=None, executor=executor).run(graph())
    assert not caplog.messages
