"""``ncirl import`` and recognising what a file is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from importers.samples import SAMPLES
from ncirl.attack_graphs.graph import AttackGraph
from ncirl.cli import main
from ncirl.errors import InputError
from ncirl.importers import IMPORTERS, import_graph
from ncirl.importers.recognise import recognise

DONE, BAD_INPUT = 0, 2


@pytest.fixture
def graph_file(tmp_path: Path) -> Path:
    return sample("graphml", tmp_path)[0]


def sample(format: str, folder: Path) -> list[Path]:
    for name, raw in SAMPLES[format][0].items():
        (folder / name).write_bytes(raw)
    return [folder / name for name in SAMPLES[format][0]]


@pytest.mark.parametrize("words", [["mulval"], ["auto"], []])
def test_import_writes_a_graph_that_solves(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [str(path) for path in sample("mulval", tmp_path)]
    written = tmp_path / "graph.yaml"
    assert (
        main(["import", *words, *files, "--goal", "1", "--goal", "netAccess(db,tcp,'3306')", "-o", str(written)])
        == DONE
    )
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("mulval: ")
    assert "conditions  4" in printed.err
    assert "defaulted   success 0.8 (2 exploits)" in printed.err
    assert [intent.id for intent in AttackGraph.load(written).intents] == ["execCode_db_root", "netAccess_db_tcp_3306"]
    assert main(["solve", str(written), "--gap", "5%", "--json"]) == DONE
    assert json.loads(capsys.readouterr().out)["status"] == "gap-reached"


def test_without_a_file_the_graph_is_printed_as_yaml(
    graph_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["import", "graphml", str(graph_file), "--quiet"]) == DONE
    printed = capsys.readouterr()
    assert printed.err == ""
    (tmp_path / "printed.yaml").write_text(printed.out)
    assert AttackGraph.load(tmp_path / "printed.yaml") == import_graph("graphml", graph_file).graph


def test_json_of_a_refused_import_has_the_candidates(graph_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", "graphml", str(graph_file), "--goal", "nowhere", "--json"]) == BAD_INPUT
    printed = capsys.readouterr()
    said = json.loads(printed.out)
    assert "nowhere" in said["error"]
    assert {one["id"] for one in said["candidates"]["goals"]} == {"web", "db"}
    assert "nowhere" in printed.err


def test_json_prints_one_object_with_the_graph_or_its_file(
    graph_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["import", "graphml", str(graph_file), "--json"]) == DONE
    printed = capsys.readouterr()
    said = json.loads(printed.out)
    assert printed.err == ""
    assert (said["source"], said["conditions"], said["exploits"], said["goals"]) == ("graphml", 3, 2, ["db"])
    assert said["graph"]["format"] == "ncirl-attack-graph/3"
    assert said["defaulted"]["attack_cost"] == {"count": 2, "value": 0.02}
    assert {note["kind"] for note in said["notes"]} == {"assumed", "dropped"}
    written = tmp_path / "g.json"
    assert main(["import", "graphml", str(graph_file), "--json", "-o", str(written)]) == DONE
    assert json.loads(capsys.readouterr().out)["output"] == str(written)
    assert AttackGraph.load(written).name == "graph"


def test_options_reach_the_graph(graph_file: Path, tmp_path: Path) -> None:
    written = tmp_path / "g.yaml"
    options = {"attack-cost": 0.5, "block-cost": 0.25, "discount": 0.5, "horizon": 4, "observes": "outcomes"}
    options |= {"attacker-budget": 1, "defender-budget": 2, "name": "mine", "goal-reward": 3, "goal": "web server"}
    words = [word for option, value in options.items() for word in (f"--{option}", str(value))]
    assert main(["import", "graphml", str(graph_file), *words, "--set", "steps=*", "-o", str(written)]) == DONE
    graph = AttackGraph.load(written)
    assert (graph.discount, graph.horizon, graph.observes, graph.name) == (0.5, 4, "outcomes", "mine")
    assert (graph.attacker_budget, graph.defender_budget) == (1, 2)
    assert graph.intents[0].rewards == {"web": 3.0}
    assert {(exploit.attack_cost, exploit.block_cost) for exploit in graph.exploits} == {(0.5, 0.25)}


@pytest.mark.parametrize(
    ("words", "essence"),
    [
        (
            ["mulval", "GRAPH"],
            "AttackGraph.dot); it seems to be a GraphML file; try `ncirl import graphml`",
        ),
        (["graphml", "/nowhere"], "/nowhere: cannot be read: No such file"),
        (["graphml"], "no file is given to import"),
        (["nosuch.json"], "nosuch.json: cannot be read: No such file"),
        (["nosuch/folder"], "nosuch/folder: cannot be read: No such file"),
        (["grphml", "GRAPH"], "format 'grphml' is not known; choose from mulval, "),
        (["graphml", "GRAPH", "GRAPH"], "2 files are given"),
        (["graphml", "GRAPH", "--set", "steps"], "--set: must be KEY=VALUE, got 'steps'"),
        (["graphml", "GRAPH", "--goal", "wbe"], "goal 'wbe': no condition is called so; do you mean web"),
        (["graphml", "GRAPH", "--size-limit", "9"], "is larger than 9 bytes; --size-limit raises the limit"),
        (["graphml", "GRAPH", "--success", "2"], "success: must lie in (0, 1], got 2"),
        (["graphml", "GRAPH", "--discount", "2"], "discount"),
        (["graphml", "GRAPH", "-o", "/nowhere/g.yaml"], "/nowhere/g.yaml: cannot be written"),
    ],
)
def test_bad_words_give_one_message(
    words: list[str], essence: str, graph_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["import", *(str(graph_file) if word == "GRAPH" else word for word in words)]) == BAD_INPUT
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("ncirl: ")
    assert essence in printed.err


def test_help_has_a_description_an_example_and_the_formats(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", "--help"]) == DONE
    out = capsys.readouterr().out
    assert "Usage: ncirl import" in out
    assert "Example: ncirl import mulval" in out
    assert all(format in out for format in IMPORTERS)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('{"metadata": {}, "assets": {}}', "a MAL model"),
        ('{"attack_steps": {}}', "a mal-toolbox attack graph"),
        ('[{"links": [], "objid": "1"}]', "a mal-toolbox attack graph (legacy list)"),
        ('[{"children": [], "ttc": null}]', "a mal-toolbox attack graph (legacy list)"),
        ('{"schema": "attack_flow_v2", "objects": []}', "an Attack Flow builder file"),
        ('{"flow": {}, "actions": []}', "an Attack Flow file of version 1"),
        ('{"type": "bundle", "objects": []}', "a STIX bundle"),
        ('{"graph": {"nodes": []}}', "a BloodHound OpenGraph file"),
        ('{"meta": {}, "data": []}', "a BloodHound collector file"),
        ("subnets: [1]\ntopology: []", "a NASim scenario"),
        ('{"format": "ncirl-game/1"}', "a file of this package already"),
        ("<gexf/>", "a GEXF file"),
        ("digraph x { a -> b }", "a DOT graph that is not MulVAL's"),
    ],
)
def test_other_files_are_refused_by_name(content: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text(content)
    kind = recognise(path)
    assert kind is not None
    assert kind.words.startswith(words)
    with pytest.raises(InputError) as raised:
        import_graph("graphml", path)
    assert f"it seems to be {words}" in str(raised.value)
    if not kind.format:
        with pytest.raises(InputError, match=f"is {words}.*, which is not imported; .+"):
            import_graph("auto", path)


@pytest.mark.parametrize(
    ("content", "place"),
    [
        ('{"attack_steps": {\n "a": {"x": 1}, ', "line 2, column"),
        ('[{"links": "abc', "line 1, column 12"),
        ("[1, }", "line 1"),
    ],
)
def test_json_that_is_cut_off_says_where(content: str, place: str, tmp_path: Path) -> None:
    path = tmp_path / "graph.json"
    path.write_text(content)
    with pytest.raises(InputError, match=f"graph.json: {place}.*not JSON") as raised:
        import_graph("auto", path)
    assert ("as if it were cut off" in str(raised.value)) == (content[-1] != "}")


@pytest.mark.parametrize("content", ["hello", "{}", "<html/>", "a: [", "[]"])
def test_files_that_look_like_nothing_are_refused(content: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text(content)
    with pytest.raises(InputError, match="is no attack graph that is known here; name its format"):
        import_graph("auto", path)
