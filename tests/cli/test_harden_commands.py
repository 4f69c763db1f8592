"""``ncirl harden``, ``ncirl sensitivity`` and --set, as people type them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ncirl.cli.app import main

SHOP = """
format: ncirl-attack-graph/2
name: shop
discount: 0.9
horizon: 3
conditions: [{id: outside, initial: true}, {id: web}, {id: mail}, {id: data}]
exploits:
  - {id: sqli, from: [outside], to: web, success: SQLI, attack_cost: 0.02}
  - {id: phish, from: [outside], to: mail, success: 0.8, attack_cost: 0.02}
  - {id: dump, from: [web], to: data, success: 0.9, attack_cost: 0.02}
  - {id: copy, from: [mail], to: data, success: 0.9, attack_cost: 0.02}
controls:
  - {id: patch, label: "Patch <the> shop", blocks: [sqli], cost: 0.4, kind: lasting}
  - {id: mfa, blocks: [phish], cost: 0.2, kind: momentary}
intents: [{id: thief, prior: 0.5, rewards: {data: 1}}, {id: spy, prior: 0.5, rewards: {mail: 1}}]
"""


@pytest.fixture
def shop(tmp_path: Path) -> str:
    path = tmp_path / "shop.yaml"
    path.write_text(SHOP.replace("SQLI", "0.6"))
    return str(path)


def answer(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert main([*words, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_harden_says_order_set_and_proof(shop: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page, journal = tmp_path / "fix.html", tmp_path / "journal"
    words = ["harden", shop, "--choose", "1", "--gap", "2%", "-q", "--journal", str(journal)]
    found = answer(capsys, *words, "-o", str(page))
    assert [each["control"] for each in found["controls"]] == ["mfa", "patch"]
    assert found["chosen"]["controls"] == ["mfa"]
    assert found["chosen"]["proved"]
    assert found["chosen"]["cost"] == pytest.approx(0.2 * (1 + 0.9 + 0.81))
    for each in found["controls"]:
        assert each["net"] == pytest.approx([each["lower"] - each["in_place"], each["upper"] - each["in_place"]])
    assert found["status"] == "gap-reached"
    text = page.read_text()
    assert "Patch &lt;the&gt; shop" in text
    assert "<the>" not in text
    again = answer(capsys, *words)
    assert (again["controls"], again["chosen"], again["solves"]) == (found["controls"], found["chosen"], 0)
    assert main(words) == 0
    out = capsys.readouterr().out
    assert "proved the best: no allowed set leaves less than" in out
    assert "The defender is taken to play perfectly before and after" in out
    assert "0.542, 0.2 a stage" in out
    assert "mfa" in out


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--choose", "0"], "choose"),
        (["--spend", "-1"], "spend"),
        (["--gap", "soon"], "--gap"),
        (["--time-limit", "0"], "--time-limit"),
        (["-o", "fix.txt"], "name it .html"),
        (["--jobs", "0"], "jobs"),
        (["--jobs", "1", "--cluster", "x:1"], "leave out"),
        (["--journal", "/nowhere/at/all"], "cannot be written"),
    ],
)
def test_harden_refuses_in_one_sentence(
    words: list[str], complaint: str, shop: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["harden", shop, "-q", *words]) == 2
    said = capsys.readouterr().err
    assert complaint in said
    assert "Traceback" not in said


def test_harden_takes_attack_graphs_only(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["harden", "builtin:patrol"]) == 2
    assert "is no attack graph" in capsys.readouterr().err


def test_ctrl_c_leaves_the_order_so_far(tmp_path: Path) -> None:
    words = ["harden", "builtin:office", "--choose", "3", "--gap", "0.00001", "--json"]
    process = subprocess.Popen(
        [sys.executable, "-m", "ncirl", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert process.stderr is not None
    while "before" not in process.stderr.readline():
        pass
    process.send_signal(signal.SIGINT)
    out, complaint = process.communicate(timeout=60)
    assert process.returncode == 130, complaint
    found = json.loads(out)
    assert found["status"] == "interrupted"
    assert len(found["controls"]) == 9
    assert all(each["lower"] <= each["upper"] for each in found["controls"])
    assert "unfinished" in complaint


def test_set_asks_what_if(shop: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["solve", shop, "-q", "--gap", "0.001"]
    before = answer(capsys, *words)
    after = answer(capsys, *words, "--set", "phish.success=0", "--set", "sqli.success=0")
    assert before["lower"] > 0.3
    assert after["upper"] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [("phish", "must name a number"), ("phsh.success=1", "did you mean"), ("phish.success=7", "must lie in [0, 1]")],
)
def test_set_refuses_in_one_sentence(text: str, complaint: str, shop: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", shop, "--set", text]) == 2
    assert complaint in capsys.readouterr().err


def test_intervals_are_bounded_by_solve_and_refused_elsewhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "shop.yaml"
    path.write_text(SHOP.replace("SQLI", "[0.2, 0.9]"))
    found = answer(capsys, "solve", str(path), "-q")
    assert found["lower"] <= found["mildest"]["upper"] < found["gravest"]["lower"] <= found["upper"]
    assert found["intervals"] == {"sqli": [0.2, 0.9]}
    single = answer(capsys, "solve", str(path), "-q", "--set", "sqli.success=0.5")
    assert found["lower"] <= single["lower"] <= single["upper"] <= found["upper"]
    for words, complaint in (
        (["solve", str(path), "-o", str(tmp_path / "p.ncirl")], "one set of numbers"),
        (["solve", str(path), "--solver", "history-lp"], "use certified or guarded"),
        (["show", str(path)], "give one number"),
        (["harden", str(path)], "give one number"),
    ):
        assert main(words) == 2
        assert complaint in capsys.readouterr().err
    path.write_text(SHOP.replace("SQLI", "[0.2, 0.9]").replace("graph/2", "graph/1"))
    assert main(["solve", str(path)]) == 2
    assert "write 'format: ncirl-attack-graph/2'" in capsys.readouterr().err
    path.write_text(SHOP.replace("SQLI", "[0.2]"))
    assert main(["solve", str(path)]) == 2
    assert "must be a number, or two" in capsys.readouterr().err


def test_sensitivity_writes_a_page_and_data(shop: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "doubt.html"
    words = ["sensitivity", shop, "--only", "success", "prior", "-q", "--gap", "10%"]
    found = answer(capsys, *words, "-o", str(page))
    assert {each["kind"] for each in found["assumptions"]} == {"success", "prior"}
    assert "<svg" in page.read_text()
    assert main([*words, "--set", "phish.success=0.5"]) == 0
    assert "phish.success 0.5" in capsys.readouterr().out


@pytest.mark.parametrize("gap", ["10", "0%", "soon"])
def test_sensitivity_takes_its_gap_in_per_cent(gap: str, shop: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sensitivity", shop, "-q", "--gap", gap]) == 2
    assert "--gap: must be a" in capsys.readouterr().err


def test_sensitivity_does_not_say_no_of_what_it_did_not_compute(shop: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["sensitivity", shop, "-q", "--time-limit", "0.000001"]
    found = answer(capsys, *words)
    assert None in [each["flips"] for each in found["assumptions"] if each["less"] is None]
    assert main(words) == 0
    assert "not computed" in capsys.readouterr().out
