"""What people type, and what is meant by it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ncirl.attack_graphs.names import listed, members
from ncirl.defence.choices import plain_choice, set_choice
from ncirl.errors import InputError

BLOCKS = set_choice("blocked", ["nothing", "phish a password", "inject SQL", "phish a password + inject SQL"])


@given(st.lists(st.text(min_size=1, max_size=8), unique=True))
def test_members_undo_listed(ids: list[str]) -> None:
    assert members(listed(ids) or "nothing") == tuple(ids)


@given(st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=4, unique=True))
def test_every_set_is_found_by_its_items_in_any_order(ids: list[str]) -> None:
    choice = set_choice("chosen", ["nothing", *(listed(ids[:k]) for k in range(1, len(ids) + 1))])
    for k in range(len(ids) + 1):
        assert choice.find(ids[:k][::-1]) == (listed(ids[:k]) or "nothing")
    assert choice.find(listed(ids)) == listed(ids)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("inject SQL", "inject SQL"),
        ("  inject sql ", "inject SQL"),
        ("inj", "inject SQL"),
        ("1", "phish a password"),
        ("2 1", "phish a password + inject SQL"),
        ("inject SQL, phish a password", "phish a password + inject SQL"),
        ("inj+phish", "phish a password + inject SQL"),
        ("inj phish", "phish a password + inject SQL"),
        ('"inject SQL"', "inject SQL"),
        ("none", "nothing"),
        ("-", "nothing"),
    ],
)
def test_names_are_told_in_many_ways(typed: str, meant: str) -> None:
    assert BLOCKS.find(typed) == meant


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("inject QSL", "blocked: there is no 'inject QSL' here; did you mean 'inject SQL'?"),
        ("fly", "blocked: there is no 'fly' here; possible are phish a password, inject SQL"),
        ("3", "blocked: there is no '3' here"),
        ("phish fly", "blocked: there is no 'phish fly' here"),
    ],
)
def test_what_is_not_understood_is_explained(typed: str, said: str) -> None:
    with pytest.raises(InputError) as error:
        BLOCKS.find(typed)
    assert str(error.value).startswith(said)


def test_a_beginning_of_several_names_is_asked_for_more() -> None:
    with pytest.raises(InputError, match="'go' may be go left, go right; say more of it"):
        plain_choice("defender", ["go left", "go right"]).find("go")


def test_a_set_beyond_the_budget_is_not_possible() -> None:
    with pytest.raises(InputError, match=r"a \+ b is not possible here; possible are nothing, a, b"):
        set_choice("blocked", ["nothing", "a", "b"]).find("a b")


def test_items_that_look_like_numbers_are_not_numbered() -> None:
    choice = set_choice("blocked", ["nothing", "7", "1", "7 + 1"])
    assert not choice.numbered
    assert choice.find("1") == "1"


def test_a_long_list_is_cut_short() -> None:
    names = [f"door {k}" for k in range(1000)]
    with pytest.raises(InputError, match="and 992 more") as error:
        plain_choice("defender", names).find("window")
    assert len(str(error.value)) < 200


def test_states_are_told_by_what_is_new() -> None:
    choice = set_choice("newly enabled", ["mail", "mail + files"], but="mail")
    assert choice.items == ("files",)
    assert (choice.find("files"), choice.find("none"), choice.find("mail + files")) == (
        "mail + files",
        "mail",
        "mail + files",
    )
