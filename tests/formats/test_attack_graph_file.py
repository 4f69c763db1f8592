"""Attack-graph files: read back exactly, and every fault told with its place."""

from __future__ import annotations

import copy
import json
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ncirl
from attack_oracle import graphs
from ncirl.attack_graphs.graph import Alert, AttackGraph, Condition, Control, Exploit, Intent
from ncirl.formats import resolve_game
from ncirl.formats.attack_graph_file import attack_graph_from_data, attack_graph_to_data

YAML = """\
format: ncirl-attack-graph/1
name: shop
discount: 0.9
observes: outcomes
defender_budget: 1
conditions:
  - {id: web, initial: true, label: web server}
  - {id: db}
exploits:
  - {id: sqli, from: [web], to: db, success: 0.5, attack_cost: 0.1, block_cost: 1, alert: 0.9}
  - {id: guess, from: [], to: db, success: 1e-3, alert: {attempted: 0.8, idle: 0.02}}
intents:
  - {id: spy, prior: 0.25, rewards: {db: 1}}
  - {id: none, prior: 0.75, rewards: {}}
"""
SHOP = AttackGraph(
    conditions=(Condition("web", initial=True, label="web server"), Condition("db")),
    exploits=(
        Exploit("sqli", ("web",), "db", 0.5, 0.1, 1.0, Alert(0.9)),
        Exploit("guess", (), "db", 1e-3, alert=Alert(0.8, 0.02)),
    ),
    intents=(Intent("spy", 0.25, {"db": 1.0}), Intent("none", 0.75, {})),
    discount=0.9,
    observes="outcomes",
    defender_budget=1,
    name="shop",
)
GOOD = attack_graph_to_data(SHOP)

any_text = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
some_text = st.just("") | any_text
references = st.lists(any_text, max_size=2).map(tuple)
positive = st.floats(0, 1e12)
chances = st.floats(0, 1)


@st.composite
def odd_graphs(draw: st.DrawFn) -> AttackGraph:
    """Graphs with any text for ids and any numbers."""
    graph = draw(graphs())
    return _under_controls(draw, _oddly_numbered(draw, graph))


def _under_controls(draw: st.DrawFn, graph: AttackGraph) -> AttackGraph:
    names = st.lists(st.sampled_from([e.id for e in graph.exploits]), min_size=1, unique=True).map(tuple)
    kinds = st.sampled_from(["momentary", "lasting"])
    control = st.builds(Control, any_text, names, positive, kinds, some_text, references)
    controls = st.lists(control, max_size=3, unique_by=lambda c: c.id).map(tuple)
    return replace(graph, controls=draw(st.none() | controls))


def _oddly_numbered(draw: st.DrawFn, graph: AttackGraph) -> AttackGraph:
    return replace(
        graph,
        conditions=(
            *graph.conditions,
            Condition(f"x{draw(any_text)}", draw(st.booleans()), draw(any_text), draw(some_text), draw(references)),
        ),
        exploits=tuple(
            replace(
                e,
                id=f"{k}{draw(any_text)}",
                success=draw(chances),
                attack_cost=draw(positive),
                block_cost=draw(positive),
                alert=draw(st.none() | st.builds(Alert, chances, chances)),
                label=draw(some_text),
                asset=draw(some_text),
                references=draw(references),
            )
            for k, e in enumerate(graph.exploits)
        ),
        intents=(Intent(draw(any_text), 1.0, {"c0": draw(st.floats(-1e12, 1e12))}),),
        discount=draw(st.floats(0, 1, exclude_max=True)),
        horizon=draw(st.none() | st.integers(1, 100)),
        name=draw(st.just("") | any_text),
    )


def test_yaml_is_read(tmp_path: Path) -> None:
    path = tmp_path / "shop.yaml"
    path.write_text(YAML)
    assert AttackGraph.load(path) == SHOP


