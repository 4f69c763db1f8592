"""Numbers by name, and which of them the answer hangs on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import ncirl
from hardening.test_harden import Lanes, chains
from ncirl.attack_graphs.answer import answer as solve_as_usual
from ncirl.attack_graphs.graph import AttackGraph, Control
from ncirl.attack_graphs.origins import From, NumberOrigin, said_of
from ncirl.attack_graphs.reductions.size import estimate_size
from ncirl.attack_graphs.sensitivity import assumptions
from ncirl.attack_graphs.what_if import numbers_of, with_numbers
from ncirl.errors import InputError
from ncirl.games.office import office_graph
from ncirl.reports.sensitivity import sensitivity_page
from ncirl.solution import Status


def test_every_number_can_be_put_and_is_then_there() -> None:
    graph = replace(chains(), controls=(Control("mfa", ("phish",), 0.2),))
    for name, number in numbers_of(graph).items():
        changed = with_numbers(graph, {name: number.value / 2})
        assert numbers_of(changed)[name].value == pytest.approx(number.value / 2)
        others = {other: n.value for other, n in numbers_of(changed).items() if other != name and n.kind != "prior"}
        assert others == {o: n.value for o, n in numbers_of(graph).items() if o != name and n.kind != "prior"}


def test_a_prior_leaves_the_rest_to_the_others_as_before() -> None:
    graph = chains()
    third = replace(graph.intents[0], id="third", prior=0.25)
    graph = replace(graph, intents=(replace(graph.intents[0], prior=0.25), graph.intents[1], third))
    changed = with_numbers(graph, {"spy.prior": 0.8})
    assert [intent.prior for intent in changed.intents] == pytest.approx([0.1, 0.8, 0.1])


@pytest.mark.parametrize(
    ("name", "value", "complaint"),
    [
        ("phsh.success", 0.5, "did you mean 'phish.success'"),
        ("phish.success", 2.0, r"\[0, 1\]"),
        ("spy.prior", 1.5, "1"),
    ],
)
def test_what_cannot_be_put_is_refused(name: str, value: float, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        with_numbers(chains(), {name: value})


def test_numbers_that_are_alike_are_one_assumption() -> None:
    found = {a.label: len(a.names) for a in assumptions(chains())}
    assert found == {
        "discount 0.9": 1,
        "success 0.8 of 2": 2,
        "success 0.9 of 4": 4,
        "attack cost 0.02 of 6": 6,
        "block cost 0.1 of 6": 6,
        "thief.prior 0.5": 1,
        "spy.prior 0.5": 1,
        "reward 1 of 2": 2,
    }


def one_step(block_cost: float) -> AttackGraph:
    """Return a graph whose one exploit is worth blocking as long as that costs less than what it would get."""
    graph = chains()
    exploit = replace(graph.exploits[0], success=1.0, attack_cost=0.5, block_cost=block_cost)
    intents = (replace(graph.intents[0], prior=1.0, rewards={"web": 1.0}),)
    return replace(graph, exploits=(exploit,), intents=intents, horizon=1)


def test_swings_are_those_of_solving_again_and_the_page_warns_where_advice_flips() -> None:
    graph = one_step(0.0)  # blocking is free: done for certain, so the value is 0
    sharp = replace(graph, exploits=(replace(graph.exploits[0], block_cost=0.3),))
    found = ncirl.sensitivity(sharp, factor=2.0, relative_gap=1e-3)
    assert found.status is Status.FINISHED
    widths = [sum(swing.bounds) for swing in found.swings]
    assert widths == sorted(widths, reverse=True)
    for swing in found.swings:
        for answer in (swing.less, swing.more):
            assert answer is not None
            again = with_numbers(sharp, dict.fromkeys(swing.assumption.names, answer.number))
            value = ncirl.solve(again.game(), ncirl.HistoryLP()).lower
            assert answer.lower - 1e-6 <= value <= answer.upper + 1e-6
    flips = {swing.assumption.kind for swing in found.swings if found.flips(swing)}
    said = sensitivity_page(found)
    assert ("becomes another" in said) == bool(flips)
    assert "reward" in flips  # twice the reward makes blocking likelier than not


def test_time_and_bad_factors() -> None:
    hurried = ncirl.sensitivity(chains(), time_limit=1e-9, relative_gap=0.5)
    assert hurried.status is Status.TIME_LIMIT
    assert any(swing.more is None for swing in hurried.swings)
    missing = [swing for swing in hurried.swings if swing.less is None and swing.more is None]
    assert missing
    assert all(hurried.flips(swing) is None for swing in missing)
    page = sensitivity_page(hurried)
    assert "Whether these change anything is not known" in page
    assert "Nothing that was varied changes" not in page
    with pytest.raises(InputError, match="factor"):
        ncirl.sensitivity(chains(), factor=1.0)


def test_graphs_with_controls_that_cannot_be_listed_are_guarded(monkeypatch: pytest.MonkeyPatch) -> None:
    controls = (Control("mfa", ("phish", "copy"), 0.05, "lasting"), Control("gate", ("sqli", "phish")))  # free
    graph = replace(chains(), controls=controls)
    exact = ncirl.solve(graph.game(), ncirl.HistoryLP()).lower
    size = estimate_size(graph)
    monkeypatch.setattr("ncirl.attack_graphs.answer.listable", lambda graph: (False, size))
    found = ncirl.sensitivity(graph, only=["discount"], relative_gap=0.01)
    assert found.base.lower - 1e-6 <= exact <= found.base.upper + 1e-6
    answers = [found.base, found.swings[0].less, found.swings[0].more]
    assert set().union(*(answer.advice for answer in answers if answer)) <= {"mfa", "gate"}
    assert any(answer is not None and answer.advice for answer in answers)


def test_the_answer_for_the_numbers_as_they_are_is_that_of_solve(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[int, list[float]] = {}
    for lanes in (1, 4):
        asked[lanes] = []

        def noted(graph: AttackGraph, gap: float, close: float, seconds: float, into: Any = asked[lanes]) -> Any:
            into.append(seconds)
            return solve_as_usual(graph, gap, close, seconds)

        monkeypatch.setattr("ncirl.attack_graphs.sensitivity.answer", noted)
        executor: Any = Lanes(lanes)
        found = ncirl.sensitivity(one_step(0.3), relative_gap=0.5, time_limit=20.0, executor=executor)
        assert found.status is Status.FINISHED
    first, others = asked[1][0], asked[1][1:]
    assert len(others) > 4
    assert first > 3 * max(others)  # not one share of many
    assert asked[4][1] > 2.5 * others[0]
    solved = ncirl.solve(one_step(0.3).game(), ncirl.Certified(gap=0.0, relative_gap=0.01))
    begun = ncirl.sensitivity(one_step(0.3), relative_gap=0.5, only=["discount"], solved=solved)
    assert (begun.base.lower, begun.base.upper) == (solved.lower, solved.upper)


def test_a_graph_is_checked_once_however_many_numbers_are_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    nobody = NumberOrigin("success", "default", "nobody has measured it"), NumberOrigin("prior", "default")
    graph = replace(office_graph(), origins=nobody)
    names = [name for name, number in numbers_of(graph).items() if number.kind in ("success", "prior", "reward")]
    assert len(names) > 10
    made: list[AttackGraph] = []
    check = AttackGraph.__post_init__

    def counted(self: AttackGraph) -> None:
        made.append(self)
        check(self)

    monkeypatch.setattr(AttackGraph, "__post_init__", counted)
    changed = with_numbers(graph, dict.fromkeys(names, 0.25))
    assert made
    assert len(made) <= 1 + len({number.kind for number in numbers_of(graph).values()})
    assert {e.success for e in changed.exploits} == {0.25}
    assert {said for said in said_of(changed, "success").values() if said} == {(From.OPTION, "asked for by name")}
