"""`ncirl.solve` without a solver, and with what is none: an obvious choice, or a sentence."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import ncirl
from ncirl._files import usual_solver
from ncirl.attack_graphs.random_graphs import random_attack_graph
from ncirl.games.office import office_graph
from ncirl.solution import SOLVERS

GRAPH = office_graph()
GAME = ncirl.games.patrol(horizon=2, discount=1.0)


def test_a_game_is_solved_without_naming_a_solver() -> None:
    found = ncirl.solve(GAME)
    assert isinstance(found, ncirl.CertifiedSolution)
    assert found.status is ncirl.Status.GAP_REACHED
    assert found.gap <= 0.01 * found.upper


@pytest.mark.parametrize(
    ("graph", "solver"),
    [
        (random_attack_graph(4, rng=1), ncirl.Certified),
        (replace(random_attack_graph(4, rng=1), unknown_prior=True), ncirl.Guarded),
        (random_attack_graph(60, rng=1), ncirl.Guarded),
    ],
    ids=["few states", "no prior", "too many states"],
)
def test_a_graph_is_listed_if_it_fits(graph: ncirl.AttackGraph, solver: type) -> None:
    chosen = usual_solver(graph)
    assert isinstance(chosen, solver)
    assert (chosen.relative_gap, chosen.time_limit) == (0.01, 60.0)


def test_a_small_graph_is_solved_without_naming_a_solver() -> None:
    assert isinstance(ncirl.solve(random_attack_graph(3, rng=1)), ncirl.CertifiedSolution)


@pytest.mark.parametrize("solver", ["certified", ncirl.Certified, 0.01], ids=repr)
def test_what_is_no_solver_is_refused_with_what_there_is(solver: Any) -> None:
    with pytest.raises(ncirl.InputError, match="solver: must be the settings of one") as refused:
        ncirl.solve(GAME, solver)
    for name in SOLVERS:
        assert name in str(refused.value)
        assert hasattr(ncirl, name)


@pytest.mark.parametrize("game", ["office.yaml", None, 3], ids=repr)
@pytest.mark.parametrize("solver", [None, ncirl.Certified(), ncirl.Guarded(), ncirl.Shapley()], ids=repr)
def test_what_is_no_game_is_refused(game: Any, solver: Any) -> None:
    with pytest.raises(ncirl.InputError, match="game: must be a Game or an AttackGraph, got"):
        ncirl.solve(game, solver)


@pytest.mark.parametrize("solver", [ncirl.Shapley(), ncirl.NCPBVI(), ncirl.HSVI(), ncirl.HistoryLP()], ids=repr)
def test_a_solver_of_games_says_so_of_a_graph(solver: Any) -> None:
    with pytest.raises(ncirl.InputError, match=r"solves games; of an attack graph, give it `graph.game\(\)`"):
        ncirl.solve(GRAPH, solver)


def test_a_solver_of_graphs_says_so_of_a_game() -> None:
    with pytest.raises(ncirl.InputError, match="Guarded solves attack graphs; use Certified for a game"):
        ncirl.solve(GAME, ncirl.Guarded())
