"""A small policy of a graph with a hostile name, solved once."""

from __future__ import annotations

import pytest

import ncirl
from ncirl.attack_graphs.graph import AttackGraph, Condition, Exploit, Intent
from ncirl.playbook.solution import CertifiedSolution

NASTY = "<script>alert(1)</script>"


@pytest.fixture(scope="session")
def graph() -> AttackGraph:
    return AttackGraph(
        conditions=(Condition("outside", True), Condition("left", label=NASTY), Condition("right"), Condition(NASTY)),
        exploits=(
            Exploit("to left", ("outside",), "left", 0.8, 0.05, 0.1),
            Exploit("to right", ("outside",), "right", 0.8, 0.05, 0.1),
            Exploit("both", ("left", "right"), NASTY, 0.9, 0.05, 0.1),
        ),
        intents=(Intent("lefty", 0.5, {"left": 1.0}), Intent("deep", 0.5, {NASTY: 3.0})),
        discount=0.8,
        name=NASTY,
    )


@pytest.fixture(scope="session")
def policy(graph: AttackGraph, tmp_path_factory: pytest.TempPathFactory) -> CertifiedSolution:
    from ncirl.formats.graph_source import extra_of

    path = tmp_path_factory.mktemp("policy") / "small.ncirl"
    ncirl.solve(graph.game(), ncirl.Certified(gap=0.01)).save(path, extra_of(graph))
    return ncirl.load_solution(path)
