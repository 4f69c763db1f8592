"""Of which graph a number holds: what commands say of policies of cut graphs, and several cuts in one bracket."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import ncirl
from control_graphs import small_shop
from forging import Forged
from ncirl.attack_graphs.controls import Control
from ncirl.attack_graphs.reductions import crop_hops, origin_of
from ncirl.cli import main
from ncirl.formats.combine import combine
from ncirl.formats.graph_source import SAME, extra_of
from ncirl.numbers import at_least, number
from reductions.graphs import ladders

DONE, FAILED, BAD_INPUT, STOPPED = 0, 1, 2, 3
GRAPH = ladders(2, 2, name="plant")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Cut a graph in two ways, as files, and solve both and the whole."""
    path = tmp_path_factory.mktemp("cuts")
    GRAPH.save(path / "whole.yaml")
    assert main(["reduce", str(path / "whole.yaml"), "--crop", "1", "-o", str(path / "near.yaml")]) == DONE
    words = ["--prune", "--paths", "1", "--attacker-budget", "1"]
    assert main(["reduce", str(path / "whole.yaml"), *words, "-o", str(path / "few.yaml")]) == DONE
    for name in ("near", "few"):
        solve(path, name, "certified", "20%")
    solve(path, "near", "guarded", "50%", "guarded")
    solve(path, "whole", "guarded", "50%")
    return path


def solve(path: Path, name: str, solver: str, gap: str, to: str = "") -> None:
    words = ["--solver", solver, "--gap", gap, "-q", "--json", "-o", str(path / f"{to or name}.ncirl")]
    assert main(["solve", str(path / f"{name}.yaml"), *words]) == DONE


