"""From a game to a policy file and on: `solve -o`, `verify`, `show`, `simulate` and `demo`."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import ncirl
from ncirl.cli import main
from ncirl.games.office import office_graph

DONE, FAILED, BAD_INPUT = 0, 1, 2
BIG_MATCH = 3.2566078  # discount 0.9
PRINTED = 1e-7  # how far that number is off
MEETING = 1e-6  # what is recomputed agrees with what was said up to here
SIGMAS = 4  # standard errors a drawn mean may be off


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("policy") / "match.ncirl"
    assert main(["solve", "builtin:big-match", "--gap", "0.001", "--seed", "3", "-o", str(path)]) == DONE
    return path


def said(capsys: pytest.CaptureFixture[str], *words: object) -> dict[str, Any]:
    assert main([*map(str, words), "--json"]) == DONE
    found = json.loads(capsys.readouterr().out)
    assert isinstance(found, dict)
    return found


def test_solve_is_certified_unless_told_otherwise(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "p.ncirl"
    found = said(capsys, "solve", "builtin:big-match", "--output", path)
    assert (found["solver"], found["status"], found["policy"]) == ("certified", "gap-reached", str(path))
    assert found["lower"] - PRINTED <= BIG_MATCH <= found["upper"] + PRINTED
    assert found["gap"] <= 1e-3
    assert {"seconds", "lp_seconds", "lp_solves", "states", "seed", "claim", "advice"} <= found.keys()
    assert found["per_intent"].keys() == {"t1", "t2"}
    assert sum(found["per_intent"].values()) / 2 == pytest.approx(found["upper"], abs=MEETING)
    loaded = ncirl.load_solution(path)
    assert (loaded.lower, loaded.upper, loaded.status.label) == (found["lower"], found["upper"], "gap-reached")
    assert loaded.per_intent.tolist() == pytest.approx(list(found["per_intent"].values()), abs=MEETING)


def test_the_file_says_how_it_was_made(saved: Path) -> None:
    loaded = ncirl.load_solution(saved)
    assert loaded.seed == 3
    assert (loaded.settings["solver"], loaded.settings["gap"]) == ("Certified", 0.001)
    assert loaded.versions.keys() == {"ncirl", "numpy", "scipy", "highspy"}
    assert loaded.versions["ncirl"] == ncirl.__version__


@pytest.mark.parametrize(("asked", "gap"), [("25%", 0.25 * BIG_MATCH), ("0.5", 0.5)])
def test_a_gap_is_absolute_or_a_percentage(asked: str, gap: float, capsys: pytest.CaptureFixture[str]) -> None:
    found = said(capsys, "solve", "builtin:big-match", "--gap", asked)
    assert 1e-3 < found["gap"] <= gap * (1 + gap)
    assert found["status"] == "gap-reached"


def test_the_time_limit_is_no_failure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "p.ncirl"
    found = said(capsys, "solve", "builtin:office", "--gap", "0", "--time-limit", "0.2", "-o", path)
    assert found["status"] == "time-limit"
    assert main(["verify", str(path)]) == DONE


def test_solve_prints_what_each_intent_can_get(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", "builtin:big-match"]) == DONE
    printed = capsys.readouterr()
    assert "what each attacker can get at most" in printed.out
    assert "upper 5" in printed.err


def test_a_saved_policy_verifies(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = said(capsys, "verify", saved)
    assert found["holds"]
    assert found["lower"] == pytest.approx(found["claimed_lower"], abs=MEETING)
    assert found["upper"] == pytest.approx(found["claimed_upper"], abs=MEETING)


def test_a_better_claim_does_not_verify(saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    loaded = ncirl.load_solution(saved)
    path = tmp_path / "boast.ncirl"
    replace(loaded, upper=loaded.upper - 0.01).save(path)
    assert main(["verify", str(path)]) == FAILED
    assert "does NOT hold" in capsys.readouterr().out


def test_show_tells_what_a_policy_promises_and_does_first(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = said(capsys, "show", saved)
    loaded = ncirl.load_solution(saved)
    assert (found["name"], found["states"]) == ("big-match", 3)
    policy = found["policy"]
    assert (policy["lower"], policy["upper"]) == (loaded.lower, loaded.upper)
    assert policy["per_intent"].keys() == {"t1", "t2"}
    (first,) = policy["first_moves"]
    defender = loaded.defender()
    assert first["state"] == "alive"
    assert first["actions"] == pytest.approx(dict(zip(defender.actions, defender.mix.tolist(), strict=True)))
    assert main(["show", str(saved)]) == DONE
    printed = capsys.readouterr().out
    for words in ("attacker secures", "the defender's first move at alive", "highspy", "Certified: "):
        assert words in printed


def test_playbooks_play_each_other_by_default(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = said(capsys, "simulate", saved, "--episodes", "400")
    loaded = ncirl.load_solution(saved)
    assert (found["attacker"], found["defender"]) == ("playbook", "playbook")
    assert abs(found["mean"] - found["expected_payoff"]) <= SIGMAS * found["standard_error"]
    assert found["attacker_secures"] >= loaded.lower - MEETING
    assert found["defender_concedes"] <= loaded.upper + MEETING


@pytest.mark.parametrize("attacker", ["nash", "uniform"])
def test_no_attacker_gets_more_than_the_playbook_promises(
    attacker: str, saved: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = said(capsys, "simulate", saved, "--attacker", attacker, "--episodes", "50")
    assert (found["attacker"], found["defender"]) == (attacker, "playbook")
    assert found["expected_payoff"] <= ncirl.load_solution(saved).upper + MEETING


def test_for_another_horizon_playbooks_are_made_anew(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = said(capsys, "simulate", saved, "--horizon", "3", "--discount", "1", "--episodes", "50")
    exact = said(capsys, "solve", "builtin:big-match", "--solver", "history-lp", "--horizon", "3", "--discount", "1")
    assert found["horizon"] == 3
    assert found["attacker_secures"] - MEETING <= exact["lower"] <= found["defender_concedes"] + MEETING
    assert found["defender_concedes"] - found["attacker_secures"] <= 0.01 * exact["lower"] + MEETING


@pytest.mark.parametrize("command", ["show", "simulate", "verify"])
def test_a_damaged_policy_is_bad_input(
    command: str, saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "half.ncirl"
    path.write_bytes(saved.read_bytes()[:-200])
    assert main([command, str(path)]) == BAD_INPUT
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"ncirl: {path}: ")


def test_a_policy_is_known_by_its_content(saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "renamed.dat"
    path.write_bytes(saved.read_bytes())
    assert "policy" in said(capsys, "show", path)


def test_demo_tells_what_to_block_and_why(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo"]) == DONE
    told = capsys.readouterr().out
    graph = office_graph()
    for words in (
        "the certificate holds",
        "block now",
        "What hiding is worth",
        *(intent.id for intent in graph.intents),
        *(exploit.id for exploit in graph.exploits),
    ):
        assert words in told
    assert "at least 0.000, 0% more" not in told  # an example where nothing is hidden would show nothing
