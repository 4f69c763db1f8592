"""What is offered for the start and for goals: the likeliest first, with why, and what is chosen already."""

from __future__ import annotations

import re

import pytest

from ncirl.errors import InputError
from ncirl.importers import Draft, ImportOptions
from ncirl.importers.candidates import MOST
from ncirl.importers.report import Candidate, Undecided


def two_sides() -> Draft:
    """A site that the internet leads into, and an office that nothing leads into."""
    draft = Draft("sketch")
    draft.condition("internet", initial=True)
    for key in ("web", "db", "office", "printer"):
        draft.condition(key, label=key.upper())
    draft.exploit("phish", needs=["internet"], gives="web")
    draft.exploit("dump", needs=["web"], gives="db")
    draft.exploit("print", needs=["office"], gives="printer")
    return draft


def test_starts_are_what_steps_need_and_nothing_gives_and_goals_what_can_be_gained() -> None:
    offered = two_sides().finish().candidates
    assert offered.start == (
        Candidate("office", "OFFICE", "1 step from here, none leads here, out of reach now", False),
        Candidate("web", "WEB", "1 step from here", False),
    )
    assert offered.goals == (
        Candidate("db", "DB", "no step needs it, 2 steps away", True),
        Candidate("web", "WEB", "1 step away", False),
    )


def test_what_was_chosen_comes_first_and_says_so() -> None:
    offered = two_sides().finish(ImportOptions(initial=("OFFICE",), goals=("web", "printer"))).candidates
    assert [(one.id, one.chosen) for one in offered.start] == [("office", True), ("web", False)]
    assert [(one.id, one.chosen) for one in offered.goals] == [("printer", True), ("web", True), ("db", False)]


def test_every_candidate_can_be_chosen() -> None:
    offered = two_sides().finish().candidates
    for one in offered.start:
        again = two_sides().finish(ImportOptions(initial=(one.id,))).graph
        assert any(condition.id == one.id and condition.initial for condition in again.conditions)
    for one in offered.goals:
        assert two_sides().finish(ImportOptions(goals=(one.id,))).report.goals == (one.id,)


def test_candidates_are_few() -> None:
    draft = Draft("wide")
    draft.condition("in", initial=True)
    for k in range(2 * MOST):
        draft.condition(f"c{k}")
        draft.exploit(f"e{k}", needs=["in"], gives=f"c{k}")
    draft.condition("end")
    draft.exploit("last", needs=["c0"], gives="end")
    assert len(draft.finish().candidates.goals) == MOST


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (ImportOptions(goals=("wbe",)), "web"),
        (ImportOptions(initial=("ofice",)), "office"),
        (ImportOptions(goals=("internet",)), "has it from the start"),
        (ImportOptions(goals=("printer",)), "cannot be reached"),
    ],
)
def test_a_choice_that_is_refused_offers_what_may_be_chosen(options: ImportOptions, said: str) -> None:
    with pytest.raises(Undecided, match=said) as refused:
        two_sides().finish(options)
    assert "office" in {one.id for one in refused.value.candidates.start}
    assert isinstance(refused.value, InputError)
    assert ("db" in {one.id for one in refused.value.candidates.goals}) == bool(options.goals)


def test_where_nothing_can_be_guessed_goals_are_offered() -> None:
    draft = Draft("ring")
    draft.condition("in", initial=True)
    for key in ("a", "b", "c"):
        draft.condition(key)
    for needs, gives in (("in", "a"), ("a", "b"), ("b", "c"), ("c", "a")):
        draft.exploit(f"{needs}-{gives}", needs=[needs], gives=gives)
    with pytest.raises(Undecided, match="no goal can be guessed") as refused:
        draft.finish()
    assert {one.id for one in refused.value.candidates.goals} == {"a", "b", "c"}


def test_where_no_step_can_be_taken_starts_are_offered() -> None:
    draft = two_sides()
    draft.exploits = draft.exploits[2:]
    with pytest.raises(Undecided, match="no step can be taken from internet") as refused:
        draft.finish()
    assert [one.id for one in refused.value.candidates.start] == ["office"]


