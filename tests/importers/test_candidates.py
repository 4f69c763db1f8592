"""What is offered for the start and for goals: the likeliest first, with why, and what is chosen already."""

from __future__ import annotations

from ncirl.importers import Draft, ImportOptions
from ncirl.importers.candidates import MOST
from ncirl.importers.report import Candidate


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
