"""Parallel steps: left apart, and where that is asked one to the attacker's advantage."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import ncirl
from ncirl.attack_graphs.graph import AttackGraph
from ncirl.attack_graphs.origins import said_of
from ncirl.attack_graphs.reductions import Preserves, origin_of
from ncirl.importers import Draft, ImportOptions, import_graph

CLOSE = 1e-7  # of the linear programs
STAGES = 2


def value(graph: AttackGraph) -> float:
    """Return the exact value over two stages, by the program over every history."""
    assert graph.horizon == STAGES
    return ncirl.solve(graph.game(), ncirl.HistoryLP()).lower


def two_doors(*doors: dict[str, float]) -> Draft:
    draft = Draft("sketch")
    for key in ("out", "in", "vault"):
        draft.condition(key, initial=key == "out")
    for k, numbers in enumerate(doors):
        draft.exploit(f"door {k}", needs=["out"], gives="in", **numbers)  # type: ignore[arg-type]
    draft.exploit("open", needs=["in"], gives="vault", success=0.9)
    return draft


@pytest.mark.parametrize(
    "doors",
    [
        ({"success": 0.1}, {}),
        ({"success": 0.9, "attack_cost": 0.5, "block_cost": 0.01}, {"success": 0.8, "attack_cost": 0, "block_cost": 5}),
        ({"success": 0.5}, {"success": 0.5}),
    ],
    ids=["unstated", "dear and cheap", "equal"],
)
def test_the_graph_is_the_sources_and_one_step_for_several_is_no_worse_for_the_attacker(
    doors: tuple[dict[str, float], ...],
) -> None:
    draft = two_doors(*doors)
    apart = draft.finish(ImportOptions(horizon=STAGES)).graph
    merged = draft.finish(ImportOptions(horizon=STAGES, merge=True)).graph
    assert [e.id for e in apart.exploits] == ["door_0", "door_1", "open"]
    assert len(merged.exploits) == 2
    assert value(merged) >= value(apart) - CLOSE


def test_merging_never_takes_anything_from_an_attacker() -> None:
    rng = np.random.default_rng(3)
    met = 0
    for _ in range(20):
        draft = Draft("random")
        names = ["s", "a", "b", "g"]
        for key in names:
            draft.condition(key, initial=key == "s")
        for k in range(4):
            before, after = sorted(rng.choice(3, 2)) if k else (0, 2)
            success, cost, block = (float(rng.choice(few)) for few in ([0.3, 0.7, 1.0], [0, 0.1], [0.05, 0.3]))
            draft.exploit(
                f"e{k}",
                needs=[names[before]],
                gives=names[after + 1],
                success=success if rng.random() < 0.7 else None,
                attack_cost=cost,
                block_cost=block,
            )
        budget = None if rng.random() < 0.5 else 1
        graphs = [
            draft.finish(ImportOptions(goals=("g",), horizon=STAGES, merge=merge, attacker_budget=budget)).graph
            for merge in (False, True)
        ]
        if len(graphs[1].exploits) < len(graphs[0].exploits):
            met += 1
            assert value(graphs[1]) >= value(graphs[0]) - CLOSE
    assert met > 5


def test_what_is_merged_keeps_labels_references_and_the_weakest_origin() -> None:
    draft = Draft("sketch")
    draft.condition("out", initial=True)
    draft.condition("in")
    draft.exploit("a", needs=["out"], gives="in", success=0.5, label="push", asset="x", references=["CVE-1"])
    draft.exploit("b", needs=["out"], gives="in", label="pull", asset="y", references=["CVE-2"])
    imported = draft.finish(ImportOptions(merge=True))
    (one,) = imported.graph.exploits
    assert (one.label, one.asset, one.references) == ("push or pull", "x, y", ("CVE-1", "CVE-2"))
    assert one.success == pytest.approx(1 - 0.5 * 0.2)
    assert one.block_cost == pytest.approx(0.1)
    (said,) = said_of(imported.graph, "success").values()
    assert said == ("default", "as nothing says it; --success sets it")
    (note,) = [str(note) for note in imported.report.notes if note.kind == "merged"]
    assert "Approximation from above: the value does not fall" in note


def test_steps_under_different_controls_are_never_one() -> None:
    draft = two_doors({"success": 0.5}, {"success": 0.5})
    draft.control("lock", "lock the third")
    draft.exploit("door 2", needs=["out"], gives="in", success=0.5, controls=["lock"])
    graph = draft.finish(ImportOptions(merge=True)).graph
    assert [e.id for e in graph.exploits] == ["door_0 or door_1", "open", "door_2"]
    assert graph.controls is not None
    assert graph.controls[0].blocks == ("door_2",)


def test_where_a_budget_counts_blocks_one_block_is_not_made_to_do_for_two() -> None:
    draft = two_doors({"success": 0.5}, {"success": 0.5})
    assert len(draft.finish(ImportOptions(merge=True, defender_budget=1)).graph.exploits) == 3


def test_a_merged_import_carries_the_graph_with_its_steps_apart(tmp_path: Path) -> None:
    draft = two_doors({"success": 0.5}, {})
    path = tmp_path / "graph.json"
    draft.finish(ImportOptions(merge=True)).graph.save(path)
    origin = origin_of(AttackGraph.load(path))
    assert origin is not None
    assert origin.graph == draft.finish().graph
    assert origin.preserves is Preserves.FROM_ABOVE


def test_a_thousand_steps_stay_apart_and_as_one_have_a_name_that_can_be_read() -> None:
    draft = two_doors(*[{"success": 0.5}] * 1000)
    assert len(draft.finish().graph.exploits) == 1001
    assert [e.id for e in draft.finish(ImportOptions(merge=True)).graph.exploits] == ["door_0 or 999 more", "open"]


def test_an_attempt_that_facts_allow_in_several_ways_is_one_attempt() -> None:
    draft = Draft("sketch")
    for key in ("out", "reach", "in"):
        draft.condition(key, initial=key == "out")
    draft.condition("net")
    draft.exploit("walk", needs=["out"], gives="net", success=0.5)
    for fact in ("rule 1", "rule 2"):
        draft.fact(fact)
        draft.exploit(fact, needs=["net", fact], gives="reach", immediate=True)
    draft.exploit("hack", needs=["reach"], gives="in", success=0.5)
    assert [(e.premises, e.success) for e in draft.finish().graph.exploits] == [(("out",), 0.5), (("net",), 0.5)]


def test_a_way_that_asks_for_more_is_no_attempt_of_its_own() -> None:
    """Who holds both a and b reaches x and y from a alone: there is an attempt from each, and none from both."""
    draft = Draft("sketch")
    for key in ("out", "a", "b", "x", "y", "vault"):
        draft.condition(key, initial=key == "out")
    for key in ("a", "b"):
        draft.exploit(f"get {key}", needs=["out"], gives=key, success=0.5)
        for near in ("x", "y"):
            draft.exploit(f"{near} from {key}", needs=[key], gives=near, immediate=True)
    draft.exploit("hack", needs=["x", "y"], gives="vault", success=0.5)
    graph = draft.finish(ImportOptions(goals=("vault",))).graph
    assert sorted(e.premises for e in graph.exploits) == [("a",), ("b",), ("out",), ("out",)]


def test_two_edges_of_a_file_of_which_one_says_nothing_are_two_steps(tmp_path: Path) -> None:
    links = [
        {"source": "internet", "target": "web", "success": 0.1},
        {"source": "internet", "target": "web"},
        {"source": "web", "target": "db", "success": 0.9},
    ]
    nodes = [{"id": "internet", "initial": True}, {"id": "web"}, {"id": "db"}]
    path = tmp_path / "net.json"
    path.write_text(json.dumps({"directed": True, "multigraph": True, "graph": {}, "nodes": nodes, "links": links}))
    options = {"goals": ("db",), "settings": {"initial": "initial"}}
    apart = import_graph("node-link", path, **options).graph  # type: ignore[arg-type]
    assert sorted(e.success for e in apart.exploits) == [0.1, 0.8, 0.9]
    merged = import_graph("node-link", path, merge=True, **options).graph  # type: ignore[arg-type]
    assert sorted(e.success for e in merged.exploits) == pytest.approx([0.82, 0.9])
