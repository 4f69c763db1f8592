"""Which numbers the answer hangs on, as a part of the report: of listed and of guarded policies."""

from __future__ import annotations

from dataclasses import replace

import pytest

import ncirl
from ncirl.attack_graphs.graph import AttackGraph, Condition, Control, Exploit, Intent
from ncirl.attack_graphs.sensitivity import sensitivity
from ncirl.limits import Limits
from ncirl.numbers import interval
from ncirl.reports import guarded_report_page, report_page
from ncirl.reports.sensitivity import interval_words, sensitivity_page, sensitivity_section
from ncirl.solution import Status

TITLE = "What the answer hangs on"


def door(cost: float) -> AttackGraph:
    """One door to a prize, and a bolt whose cost decides whether it is put."""
    return AttackGraph(
        (Condition("outside", True), Condition("prize")),
        (Exploit("door", ("outside",), "prize", 0.5),),
        (Intent("thief", 1.0, {"prize": 1.0}),),
        discount=0.8,
        controls=(Control("bolt", ("door",), cost, "lasting"),),
    )


def test_a_report_on_a_listed_policy_warns_where_the_advice_flips() -> None:
    graph = door(0.5)
    policy = ncirl.solve(graph.game(), ncirl.Certified(gap=0.0, relative_gap=0.01))
    page, certificate = report_page(policy, graph, quick=True, sensitivity=True)
    assert certificate.holds
    assert TITLE in page
    assert "becomes another within the doubt about: " in page
    assert "bolt.cost 0.5" in page
    assert "the widest swings first" in page  # the picture's name
    swing = next(s for s in sensitivity(graph, only=["cost"]).swings)
    assert interval_words(swing.less, graph) in page


def test_the_horizon_of_the_policy_is_the_one_studied() -> None:
    graph = door(0.5)
    policy = ncirl.solve(graph.game().with_horizon(1), ncirl.Certified(gap=0.0, relative_gap=0.01))
    page, _ = report_page(policy, graph, quick=True, sensitivity=True)
    assert f"is worth {interval(policy.lower, policy.upper)}" in page.partition(TITLE)[2]


def test_a_report_on_a_guarded_policy_has_it_too() -> None:
    solution = ncirl.Guarded(relative_gap=0.1).run(door(5.0))
    page, _ = guarded_report_page(solution, quick=True, sensitivity=True)
    assert TITLE in page
    assert "Nothing that was varied changes what to do first." in page
    assert TITLE not in guarded_report_page(solution, quick=True)[0]


@pytest.mark.parametrize(
    ("graph", "said"),
    [(None, "no numbers to vary"), (replace(door(0.5), unknown_prior=True), "priors are unknown")],
)
def test_what_cannot_be_studied_is_said(graph: AttackGraph | None, said: str) -> None:
    assert said in sensitivity_section(graph, 0.1, Limits(10.0))


def test_what_there_was_no_time_for_is_named_and_not_listed_as_the_same() -> None:
    found = sensitivity(door(0.5), only=["cost", "success"])
    cut = replace(
        found, swings=(found.swings[0], replace(found.swings[1], less=None, more=None)), status=Status.TIME_LIMIT
    )
    page = sensitivity_page(cut)
    missed = found.swings[1].assumption.label
    assert f"Not computed, or one way only: {missed}. Whether these change anything is not known." in page
    assert f"<td>{missed}</td>" not in page
    assert f"<td>{found.swings[0].assumption.label}</td>" in page
