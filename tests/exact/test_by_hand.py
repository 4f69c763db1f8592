"""Guarantees that can be written down, found to the last of hundreds of bits."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from exact.tiny import write_tiny
from ncirl.errors import InputError
from ncirl.exact import ExactCertificate, verify_exact
from ncirl.exact.game import Game

CLOSE = Fraction(1, 2**120)  # times the largest value
STRAY = 2.0**-32  # half of what the prior is off: within the tolerance, and a double


def is_close(found: Fraction | None, wanted: Fraction) -> bool:
    return found is not None and abs(found - wanted) <= CLOSE * max(1, abs(wanted))


def check(found: ExactCertificate, length: Fraction, mix: Fraction, shift: Fraction) -> None:
    assert found.faults == ()
    assert found.holds
    assert found.lower is not None
    assert found.upper is not None
    secured, conceded = length * (Fraction(1, 4) + shift), [length * (mix + shift), length * (1 - mix + shift)]
    assert is_close(found.lower, secured)
    assert found.lower <= secured  # the sound end
    assert is_close(found.upper, sum(conceded) / 2)
    assert found.upper >= sum(conceded) / 2
    assert all(is_close(*pair) for pair in zip(found.per_intent, conceded, strict=True))
    assert is_close(found.attacker_values[0], secured)
    assert all(is_close(*pair) for pair in zip(found.defender_values[0], conceded, strict=True))
    assert found.error <= CLOSE * max(1, length)


@pytest.mark.parametrize("shift", [0.0, -1.0, 0.125, 1e11])
@pytest.mark.parametrize("discount", [0.0, 0.5, 0.9, 0.999999, 1 - 2.0**-50])
def test_infinite_play(tmp_path: Path, discount: float, shift: float) -> None:
    found = verify_exact(write_tiny(tmp_path / "p.ncirl", discount=discount, shift=shift, mix=0.3))
    mix, rest = Fraction(0.3), Fraction(1 - 0.3)
    check(found, 1 / (1 - Fraction(discount)), mix / (mix + rest), Fraction(shift))


@pytest.mark.parametrize("horizon", [1, 2, 7, 60])
@pytest.mark.parametrize("discount", [0.0, 0.7, 1.0])
def test_finite_play(tmp_path: Path, discount: float, horizon: int) -> None:
    found = verify_exact(write_tiny(tmp_path / "p.ncirl", discount=discount, horizon=horizon))
    check(found, sum((Fraction(discount) ** t for t in range(horizon)), Fraction(0)), Fraction(1, 4), Fraction(0))
    assert found.attacker_nodes == found.defender_nodes == horizon


@pytest.mark.parametrize("scale", [1e-200, 1e-300, 2.0**-1070])
def test_tiny_rewards_lose_no_digits(tmp_path: Path, scale: float) -> None:
    found = verify_exact(write_tiny(tmp_path / "p.ncirl", discount=0.5, scale=scale))
    assert found.lower is not None
    assert found.upper is not None
    assert abs(found.lower / Fraction(scale) - Fraction(1, 2)) <= CLOSE
    assert abs(found.upper / Fraction(scale) - 1) <= CLOSE


@pytest.mark.parametrize(("horizon", "discount"), [(None, 0.75), (5, 0.75), (5, 1.0)])
@pytest.mark.parametrize("shift", [-1.0, 0.0, 1.0])
def test_what_goes_astray_counts_for_the_worst(
    tmp_path: Path, shift: float, horizon: int | None, discount: float
) -> None:
    """At a prior of (½ + δ, ½ − δ) the node at (½, ½) is what 1 − 2δ of the attackers were made for."""
    prior = (0.5 + STRAY, 0.5 - STRAY)
    path = write_tiny(tmp_path / "p.ncirl", discount=discount, horizon=horizon, shift=shift, prior=prior)
    found = verify_exact(path)
    gamma = Fraction(discount)
    length = 1 / (1 - gamma) if horizon is None else sum((gamma**t for t in range(horizon)), Fraction(0))
    value, stray = length * (Fraction(1, 4) + Fraction(shift)), 2 * Fraction(STRAY)
    worst = length * min(Fraction(0), Fraction(shift))  # an intent whose action is never met
    assert is_close(found.lower, (1 - stray) * value + stray * worst)
    assert found.upper is not None
    mass = [Fraction(p) for p in prior]
    assert is_close(found.upper, length * (mass[0] / 4 + mass[1] * 3 / 4 + Fraction(shift)))


@pytest.mark.parametrize(("by", "holds"), [(0.0, True), (2.0**-50, False)])
def test_claims_are_held_to_the_last_digit(tmp_path: Path, by: float, holds: bool) -> None:
    settings = {"discount": 1.0, "horizon": 4}
    too_high = verify_exact(write_tiny(tmp_path / "l.ncirl", lower=1.0 + by, **settings))
    too_low = verify_exact(write_tiny(tmp_path / "u.ncirl", upper=2.0 - by, **settings))
    assert (too_high.holds, too_low.holds) == (holds, holds)
    assert too_high.claimed_lower == 1 + Fraction(by)
    assert [len(found.faults) for found in (too_high, too_low)] == [1 - holds] * 2


def test_claims_may_be_off_by_what_is_allowed(tmp_path: Path) -> None:
    path = write_tiny(tmp_path / "p.ncirl", discount=1.0, horizon=4, lower=1.25, upper=1.75)
    assert verify_exact(path, lower_allowance=0.25, upper_allowance=0.25).holds
    assert not verify_exact(path, lower_allowance=0.25, upper_allowance=0.125).holds
    assert not verify_exact(path, lower_allowance=0.125, upper_allowance=0.25).holds
    assert not verify_exact(path).holds


@pytest.mark.parametrize("name", ["lower_allowance", "upper_allowance"])
@pytest.mark.parametrize("given", [float("inf"), float("nan"), -1e-300, Fraction(-1, 3)])
def test_allowances_that_are_none(tmp_path: Path, name: str, given: float | Fraction) -> None:
    path = write_tiny(tmp_path / "p.ncirl", discount=0.5)
    with pytest.raises(InputError, match=f"^{name}: must be finite and not negative"):
        verify_exact(path, **{name: given})


def test_allowances_are_recorded(tmp_path: Path) -> None:
    path = write_tiny(tmp_path / "p.ncirl", discount=0.5)
    found = verify_exact(path, lower_allowance=0.1, upper_allowance=Fraction(1, 3))
    assert (found.lower_allowance, found.upper_allowance) == (Fraction(0.1), Fraction(1, 3))


@pytest.mark.parametrize(("discount", "horizon"), [(0.9, 7), (0.1, 300), (1 - 2.0**-50, 5000), (0.0, 3), (1.0, 9)])
def test_how_long_a_play_weighs_is_enclosed(discount: float, horizon: int) -> None:
    game = Game(1, Fraction(discount), horizon, [], [], [])
    low, high = game.length
    gamma = Fraction(discount)
    exact = Fraction(horizon) if gamma == 1 else (1 - gamma**horizon) / (1 - gamma)
    assert low <= exact <= high
    assert high - low <= CLOSE


def test_the_error_counts_how_long_a_play_weighs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With hardly any digits for N, the bound stays sound and within an error that has grown."""
    prior = (0.5 + STRAY, 0.5 - STRAY)
    path = write_tiny(tmp_path / "p.ncirl", discount=0.7, horizon=5, shift=-1.0, prior=prior)
    sharp = verify_exact(path)
    monkeypatch.setattr("ncirl.exact.game.FINE", 8)
    blunt = verify_exact(path)
    assert sharp.lower is not None
    assert blunt.lower is not None
    assert sharp.lower - blunt.error <= blunt.lower < sharp.lower
    assert blunt.error > 1e-3


def test_contradictory_claims_do_not_hold(tmp_path: Path) -> None:
    found = verify_exact(write_tiny(tmp_path / "p.ncirl", discount=0.5, lower=-1.0, upper=-2.0))
    assert "the lower bound claimed is above the upper one" in found.faults
