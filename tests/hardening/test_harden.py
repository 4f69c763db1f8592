"""Hardening against brute force; workers, journals and limits change nothing but the time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ncirl
from hardening.oracle import brute_force, instance
from ncirl.attack_graphs.graph import AttackGraph, Condition, Control, Exploit, Intent
from ncirl.attack_graphs.guarded.guarded import Guarded
from ncirl.attack_graphs.guarded.solution import GuardedSolution
from ncirl.attack_graphs.hardening.bounding import Task, bounded
from ncirl.attack_graphs.hardening.choosing import _enough
from ncirl.attack_graphs.hardening.facts import Attack, Facts
from ncirl.attack_graphs.hardening.harden import HardenProgress, _less
from ncirl.attack_graphs.hardening.ranking import ties
from ncirl.errors import InputError
from ncirl.experiments.pool import spawned
from ncirl.formats.harden_journal import HardenJournal
from ncirl.solution import Status

EXACT = 1e-6  # how exact the exact program is
ORDINARY, ALL = range(8), range(8, 58)


def check(seed: int) -> None:
    graph, choose = instance(seed), 1 + seed % 2
    values = brute_force(graph, choose)
    before = values[frozenset()]
    found = ncirl.harden(graph, choose=choose, top=3, relative_gap=0.01)
    assert found.lower - EXACT <= before <= found.upper + EXACT
    assert {w.control.id for w in found.worths} == {control.id for control in graph.defences}
    worth = {w.control.id: before - values[frozenset([w.control.id])] for w in found.worths}
    for w in found.worths:
        assert w.lower - EXACT <= worth[w.control.id] <= w.upper + EXACT
        assert w.after_lower - EXACT <= values[frozenset([w.control.id])] <= w.after_upper + EXACT
        better = sum(other > worth[w.control.id] + EXACT for other in worth.values())
        no_worse = sum(other >= worth[w.control.id] - EXACT for other in worth.values())
        assert w.first <= no_worse
        assert w.last >= better + 1
    for tie in found.ties:
        before_it, tied = (
            [worth[w.control.id] for w in some]
            for some in (found.worths[: tie.first - 1], found.worths[tie.first - 1 : tie.last])
        )
        behind = [worth[w.control.id] for w in found.worths[tie.last :]]
        assert max(tied) - min(tied) <= tie.within + EXACT
        assert min(before_it, default=max(tied)) >= max(tied) - EXACT
        assert max(behind, default=min(tied)) <= min(tied) + EXACT
    chosen = found.chosen
    assert chosen is not None
    assert chosen.is_proved
    real = values[frozenset(control.id for control in chosen.controls)]
    least = min(values.values())
    assert chosen.others - EXACT <= least
    assert real <= least + found.tolerance + EXACT
    assert chosen.after_lower - EXACT <= real <= chosen.after_upper + EXACT


@pytest.mark.parametrize("seed", ORDINARY)
def test_every_interval_holds_the_exact_worth_and_the_set_is_the_best(seed: int) -> None:
    check(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", ALL)
def test_the_same_on_many_graphs(seed: int) -> None:
    check(seed)


def chains() -> AttackGraph:
    """Return two ways to one goal and a third to another, with controls that overlap."""
    names = ("outside", "web", "mail", "data", "desk")
    exploits = (
        Exploit("sqli", ("outside",), "web", 0.8, 0.02, 0.1),
        Exploit("phish", ("outside",), "mail", 0.8, 0.02, 0.1),
        Exploit("dump", ("web",), "data", 0.9, 0.02, 0.1),
        Exploit("copy", ("mail",), "data", 0.9, 0.02, 0.1),
        Exploit("sit", ("mail",), "desk", 0.9, 0.02, 0.1),
        Exploit("wander", ("data",), "outside", 0.9, 0.02, 0.1),
    )
    return AttackGraph(
        tuple(Condition(name, name == "outside") for name in names),
        exploits,
        (Intent("thief", 0.5, {"data": 1.0}), Intent("spy", 0.5, {"desk": 1.0})),
        discount=0.9,
        horizon=3,
    )


@pytest.mark.parametrize(("spend", "best"), [(0.25, {"mfa"}), (0.7, {"mfa", "patch"}), (0.0, set())])
def test_spending_buys_the_best_that_it_can(spend: float, best: set[str]) -> None:
    controls = (
        Control("patch", ("sqli",), 0.4, "lasting"),
        Control("mfa", ("phish",), 0.25),
        Control("both", ("sqli", "phish"), 0.9),
        Control("nothing", ("wander",), 0.0),
    )
    found = ncirl.harden(replace(chains(), controls=controls), spend=spend, relative_gap=0.02)
    assert found.chosen is not None
    assert {control.id for control in found.chosen.controls} == best
    assert found.chosen.cost <= spend
    assert found.chosen.is_proved
    idle = next(w for w in found.worths if w.control.id == "nothing")
    assert (idle.lower, idle.upper) == (0.0, 0.0)
    assert found.worths[0].control.id == "both"


def said(found: ncirl.Hardening) -> tuple[object, ...]:
    return found.lower, found.upper, found.worths, found.chosen, found.status, found.solves


def test_of_sets_that_leave_the_same_a_cheap_one_is_told() -> None:
    controls = (
        Control("dear", ("sqli", "wander"), 0.9, "lasting"),
        Control("cheap", ("sqli",), 0.1, "lasting"),
        Control("mail", ("phish", "copy"), 0.5, "lasting"),
        Control("filter", ("phish",), 0.2, "lasting"),
    )
    found = ncirl.harden(replace(chains(), controls=controls), choose=2, relative_gap=0.01).chosen
    assert found is not None
    assert found.after_upper == 0
    assert {control.id for control in found.controls} == {"cheap", "filter"}


def test_the_number_of_workers_changes_nothing() -> None:
    graph = chains()
    alone = ncirl.harden(graph, choose=2, relative_gap=0.05)
    with spawned(2).open() as executor:
        assert said(ncirl.harden(graph, choose=2, relative_gap=0.05, executor=executor)) == said(alone)


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 4)), min_size=1, max_size=9), st.integers(1, 9))
def test_what_is_not_told_apart_is_cut_off_from_all_others(ends: list[tuple[int, int]], top: int) -> None:
    intervals = sorted([(float(low), float(low + size)) for low, size in ends], key=sum)
    runs = ties(intervals, top)
    for first, last in runs:
        assert first < min(top, last)
        for cut in (first, last + 1):
            assert max((high for _, high in intervals[:cut]), default=0) <= min(
                (low for low, _ in intervals[cut:]), default=99
            )
        for cut in range(first + 1, last + 1):
            assert max(high for _, high in intervals[:cut]) > min(low for low, _ in intervals[cut:])
    together = {k for first, last in runs for k in range(first, last + 1)}
    for k in range(min(top, len(intervals))):
        if k not in together:  # it has a place of its own
            assert all(high <= intervals[k][0] for _, high in intervals[:k])
            assert all(low >= intervals[k][1] for low, _ in intervals[k + 1 :])


class Killed(Exception):
    pass


def test_a_killed_study_goes_on_where_it_was(tmp_path: Path) -> None:
    graph, path = chains(), tmp_path / "journal"
    whole = ncirl.harden(graph, choose=2, relative_gap=0.05)

    def kill(progress: HardenProgress) -> None:
        if progress.solves == 3:
            raise Killed

    with pytest.raises(Killed):
        ncirl.harden(graph, choose=2, relative_gap=0.05, journal=HardenJournal(path, graph), progress=kill)
    with path.open("a") as file:
        file.write('{"task": "cut off in the mid')
    again = ncirl.harden(graph, choose=2, relative_gap=0.05, journal=HardenJournal(path, graph))
    assert said(again)[:-1] == said(whole)[:-1]
    assert again.solves == whole.solves - 3
    third = ncirl.harden(graph, choose=2, relative_gap=0.05, journal=HardenJournal(path, graph))
    assert third.solves == 0
    assert said(third)[:-1] == said(whole)[:-1]


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ('{"format": "other"}\n', "is no journal"),
        ("not json\n", "not JSON"),
        ('{"format": "ncirl-harden-journal/1", "graph": "0"}\n', "another graph"),
    ],
)
def test_a_file_that_is_no_journal_of_this_graph_is_refused(content: str, complaint: str, tmp_path: Path) -> None:
    path = tmp_path / "journal"
    path.write_text(content)
    with pytest.raises(InputError, match=complaint):
        HardenJournal(path, chains())


def test_a_forged_entry_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    HardenJournal(path, chains())
    with path.open("a") as file:
        file.write('{"task": "x", "upper": "low", "records": []}\n')
    with pytest.raises(InputError, match="line 2"):
        HardenJournal(path, chains())


def test_time_and_interruption_leave_bounds_that_hold() -> None:
    graph = chains()
    exact = ncirl.harden(graph, choose=1, relative_gap=0.01)

    def interrupt(progress: HardenProgress) -> None:
        if progress.solves == 2:
            raise KeyboardInterrupt

    stopped = ncirl.harden(graph, choose=1, relative_gap=0.01, progress=interrupt)
    hurried = ncirl.harden(graph, choose=1, relative_gap=0.01, time_limit=1e-9)
    assert (stopped.status, hurried.status) == (Status.INTERRUPTED, Status.TIME_LIMIT)
    fine: Mapping[str, Any] = {w.control.id: w for w in exact.worths}
    for found in (stopped, hurried):
        assert found.chosen is not None
        assert not found.chosen.is_proved
        for w in found.worths:
            assert w.lower <= fine[w.control.id].upper
            assert w.upper >= fine[w.control.id].lower


@pytest.mark.parametrize("seed", [0, 1, 3, 5, 8])
def test_graphs_that_cannot_be_listed_are_guarded(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = instance(seed)
    values = brute_force(graph, 1)
    monkeypatch.setattr("ncirl.attack_graphs.hardening.bounding.listable", lambda graph: (len(graph.intents) < 2, None))
    found = ncirl.harden(graph, choose=1, relative_gap=0.3, top=2)
    before = values[frozenset()]
    assert found.lower - EXACT <= before <= found.upper + EXACT
    for w in found.worths:
        value = values[frozenset([w.control.id])]
        assert w.after_lower - EXACT <= value <= w.after_upper + EXACT
        assert w.lower - EXACT <= before - value <= w.upper + EXACT
    assert found.chosen is not None
    assert found.chosen.others - EXACT <= min(values.values())


@pytest.mark.parametrize("controlled", [False, True])
def test_the_games_of_one_task_share_its_seconds(controlled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[float | None] = []

    class Recorded(Guarded):
        def run(self, graph: AttackGraph, **given: Any) -> GuardedSolution:
            asked.append(self.time_limit)
            return super().run(graph, **given)

    class RecordedList(ncirl.Certified):
        def run(self, game: Any, **given: Any) -> Any:
            asked.append(self.time_limit)
            return super().run(game, **given)

    place = "ncirl.attack_graphs.hardening.bounding"
    monkeypatch.setattr(f"{place}.listable", lambda graph: (len(graph.intents) < 2, None))
    monkeypatch.setattr(f"{place}.Guarded", Recorded)
    monkeypatch.setattr(f"{place}.Certified", RecordedList)
    graph = chains()
    controls = tuple(Control(e.id, (e.id,), e.block_cost) for e in graph.exploits)
    bounded(Task(replace(graph, controls=controls if controlled else None), gap=0.5, seconds=4.0))
    assert len(asked) == len(graph.intents) + 1
    assert sum(each for each in asked if each is not None) <= 4.0 + 1e-9


def test_attacks_bound_every_set_that_leaves_them_open() -> None:
    facts = Facts(["a", "b", "c", "d"])
    facts.from_below([Attack(("s",), frozenset("ab"), 0.3), Attack(("t",), frozenset("c"), 0.2)])
    facts.from_below([Attack(("s", "t"), frozenset("ad"), 0.6)])
    facts.from_above(facts.mask("abc"), 0.55)
    lower = {"".join(names): facts.lower(facts.mask(names)) for names in ("abcd", "abc", "ad", "ab", "c", "bd", "")}
    expected = {"abcd": 0.6, "abc": 0.5, "ad": 0.6, "ab": 0.3, "c": 0.2, "bd": 0.0, "": 0.0}
    assert lower == pytest.approx(expected, abs=1e-12)
    assert facts.upper(facts.mask("ab")) == 0.55
    assert facts.upper(facts.mask("ad")) == np.inf


def test_differences_and_sums_of_bounds_are_rounded_outwards() -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        low, high, after_low, after_high = rng.uniform(0.0, 1.0, 4).tolist()
        sure, possible = _less((low, high), (after_low, after_high))
        assert sure <= max(Fraction(0), Fraction(low) - Fraction(after_high))
        assert possible >= Fraction(high) - Fraction(after_low)
        parts = rng.uniform(0.0, 1.0, 3).tolist()
        assert _enough([(secures, 1 << k) for k, secures in enumerate(parts)], sum(parts)) is None or sum(
            map(Fraction, parts)
        ) >= Fraction(sum(parts))


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"choose": 0}, "choose"),
        ({"spend": -1.0}, "spend"),
        ({"top": 0}, "top"),
        ({"relative_gap": 0.0}, "gap"),
        ({"time_limit": 0.0}, "time_limit"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, Any], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        ncirl.harden(chains(), **settings)
