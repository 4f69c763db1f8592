"""What CVSS and EPSS say about an attempt, by the documented rules."""

from __future__ import annotations

import contextlib
import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from importers.fuzzing import mutated
from importers.samples import SAMPLES
from ncirl.cli import main
from ncirl.errors import InputError
from ncirl.importers import import_graph
from ncirl.importers.epss import read_epss
from ncirl.importers.vulnerabilities import cvss_odds, is_denial, odds_of

LIMIT = 1_000_000


@pytest.mark.parametrize(
    ("vector", "success"),
    [
        ("AV:N/AC:L/Au:N/C:C/I:C/A:C", 0.9),
        ("(AV:N/AC:M/Au:S/C:P/I:P/A:P)", 0.6),
        ("AV:L/AC:H/Au:M/C:N/I:N/A:P", 0.2),
        ("CVSS:3.0/AV:L/AC:L/PR:H/UI:N/S:C/C:H/I:H/A:H", 0.9),
        ("CVSS:3.1/AV:N/AC:L/PR:N/UI:R/S:U/C:H/I:H/A:H", 0.6),
        ("CVSS:3.1/AV:N/AC:H/PR:N/UI:R/S:U/C:H/I:H/A:H", 0.2),
        ("CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N", 0.9),
        ("CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:P/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N", 0.6),
        ("CVSS:4.0/AV:N/AC:L/AT:P/PR:N/UI:N/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N", 0.2),
        ("CVSS:3.1/AV:N/PR:N", None),
        ("7.5", None),
        (7.5, None),
        (None, None),
        ("AV:" * 100_000, None),
    ],
)
def test_a_vector_says_how_complex_an_attack_is(vector: Any, success: float | None) -> None:
    found = cvss_odds(vector)
    assert (None if found is None else found.success) == success


@pytest.mark.parametrize(
    ("attributes", "success"),
    [
        ({"cvss": "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H", "cvss_score": 9.8}, 0.9),
        ({"cvss_v2_vector": "AV:N/AC:M/Au:N/C:P/I:P/A:P", "epss": 0.01}, 0.6),
        ({"cvss_score": 10.0}, None),  # a severity, no chance
        ({"CVSS": "9.8"}, None),
        ({"severity": "critical"}, None),
        ({"epss": 0.01, "cvss_score": 9.8}, None),  # seen anywhere within 30 days, not an attempt here
        ({}, None),
    ],
)
def test_attributes_are_read_by_their_usual_names(attributes: dict[str, Any], success: float | None) -> None:
    found = odds_of(attributes)
    assert (None if found is None else found.success) == success


@pytest.mark.parametrize(
    ("vector", "denies"),
    [
        ("CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:H", True),
        ("AV:N/AC:L/Au:N/C:N/I:N/A:C", True),
        ("CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:N/VI:N/VA:H/SC:N/SI:N/SA:N", True),
        ("CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:N/VI:N/VA:H/SC:H/SI:N/SA:N", False),
        ("CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:L/A:H", False),
        ("CVSS:3.1/AV:N/AC:L", False),
        (7.5, False),
        (None, False),
    ],
)
def test_a_vector_says_whether_only_service_is_denied(vector: Any, denies: bool) -> None:
    assert is_denial({"cvss": vector}) == denies


@given(
    st.dictionaries(st.sampled_from(["cvss", "epss", "severity", "cvss_score"]), st.floats() | st.text() | st.none())
)
def test_whatever_is_said_gives_a_probability_or_nothing(attributes: dict[str, Any]) -> None:
    found = odds_of(attributes)
    assert found is None or 0 <= found.success <= 1


def scores(folder: Path, content: str) -> Path:
    (folder / "epss.csv").write_text(content)
    return folder / "epss.csv"


FIRST = "#model_version:v2025.03.14,score_date:2025-06-01T00:00:00+0000\ncve,epss,percentile\nCVE-2020-1,0.25,0.9\n"


@pytest.mark.parametrize(
    "content",
    [
        FIRST,
        "cve,epss\ncve-2020-1,0.25\n",
        json.dumps({"status": "OK", "data": [{"cve": "CVE-2020-1", "epss": "0.25", "percentile": "0.9"}]}),
        json.dumps([{"cve": "CVE-2020-1", "epss": 0.25}]),
        json.dumps({"CVE-2020-1": 0.25}),
    ],
)
def test_tables_are_read_as_first_publishes_them(content: str, tmp_path: Path) -> None:
    assert read_epss(scores(tmp_path, content), LIMIT) == {"CVE-2020-1": 0.25}


@pytest.mark.parametrize(
    ("content", "essence"),
    [
        ("a,b\n1,2\n", "line 1: must name the columns cve and epss"),
        ("cve,epss\nCVE-2020-1,much\n", r"line 2: the score of CVE-2020-1 must lie in \[0, 1\], got 'much'"),
        ('{"data": []}', "has no EPSS scores"),
        ('{"data": [', "line 1"),
    ],
)
def test_other_tables_are_refused(content: str, essence: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=essence):
        read_epss(scores(tmp_path, content), LIMIT)


@pytest.mark.parametrize("seed", range(60))
def test_spoilt_tables_are_read_or_refused(seed: int, tmp_path: Path) -> None:
    spoilt = mutated({"epss.csv": FIRST.encode() * 3}, random.Random(seed))
    (tmp_path / "epss.csv").write_bytes(spoilt["epss.csv"])
    with contextlib.suppress(InputError):
        assert all(0 <= score <= 1 for score in read_epss(tmp_path / "epss.csv", LIMIT).values())


def test_a_table_sets_the_success_of_steps_that_name_a_cve_in_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, raw in SAMPLES["mulval"][0].items():
        (tmp_path / name).write_bytes(raw.replace(b"CVE-1'", b"CVE-2020-1'"))
    table = scores(tmp_path, FIRST)
    graph = import_graph("mulval", tmp_path, epss=table).graph
    assert [exploit.success for exploit in graph.exploits] == [0.25, 0.8]
    written = tmp_path / "g.yaml"
    assert main(["import", str(tmp_path / "VERTICES.CSV"), "--epss", str(table), "-o", str(written)]) == 0
    told = capsys.readouterr().err
    assert "success 0.25 of 1 exploit (50%): from the table of EPSS scores" in told
    assert "EPSS is the chance that exploitation is seen anywhere within 30 days; as asked (--epss)" in told
    assert main(["import", str(tmp_path / "VERTICES.CSV"), "--epss", str(tmp_path / "none.csv")]) == 2