def holding(*given: str) -> Draft:
    """Return a domain in which ann is an administrator by being in the help desk, and bob is nobody."""
    draft = Draft("sketch")
    for key in ("ann", "bob", "desk", "admins", "owners", "vault"):
        draft.condition(key, initial=key in given)
    draft.follow("ann", "desk")
    draft.follow("desk", "admins")
    draft.goal("admins", group="tier zero")
    draft.goal("owners", group="tier zero")
    draft.goal("vault")
    draft.exploit("phish", needs=["bob"], gives="ann")
    draft.exploit("take", needs=["admins"], gives="owners")
    draft.exploit("open", needs=["admins"], gives="vault")
    return draft


def test_goals_that_are_held_from_the_start_are_the_first_line_of_the_report() -> None:
    said = "ALREADY HELD: ann is admins already, without any attempt: ann > desk > admins; what follows is about other "
    said += "goals"
    found = holding("ann").finish()
    assert next(found.report.lines()) == said
    assert found.report.to_data()["held"] == [said]
    assert found.report.goals == ("vault",)
    assert holding("admins").finish().report.held == (
        "ALREADY HELD: admins is in the attacker's hands from the start; what follows is about other goals",
    )
    assert holding("bob").finish().report.held == ()


@pytest.mark.parametrize(
    ("given", "goal", "by"),
    [("ann", "admins", "ann, by desk"), ("ann", "desk", "ann"), ("desk", "desk", "it begins there")],
)
def test_a_goal_that_is_held_is_refused_with_by_whom_and_by_what(given: str, goal: str, by: str) -> None:
    said = (
        f"the intruder has it from the start ({by}); there is nothing left to defend there: name another goal or other"
    )
    with pytest.raises(InputError, match=re.escape(said)):
        holding(given).finish(ImportOptions(goals=(goal,)))
    draft = holding(given)
    draft.exploits = draft.exploits[1:2]  # and so is it where no step is left
    with pytest.raises(InputError, match=re.escape(said)):
        draft.finish(ImportOptions(goals=(goal,)))


def test_goals_that_are_held_are_not_said_to_be_out_of_reach() -> None:
    draft = holding("ann")
    draft.goal("desk")
    draft.goal("bob")
    told = {note.text: note.examples for note in draft.finish().report.notes if note.kind == "dropped"}
    assert told["goals that the intruder has from the start"] == ("desk",)
    assert told["goals of the source that cannot be gained"] == ("bob",)


def test_a_refusal_counts_faults_only_and_notes_stand_below() -> None:
    draft = holding("ann")
    draft.exploits = draft.exploits[1:2]
    draft.exploit("self", needs=["bob"], gives="bob")
    with pytest.raises(InputError) as refused:
        draft.finish(files=("lab.json",))
    assert refused.value.faults == ("no attack step is left",)
    head, *below = str(refused.value).split("\n")
    assert head == "lab.json: no attack step is left"
    assert below[0].startswith("  note: ALREADY HELD: ann is admins already")
    assert "  note: steps that need their own result: self" in below
    assert [line.removeprefix("  note: ") for line in below] == list(refused.value.notes)


def test_what_holds_a_goal_already_is_not_suggested_as_a_start() -> None:
    offered = {one.id for one in holding().finish(ImportOptions(initial=("bob",))).candidates.start}
    assert "bob" in offered
    assert offered.isdisjoint({"ann", "desk", "admins", "owners"})


@pytest.mark.parametrize("gives", ["admins", "farther"])
def test_a_refusal_tells_what_is_held_already_too(gives: str) -> None:
    draft = Draft("sketch")
    draft.condition("admins", initial=True)
    for key in ("far", "farther"):
        draft.condition(key)
    draft.goal("admins")
    draft.exploit("nowhere", needs=["far"], gives=gives)
    with pytest.raises(InputError, match="admins is in the attacker's hands from the start"):
        draft.finish()
