"""Attack Flow: operators, joins, starts that cannot be trusted, conditions, refusals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from importers.ways import way, ways
from ncirl.errors import InputError
from ncirl.importers import Imported, import_graph

Node = dict[str, Any]


def action(key: str, *effects: str, **more: Any) -> Node:
    return {"type": "attack-action", "id": key, "name": key, "effect_refs": list(effects)} | more


def condition(name: str, *on_true: str, on_false: tuple[str, ...] = ()) -> Node:
    kind = {"type": "attack-condition", "id": name, "description": name}
    return kind | {"on_true_refs": list(on_true), "on_false_refs": list(on_false)}


def operator(kind: str, name: str, *effects: str) -> Node:
    return {"type": "attack-operator", "id": name, "operator": kind, "effect_refs": list(effects)}


def imported(tmp_path: Path, *nodes: Node, start_refs: Any = (), **changes: Any) -> Imported:
    flow = {"type": "attack-flow", "id": "attack-flow--1", "name": "the flow", "start_refs": start_refs}
    path = tmp_path / "flow.json"
    bundle = {"type": "bundle", "id": "bundle--1", "objects": [flow, *nodes]}
    path.write_text(json.dumps(bundle), encoding="utf-8")
    return import_graph("attack-flow", path, **changes)


def test_and_operators_need_all_their_inputs(tmp_path: Path) -> None:
    graph = imported(tmp_path, action("a", "o"), action("b", "o"), operator("AND", "o", "c"), action("c")).graph
    assert ways(graph) == {way("outside", to="a"), way("outside", to="b"), way("a", "b", to="c")}
    assert graph.name == "the flow"


def test_or_operators_need_one(tmp_path: Path) -> None:
    graph = imported(tmp_path, action("a", "o"), action("b", "o"), operator("OR", "o", "c"), action("c")).graph
    assert {way("a", to="c"), way("b", to="c")} <= ways(graph)


def test_operators_may_feed_operators(tmp_path: Path) -> None:
    nodes = [action(name, "either") for name in "ab"] + [action("c", "both"), action("d")]
    operators = [operator("OR", "either", "both"), operator("AND", "both", "d")]
    assert {way("a", "c", to="d"), way("b", "c", to="d")} <= ways(imported(tmp_path, *nodes, *operators).graph)


def test_edges_without_an_operator_are_an_or_and_said_to_be(tmp_path: Path) -> None:
    found = imported(tmp_path, action("a", "c"), action("b", "c"), action("c"))
    assert {way("a", to="c"), way("b", to="c")} <= ways(found.graph)
    assert "any one suffices: c" in str(found.report)


def test_an_operator_with_one_input_passes_on(tmp_path: Path) -> None:
    found = imported(tmp_path, action("a", "o"), operator("AND", "o", "b"), action("b"))
    assert way("a", to="b") in ways(found.graph)
    assert "fewer than two inputs" in str(found.report)


def test_an_operator_without_inputs_asks_for_nothing(tmp_path: Path) -> None:
    assert ways(imported(tmp_path, operator("AND", "o", "b"), action("b")).graph) == {way("outside", to="b")}


def test_a_loop_of_operators_leads_nowhere(tmp_path: Path) -> None:
    nodes = [action("a", "b"), action("b", "o"), operator("OR", "o", "p"), operator("OR", "p", "o", "c"), action("c")]
    assert way("b", to="c") in ways(imported(tmp_path, *nodes).graph)


@pytest.mark.parametrize("start_refs", [[], ["a"], ["gone"], None, "a", ["b"]])
def test_roots_are_starts_whatever_start_refs_say(tmp_path: Path, start_refs: Any) -> None:
    found = imported(tmp_path, action("a", "b"), action("b"), action("other", "b"), start_refs=start_refs)
    assert {premises for premises, to in ways(found.graph) if to in ("a", "other")} == {frozenset({"outside"})}
    assert way("outside", to="b") not in ways(found.graph)
    assert ("are not starts: b" in str(found.report)) == (start_refs == ["b"])


def test_a_flow_that_is_one_cycle_begins_where_start_refs_say(tmp_path: Path) -> None:
    found = imported(tmp_path, action("a", "b"), action("b", "a", "c"), action("c"), start_refs=["b"])
    assert way("outside", to="b") in ways(found.graph)
    assert way("outside", to="a") not in ways(found.graph)
    assert "begun here: b" in str(found.report)


def test_cycles_are_kept(tmp_path: Path) -> None:
    found = imported(tmp_path, action("in", "a"), action("a", "b"), action("b", "a", "c"), action("c"))
    assert {way("a", to="b"), way("b", to="a"), way("in", to="a")} <= ways(found.graph)
    assert found.report.cycles == 1


def test_conditions_hold_once_something_led_to_them(tmp_path: Path) -> None:
    nodes = action("a", "holds"), condition("holds", "b"), action("b")
    assert ways(imported(tmp_path, *nodes).graph) == {way("outside", to="a"), way("a", to="b")}
    wanted = imported(tmp_path, *nodes, goals=("holds",)).graph
    assert ways(wanted) == {way("outside", to="holds"), way("holds", to="b")}


def test_a_condition_that_nothing_leads_to_holds_from_the_start(tmp_path: Path) -> None:
    found = imported(tmp_path, condition("holds", "b"), action("b"))
    assert "holds" in found.report.initial
    assert "hold from the start: holds" in str(found.report)


def test_what_follows_a_false_condition_needs_what_came_before_it(tmp_path: Path) -> None:
    nodes = [action("a", "asked"), condition("asked", "b", on_false=("c",)), action("b"), action("c")]
    found = imported(tmp_path, *nodes)
    assert {way("a", to="b"), way("a", to="c")} <= ways(found.graph)
    assert "false condition" in str(found.report)


def test_confidence_is_about_the_report_and_stands_for_success_only_where_a_person_says_so(tmp_path: Path) -> None:
    nodes = [action("a", "b", confidence=30), action("b", confidence=0), action("c", "b")]
    for settings in ({}, {"confidence": "ignore"}):
        found = imported(tmp_path, *nodes, settings=settings)
        assert [e.success for e in found.graph.exploits] == [0.8] * 4
        assert "confidence is about the report, no chance that it works (see --set confidence=success): a" in str(
            found.report
        )
    asked = imported(tmp_path, *nodes, success=0.6, settings={"confidence": "success"})
    assert [e.success for e in asked.graph.exploits] == [0.3, 0.6, 0.6, 0.6]


def test_labels_are_the_technique_and_the_name(tmp_path: Path) -> None:
    first = action("x1", "x2", name="Phishing", technique_id="T1566")
    second = action("x2", name="Phishing", technique_id="T1566")
    graph = imported(tmp_path, first, second, action("x3", "x2", name=None, description="some “act”")).graph
    assert [c.id for c in graph.conditions] == ["outside", "T1566_Phishing", "T1566_Phishing_2", "some_act"]


def test_other_objects_and_references_to_them_do_no_harm(tmp_path: Path) -> None:
    asset = {"type": "attack-asset", "id": "asset", "name": "server"}
    address = {"type": "ipv4-address", "id": "ip", "value": "198.51.100.7"}
    found = imported(tmp_path, action("a", "b", "asset", "gone"), action("b"), asset, address, action("b"))
    assert ways(found.graph) == {way("outside", to="a"), way("a", to="b")}
    assert "no node of the flow: asset (effect_refs of a), gone (effect_refs of a)" in str(found.report)
    assert "there already: b" in str(found.report)


def test_actions_say_what_they_are_about(tmp_path: Path) -> None:
    objects = [
        {"type": "attack-asset", "id": "asset--1", "name": "Oracle web server"},
        {"type": "attack-asset", "id": "asset--2", "name": "forgotten laptop"},
        {"type": "vulnerability", "id": "vulnerability--1", "name": "CVE-2019-2729"},
        {"type": "relationship", "id": "r--1", "source_ref": "a", "target_ref": "vulnerability--1"},
    ]
    first = action("a", "b", technique_id="T1190", tactic_id="TA0001", asset_refs=["asset--1"], name="Exploit")
    found = imported(tmp_path, first, action("b", description="as in CVE-2020-1"), *objects)
    exploit, onward = found.graph.exploits
    assert (exploit.label, exploit.asset) == ("T1190 Exploit", "Oracle web server")
    assert exploit.references == ("T1190", "TA0001", "CVE-2019-2729")
    assert onward.references == ("CVE-2020-1",)
    assert "not named   forgotten laptop: assets that no action refers to" in str(found.report)


def test_courses_of_action_are_controls_and_other_techniques_can_be_prevented_for_good(tmp_path: Path) -> None:
    objects = [
        {"type": "course-of-action", "id": "coa--1", "name": "Train users"},
        {"type": "course-of-action", "id": "coa--2", "name": "Patch the server"},
        {"type": "vulnerability", "id": "vulnerability--1", "name": "CVE-2019-2729"},
        {"type": "relationship", "id": "r--1", "source_ref": "coa--1", "target_ref": "attack-pattern--1"},
        {"type": "relationship", "id": "r--2", "source_ref": "coa--2", "target_ref": "vulnerability--1"},
        {"type": "relationship", "id": "r--3", "source_ref": "b", "target_ref": "vulnerability--1"},
    ]
    nodes = [action("a", "b", technique_ref="attack-pattern--1"), action("b", "c"), action("c")]
    found = imported(tmp_path, *nodes, *objects)
    assert [(control.label, control.blocks, control.lasts) for control in found.graph.controls or ()] == [
        ("Train users", ("a",), True),
        ("Patch the server", ("b",), True),
        ("prevent c", ("c",), True),
    ]
    assert "actions without a mitigation in the file can be prevented for good: c" in str(found.report)


def test_a_technique_is_prevented_once_and_preparations_are_not(tmp_path: Path) -> None:
    nodes = [
        action("a", "b", name="Domains", technique_id="T1583.002"),
        action("b", "c", name="Search", tactic_id="TA0043"),
        action("c", "d", "e", name="Phishing", technique_id="T1566"),
        action("d", name="Phishing again", technique_id="T1566"),
        action("e", name="Brute force", technique_id="T1110"),
    ]
    found = imported(tmp_path, *nodes)
    assert [(control.label, len(control.blocks), control.lasts) for control in found.graph.controls or ()] == [
        ("prevent T1566 Phishing", 2, True),
        ("prevent T1110 Brute force", 1, True),
    ]
    assert "cannot be prevented: T1583.002 Domains, Search" in str(found.report)


def test_many_nested_operators_stay_within_limits(tmp_path: Path) -> None:
    layers = 60
    nodes = [action("a", "l0", "r0"), action("b", "l0", "r0")]
    for i in range(layers):
        after = (f"l{i + 1}", f"r{i + 1}") if i < layers - 1 else ("end",)
        nodes += [operator("OR", f"l{i}", *after), operator("AND", f"r{i}", *after)]
    assert {to for _, to in ways(imported(tmp_path, *nodes, action("end")).graph)} == {"a", "b", "end"}
    deep = [operator("OR", f"o{i}", f"o{i + 1}") for i in range(3000)] + [operator("OR", "o3000", "c")]
    found = imported(tmp_path, action("a", "o0", "c"), *deep, action("c"))
    assert "nested too deeply" in str(found.report)


@pytest.mark.parametrize(
    ("data", "seems"),
    [
        ({"schema": "attack_flow_v2", "theme": "x", "objects": []}, "builder file.*export STIX"),
        ({"$schema": "x", "flow": {}, "actions": [], "relationships": []}, "version 1"),
        ({"type": "bundle", "objects": [{"type": "malware", "id": "m"}]}, "without an attack flow.*malware"),
        ({"type": "bundle", "objects": []}, "has no objects"),
        ({"attack_steps": {}}, "mal-toolbox.*import mal"),
        ([], "is not an Attack Flow"),
    ],
)
def test_other_files_are_refused_with_what_they_seem_to_be(tmp_path: Path, data: Any, seems: str) -> None:
    path = tmp_path / "flow.afb"
    path.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(InputError, match=seems):
        import_graph("attack-flow", path)


def test_what_does_harm_is_guessed_before_what_comes_last(tmp_path: Path) -> None:
    nodes = [
        action("in", "steal", "last"),
        action("steal", "left", tactic_id="TA0010"),
        action("last"),
        condition("Attackers left the network"),
    ]
    nodes[1]["effect_refs"] = ["Attackers left the network"]
    found = imported(tmp_path, *nodes)
    assert found.report.goals == ("steal",)
    by_technique = [action("in", "lock"), action("lock", "last", technique_id="T1486"), action("last")]
    assert imported(tmp_path, *by_technique).report.goals == ("T1486_lock",)


def test_an_end_at_which_attackers_only_leave_is_no_goal(tmp_path: Path) -> None:
    nodes = [
        action("in", "dump"),
        action("dump", "Attackers left the network"),
        condition("Attackers left the network"),
    ]
    found = imported(tmp_path, *nodes)
    assert found.report.goals == ("dump",)
    guess = "The goal 'dump' is a guess: nobody said what the intruder wants; name goals with --goal."
    assert found.graph.found.guessed == (guess,)
    named = imported(tmp_path, *nodes, goals=("Attackers left the network",))
    assert named.report.goals == ("Attackers_left_the_network",)
    assert not named.graph.found
