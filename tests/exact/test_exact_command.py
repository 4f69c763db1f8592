"""`ncirl verify --exact`: two verifiers side by side, and what it means that they agree."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest

import ncirl
from exact.tiny import write_tiny
from forging import Forged
from ncirl.cli import main
from ncirl.exact import ExactCertificate, verify_exact
from ncirl.exact.certificate import agrees, decimal_above, decimal_below

DONE, FAILED, BAD_INPUT = 0, 1, 2


@dataclass(frozen=True)
class Rounded:
    lower: float = 0.5
    upper: float = 1.0
    lower_allowance: float = 2.0**-40
    upper_allowance: float = 2.0**-40


@pytest.fixture
def found(tmp_path: Path) -> ExactCertificate:
    """A certificate of exactly ½ and 1."""
    return verify_exact(write_tiny(tmp_path / "p.ncirl", discount=1.0, horizon=2))


@pytest.mark.parametrize(
    ("rounded", "agree"),
    [
        (Rounded(), True),
        (Rounded(lower=0.5 - 2.0**-40, upper=1 + 2.0**-40), True),
        (Rounded(lower=0.5 + 2.0**-50), False),
        (Rounded(upper=1 - 2.0**-50), False),
        (Rounded(lower=0.5 - 2.0**-39), False),
        (Rounded(upper=1 + 2.0**-39), False),
        (Rounded(lower=float("-inf")), False),
        (Rounded(upper=float("nan")), False),
        (Rounded(lower=float("nan")), False),
        (Rounded(lower=float("-inf"), lower_allowance=float("inf")), True),
        (Rounded(lower_allowance=float("inf")), False),
        (Rounded(upper=float("inf"), upper_allowance=float("inf")), True),
        (Rounded(lower_allowance=float("nan")), False),
        (Rounded(lower=float("-inf"), lower_allowance=float("nan")), False),
    ],
)
def test_agreement(found: ExactCertificate, rounded: Rounded, agree: bool) -> None:
    assert agrees(rounded, found) == agree


def test_agreement_that_nothing_was_proved(found: ExactCertificate) -> None:
    nothing = replace(found, lower=None)
    assert agrees(Rounded(lower=float("-inf")), nothing)
    assert not agrees(Rounded(), nothing)
    assert agrees(Rounded(upper=float("inf")), replace(found, upper=None))


@pytest.mark.parametrize("number", [Fraction(1, 3), Fraction(-1, 3), Fraction(10**40 + 1), Fraction(1, 7 * 10**30)])
def test_decimals_are_rounded_outward(number: Fraction) -> None:
    below, above = Fraction(Decimal(decimal_below(number))), Fraction(Decimal(decimal_above(number)))
    assert below < number < above
    assert above - below <= abs(number) / 10**28
    assert decimal_below(Fraction(1, 4)) == decimal_above(Fraction(1, 4)) == "0.25"


@pytest.fixture
def match(tmp_path: Path) -> Path:
    ncirl.solve(ncirl.games.big_match(), ncirl.Certified(gap=0.01)).save(tmp_path / "match.ncirl")
    return tmp_path / "match.ncirl"


def test_both_are_printed(match: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", str(match), "--exact"]) == DONE
    printed = capsys.readouterr().out
    assert "In exact arithmetic the certificate holds; the two verifiers agree" in printed
    found = verify_exact(match)
    assert found.lower is not None
    assert decimal_below(found.lower) in printed


def test_both_as_json(match: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", str(match), "--json"]) == DONE
    assert "exact" not in json.loads(capsys.readouterr().out)
    assert main(["verify", str(match), "--exact", "--json"]) == DONE
    told = json.loads(capsys.readouterr().out)
    exact, found = told["exact"], verify_exact(match)
    assert exact["agrees"]
    assert exact["holds"]
    assert found.lower is not None
    assert found.upper is not None
    assert Decimal(told["lower"]) <= Decimal(exact["lower"]) < Decimal(exact["upper"]) <= Decimal(told["upper"])
    assert Fraction(exact["lower"]) <= found.lower
    assert Fraction(exact["upper"]) >= found.upper
    assert all(Fraction(most) >= wanted for most, wanted in zip(exact["intents"], found.per_intent, strict=True))
    assert len(exact["intents"]) == len(told["intents"])
    assert exact["seconds"] > 0


@pytest.mark.parametrize("json_flag", [[], ["--json"]])
def test_a_boast_fails_both(
    match: Path, tmp_path: Path, json_flag: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    forged = Forged(match)
    forged.header["upper"] -= 0.1
    forged.header["lower"] -= 0.2
    forged.arrays["attacker_policies"] *= 1.1
    path = forged.write(tmp_path / "boast.ncirl")
    assert main(["verify", str(path), "--exact", *json_flag]) == FAILED
    printed = capsys.readouterr().out
    if json_flag:
        exact = json.loads(printed)["exact"]
        assert (exact["holds"], exact["agrees"], exact["lower"]) == (False, True, None)
        assert len(exact["faults"]) == 2
    else:
        assert "In exact arithmetic the certificate does NOT hold; the two verifiers agree" in printed
        assert "faults, in exact arithmetic" in printed


def test_disagreement_is_a_failure(
    match: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = verify_exact(match)
    assert found.lower is not None
    wrong = replace(found, lower=found.lower - 1, holds=True, faults=())
    monkeypatch.setattr("ncirl.exact.verify_exact", lambda path, **allowances: wrong)
    assert main(["verify", str(match), "--exact"]) == FAILED
    assert "do NOT agree" in capsys.readouterr().out


@pytest.mark.parametrize("allowance", [float("inf"), float("nan")])
@pytest.mark.parametrize("json_flag", [[], ["--json"]])
def test_the_second_speaks_where_the_first_is_at_a_loss(
    match: Path,
    allowance: float,
    json_flag: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    lost = replace(
        ncirl.verify(ncirl.load_solution(match)),
        lower=float("-inf"),
        upper=float("inf"),
        lower_allowance=allowance,
        upper_allowance=allowance,
        holds=False,
        faults=("lost",),
    )
    monkeypatch.setattr("ncirl.cli.verify.certify", lambda policy, limits: lost)
    assert main(["verify", str(match), "--exact", *json_flag]) == FAILED
    printed = capsys.readouterr().out
    found = verify_exact(match)
    assert found.lower is not None
    assert decimal_below(found.lower) in printed
    assert "lost" in printed


@pytest.mark.parametrize("json_flag", [[], ["--json"]])
def test_discounts_that_leave_the_first_nothing_to_prove(
    tmp_path: Path, json_flag: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_tiny(tmp_path / "p.ncirl", discount=1 - 2.0**-53)
    assert main(["verify", str(path), "--exact", *json_flag]) in (DONE, FAILED)
    printed, complained = capsys.readouterr()
    assert str(2**51) in printed  # N / 4
    assert not complained


@pytest.mark.parametrize("json_flag", [[], ["--json"]])
def test_nodes_that_claim_too_much_fail_by_the_first_alone(
    match: Path, tmp_path: Path, json_flag: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    forged = Forged(match)
    forged.arrays["attacker_claims"] += 1.0
    path = forged.write(tmp_path / "boast.ncirl")
    assert main(["verify", str(path), "--exact", *json_flag]) == FAILED
    printed = capsys.readouterr().out
    if json_flag:
        told = json.loads(printed)
        assert (told["holds"], told["exact"]["holds"], told["exact"]["agrees"]) == (False, True, True)
    else:
        assert "the certificate holds; the two verifiers agree" in printed
        assert "The first verifier, which also judges what single nodes claim, found a fault" in printed


@pytest.mark.parametrize("json_flag", [[], ["--json"]])
def test_what_is_too_large_for_the_second_is_told_after_the_first(
    match: Path, json_flag: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("ncirl.exact.arithmetic.MOST_STEPS", 1)
    assert main(["verify", str(match), "--exact", *json_flag]) == BAD_INPUT
    printed, complained = capsys.readouterr()
    assert "without --exact has no such limit" in complained
    assert len(complained.splitlines()) == 1
    if json_flag:
        told = json.loads(printed)
        assert (told["holds"], told["exact"]) == (True, None)
    else:
        assert "The certificate holds" in printed


def test_a_file_that_is_none_is_bad_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", str(tmp_path / "none.ncirl"), "--exact"]) == BAD_INPUT
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_the_second_verifier_is_loaded_on_demand() -> None:
    assert ncirl.verify_exact is verify_exact
    assert ncirl.ExactCertificate is ExactCertificate
