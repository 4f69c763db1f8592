"""``ncirl generate attack-graph``."""

from __future__ import annotations

from pathlib import Path

import pytest

from ncirl.attack_graphs.graph import AttackGraph
from ncirl.attack_graphs.random_graphs import random_attack_graph
from ncirl.cli import main

DONE, BAD_INPUT = 0, 2


@pytest.mark.parametrize("name", ["graph.yaml", "graph.json"])
def test_file_holds_the_drawn_graph(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / name
    options = {"nodes": 7, "intents": 4, "seed": 3, "shape": "dense", "discount": 0.5, "attack-cost": 0.1}
    options |= {"block-cost": 0.2, "success": 0.6, "horizon": 5, "observes": "outcomes", "output": path}
    words = [word for option, value in options.items() for word in (f"--{option}", str(value))]
    assert main(["generate", "attack-graph", *words]) == DONE
    assert capsys.readouterr().out == ""
    drawn = random_attack_graph(
        7,
        intents=4,
        shape="dense",
        success=0.6,
        attack_cost=0.1,
        block_cost=0.2,
        discount=0.5,
        horizon=5,
        observes="outcomes",
        rng=3,
    )
    found = AttackGraph.load(path)
    assert found.name == "random-7-3"
    assert (found.exploits, found.intents) == (drawn.exploits, drawn.intents)
    assert (found.horizon, found.discount, found.observes) == (5, 0.5, "outcomes")


def test_without_a_file_the_graph_is_printed_as_yaml(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["generate", "attack-graph", "--nodes", "6", "--seed", "1"]) == DONE
    path = tmp_path / "printed.yaml"
    path.write_text(capsys.readouterr().out)
    assert AttackGraph.load(path).exploits == random_attack_graph(6, rng=1).exploits
    assert main(["show", str(path)]) == DONE
    assert "random-6-1" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "essence"),
    [
        (["--nodes", "1"], "n: must be at least 2, got 1"),
        (["--seed", "-1"], "--seed: must not be negative, got -1"),
        (["--success", "2"], "success: must lie in [0, 1], got 2"),
        (["--shape", "round"], 'Choose from: "goals", "dense", "dirichlet"'),
        (["-o", "/nowhere/graph.yaml"], "/nowhere/graph.yaml: cannot be written"),
    ],
)
def test_bad_words_give_one_message(words: list[str], essence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["generate", "attack-graph", *words]) == BAD_INPUT
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("ncirl: ")
    assert essence in printed.err


def test_help_has_a_description_and_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["generate", "attack-graph", "--help"]) == DONE
    out = capsys.readouterr().out
    assert "Usage: ncirl generate attack-graph" in out
    assert "Example: ncirl generate attack-graph" in out
