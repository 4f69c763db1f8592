"""A first answer of nothing explains itself: what would have to change, by hand and by solving again."""

from __future__ import annotations

from dataclasses import replace

import pytest

import ncirl
from ncirl.attack_graphs.graph import AttackGraph, Condition, Control, Exploit, Intent
from ncirl.attack_graphs.guarded.solution import GuardedSolution
from ncirl.attack_graphs.what_if import with_numbers
from ncirl.defence import DefenceSession, GuardedSession
from ncirl.defence.why_nothing import WhyNothing, why_nothing
from ncirl.games.office import office_graph
from ncirl.numbers import at_least, at_most
from ncirl.playbook.solution import CertifiedSolution
from ncirl.solution import Status

CLOSE = ncirl.Certified(gap=0.0, relative_gap=0.001)
SUCCESS, DISCOUNT = 0.5, 0.8
UNHINDERED = SUCCESS / (1 - DISCOUNT * (1 - SUCCESS))  # of a prize of 1, tried until it is there
ACCURACY = 1e-3
LOCK_LATER = "The first to be applied is lock, once this is reached: hall."


def house(kind: str, cost: float, horizon: int | None = None) -> AttackGraph:
    """One door to a prize of 1, and one control over it."""
    return AttackGraph(
        (Condition("outside", True), Condition("prize")),
        (Exploit("door", ("outside",), "prize", SUCCESS),),
        (Intent("thief", 1.0, {"prize": 1.0}),),
        discount=DISCOUNT,
        horizon=horizon,
        controls=(Control("bolt", ("door",), cost, kind),),
    )


def two_floors(cost: float) -> AttackGraph:
    """A hall that pays nothing, and a vault behind it: what is above costs little to stop."""
    return AttackGraph(
        (Condition("outside", True), Condition("hall"), Condition("vault")),
        (Exploit("enter", ("outside",), "hall", 0.9), Exploit("crack", ("hall",), "vault", 0.9)),
        (Intent("thief", 0.5, {"vault": 1.0}), Intent("guest", 0.5, {"hall": 0.1})),
        discount=0.9,
        controls=(Control("gate", ("enter",), cost, "lasting"), Control("lock", ("crack",), 0.2, "lasting")),
    )


def solved(graph: AttackGraph) -> CertifiedSolution:
    return ncirl.solve(graph.game(), CLOSE)


def explained(graph: AttackGraph) -> WhyNothing:
    found = why_nothing(solved(graph), has_controls=True)
    assert found is not None
    return found


@pytest.mark.parametrize("horizon", [None, 60])
def test_a_lasting_control_would_be_applied_below_what_the_intrusion_is_worth(horizon: int | None) -> None:
    found = explained(house("lasting", 2.0, horizon))
    assert found.nearest is not None
    assert (found.nearest.option, found.nearest.cost) == ("bolt", 2.0)
    assert found.nearest.below == pytest.approx(UNHINDERED, abs=ACCURACY)
    assert found.later is None
    assert found.acting is not None
    assert found.acting >= 2.0 - ACCURACY
    said = str(found)
    assert "to apply something now concedes at least 2.000, this defence at most 0.83" in said
    waiting = found.nearest.cost - found.nearest.below
    assert f"To act now anyway: bolt; that concedes about 2 in all, {waiting:.2g} more than waiting" in said
    assert "saves about" not in said
    told = found.to_dict()["nearest"]
    assert told["more"] == waiting
    assert told["concedes"] == pytest.approx(2.0, abs=ACCURACY)
    assert "Nothing is applied later either: doing nothing at all concedes at most 0.83" in said
    assert "e-1" not in said


def test_a_momentary_one_below_what_a_stage_of_delay_is_worth() -> None:
    found = explained(house("momentary", 2.0)).nearest
    assert found is not None
    assert found.below == pytest.approx((1 - DISCOUNT) * UNHINDERED, abs=ACCURACY)


@pytest.mark.parametrize(("share", "applied"), [(1.1, False), (0.9, True)])
def test_at_such_a_cost_the_first_answer_is_another(share: float, applied: bool) -> None:
    near = explained(two_floors(5.0)).nearest
    assert near is not None
    again = why_nothing(solved(two_floors(share * near.below)))
    assert (again is None) == applied


