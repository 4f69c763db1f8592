"""Hardening against brute force; workers, journals and limits change nothing but the time."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ncirl
from forging import Forged
from hardening.oracle import brute_force, instance
from ncirl.attack_graphs.answer import answer
from ncirl.attack_graphs.found import Findings
from ncirl.attack_graphs.graph import AttackGraph, Condition, Control, Exploit, Intent
from ncirl.attack_graphs.hardening.bounding import Task, bounded
from ncirl.attack_graphs.hardening.choosing import _enough
from ncirl.attack_graphs.hardening.facts import Attack, Facts
from ncirl.attack_graphs.hardening.harden import HardenProgress, _less
from ncirl.attack_graphs.hardening.ranking import ties
from ncirl.attack_graphs.origins import NumberOrigin
from ncirl.attack_graphs.reductions.size import estimate_size
from ncirl.errors import InputError
from ncirl.experiments.pool import spawned
from ncirl.formats.harden_journal import HardenJournal
from ncirl.reports.hardening import assumed_words, best_words, proof_words
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
    stages = sum(graph.discount**t for t in range(graph.horizon or 0))
    for w in found.worths:
        price = w.control.cost * (1.0 if w.control.lasts else stages)
        assert w.in_place == pytest.approx(price)
        assert w.net[0] - EXACT <= worth[w.control.id] - price <= w.net[1] + EXACT
        if graph.defender_budget is None:  # it could have applied it itself
            assert worth[w.control.id] <= price + EXACT
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
    assert chosen.is_proved or chosen.after_upper - chosen.others >= min(
        before - chosen.after_upper, chosen.after_upper
    )
    real = values[frozenset(control.id for control in chosen.controls)]
    least = min(values.values())
    assert chosen.others - EXACT <= least
    assert real <= least + found.tolerance + EXACT
    assert chosen.after_lower - EXACT <= real <= chosen.after_upper + EXACT
    names = {control.id for control in chosen.controls}
    if chosen.is_only:
        assert all(names <= some for some, value in values.items() if value <= chosen.after_upper - EXACT)
        assert chosen.as_good is None
    if chosen.as_good is not None:
        other = values[frozenset(control.id for control in chosen.as_good)]
        assert not names <= {control.id for control in chosen.as_good}
        assert other <= before + EXACT
    if not names:
        assert before - least <= found.upper - chosen.others + EXACT


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


@pytest.mark.parametrize(("spend", "best"), [(0.68, {"mfa"}), (1.08, {"mfa", "patch"}), (0.0, set())])
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


SIZE = estimate_size(chains())


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
    kept = sorted(path.glob("*.ncirl"))
    assert len(kept) == 3
    again = ncirl.harden(graph, choose=2, relative_gap=0.05, journal=HardenJournal(path, graph))
    assert said(again)[:-1] == said(whole)[:-1]
    assert again.solves == whole.solves - 3
    third = ncirl.harden(graph, choose=2, relative_gap=0.05, journal=HardenJournal(path, graph))
    assert third.solves == 0
    assert said(third)[:-1] == said(whole)[:-1]
    assert all(ncirl.verify(ncirl.load_solution(file)).holds for file in kept)


def test_what_was_cut_short_counts_when_the_study_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph, path = chains(), tmp_path / "journal"

    def cut_short(graph: AttackGraph, gap: float, relative_gap: float, seconds: float, progress: Any) -> Any:
        return replace(answer(graph, gap, relative_gap, seconds, progress), status=Status.TIME_LIMIT)

    def hopeless(graph: AttackGraph, gap: float, relative_gap: float, seconds: float, progress: Any) -> Any:
        return answer(graph, 2.0, 2.0, seconds, progress)

    place = "ncirl.attack_graphs.hardening.bounding.answer"
    monkeypatch.setattr(place, cut_short)
    first = ncirl.harden(graph, choose=1, relative_gap=0.05, time_limit=30.0, journal=HardenJournal(path, graph))
    kept = list(path.glob("*-part-*.ncirl"))
    assert kept
    monkeypatch.setattr(place, hopeless)
    alone = ncirl.harden(graph, choose=1, relative_gap=0.05, time_limit=30.0)
    again = ncirl.harden(graph, choose=1, relative_gap=0.05, time_limit=30.0, journal=HardenJournal(path, graph))
    assert alone.upper - alone.lower > 2 * (first.upper - first.lower)
    assert first.lower - EXACT <= again.lower <= again.upper <= first.upper + EXACT
    assert again.solves > 0


def lied(path: Path) -> None:
    """Let a policy claim to prove a quarter of what it does."""
    forged = Forged(path)
    forged.header |= {name: forged.header[name] / 4 for name in ("lower", "upper")}
    forged.write(path)


def test_what_a_journal_says_is_verified_before_it_counts(tmp_path: Path) -> None:
    graph = chains()
    whole = ncirl.harden(graph, choose=1, relative_gap=0.05, journal=HardenJournal(tmp_path / "first", graph))
    files = sorted((tmp_path / "first").glob("*.ncirl"))
    assert len(files) > 3
    weak = replace(graph, exploits=tuple(replace(e, success=e.success / 4) for e in graph.exploits))
    of_weak = HardenJournal.proofs.packed(ncirl.solve(weak.game(), ncirl.Certified(gap=0.001)), weak)
    forgeries: dict[str, Callable[[Path], object]] = {
        "claims": lied,
        "other-graph": lambda file: file.write_bytes(of_weak),
        "cut-off": lambda file: file.write_bytes(file.read_bytes()[:500]),
        "swapped": lambda file: file.write_bytes(files[0].read_bytes()),
    }
    for name, forged in forgeries.items():
        path = tmp_path / name
        shutil.copytree(tmp_path / "first", path)
        for file in path.glob("*.ncirl"):
            forged(file)
        found = ncirl.harden(graph, choose=1, relative_gap=0.05, journal=HardenJournal(path, graph))
        assert (said(found)[:-1] == said(whole)[:-1]) or name == "swapped", name
        assert found.lower <= whole.upper, name
        assert found.upper >= whole.lower, name
        assert found.solves == whole.solves or name == "swapped", name
        assert found.solves > 0, name


def test_a_journal_is_of_the_very_graph_however_small_its_numbers_are(tmp_path: Path) -> None:
    tiny = Exploit("run", ("out",), "in", success=0.5)
    places = Condition("out", initial=True), Condition("in")
    graph = AttackGraph(places, (tiny,), (Intent("thief", 1.0, {"in": 2e-14}),), discount=0.5, horizon=2)
    other = replace(graph, intents=(Intent("thief", 1.0, {"in": 1e-14}),))
    proofs = HardenJournal.proofs
    solved, forged = (ncirl.solve(g.game(), ncirl.Certified(gap=0.0, relative_gap=1e-6)) for g in (graph, other))
    assert proofs.opened(proofs.packed(solved, graph), graph) is not None
    assert proofs.opened(proofs.packed(forged, graph), graph) is None


def test_a_folder_that_is_no_journal_of_this_graph_is_refused(tmp_path: Path) -> None:
    old, other, foreign = tmp_path / "old", tmp_path / "other", tmp_path / "foreign"
    old.write_text('{"format": "ncirl-harden-journal/1", "graph": "0"}\n')
    HardenJournal(other, replace(chains(), discount=0.5))
    foreign.mkdir()
    (foreign / "about.txt").write_text("mine")
    for path, complaint in ((old, "older version"), (other, "another graph"), (foreign, "is no journal")):
        with pytest.raises(InputError, match=complaint):
            HardenJournal(path, chains())
    (other / "about.json").write_text("not json")
    with pytest.raises(InputError, match="not JSON"):
        HardenJournal(other, chains())


def test_the_first_thing_known_is_what_solve_says() -> None:
    graph = chains()
    solved = ncirl.solve(graph.game(), ncirl.Certified(gap=0.0, relative_gap=0.01))

    def interrupt(progress: HardenProgress) -> None:
        if progress.solves == 1:
            raise KeyboardInterrupt

    found = ncirl.harden(graph, choose=1, relative_gap=0.02, progress=interrupt)
    assert found.upper - found.lower <= 0.01 * found.upper + EXACT
    assert max(found.lower, solved.lower) <= min(found.upper, solved.upper)
    assert found.chosen is not None
    assert not found.chosen.is_proved
    assert all(w.after_upper <= found.upper for w in found.worths)


def test_a_set_is_not_proved_the_best_by_a_gap_as_large_as_what_it_is_about() -> None:
    found = ncirl.harden(chains(), choose=1, relative_gap=1.5)
    assert found.chosen is not None
    assert not found.chosen.is_proved
    assert not found.chosen.is_only


def twins() -> AttackGraph:
    """Return two steps in a row to one goal: to stop either of them is as good."""
    return AttackGraph(
        (Condition("outside", True), Condition("hall"), Condition("vault")),
        (Exploit("enter", ("outside",), "hall", 0.9, 0.0, 9.0), Exploit("crack", ("hall",), "vault", 0.9, 0.0, 9.0)),
        (Intent("thief", 1.0, {"vault": 1.0}),),
        discount=0.9,
        horizon=3,
        controls=(Control("gate", ("enter",), 0.7, "lasting"), Control("lock", ("crack",), 0.7, "lasting")),
    )


def test_ties_are_told_as_ties() -> None:
    chosen = ncirl.harden(twins(), choose=1).chosen
    assert chosen is not None
    assert chosen.as_good is not None
    assert {c.id for c in (*chosen.controls, *chosen.as_good)} == {"gate", "lock"}
    assert (chosen.is_proved, chosen.is_only) == (True, False)
    found = ncirl.harden(replace(twins(), controls=twins().defences[:1]), choose=1)
    assert found.chosen is not None
    assert [control.id for control in found.chosen.controls] == ["gate"]
    assert "gate" in best_words(found, found.chosen)
    assert proof_words(found, found.chosen).startswith("proved the best")


def test_bounds_that_are_not_as_close_as_asked_are_not_said_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    def coarse(graph: AttackGraph, gap: float, relative_gap: float, seconds: float, progress: Any) -> Any:
        return answer(graph, 0.3, 0.3, seconds, progress)

    monkeypatch.setattr("ncirl.attack_graphs.hardening.bounding.answer", coarse)
    found = ncirl.harden(chains(), choose=1, relative_gap=0.0001)
    assert found.upper - found.lower > found.tolerance
    assert found.status is Status.FINISHED


@pytest.mark.parametrize("seed", [1, 3, 5, 7, 9, 11])
def test_play_without_end_agrees_with_solving_each_graph_with_a_control_in_place(seed: int) -> None:
    graph = replace(instance(seed), horizon=None, discount=0.7)
    assert graph.controls
    found = ncirl.harden(graph, choose=1, relative_gap=0.02)
    before = ncirl.solve(graph.game(), ncirl.Certified(gap=1e-5))
    after = {c.id: ncirl.solve(graph.holding(c.id).game(), ncirl.Certified(gap=1e-5)) for c in graph.controls}
    assert len(found.worths) == len(graph.controls)
    for w in found.worths:
        value = after[w.control.id]
        assert w.after_lower - EXACT <= value.upper
        assert value.lower <= w.after_upper + EXACT
        assert w.lower - EXACT <= before.upper - value.lower
        assert before.lower - value.upper <= w.upper + EXACT
        stages = 1.0 if w.control.lasts else 1 / (1 - graph.discount)
        assert w.in_place == pytest.approx(w.control.cost * stages)
    assert found.chosen is not None
    assert found.chosen.others <= min(before.upper, *(value.upper for value in after.values())) + EXACT


def test_the_value_before_is_no_more_than_after_and_what_that_costs(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = replace(chains(), controls=(Control("mail", ("phish",), 0.01, "lasting"),))

    def coarse_at_first(whole: AttackGraph, gap: float, relative_gap: float, seconds: float, progress: Any) -> Any:
        found = answer(whole, gap, relative_gap, seconds, progress)
        return replace(found, upper=5.0) if len(whole.exploits) > 3 else found

    monkeypatch.setattr("ncirl.attack_graphs.hardening.bounding.answer", coarse_at_first)
    found = ncirl.harden(graph, choose=1)
    assert found.upper <= found.worths[0].after_upper + 0.01 + EXACT
    limited = ncirl.harden(replace(graph, defender_budget=1), choose=1)
    assert limited.upper == 5.0


def test_what_is_not_known_to_help_is_no_best_set() -> None:
    hurried = ncirl.harden(chains(), choose=1, relative_gap=0.01, time_limit=1e-9)
    assert hurried.chosen is not None
    assert not hurried.chosen.is_proved
    told = proof_words(hurried, hurried.chosen)
    assert "not known" in told or "to have nothing in place may be as good" in told
    most = max(w.upper for w in hurried.worths) - min(w.lower for w in hurried.worths)
    assert hurried.ties
    assert all(tie.within <= most + EXACT for tie in hurried.ties)


def test_where_nothing_is_at_stake_none_is_needed() -> None:
    graph = replace(twins(), intents=(Intent("thief", 1.0, {"hall": 0.0}),))
    found = ncirl.harden(graph, choose=1, gap=0.1)
    assert found.chosen is not None
    assert best_words(found, found.chosen) == "none is needed: the intrusion is worth nothing as it is"


def test_what_an_import_found_is_said_before_what_is_assumed() -> None:
    dear = tuple(replace(exploit, attack_cost=50.0) for exploit in twins().exploits)
    controls = tuple(replace(control, cost=1.0) for control in twins().defences)
    origins = (NumberOrigin("attack_cost", "default"),)
    held = Findings(held=("Ann is an admin already",))
    graph = replace(twins(), exploits=dear, controls=controls, origins=origins, found=held)
    said = assumed_words(ncirl.harden(graph, choose=1, gap=0.1))
    assert said.startswith("Ann is an admin already. By these numbers an intruder would not even begin")
    measured = assumed_words(ncirl.harden(replace(graph, origins=(), found=Findings()), choose=1, gap=0.1))
    assert measured.startswith("The defender is taken to play perfectly")


def test_of_controls_that_perfect_play_makes_equal_none_is_picked() -> None:
    free = tuple(replace(control, cost=0.0) for control in twins().defences)
    found = ncirl.harden(replace(twins(), controls=free), choose=1, gap=0.01)
    assert found.chosen is not None
    assert found.chosen.controls == ()
    assert found.chosen.is_proved
    assert not 0.0 < found.upper < 1e-10  # which arithmetic could not tell
    assert best_words(found, found.chosen).startswith("none is needed")
    assert all(w.upper <= EXACT for w in found.worths)


class Lanes:
    """An executor of so many workers that does everything at once."""

    def __init__(self, count: int) -> None:
        self._max_workers = count

    def submit(self, task: Callable[..., Any], *given: Any) -> Future[Any]:
        done: Future[Any] = Future()
        done.set_result(task(*given))
        return done

    def map(self, task: Callable[..., Any], given: Sequence[Any]) -> Iterator[Any]:
        return map(task, given)


def test_workers_share_the_time_between_them(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[int, list[float]] = {}
    for lanes in (1, 4):
        asked[lanes] = []

        def noted(task: Task, into: list[float] = asked[lanes]) -> Any:
            into.append(task.seconds)
            return bounded(task)

        monkeypatch.setattr("ncirl.attack_graphs.hardening.study.bounded", noted)
        executor: Any = Lanes(lanes)
        ncirl.harden(chains(), top=1, relative_gap=0.001, time_limit=10.0, executor=executor)
    assert len(asked[1]) > 4
    assert max(asked[4][1:5]) > 2 * max(asked[1][1:5])


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
    for place in ("hardening.bounding", "answer"):
        monkeypatch.setattr(f"ncirl.attack_graphs.{place}.listable", lambda graph: (len(graph.intents) < 2, SIZE))
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
    asked: list[float] = []

    def recorded(graph: AttackGraph, gap: float, relative_gap: float, seconds: float, progress: Any) -> Any:
        asked.append(seconds)
        return answer(graph, gap, relative_gap, seconds, progress)

    for place in ("hardening.bounding", "answer"):
        monkeypatch.setattr(f"ncirl.attack_graphs.{place}.listable", lambda graph: (len(graph.intents) < 2, SIZE))
    monkeypatch.setattr("ncirl.attack_graphs.hardening.bounding.answer", recorded)
    graph = chains()
    controls = tuple(Control(e.id, (e.id,), e.block_cost) for e in graph.exploits)
    bounded(Task(replace(graph, controls=controls if controlled else None), gap=0.5, seconds=4.0))
    assert len(asked) == len(graph.intents) + 1
    assert sum(asked) <= 4.0 + 1e-9


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
