"""Priors within bounds: the defence keeps its promise at every prior within, and the worst of them attains it."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ncirl
from control_graphs import random_controlled, small_shop
from ncirl._typing import FloatArray
from ncirl.attack_graphs.graph import Intent
from ncirl.attack_graphs.reductions import merge_equal_intents
from ncirl.cli.app import main
from ncirl.errors import InputError
from ncirl.lp.session import Meter
from ncirl.model.belief import prior_of
from ncirl.model.game import Game, Start
from ncirl.model.priors import Priors
from ncirl.solvers.least_worst import least_worst
from ncirl.solvers.matrix_game import matrix_game
from random_games import random_game

GAP = 2e-3
ACCURACY = 1e-6
GRID = 9
FEW, MANY = range(10), range(10, 220)


def with_prior(game: Game, prior: FloatArray) -> Game:
    """Return the game with another prior and the same starts for each intent, by plain arithmetic."""
    before = prior_of(game)
    laws = [np.where(before > 0, s.mass / np.where(before > 0, before, 1), s.probability) for s in game.starts]
    masses = [prior * law for law in laws]
    kept = [(s.state, mass) for s, mass in zip(game.starts, masses, strict=True) if mass.any()]
    return game.like(starts=[Start(state, mass) for state, mass in kept])


def grid(priors: Priors) -> list[FloatArray]:
    """List priors within bounds: a grid of the simplex as far as it is within, and the middle."""
    n = len(priors.low)
    steps = [np.array(c) / GRID for c in product(range(GRID + 1), repeat=n) if sum(c) == GRID]
    inside = [b for b in steps if (b >= priors.low).all() and (b <= priors.high).all()]
    corners = [priors.worst(vector) for vector in np.eye(n)]
    return [*inside, *corners, priors.middle]


def bounds(seed: int, intents: int) -> Priors:
    rng = np.random.default_rng(seed)
    centre = rng.dirichlet(np.ones(intents))
    low = np.floor(100 * centre * rng.choice([0.0, 0.5, 1.0], intents)) / 100
    high = np.ceil(100 * np.minimum(centre + rng.choice([0.0, 0.2, 1.0], intents), 1.0)) / 100
    return Priors(tuple(low.tolist()), tuple(high.tolist()))


def check(seed: int) -> None:
    intents, n_starts = 2 + seed % 2, 1 + (seed // 2) % 2
    observes = ("actions", "outcomes")[seed % 4 // 2]
    game = random_game(seed, n_states=2, n_intents=intents, horizon=2, observes=observes, n_starts=n_starts)
    priors = bounds(seed, intents)
    named = {name: (low, high) for name, low, high in zip(game.intents, priors.low, priors.high, strict=True)}
    found = ncirl.solve(game, ncirl.WorstPrior(gap=GAP, within=named))
    upper = priors.most(found.per_intent)
    assert ncirl.verify(found).holds
    assert found.priors == priors
    assert upper - found.lower <= GAP + ACCURACY
    values = [ncirl.solve(with_prior(game, b), ncirl.HistoryLP()).lower for b in grid(priors)]
    values.append(ncirl.solve(with_prior(game, prior_of(found.game)), ncirl.HistoryLP()).lower)
    assert found.lower - ACCURACY <= values[-1]
    assert upper - GAP - ACCURACY <= max(values) <= upper + ACCURACY


@pytest.mark.parametrize("seed", FEW)
def test_the_promise_holds_at_every_prior_within_and_is_attained(seed: int) -> None:
    check(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", MANY)
def test_the_same_on_many(seed: int) -> None:
    check(seed)


@given(st.integers(0, 10_000))
def test_the_worst_prior_is_the_best_vertex_of_the_linear_program(seed: int) -> None:
    rng = np.random.default_rng(seed)
    priors, vector = bounds(seed, 4), rng.normal(size=4)
    worst = priors.worst(vector)
    assert worst.sum() == pytest.approx(1)
    assert priors.contains(worst)
    for b in grid(priors)[-5:]:
        assert worst @ vector >= b @ vector - 1e-12
    lows, highs = ([Fraction(end) for end in ends] for ends in (priors.low, priors.high))
    left, exact = 1 - sum(lows), Fraction(0)
    for k in np.argsort(-vector).tolist():
        more = min(highs[k] - lows[k], left)
        exact, left = exact + (lows[k] + more) * Fraction(vector[k]), left - more
    assert exact <= Fraction(priors.most(vector)) <= exact + Fraction(1e-12)


@given(st.integers(0, 10_000))
def test_a_mixture_is_that_of_the_matrix_game_where_nothing_is_known(seed: int) -> None:
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(int(rng.integers(1, 6)), 3))
    found = least_worst([vectors], Priors.all_of(3), Meter())
    assert found.upper == pytest.approx(matrix_game(vectors.T).value, abs=1e-7)
    assert found.weights[0].sum() == pytest.approx(1)
    assert found.upper >= (found.weights[0] @ vectors).max()
    assert (found.prior @ vectors.T).min() >= found.upper - 1e-6


def test_blocks_are_mixed_each_by_itself() -> None:
    """What one block takes from an intent another may give it: together nobody gets more than 1, alone somebody 2."""
    blocks = [np.array([[2.0, 0.0], [0.0, 2.0]]), np.array([[1.0, -1.0], [-1.0, 1.0]])]
    found = least_worst(blocks, Priors.all_of(2), Meter())
    assert found.upper == pytest.approx(1.0)
    assert found.conceded == pytest.approx([1.0, 1.0])


def test_an_enormous_vector_costs_the_others_no_digits() -> None:
    vectors = np.array([[3.0, 0.0], [0.0, 1.0], [1e12, -1e12]])
    assert least_worst([vectors], Priors.all_of(2), Meter()).upper == pytest.approx(0.75, abs=1e-9)


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        ((0.5, 0.0), (0.4, 1.0), "the smaller first"),
        ((-0.1, 0.0), (0.4, 1.0), "must be two numbers in"),
        ((0.7, 0.6), (0.8, 0.7), "the least that priors may be sum to 1.3, more than 1"),
        ((0.1, 0.1), (0.3, 0.4), "the most that priors may be sum to 0.7, less than 1"),
    ],
)
def test_bounds_with_no_prior_within_are_refused(low: tuple[float, ...], high: tuple[float, ...], said: str) -> None:
    with pytest.raises(InputError, match=said) as error:
        Priors(low, high)
    assert len(error.value.faults) == 1


def test_several_starts_each_have_a_mixture_of_their_own() -> None:
    game = ncirl.games.patrol(horizon=2)
    assert len(game.starts) > 1
    found = ncirl.solve(game, ncirl.WorstPrior(gap=0.01))
    worst = float(found.per_intent.max())
    assert worst - found.lower <= 0.01 + ACCURACY
    assert ncirl.verify(found).holds
    for first in np.linspace(0, 1, GRID):
        assert ncirl.solve(with_prior(game, np.array([first, 1 - first])), ncirl.HistoryLP()).lower <= worst + ACCURACY


def test_a_policy_says_which_priors_it_is_for_and_cannot_lie_about_its_own(tmp_path: Path) -> None:
    found = ncirl.solve(small_shop().game(), ncirl.WorstPrior(gap=0.05, within={"thief": (0.2, 0.3)}))
    found.save(tmp_path / "rough.ncirl")
    again = ncirl.load_solution(tmp_path / "rough.ncirl")
    assert isinstance(again, ncirl.CertifiedSolution)
    assert again.priors == found.priors == Priors.within({"thief": (0.2, 0.3)}, found.game.intents)
    replace(found, extra={"prior": {"thief": [0.8, 0.9]}}).save(tmp_path / "lie.ncirl")
    assert main(["verify", str(tmp_path / "lie.ncirl")]) == 2
    replace(found, extra={"prior": 3}).save(tmp_path / "lie.ncirl")
    assert main(["verify", str(tmp_path / "lie.ncirl")]) == 2


def test_a_file_has_bounds_numbers_and_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph = small_shop()
    third = Intent("vandal", 0.0, {graph.conditions[-1].id: 0.5})
    mixed = replace(
        graph,
        intents=(
            replace(graph.intents[0], prior=0.2, between=(0.1, 0.3)),
            replace(graph.intents[1], prior=0.7, between=(0.0, 1.0)),
            replace(third, prior=0.1),
        ),
    )
    assert mixed.priors == Priors((0.1, 0.0, 0.1), (0.3, 1.0, 0.1))
    path = tmp_path / "graph.json"
    mixed.save(path)
    data = json.loads(path.read_text())
    assert [intent["prior"] for intent in data["intents"]] == [[0.1, 0.3], [0.0, 1.0], 0.1]
    del data["intents"][1]["prior"]
    path.write_text(json.dumps(data))
    again = ncirl.AttackGraph.load(path)
    assert again.priors == mixed.priors
    assert again.unknown_prior
    made = tmp_path / "rough.ncirl"
    assert main(["solve", str(path), "--gap", "5%", "--json", "-q", "-o", str(made)]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["priors"] == {"spy": [0.1, 0.3], "thief": [0.0, 1.0], "vandal": [0.1, 0.1]}
    assert told["worst"] == mixed.priors.most(list(told["per_intent"].values()))
    assert main(["solve", str(path), "--gap", "5%", "--json", "-q", "--prior", "worst"]) == 0
    anything = json.loads(capsys.readouterr().out)
    assert anything["priors"] == "worst"
    assert anything["worst"] >= told["lower"]
    assert main(["verify", str(made)]) == 0
    assert "whatever the prior within bounds" in capsys.readouterr().out
    for solver in ("nc-pbvi", "history-lp", "shapley"):
        assert main(["solve", str(path), "--solver", solver, "-q"]) == 2
        assert "answers for a prior that is given" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("priors", "said"),
    [
        (
            ([0.5, 0.2], 0.5),
            r"intents\[0\].prior: must be two numbers in \[0, 1\], the smaller first, got \[0.5, 0.2\]",
        ),
        (([0.6, 0.7], [0.6, 0.7]), "intents: the least that priors may be sum to 1.2, more than 1; lower one of them"),
        (([0.1, 0.2], 0.3), "intents: the most that priors may be sum to 0.5, less than 1; raise one of them"),
        (([0.1, 0.2, 0.3], 0.5), r"intents\[0\].prior: must be a number, or two: \[low, high\]"),
    ],
)
def test_bounds_that_make_no_sense_get_one_sentence(priors: tuple[object, object], said: str, tmp_path: Path) -> None:
    path = tmp_path / "graph.json"
    small_shop().save(path)
    data = json.loads(path.read_text())
    for intent, prior in zip(data["intents"], priors, strict=True):
        intent["prior"] = prior
    path.write_text(json.dumps(data))
    with pytest.raises(InputError, match=said) as error:
        ncirl.AttackGraph.load(path)
    assert len(error.value.faults) == 1


def test_bounds_need_format_2(tmp_path: Path) -> None:
    graph = random_controlled(1, observes="actions")
    path = tmp_path / "graph.json"
    replace(graph, controls=None).save(path)
    data = json.loads(path.read_text())
    assert data["format"] == "ncirl-attack-graph/1"
    data["intents"][0]["prior"], data["intents"][1]["prior"] = [0.1, 0.5], [0.5, 0.9]
    path.write_text(json.dumps(data))
    with pytest.raises(InputError, match=r"intents\[0\].prior: an interval: is not known in 'ncirl-attack-graph/1'"):
        ncirl.AttackGraph.load(path)


def test_equal_intents_have_their_bounds_added_up() -> None:
    graph = small_shop()
    first = graph.intents[0]
    twins = (
        replace(first, prior=0.2, between=(0.1, 0.3)),
        replace(first, id="twin", prior=0.3),
        replace(graph.intents[1], prior=0.5, between=(0.4, 0.6)),
    )
    merged, _ = merge_equal_intents(replace(graph, intents=twins))
    assert merged.priors is not None
    assert (merged.priors.low, merged.priors.high) == (pytest.approx((0.4, 0.4)), pytest.approx((0.6, 0.6)))
