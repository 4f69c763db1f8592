"""The whole graph in one small game, from either side, where it is small enough: gone on with, and never worse."""

from dataclasses import replace

import pytest

from ncirl.attack_graphs.graph import AttackGraph, Condition, Exploit, Intent
from ncirl.attack_graphs.guarded.above import Above
from ncirl.attack_graphs.guarded.below import Below
from ncirl.attack_graphs.guarded.cuts import Flow
from ncirl.attack_graphs.guarded.guarded import Guarded, _Search
from ncirl.attack_graphs.guarded.jobs import solved_job
from ncirl.attack_graphs.guarded.net import Net
from ncirl.attack_graphs.guarded.sizes import Size
from ncirl.limits import Limits

SIZE, GAP = Size(80, 80 * 40 + 2000), 0.01
WORK = 0.4  # seconds of a small game


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
    below.solved[below.able] = 1.0, replace(second, begun=None)
    assert not below.whole(SIZE, GAP, Limits(10.0)), "what cannot be gone on with is not begun again"


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
    search = _Search(Guarded(relative_gap=1e-6, time_limit=30.0), cheap(), None)
    (job,) = search.below.whole(SIZE, GAP, Limits(10.0))
    first = solved_job(search.net, replace(job, seconds=WORK))
    assert first is not None
    search.below.take(first)
    asked: list[float] = []
    monkeypatch.setattr(
        "ncirl.attack_graphs.guarded.guarded.solve_all",
        lambda net, jobs, *_: iter([asked.append(each.seconds - each.spent) for each in jobs][:0]),
    )
    search._solve(search.below.whole(SIZE, GAP, Limits(10.0)), 5.0)
    assert asked == [pytest.approx(5.0)]
