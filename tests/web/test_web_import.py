"""Files of other tools, brought to the server: imported in the sandbox, told of, chosen for, opened as any graph."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from importers.samples import ARCS, VERTICES
from ncirl import importers
from ncirl.importers import import_graph
from ncirl.web.wording import on_page
from web.hostile import zipped
from web.samples import policy_file
from web.test_web_api import ended, start

MULVAL = [("VERTICES.CSV", VERTICES.encode()), ("ARCS.CSV", ARCS.encode())]
NODES = ("mail", "files", "root")
LINKS = [
    {"source": "mail", "target": "files", "success": 0.5},
    {"source": "files", "target": "root", "success": 0.25},
]
NODE_LINK = json.dumps({"directed": True, "nodes": [{"id": n} for n in NODES], "links": LINKS}).encode()
USERS = b"""\
{"type":"node","id":"1","labels":["User"],"properties":{"name":"ANN@LAB","objectid":"S-1-1"}}
{"type":"node","id":"2","labels":["Group"],"properties":{"name":"ADMINS@LAB","objectid":"S-1-2","highvalue":true}}
{"type":"relationship","label":"GenericAll","start":{"id":"1"},"end":{"id":"2"}}
"""

ODD = USERS.replace(b"GenericAll", b"OddRight").replace(b',"highvalue":true', b"")

HANGS = """
import json, os, signal, sys, tempfile
from ncirl.web.limits import Limits, Refused
from ncirl.web.sandbox import Sandbox
from ncirl.web.source import Source, Upload
sandbox = Sandbox(Limits(opening=3.0))
upload = Upload((Source("lab.json", sys.stdin.buffer.read()),))
try:
    graph, told = sandbox.open(upload).result()
    assert json.loads(told)["imported"]["files"] == ["lab.json"]
    assert json.loads(sandbox.view(graph).result())["imported"] is None  # an attack graph as any other
    assert len(os.listdir(tempfile.gettempdir())) == 1
    os.kill(sandbox.pid, signal.SIGSTOP)  # as if it never came to an end
    try:
        sandbox.open(upload).result()
    except Refused as refused:
        assert str(refused).startswith("lab.json: takes more than 3 s to open"), refused
    else:
        raise AssertionError("it was answered")
finally:
    sandbox.close()
