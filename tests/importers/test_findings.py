"""What of an import's report goes with the graph: what is held, what is a guess, copies, how much was left out."""

from __future__ import annotations

from ncirl.defence.assumptions import UNCUT, assumptions
from ncirl.importers.draft import Draft
from ncirl.importers.options import ImportOptions


def domain(*, removed: bool = False) -> Draft:
    """Ann, in staff, is an admin; two accounts are members of a group that has one right."""
    draft = Draft("sketch", "sketch")
    for key in ("ann", "staff", "admins", "bob", "eve", "group", "vault", "shed", "moon"):
        draft.condition(key, initial=key == "ann")
    draft.follow("ann", "staff")
    draft.follow("staff", "admins")
    draft.exploit("phish bob", needs=["ann"], gives="bob")
    draft.exploit("phish eve", needs=["ann"], gives="eve")
    for who in ("bob", "eve"):
        draft.follow(who, "group", draft.control(f"out {who}", f"remove {who} from the group") if removed else "")
    draft.exploit("open", needs=["group"], gives="vault", label="open the vault")
    draft.exploit("stray", needs=["moon"], gives="shed")
    draft.goal("admins")
    draft.goal("vault")
    draft.goal("shed")
    return draft


def test_what_is_held_and_left_out_goes_with_the_graph_and_is_said_first_and_last() -> None:
    draft = domain()
    draft.not_derived = ("RelayA", "RelayB")
    imported = draft.finish()
    found = imported.graph.found
    assert found == imported.report.found
    (held,) = found.held
    assert held.startswith("ALREADY HELD: ann is admins already")
    assert found.left_out == (
        "The import left out 1 goal and 1 step, and could not derive 2 kinds of edges; see its report.",
    )
    said = assumptions(imported.graph)
    assert said[0] == f"{held}."
    assert found.left_out[0] in said[-1]
    assert not any(UNCUT in sentence for sentence in said)


def test_nothing_is_said_of_an_import_of_all_there_is() -> None:
    draft = Draft("sketch", "sketch")
    draft.condition("out", initial=True)
    draft.condition("web")
    draft.exploit("hack", needs=["out"], gives="web")
    draft.goal("web")
    graph = draft.finish().graph
    assert not graph.found
    assert assumptions(graph)[-1] == UNCUT


def test_guessed_goals_and_starts_are_said() -> None:
    draft = Draft("sketch", "sketch")
    draft.condition("out")
    draft.condition("web", label="web server")
    draft.condition("db")
    draft.exploit("hack", needs=["out"], gives="web")
    draft.exploit("dump", needs=["web"], gives="db")
    imported = draft.finish()
    goal = "The goal 'db' is a guess: nobody said what the intruder wants; name goals with --goal."
    start = "The start ('out') is a guess: nobody said where the intruder is; --initial names it."
    assert imported.graph.found.guessed == (goal, start)
    assert str(imported.report).splitlines()[:2] == [f"GUESSED: {goal}", f"GUESSED: {start}"]
    said = assumptions(imported.graph)
    assert said[:2] == (goal, start)
    assert "Only 'db' counts as a loss: what the intruder takes on the way counts nothing." in said
    named = draft.finish(ImportOptions(goals=("web server",), initial=("out",)))
    assert named.graph.found.guessed == ()


def test_goals_of_the_source_that_nobody_can_gain_are_why_others_are_guessed() -> None:
    draft = domain()
    draft.goals = {"shed": None}
    (said,) = draft.finish().graph.found.guessed
    assert "the intruder can gain none of the goals of the source (1); name" in said


def test_copies_of_a_step_are_counted_and_told_apart() -> None:
    graph = domain().finish().graph
    copies = [exploit for exploit in graph.exploits if exploit.result == "vault"]
    assert sorted(exploit.label for exploit in copies) == [
        "open the vault, through bob",
        "open the vault, through eve",
    ]
    (said,) = graph.found.assumed
    assert said.startswith("1 step of the source is there several times, once for each way to reach it.")
    assert "may be too high for the network" in said
    assert said in assumptions(graph)


def test_copies_that_differ_in_what_ends_them_say_so() -> None:
    draft = Draft("sketch", "sketch")
    for key in ("ann", "one", "two", "group", "vault"):
        draft.condition(key, initial=key == "ann")
    for key in ("one", "two"):
        draft.follow("ann", key, draft.control(f"out {key}", f"remove ann from {key}"))
        draft.follow(key, "group")
    draft.exploit("open", needs=["group"], gives="vault", label="open the vault")
    draft.goal("vault")
    graph = draft.finish().graph
    assert sorted(exploit.label for exploit in graph.exploits) == [
        "open the vault, through ann, way 1 of 2, which ends with: remove ann from one",
        "open the vault, through ann, way 2 of 2, which ends with: remove ann from two",
    ]
    assert len(graph.found.assumed) == 1


def test_what_follows_is_said_of_held_goals_once() -> None:
    draft = domain()
    draft.condition("domain")
    draft.follow("admins", "domain")
    draft.goal("domain")
    first, second = draft.finish().graph.found.held
    assert first.endswith("; what follows is about other goals")
    assert second.endswith("> admins > domain")
