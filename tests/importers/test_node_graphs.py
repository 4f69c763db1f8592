"""GraphML and node-link files: which nodes and edges become what."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

from importers.samples import GRAPHML, NODE_LINK
from ncirl.attack_graphs.origins import said_of
from ncirl.errors import InputError
from ncirl.importers import Imported, import_graph


def small() -> nx.MultiDiGraph[Any]:
    graph: nx.MultiDiGraph[Any] = nx.MultiDiGraph(name="small")
    graph.add_node("out", initial=True)
    graph.add_node("web", label="web server", criticality_score=1)
    graph.add_node("db", criticality_score=9)
    graph.add_edge("out", "web", edge_type="REACHES", success_prob=0.5)
    graph.add_edge("web", "db", edge_type="RUNS", cost=0.3)
    graph.add_edge("db", "web", edge_type="CONTAINS")
    return graph


def imported(form: str, graph: Any, folder: Path, **changes: Any) -> Imported:
    """Write a graph as networkx does and import it."""
    if form == "graphml":
        nx.write_graphml(graph, folder / "g.graphml")
        return import_graph("graphml", folder / "g.graphml", **changes)
    data = nx.cytoscape_data(graph) if form == "cytoscape" else nx.node_link_data(graph, edges=form)
    (folder / "g.json").write_text(json.dumps(data))
    return import_graph("node-link", folder / "g.json", **changes)


def steps(found: Imported) -> list[tuple[tuple[str, ...], str, float]]:
    return [(exploit.premises, exploit.result, exploit.success) for exploit in found.graph.exploits]


FORMS = pytest.mark.parametrize("form", ["graphml", "links", "edges", "cytoscape"])


@FORMS
def test_what_networkx_writes_is_read(form: str, tmp_path: Path) -> None:
    found = imported(form, small(), tmp_path)
    assert steps(found) == [(("out",), "web", 0.5), (("web",), "db", 0.8)]
    assert found.graph.exploits[1].attack_cost == 0.3
    assert [(c.id, c.initial, c.label) for c in found.graph.conditions][:2] == [
        ("out", True, ""),
        ("web", False, "web server"),
    ]
    assert found.report.goals == ("db",)
    assert "edges of types that seem no attack steps (--set steps=… decides): CONTAINS" in str(found.report)


@FORMS
def test_the_person_decides_which_edges_are_steps(form: str, tmp_path: Path) -> None:
    found = imported(form, small(), tmp_path, settings={"steps": "REACHES,CONTAINS", "reverse": "CONTAINS"})
    assert {(e.premises, e.result) for e in found.graph.exploits} == {(("out",), "web"), (("web",), "db")}
    everything = imported(form, small(), tmp_path, settings={"steps": "*"}, goals=("db",))
    assert len(everything.graph.exploits) == 3


@FORMS
def test_the_person_decides_which_attributes_mean_what(form: str, tmp_path: Path) -> None:
    graph = small()
    for _, node in graph.nodes(data=True):
        node["begin"], node["wanted"] = node.pop("initial", False), node.get("label") == "web server"
    nx.set_edge_attributes(graph, 0.125, "odds")
    chosen = {"initial": "begin", "goal": "wanted", "success": "odds"}
    found = imported(form, graph, tmp_path, settings=chosen)
    assert [success for _, _, success in steps(found)] == [0.125, 0.125]
    assert (found.report.initial, found.report.goals) == (("out",), ("web",))


@FORMS
def test_steps_that_are_nodes_need_all_before_them(form: str, tmp_path: Path) -> None:
    graph: nx.DiGraph[Any] = nx.DiGraph()
    for node in ("out", "key", "web", "db"):
        graph.add_node(node, kind="condition")
    graph.add_node("phish", kind="exploit", success=0.5)
    graph.add_node("dump", kind="exploit", success=0.25)
    edges = [("out", "phish"), ("phish", "web"), ("web", "dump"), ("key", "dump"), ("dump", "db")]
    graph.add_edges_from(edges)
    found = imported(form, graph, tmp_path)
    assert steps(found) == [(("out",), "web", 0.5), (("key", "web"), "db", 0.25)]
    chosen = imported(form, graph, tmp_path, settings={"and": "kind=exploit"})
    assert steps(chosen) == steps(found)


@FORMS
def test_a_step_that_leads_to_a_step_is_a_condition_too(form: str, tmp_path: Path) -> None:
    graph: nx.DiGraph[Any] = nx.DiGraph()
    graph.add_nodes_from(["a", "b", "end"], type="or")
    graph.add_nodes_from(["first", "second"], type="and")
    graph.add_edges_from([("a", "first"), ("b", "first"), ("first", "second"), ("second", "end")])
    premises = {exploit.result: exploit.premises for exploit in imported(form, graph, tmp_path).graph.exploits}
    assert premises == {"first": ("a", "b"), "end": ("first",)}


@FORMS
@pytest.mark.parametrize("reverse", [False, True])
def test_derivations_with_facts_are_read_in_either_direction(form: str, reverse: bool, tmp_path: Path) -> None:
    graph: nx.DiGraph[Any] = nx.DiGraph()
    graph.add_node(1, info="execCode(db)", type="OR")
    graph.add_node(2, info="RULE 2 (remote exploit)", type="AND")
    graph.add_nodes_from([3, 4], type="LEAF")
    graph.add_edges_from([(3, 2), (4, 2), (2, 1)])
    found = imported(form, graph.reverse() if reverse else graph, tmp_path)
    assert steps(found) == [((), "1", 0.8)]
    assert (found.report.facts, found.graph.conditions[0].label) == (2, "execCode(db)")
    assert ("from conclusions to premises" in str(found.report)) == reverse


@FORMS
def test_rewards_of_intents_are_read_from_nodes(form: str, tmp_path: Path) -> None:
    graph = small()
    graph.nodes["db"]["reward_thief"] = 2.0
    graph.nodes["web"]["reward_vandal"] = 1.0
    intents = imported(form, graph, tmp_path).graph.intents
    assert {intent.id: dict(intent.rewards) for intent in intents} == {"thief": {"db": 2.0}, "vandal": {"web": 1.0}}


@FORMS
def test_exposed_nodes_are_entered_from_outside(form: str, tmp_path: Path) -> None:
    graph = small()
    graph.nodes["out"].clear()
    graph.nodes["web"]["internet_facing"] = True
    found = imported(form, graph, tmp_path)
    assert (("outside",), "web", 0.8) in steps(found)
    assert "attackers begin outside" in str(found.report)
    assert imported(form, graph, tmp_path, initial=("out",)).report.initial == ("out",)


@FORMS
def test_edges_without_direction_lead_both_ways(form: str, tmp_path: Path) -> None:
    graph: nx.Graph[Any] = nx.Graph([("a", "b"), ("b", "c")])
    found = imported(form, graph, tmp_path, initial=("b",))
    assert {(premises, result) for premises, result, _ in steps(found)} == {(("b",), "a"), (("b",), "c")}
    assert "each is a step both ways" in str(found.report)


@FORMS
def test_dangling_edges_self_loops_and_isolated_nodes_are_dropped(form: str, tmp_path: Path) -> None:
    graph = small()
    graph.add_node("island")
    graph.add_edge("web", "web")
    report = str(imported(form, graph, tmp_path).report)
    assert "steps that need their own result: web to web" in report
    assert "conditions that cannot be reached from the start: island" in report


@pytest.mark.parametrize(
    ("settings", "essence"),
    [
        ({"steps": "FLIES"}, "setting steps=FLIES: no edge has this type; there are CONTAINS, REACHES, RUNS"),
        ({"success": "odds"}, "setting success=odds: no attribute is called so; there are"),
        ({"and": "kind=and"}, "setting and: no node has kind=and"),
        ({"colour": "red"}, "setting 'colour' is not known to the format graphml; there are\n  edge-type: "),
    ],
)
def test_settings_that_fit_nothing_are_refused(settings: dict[str, str], essence: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=essence):
        imported("graphml", small(), tmp_path, settings=settings)


def test_keys_of_one_name_and_two_types_and_defaults_are_read(tmp_path: Path) -> None:
    path = tmp_path / "g.graphml"
    path.write_text(
        GRAPHML.replace(
            'attr.name="success_prob" attr.type="double"/>', 'attr.name="success_prob"><default>0.25</default></key>'
        )
    )
    assert [success for _, _, success in steps(import_graph("graphml", path))] == [0.5, 1.0]
    path.write_text(path.read_text().replace('<data key="d2">0.5</data>', ""))
    assert [success for _, _, success in steps(import_graph("graphml", path))] == [0.25, 1.0]


def test_labels_drawn_by_yed_are_read(tmp_path: Path) -> None:
    drawn = '<data key="d9"><y:ShapeNode><y:Fill/><y:NodeLabel>Mail</y:NodeLabel></y:ShapeNode></data>'
    path = tmp_path / "g.graphml"
    path.write_text(
        GRAPHML.replace("<graphml ", '<graphml xmlns:y="u" ').replace('<data key="d0">web server</data>', drawn)
    )
    assert [condition.label for condition in import_graph("graphml", path).graph.conditions][1] == "Mail"


@pytest.mark.parametrize(
    ("old", "new", "essence"),
    [
        ('<node id="web">', "<node>", "node 2 has no id"),
        (' target="web"', "", "edge 1 has no target"),
        ("</graph>", "", "not well-formed XML"),
        ("<?xml version='1.0' encoding='utf-8'?>", "<!DOCTYPE graphml>", "remove the DOCTYPE"),
    ],
)
def test_malformed_graphml_is_refused_with_the_place(old: str, new: str, essence: str, tmp_path: Path) -> None:
    path = tmp_path / "g.graphml"
    path.write_text(GRAPHML.replace(old, new, 1))
    with pytest.raises(InputError, match=essence):
        import_graph("graphml", path)


@pytest.mark.parametrize(
    ("old", "new", "essence"),
    [
        ('"nodes": [', '"nodes": 7, "x": [', "nodes: must be a list"),
        ('"target": "web"', '"target": null', "edge 0: must be a map with source and target"),
        ('{"id": 3, "goal": true}', "null", r"nodes\[2\]: must be a map with an id"),
    ],
)
def test_malformed_node_link_is_refused_with_the_place(old: str, new: str, essence: str, tmp_path: Path) -> None:
    assert old in NODE_LINK
    path = tmp_path / "g.json"
    path.write_text(NODE_LINK.replace(old, new, 1))
    with pytest.raises(InputError, match=essence):
        import_graph("node-link", path)


@pytest.mark.parametrize(
    "links",
    [
        [{"from": "a", "to": "b"}],
        [{"source": {"id": "a"}, "target": {"id": "b"}}],
        [["a", "b"]],
    ],
)
def test_ends_of_edges_are_read_as_others_write_them(links: Any, tmp_path: Path) -> None:
    (tmp_path / "g.json").write_text(json.dumps({"nodes": ["a", {"name": "b"}], "links": links}))
    assert steps(import_graph("node-link", tmp_path / "g.json")) == [(("a",), "b", 0.8)]


def test_nodes_without_ids_are_named_by_their_place(tmp_path: Path) -> None:
    (tmp_path / "g.json").write_text('{"nodes": [{"x": 1}, {"x": 2}], "links": [{"source": 0, "target": 1}]}')
    assert steps(import_graph("node-link", tmp_path / "g.json")) == [(("0",), "1", 0.8)]


def scanned() -> nx.MultiDiGraph[Any]:
    """Two hosts with packages; a vulnerability of the first has the highest score there is."""
    graph: nx.MultiDiGraph[Any] = nx.MultiDiGraph()
    graph.add_node("web", node_type="container", name="web server", host="web.example.org", internet_facing=True)
    graph.add_node("db", node_type="container", name="data base", host="db.example.org", criticality_score=9)
    graph.add_node("lab", node_type="container", name="lab", host="lab.example.org")
    for package in ("log4j", "ssl"):
        graph.add_node(f"package:{package}", node_type="package", name=package)
    graph.add_node("cve:CVE-2021-44228", node_type="vulnerability", cve_id="CVE-2021-44228", cvss_score=10.0)
    graph.add_node("cve:CVE-2020-1", node_type="vulnerability", cve_id="CVE-2020-1", cvss_score=5.5)
    graph.add_node("cve:CVE-2020-2", node_type="vulnerability", cve_id="CVE-2020-2", severity="high")
    graph.add_edge("web", "db", edge_type="COMMUNICATES_WITH", protocol="sql")
    for holder, package in (("web", "log4j"), ("web", "ssl"), ("db", "ssl")):
        graph.add_edge(holder, f"package:{package}", edge_type="CONTAINS")
    graph.add_edge("package:log4j", "cve:CVE-2021-44228", edge_type="HAS_VULNERABILITY")
    graph.add_edge("package:ssl", "cve:CVE-2020-1", edge_type="HAS_VULNERABILITY")
    graph.add_edge("lab", "cve:CVE-2020-2", edge_type="HAS_VULNERABILITY")
    graph.add_edge("cve:CVE-2020-1", "package:log4j", edge_type="FIXED_BY")
    return graph


@FORMS
def test_a_step_is_done_by_the_likeliest_vulnerability_of_what_it_leads_to(form: str, tmp_path: Path) -> None:
    found = imported(form, scanned(), tmp_path)
    enter, onward = sorted(found.graph.exploits, key=lambda exploit: exploit.result, reverse=True)
    assert (enter.premises, enter.result, enter.success) == (("outside",), "web", 0.8)
    assert enter.references == ("CVE-2021-44228", "CVE-2020-1")
    assert enter.label == "exploit of web server (CVE-2021-44228, CVE-2020-1) from outside"
    assert (onward.success, onward.asset, onward.references) == (0.8, "db.example.org", ("CVE-2020-1",))
    assert "CVSS scores, ratings and EPSS are no chances that an attempt works" in str(found.report)
    assert "not named   CVE-2020-2: vulnerabilities of what no step leads to" in str(found.report)


@FORMS
def test_updates_and_closed_flows_are_controls(form: str, tmp_path: Path) -> None:
    controls = imported(form, scanned(), tmp_path).graph.controls or ()
    assert {(control.label, control.lasts) for control in controls} == {
        ("patch data base: update ssl", True),
        ("close sql from web server to data base", True),
        ("patch web server: update log4j, ssl", True),
        ("close everything from outside to web server", True),
    }
    assert all(len(control.blocks) == 1 for control in controls)


@FORMS
def test_ways_between_hosts_are_closed_for_good(form: str, tmp_path: Path) -> None:
    graph: nx.MultiDiGraph[Any] = nx.MultiDiGraph()
    graph.add_node("out", initial=True)
    graph.add_node("web", host="web.example.org")
    graph.add_edge("out", "web", protocol="https")
    graph.add_edge("web", "db", edge_type="CONNECTS_TO")
    controls = imported(form, graph, tmp_path).graph.controls or ()
    assert {(control.label, control.lasts) for control in controls} == {
        ("close https from out to web", True),
        ("close CONNECTS_TO from web to db", True),
    }
    del graph.nodes["web"]["host"]  # a graph of anything: a step may be no way between hosts
    assert imported(form, graph, tmp_path).graph.controls is None


@FORMS
def test_vectors_and_what_a_person_names_are_the_success_and_scores_are_not(form: str, tmp_path: Path) -> None:
    graph: nx.MultiDiGraph[Any] = nx.MultiDiGraph()
    graph.add_node("out", initial=True)
    graph.add_edge("out", "web", cvss_vector="CVSS:3.1/AV:N/AC:H/PR:N/UI:N/S:U/C:H/I:H/A:H")
    graph.add_edge("web", "db", cvss_score=10)
    graph.add_node("vault", epss=0.25, cvss_score=9.0)
    graph.add_edge("db", "vault")
    assert [success for _, _, success in steps(imported(form, graph, tmp_path))] == [0.2, 0.8, 0.8]
    chosen = imported(form, graph, tmp_path, settings={"success": "epss"})
    assert [success for _, _, success in steps(chosen)] == [0.2, 0.8, 0.25]
    with pytest.raises(InputError, match="a CVSS score measures severity and is no chance of success"):
        imported(form, graph, tmp_path, settings={"success": "cvss_score"})


@FORMS
def test_a_denial_of_service_is_no_way_onto_a_host(form: str, tmp_path: Path) -> None:
    graph = scanned()
    denial = "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:H"
    graph.nodes["cve:CVE-2021-44228"]["cvss_vector"] = denial
    found = imported(form, graph, tmp_path)
    enter = next(exploit for exploit in found.graph.exploits if exploit.result == "web")
    assert enter.references == ("CVE-2020-1",)
    assert "they give nobody control of what has them: CVE-2021-44228" in str(found.report)
    direct: nx.MultiDiGraph[Any] = nx.MultiDiGraph()
    direct.add_node("out", initial=True)
    direct.add_edge("out", "web", cvss_vector=denial)
    direct.add_edge("out", "mail", cvss_vector=denial.replace("C:N", "C:H"))
    direct.add_edge("mail", "db")
    assert [gives for _, gives, _ in steps(imported(form, direct, tmp_path))] == ["mail", "db"]


@FORMS
def test_criticality_says_what_goals_are_worth(form: str, tmp_path: Path) -> None:
    graph: nx.MultiDiGraph[Any] = nx.MultiDiGraph()
    graph.add_node("out", initial=True)
    for name, worth in (("web", "low"), ("files", "high"), ("vault", "critical")):
        graph.add_node(name, criticality=worth)
    graph.add_edges_from([("out", "web"), ("web", "files"), ("web", "vault")])
    found = imported(form, graph, tmp_path)
    paid = {goal: reward for intent in found.graph.intents for goal, reward in intent.rewards.items()}
    assert paid == {"files": 0.75, "vault": 1.0}
    assert "worth 'criticality' of the source beside the highest, 4" in str(found.report)
    named = imported(form, graph, tmp_path, goals=("web", "vault"), goal_reward=8.0)
    assert [list(intent.rewards.values()) for intent in named.graph.intents] == [[2.0], [8.0]]


def test_a_number_that_cannot_be_read_is_a_default_because_of_that(tmp_path: Path) -> None:
    graph = small()
    graph.edges["out", "web", 0]["success_prob"] = "90%"
    found = imported("links", graph, tmp_path)
    said = said_of(found.graph, "success")
    (first, second) = (exploit.id for exploit in found.graph.exploits)
    assert said[first] == ("default", "because the source's value could not be read")
    assert said[second] == ("default", "as nothing says it; --success sets it")
    assert "success that is no number, so that it could not be read: 90%" in str(found.report)
    asked = imported("links", graph, tmp_path, success=0.3)
    assert said_of(asked.graph, "success")[first] == ("option", "--success")


@FORMS
def test_what_is_no_probability_is_refused(form: str, tmp_path: Path) -> None:
    graph = small()
    graph.edges["out", "web", 0]["success_prob"] = 1.5
    with pytest.raises(InputError, match=r"success_prob: is no probability, which lies between 0 and 1: 1.5"):
        imported(form, graph, tmp_path)
