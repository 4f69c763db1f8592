"""What an import found and left out: kept in the file and by whatever is done to a graph, and bounded."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import ncirl
from ncirl.attack_graphs.found import LONGEST_SENTENCE, MOST_SENTENCES, Findings
from ncirl.attack_graphs.graph import AttackGraph
from ncirl.attack_graphs.reductions import keep_ways, merge_parallel, prune
from ncirl.attack_graphs.reductions.record import retimed, with_prior
from ncirl.attack_graphs.what_if import with_numbers
from ncirl.formats.attack_graph_file import attack_graph_from_data, attack_graph_to_data, digest_of
from ncirl.formats.graph_source import extra_of, graph_of
from ncirl.games.office import office_graph

FOUND = Findings(held=("Ann is an admin already.",), left_out=("The import left out 3 goals; see its report.",))
GRAPH = replace(office_graph(), found=FOUND)


@pytest.mark.parametrize("suffix", [".json", ".yaml"])
def test_findings_are_kept_in_the_file_and_change_nothing(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"graph{suffix}"
    GRAPH.save(path)
    assert attack_graph_to_data(GRAPH)["format"] == "ncirl-attack-graph/3"
    assert AttackGraph.load(path).found == FOUND
    plain = office_graph()
    assert "found" not in attack_graph_to_data(plain)
    assert plain == GRAPH
    assert digest_of(plain) == digest_of(GRAPH)


def test_whatever_is_done_to_a_graph_keeps_them(tmp_path: Path) -> None:
    changed = [
        *(reduce(GRAPH)[0] for reduce in (merge_parallel, prune)),
        keep_ways(GRAPH, 1)[0],
        with_numbers(GRAPH, {"discount": 0.5}),
        retimed(GRAPH, 5, 0.9),
        with_prior(GRAPH, [1 / len(GRAPH.intents)] * len(GRAPH.intents)),
        GRAPH.holding("mail"),
    ]
    assert [graph.found for graph in changed] == [FOUND] * 7
    small = changed[2]
    small.save(tmp_path / "small.json")
    assert AttackGraph.load(tmp_path / "small.json").found == FOUND


def test_a_policy_keeps_them(tmp_path: Path) -> None:
    path = tmp_path / "office.ncirl"
    ncirl.solve(GRAPH.game(), ncirl.Certified(relative_gap=0.5)).save(path, extra_of(GRAPH))
    graph = graph_of(ncirl.load_solution(path))
    assert graph is not None
    assert graph.found == FOUND


def test_they_need_format_3_and_are_bounded() -> None:
    data = attack_graph_to_data(GRAPH)
    with pytest.raises(ncirl.InputError, match="found: is not known in 'ncirl-attack-graph/2'; write 'format: "):
        attack_graph_from_data(data | {"format": "ncirl-attack-graph/2"})
    with pytest.raises(ncirl.InputError, match=r"found\.guessed"):
        attack_graph_from_data(data | {"found": {"guessed": ["x"] * (MOST_SENTENCES + 1)}})
    with pytest.raises(ncirl.InputError, match=r"found\.rumours: is not a known key"):
        attack_graph_from_data(data | {"found": {"rumours": ["x"]}})
    with pytest.raises(ncirl.InputError, match=r"found.held\[0\]: has 2001 characters"):
        replace(GRAPH, found=Findings(held=("x" * (LONGEST_SENTENCE + 1),)))
    with pytest.raises(ncirl.InputError, match=r"found.held: has 21 sentences"):
        replace(GRAPH, found=Findings(held=("x",) * (MOST_SENTENCES + 1)))
