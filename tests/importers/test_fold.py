"""What comes without effort is folded away, and nothing else about the graph changes."""

from __future__ import annotations

import random

import pytest

from ncirl.errors import InputError
from ncirl.importers import Draft, ImportOptions
from ncirl.importers.follows import Follows

Pairs = list[tuple[str, str]]


def draft(steps: Pairs, follows: Pairs, start: str = "s") -> Draft:
    sketch = Draft("sketch")
    for key in dict.fromkeys([start, *(key for pair in (*steps, *follows) for key in pair)]):
        sketch.condition(key, initial=key == start)
    for before, after in steps:
        sketch.exploit(f"{before}{after}", needs=[before], gives=after, success=0.5)
    for before, after in follows:
        sketch.follow(before, after)
    return sketch


def ways(steps: Pairs, follows: Pairs, *goals: str) -> set[tuple[str, str, float]]:
    graph = draft(steps, follows).finish(ImportOptions(goals=goals)).graph
    return {(exploit.premises[0], exploit.result, exploit.success) for exploit in graph.exploits}


def test_without_follows_nothing_changes() -> None:
    assert ways([("s", "a"), ("a", "g")], [], "g") == {("s", "a", 0.5), ("a", "g", 0.5)}


def test_what_comes_with_the_start_holds_from_the_start_by_the_name_of_what_is_given() -> None:
    assert ways([("b", "g")], [("s", "a"), ("a", "b")], "g") == {("s", "g", 0.5)}


def test_a_step_is_there_once_for_each_gain_that_its_need_comes_with() -> None:
    found = ways([("s", "x"), ("s", "y"), ("n", "g")], [("x", "m"), ("m", "n"), ("y", "n")], "g")
    assert found == {("s", "x", 0.5), ("s", "y", 0.5), ("x", "g", 0.5), ("y", "g", 0.5)}


def test_a_step_to_what_comes_with_the_goal_is_a_step_to_the_goal() -> None:
    assert ways([("s", "x")], [("x", "m"), ("m", "g")], "g") == {("s", "g", 0.5)}


def test_a_gain_that_leads_on_keeps_apart_from_the_goal_that_comes_with_it() -> None:
    # whoever has x has g, but only x, and not g by itself, leads to h
    found = ways([("s", "x"), ("s", "g"), ("x", "h")], [("x", "g")], "g", "h")
    assert found == {("s", "x", 0.5), ("s", "g", 0.5), ("x", "h", 0.5), ("x", "g", 1.0)}


def test_a_gain_that_comes_with_several_goals_gives_them_one_stage_later() -> None:
    imported = draft([("s", "x")], [("x", "g"), ("x", "h")]).finish(ImportOptions(goals=("g", "h")))
    late = [exploit for exploit in imported.graph.exploits if exploit.success == 1]
    assert [(e.premises, e.result, e.attack_cost, e.block_cost) for e in late] == [
        (("x",), "g", 0.0, 1.0),
        (("x",), "h", 0.0, 1.0),
    ]
    assert late[0].label == "g comes with x"
    assert "count one stage later, by a certain step: 2 such steps" in str(imported.report)


def test_what_leads_to_no_goal_is_left_out_and_said_to_be() -> None:
    report = draft([("s", "g"), ("s", "x"), ("x", "y")], [("y", "z")]).finish(ImportOptions(goals=("g",))).report
    assert report.exploits == 1
    assert report.left_out["conditions that lead to no goal, or are one with another"] == ("x", "y")
    assert report.left_out["conditions that come with others without effort and are none of their own"] == ("z",)


def test_steps_from_a_goal_that_lead_to_no_other_are_left_out() -> None:
    steps, follows = [("s", "g"), ("g", "x"), ("x", "h"), ("g", "y"), ("y", "g")], [("x", "z")]
    assert ways(steps, follows, "g") == {("s", "g", 0.5)}
    assert ways(steps, follows, "g", "h") >= {("s", "g", 0.5), ("g", "x", 0.5), ("x", "h", 0.5)}


def test_a_goal_that_comes_with_the_start_is_refused() -> None:
    with pytest.raises(
        InputError, match=r"goal 'g': the intruder has it from the start \(s\); there is nothing left to defend there"
    ):
        draft([("s", "x")], [("s", "g")]).finish(ImportOptions(goals=("g",)))


def test_loops_of_what_comes_with_what_end() -> None:
    assert ways([("s", "x"), ("n", "g")], [("x", "m"), ("m", "n"), ("n", "x")], "g") == {
        ("s", "x", 0.5),
        ("x", "g", 0.5),
    }


def test_a_goal_can_be_reached_in_as_many_steps_as_before() -> None:
    assert sum(takes_as_many_steps(seed) for seed in range(60)) > 30


