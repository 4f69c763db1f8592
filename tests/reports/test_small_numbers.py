"""No page and no screen tells of numbers that arithmetic cannot tell from 0."""

from __future__ import annotations

import re
from dataclasses import replace

import ncirl
from ncirl.attack_graphs.sensitivity import Answer
from ncirl.cli.assumed import bounds_data
from ncirl.games.office import office_graph
from ncirl.reports.sensitivity import interval_words, sensitivity_page

TINY = re.compile(r"e-[1-9]\d")


def test_pages_on_what_the_answer_hangs_on_write_tellable_numbers() -> None:
    found = ncirl.sensitivity(office_graph(), relative_gap=0.5, only=["discount"])
    (swing, *_) = found.swings
    noise = Answer(1.0, -4.1e-279, 4.1e-279, frozenset())
    tiny = replace(found, base=noise, swings=(replace(swing, less=noise, more=noise),))
    page = sensitivity_page(tiny)
    assert "0 to 1.5e-9" in page
    assert not TINY.search(page)
    assert "-1.5e-9" not in page
    assert interval_words(noise, found.graph) == "0 to 1.5e-9"


def test_where_no_reward_is_negative_no_lower_bound_is() -> None:
    graph = office_graph()
    assert bounds_data(-1e-12, 1e-12, graph)["lower"] == 0.0
    assert bounds_data(-1e-12, 1e-12, graph.game())["lower"] < 0
    loss = replace(graph.intents[0], rewards=dict.fromkeys(graph.intents[0].rewards, -1.0))
    assert graph.floor == 0.0
    assert bounds_data(-0.5, 1.0, replace(graph, intents=(loss, *graph.intents[1:])))["lower"] == -0.5
