"""Values as other tools write them: what is a number, and what is a public name."""

from __future__ import annotations

import pytest

from ncirl.importers.values import identifiers, number


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (" 0.5 ", 0.5),
        ("\u00a00.5", 0.5),
        ("1e-3", 0.001),
        (7, 7.0),
        ("1_000", None),
        ("\uff11\uff12", None),
        ("\u0665", None),
        ("0,5", None),
        (True, None),
        ("inf", None),
    ],
)
def test_a_number_is_one_as_any_tool_writes_it(value: object, found: float | None) -> None:
    assert number(value) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("sign in to T1000", ()),
        ("the technique T1078.002", ("T1078.002",)),
        ("T0886 and TA0108", ("T0886", "TA0108")),
        ("T1190 with CVE-2021-44228", ("T1190", "CVE-2021-44228")),
        ("hosts T2000 and TA4711", ()),
    ],
)
def test_public_names_are_those_that_can_be(text: str, found: tuple[str, ...]) -> None:
    assert identifiers(text) == found
