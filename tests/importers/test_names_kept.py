"""Names that people know (hosts, CVEs, techniques) are in the graph, or in a line of the report that says why not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from importers.samples import SAMPLES
from ncirl.formats.attack_graph_file import attack_graph_to_data
from ncirl.importers import Imported, import_graph

IN_GRAPH: list[tuple[str, int, list[str]]] = [  # format, sample, names
    ("mulval", 0, ["db", "web", "internet"]),
    ("mulval", 1, ["web", "laptop", "CVE-2007-2446", "10.0.0.1", "10.0.0.2"]),
    ("mal", 1, ["A", "B", "T1005"]),
    ("attack-flow", 0, ["T1566", "T1041", "mail server", "CVE-2019-2729", "Patch the mail server"]),
    ("nasim", 0, ["(1, 0)", "(2, 0)", "e_http", "e_ssh"]),
    ("node-link", 1, ["web.example", "db.example", "CVE-2021-44228", "CVE-2020-1"]),
    ("graphml", 0, ["the internet", "web server", "data base"]),
]
IN_REPORT = [
    ("mulval", 1, ["lab", "CVE-1999-0524"]),
    ("mal", 1, ["C"]),
    ("attack-flow", 0, ["old laptop"]),
    ("node-link", 1, ["CVE-2020-2"]),
]


@pytest.mark.parametrize(("format", "sample", "names"), IN_GRAPH)
def test_names_of_the_source_are_in_the_graph(format: str, sample: int, names: list[str], tmp_path: Path) -> None:
    data = json.dumps(attack_graph_to_data(imported(format, sample, tmp_path)[0].graph))
    assert [name for name in names if json.dumps(name)[1:-1] not in data] == []


@pytest.mark.parametrize(("format", "sample", "names"), IN_REPORT)
def test_names_that_the_graph_lacks_are_told_with_the_reason(
    format: str, sample: int, names: list[str], tmp_path: Path
) -> None:
    found, said = imported(format, sample, tmp_path)
    told = {name for lost in found.report.names_lost.values() for name in lost}
    assert told.issuperset(names)
    lines = [line for line in said.splitlines() if line.startswith("  not named")]
    assert all(any(name in line for line in lines) for name in names)


def imported(format: str, sample: int, folder: Path) -> tuple[Imported, str]:
    for name, raw in SAMPLES[format][sample].items():
        (folder / name).write_bytes(raw)
    found = import_graph(format, [folder / name for name in SAMPLES[format][sample]])
    return found, str(found.report)
