"""How bounds are written: to the safe side, and none that arithmetic cannot tell from 0."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ncirl.cli.output import say
from ncirl.numbers import ROUNDING, TELLABLE, at_least, at_most, interval, share_at_most, tellable_lower, tellable_upper

NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
SCALES = st.floats(1e-12, 1e12)
SLACK = Decimal(ROUNDING) * 2


@given(NUMBERS, SCALES, st.booleans())
def test_what_is_written_bounds_what_was_computed(value: float, scale: float, short: bool) -> None:
    exact, slack = Decimal(value), SLACK * abs(Decimal(value))
    assert Decimal(at_most(value, scale, short=short)) >= exact - slack
    assert Decimal(at_least(value, scale, short=short)) <= exact + slack


@given(NUMBERS, SCALES, st.booleans())
def test_what_is_written_is_close(value: float, scale: float, short: bool) -> None:
    close = Decimal("1e-2" if short else "1e-8") * abs(Decimal(value)) + 2 * Decimal(TELLABLE * scale)
    assert abs(Decimal(at_most(value, scale, short=short)) - Decimal(value)) <= close
    assert abs(Decimal(at_least(value, scale, short=short)) - Decimal(value)) <= close


@given(st.floats(-1, 1), SCALES)
def test_a_bound_that_cannot_be_told_from_nothing_goes_to_the_safe_side(share: float, scale: float) -> None:
    value = share * TELLABLE * scale * 0.999
    assert tellable_upper(value, scale) in (0.0, TELLABLE * scale)
    assert tellable_lower(value, scale) in (0.0, -TELLABLE * scale)
    assert tellable_lower(value, scale) <= value <= tellable_upper(value, scale)


@pytest.mark.parametrize(
    ("value", "least", "most"),
    [
        (5e-324, "0", "1e-9"),
        (-5e-324, "-1e-9", "0"),
        (0.0, "0", "0"),
        (1.50730975, "1.507", "1.508"),
        (0.0649, "0.0649", "0.0649"),
        (0.00012341, "0.000123", "0.000124"),
        (0.8749999999999998, "0.875", "0.875"),
        (0.9800000000000587, "0.980", "0.980"),  # padded for rounding
        (float("inf"), "inf", "inf"),
    ],
)
def test_short_numbers(value: float, least: str, most: str) -> None:
    assert (at_least(value, 1.0, short=True), at_most(value, 1.0, short=True)) == (least, most)


def test_no_number_is_written_that_has_lost_digits() -> None:
    assert (at_most(5e-324), at_least(5e-324), tellable_upper(5e-324, 0.0)) == ("1e-300", "0", 1e-300)


@given(st.floats(0, 100))
def test_a_share_is_never_written_below_itself(share: float) -> None:
    said = share_at_most(share).removeprefix("less than ").removesuffix("%")
    assert float(said) >= 100 * share * (1 - 1e-9)
    assert float(said) <= 100 * share + 0.1000001


def test_paragraphs_fit_the_screen(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("ncirl.cli.output.WIDTH", 40)
    say("word " * 50)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) > 3
    assert max(map(len, lines)) <= 40


def test_bounds_that_differ_are_told_apart_by_rounding_outwards() -> None:
    assert interval(0.86049, 0.86051) == "0.860 to 0.861"
    assert (at_least(1 / 3), at_most(1 / 3)) == ("0.333333333", "0.333333334")


@pytest.mark.parametrize(
    ("lower", "upper", "written"),
    [
        (-0.1, -0.1 * (1 - 1e-13), "-0.100 to -0.100"),
        (0.04, 0.04, "0.0400 to 0.0400"),
        (0.09999, 0.099999, "0.0999 to 0.100"),
        (0.009, 0.00999999, "0.00900 to 0.0100"),
        (0.9995, 0.99999, "0.999 to 1.000"),
    ],
)
def test_a_bound_that_is_rounded_to_a_power_of_ten_has_no_digit_more(lower: float, upper: float, written: str) -> None:
    assert interval(lower, upper) == written
