"""A file's content is read as the file is: the same data, the same policy, the same messages."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import ncirl
from ncirl.errors import InputError
from ncirl.formats import read_source
from ncirl.formats.files import PIECE, bytes_of
from ncirl.formats.policy_file import load_policy, open_policy, policy_bytes
from ncirl.playbook.solution import CertifiedSolution

MOST = PIECE + 1  # not a whole number of pieces


@pytest.fixture(scope="module")
def policy() -> CertifiedSolution:
    return ncirl.solve(ncirl.games.patrol(horizon=2), ncirl.Certified())


def said(source: Path | bytes, name: str = "") -> str:
    with pytest.raises(InputError) as caught:
        read_source(source, name)
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "raw", "data"),
    [
        ("a.json", b'{"a": 1}', {"a": 1}),
        ("a.yaml", b"a: 1", {"a": 1}),
        ("a", b'{"a": 1e-3}', {"a": 1e-3}),
        ("a.YML", b"{a: 1}", {"a": 1}),  # YAML, though it opens with a bracket
    ],
)
def test_content_is_read_as_the_file_of_that_name(name: str, raw: bytes, data: object, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(raw)
    assert read_source(raw, name) == read_source(path) == data


@pytest.mark.parametrize(
    ("name", "raw"),
    [
        ("a.json", b""),
        ("a.json", b"{"),
        ("a.json", b"a: 1"),
        ("a.yaml", b"a: [1"),
        ("a.yaml", b"a: 1\na: 2"),
        ("a", b"\xff"),
        ("a", b'{"a": NaN, "b": Infinity}'),
    ],
)
def test_content_is_refused_as_the_file_of_that_name(name: str, raw: bytes, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(raw)
    assert said(raw, name).startswith(f"{name}: ")
    assert said(raw, str(path)) == said(path) == said(path, str(path))


def test_content_without_a_name_is_told_by_its_fault_alone() -> None:
    assert said(b"") == "the file is empty"


def test_a_policy_is_read_from_its_content(policy: CertifiedSolution) -> None:
    raw = policy_bytes(policy)
    assert policy_bytes(load_policy(raw)) == raw
    opened = open_policy(raw)
    assert opened.lower <= opened.upper
    np.testing.assert_array_equal(opened.defender_playbook.state, policy.defender_playbook.state)


def test_what_is_wrong_with_a_policy_begins_with_its_name(policy: CertifiedSolution) -> None:
    false = policy_bytes(replace(policy, lower=policy.lower - 2, upper=policy.upper - 1))
    with pytest.raises(InputError, match=r"^p\.ncirl: its certificate does not hold"):
        open_policy(false, "p.ncirl")
    with pytest.raises(InputError, match=r"^p\.ncirl: is not a file of this package, or it is damaged"):
        open_policy(false[:-1], "p.ncirl")
    with pytest.raises(InputError, match=r"^the file is empty"):
        load_policy(b"")


@pytest.mark.parametrize("more", [0, 1, PIECE])
def test_a_size_is_allowed_to_the_byte(more: int, tmp_path: Path) -> None:
    path, raw = tmp_path / "large", b" " * (MOST + more)
    path.write_bytes(raw)
    for given in (path, str(path), raw):
        if more:
            with pytest.raises(InputError, match=r"^large: is larger than 1 MiB"):
                bytes_of(given, "large", MOST)
        else:
            assert bytes_of(given, "large", MOST) == raw
