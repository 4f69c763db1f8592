"""``ncirl simulate``."""

from __future__ import annotations

import json

import pytest

from ncirl.cli import main
from ncirl.cli.simulate import ATTACKERS, DEFENDERS

DONE, BAD_INPUT = 0, 2
LP_ACCURACY = 1e-6


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
