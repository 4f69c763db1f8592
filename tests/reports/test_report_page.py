"""The report: one harmless page whose numbers are those of the game."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

import ncirl
from ncirl.attack_graphs.graph import AttackGraph
from ncirl.defence.first_moves import first_moves, members_of
from ncirl.formats.graph_source import EXTRA_KEY, draws, graph_of
from ncirl.formats.load import load
from ncirl.limits import Limits
from ncirl.numbers import at_least, at_most
from ncirl.playbook.solution import CertifiedSolution
from ncirl.reports import overview_page, report_page
from ncirl.reports.story import story
from ncirl.reports.worth import fixed_defences, without_option, worth_of_options
from ncirl.strategies.strategy import StationaryDefender
from reports.conftest import NASTY

LONG = 30.0  # seconds, never used up
ACCURACY = 1e-6
VOID = {"meta", "br", "path", "use", "rect", "link"}


class Page(HTMLParser):
    """Collects tags and checks that they are closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value or "" for name, value in attrs if name in ("src", "href", "xlink:href")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value or "" for name, value in attrs if name in ("src", "href", "xlink:href")]

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag


def parsed(text: str) -> Page:
    page = Page()
    page.feed(text)
    page.close()
    assert page.open == []
    return page


def members(graph: AttackGraph, action: str) -> frozenset[str]:
    return members_of(graph, action)


def test_the_page_is_whole_and_loads_and_runs_nothing(policy: CertifiedSolution, graph: AttackGraph) -> None:
    text, certificate = report_page(policy, graph, time_limit=LONG)
    page = parsed(text)
    assert certificate.holds
    assert "script" not in page.tags
    assert page.tags.count("svg") == 3  # the graph, two stories
    assert all(link.startswith("#") for link in page.links)
    assert "@import" not in text
    assert "url(http" not in text
    assert "&lt;script&gt;" in text


def test_the_page_says_what_was_proved(policy: CertifiedSolution, graph: AttackGraph) -> None:
    text, certificate = report_page(policy, graph, quick=True)
    assert f"at most {at_most(certificate.upper, short=True)} on average" in text
    assert f"less than {at_least(certificate.lower, short=True)}" in text
    assert "left out (--quick)" in text
    for most in certificate.per_intent:
        assert at_most(most, short=True) in text


def test_a_false_claim_is_not_repeated(policy: CertifiedSolution, graph: AttackGraph) -> None:
    text, certificate = report_page(replace(policy, upper=policy.lower - 1), graph, quick=True)
    assert not certificate.holds
    assert "Do not rely on this policy" in text
    assert "What is wrong with it" in text
    assert "What to do now" not in text


def test_a_game_without_a_graph_has_a_report(tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("patrol") / "patrol.ncirl"
    ncirl.solve(ncirl.games.patrol(horizon=2, discount=1.0), ncirl.Certified(gap=0.05)).save(path)
    loaded = ncirl.load_solution(path)
    text, certificate = report_page(loaded, graph_of(loaded), time_limit=LONG)
    parsed(text)
    assert certificate.holds
    assert "carries no attack graph" in text
    parsed(overview_page(loaded.game, None, loaded))


def test_an_overview_needs_no_policy(graph: AttackGraph) -> None:
    page = parsed(overview_page(graph.game(), graph, facts={"public states": 5}))
    assert page.tags.count("svg") == 1
    assert "script" not in page.tags


def test_what_an_option_is_worth_is_the_change_of_the_value(policy: CertifiedSolution, graph: AttackGraph) -> None:
    def uses(action: str, option: str) -> bool:
        return option in members(graph, action)

    (found,) = worth_of_options(policy, ["to left"], uses, Limits(LONG))
    dear = tuple(replace(e, block_cost=1e3) if e.id == "to left" else e for e in graph.exploits)  # never worth it
    exact = ncirl.solve(replace(graph, exploits=dear).game(), ncirl.Certified(gap=1e-3))
    assert found.lower <= exact.upper + ACCURACY
    assert found.upper >= exact.lower - ACCURACY
    assert found.upper >= policy.lower  # doing without never helps


def test_without_an_option_no_action_uses_it(policy: CertifiedSolution, graph: AttackGraph) -> None:
    game = without_option(policy.game, "both", lambda action, option: option in members(graph, action))
    for state in game.explore():
        assert all("both" not in members(graph, action) for action in game.stage(state).defender)


def test_options_are_not_tried_when_time_is_up(policy: CertifiedSolution) -> None:
    found = list(worth_of_options(policy, ["to left", "both"], lambda action, option: option in action, Limits(0.0)))
    assert [worth.note for worth in found] == ["not tried: time was up"] * 2


def test_fixed_defences_concede_what_the_best_attacker_gets(policy: CertifiedSolution, graph: AttackGraph) -> None:
    options = [e.id for e in graph.exploits]
    found = fixed_defences(policy.defender_playbook, options, lambda action: members(graph, action))
    concedes = {defence.name: defence.concedes for defence in found}
    game = policy.game
    idle = {state: np.eye(max(1, len(game.stage(state).defender)))[0] for state in game.explore()}
    exact = ncirl.best_response_to_defender(game, StationaryDefender(idle))
    assert concedes["block nothing"] == pytest.approx(exact.value, abs=ACCURACY)
    assert min(concedes.values()) >= policy.lower - ACCURACY
    assert list(concedes.values()) == sorted(concedes.values(), reverse=True)


def test_a_story_moves_forward_and_believes_as_bayes_would(policy: CertifiedSolution, graph: AttackGraph) -> None:
    told = story(policy, "deep", lambda action: members(graph, action))
    assert told[0].belief == pytest.approx(np.array([0.5, 0.5]))
    assert set(told[0].blocked) == {"to left", "to right"}
    assert NASTY in told[-1].state
    attacker, start = policy.attacker_strategy(), policy.game.starts[0]
    a = policy.game.stage(start.state).attacker.index(told[0].attempt)
    likely = sum(p * attacker.policy(start.state, memory)[a] for memory, p in attacker.begin(start.state))
    assert told[1].belief == pytest.approx(likely * start.mass / (likely @ start.mass))
    states = [moment.state for moment in told]
    assert len(set(states)) == len(states)
    first = first_moves(policy, graph)[0].options
    assert told[0].blocked == pytest.approx(first)


def test_the_graph_of_a_policy_is_the_one_it_carries(policy: CertifiedSolution, graph: AttackGraph) -> None:
    assert graph_of(policy) == graph
    assert graph_of(replace(policy, extra={})) is None
    assert graph_of(replace(policy, extra={EXTRA_KEY: {"format": "nonsense"}})) is None
    other = replace(graph, intents=(graph.intents[0], replace(graph.intents[1], id="other")))
    assert not draws(other, policy.game)


def test_only_attack_graphs_are_found_by_name() -> None:
    assert load("builtin:patrol").graph is None
    found = load("builtin:office").graph
    assert found is not None
    assert found.name == "office"
