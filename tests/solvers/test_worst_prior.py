"""The worst prior: what the worst intent gets is the largest value over all priors, and the defence keeps to it."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import ncirl
from control_graphs import random_controlled, small_shop
from ncirl._typing import FloatArray
from ncirl.attack_graphs.graph import AttackGraph, Condition, Exploit, Intent
from ncirl.cli.app import main
from ncirl.errors import LimitError
from ncirl.formats.graph_source import graph_of
from ncirl.games.office import office_graph
from ncirl.model.game import Game, Start
from ncirl.playbook.solution import CertifiedSolution
from ncirl.solution import Status
from ncirl.solvers.worst_prior import WorstPrior, _Search

GAP, ROUGH = 1e-3, 2e-2
ACCURACY = 1e-6
GRID = 31
FEW, MANY = range(2), range(2, 60)


def value_at(game: Game, first: float) -> float:
    start = Start(game.starts[0].state, np.array([first, 1 - first]))
    return ncirl.solve(game.like(starts=[start]), ncirl.HistoryLP()).lower


def check(graph: AttackGraph) -> bool:
    """Check a graph; whether there was anything to play for."""
    game = graph.game()
    if game.is_terminal(game.starts[0].state):
        return False
    values = [value_at(game, p) for p in np.linspace(0, 1, GRID)]
    found = ncirl.solve(game, WorstPrior(gap=GAP))
    worst = float(found.per_intent.max())
    slope = max(abs(a - b) for a, b in pairwise(values))  # the grid may miss the peak by so much
    assert max(values) - ACCURACY <= worst <= max(values) + slope + GAP + ACCURACY
    assert worst - found.lower <= GAP + ACCURACY
    assert found.lower <= max(values) + slope + ACCURACY
    assert ncirl.verify(found).holds
    for p in (0.0, 0.3, 1.0):  # whatever the prior, the defence keeps its promise, and it is a promise of the value
        assert worst >= value_at(game, p) - ACCURACY
    prior = found.game.starts[0].belief
    matters = found.per_intent[prior > 0.05]  # intents that matter get the same, up to what the gap leaves open
    assert matters.min() >= worst - (GAP + ACCURACY) / 0.05
    return True


@pytest.mark.parametrize("seed", FEW)
def test_it_is_the_largest_value_over_all_priors(seed: int) -> None:
    assert check(random_controlled(seed, observes=["actions", "outcomes"][seed % 2]))


@pytest.mark.slow
@pytest.mark.parametrize("first", range(MANY.start, MANY.stop, 10))
def test_it_is_the_largest_value_over_all_priors_on_many(first: int) -> None:
    seeds = range(first, min(first + 10, MANY.stop))
    assert sum(check(random_controlled(seed, observes=["actions", "outcomes"][seed % 2])) for seed in seeds) > 2


@pytest.mark.slow
def test_a_defence_against_many_intents_promises_each_the_same() -> None:
    found = ncirl.solve(ncirl.games.office(), WorstPrior(gap=0.0, relative_gap=0.04))
    worst = float(found.per_intent.max())
    assert worst - found.lower <= 0.04 * worst + ACCURACY
    usual = ncirl.solve(ncirl.games.office(), ncirl.Certified(gap=0.0, relative_gap=0.02))
    assert worst <= float(usual.per_intent.max()) + 0.04 * worst
    assert worst >= usual.lower - ACCURACY


def test_the_prior_that_was_given_does_not_matter() -> None:
    graph = small_shop()
    lopsided = replace(
        graph, intents=tuple(replace(i, prior=p) for i, p in zip(graph.intents, (0.9, 0.1), strict=True))
    )
    worst = [float(ncirl.solve(g.game(), WorstPrior(gap=ROUGH)).per_intent.max()) for g in (graph, lopsided)]
    assert worst[0] == pytest.approx(worst[1], abs=ROUGH)


def test_it_is_kept_in_a_policy_file(tmp_path: Path) -> None:
    path = tmp_path / "worst.ncirl"
    found = ncirl.solve(small_shop().game(), WorstPrior(gap=0.01))
    found.save(path)
    again = ncirl.load_solution(path)
    assert ncirl.verify(again).holds
    np.testing.assert_allclose(again.per_intent, found.per_intent, atol=ACCURACY)


def test_the_command_line_finds_it_and_writes_a_policy_with_its_graph(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    unknown = replace(small_shop(), unknown_prior=True)
    unknown.save(tmp_path / "graph.yaml")
    made = tmp_path / "worst.ncirl"
    assert main(["solve", str(tmp_path / "graph.yaml"), "--gap", "2%", "--json", "-o", str(made)]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["solver"] == "worst-prior"
    assert told["worst"] == max(told["per_intent"].values())
    assert told["worst"] - told["lower"] <= 0.02 * told["worst"] + ACCURACY
    policy = ncirl.load_solution(made)
    assert isinstance(policy, ncirl.CertifiedSolution)
    assert graph_of(policy) is not None
    assert policy.extra["prior"] == "worst"
    assert main(["solve", str(tmp_path / "graph.yaml"), "--solver", "shapley"]) == 2
    assert "--prior worst: solver shapley answers for a prior that is given" in capsys.readouterr().err


def test_a_limit_after_the_first_game_ends_it_with_bounds_that_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    solved = _Search._solved

    def once(self: _Search, prior: FloatArray) -> CertifiedSolution:
        if self.solutions:
            raise LimitError("time", "setting up the search")
        return solved(self, prior)

    monkeypatch.setattr(_Search, "_solved", once)
    found = ncirl.solve(small_shop().game(), WorstPrior(gap=1e-6))
    assert found.status is ncirl.Status.TIME_LIMIT
    assert found.lower <= float(found.per_intent.max())
    assert ncirl.verify(found).holds


def test_a_graph_without_priors_is_refused_by_whoever_needs_them() -> None:
    graph = replace(office_graph(), unknown_prior=True)
    with pytest.raises(ncirl.InputError, match=r"office.*WorstPrior"):
        ncirl.solve(graph, ncirl.Certified())


def test_the_gap_that_was_asked_is_that_to_the_worst_prior(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ncirl.solvers.worst_prior.MOST_ROUNDS", 1)
    sure = (Condition("out", initial=True), Condition("gold"), Condition("dust"))
    steps = Exploit("rob", ("out",), "gold", 1.0), Exploit("sweep", ("out",), "dust", 1.0)
    intents = Intent("thief", 0.1, {"gold": 1.0}), Intent("cleaner", 0.9, {"dust": 0.1})
    graph = AttackGraph(sure, steps, intents, discount=0.5, horizon=1, defender_budget=0, unknown_prior=True)
    found = ncirl.solve(graph, ncirl.WorstPrior(gap=0.01))
    assert found.per_intent.max() - found.lower > 0.5
    assert found.status is not Status.GAP_REACHED
    monkeypatch.undo()
    whole = ncirl.solve(graph, ncirl.WorstPrior(gap=0.01))
    assert whole.per_intent.max() - whole.lower <= 0.01
    assert whole.status is Status.GAP_REACHED


def test_the_upper_bound_that_is_told_holds_whatever_the_prior(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    unknown = replace(small_shop(), unknown_prior=True)
    unknown.save(tmp_path / "graph.yaml")
    policy = str(tmp_path / "worst.ncirl")
    told = []
    for words in (["solve", str(tmp_path / "graph.yaml"), "--gap", "10%", "-q", "-o", policy], ["verify", policy]):
        assert main([*words, "--json"]) == 0
        told.append(json.loads(capsys.readouterr().out))
    assert main(["show", policy, "--json"]) == 0
    told.append(json.loads(capsys.readouterr().out)["policy"])
    most = float(ncirl.load_solution(policy).per_intent.max())
    assert [each["upper"] >= most - ACCURACY for each in told] == [True] * 3
    assert told[0]["gap"] == pytest.approx(told[0]["upper"] - told[0]["lower"])
