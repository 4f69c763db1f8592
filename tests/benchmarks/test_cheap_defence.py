"""The benchmark of cheap defences goes through the command line, and what it reports is verified."""

from pathlib import Path

import pytest
from benchmarks.cheap_defence import COST, bracket

from ncirl.attack_graphs.random_graphs import random_attack_graph


@pytest.mark.parametrize("jobs", [1, 2])
def test_its_bounds_are_those_of_the_command_line_and_hold(jobs: int, tmp_path: Path) -> None:
    path = tmp_path / "graph.json"
    random_attack_graph(5, intents=3, attack_cost=COST, block_cost=COST, rng=0).save(path)
    lower, upper, holds = bracket(path, 1.0, jobs)
    assert holds
    assert 0 <= lower <= upper