"""


def brought(client: TestClient, files: list[tuple[str, bytes]], status: int = 201, **choices: list[str]) -> Any:
    asked = [(key, value) for name, raw in files for key, value in (("name", name), ("size", str(len(raw))))]
    asked += [(side, name) for side, names in choices.items() for name in names]
    answer = client.post("/api/contests", params=asked, content=b"".join(raw for _, raw in files))
    assert answer.status_code == status, answer.text
    return answer.json() if status == 201 else answer.json()["error"]


def ids(candidates: list[dict[str, Any]], *, chosen: bool = True) -> list[str]:
    return [one["id"] for one in candidates if one["chosen"] or not chosen]


def test_two_files_become_one_graph_that_can_be_chosen_for_and_solved(client: TestClient) -> None:
    first = brought(client, MULVAL)
    assert first["kind"] == "graph"
    told = first["imported"]
    assert (told["format"], told["files"]) == ("mulval", ["VERTICES.CSV", "ARCS.CSV"])
    assert ids(told["goal_candidates"]) == ["execCode_db_root"]
    assert "no step needs it, 3 steps away" in told["goal_candidates"][0]["why"]
    assert any("guessed as a goal" in line for line in told["assumed"])

    again = brought(client, MULVAL, goal=["execCode_web_www", "execCode(db,root)"])
    assert [intent["id"] for intent in again["intents"]] == ["execCode_web_www", "execCode_db_root"]
    assert again["imported"]["intents_from"] == "one per goal given, equally likely"
    assert client.get(f"/api/contests/{again['id']}").json() == again
    solved = ended(client, start(client, again["id"], gap=0.1, time_limit=20))
    assert solved["state"] == "done", solved


def test_a_start_is_chosen(client: TestClient) -> None:
    told = brought(client, [("lab.json", NODE_LINK)])["imported"]
    assert (told["format"], ids(told["start_candidates"])) == ("node-link", ["mail"])
    assert any(line.startswith("success 0.25 to 0.5 of 2 exploits (100%): from the source") for line in told["source"])
    again = brought(client, [("lab.json", NODE_LINK)], initial=["files"])
    assert again["title"] == "lab"
    assert [c["id"] for c in again["graph"]["conditions"] if c["initial"]] == ["files"]
    assert ids(again["imported"]["start_candidates"]) == ["files"]
    assert any("cannot be reached from the start" in line for line in again["imported"]["left_out"])


def test_what_is_imported_is_what_the_library_imports(client: TestClient, tmp_path: Path) -> None:
    (tmp_path / "lab.json").write_bytes(NODE_LINK)
    expected = import_graph("auto", tmp_path / "lab.json").graph
    told = brought(client, [("lab.json", NODE_LINK)])["graph"]
    assert [(e["id"], e["from"], e["to"], e["success"]) for e in told["exploits"]] == [
        (e.id, list(e.premises), e.result, e.success) for e in expected.exploits
    ]


@pytest.mark.parametrize("inside", ["", "lab/out/", "../../../"])
def test_an_archive_is_unpacked_and_names_the_graph(client: TestClient, inside: str) -> None:
    entries = {f"{inside}{name}": raw for name, raw in MULVAL} | {"__MACOSX/._ARCS.CSV": b"\0"}
    told = brought(client, [("net.zip", zipped(entries))])
    assert (told["title"], told["imported"]["format"]) == ("net", "mulval")


def test_files_of_an_archive_whose_names_are_cleaned_alike_are_told_apart(client: TestClient) -> None:
    rows = USERS.decode().splitlines(keepends=True)
    ours = "".join(rows).replace('"highvalue":true', '"highvalue":true,"owned":false')
    more = '{"type":"node","id":"7","labels":["User"],"properties":{"name":"BOB@LAB","objectid":"S-1-7"}}\n'
    more += '{"type":"node","id":"2","labels":["Group"],"properties":{"name":"ADMINS@LAB","objectid":"S-1-2"}}\n'
    more += '{"type":"relationship","label":"WriteDacl","start":{"id":"7"},"end":{"id":"2"}}\n'
    entries = {"one/lab.jsonl": ours.encode(), "two/lab.jsonl": more.encode(), "two/la\x01b.jsonl": more.encode()}
    told = brought(client, [("net.zip", zipped(entries))], initial=["ANN@LAB", "BOB@LAB"])
    assert len(told["graph"]["exploits"]) == 2


def test_graphs_of_two_tools_files_are_called_after_them(client: TestClient) -> None:
    assert brought(client, MULVAL)["title"] == "VERTICES and ARCS"
    assert brought(client, [("all.csv", (VERTICES + ARCS).encode())])["title"] == "all"


def test_a_file_of_ours_is_not_imported(client: TestClient) -> None:
    assert brought(client, [("p.ncirl", policy_file("small"))])["imported"] is None


def test_where_a_choice_is_wanting_the_sentence_says_so(client: TestClient) -> None:
    refused = brought(client, [("lab.jsonl", USERS)], 422)
    assert refused["field"] == "goal"
    assert "name where attackers begin under “Where attackers begin”, such as ANN@LAB" in refused["message"]
    assert [(one["id"], one["why"]) for one in refused["offered"]["start_candidates"]] == [
        ("ANN@LAB", "User, 1 step from high value")
    ]
    told = brought(client, [("lab.jsonl", USERS)], initial=["ANN@LAB"])["imported"]
    assert ids(told["goal_candidates"]) == ["ADMINS@LAB"]
    misspelt = brought(client, MULVAL, 422, goal=["execCode(db,rot)"])
    assert misspelt["field"] == "goal"
    assert "do you mean execCode(db,root)" in misspelt["message"]
    assert "execCode_db_root" in ids(misspelt["offered"]["goal_candidates"], chosen=False)


def test_where_no_edge_is_known_the_kinds_of_steps_are_chosen_then_the_rest(client: TestClient) -> None:
    refused = brought(client, [("lab.jsonl", ODD)], 422)
    assert refused["offered"] == {
        "start_candidates": [],
        "goal_candidates": [],
        "step_candidates": [{"id": "OddRight", "label": "OddRight", "why": "1 edge", "chosen": False}],
    }
    wanting = brought(client, [("lab.jsonl", ODD)], 422, step=["OddRight"])
    assert ids(wanting["offered"]["start_candidates"], chosen=False) == ["ANN@LAB"]
    assert ids(wanting["offered"]["goal_candidates"], chosen=False) == ["ADMINS@LAB"]
    assert "no node is marked as owned" in wanting["message"]
    assert "; and no node that a step leads to" in wanting["message"]
    told = brought(client, [("lab.jsonl", ODD)], step=["OddRight"], initial=["ANN@LAB"], goal=["ADMINS@LAB"])
    assert [e["to"] for e in told["graph"]["exploits"]] == ["ADMINS@LAB"]
    for said in (refused, wanting):
        assert "--" not in said["message"]


def test_no_word_of_an_import_is_an_option_of_the_command_line(client: TestClient) -> None:
    """Whatever importers say in their own words is said on the page without options."""
    spoken = [
        text.value
        for file in Path(importers.__file__).parent.glob("*.py")
        for text in ast.walk(ast.parse(file.read_text()))
        if isinstance(text, ast.Constant)
        and isinstance(text.value, str)
        and "\n" not in text.value  # which docstrings have
        and re.search(r"(?<![\w-])--[a-z]", text.value)
    ]
    assert len(spoken) > 20
    assert [said for text in spoken if re.search(r"(?<![\w-])--[a-z]", said := on_page(text))] == []
    told = brought(client, MULVAL)["imported"]
    lines = [*told["source"], *told["assumed"], *told["left_out"], told["intents_from"]]
    assert len(lines) > 3
    assert [line for line in lines if "--" in line] == []


def test_names_that_look_like_options_stay_names() -> None:
    assert on_page("notes on --goal.json: edge 0") == "notes on --goal.json: edge 0"


def test_a_sentence_that_names_an_option_is_no_choice(client: TestClient) -> None:
    data = {"directed": True, "nodes": [{"id": "a"}], "links": [{"source": "a", "target": None}]}
    refused = brought(client, [("notes on --goal.json", json.dumps(data).encode())], 422)
    assert "--goal.json: edge 0" in refused["message"]
    assert refused.keys() == {"message"}


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ([MULVAL[0]], "VERTICES.CSV: no arcs are given"),
        ([("m.json", b'{"metadata": {}, "assets": {}}')], "m.json: is a MAL model, not an attack graph"),
        ([("a.json", NODE_LINK), ("a.json", NODE_LINK)], "a.json: two files are called so"),
        ([("g.json", NODE_LINK), ("h.json", NODE_LINK)], "2 files are given"),
        ([("..", b"<graphml")], "..: "),
        ([("x.zip", zipped({"notes.txt": b"x"}))], "x.zip: notes.txt: is no attack graph that is known here"),
        ([("x.zip", zipped({"__MACOSX/x": b""}))], "x.zip: is an archive without files"),
        ([("b.zip", zipped({f"{k}.json": bytes(2**26) for k in range(2)}))], "b.zip: unpacks into more"),
    ],
)
def test_what_cannot_be_imported_is_refused_in_a_sentence(
    client: TestClient, files: list[tuple[str, bytes]], said: str
) -> None:
    refused = brought(client, files, 422)
    assert refused["message"].startswith(said)
    assert "\n" not in refused["message"]
    assert tempfile.gettempdir() not in refused["message"]


@pytest.mark.parametrize(
    "name", ["../../evil.json", "/etc/lab.json", "..json", "\U0001f600" * 200 + ".json", "\0.json"]
)
def test_a_name_leads_nowhere(client: TestClient, name: str) -> None:
    assert brought(client, [(name, NODE_LINK)])["imported"]["format"] == "node-link"


@pytest.mark.parametrize(
    "asked", ["name=a&name=b", "name=a&name=b&size=1", "name=a&size=7", "size=9", "name=a&size=-1"]
)
def test_sizes_must_fit(client: TestClient, asked: str) -> None:
    answer = client.post(f"/api/contests?{asked}", content=b"12345678")
    assert answer.status_code == 422
    assert answer.json()["error"]["field"].startswith("size")


def test_nothing_is_left_behind_even_by_a_process_that_hangs(tmp_path: Path) -> None:
    """Tried in a process of its own: where temporary files lie is one for all the threads of a process."""
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", HANGS], env=environment, input=NODE_LINK, check=True)
    assert [*tmp_path.iterdir()] == []
