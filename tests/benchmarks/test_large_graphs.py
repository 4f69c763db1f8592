"""The table of large graphs: which files, a row each, and its place in a page."""

import json
from pathlib import Path

from benchmarks.large_graphs import MARKS, graphs, last_line, ours, theirs, write

from ncirl.formats.attack_graph_file import attack_graph_to_data
from ncirl.games.office import office_graph

GENEROUS = 20.0  # seconds; it stops at the gap long before
WIDE = 0.9


def test_files_of_all_places_by_name(tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    for name in ("b.json", "more/a.yaml", "c.txt"):
        (tmp_path / name).write_text("")
    assert [path.name for path in graphs([tmp_path, tmp_path / "more"])] == ["a.yaml", "b.json"]


def test_a_row_of_ours_and_of_a_prototype(tmp_path: Path) -> None:
    graph = tmp_path / "office.json"
    graph.write_text(json.dumps(attack_graph_to_data(office_graph())))
    row = ours(graph, GENEROUS, WIDE)
    assert row.startswith("| office | ")
    assert row.endswith("| holds |")
    script = tmp_path / "prototype.py"
    script.write_text("print('lower 0.5000 in 1 s, upper 1.0000')")
    assert theirs(script, None, graph, GENEROUS).startswith(" 0.5000 | 1.0000 | 50.0% | ")
    script.write_text("raise SystemExit('cannot')")
    assert theirs(script, None, graph, GENEROUS).startswith(" cannot | | | ")


def test_the_table_takes_its_place(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{MARKS[0]}\nold\n{MARKS[1]}\nafter\n")
    for _ in range(2):
        write(page, ["| new |"], "said")
        assert page.read_text() == f"before\n{MARKS[0]}\nsaid\n\n| new |\n{MARKS[1]}\nafter\n"
    assert last_line("a\nb | c\n") == "b / c"
