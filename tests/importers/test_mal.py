"""mal-toolbox attack graphs: three dialects, defences, times to compromise, entry points, oddities."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from importers.ways import way, ways
from ncirl.errors import InputError
from ncirl.importers import Imported, import_graph
from ncirl.importers.mal_ttc import success_of

EXACT = 1e-12


def step(kind: str, children: Any = (), **more: Any) -> dict[str, Any]:
    return {"type": kind, "ttc": None, "children": children if isinstance(children, dict) else list(children)} | more


def imported(tmp_path: Path, data: Any, name: str = "g.json", **changes: Any) -> Imported:
    path = tmp_path / name
    path.write_text(data if isinstance(data, str) else json.dumps(data), encoding="utf-8")
    return import_graph("mal", path, **changes)


def said(found: Imported) -> str:
    return str(found.report)


def listed(**steps: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"id": key.replace("_", ":"), "name": key.rpartition("_")[2]} | source for key, source in steps.items()]


def test_or_steps_need_one_parent_and_and_steps_all(tmp_path: Path) -> None:
    steps = {
        "A:in": step("or", {"1": "A:left", "2": "A:right"}, id=0, compromised_by=["Attacker:9"]),
        "A:left": step("or", {"3": "A:both", "4": "A:any"}, id=1),
        "A:right": step("or", {"3": "A:both", "4": "A:any"}, id=2),
        "A:both": step("and", {}, id=3),
        "A:any": step("or", {}, id=4),
    }
    graph = imported(tmp_path, {"attack_steps": steps}).graph
    assert ways(graph) == {
        way("A:in", to="A:left"),
        way("A:in", to="A:right"),
        way("A:left", "A:right", to="A:both"),
        way("A:left", to="A:any"),
        way("A:right", to="A:any"),
    }
    assert [condition.id for condition in graph.conditions if condition.initial] == ["A:in"]


def test_yaml_with_whole_numbers_for_ids_is_read_alike(tmp_path: Path) -> None:
    source = """
attack_steps:
  A:in: {id: 0, type: or, ttc: null, children: {1: 'A:out'}, parents: {}, compromised_by: [x]}
  A:out: {id: 1, type: and, ttc: {type: function, name: Bernoulli, arguments: [0.25]}, children: {}}
