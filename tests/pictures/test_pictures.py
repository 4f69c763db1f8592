"""Pictures: places, files that are the same every time, names that mean no harm."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from itertools import combinations
from xml.etree import ElementTree

import numpy as np
import pytest

import ncirl
from ncirl.attack_graphs.graph import AttackGraph, Condition, Exploit, Intent
from ncirl.attack_graphs.random_graphs import random_attack_graph
from ncirl.games.office import office_graph
from ncirl.reports.pictures import graph_figure, png_bytes, svg_text, themed_svg
from ncirl.reports.pictures.layers import layered, levels_of
from ncirl.reports.pictures.render import DARK, LIGHT, shortened, told_apart
from ncirl.reports.pictures.story_picture import story_figure

NASTY = "<script>alert('&')</script> $x^2$ \x1b[31m" + "long " * 20
APART = 0.8  # rows between the middles of two boxes


def test_everything_stands_behind_what_it_needs() -> None:
    graph = office_graph()
    level = levels_of(graph)
    for exploit in graph.exploits:
        assert all(level["condition", premise] < level["exploit", exploit.id] for premise in exploit.premises)
        assert level["exploit", exploit.id] < level["condition", exploit.result]


def test_cycles_and_unreachable_parts_have_places() -> None:
    conditions = (Condition("a", True), *(Condition(name) for name in "bcd"))
    exploits = (
        Exploit("ab", ("a",), "b", 0.5),
        Exploit("bc", ("b",), "c", 0.5),
        Exploit("cb", ("c",), "b", 0.5),
        Exploit("ba", ("b",), "a", 0.5),
        Exploit("dd", ("d",), "d", 0.5),
    )
    graph = AttackGraph(conditions, exploits, (Intent("t", 1.0, {"c": 1.0}),), discount=0.9)
    level = levels_of(graph)
    assert [level["condition", name] for name in "abc"] == [0, 2, 4]
    assert len(layered(graph).routes) == 10
    assert b"PNG" in png_bytes(graph_figure(graph))[:8]


def test_thirty_conditions_do_not_overlap() -> None:
    rng = np.random.default_rng(0)
    names = [f"condition {k}" for k in range(30)]
    exploits = tuple(
        Exploit(f"e{k}-{m}", tuple({names[i] for i in rng.integers(max(0, k - 8), k, size=2)}), names[k], 0.5)
        for k in range(3, 30)
        for m in range(2)
    )
    conditions = tuple(Condition(name, k < 3) for k, name in enumerate(names))
    graph = AttackGraph(conditions, exploits, (Intent("t", 1.0, {names[-1]: 1.0}),), discount=0.9)
    places = layered(graph).places
    boxes = [place for node, place in places.items() if node[0] == "condition"]
    assert len(boxes) == 30
    assert all(abs(r1 - r2) >= APART for (l1, r1), (l2, r2) in combinations(boxes, 2) if l1 == l2)


def test_the_same_graph_gives_the_same_file() -> None:
    graph = random_attack_graph(8, rng=3)
    first, second = (svg_text(graph_figure(graph, blocked={graph.exploits[0].id: 0.5})) for _ in range(2))
    assert first == second
    assert "blocked 50%" in first
    assert "<dc:date>" not in first


def test_names_are_shown_as_they_are_and_do_no_harm() -> None:
    office = office_graph()
    exploits = (replace(office.exploits[0], id=NASTY), *office.exploits[1:])
    graph = replace(office, exploits=exploits, intents=(replace(office.intents[0], id=NASTY, prior=1.0),))
    svg = svg_text(graph_figure(graph))
    ElementTree.fromstring(svg)
    assert "<script" not in svg
    assert "&lt;script&gt;" in svg
    assert "\x1b" not in svg
    element = themed_svg(graph_figure(graph), "graph", NASTY)
    assert "<script" not in element
    assert 'aria-label="&lt;script&gt;' in element


def test_themed_pictures_have_no_colours_of_their_own() -> None:
    element = themed_svg(graph_figure(office_graph(), enabled=["mail"]), "graph", "office")
    styles = " ".join(re.findall(r'style="([^"]*)"', element))
    assert "var(--ink)" in styles
    assert re.findall(r"#[0-9a-f]{6}", styles) == []


def test_both_themes_name_the_same_colours() -> None:
    assert LIGHT.keys() == DARK.keys()
    assert len(set(LIGHT.values())) == len(LIGHT)


def test_a_story_shows_its_chances() -> None:
    figure = story_figure([np.array([0.5, 0.5]), np.array([1.0, 0.0])], [{"door": 0.25, "window": 0.0}, {}])
    svg = svg_text(figure)
    assert "25%" in svg
    assert "window" in svg


def test_too_large_a_graph_is_refused() -> None:
    many = tuple(Condition(f"c{k}", True) for k in range(400))
    graph = AttackGraph(many, (), (Intent("t", 1.0, {}),), discount=0.9)
    with pytest.raises(ncirl.InputError, match="400 conditions are more than a picture can show"):
        graph_figure(graph)


def test_long_text_is_cut_and_marked() -> None:
    assert shortened("one two three four", 9, 2) == "one two\nthree…"
    assert shortened("T1566_Phishing_emails", 18, 2) == "T1566_Phishing_\nemails"
    assert shortened("x" * 30, 9, 2) == "x" * 9 + "\n" + "x" * 8 + "…"
    assert shortened("", 9, 2) == ""


def test_no_two_names_are_cut_to_the_same() -> None:
    long = "direct network access from the internet to the host"
    names = {"a": f"{long} web-1", "b": f"{long} web-2", "c": "same", "d": "same", "e": f"{long} {long} x {long}"}
    found = told_apart(names, 17, 2)
    assert len(set(found.values())) == len(found)
    assert (found["a"][-5:], found["b"][-5:]) == ("web-1", "web-2")
    assert (found["c"], found["d"]) == ("same #1", "same #2")


def test_labels_are_shown_where_there_are_some() -> None:
    graph = AttackGraph(
        (Condition("c0", True, "the internet"), Condition("c1")),
        (Exploit("e1", ("c0",), "c1", 0.5, label="CVE-2021-44228 on web"),),
        (Intent("thief", 1.0, {"c1": 1.0}),),
        discount=0.9,
    )
    shown = {text.get_text().replace("\n", " ") for text in graph_figure(graph).axes[0].texts}
    assert {"the internet", "c1", "CVE-2021-44228 on web"} <= shown
    assert "e1" not in shown


def test_without_matplotlib_one_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ncirl.InputError, match=r"pip install 'ncirl\[plot\]'"):
        graph_figure(office_graph())
