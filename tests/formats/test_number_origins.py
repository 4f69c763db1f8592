"""Where numbers come from: kept in the file and by whatever is done to a graph, and told in sentences."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import ncirl
from ncirl.attack_graphs.graph import AttackGraph, Condition, Control, Exploit, Intent
from ncirl.attack_graphs.origins import NumberOrigin, assumed_numbers, numbers_by_origin, said_of
from ncirl.attack_graphs.reductions import collapse_chains, merge_parallel, prune
from ncirl.attack_graphs.reductions.record import retimed, with_prior
from ncirl.attack_graphs.what_if import with_numbers
from ncirl.formats.attack_graph_file import attack_graph_from_data, attack_graph_to_data, digest_of

THIRD = "ncirl-attack-graph/3"
ORIGINS = (
    NumberOrigin("success", "default", "nobody has measured it"),
    NumberOrigin("success", "source", "the source", ("b",)),
    NumberOrigin("block_cost", "option", "--block-cost"),
    NumberOrigin("discount", "default", "twenty stages"),
)
GRAPH = AttackGraph(
    conditions=(Condition("out", initial=True), Condition("in"), Condition("far"), Condition("dead")),
    exploits=(
        Exploit("a", ("out",), "in", 0.8, 0.02, 0.05),
        Exploit("b", ("out",), "in", 0.5, 0.02, 0.05),
        Exploit("c", ("in",), "far", 0.8, 0.02, 0.05),
        Exploit("d", ("in",), "dead", 0.8, 0.02, 0.05),
    ),
    intents=(Intent("x", 0.5, {"far": 1.0}), Intent("y", 0.5, {"far": 2.0})),
    discount=0.95,
    origins=ORIGINS,
)


def told(graph: AttackGraph, of: str) -> dict[str, str | None]:
    return {id_: None if one is None else str(one[0]) for id_, one in said_of(graph, of).items()}


@pytest.mark.parametrize("suffix", [".json", ".yaml"])
def test_origins_are_kept_in_the_file_and_that_is_format_3(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"graph{suffix}"
    GRAPH.save(path)
    assert attack_graph_to_data(GRAPH)["format"] == THIRD
    assert AttackGraph.load(path).origins == ORIGINS
    plain = replace(GRAPH, origins=())
    assert attack_graph_to_data(plain)["format"] == "ncirl-attack-graph/1"
    assert plain == GRAPH
    assert digest_of(GRAPH) == digest_of(plain)


@pytest.mark.parametrize(
    ("entry", "fault"),
    [
        ({"of": "speed", "origin": "default"}, "origins[0].of: must be one of success, attack_cost, block_cost"),
        ({"of": "success", "origin": "rumour"}, "origins[0].origin: must be one of source, option, default"),
        ({"of": "success", "origin": "default", "ids": ["a", "zz"]}, "origins[0].ids[1]: the graph has no 'zz'"),
        ({"of": "cost", "origin": "default", "ids": ["a"]}, "origins[0].ids[0]: the graph has no 'a'"),
        ({"of": "success", "origin": "default", "who": "me"}, "origins[0].who: is not a known key"),
    ],
)
def test_entries_that_make_no_sense_are_refused(entry: dict[str, Any], fault: str) -> None:
    with pytest.raises(ncirl.InputError) as raised:
        attack_graph_from_data(attack_graph_to_data(GRAPH) | {"origins": [entry]})
    assert fault in str(raised.value)


def test_one_entry_at_most_holds_of_the_rest() -> None:
    with pytest.raises(ncirl.InputError, match=r"origins\[1\]: a second entry"):
        replace(GRAPH, origins=(ORIGINS[0], replace(ORIGINS[0], origin="source")))


def test_origins_need_format_3() -> None:
    with pytest.raises(ncirl.InputError, match="origins: is not known in 'ncirl-attack-graph/2'; write 'format: "):
        attack_graph_from_data(attack_graph_to_data(GRAPH) | {"format": "ncirl-attack-graph/2"})


def test_what_is_assumed_is_told_in_sentences() -> None:
    assert [str(numbers) for numbers in assumed_numbers(GRAPH)] == [
        "success 0.8 of 3 exploits (75%): a default, nobody has measured it",
        "discount 0.95: a default, twenty stages",
    ]
    assert [(n.quantity, str(n.kind), n.count) for n in numbers_by_origin(GRAPH)] == [
        ("success", "source", 1),
        ("success", "default", 3),
        ("block_cost", "option", 4),
        ("discount", "default", 1),
    ]


def test_numbers_that_play_no_part_are_not_told() -> None:
    graph = replace(
        GRAPH,
        controls=(Control("k", ("a",), 0.1), Control("l", ("b",), 0.2)),
        origins=(*ORIGINS, NumberOrigin("cost", "default", "x", ("l",)), NumberOrigin("prior", "default", "y")),
    )
    assert {n.quantity for n in numbers_by_origin(graph)} == {"success", "cost", "prior", "discount"}
    assert [(n.least, n.count, n.total) for n in assumed_numbers(graph) if n.quantity == "cost"] == [(0.2, 1, 2)]
    assert "prior" not in {n.quantity for n in assumed_numbers(replace(graph, unknown_prior=True))}


def test_a_changed_number_is_what_a_person_asked_for() -> None:
    changed = with_numbers(GRAPH, {"a.success": 0.1, "discount": 0.9})
    assert told(changed, "success") == {"a": "option", "b": "source", "c": "default", "d": "default"}
    assert told(changed, "discount") == {"": "option"}
    assert told(with_numbers(GRAPH, {"a.attack_cost": 0.1}), "attack_cost") == {
        "a": "option",
        "b": None,
        "c": None,
        "d": None,
    }
    assert with_numbers(replace(GRAPH, origins=()), {"a.success": 0.1}).origins == ()
    assert told(retimed(GRAPH, 5, 0.9), "discount") == {"": "option"}
    known = replace(GRAPH, origins=(*ORIGINS, NumberOrigin("prior", "default", "alike")))
    assert told(with_prior(known, [0.2, 0.8]), "prior") == {"x": None, "y": None}


def test_reductions_keep_origins_and_what_is_made_of_several_has_the_weakest() -> None:
    pruned, _ = prune(GRAPH)
    assert told(pruned, "success") == {"a": "default", "b": "source", "c": "default"}
    merged, _ = merge_parallel(GRAPH)
    assert told(merged, "success") == {"a or b": "default", "c": "default", "d": "default"}
    chain = replace(GRAPH, exploits=GRAPH.exploits[1:3], conditions=GRAPH.conditions[:3])
    one, _ = collapse_chains(chain)
    assert told(one, "success") == {"b then c": "default"}
    again = attack_graph_from_data(attack_graph_to_data(merged))
    assert told(again, "success") == told(merged, "success")
    assert again.origin is not None
    assert again.origin.graph.origins == ORIGINS