def told(words: list[str], capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    capsys.readouterr()
    assert main([*words, "--json"]) == DONE
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


@pytest.mark.parametrize(("name", "kept", "lost"), [("near", "upper", "lower"), ("few", "lower", "upper")])
def test_a_bound_that_does_not_carry_over_is_none_of_the_original(
    folder: Path, capsys: pytest.CaptureFixture[str], name: str, kept: str, lost: str
) -> None:
    for words in (
        ["solve", str(folder / f"{name}.yaml"), "--gap", "20%", "-q"],
        ["verify", str(folder / f"{name}.ncirl")],
    ):
        found = told(words, capsys)
        assert found["original"][kept] == found[kept]
        assert found["original"][lost] is None
        assert found["original"]["name"] == "plant"
        assert found["original"]["exploits"] == len(GRAPH.exploits)


def test_people_are_told_which_graph_is_meant(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main(["verify", str(folder / "near.ncirl")]) == DONE
    said = " ".join(capsys.readouterr().out.split())
    assert "cut from 'plant', 5 conditions and 4 exploits, by crop 1" in said
    assert "(on the cut graph only)" in said
    assert "the value of the cut graph lies between" in said
    assert main(["verify", str(folder / "guarded.ncirl")]) == DONE
    assert "the value of the whole cut graph lies between" in capsys.readouterr().out
    assert main(["verify", str(folder / "whole.ncirl")]) == DONE
    assert "cut" not in capsys.readouterr().out


@pytest.mark.parametrize("command", ["harden", "sensitivity"])
def test_studies_of_a_cut_graph_say_so(
    command: str, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [command, str(folder / "near.yaml"), "--gap", "50%", "-q"]
    words += ["--top", "1"] if command == "harden" else ["--only", "discount"]
    page = tmp_path / "page.html"
    found = told([*words, "-o", str(page)], capsys)
    assert (found["original"]["lower"], found["original"]["upper"]) == (None, found["upper"])
    assert "This graph was cut from &#x27;plant&#x27;" in page.read_text()
    assert main(words) == DONE
    out = " ".join(capsys.readouterr().out.split())
    assert "cut from 'plant', 5 conditions and 4 exploits, by crop 1" in out
    assert ("worth in place from the start, on the cut graph only" in out) == (command == "harden")


def test_what_is_no_bound_says_nothing_of_the_original(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = told(["solve", str(folder / "near.yaml"), "--solver", "shapley", "-q"], capsys)
    assert (found["original"]["lower"], found["original"]["upper"]) == (None, None)
    assert "about the cut graph only" in found["original"]["says"]


@pytest.mark.parametrize("name", ["few", "guarded"])
def test_advice_says_of_which_graph_its_promises_are(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    monkeypatch.setattr("sys.stdin", iter(['{"do": "advise"}\n']))
    capsys.readouterr()
    assert main(["defend", str(folder / f"{name}.ncirl"), "--json"]) == DONE
    note = json.loads(capsys.readouterr().out)["advice"]["notes"][0]
    assert "cut from 'plant'" in note
    assert ("on the original this defence may concede more" in note) == (name == "few")


def test_a_report_says_of_which_graph_it_is(folder: Path) -> None:
    assert main(["report", str(folder / "near.ncirl"), "-o", str(folder / "r.html"), "--quick"]) == DONE
    text = (folder / "r.html").read_text()
    assert "This graph was cut from" in text
    assert "On the cut graph no defence" in text
    assert "No defence, however clever" not in text


@pytest.mark.parametrize("name", ["near", "guarded"])
def test_what_is_shown_of_a_cut_graph_says_so(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    file, page = str(folder / f"{name}.ncirl"), tmp_path / "shown.html"
    found = told(["show", file, "-o", str(page)], capsys)["policy"]
    assert (found["original"]["lower"], found["original"]["upper"]) == (None, found["upper"])
    written = page.read_text()
    assert "This graph was cut from &#x27;plant&#x27;" in written
    assert f"no defence gets below {at_least(found['lower'], short=True)}, on the cut graph only" in written
    assert main(["show", file]) == DONE
    said = " ".join(capsys.readouterr().out.split())
    assert "cut from 'plant', 5 conditions and 4 exploits, by crop 1" in said
    assert f"attacker secures {number(found['lower'])} (on the cut graph only)" in said


def test_a_cut_graph_is_shown_with_where_it_comes_from(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "by crop 1" in told(["show", str(folder / "near.yaml")], capsys)["cut_from"]
    assert "cut_from" not in told(["show", str(folder / "whole.yaml")], capsys)
    assert main(["show", str(folder / "near.yaml")]) == DONE
    assert "cut from" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("near.ncirl", "All that is said here is about the cut graph only."),
        ("near.yaml", "All that is said here is about the cut graph only."),
        ("guarded.ncirl", "are about the cut graph only. The promise holds on the original, too."),
    ],
)
def test_plays_on_a_cut_graph_say_so(folder: Path, capsys: pytest.CaptureFixture[str], name: str, says: str) -> None:
    words = ["simulate", str(folder / name), "--episodes", "20"]
    found = told(words, capsys)["original"]
    assert says in found["says"]
    assert found["lower"] is None
    assert main(words) == DONE
    assert "cut from 'plant'" in " ".join(capsys.readouterr().out.split())
    assert "original" not in told(["simulate", str(folder / "whole.ncirl"), "--episodes", "20"], capsys)


def test_a_guarded_report_says_of_which_graph_it_is(folder: Path) -> None:
    assert main(["report", str(folder / "guarded.ncirl"), "-o", str(folder / "g.html"), "--quick"]) == DONE
    text = (folder / "g.html").read_text()
    assert "This graph was cut from" in text
    assert "On the cut graph no defence" in text
    assert "whole graph" not in text.partition("<details>")[0]


def test_cuts_of_one_graph_are_one_bracket(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [str(folder / f"{name}.ncirl") for name in ("near", "few", "guarded", "whole")]
    found = told(["combine", *files], capsys)
    near, few, guarded, whole = found["cuts"]
    assert near["lower"] is guarded["lower"] is few["upper"] is None
    assert found["lower"] == max(few["lower"], whole["lower"])
    assert found["upper"] == min(near["upper"], guarded["upper"], whole["upper"])
    exact = ncirl.solve(GRAPH.game(), ncirl.Certified(relative_gap=0.1))
    assert found["lower"] <= exact.upper
    assert found["upper"] >= exact.lower
    assert main(["combine", files[1]]) == DONE
    assert "nothing carries over from above" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("names", "said"),
    [(["near", "near"], "given twice"), (["near", "other"], "cuts of the same graph are needed")],
)
def test_what_cannot_be_combined_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str], names: list[str], said: str
) -> None:
    other, _ = crop_hops(replace(GRAPH, discount=0.8), 1)
    ncirl.solve(other, ncirl.Guarded(relative_gap=0.9)).save(folder / "other.ncirl")
    assert main(["combine", *(str(folder / f"{name}.ncirl") for name in names)]) == BAD_INPUT
    assert said in capsys.readouterr().err


def test_combining_ends_when_time_is_up(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [str(folder / f"{name}.ncirl") for name in ("near", "whole")]
    assert main(["combine", *files, "--time-limit", "1e-9"]) == STOPPED
    assert "time limit" in capsys.readouterr().err
    assert main(["combine", *files, "--time-limit", "1e9", "--memory", "100GB"]) == DONE


def test_a_policy_without_its_graph_is_of_no_cut(folder: Path) -> None:
    bare = replace(ncirl.load_solution(folder / "near.ncirl"), extra={})
    with pytest.raises(ncirl.InputError, match="carries no attack graph"):
        combine({"bare": bare})
    with pytest.raises(ncirl.InputError, match="nothing to combine"):
        combine({})


def test_bounds_at_one_prior_are_none_of_a_graph_that_leaves_it_open() -> None:
    graph = replace(ladders(1, 2), unknown_prior=True)
    listed = ncirl.solve(graph.game(), ncirl.Certified(gap=0.05))
    assert ncirl.verify(listed).holds  # of the game, which has a prior: that for pictures
    with pytest.raises(ncirl.InputError, match="leaves the prior open"):
        combine({"listed": replace(listed, extra=extra_of(graph))})
    guarded = ncirl.solve(replace(graph, unknown_prior=False), ncirl.Guarded(relative_gap=0.5))
    forged = replace(guarded, proof=replace(guarded.proof, graph=graph))
    with pytest.raises(ncirl.InputError, match="does not hold: prior: the graph leaves it open"):
        combine({"guarded": forged})


@pytest.mark.parametrize("command", ["verify", "defend", "report", "combine"])
@pytest.mark.parametrize("lie", ["the direction", "the graph of another cut"])
def test_a_policy_that_lies_about_its_graph_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str], command: str, lie: str
) -> None:
    policy = ncirl.load_solution(folder / "few.ncirl")
    assert isinstance(policy, ncirl.CertifiedSolution)
    source = json.loads(json.dumps(policy.extra["attack_graph"]))
    if lie == "the direction":
        source["reduced_from"]["steps"][-1]["preserves"] = "from-above"
    else:
        near = ncirl.load_solution(folder / "near.ncirl")
        assert isinstance(near, ncirl.CertifiedSolution)
        source = near.extra["attack_graph"]
    file = folder / "lie.ncirl"
    policy.save(file, {"attack_graph": source})
    more = ["-o", str(folder / "lie.html"), "--quick"] if command == "report" else []
    assert main([command, str(file), *more]) == BAD_INPUT
    assert "its attack graph" in capsys.readouterr().err


def test_a_guarded_policy_that_lies_about_its_graph_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lie = Forged(folder / "guarded.ncirl")
    lie.header["graph"]["reduced_from"]["steps"][0]["preserves"] = "value"
    file = lie.write(folder / "lie-guarded.ncirl")
    assert main(["verify", str(file)]) == BAD_INPUT
    assert "'crop' is said to preserve 'value' and preserves 'from-above'" in capsys.readouterr().err


def test_a_library_solution_carries_its_origin() -> None:
    near, _ = crop_hops(GRAPH, 1)
    origin = origin_of(ncirl.solve(near, ncirl.Guarded(relative_gap=0.9)).graph)
    assert origin is not None
    assert origin.graph == GRAPH


def test_what_a_dear_control_may_hide_is_taken_off() -> None:
    """Stages are compared up to a share of their numbers, and what controls cost is among these."""
    dear = small_shop(controls=(Control("unplug", ("dump",), 1e6), Control("patch", ("sqli",), 0.5, "lasting")))
    solved = ncirl.solve(dear, ncirl.Certified(relative_gap=0.5))
    solution = replace(solved, extra=extra_of(dear))
    found = ncirl.verify(solution)
    assert combine({"shop": solution}).upper >= found.upper + found.upper_allowance + SAME * 1e6
