"""NASim scenarios: reachability through topology and firewalls, access levels, values, oddities, refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from ncirl.attack_graphs.graph import AttackGraph
from ncirl.errors import InputError
from ncirl.importers import Imported, import_graph

Data = dict[str, Any]
LARGEST_VALUE = 100.0


def host(*services: str, os: str = "linux", processes: tuple[str | None, ...] = (), **more: Any) -> Data:
    return {"os": os, "services": list(services), "processes": list(processes)} | more


def exploit(service: str, os: str | None = "None", prob: Any = 0.9, cost: Any = 2, access: Any = "user") -> Data:
    return {"service": service, "os": os, "prob": prob, "cost": cost, "access": access}


def scenario(**changes: Any) -> Data:
    """Return a web server reached from the internet, and behind it a data base that holds the value."""
    found: Data = {
        "subnets": [1, 1],
        "topology": [[1, 1, 0], [1, 1, 1], [0, 1, 1]],
        "sensitive_hosts": {"(2, 0)": LARGEST_VALUE},
        "exploits": {"e_http": exploit("http"), "e_ssh": exploit("ssh", "linux", 0.6, 3)},
        "privilege_escalation": {"pe": {"process": "tomcat", "os": "linux", "prob": 1.0, "cost": 1, "access": "root"}},
        "host_configurations": {"(1, 0)": host("http"), "(2, 0)": host("ssh", processes=("tomcat",))},
        "firewall": {"(0, 1)": ["http"], "(1, 0)": [], "(1, 2)": ["ssh"], "(2, 1)": ["ssh"]},
    }
    return found | changes


def imported(tmp_path: Path, data: Any, **changes: Any) -> Imported:
    path = tmp_path / "scenario.yaml"
    path.write_text(yaml.safe_dump(data, sort_keys=False), encoding="utf-8")
    return import_graph("nasim", path, **changes)


def ways(graph: AttackGraph) -> set[tuple[str, str]]:
    return {(step.premises[0], step.result) for step in graph.exploits}


def test_the_way_through_the_network_with_its_numbers(tmp_path: Path) -> None:
    found = imported(tmp_path, scenario())
    assert [(s.id, s.premises, s.result, s.success, s.attack_cost) for s in found.graph.exploits] == [
        ("e_http_1.0_from_internet", ("internet",), "1.0:user", 0.9, 2),
        ("e_ssh_2.0_from_1.0:user", ("1.0:user",), "2.0:user", 0.6, 3),
        ("pe_2.0", ("2.0:user",), "2.0:root", 1.0, 1),
    ]
    (intent,) = found.graph.intents
    assert dict(intent.rewards) == {"2.0:root": LARGEST_VALUE}


def test_the_text_form_of_addresses_and_of_no_operating_system(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    path.write_text(
        """
subnets: [1]
topology: [[1, 1],
           [1, 1]]
sensitive_hosts:
  (1, 0): 10
exploits:
  e_http: {service: http, os: None, prob: 0.5, cost: 1, access: root}
privilege_escalation: {}
host_configurations:
  (1, 0):
    os: windows
    services: [http]
    processes: []
firewall:
  (0, 1): [http]
  (1, 0): []