@given(graph=odd_graphs(), suffix=st.sampled_from([".json", ".yaml", ".yml"]))
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_round_trip_is_exact(graph: AttackGraph, suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"graph{suffix}"
    graph.save(path)
    assert AttackGraph.load(path) == graph


TOLD = replace(
    SHOP,
    conditions=(replace(SHOP.conditions[0], asset="web1"), SHOP.conditions[1]),
    exploits=(
        replace(SHOP.exploits[0], label="inject SQL", asset="db1", references=("CVE-2024-1", "T1190")),
        SHOP.exploits[1],
    ),
)


@pytest.mark.parametrize("suffix", [".json", ".yaml"])
def test_labels_assets_and_references_are_kept_in_format_2(suffix: str, tmp_path: Path) -> None:
    TOLD.save(tmp_path / f"told{suffix}")
    assert AttackGraph.load(tmp_path / f"told{suffix}") == TOLD
    assert attack_graph_to_data(TOLD)["format"] == "ncirl-attack-graph/2"


CONTROLLED = attack_graph_to_data(
    replace(SHOP, controls=(Control("waf", ("sqli", "guess"), 0.2), Control("patch", ("sqli",), 2.0, "lasting")))
)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"blocks": ["xss"]}, "controls[1].blocks[0]: unknown exploit 'xss'"),
        ({"blocks": []}, "controls[1].blocks: must name at least one exploit"),
        ({"blocks": "sqli"}, "controls[1].blocks: must be a list, got 'sqli'"),
        ({"cost": -1.0}, "controls[1].cost: must lie in [0, 1e+12], got -1"),
        ({"kind": "weekly"}, "controls[1].kind: must be momentary or lasting, got 'weekly'"),
        ({"id": "waf"}, "controls[1].id: 'waf' appears twice"),
        ({"id": ""}, "controls[1].id: must not be empty, got ''"),
        ({"price": 1.0}, "controls[1].price: is not a known key"),
    ],
)
def test_a_malformed_control_gets_one_sentence(change: dict[str, Any], fault: str) -> None:
    data = copy.deepcopy(CONTROLLED)
    data["controls"][1] |= change
    with pytest.raises(ncirl.InputError) as raised:
        attack_graph_from_data(data)
    assert raised.value.faults == (fault,)


def test_controls_need_format_2() -> None:
    assert CONTROLLED["format"] == "ncirl-attack-graph/2"
    with pytest.raises(ncirl.InputError, match="controls: is not known in 'ncirl-attack-graph/1'"):
        attack_graph_from_data(CONTROLLED | {"format": "ncirl-attack-graph/1"})


def test_an_unknown_prior_is_left_out_of_all_intents_in_format_2(tmp_path: Path) -> None:
    even = tuple(replace(intent, prior=0.5) for intent in SHOP.intents)
    graph = replace(SHOP, intents=even, unknown_prior=True)
    graph.save(tmp_path / "graph.yaml")
    assert "prior" not in (tmp_path / "graph.yaml").read_text()
    assert AttackGraph.load(tmp_path / "graph.yaml") == graph
    data = attack_graph_to_data(graph)
    with pytest.raises(ncirl.InputError, match=r"intents\[0\].prior: is missing"):
        attack_graph_from_data(data | {"format": "ncirl-attack-graph/1"})
    data["intents"][0]["prior"] = 1.0
    with pytest.raises(ncirl.InputError) as raised:
        attack_graph_from_data(data)
    assert raised.value.faults == ("intents[1].prior: is missing",)


def test_what_format_1_can_say_is_written_in_it_and_read_in_either() -> None:
    assert GOOD["format"] == "ncirl-attack-graph/1"
    assert attack_graph_from_data(GOOD | {"format": "ncirl-attack-graph/2"}) == SHOP


def test_references_that_are_empty_are_a_fault() -> None:
    with pytest.raises(ncirl.InputError, match=r"exploits\[0\].references\[1\]: must not be empty"):
        replace(SHOP, exploits=(replace(SHOP.exploits[0], references=("T1190", "")),))


def test_numbers_of_numpy_are_saved(tmp_path: Path) -> None:
    exploits = tuple(replace(e, success=np.float64(e.success), block_cost=2) for e in SHOP.exploits)
    graph = replace(SHOP, exploits=exploits, horizon=np.int64(3), discount=np.float64(0.5))
    for name in ("graph.json", "graph.yaml"):
        graph.save(tmp_path / name)
        assert AttackGraph.load(tmp_path / name) == graph


def test_game_is_resolved_from_either_format(tmp_path: Path) -> None:
    path = tmp_path / "shop.yaml"
    path.write_text(YAML)
    game = resolve_game(str(path))
    assert (game.name, len(game.explore())) == ("shop", 2)


def without(data: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in data.items() if key not in keys}


