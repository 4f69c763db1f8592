"""``ncirl report`` and ``ncirl show -o``: files written whole, refusals in one sentence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ncirl.cli import main
from ncirl.formats.policy_file import load_policy

DONE, FAILED, BAD_INPUT = 0, 1, 2


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("office") / "office.ncirl"
    assert main(["solve", "builtin:office", "--gap", "5%", "-o", str(path), "--json"]) == DONE
    return path


@pytest.fixture(scope="module")
def patrol(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("patrol") / "patrol.ncirl"
    assert main(["solve", "builtin:patrol", "--horizon", "2", "-o", str(path), "--json"]) == DONE
    return path


def test_the_report_is_written(office: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "office.html"
    assert main(["report", str(office), "-o", str(page), "--quick", "--json"]) == DONE
    found = json.loads(capsys.readouterr().out)
    assert (found["report"], found["holds"]) == (str(page), True)
    assert found["gap"] == found["upper"] - found["lower"]
    assert found["unit"].startswith("expected loss; 1.5 = ")
    assert any(sentence.startswith("Perfect sight") for sentence in found["assumptions"])
    text = page.read_text()
    assert "phish a password" in text
    assert "the intruder reads the company" in text  # a label: the policy carries its graph
    assert "<svg" in text


def test_the_report_on_a_false_policy_fails(office: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from dataclasses import replace

    false, page = tmp_path / "false.ncirl", tmp_path / "false.html"
    policy = load_policy(office)
    replace(policy, upper=policy.lower - 1).save(false)
    assert main(["report", str(false), "-o", str(page), "--quick"]) == FAILED
    assert "does NOT hold" in capsys.readouterr().out
    assert "Do not rely on this policy" in page.read_text()


@pytest.mark.parametrize("suffix", ["png", "svg", "html"])
def test_show_draws_a_policy(office: Path, suffix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / f"office.{suffix}"
    assert main(["show", str(office), "-o", str(path)]) == DONE
    assert f"wrote {path}" in capsys.readouterr().out
    raw = path.read_bytes()
    assert raw.startswith(b"\x89PNG") if suffix == "png" else b"blocked" in raw


def test_show_draws_a_graph(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "office.svg"
    assert main(["show", "builtin:office", "-o", str(path), "--json"]) == DONE
    assert json.loads(capsys.readouterr().out)["picture"] == str(path)
    assert "workstation" in path.read_text()
    assert "blocked" not in path.read_text()


def test_show_of_another_game_has_a_page_but_no_picture(
    patrol: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "patrol.html"
    assert main(["show", str(patrol), "-o", str(page)]) == DONE
    assert "What to do now" in page.read_text()
    capsys.readouterr()
    assert main(["show", "builtin:patrol", "-o", str(tmp_path / "patrol.svg")]) == BAD_INPUT
    assert "use -o NAME.html" in capsys.readouterr().err


def test_a_policy_that_lost_its_graph_can_be_given_it(
    office: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from dataclasses import replace

    bare, picture = tmp_path / "bare.ncirl", tmp_path / "bare.svg"
    replace(load_policy(office), extra={}).save(bare)
    assert main(["show", str(bare), "-o", str(picture)]) == BAD_INPUT
    assert "--graph" in capsys.readouterr().err
    assert main(["show", str(bare), "-o", str(picture), "--graph", "builtin:office"]) == DONE
    assert "blocked" in picture.read_text()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["report", "OFFICE", "-o", "x.pdf"], "name it .html"),
        (["report", "OFFICE", "-o", "x.html", "--time-limit", "0"], "positive number of seconds"),
        (["report", "PATROL", "-o", "x.html", "--graph", "builtin:office"], "is not the graph of this policy's game"),
        (["report", "OFFICE", "-o", "x.html", "--graph", "builtin:patrol"], "is no attack graph"),
        (["show", "OFFICE", "-o", "x.gif"], "must end in .png, .svg, .html"),
        (["show", "builtin:office", "--graph", "builtin:office"], "goes with a policy file"),
    ],
)
def test_bad_words_get_one_sentence(
    words: list[str], said: str, office: Path, patrol: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    named = {"OFFICE": str(office), "PATROL": str(patrol)}
    assert main([named.get(word, word) for word in words]) == BAD_INPUT
    assert said in capsys.readouterr().err
