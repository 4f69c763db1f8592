"""With time left no plan ends a search: it goes on above the ladder, and its status says what it ended for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import inf
from typing import cast

import pytest

from ncirl import Status
from ncirl.attack_graphs.guarded import climbing, running
from ncirl.attack_graphs.guarded.again import Again
from ncirl.attack_graphs.guarded.below import Below
from ncirl.attack_graphs.guarded.jobs import Job, Pace, Solved
from ncirl.attack_graphs.guarded.running import Run
from ncirl.attack_graphs.guarded.sizes import Size
from ncirl.games.office import office_graph
from ncirl.limits import Limits

LONG = 1e6  # seconds, which no test has


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the ladder end at its second rung."""
    monkeypatch.setattr(climbing, "RUNGS", climbing.RUNGS[:2])


@pytest.fixture
def sizes(monkeypatch: pytest.MonkeyPatch) -> list[Size]:
    """Tell how large the games of each rung may be, and solve none."""
    found = list[Size]()

    def turns(run: Run, size: Size, width: int, share: float) -> Iterator[tuple[list[Job], float]]:
        found.append(size)
        yield [], 1.0

    monkeypatch.setattr(climbing, "_turns", turns)
    monkeypatch.setattr(climbing, "played_entirely", lambda *_: False)
    monkeypatch.setattr(climbing, "looked_at", lambda *_: None)
    monkeypatch.setattr(Below, "hide", lambda *_: [])
    monkeypatch.setattr(Again, "refine", lambda *_: Status.FINISHED)
    return found


def run_of(seconds: float | None) -> Run:
    run = Run(office_graph(), 0.0, 0.001, seconds)
    run.bound_at_all()
    return run


def test_with_time_left_larger_games_follow_the_ladder_until_none_can_be_set_up(
    short: None, sizes: list[Size], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Pace, "overhead", lambda _, work: 0.0 if work < 1e9 else inf)
    assert climbing.climbed(run_of(LONG)) is Status.TIME_LIMIT
    states = [size.states for size in sizes]
    assert states[:2] == [0, 24]
    assert len(states) > 10
    assert states[-1] > 1e9 / 12 / 8
    assert states[2:] == [24 * 2**k for k in range(1, len(states) - 1)]


@pytest.mark.parametrize(("solved", "rungs"), [(0, 3), (1, 4)])
def test_where_all_that_a_rung_adds_is_too_large_there_are_no_more(
    solved: int, rungs: int, short: None, sizes: list[Size], monkeypatch: pytest.MonkeyPatch
) -> None:
    """While something is solved, there is one more."""
    run, turns = run_of(LONG), climbing._turns

    def too_large(run: Run, size: Size, width: int, share: float) -> Iterator[tuple[list[Job], float]]:
        if len(sizes) > 1:
            run.leave_out(Status.TIME_LIMIT)
            run.solves += solved if len(sizes) == 2 else 0
        yield from turns(run, size, width, share)

    monkeypatch.setattr(climbing, "_turns", too_large)
    assert climbing.climbed(run) is Status.TIME_LIMIT
    assert len(sizes) == rungs


def test_without_a_limit_the_ladder_is_all(short: None, sizes: list[Size]) -> None:
    assert climbing.climbed(run_of(None)) is Status.FINISHED
    assert [size.states for size in sizes] == [0, 24]


def test_what_is_whole_from_both_sides_is_finished(
    short: None, sizes: list[Size], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = run_of(LONG)
    run.above.is_whole = True
    run.below.is_whole = True
    assert climbing.climbed(run) is Status.FINISHED
    assert len(sizes) <= 2


@pytest.mark.parametrize(("within", "status"), [(inf, Status.MEMORY_LIMIT), (1.0, Status.TIME_LIMIT)])
def test_games_that_come_to_nothing_are_told(
    within: float, status: Status, short: None, sizes: list[Size], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = run_of(None)
    monkeypatch.setattr(running, "solve_all", lambda *_: iter(()))
    (job,) = run.above.climb(Size(24, 2_960), 4, 0.1, Limits(), Limits())[:1]
    assert not list(run.solved([replace(job, within=within)]))
    assert climbing.climbed(run) is status


def test_games_for_which_there_is_no_time_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    run = run_of(LONG)
    (job,) = run.above.climb(Size(24, 2_960), 4, 0.1, Limits(), Limits())[:1]
    monkeypatch.setattr(Pace, "overhead", lambda *_: 2 * LONG)
    climbing._solve(run, [job], LONG)
    assert run.left_out is Status.TIME_LIMIT


def test_who_is_patient_gives_up_only_what_is_over() -> None:
    run = run_of(LONG)
    again = Again(run)
    worst = cast(Solved, run.above.best()[0])
    little = replace(worst, job=replace(worst.job, seconds=3 * worst.job.seconds), is_over=False)
    assert not again._is_use(little, worst, 1.0)
    again.exact.add(worst.job.what)
    again.be_patient()
    assert not again.exact
    assert again._is_use(little, worst, 1.0)
    assert not again._is_use(replace(little, is_over=True), worst, 1.0)


def test_a_small_graph_is_whole_once_all_play_with_all_there_is() -> None:
    run = run_of(LONG)
    assert not run.below.is_whole
    for states in (24, 10_000):
        run.below.climb(Size(states, 10**7), 0.1, Limits(), Limits(0.0))
        assert run.below.is_whole == (states > 24)
