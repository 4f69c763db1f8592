"""What people type, and what is meant by it."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ncirl
from ncirl.attack_graphs.names import SetName, listed, members, set_name
from ncirl.defence.choices import plain_choice, set_choice
from ncirl.errors import InputError
from ncirl.games.office import office_graph

BLOCKS = set_choice("blocked", ["nothing", "phish a password", "inject SQL", "phish a password + inject SQL"])


@given(st.lists(st.text(min_size=1, max_size=8), unique=True))
def test_members_undo_listed(ids: list[str]) -> None:
    assert members(listed(ids) or "nothing") == tuple(ids)


@given(st.lists(st.text(min_size=1, max_size=8), unique=True))
def test_a_name_carries_what_its_text_says(ids: list[str]) -> None:
    name = set_name(ids, "nothing")
    assert name.ids == members(name) == members(str(name)) == tuple(ids)


def test_names_of_a_graph_carry_their_ids_and_are_written_as_text(tmp_path: Path) -> None:
    game = office_graph().game()
    stage = game.stage(game.starts[0].state)
    assert all(isinstance(name, SetName) and members(str(name)) == name.ids for name in stage.attacker)
    ncirl.save_game(game, tmp_path / "office.yaml")
    read = ncirl.load_game(tmp_path / "office.yaml")
    assert read.stage("start").attacker == stage.attacker
    copy = pickle.loads(pickle.dumps(stage.attacker))
    assert [name.ids for name in copy] == [name.ids for name in stage.attacker]


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
