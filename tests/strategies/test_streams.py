"""Streams: what one seed gives to those who draw."""

from __future__ import annotations

from itertools import combinations, product
from typing import Any

import numpy as np
import pytest

from ncirl.errors import InputError
from ncirl.strategies.streams import Role, checked_seed, fresh_seed, stream

ROLES: tuple[Role, ...] = ("attacker", "defender", "nature")
MANY = 2_000
SIGMAS = 6  # one false alarm in a billion


def numbers(*asked: Any) -> list[float]:
    return stream(*asked).random(MANY).tolist()


@pytest.mark.parametrize("seed", [0, 1, 2**53 - 1, np.random.SeedSequence(5), np.random.SeedSequence(5).spawn(1)[0]])
def test_roles_of_one_seed_draw_independently_and_repeat(seed: int | np.random.SeedSequence) -> None:
    asked = [(role, *part) for role, part in product(ROLES, [(), (0,), (1,), (0, 0)])]
    drawn = [numbers(seed, *each) for each in asked]
    assert drawn == [numbers(seed, *each) for each in asked]
    for one, other in combinations(drawn, 2):
        assert not set(one) & set(other)
        assert abs(np.corrcoef(one, other)[0, 1]) < SIGMAS / MANY**0.5


def test_a_stream_is_none_of_those_that_are_spawned() -> None:
    root = np.random.SeedSequence(3)
    spawned = {np.random.default_rng(child).random() for child in root.spawn(100)}
    assert not spawned & {stream(root, role).random() for role in ROLES}
    assert stream(root, "attacker").random() == stream(3, "attacker").random()


def test_a_session_of_an_older_version_repeats_what_it_drew() -> None:
    assert stream(7, "defender").random() == np.random.default_rng(7).random()


def test_without_a_seed_nobody_can_foresee() -> None:
    assert len({fresh_seed() for _ in range(100)}) == 100
    assert len({stream(None, role).random() for role in ROLES for _ in range(30)}) == 90
    assert checked_seed(None) != checked_seed(None)
    assert all(0 <= fresh_seed() < 2**53 for _ in range(100))


def test_a_generator_is_shared() -> None:
    rng = np.random.default_rng(1)
    assert all(stream(rng, role) is rng for role in ROLES)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [(-1, "must not be negative, got -1"), (True, "whole number"), (1.5, "whole number"), ("x", "whole number")],
)
def test_what_is_no_seed_is_refused(wrong: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        stream(wrong, "nature")
    with pytest.raises(InputError, match=said):
        checked_seed(wrong)
