"""The whole graph in one small game, from either side, where it is small enough: gone on with, and never worse."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from ncirl.attack_graphs.graph import AttackGraph, Condition, Exploit, Intent
from ncirl.attack_graphs.guarded import undivided
from ncirl.attack_graphs.guarded.above import Above
from ncirl.attack_graphs.guarded.again import LEFT, Again
from ncirl.attack_graphs.guarded.below import Below
from ncirl.attack_graphs.guarded.cuts import Flow
from ncirl.attack_graphs.guarded.guarded import Guarded
from ncirl.attack_graphs.guarded.jobs import Job, Solved, solved_job
from ncirl.attack_graphs.guarded.net import Net
from ncirl.attack_graphs.guarded.running import Run
from ncirl.attack_graphs.guarded.sizes import Size
from ncirl.attack_graphs.guarded.spread import Workers
from ncirl.attack_graphs.guarded.undivided import looked_at
from ncirl.limits import Limits

SIZE, GAP = Size(80, 80 * 40 + 2000), 0.01
WORK = 0.4  # seconds of a small game
CLOSE = 1e-6  # rounding


def cheap() -> AttackGraph:
    """Return four goals that are one exploit away each, and cheap to defend: blocking for ever costs as much."""
    goals = ("a", "b", "c", "d")
    wants = [{"a": 1.0}, {"b": 1.0}, {"c": 1.0}, {"d": 1.0}, {"a": 0.5, "b": 0.5}, {"c": 0.6, "d": 0.4}]
    return AttackGraph(
        conditions=(Condition("in", initial=True), *map(Condition, goals)),
        exploits=tuple(Exploit(f"to {goal}", ("in",), goal, 0.8, 0.01, 0.01) for goal in goals),
        intents=tuple(Intent(f"t{k}", 1 / 6, wanted) for k, wanted in enumerate(wants)),
        discount=0.9,
    )


def test_all_intents_together_are_begun_and_gone_on_with() -> None:
    net = Net(cheap())
    below = Below(net)
    (job,) = below.whole(SIZE, GAP, Limits(10.0))
    assert job.begun is None
    first = solved_job(net, replace(job, seconds=WORK))
    assert first is not None
    below.take(first)
    (again,) = below.whole(SIZE, GAP, Limits(10.0))
    assert again.begun is not None
    assert again.what == job.what
    second = solved_job(net, replace(again, seconds=again.spent + WORK))
    assert second is not None
    assert second.lower >= first.lower
    below.take(replace(second, begun=None))
    assert not below.whole(SIZE, GAP, Limits(10.0)), "what cannot be gone on with is not begun again"


def test_all_intents_together_are_gone_on_with_though_a_narrower_game_of_theirs_does_better() -> None:
    net = Net(cheap())
    below = Below(net)
    (job,) = below.whole(SIZE, GAP, Limits(10.0))
    first = solved_job(net, replace(job, seconds=WORK))
    assert first is not None
    narrow = replace(first, lower=2.0, begun=None, job=replace(job, what=replace(job.what, bundles=())))
    below.solved[below.able] = 1.0, narrow
    below.take(first)
    assert below.solved[below.able][1] is narrow
    assert below.bound_of_whole == pytest.approx(first.lower)
    (again,) = below.whole(SIZE, GAP, Limits(10.0))
    assert again.begun is first.begun


def test_the_whole_in_one_part_is_gone_on_with_once_nothing_is_unguarded() -> None:
    net = Net(cheap())
    above = Above(net, Flow(net))
    (job,) = above.whole(SIZE, GAP, Limits(10.0))
    assert above.is_whole
    assert job.begun is None
    solved = solved_job(net, replace(job, seconds=WORK))
    assert solved is not None
    above.take(solved)
    (job,) = above.whole(SIZE, GAP, Limits(10.0))
    assert job.begun is not None
    assert len(job.what.goals) == 4  # type: ignore[union-attr]
    before = above.bound
    longer = solved_job(net, replace(job, seconds=job.spent + WORK))
    assert longer is not None
    above.take(longer)
    assert above.bound <= before


def test_what_is_too_wide_for_one_part_is_left_alone() -> None:
    net = Net(cheap())
    assert not Above(net, Flow(net)).whole(Size(2, 10), GAP, Limits(10.0))


def test_bounds_hold_with_both() -> None:
    found = Guarded(relative_gap=1e-4, time_limit=5.0).run(cheap())
    assert found.verify().holds
    assert 0 < found.lower <= found.upper


def test_seconds_of_a_game_that_is_gone_on_with_are_beside_those_before(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run(cheap(), 0.0, 1e-6, 1000.0)
    (job,) = run.below.whole(SIZE, GAP, Limits(10.0))
    first = solved_job(run.net, replace(job, seconds=WORK))
    assert first is not None
    run.below.take(first)
    asked: list[float] = []
    monkeypatch.setattr(
        "ncirl.attack_graphs.guarded.running.solve_all",
        lambda net, jobs, *_: iter([asked.append(each.seconds - each.spent) for each in jobs][:0]),
    )
    left = run.deadline.left
    run.solved_within(0.5, run.below.whole(SIZE, GAP, Limits(10.0)))
    assert asked == [pytest.approx(left / 2, rel=0.1)]


@pytest.mark.parametrize("together", [True, False], ids=["others work", "alone"])
def test_where_others_work_both_sides_look_at_the_same_time(together: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[tuple[bool, float]]] = []

    def noted(net: Net, jobs: list[Job], *_: object) -> list[Solved]:
        asked.append([(job.terms is None, job.seconds) for job in jobs])
        return [solved for job in jobs if (solved := solved_job(net, replace(job, seconds=WORK))) is not None]

    monkeypatch.setattr("ncirl.attack_graphs.guarded.running.solve_all", noted)
    with ThreadPoolExecutor(2 if together else 1) as executor:
        run = Run(cheap(), 0.0, 1e-6, 100.0, Workers(executor if together else None))
        looked_at(run)
    if together:
        (((below, mine), (above, its)),) = asked
        assert (below, above) == (True, False)
        assert mine == its
    else:
        assert all(len(jobs) == 1 for jobs in asked)
        assert {jobs[0][0] for jobs in asked} == {True, False}
    assert run.above.is_best_whole
    assert run.below.bound_of_whole >= run.below.bound


@pytest.mark.parametrize("together", [True, False], ids=["others work", "alone"])
def test_without_time_nobody_looks(together: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Job] = []
    monkeypatch.setattr(
        "ncirl.attack_graphs.guarded.running.solve_all", lambda net, jobs, *_: iter(asked.extend(jobs) or [])
    )
    with ThreadPoolExecutor(2) as executor:
        looked_at(Run(cheap(), 0.0, 1e-6, 0.5, Workers(executor if together else None)))
    assert not asked


def solved_twice(lanes: int, *seconds: float) -> tuple[Again, list[tuple[float, Solved]]]:
    """Return a run with so many workers, and the whole as it was solved for its two sides in so many seconds."""
    run = Run(cheap(), 0.0, 1e-6, 100.0, Workers(ThreadPoolExecutor(lanes)))
    for side, took in zip((run.below, run.above), seconds, strict=True):
        (job,) = side.whole(SIZE, GAP, Limits(10.0))
        solved = solved_job(run.net, replace(job, seconds=took))
        assert solved is not None
        side.take(solved)
    again = Again(run)
    loose = again.loose(0.0, LEFT)
    assert len(loose) == 2
    return again, loose


@pytest.mark.parametrize(
    ("found", "looks"),
    [((0.5, 0.5), 2), ((0.4, 0.49), 2), ((0.4, 0.55), 3), ((0.7, 0.7), 3), ((0.2,), 1)],
    ids=["rests", "rises too little", "rises", "is best", "has no hope"],
)
def test_from_below_the_whole_is_gone_on_with_while_it_promises_more(
    found: tuple[float, ...], looks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    worth, asked = iter((*found, found[-1])), list[float]()

    class Side:
        bound, bound_of_whole = 0.6, 0.0

    def look(run: Run, sides: list[object], part: float) -> None:
        if isinstance(sides[0], Side):
            asked.append(part)
            Side.bound_of_whole = next(worth)

    monkeypatch.setattr(undivided, "_look", look)
    run = Run(cheap(), 0.0, 1e-6, 100.0)
    monkeypatch.setattr(run, "below", Side())
    looked_at(run)
    assert len(asked) == looks
    assert sum(asked) <= undivided.TOGETHER


def asked_for(jobs: list[Job]) -> list[float]:
    return [job.seconds - job.spent for job in jobs]


def test_what_is_solved_again_at_once_takes_as_long() -> None:
    again, loose = solved_twice(2, WORK, 2 * WORK)
    one, other = asked_for(again.longer(loose, again.run.deadline))
    assert one == pytest.approx(other)
    (alone,) = asked_for(again.longer(loose[:1], again.run.deadline))
    assert alone <= one


@pytest.mark.parametrize("begun", [(False, False), (True, False), (False, True)], ids=["new", "first", "second"])
def test_what_takes_long_to_set_up_gets_no_longer_than_there_is_time_for(begun: tuple[bool, bool]) -> None:
    again, loose = solved_twice(2, WORK, 2 * WORK)
    loose, left = sorted(loose, key=lambda found: found[1].job.seconds), Limits(8.0)
    overheads = 1.0, 0.01
    loose = [
        (gain, replace(solved, overhead=took, begun=solved.begun if on else None))
        for (gain, solved), took, on in zip(loose, overheads, begun, strict=True)
    ]
    jobs = again.longer(loose, left)
    assert len(jobs) == 2
    for job, (_, worst), took in zip(jobs, loose, overheads, strict=True):
        assert job.within <= 8.0, "set-up and playbooks are not in the time that is left"
        if job.begun is None:
            times = job.seconds / worst.job.seconds
            assert job.seconds + took * times**2 <= 8.0 + CLOSE, "its set-up leaves no time for so long a search"
    longest = max(asked_for(jobs))
    assert all(one == pytest.approx(longest) for one, on in zip(asked_for(jobs), begun, strict=True) if on)


def test_one_worker_has_all_the_time_for_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    again, loose = solved_twice(1, 2 * WORK, 2 * WORK)
    monkeypatch.setattr(again.run.pace, "overhead", lambda _: 0.01)  # whatever it took on this machine
    loose = [(gain, replace(solved, overhead=0.01)) for gain, solved in loose]
    jobs = again.longer(loose, Limits(8 * WORK))
    assert len(jobs) == 2
    assert sum(asked_for(jobs)) <= 8 * WORK, "two games in a row get the time of two at once"


def test_what_ends_by_itself_with_nothing_new_is_not_solved_again() -> None:
    again, loose = solved_twice(1, WORK, WORK)
    (_, worst) = loose[0]
    same = replace(worst, job=replace(worst.job, seconds=2 * WORK), is_over=True)
    assert not again._is_use(same, worst, again.run.apart)
    assert again._is_use(replace(same, is_over=False), worst, again.run.apart), "it had too little time to tell"
    assert again._is_use(replace(same, lower=worst.lower + CLOSE), worst, again.run.apart), "it went on"


def test_what_bounds_one_side_as_well_and_the_other_better_is_kept() -> None:
    again, loose = solved_twice(1, WORK, WORK)
    for side in (again.run.below, again.run.above):
        (solved,) = [s for _, s in loose if (s.job.terms is None) == (side is again.run.below)]
        if side is again.run.below:
            side.take(replace(solved, upper=solved.upper - CLOSE))
            assert again.run.below.best()[0][1].upper == solved.upper - CLOSE
        else:
            side.take(replace(solved, lower=solved.lower + CLOSE))
            assert again.run.above.best()[0].lower == solved.lower + CLOSE
