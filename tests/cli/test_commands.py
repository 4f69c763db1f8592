"""The command line in this process: what is printed where, and the exit codes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import ncirl
from ncirl.cli import main
from ncirl.cli.progress import reported
from ncirl.solution import Progress

DATA = Path(__file__).parents[1] / "data"
DONE, FAILED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130
LP_ACCURACY = 1e-7
HISTORY = ["solve", "builtin:patrol", "--solver", "history-lp"]


def run_json(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert main([*words, "--json"]) == DONE
    found = json.loads(capsys.readouterr().out)
    assert isinstance(found, dict)
    return found


def test_solve_prints_one_json_object(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--solver", "history-lp", "--horizon", "2", "--discount", "1"]
    found = run_json(capsys, "solve", "builtin:patrol", *words)
    assert found["lower"] == pytest.approx(0.875, abs=LP_ACCURACY)
    assert found["upper"] == pytest.approx(0.875, abs=LP_ACCURACY)
    assert found["gap"] == pytest.approx(found["upper"] - found["lower"], abs=LP_ACCURACY)
    assert (found["game"], found["solver"], found["status"]) == ("patrol", "history-lp", "exact")
    assert {"seconds", "lp_solves", "states", "claim"} <= found.keys()
    assert not {"values", "per_intent", "policy"} & found.keys()


def test_solve_shapley_gives_the_values_by_intent(capsys: pytest.CaptureFixture[str]) -> None:
    found = run_json(capsys, "solve", str(DATA / "alive.json"), "--solver", "shapley")
    assert [row["intent"] for row in found["values"]] == ["t1", "t2"]
    mean = sum(row["probability"] * row["value"] for row in found["values"])
    assert found["lower"] == pytest.approx(mean, abs=LP_ACCURACY)
    # t2 gains nothing by Top, so it plays Bottom for ever: 0.25 / (1 - 0.9)
    assert found["values"][1]["value"] == pytest.approx(2.5, abs=LP_ACCURACY)


def test_solve_prints_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", "builtin:patrol", "--solver", "shapley", "--horizon", "2"]) == DONE
    printed = capsys.readouterr()
    assert "patrol, discount 0.9, 2 stages" in printed.out
    assert "thief m, guard m at stage 1" in printed.out
    assert "exact" in printed.out


def test_show_json_describes_the_game(capsys: pytest.CaptureFixture[str]) -> None:
    told = run_json(capsys, "show", str(DATA / "siege.yaml"))
    assert told.pop("unit") == "reward, as the game states it"
    assert "not the attacker's actions" in told.pop("assumptions")[0]
    assert told == {
        "format": "ncirl-show/1",
        "name": "siege",
        "intents": [{"name": "gold", "prior": 0.25}, {"name": "grain", "prior": 0.75}],
        "discount": 0.5,
        "horizon": None,
        "observes": "outcomes",
        "states": 2,
        "terminal_states": 1,
        "attacker_actions": {"most": 2, "sum": 2},
        "defender_actions": {"most": 1, "sum": 1},
        "outcomes": {"most": 2, "sum": 2},
        "signals": 1,
        "starts": [{"state": "outside", "probability": 1.0, "belief": {"gold": 0.25, "grain": 0.75}}],
    }


def test_show_prints_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "builtin:patrol"]) == DONE
    out = capsys.readouterr().out
    assert re.search(r"^t1 +0.5 *\nt2 +0.5 *$", out, re.MULTILINE)
    assert "4, 0 of them terminal" in out
    assert "thief g, guard m" in out


def test_show_stops_counting_at_the_limit(capsys: pytest.CaptureFixture[str]) -> None:
    found = run_json(capsys, "show", "builtin:patrol", "--limit", "3")
    assert (found["states"], found["more_than"]) == (None, 3)
    assert main(["show", "builtin:patrol", "--limit", "3"]) == DONE
    assert "more than 3" in capsys.readouterr().out


def test_names_from_files_cannot_style_or_control_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "game.json"
    path.write_text((DATA / "alive.json").read_text().replace('"alive"', '"[bold]\\u001b[2J:smile:"'))
    assert main(["show", str(path)]) == DONE
    assert r"[bold]\x1b[2J:smile:" in capsys.readouterr().out


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == DONE
    assert capsys.readouterr().out.strip() == ncirl.__version__


def test_example_tells_the_four_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["example", "patrol"]) == DONE
    told = capsys.readouterr().out
    for sentence in (
        "It takes 2/3 + 2/3 = 4/3.",
        "over both, equally likely, 1.",
        "Such a thief would take 2/3 here.",
        "the guard\n   who trusts the old log concedes 1.",
        "The thief takes 1/2 + 1/3 = 5/6, less than 4/3.",
        "The thief takes 1/4 + 2/3 = 11/12.",
        "The thief takes 7/8 on average",
        "5/6 < 7/8 < 11/12 < 4/3",
    ):
        assert sentence in told


def test_solve_by_points(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--solver", "nc-pbvi", "--expansions", "2", "--sweeps", "10", "--approximation", "hull"]
    found = run_json(capsys, "solve", "builtin:patrol", "--horizon", "2", "--discount", "1", *words)
    assert found["lower"] == pytest.approx(0.875, abs=LP_ACCURACY)
    assert found["upper"] == pytest.approx(0.875, abs=LP_ACCURACY)
    assert (found["solver"], found["status"]) == ("nc-pbvi", "finished")
    assert found["claim"].startswith("Both numbers bound")


def test_solve_by_heuristic_search(capsys: pytest.CaptureFixture[str]) -> None:
    found = run_json(capsys, "solve", "builtin:patrol", "--horizon", "2", "--discount", "1", "--solver", "hsvi")
    assert found["lower"] <= 0.875 + LP_ACCURACY
    assert 0.875 - LP_ACCURACY <= found["upper"] <= found["lower"] + 0.01
    assert (found["solver"], found["status"]) == ("hsvi", "gap-reached")


def test_solve_as_printed_says_that_nothing_is_certified(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--solver", "nc-pbvi", "--variant", "printed", "--expansions", "1"]
    found = run_json(capsys, "solve", "builtin:aumann-maschler-1", "--discount", "0.3", *words)
    assert found["claim"].startswith("Nothing is certified")


def test_help_of_import_asks_for_no_format(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", "--help"]) == DONE
    told = capsys.readouterr().out
    assert "FORMAT" in told
    assert "[required]" not in told


@pytest.mark.parametrize("command", ["demo", "example", "show", "simulate", "solve", "verify"])
def test_help_has_a_description_and_an_example(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "--help"]) == DONE
    out = capsys.readouterr().out
    assert f"Usage: ncirl {command}" in out
    assert f"Example: ncirl {command}" in out
    assert main(["--help"]) == DONE
    assert f" {command} " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "essence"),
    [
        (["solve"], "GAME requires an argument.\nSee `ncirl solve --help`."),
        (["solve", "builtin:patrol", "--frobnicate"], "Unknown option: --frobnicate.\nSee `ncirl solve --help`."),
        (["solve", "builtin:patrol", "--horizon", "two"], 'unable to convert "two" into int'),
        (["solve", "builtin:patrol", "--solver", "magic"], 'Choose from: "certified", "history-lp", "nc-pbvi"'),
        (["frobnicate"], 'Unknown command "frobnicate". Available commands: '),
        (["solve", "builtin:chess"], "no built-in game 'chess'; there are"),
        (["solve", "builtin:patrol", "--horizon", "0"], "horizon: must be at least 1, got 0"),
        (["solve", "builtin:patrol", "--discount", "nan"], "discount: must lie in [0, 1), got nan"),
        (["solve", "builtin:patrol", "--discount", "1"], "discount: 1 needs a finite horizon"),
        (["solve", "builtin:patrol", "--time-limit", "nan"], "--time-limit: must be a positive number of seconds"),
        ([*HISTORY, "--time-limit", "1"], "--time-limit: solver history-lp cannot stop early"),
        ([*HISTORY, "--gap", "1%"], "gap: solver history-lp has no such setting; leave it out"),
        ([*HISTORY, "-o", "p.ncirl"], "--output: solver history-lp makes no playbooks"),
        (["solve", "builtin:patrol", "--sweeps", "3"], "--sweeps: solver certified has no such setting; leave it out"),
        (["solve", "builtin:patrol", "--gap", "close"], "--gap: must be a number such as 0.001 or a percentage"),
        (["solve", "builtin:patrol", "--gap=-1%"], "--gap: must be a number such as 0.001 or a percentage"),
        (["solve", "builtin:patrol", "--gap", "inf"], "--gap: must be a number such as 0.001 or a percentage"),
        (["solve", "builtin:patrol", "-o", "/nowhere/p.ncirl"], "/nowhere/p.ncirl: cannot be written: directory"),
        (["solve", "builtin:patrol", "-o", "/"], "/: cannot be written: is a directory"),
        (["solve", "builtin:patrol", "--solver", "nc-pbvi", "--sweeps", "0"], "at least one sweep is needed"),
        (["solve", "builtin:patrol", "--seed", "-1"], "--seed: must not be negative, got -1"),
        (HISTORY, "game 'patrol': the history program needs a finite horizon"),
        ([*HISTORY, "--horizon", "60"], "shorten the horizon"),
        (["show", "builtin:patrol", "--limit", "0"], "--limit: must be at least 1, got 0"),
    ],
)
def test_bad_words_give_one_message(words: list[str], essence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == BAD_INPUT
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("ncirl: ")
    assert essence in printed.err


@pytest.mark.parametrize(
    ("raised", "code", "said"),
    [
        (KeyboardInterrupt(), INTERRUPTED, "ncirl: interrupted\n"),
        (ncirl.LPError("no luck"), FAILED, "ncirl: no luck\n"),
        (OSError(28, "No space left on device"), BAD_INPUT, "ncirl: output: No space left on device\n"),
    ],
)
def test_what_ends_a_command(
    raised: BaseException,
    code: int,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(_: str) -> None:
        raise raised

    monkeypatch.setattr("ncirl.cli.show.load", fail)
    assert main(["show", "builtin:patrol"]) == code
    assert capsys.readouterr().err == said


def test_progress_goes_to_stderr_now_and_then(capsys: pytest.CaptureFixture[str]) -> None:
    with reported() as progress:
        for seconds in (0.0, 0.1, 0.2, 1.5):
            progress(Progress(seconds, lower=0.0, upper=1.0, points=5, vectors=6, lp_solves=7))
    printed = capsys.readouterr()
    assert printed.out == ""
    assert [line.split()[0] for line in printed.err.splitlines()] == ["0.0", "1.5"]
    assert "gap 1\n" in printed.err
    assert "LPs" not in printed.err
    with reported(verbose=True) as progress:
        progress(Progress(0.0, lower=0.0, upper=1.0, points=5, vectors=6, lp_solves=7))
    assert "gap 1  5 points  6 vectors  7 LPs" in capsys.readouterr().err