""",
        encoding="utf-8",
    )
    assert ways(import_graph("nasim", path).graph) == {("internet", "1.0:root")}


@pytest.mark.parametrize(
    ("changes", "is_reached"),
    [
        ({"firewall": {"(0, 1)": ["http"], "(1, 2)": []}}, False),
        ({"firewall": {"(0, 1)": ["http"]}}, False),
        ({"topology": [[1, 1, 0], [1, 1, 0], [0, 1, 1]]}, False),
        ({"host_configurations": {"(1, 0)": host("http"), "(2, 0)": host("ssh", os="windows")}}, False),
        ({"firewall": None}, True),
    ],
)
def test_what_stands_between_attackers_and_a_host(tmp_path: Path, changes: Data, is_reached: bool) -> None:
    assert (
        ("1.0:user", "2.0:user") in ways(imported(tmp_path, scenario(**changes), goals=("1.0:user",)).graph)
    ) == is_reached


def test_a_foothold_in_a_subnet_stands_for_its_hosts(tmp_path: Path) -> None:
    hosts = {f"(1, {i})": host("http") for i in range(3)} | {"(2, 0)": host("ssh", processes=("tomcat",))}
    found = imported(tmp_path, scenario(subnets=[3, 1], host_configurations=hosts))
    into = [step for step in found.graph.exploits if step.result == "2.0:user"]
    assert {step.premises for step in into} == {("1.0:user",), ("1.1:user",), ("1.2:user",)}
    assert {(step.success, step.attack_cost) for step in into} == {(0.6, 3)}
    assert "a foothold in its subnet, at once and for free" in str(found.report)


def test_firewalls_are_the_controls_and_hosts_are_named(tmp_path: Path) -> None:
    hosts = {f"(1, {i})": host("http") for i in range(2)} | {"(2, 0)": host("ssh", processes=("tomcat",))}
    graph = imported(tmp_path, scenario(subnets=[2, 1], host_configurations=hosts)).graph
    blocked = {control.label: len(control.blocks) for control in graph.controls or ()}
    assert blocked == {
        "host firewall: deny http on (1, 0)": 2,
        "firewall: close http from the internet to subnet 1": 2,
        "host firewall: deny http on (1, 1)": 2,
        "host firewall: deny ssh on (2, 0)": 2,
        "firewall: close ssh from subnet 1 to subnet 2": 2,
    }
    assert {(control.lasts, control.cost) for control in graph.controls or ()} == {(True, 0.1 * LARGEST_VALUE)}
    last = graph.exploits[-1]
    assert (last.asset, last.label) == ("(2, 0)", "escalation by tomcat on (2, 0) (pe)")
    found = imported(tmp_path, scenario())
    assert "1 of 3 steps can be stopped by no control of the source" in str(found.report)


def test_the_firewall_of_a_host_is_heeded(tmp_path: Path) -> None:
    wary = host("ssh", processes=("tomcat",), firewall={"(1, 0)": ["ssh"]})
    hosts = {f"(1, {i})": host("http") for i in range(3)} | {"(2, 0)": wary}
    graph = imported(tmp_path, scenario(subnets=[3, 1], host_configurations=hosts)).graph
    assert {step.premises for step in graph.exploits if step.result == "2.0:user"} == {("1.1:user",), ("1.2:user",)}


def test_inside_a_subnet_everything_passes(tmp_path: Path) -> None:
    hosts = {"(1, 0)": host("http"), "(1, 1)": host("ssh", processes=("tomcat",))}
    data = scenario(
        subnets=[2],
        topology=[[1, 1], [1, 1]],
        host_configurations=hosts,
        sensitive_hosts={"(1, 1)": 1},
        firewall={"(0, 1)": ["http"]},
    )
    graph = imported(tmp_path, data).graph
    assert ("1.0:user", "1.1:user") in ways(graph)
    assert ("internet", "1.1:user") not in ways(graph)


def test_each_sensitive_host_is_an_intent_with_its_value(tmp_path: Path) -> None:
    data = scenario(
        sensitive_hosts={"(2, 0)": 100, "(1, 0)": "40"},
        exploits={"e": exploit("http", access="root")} | {"f": exploit("ssh", access="root")},
    )
    found = imported(tmp_path, data)
    assert [(i.prior, dict(i.rewards)) for i in found.graph.intents] == [
        (0.5, {"2.0:root": 100}),
        (0.5, {"1.0:root": 40}),
    ]
    chosen = imported(tmp_path, data, goals=("1.0:root",)).graph.intents
    assert [dict(intent.rewards) for intent in chosen] == [{"1.0:root": 40}]


def test_the_default_cost_of_blocking_grows_with_the_values(tmp_path: Path) -> None:
    found = imported(tmp_path, scenario())
    assert {step.block_cost for step in found.graph.exploits} == {0.05 * LARGEST_VALUE}
    assert "cost 10 of 4 controls (100%): a default, paid once, as much as 2 stages of blocking one step" in str(
        found.report
    )
    assert {step.block_cost for step in imported(tmp_path, scenario(), block_cost=2.0).graph.exploits} == {2.0}


def test_honeypots_and_scans_are_left_out_and_said_to_be(tmp_path: Path) -> None:
    hosts = {"(1, 0)": host("http", value=-50), "(2, 0)": host("ssh", processes=("tomcat",)), "(1, 1)": host(value=7)}
    told = str(imported(tmp_path, scenario(host_configurations=hosts, service_scan_cost=1)).report)
    assert "honeypots): attackers are not assumed to know them: (1, 0)" in told
    assert "not among the sensitive ones: (1, 1)" in told
    assert "scans" in told


def test_levels_of_access_may_be_numbers_and_probabilities_text(tmp_path: Path) -> None:
    data = scenario(exploits={"e": exploit("http", prob="0.5", access=2)}, sensitive_hosts={"(1, 0)": 1})
    (step,) = imported(tmp_path, data).graph.exploits
    assert (step.result, step.success) == ("1.0:root", 0.5)


@pytest.mark.parametrize(
    ("changes", "left"),
    [
        ({"subnets": [1, "2-5"]}, "sizes of subnets"),
        ({"host_configurations": "_random"}, "hosts"),
        ({"firewall": "_subnets"}, "the firewall"),
        ({"sensitive_hosts": {1: 0.0, 2: 0.5}}, "sensitive hosts"),
    ],
)
def test_scenarios_that_leave_things_to_chance_are_refused_by_name(tmp_path: Path, changes: Data, left: str) -> None:
    with pytest.raises(InputError, match=f"is a NASimEmu scenario .* leaves {left} to chance"):
        imported(tmp_path, scenario(**changes))


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"topology": [[1, 1], [1]]}, "topology: must be a square table"),
        ({"topology": "all"}, "topology: must be a square table"),
        ({"subnets": [1, 1, 1, 1]}, "subnets: must list the sizes of the 2 subnets"),
        ({"host_configurations": None}, "host_configurations: no host is given"),
        (
            {"host_configurations": {"web": host("http")}},
            r"host_configurations: key 'web' must be a pair such as \(1, 0\)",
        ),
        ({"host_configurations": {"(7, 0)": host("http")}}, r"\(7, 0\): there is no subnet 7"),
        ({"exploits": {}}, "exploits: none is given"),
        ({"exploits": {"e": exploit("http", prob=3)}}, "exploits.e.prob: must be a probability, got 3"),
        ({"exploits": {"e": exploit("http", cost="much")}}, "exploits.e.cost: must be a number, got 'much'"),
        ({"exploits": {"e": exploit("http", access="god")}}, "exploits.e.access: must be user or root, got 'god'"),
        ({"exploits": [1]}, "exploits: must be a map by name"),
        ({"sensitive_hosts": {"(2, 5)": 1}}, r"sensitive_hosts.\(2, 5\): no such host"),
        ({"sensitive_hosts": {"(2, 0)": "dear"}}, "must be a number, got 'dear'"),
    ],
)
def test_faults_are_told_with_their_place(tmp_path: Path, changes: Data, fault: str) -> None:
    with pytest.raises(InputError, match=fault):
        imported(tmp_path, scenario(**changes))


@pytest.mark.parametrize("data", [[], {}, {"subnets": [1]}, "text", {"attack_steps": {}}])
def test_other_files_are_refused(tmp_path: Path, data: Any) -> None:
    with pytest.raises(InputError, match="is not a NASim scenario"):
        imported(tmp_path, data)
