"""How play ended is told: which goal is reached and what that costs, or that no step leads on to one."""

from __future__ import annotations

import pytest

import ncirl
from ncirl.attack_graphs.graph import AttackGraph, Condition, Control, Exploit, Intent
from ncirl.defence import DefenceSession, GuardedSession
from ncirl.defence.session import Session


def domain(horizon: int | None = None) -> AttackGraph:
    """A client, then the domain; a lasting control over the second step."""
    return AttackGraph(
        (Condition("outside", True), Condition("client"), Condition("lab", label="the domain LAB")),
        (Exploit("mail", ("outside",), "client", 0.5), Exploit("certificate", ("client",), "lab", 0.9)),
        (Intent("thief", 0.5, {"lab": 2.0}), Intent("vandal", 0.5, {"lab": 0.5})),
        discount=0.9,
        horizon=horizon,
        controls=(Control("template", ("certificate",), 0.01, "lasting"),),
    )


@pytest.fixture(params=["listed", "guarded"])
def session(request: pytest.FixtureRequest) -> Session:
    graph = domain()
    if request.param == "guarded":
        return GuardedSession(ncirl.Guarded(relative_gap=0.1).run(graph), rng=1)
    return DefenceSession(ncirl.load_solution(request.getfixturevalue("kept")), rng=1)


@pytest.fixture
def kept(tmp_path_factory: pytest.TempPathFactory) -> str:
    from ncirl.cli import main

    folder = tmp_path_factory.mktemp("ends")
    graph, policy = folder / "lab.json", folder / "lab.ncirl"
    domain().save(graph)
    assert main(["solve", str(graph), "-q", "--gap", "10%", "--solver", "certified", "-o", str(policy)]) == 0
    return str(policy)


def test_a_goal_that_is_reached_is_named_with_its_cost(session: Session) -> None:
    session.observe(attacker=["mail"], defender="nothing", new=["client"])
    session.observe(attacker=["certificate"], defender="nothing", new=["lab"])
    assert session.finished
    said = (
        "Goal reached: the domain LAB (a loss of 0.5 or 2, by intent). No step of this graph leads on to another goal; "
    )
    assert session.advice().notes[-1].startswith(said)
    assert session.reasons().says[0].startswith(said)


def test_where_no_step_leads_on_what_is_held_is_named(session: Session) -> None:
    session.observe(attacker=["mail"], defender="nothing", new=["client"])
    session.observe(attacker=[], defender="template", new=[])
    assert session.finished
    said = "No step of this graph leads on to a goal; the intruder holds client."
    assert session.advice().notes[-1] == said
    assert session.reasons().says == (said,)