"""
    graph = imported(tmp_path, source, "g.yml").graph
    assert [(exploit.premises, exploit.result, exploit.success) for exploit in graph.exploits] == [
        (("A:in",), "A:out", 0.25)
    ]


@pytest.mark.parametrize(("field", "name"), [("links", "atkname"), ("children", "name")])
def test_both_older_lists_are_read(tmp_path: Path, field: str, name: str) -> None:
    steps = [
        {"id": "attacker:0:firstSteps", "type": "or", name: "firstSteps", field: ["host:1:connect"], "parents": None},
        {"id": "host:1:connect", "type": "or", name: "connect", field: [], "parents": None, "objid": "1", "ttc": None},
    ]
    assert ways(imported(tmp_path, steps).graph) == {way("attacker:0:firstSteps", to="host:1:connect")}


def test_an_edge_told_by_the_parent_only_counts(tmp_path: Path) -> None:
    steps = listed(a_firstSteps=step("or", ["b:x"], parents=[]), b_x=step("and", [], parents=[]))
    assert ways(imported(tmp_path, steps).graph) == {way("a:firstSteps", to="b:x")}


@pytest.mark.parametrize(
    ("defence", "is_reached"),
    [
        ({"defense_status": "1.0"}, False),
        ({"defense_status": "0.0"}, True),
        ({"defense_status": 1}, False),
        ({"defense_status": "True"}, False),
        ({"defense_status": None}, True),
        ({"ttc": {"type": "function", "name": "Enabled", "arguments": []}}, False),
        ({"ttc": {"type": "function", "name": "Disabled", "arguments": []}}, True),
        ({"is_viable": "False"}, False),
    ],
)
def test_a_defence_that_is_on_makes_an_and_step_impossible(
    tmp_path: Path, defence: dict[str, Any], is_reached: bool
) -> None:
    steps = listed(
        a_firstSteps=step("or", ["h:hit", "h:other"]),
        h_shield=step("defense", ["h:hit"], **defence),
        h_hit=step("and", []),
        h_other=step("or", []),
    )
    assert (way("a:firstSteps", to="h:hit") in ways(imported(tmp_path, steps).graph)) == is_reached


def test_a_defence_that_is_off_lets_an_or_step_be_taken_at_once(tmp_path: Path) -> None:
    steps = {
        "a:firstSteps": step("or", {"3": "h:hit"}, id=0),
        "h:audit": step("defense", {"2": "h:bypassed"}, id=1, defense_status="0.0"),
        "h:bypassed": step("or", {"3": "h:hit"}, id=2),
        "h:hit": step("and", {}, id=3),
    }
    found = imported(tmp_path, {"attack_steps": steps})
    assert ways(found.graph) == {way(to="h:bypassed"), way("a:firstSteps", "h:bypassed", to="h:hit")}
    assert "or-steps below a fact that holds can be taken at once" in said(found)


def test_a_defence_of_unknown_status_in_a_hand_made_list_is_no_way_in(tmp_path: Path) -> None:
    steps = listed(
        a_firstSteps=step("or", ["h:hit"]),
        h_shield=step("defense", ["h:hit"], defense_status=None),
        h_hit=step("or", []),
    )
    assert ways(imported(tmp_path, steps).graph) == {way("a:firstSteps", to="h:hit")}


def test_a_defence_that_is_on_with_a_chance_scales_the_success(tmp_path: Path) -> None:
    steps = listed(
        a_firstSteps=step("or", ["h:hit"]),
        h_shield=step("defense", ["h:hit"], defense_status=0.3),
        h_hit=step("and", []),
    )
    assert imported(tmp_path, steps).graph.exploits[0].success == pytest.approx(0.7, abs=EXACT)


@pytest.mark.parametrize(
    ("kind", "status", "is_reached"),
    [
        ("exist", "True", True),
        ("exist", "False", False),
        ("exist", None, True),
        ("notExist", "True", False),
        ("notExist", "False", True),
        ("notExist", None, True),
    ],
)
def test_existence_is_a_fact(tmp_path: Path, kind: str, status: str | None, is_reached: bool) -> None:
    steps = listed(
        a_firstSteps=step("or", ["h:hit", "h:other"]),
        h_there=step(kind, ["h:hit"], existence_status=status),
        h_hit=step("and", []),
        h_other=step("or", []),
    )
    assert (way("a:firstSteps", to="h:hit") in ways(imported(tmp_path, steps).graph)) == is_reached


def test_a_step_that_is_not_viable_is_dropped(tmp_path: Path) -> None:
    steps = listed(
        a_firstSteps=step("or", ["h:dead", "h:live"]), h_dead=step("or", [], is_viable="False"), h_live=step("or", [])
    )
    found = imported(tmp_path, steps)
    assert ways(found.graph) == {way("a:firstSteps", to="h:live")}
    assert "not viable: h:dead" in said(found)


def test_a_step_named_like_the_defences_and_without_parents_is_one(tmp_path: Path) -> None:
    steps = listed(
        a_firstSteps=step("or", ["h:hit", "k:hit"]),
        h_defend=step("or", ["h:hit"]),
        h_hit=step("and", []),
        k_defend=step("defense", ["k:hit"]),
        k_hit=step("and", []),
    )
    found = imported(tmp_path, steps)
    assert ways(found.graph) == {way("a:firstSteps", to="h:hit"), way("a:firstSteps", to="k:hit")}
    assert "a defence: h:defend" in said(found)


def test_entry_points_of_attackers_are_where_they_begin(tmp_path: Path) -> None:
    steps = {
        "h:in": step("or", {"1": "h:next"}, id=0),
        "h:next": step("or", {}, id=1),
        "h:far": step("or", {"1": "h:next"}, id=2),
    }
    data = {"attack_steps": steps, "attackers": {"Eve": {"id": 5, "entry_points": {"0": "h:in"}}}}
    assert imported(tmp_path, data).report.initial == ("h:in",)
    without = imported(tmp_path, {"attack_steps": steps, "attackers": {}})
    assert without.report.initial == ("h:in", "h:far")
    assert "no entry point is given" in said(without)
    chosen = imported(tmp_path, {"attack_steps": steps}, initial=("h:far",))
    assert chosen.report.initial == ("h:far",)


def test_steps_tagged_as_entry_points_are_where_attackers_begin_if_nothing_else_says_so(tmp_path: Path) -> None:
    steps = {
        "h:in": step("or", {"1": "h:next"}, id=0, tags=["hidden", "entrypoint"]),
        "h:next": step("or", {}, id=1, tags="['hidden']"),
        "h:far": step("or", {"1": "h:next"}, id=2),
    }
    found = imported(tmp_path, {"attack_steps": steps, "attackers": {}})
    assert found.report.initial == ("h:in",)
    assert "attackers begin at the steps tagged as entry points (see --initial): h:in" in said(found)
    data = {"attack_steps": steps, "attackers": {"Eve": {"id": 5, "entry_points": {"2": "h:far"}}}}
    assert imported(tmp_path, data).report.initial == ("h:far",)
    assert imported(tmp_path, {"attack_steps": steps}, initial=("h:far",)).report.initial == ("h:far",)


def guarded(**defence: Any) -> dict[str, Any]:
    """Two steps, the first of which a defence stops; the second follows from the first at once."""
    return {
        "attack_steps": {
            "a:firstSteps": step("or", {"2": "h:hit"}, id=0),
            "h:shield": step("defense", {"2": "h:hit"}, id=1, **defence),
            "h:hit": step("and", {"3": "h:own"}, id=2, ttc=function("Bernoulli", 0.5), mitre_info="T1078"),
            "h:own": step("or", {"4": "h:end"}, id=3),
            "h:end": step("or", {}, id=4, ttc=function("Bernoulli", 0.25)),
        }
    }


@pytest.mark.parametrize("defence", [{}, {"defense_status": "0.0"}, {"defense_status": 0.5}])
def test_a_defence_that_is_off_is_a_control_that_lasts(tmp_path: Path, defence: dict[str, Any]) -> None:
    graph = imported(tmp_path, guarded(**defence)).graph
    assert graph.controls is not None
    (control,) = graph.controls
    assert (control.label, control.lasts, control.blocks) == ("switch on shield on h", True, ("h:hit",))
    assert control.cost == pytest.approx(0.1)
    assert imported(tmp_path, guarded(**defence), lasting_cost=2.0).graph.controls[0].cost == 2.0  # type: ignore[index]
    assert imported(tmp_path, guarded(**defence), controls=False).graph.controls is None


def test_a_defence_that_must_not_be_used_is_no_control(tmp_path: Path) -> None:
    found = imported(tmp_path, guarded(tags=["suppress"]))
    assert found.graph.controls is None
    assert "tagged as not to be used, which stay as they are: h:shield" in said(found)


@pytest.mark.parametrize(
    ("asset", "name", "deed"),
    [
        ("Application:1", "notPresent", None),
        ("SoftwareVulnerability:2", "networkAccessRequired", None),
        ("SoftwareVulnerability:2", "integrityImpactLimitations", None),
        ("SoftwareVulnerability:2", "effortRequiredForExploitation", None),
        ("SoftwareVulnerability:2", "remove", "remove SoftwareVulnerability:2"),
        ("Application:1", "disabled", "disable Application:1"),
        ("Identity:3", "mfaRequired", "switch on mfaRequired on Identity:3"),
    ],
)
def test_a_defence_that_is_a_property_is_no_control(tmp_path: Path, asset: str, name: str, deed: str | None) -> None:
    key = f"{asset}:{name}"
    steps = {
        "a:firstSteps": step("or", {"2": "h:hit"}, id=0),
        key: step("defense", {"2": "h:hit"}, id=1, name=name, asset=asset, defense_status="0.0"),
        "h:hit": step("and", {}, id=2, ttc=function("Bernoulli", 0.5)),
    }
    found = imported(tmp_path, {"attack_steps": steps})
    assert [exploit.success for exploit in found.graph.exploits] == [0.5]
    assert [control.label for control in found.graph.controls or ()] == ([deed] if deed else [])
    assert ("which nobody applies, stay as they are" in said(found)) == (deed is None)


def test_steps_that_are_certain_and_cannot_be_stopped_take_no_attempt(tmp_path: Path) -> None:
    found = imported(tmp_path, guarded())
    assert ways(found.graph) == {way("a:firstSteps", to="h:hit"), way("h:hit", to="h:end")}
    assert [exploit.label for exploit in found.graph.exploits] == ["hit on h", "end on h"]
    assert found.graph.exploits[0].references == ("T1078",)
    assert {exploit.asset for exploit in found.graph.exploits} == {"h"}
    assert "1 of 2 steps can be stopped by no control of the source" in said(found)


def test_a_way_that_a_defence_leaves_open_is_closed_by_it(tmp_path: Path) -> None:
    steps = {
        "a:firstSteps": step("or", {"3": "h:hit"}, id=0),
        "h:audit": step("defense", {"2": "h:bypassed"}, id=1, defense_status="0.0"),
        "h:bypassed": step("or", {"3": "h:hit"}, id=2),
        "h:hit": step("and", {}, id=3, ttc=function("Bernoulli", 0.5)),
    }
    graph = imported(tmp_path, {"attack_steps": steps}).graph
    assert [(control.label, control.blocks) for control in graph.controls or ()] == [
        ("switch on audit on h", ("h:bypassed",))
    ]


def test_a_defence_above_an_or_step_of_a_hand_made_list_closes_all_its_ways(tmp_path: Path) -> None:
    steps = listed(
        a_firstSteps=step("or", ["h:x", "h:y"]),
        h_x=step("or", ["h:hit"], ttc=function("Bernoulli", 0.5)),
        h_y=step("or", ["h:hit"], ttc=function("Bernoulli", 0.5)),
        h_shield=step("defense", ["h:hit"]),
        h_hit=step("or", []),
    )
    (control,) = imported(tmp_path, steps).graph.controls or ()
    assert len(control.blocks) == 2


def test_references_to_nothing_and_entries_that_are_no_step_are_told(tmp_path: Path) -> None:
    steps = [*listed(a_firstSteps=step("or", ["h:x", "h:gone"]), h_x=step("or", []), h_odd=step("maybe", [])), 7]
    found = imported(tmp_path, steps)
    assert "not in the file: h:gone (in a:firstSteps)" in said(found)
    assert "type that is not known: h:odd" in said(found)


@pytest.mark.parametrize(
    ("data", "seems"),
    [
        ({"metadata": {"langID": "x"}, "assets": {"0": {"name": "A"}}}, "a MAL model"),
        ({"type": "bundle", "objects": []}, "STIX"),
        ({"some": "thing"}, "is not a mal-toolbox attack graph"),
        ([], "is not a mal-toolbox attack graph"),
        ([1, 2], "is not a mal-toolbox attack graph"),
        ("text", "is not a mal-toolbox attack graph"),
    ],
)
def test_other_files_are_refused_with_what_they_seem_to_be(tmp_path: Path, data: Any, seems: str) -> None:
    path = tmp_path / "g.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(InputError, match=seems):
        import_graph("mal", path)


def test_several_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="2 files are given"):
        import_graph("mal", [tmp_path / "a.json", tmp_path / "b.json"])


def function(name: str, *arguments: float) -> dict[str, Any]:
    return {"type": "function", "name": name, "arguments": list(arguments)}


def rate(value: float) -> float:
    return 1 - math.exp(-value)


@pytest.mark.parametrize(
    ("ttc", "success"),
    [
        (None, None),
        (function("Bernoulli", 0.3), 0.3),
        (function("Exponential", 0.5), rate(0.5)),
        (function("Exponential", 0), 0.0),
        (function("EasyAndCertain"), rate(1)),
        (function("EasyAndUncertain"), 0.5),
        (function("HardAndCertain"), rate(0.1)),
        (function("HardAndUncertain"), 0.5 * rate(0.1)),
        (function("VeryHardAndCertain"), rate(0.01)),
        (function("VeryHardAndUncertain"), 0.5 * rate(0.01)),
        (function("Infinity"), 0.0),
        (function("Zero"), 1.0),
        ("HardAndCertain", rate(0.1)),
        (4, rate(0.25)),
        (-4, None),
        (function("Gamma", 2, 3), rate(1 / 6)),
        (function("Uniform", 1, 3), rate(1 / 2)),
        (function("Pareto", 1, 2), rate(1 / 2)),
        (function("Pareto", 1, 1), rate(1 / 2)),
        (function("LogNormal", 1e6, 1), None),
        (function("LogNormal", 0, 0), rate(1)),
        (function("TruncatedNormal", 5, 1), rate(1 / 5)),
        (function("Binomial", 10, 0.5), rate(1 / 5)),
        (function("Gamma", 1), None),
        (function("Exponential", -1), None),
        (function("NewLaw", 1), None),
        (
            {"type": "multiplication", "lhs": function("Bernoulli", 0.5), "rhs": function("Exponential", 0.1)},
            0.5 * rate(0.1),
        ),
        ({"type": "addition", "lhs": function("Exponential", 1), "rhs": function("Exponential", 0.5)}, rate(1 / 3)),
        ({"type": "subtraction", "lhs": 5, "rhs": 3}, rate(1 / 2)),
        ({"type": "division", "lhs": 5, "rhs": 0}, None),
        ({"type": "exponentiation", "lhs": 2, "rhs": 3}, rate(1 / 8)),
        ({"type": "remainder", "lhs": 2, "rhs": 3}, None),
    ],
)
def test_times_to_compromise_become_the_success_of_a_stage(ttc: Any, success: float | None) -> None:
    assert success_of(ttc) == (None if success is None else pytest.approx(success, abs=EXACT))


json_like = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.fixed_dictionaries(
            {},
            optional={
                "type": st.sampled_from(["function", "addition", "exponentiation", "division"]),
                "name": st.sampled_from(
                    ["Gamma", "Exponential", "Pareto", "LogNormal", "Bernoulli", "TruncatedNormal"]
                ),
                "arguments": inner,
                "lhs": inner,
                "rhs": inner,
                "value": inner,
            },
        )
    ),
    max_leaves=12,
)


@given(json_like)
def test_any_time_to_compromise_gives_a_probability_or_nothing(ttc: Any) -> None:
    success = success_of(ttc)
    assert success is None or 0 <= success <= 1


def test_a_time_that_is_not_understood_takes_the_default_and_is_told(tmp_path: Path) -> None:
    steps = listed(a_firstSteps=step("or", ["h:x"]), h_x=step("or", [], ttc=function("NewLaw", 1)))
    found = imported(tmp_path, steps, success=0.4)
    assert found.graph.exploits[0].success == 0.4
    assert "not understood: h:x" in said(found)