def test_what_is_done_later_is_named_with_where() -> None:
    found = explained(two_floors(5.0))
    assert found.later is not None
    assert (found.later.option, found.later.state, found.later.stages) == ("lock", "hall", 1)
    said = f"{LOCK_LATER} Wait only if you would notice at once, within a stage, that hall has fallen."
    assert said in str(found)
    long = replace(found, later=replace(found.later, state=" + ".join("abcdefg")))
    assert "once this is reached: a + b + c and 4 more." in str(long)
    assert "that a, b, c or one of 4 more has fallen." in str(long)
    two = replace(found, later=replace(found.later, state="mail + web | in place: lock"))
    assert "that mail or web has fallen." in str(two)


def test_nothing_is_explained_where_something_is_done_or_no_graph_is_played() -> None:
    assert why_nothing(solved(house("lasting", 0.1))) is None
    assert why_nothing(ncirl.solve(ncirl.games.patrol(horizon=2), ncirl.Certified(relative_gap=0.1))) is None


def test_a_session_says_it_first_and_not_again() -> None:
    session = DefenceSession(solved(two_floors(5.0)), rng=1)
    assert any("To act now anyway: gate" in note for note in session.advice().notes)
    session.observe(attacker=["enter"], new=["hall"])
    assert not any("To act now" in note for note in session.advice().notes)


def test_a_session_in_the_middle_explains_from_there() -> None:
    dear = replace(two_floors(5.0), controls=(Control("lock", ("crack",), 9.0),))
    session = DefenceSession(solved(dear), rng=1, holding=["hall"])
    assert session.nothing is not None
    assert session.nothing.nearest is not None
    assert session.nothing.nearest.option == "lock"


def dear_office(relative_gap: float) -> GuardedSolution:
    graph = office_graph()
    dear = with_numbers(graph, {f"{e.id}.block_cost": 9.0 for e in graph.exploits})
    return ncirl.Guarded(relative_gap=relative_gap).run(dear)


def test_where_nothing_is_watched_the_gap_is_no_finding() -> None:
    solution = dear_office(0.3)
    assert solution.status is Status.GAP_REACHED
    assert not solution.guards
    found = why_nothing(solution)
    assert found is not None
    assert found.saves == solution.gap
    said = str(found)
    assert (
        f"at most {at_most(solution.upper, short=True)}, no defence less than {at_least(solution.lower, short=True)}"
        in said
    )
    assert "Whether one saves any of that is not known" in said
    assert "worth" not in said
    assert said in GuardedSession(solution).advice().notes
    hurried = why_nothing(replace(solution, status=Status.TIME_LIMIT))
    assert "with more of it the first answer may be another" in str(hurried)


@pytest.mark.parametrize("cost", [0.3, 1.0, 9.0])
def test_what_is_said_of_all_defences_holds_of_the_best(cost: float) -> None:
    graph = office_graph()
    dear = with_numbers(graph, {f"{e.id}.block_cost": cost for e in graph.exploits})
    idle = ncirl.solve(replace(dear, controls=()).game(), CLOSE)
    best = ncirl.solve(dear.game(), CLOSE)
    told = [why_nothing(ncirl.Guarded(relative_gap=0.9).run(dear)), why_nothing(best)]
    said = [found for found in told if found is not None and found.saves is not None]
    assert said
    for found in said:
        assert found.saves is not None
        assert found.upper >= idle.lower - ACCURACY
        assert found.saves >= idle.lower - best.upper - ACCURACY
        if found.acting is not None:
            assert found.acting >= found.upper


def test_a_gain_that_cannot_be_told_from_nothing_is_no_number() -> None:
    graph = office_graph()
    prizes = {f"{i.id}.rewards.{c}": 1e-300 for i in graph.intents for c in i.rewards}
    found = why_nothing(ncirl.Guarded(relative_gap=0.3).run(with_numbers(graph, prizes)))
    assert found is not None
    assert found.is_nil
    assert "gains nothing that could be told from 0. That is so even if nothing is ever done." in str(found)
    assert "e-" not in str(found)


def test_an_intruder_who_gains_nothing_for_fear_of_what_comes_later_is_told_of_that() -> None:
    graph = replace(
        two_floors(5.0),
        intents=(Intent("thief", 1.0, {"vault": 1.0}),),
        exploits=(
            Exploit("enter", ("outside",), "hall", 0.9, 0.3),
            Exploit("crack", ("hall",), "vault", 0.9),
        ),
    )
    found = explained(graph)
    assert found.is_nil
    assert found.saves is None
    assert f"{LOCK_LATER} Wait only if you would notice at once, within a stage, that hall has fallen." in str(found)
    assert "even if nothing is ever done" not in str(found)