def changed(steps: tuple[str | int, ...], value: Any) -> dict[str, Any]:
    data: Any = copy.deepcopy(GOOD)
    inner = data
    for step in steps[:-1]:
        inner = inner[step]
    inner[steps[-1]] = value
    assert isinstance(data, dict)
    return data


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        ([], "must be a map with a key 'format'"),
        (without(GOOD, "format"), "format: is missing; write 'ncirl-attack-graph/1'"),
        (changed(("format",), "ncirl-attack-graph/9"), "format: 'ncirl-attack-graph/9' is not known"),
        (
            changed(("exploits", 1, "asset"), "db1"),
            "exploits[1].asset: is not known in 'ncirl-attack-graph/1'; write 'format: ncirl-attack-graph/2'",
        ),
        (changed(("exploits", 0, "references"), "CVE-1"), "exploits[0].references: must be a list, got 'CVE-1'"),
        (changed(("conditions", 0, "references"), [""]), "conditions[0].references[0]: must not be empty, got ''"),
        (without(GOOD, "exploits"), "exploits: is missing"),
        (changed(("exploits", 0, "probability"), 1.0), "exploits[0].probability: is not a known key"),
        (changed(("exploits", 0, "from"), "web"), "exploits[0].from: must be a list, got 'web'"),
        (changed(("exploits", 0, "to"), 7), "exploits[0].to: must be text, got 7"),
        (changed(("exploits", 0, "success"), "high"), "exploits[0].success: must be a number, got 'high'"),
        (changed(("exploits", 0, "alert"), "often"), "exploits[0].alert: must be a number, got 'often'"),
        (changed(("exploits", 0, "alert"), {"idle": 0.1}), "exploits[0].alert.attempted: is missing"),
        (changed(("exploits", 0, "alert"), 1.5), "exploits[0].alert.attempted: must lie in [0, 1], got 1.5"),
        (changed(("exploits", 1, "from"), ["cms"]), "exploits[1].from[0]: unknown condition 'cms'"),
        (changed(("conditions", 0, "id"), ""), "conditions[0].id: must not be empty, got ''"),
        (changed(("intents", 0, "rewards"), {"cms": 1.0}), "intents[0].rewards: unknown condition 'cms'"),
        (changed(("defender_budget",), 0.5), "defender_budget: must be a whole number, got 0.5"),
        (changed(("horizon",), 0), "horizon: must be at least 1, got 0"),
    ],
)
def test_a_fault_is_told_with_file_and_place(data: Any, fault: str, tmp_path: Path) -> None:
    path = tmp_path / "graph.json"
    path.write_text(json.dumps(data))
    with pytest.raises(ncirl.InputError) as raised:
        AttackGraph.load(path)
    assert str(raised.value).startswith(f"{path}: ")
    assert fault in str(raised.value)


def test_faults_come_together() -> None:
    data = changed(("exploits", 0, "success"), 2.0)
    data["exploits"][1]["to"] = "cms"
    data["intents"][0]["prior"] = 0.5
    with pytest.raises(ncirl.InputError) as raised:
        attack_graph_from_data(data, "x.json")
    assert raised.value.faults == (
        "exploits[0].success: must lie in [0, 1], got 2",
        "exploits[1].to: unknown condition 'cms'",
        "intents: priors sum to 1.25, not 1",
    )


scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
anything = st.recursive(
    scalars | st.sampled_from(["web", "db", "sqli", 1e308, 5e-324, 10**400, 0, 1]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


def places(data: Any, steps: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    inner = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    return [steps, *(place for key, value in inner for place in places(value, (*steps, key)))]


@given(
    changes=st.lists(
        st.tuples(st.sampled_from([steps for steps in places(CONTROLLED) if steps]), anything), min_size=1, max_size=3
    )
)
@settings(max_examples=300)
def test_any_data_gives_a_graph_or_an_input_error(changes: list[tuple[tuple[str | int, ...], Any]]) -> None:
    data: Any = copy.deepcopy(CONTROLLED)
    for steps, value in changes:
        with suppress(LookupError, TypeError):  # an earlier change may have taken the place away
            inner = data
            for step in steps[:-1]:
                inner = inner[step]
            inner[steps[-1]] = value
    with suppress(ncirl.InputError):
        attack_graph_from_data(data).game().explore()


def large(exploits: int) -> AttackGraph:
    return replace(
        SHOP,
        exploits=tuple(Exploit(f"e{i}", ("web",), "db", 0.5, label=f"way {i} into the shop") for i in range(exploits)),
    )


def test_large_graphs_are_written_compactly_and_read_back(tmp_path: Path) -> None:
    graph = large(9_000)
    graph.save(tmp_path / "large.json")
    written = (tmp_path / "large.json").read_text()
    assert len(written.splitlines()) == 1
    assert len(written) < 0.9 * len(json.dumps(attack_graph_to_data(graph), indent=1))
    assert AttackGraph.load(tmp_path / "large.json") == graph
    SHOP.save(tmp_path / "small.json")
    assert len((tmp_path / "small.json").read_text().splitlines()) > 10  # for people to read


@pytest.mark.parametrize("name", ["large.json", "large.yaml"])
def test_what_could_not_be_read_back_is_not_written(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ncirl.formats.plain.LARGEST_FILE", 2**15)
    with pytest.raises(ncirl.InputError, match=r"no more than 0 MiB are read back; .*cut it down"):
        large(2_000).save(tmp_path / name)
    assert not (tmp_path / name).exists()
