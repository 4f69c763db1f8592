"""``ncirl simulate``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ncirl.cli import main
from ncirl.cli.simulate import ATTACKERS, DEFENDERS

DONE, BAD_INPUT = 0, 2
LP_ACCURACY = 1e-6
OWN_GUARDS = """
from ncirl.strategies import RememberingDefender

NUMBER = 7


def Follower(game):
    def mix(state, thief):
        if thief is None:
            return {"stay": 0.5, "switch": 0.5}
        return "stay" if state[1][1] == thief else "switch"

    return RememberingDefender(game, mix, after=lambda thief, seen: seen.next_state[1][0], name="follower")


class Careless:
    def __init__(self, game):
        self.game = game

    def begin(self, state):
        return [(None, 1.0)]

    def mix(self, state, memory):
        return [0.6, 0.6]

    def after(self, state, memory, d, i):
        return [(None, 1.0)]


def Choosy(game):
    return 1 / 0
"""


@pytest.mark.parametrize("attacker", ATTACKERS)
@pytest.mark.parametrize("defender", DEFENDERS)
def test_every_pair_plays(capsys: pytest.CaptureFixture[str], attacker: str, defender: str) -> None:
    words = ["--attacker", attacker, "--defender", defender, "--horizon", "2", "--discount", "1", "--episodes", "500"]
    assert main(["simulate", "builtin:patrol", *words, "--json"]) == DONE
    found = json.loads(capsys.readouterr().out)
    assert (found["attacker"], found["defender"], found["episodes"]) == (attacker, defender, 500)
    assert abs(found["mean"] - found["expected_payoff"]) <= 4 * found["standard_error"]
    low, high = found["attacker_secures"], found["defender_concedes"]
    assert low - LP_ACCURACY <= found["expected_payoff"] <= high + LP_ACCURACY
    assert low <= 7 / 8 + LP_ACCURACY
    assert high >= 7 / 8 - LP_ACCURACY
    assert (low == pytest.approx(7 / 8, abs=LP_ACCURACY)) or attacker != "exact"
    assert (high == pytest.approx(7 / 8, abs=LP_ACCURACY)) or defender != "exact"


def test_the_table_names_what_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", "builtin:big-match", "--defender", "uniform", "--episodes", "20"]) == DONE
    printed = capsys.readouterr().out
    for words in ("mean payoff", "95 % interval", "expected payoff", "attacker secures", "defender concedes", "t2"):
        assert words in printed


def test_a_strategy_of_ones_own_plays(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own_guards.py").write_text(OWN_GUARDS)
    words = ["builtin:patrol", "--horizon", "2", "--discount", "1", "--attacker", "exact", "--episodes", "50"]
    assert main(["simulate", *words, "--defender", "own_guards:Follower", "--json"]) == DONE
    found = json.loads(capsys.readouterr().out)
    assert found["defender"] == "own_guards:Follower"
    assert found["defender_concedes"] == pytest.approx(11 / 12, abs=LP_ACCURACY)
    for name, said in {
        "own_guards:Nobody": "--defender: module 'own_guards' has nothing named 'Nobody'",
        "no_such_module:Guard": "--defender: module 'no_such_module' cannot be imported: ModuleNotFoundError",
        "own_guards:Choosy": "--defender: own_guards:Choosy(game) failed: ZeroDivisionError: division by zero",
        "own_guards:Careless": "at stage 1': mix gives probabilities that sum to 1.2, not 1",
        "own_guards:NUMBER": "defender strategy 'int': has no method",
    }.items():
        assert main(["simulate", *words, "--defender", name]) == BAD_INPUT
        printed = capsys.readouterr()
        assert said in printed.err
        assert len(printed.err.splitlines()) == 1
    crossed = ["builtin:patrol", "--horizon", "2", "--discount", "1", "--attackers", "exact,nash"]
    assert main(["cross-play", *crossed, "--defenders", "own_guards:Follower,exact", "--json"]) == DONE
    found = json.loads(capsys.readouterr().out)
    assert found["meta"]["value"] == pytest.approx(7 / 8, abs=LP_ACCURACY)
    assert {pair["defender"]: round(pair["conceded"], 4) for pair in found["pairs"]} == {
        "own_guards:Follower": 0.9167,
        "exact": 0.875,
    }


def test_cross_play_writes_its_table_and_its_picture(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    words = ["cross-play", "builtin:aumann-maschler-1", "--horizon", "2", "--discount", "1"]
    for name in ("table.csv", "table.svg", "table.png"):
        assert main([*words, "-o", str(tmp_path / name)]) == DONE
        printed = capsys.readouterr().out
        assert "payoff to the attacker" in printed
        assert "equilibrium of the table" in printed
    lines = (tmp_path / "table.csv").read_text().splitlines()
    assert lines[0].startswith("attacker,defender,payoff,error,payoff t1,payoff t2,secured,conceded")
    assert len(lines) == 1 + 2 * 3
    assert (tmp_path / "table.svg").read_text().startswith("<?xml")
    assert (tmp_path / "table.png").read_bytes().startswith(b"\x89PNG")
    for wrong, said in {
        ("--attackers", "best-response"): "--attackers: must be one of nash, uniform, exact, nc-pbvi, playbook, or",
        ("--defenders", ","): "--defenders: at least one is needed",
        ("-o", "table.txt"): "--output: must end in .csv, .svg, .png, got 'table.txt'",
    }.items():
        assert main([*words, *wrong]) == BAD_INPUT
        assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--attacker", "best"], "--attacker: must be one of nash, uniform, exact"),
        (["--defender", "best"], "--defender: must be one of"),
        (["--episodes", "0"], "--episodes: at least one"),
        (["--seed", "-1"], "--seed: must not be negative"),
        (["--attacker", "exact"], "needs a finite horizon"),
    ],
)
def test_wrong_words_are_named(capsys: pytest.CaptureFixture[str], words: list[str], message: str) -> None:
    assert main(["simulate", "builtin:patrol", *words]) == BAD_INPUT
    printed = capsys.readouterr()
    assert message in printed.err
    assert printed.out == ""