def takes_as_many_steps(seed: int) -> bool:
    """Check a random draft; whether it has a goal that takes steps."""
    rng = random.Random(seed)
    keys = [f"k{k}" for k in range(9)]
    steps = [pair for pair in ((rng.choice(["s", *keys]), rng.choice(keys)) for _ in range(12)) if pair[0] != pair[1]]
    follows = [pair for pair in ((rng.choice(keys), rng.choice(keys)) for _ in range(6)) if pair[0] != pair[1]]
    held, closed, rounds = set[str](), Follows(follows).closed(["s"]), 0
    away: dict[str, int] = dict.fromkeys(closed, 0)
    while closed != held:
        held, rounds = set(closed), rounds + 1
        closed = Follows(follows).closed(held | {after for before, after in steps if before in held})
        away |= dict.fromkeys(closed - away.keys(), rounds)
    goals = [key for key in keys if away.get(key)]
    if not goals:
        return False
    graph = draft(steps, follows).finish(ImportOptions(goals=(goals[-1],))).graph
    found = dict.fromkeys((c.id for c in graph.conditions if c.initial), 0)
    for _ in graph.exploits:
        for exploit in graph.exploits:
            if all(premise in found for premise in exploit.premises):
                found[exploit.result] = min(
                    found.get(exploit.result, 99), 1 + max(found[premise] for premise in exploit.premises)
                )
    assert found[goals[-1]] == away[goals[-1]]
    assert all(exploit.success == 0.5 for exploit in graph.exploits)  # with one goal nothing is late
    return True


def tied(follows: dict[tuple[str, str], str], steps: Pairs, *goals: str) -> tuple[Pairs, dict[str, Pairs]]:
    """Return the steps, as what they need and give, and those of them that each control stops."""
    sketch = draft(steps, [])
    for key in dict.fromkeys(key for pair in follows for key in pair):
        sketch.condition(key)
    for (before, after), control in follows.items():
        sketch.follow(before, after, sketch.control(control, control) if control else "")
    graph = sketch.finish(ImportOptions(goals=goals)).graph
    ends = {exploit.id: (exploit.premises[0], exploit.result) for exploit in graph.exploits}
    stopped = {control.label: sorted(ends[exploit] for exploit in control.blocks) for control in graph.controls or ()}
    return sorted(ends.values()), stopped


def test_to_remove_one_member_of_a_group_takes_nothing_from_the_others() -> None:
    follows = {("ann", "g"): "remove ann", ("bob", "g"): "remove bob"}
    steps, stopped = tied(follows, [("s", "ann"), ("s", "bob"), ("g", "h")], "g", "h")
    assert steps == [("g", "h"), ("s", "g"), ("s", "g")]
    assert stopped == {"remove ann": [("s", "g")], "remove bob": [("s", "g")]}


def test_who_loses_a_group_keeps_what_it_has_without_it() -> None:
    steps, stopped = tied({("ann", "g"): "remove ann", ("ann", "m"): ""}, [("s", "ann"), ("m", "g")], "g")
    assert steps == [("ann", "g"), ("s", "ann"), ("s", "g")]  # who is removed can come back
    assert stopped == {"remove ann": [("s", "g")]}


def test_what_the_attacker_has_from_the_start_and_can_lose_may_be_gained_again() -> None:
    steps, stopped = tied({("s", "m"): "remove s"}, [("s", "x"), ("x", "m"), ("m", "g")], "g")
    assert steps == [("m", "g"), ("s", "g"), ("s", "x"), ("x", "m")]
    assert stopped == {"remove s": [("s", "g")]}


def test_a_tie_that_the_source_has_twice_is_not_untied_by_ending_one() -> None:
    sketch = draft([("s", "x"), ("m", "g")], [])
    sketch.follow("x", "m", sketch.control("remove x", "remove x"))
    sketch.follow("x", "m")
    assert sketch.finish(ImportOptions(goals=("g",))).graph.controls is None


def test_a_member_in_two_ways_has_to_be_removed_from_both() -> None:
    follows = {("s", "a"): "a", ("s", "b"): "b", ("a", "m"): "", ("b", "m"): ""}
    steps, stopped = tied(follows, [("m", "g")], "g")
    assert steps == [("s", "g"), ("s", "g")]
    assert stopped == {"a": [("s", "g")], "b": [("s", "g")]}


def test_ways_without_number_are_one_that_no_control_stops() -> None:
    inner = [f"m{k}" for k in range(9)]
    follows = {("s", key): key for key in inner} | {(key, "n"): "" for key in inner}
    assert tied(follows, [("n", "g")], "g") == ([("s", "g")], {})
