"""What a page shows first stays readable: large graphs are folded, lists are short, nothing has no bar."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from ncirl.attack_graphs.graph import AttackGraph, Condition, Control, Exploit, Intent
from ncirl.attack_graphs.reductions import estimate_size
from ncirl.cli.app import main
from ncirl.defence.choices import some
from ncirl.games.office import office_graph
from ncirl.reports import overview_page
from ncirl.reports.names_section import names_section
from ncirl.reports.page import bar
from ncirl.reports.pictures.graph_picture import is_readable

WIDTH = 80
DRAWN = 60  # exploits in a folded picture


def wide(count: int) -> AttackGraph:
    """Return a graph of few conditions and many steps, all under one control."""
    names = [f"host {k}" for k in range(20)]
    steps = tuple(
        Exploit(f"step {k} of a long name", (names[k % 19],), names[k % 19 + 1], 0.5, 0.01, 0.01) for k in range(count)
    )
    return AttackGraph(
        conditions=tuple(Condition(name, initial=not k) for k, name in enumerate(names)),
        exploits=steps,
        intents=(Intent("thief", 1.0, {names[-1]: 1.0}),),
        discount=0.9,
        controls=(Control("everything", tuple(e.id for e in steps), 0.1),),
        name="wide",
    )


def test_a_picture_of_many_steps_is_folded(tmp_path: Path) -> None:
    graph = wide(400)
    assert is_readable(office_graph())
    assert not is_readable(graph)
    path, picture = tmp_path / "wide.json", tmp_path / "wide.svg"
    graph.save(path)
    assert main(["show", str(path), "-o", str(picture)]) == 0
    height = re.search(r'height="([0-9.]+)pt"', picture.read_text())
    assert height is not None
    assert float(height[1]) < 72 * 20
    page = overview_page(graph.game(), graph)
    assert "The part that matters" in page


def test_a_long_list_is_behind_a_click_and_a_cell_is_short() -> None:
    listed = names_section(wide(400))
    assert listed.startswith("<details><summary>Everything by name: 400 steps")
    assert "and 394 more" in listed
    assert not names_section(office_graph()).startswith("<details>")
    assert some(["a", "b", "c", "d"], 2) == "a, b and 2 more"


@pytest.mark.parametrize("tiny", [0.0, 5e-324, 1e-12])
def test_nothing_has_no_bar(tiny: float) -> None:
    assert "width:0.0%" in bar(tiny, most=tiny, top=tiny)
    assert "pale" not in bar(tiny, most=tiny, top=tiny)
    assert "width:50.0%" in bar(0.5, top=1.0)


def test_a_count_that_could_not_be_told_is_not(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    graph = replace(wide(400), controls=None)
    graph = replace(graph, exploits=tuple(replace(e, premises=("host 0",)) for e in graph.exploits))
    said = str(estimate_size(graph))
    assert not re.search(r"\de\d", said)
    assert "more choices for one side than could be listed" in said
    assert str(estimate_size(office_graph())) == "26 public states, up to 16 x 16 actions in one of them"


def test_columns_of_intents_are_not_cut(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ncirl.cli.output.WIDTH", WIDTH)
    graph = office_graph()
    long = tuple(replace(i, id=f"an intent with a very long name and number {k}") for k, i in enumerate(graph.intents))
    path = tmp_path / "long.json"
    replace(graph, intents=long).save(path)
    assert main(["show", str(path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert all(any(intent.id in line for line in lines) for intent in long)
    assert max(map(len, lines)) <= WIDTH
