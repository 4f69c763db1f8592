"""Hardening says first where nothing pays for itself, and names no set as the best that costs more than it saves."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import ncirl
from ncirl.attack_graphs.graph import AttackGraph, Condition, Control, Exploit, Intent
from ncirl.cli import main
from ncirl.reports.hardening import best_words, hardening_page, proof_words, set_title, verdict_words


def shop(prize: float) -> AttackGraph:
    """Two doors to a prize of little worth, a lasting control over each, at 0.1."""
    return AttackGraph(
        (Condition("street", True), Condition("till")),
        (Exploit("door", ("street",), "till", 0.9), Exploit("window", ("street",), "till", 0.9)),
        (Intent("thief", 1.0, {"till": prize}),),
        discount=0.9,
        controls=(Control("bolt", ("door",), 0.1, "lasting"), Control("bars", ("window",), 0.1, "lasting")),
    )


def test_where_nothing_pays_for_itself_that_is_said_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = ncirl.harden(shop(0.04), choose=2, relative_gap=0.01)
    assert found.chosen is not None
    assert found.chosen.controls
    assert all(worth.net[1] < 0 for worth in found.worths)
    said = verdict_words(found)
    assert said.startswith("None pays for itself: ")
    assert "costs 0.1 in place, and saves " in said
    assert "Nor do the 2 that together take away most: 0.2 in place against 0.0400" in said
    assert set_title(found.chosen).startswith("takes away most")
    page = hardening_page(found)
    assert page.index("None pays for itself") < page.index("The set that takes away most")
    path = tmp_path / "shop.json"
    shop(0.04).save(path)
    assert main(["harden", str(path), "--choose", "2", "-q"]) == 0
    told = capsys.readouterr().out
    assert told.startswith("None pays for itself: ")
    assert "best set" not in told


def test_where_a_set_may_pay_nothing_of_the_kind_is_said() -> None:
    dear = ncirl.harden(shop(5.0), choose=2, relative_gap=0.01)
    assert dear.chosen is not None
    assert dear.chosen.upper >= dear.chosen.cost
    assert verdict_words(dear) == ""
    assert set_title(dear.chosen).startswith("best")


def test_what_takes_away_most_may_not_pay_where_another_does() -> None:
    controls = Control("latch", ("door",), 0.0, "lasting"), Control("bars", ("window",), 9.0, "lasting")
    found = ncirl.harden(replace(shop(0.15), controls=controls), choose=2, relative_gap=0.01)
    assert found.chosen is not None
    assert [control.id for control in found.chosen.controls] == ["bars"]
    assert any(worth.net[1] >= 0 for worth in found.worths)
    assert verdict_words(found).startswith("bars, which takes away most, does not pay for itself: 9 in place")


def test_where_nothing_is_cheap_enough_that_is_all_there_is_to_say() -> None:
    found = ncirl.harden(shop(5.0), spend=0.05, relative_gap=0.01)
    assert found.chosen is not None
    assert best_words(found, found.chosen) == "none: nothing costs 0.05 or less, the least is 0.1"
    assert proof_words(found, found.chosen) == ""
    assert "nothing costs 0.05 or less" in hardening_page(found)


@pytest.mark.parametrize("tiny", [1e-12, 2e-11])
def test_no_fix_is_picked_for_a_loss_of_nothing(tiny: float) -> None:
    graph = replace(shop(1.0), exploits=tuple(replace(e, success=tiny) for e in shop(1.0).exploits))
    found = ncirl.harden(graph, choose=1, relative_gap=0.02)
    assert found.chosen is not None
    assert found.chosen.controls == ()
    if found.upper <= 1e-9:
        assert best_words(found, found.chosen).startswith("none is needed")
